# SPDX-License-Identifier: Apache-2.0
"""etprof-launch on this machine: it becomes the program, which ends as it ends, and says what it cannot do. Under user-
mode emulation: what its library answers to a program for arm64 (a real kernel: guest.py).

Expected values: bits 23 and 37 of AT_HWCAP2 are SME and SME2 (Linux, arch/arm64 uapi).

usage: test_launcher.py ETPROF_LAUNCH"""
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

LAUNCH = str(pathlib.Path(sys.argv.pop(1)).resolve())
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TMP = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(TMP.name)
A64 = "aarch64-linux-gnu-gcc"


def compiled(name, compiler, *words):
    done = execute(compiler, "-O1", "-D_GNU_SOURCE", "-I", ROOT / "src", *words, "-o", FOLDER / name)
    if done.returncode != 0:
        sys.exit("%s: %s" % (name, done.stderr))
    return str(FOLDER / name)


def launch(*words, **how):
    return execute(LAUNCH, *words, **how)


class Launcher(unittest.TestCase):
    def test_ends_as_the_program_ends(self):
        self.assertEqual(launch("--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(launch("--", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        self.assertEqual(launch("--", "no/such/program").returncode, 127)
        self.assertEqual(launch("--", "/etc/passwd").returncode, 126)

    def test_becomes_the_program(self):
        program = compiled("dynamic", "cc", "-pthread", HERE / "features.c")
        with subprocess.Popen([LAUNCH, "--method", "none", "--", program, "wait"], stdout=subprocess.PIPE) as p:
            self.assertEqual(p.stdout.readline(), b"ready\n")
            self.assertEqual(os.path.realpath("/proc/%d/exe" % p.pid), os.path.realpath(program))
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(timeout=120), -signal.SIGTERM)

    def test_before_the_start(self):
        cpu = max(os.sched_getaffinity(0))
        program = FOLDER / "script"
        program.write_text("#!/bin/sh\nnproc\nls -d made\n")
        program.chmod(0o644)
        done = launch("--cpus", str(cpu), "--executable", "--make", "made", "--report", "report", "--", str(program),
                      cwd=FOLDER)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\nmade\n", ""))
        self.assertEqual((FOLDER / "report").read_text().splitlines()[0], "method none")

    def test_says_why_it_cannot(self):
        rows = [(["--level", "fast"], "unknown level fast"), (["--mask", "x86_64:fast"], "--mask"),
                (["--cpus", "3-1"], "--cpus"), (["--method", "none", "--level", "sse"], "hides nothing"),
                (["--method", "trace"], "preload or none"), (["--once"], "unknown option")]
        if platform.machine() == "x86_64":
            rows += [(["--level", "sme2"], "no level sme2"),
                     (["--level", "sse"], "a program asks the CPU itself"),
                     (["--mask", "x86_64:none"], "build it twice and compare the builds")]
        for words, text in rows:
            with self.subTest(words=words):
                done = launch(*words, "--", "true")
                self.assertEqual(done.returncode, 125)
                self.assertIn(text, done.stderr)


class Library(unittest.TestCase):
    """libetprof-level.so in a program for arm64, under QEMU's user mode with a CPU that has SME2."""

    def test_what_is_hidden(self):
        found = execute(ROOT / "scripts" / "qemu")
        if found.returncode != 0 or shutil.which(A64) is None:
            self.skipTest("no QEMU or no compiler for arm64")
        program = compiled("dynamic-arm64", A64, "-pthread", HERE / "features.c")
        library = compiled("libetprof-level.so", A64, "-shared", "-fPIC", ROOT / "runner/launcher" / "level_preload.c",
                           *(ROOT / "src" / "isa" / name for name in ("level.c", "text.c", "x86.c")), "-ldl")
        masks = {"hwcap=0x0,hwcap2=0x0": "sme 1 sme2 1 i8mm 1\n",
                 "hwcap=0x0,hwcap2=0x2000000000": "sme 1 sme2 0 i8mm 1\n",
                 "hwcap=0x0,hwcap2=0x2000800000": "sme 0 sme2 0 i8mm 1\n"}
        for mask, expected in masks.items():
            for what in ([], ["thread"]):
                with self.subTest(mask=mask, what=what):
                    done = execute(found.stdout.strip(), "-cpu", "max", "-L", "/usr/aarch64-linux-gnu", "-E",
                                   "LD_PRELOAD=" + library, program, *what,
                                   env={**os.environ, "ETPROF_MASK": "aarch64:" + mask})
                    self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)


if __name__ == "__main__":
    if platform.system() != "Linux":
        skip("written for Linux")
    unittest.main()
