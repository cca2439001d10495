# SPDX-License-Identifier: Apache-2.0
"""etprof-launch on this machine: every kind of program, followed everywhere, ending as it ended.

Expected values: what the same program prints without the launcher, less what the level hides by its
definition in the design ("avx2 also all AVX-512").

usage: test_launcher.py ETPROF_LAUNCH"""
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import skip

LAUNCH = str(pathlib.Path(sys.argv.pop(1)).resolve())
HERE = pathlib.Path(__file__).resolve().parent
TMP = tempfile.TemporaryDirectory()
KINDS = {"dynamic": [], "static": ["-static"], "static-pie": ["-static-pie"],
         "no-tables": ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]}
HIDDEN = {"vnni": [], "avx512": ["vnni"], "avx2": ["vnni", "avx512f"],
          "sse": ["vnni", "avx512f", "avx2", "avx"]}


def build():
    for kind, flags in KINDS.items():
        for strip in ("", "-s"):
            out = os.path.join(TMP.name, kind + ("-stripped" if strip else ""))
            done = subprocess.run(["cc", "-O1", "-pthread", str(HERE / "features.c"), "-o", out, *flags,
                                   *([strip] if strip else [])], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit("%s: %s" % (out, done.stderr))


    done = subprocess.run(["cc", "-O1", "-pthread", str(HERE / "states.c"), "-o", program("states")],
                          capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit("states.c: " + done.stderr)


def program(name):
    return os.path.join(TMP.name, name)


def launch(*words, env=None):
    return subprocess.run([LAUNCH, *words], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **(env or {})})


def features(text):
    words = text.split()
    return dict(zip(words[::2], words[1::2]))


NATIVE = {}
# Ends with 2 for AVX2, and 1 when a constant with the bytes of cpuid is what it was.
ALONE = """
__attribute__((noreturn)) void _start(void)
{
    unsigned a = 7, b, c = 0, d, constant;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    __asm__ volatile("movl $0x00a20f11, %0" : "=r"(constant));
    unsigned long status = (b >> 5 & 1) * 2 + (constant == 0x00a20f00 + 0x11);
    __asm__ volatile("syscall" : : "a"(60ul), "D"(status) : "rcx", "r11", "memory");
    __builtin_unreachable();
}
"""


def expected(level):
    return {k: "0" if k in HIDDEN[level] else v for k, v in NATIVE.items()}


def levels():
    needs = {"vnni": "vnni", "avx512": "avx512f", "avx2": "avx2", "sse": "avx"}
    return [n for n in HIDDEN if NATIVE[needs[n]] == "1"]


class Launcher(unittest.TestCase):
    def test_every_kind_of_program_at_every_level(self):
        for kind in KINDS:
            for suffix in ("", "-stripped"):
                for level in levels():
                    with self.subTest(program=kind + suffix, level=level):
                        done = launch("--level", level, "--", program(kind + suffix))
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertEqual(features(done.stdout), expected(level))

    def test_threads_children_and_programs_started_by_programs(self):
        level = levels()[-1]
        for what in ("thread", "fork", "exec"):
            with self.subTest(what):
                done = launch("--level", level, "--", program("static-stripped"), what)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(features(done.stdout), expected(level))
        done = launch("--level", level, "--", "sh", "-c", "%s; %s" % (program("dynamic"), program("static")))
        self.assertEqual([features(line) for line in done.stdout.splitlines()], [expected(level)] * 2)

    def test_ends_as_the_program_ends(self):
        self.assertEqual(launch("--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(launch("--", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        self.assertEqual(launch("--", "no/such/program").returncode, 127)
        self.assertEqual(launch("--", "/etc/passwd").returncode, 126)

    def test_an_illegal_instruction_of_its_own_stays_one(self):
        done = launch("--level", levels()[-1], "--", program("static"), "ud2")
        self.assertEqual(done.returncode, -signal.SIGILL)

    def test_signals_reach_the_program(self):
        with subprocess.Popen([LAUNCH, "--", program("dynamic"), "wait"], stdout=subprocess.PIPE) as p:
            self.assertEqual(p.stdout.readline(), b"ready\n")
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(timeout=120), -signal.SIGTERM)

    def test_nothing_is_left_when_the_launcher_is_killed(self):
        with subprocess.Popen([LAUNCH, "--", program("dynamic"), "wait"], stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            children = pathlib.Path("/proc/%d/task/%d/children" % (p.pid, p.pid)).read_text().split()
            self.assertEqual(len(children), 1)
            p.kill()
            p.wait()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if not os.path.exists("/proc/" + children[0]):
                return
            time.sleep(0.05)
        self.fail("process %s outlived the launcher" % children[0])

    def test_says_why_it_cannot(self):
        for words, text in ((["--level", "sme2"], "no level sme2"), (["--level", "fast"], "unknown level fast"),
                            (["--mask", "x86_64:fast"], "--mask"), (["--cpus", "3-1"], "--cpus"),
                            (["--method", "preload", "--level", "sse"], "ask the CPU itself"),
                            (["--method", "none", "--level", "sse"], "hides nothing")):
            with self.subTest(words=words):
                done = launch(*words, "--", "true")
                self.assertEqual(done.returncode, 125)
                self.assertIn(text, done.stderr)
        done = launch("--", LAUNCH, "--", "true") # the outer one traces the inner one's child
        self.assertEqual(done.returncode, 125)
        self.assertIn("already traces", done.stderr)

    def test_a_program_without_any_table(self):
        """No unwind tables, no symbols, no C library: only the code itself tells where its questions are."""
        source, out = program("alone.c"), program("alone")
        pathlib.Path(source).write_text(ALONE)
        subprocess.run(["cc", "-O1", "-nostdlib", "-static", "-fno-asynchronous-unwind-tables", "-s", source, "-o",
                        out],
                       check=True)
        self.assertEqual(subprocess.run([out]).returncode, 1 + 2 * int(NATIVE["avx2"]))
        done = launch("--level", "sse", "--", out)
        self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_report(self):
        path = program("report")
        launch("--level", levels()[-1], "--report", path, "--", program("static"))
        report = dict(line.split(" ", 1) for line in pathlib.Path(path).read_text().splitlines())
        self.assertEqual((report["method"], report["programs"]), ("cpuid", "1"))
        self.assertGreaterEqual(int(report["answers"]), 2)
        self.assertGreaterEqual(int(report["changed"]), 1)


class States(unittest.TestCase):
    """What a program can see of itself is as without the launcher."""

    def reported(self, *words, before=()):
        path = program("report")
        done = subprocess.run([*before, LAUNCH, "--level", levels()[-1], "--report", path, "--", program("states"),
                               *words],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout, dict(line.split(" ", 1) for line in pathlib.Path(path).read_text().splitlines())

    def test_a_file_mapped_shared_stays_as_it_is(self):
        copy = program("copy")
        shutil.copy(program("states"), copy)
        before = pathlib.Path(copy).read_bytes()
        out, report = self.reported("shared", copy)
        self.assertEqual(pathlib.Path(copy).read_bytes(), before)
        self.assertIn(out, ("the same\n", "another answer\n")) # it could be called
        self.assertGreaterEqual(int(report["missed"]), 1) # and what was not reached is counted

    def test_sigill_stays_as_the_program_set_it(self):
        for state in ("blocked", "ignored", "handled", "caught"):
            with self.subTest(state):
                plain = subprocess.run([program("states"), state], capture_output=True, text=True).stdout
                self.assertNotEqual(plain.split()[-1], "0")
                for before in ((), (program("states"), "under")): # a filter of others may refuse the usual trap
                    out, report = self.reported(state, before=before)
                    self.assertIn(report["trap"], ("spin",) if before else ("int80", "spin"))
                    self.assertEqual(out.split(", seen")[0], plain.split(", seen")[0])
                    self.assertEqual(out.split()[-1], "0") # AVX2 and AVX-512F are hidden

    def test_topology_is_that_of_the_cpu_that_asks(self):
        plain = subprocess.run([program("states"), "topology"], capture_output=True, text=True).stdout
        if len({line.split(": ")[1] for line in plain.splitlines()}) < 2:
            self.skipTest("one CPU, or all of one number")
        self.assertEqual(self.reported("topology")[0], plain)

    def test_filters_of_its_own_and_of_others(self):
        """A filter that refuses 32-bit system calls must not make questions fail."""
        self.assertEqual(self.reported("filtered")[0], "0 0\n")
        out, report = self.reported("filtered", before=(program("states"), "under"))
        self.assertEqual((out, report["trap"]), ("0 0\n", "spin"))

    def test_threads_that_wait_are_found_and_not_looked_for_for_ever(self):
        """Under a filter of others: questions of several threads at once, of a process that forked, and late ones; a
        thread that computes is stopped some 20 times a second at most in the long run."""
        under = (program("states"), "under")
        out, report = self.reported("threads", before=under)
        self.assertEqual(out, "0\n" * 9)
        self.assertEqual(report["trap"], "spin")
        self.assertGreaterEqual(int(report["answers"]), 9)
        out, report = self.reported("computes", before=under)
        self.assertEqual(out, "0\n")
        self.assertLess(int(report["looks"]), 150) # 2 s: 25 at first, then one in 50 ms


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("written for Linux on x86-64; arm64 is tested in the emulated guest")
    build()
    NATIVE = features(subprocess.run([program("dynamic")], capture_output=True, text=True).stdout)
    if NATIVE["avx"] != "1":
        skip("this CPU has no AVX, there is nothing to hide")
    unittest.main()
