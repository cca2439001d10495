# SPDX-License-Identifier: Apache-2.0
"""Tests of etprof-runner through its protocol: test_runner.py
protocol|bad_input|mask|selftest|roofs|bundle|qemu|corpus_x86|corpus_aarch64|macos

Expected values come from the file formats and from ExecuTorch's own operator names, not from the
tool that will read these lines. Python's standard library only.
"""
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
LINEAR = os.path.join(DATA, "linear_xnnpack_fp32.pte")
PORTABLE = os.path.join(DATA, "linear_portable_fp32.pte")
MIXED = os.path.join(DATA, "mixed_xnnpack_fp32.pte")

ARM = {
    "sme2": "aarch64:hwcap=0x0,hwcap2=0x0",
    "sme1": "aarch64:hwcap=0xfc0000000000,hwcap2=0x7e0007e000000000",
    "neon": "aarch64:hwcap=0xfc0000000000,hwcap2=0x7e0007e07f800000",
}
NO_VNNI = "avx512vnni,gfni,avx512bf16,avx512fp16,amx_bf16,amx_tile,amx_int8,amx_fp16"
NO_AVX512 = NO_VNNI + (
    ",avx512f,avx512pf,avx512er,avx512cd,avx512dq,avx512bw,avx512vl,avx512ifma,avx512vbmi,"
    "avx512vbmi2,avx512bitalg,avx512vpopcntdq,avx512vp2intersect,avx512_4vnniw,avx512_4fmaps,"
    "avx10_1,avx10_2"
)
NO_AVX2_VNNI = "avx_vnni_int8,avx_vnni_int16,avx_ne_convert"
X86 = {
    "vnni": "x86_64:avx512fp16,avx10_2,amx_bf16,amx_tile,amx_int8,amx_fp16",
    "avx512": "x86_64:avxvnni,avx10_2," + NO_VNNI,
    "avx2": "x86_64:avxvnni," + NO_AVX512 + "," + NO_AVX2_VNNI,
    "sse": "x86_64:avx,f16c,fma3,avx2,avxvnni," + NO_AVX512 + "," + NO_AVX2_VNNI,
}


def script(*words):
    """Last line of a script's output; its skip becomes ours."""
    done = execute(*words)
    if done.returncode == 77:
        skip(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        sys.exit("%s failed (%d):\n%s" % (words[0], done.returncode, done.stderr))
    return done.stdout.strip().splitlines()[-1]


def build(triple):
    return script(os.path.join(ROOT, "scripts", "build-runner"), triple)


def embedded(name):
    """A program of the self-test, from the C array it is embedded as."""
    with open(os.path.join(ROOT, "runner", "selftest", "models.h")) as f:
        body = re.search(name + r"\[\] = \{(.*?)\};", f.read(), re.S).group(1)
    return bytes(int(b) for b in body.replace("\n", "").split(",") if b.strip())


class Result:
    def __init__(self, status, text, stderr):
        self.status, self.text, self.stderr = status, text, stderr
        self.lines = [json.loads(line) for line in text.splitlines()]

    def of(self, kind):
        return [line for line in self.lines if line["type"] == kind]

    def one(self, kind):
        found = self.of(kind)
        assert len(found) == 1, "%d %s lines in %s%s" % (len(found), kind, self.text, self.stderr)
        return found[0]


class Case(unittest.TestCase):
    start = []  # what stands before the runner's arguments
    folder = None

    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="etprof-test-")
        self.addCleanup(shutil.rmtree, self.tmp)

    def path(self, name, data=None):
        path = os.path.join(self.tmp, name)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data)
        return path

    def env(self, mask=None, nonce=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ETPROF_")}
        if mask is not None:
            env["ETPROF_MASK"] = mask
        if nonce is not None:
            env["ETPROF_NONCE"] = nonce
        return env

    def popen(self, *args, mask=None, nonce=None, **more):
        return subprocess.Popen(
            self.start + list(args), cwd=self.folder, env=self.env(mask, nonce), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run_it(self, *args, commands="", mask=None, nonce=None):
        process = self.popen(*args, mask=mask, nonce=nonce)
        out, err = process.communicate(commands, timeout=300)
        return Result(process.returncode, out, err)

    def names(self, model, mask, *args):
        """Operator names of one traced iteration, without their numbers, and the whole result."""
        dump = self.path("names.etdump")
        result = self.run_it("--model", model, "--kind", "traced", *args, mask=mask,
                             commands="run 1\ndump -\nrun 1\ndump %s\n" % dump)
        self.assertEqual(result.status, 0, result.text + result.stderr)
        with open(dump, "rb") as f:
            found = re.findall(rb"([A-Z][A-Za-z0-9 ]+\([A-Z0-9, ]+\)[A-Za-z0-9 ]*) #\d+", f.read())
        return sorted({n.decode().strip() for n in found}), result


class Protocol(Case):
    def test_order_and_counts(self):
        r = self.run_it("--model", LINEAR, nonce="abc-1", commands="run 3\n\nrun 2\nquit\nrun 9\n")
        self.assertEqual(r.status, 0)
        self.assertEqual([line["type"] for line in r.lines],
                         ["hello", "load"] + ["iter"] * 3 + ["done"] + ["iter"] * 2 + ["done"])
        hello = r.one("hello")
        self.assertEqual(hello["protocol"], 1)
        self.assertEqual(hello["nonce"], "abc-1")
        self.assertEqual(hello["executorch"].split("+")[0], "1.5.1")
        self.assertEqual(r.one("load")["method"], "forward")
        self.assertGreater(r.one("load")["ns"], 0)
        self.assertGreater(r.one("load")["rss_bytes"], 1 << 20)
        iters = r.of("iter")
        self.assertEqual([i["i"] for i in iters], [0, 1, 2, 3, 4])
        for a, b in zip(iters, iters[1:]):
            self.assertGreater(a["ns"], 0)
            self.assertGreaterEqual(b["start_ns"], a["start_ns"] + a["ns"])
        self.assertEqual([d["n"] for d in r.of("done")], [3, 2])
        self.assertGreaterEqual(r.of("done")[1]["peak_rss_bytes"], r.one("load")["rss_bytes"])

    def test_peak_memory_is_the_runner_s_own(self):
        # The process that starts it holds 300 MB, which ru_maxrss would hand on through exec.
        held = bytearray(b"x") * 300_000_000
        p = self.popen("--model", LINEAR, close_fds=False)
        self.assertEqual(len(held), 300_000_000)
        out, _ = p.communicate("run 1\n", timeout=60)
        done = [line for line in map(json.loads, out.splitlines()) if line["type"] == "done"]
        self.assertTrue(1 << 20 < done[0]["peak_rss_bytes"] < 200_000_000, done)

    def memory_of(self, model):
        """The answer to "memory" after three iterations, and the system's own account of the process then."""
        p = self.popen("--model", model, "--threads", "2")
        p.stdin.write("run 3\nmemory\n")
        p.stdin.flush()
        lines = []
        while not lines or lines[-1].get("cmd") != "memory":
            lines.append(json.loads(p.stdout.readline()))
        with open("/proc/%d/status" % p.pid) as f:  # it waits: what is resident does not change
            status = {k: int(v) * 1024 for k, v in re.findall(r"^(Rss\w+):\s+(\d+) kB", f.read(), re.M)}
        with open("/proc/%d/smaps" % p.pid) as f:
            mapped = [(m.group(1), int(m.group(2)) * 1024) for m in re.finditer(
                r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)\n(?:.*\n)*?Rss: +(\d+) kB", f.read(), re.M)]
        p.communicate("quit\n", timeout=60)
        self.assertEqual(lines[0]["memory"], 1)
        return lines[-1], status, mapped

    @unittest.skipUnless(sys.platform == "linux", "smaps is Linux's")
    def test_memory_is_what_the_system_says(self):
        # Between its reading and ours it has sent a line; and RssAnon is counted in batches.
        near = 300_000
        small = os.path.join(ROOT, "examples/models/image_encoder_xnnpack_int8.pte")  # loading frees much
        for model in (LINEAR, MIXED, small, os.path.join(DATA, "fixes", "batch_norm_portable.pte")):
            told, status, mapped = self.memory_of(model)
            self.assertLess(abs(told["dirty_bytes"] - status["RssAnon"]), near, model)
            self.assertLess(abs(told["clean_bytes"] - status["RssFile"] - status["RssShmem"]), near, model)
            rows = told["memory"]
            whole = told["dirty_bytes"] + told["clean_bytes"]
            self.assertEqual(sum(rows.values()), whole, model)
            self.assertLess(abs(whole - sum(rss for _, rss in mapped)), near, model)
            program = sum(rss for path, rss in mapped if path == os.path.realpath(model))
            code = sum(rss for path, rss in mapped if path.startswith("/")) - program
            self.assertLess(abs(rows["program"] - program), near, model)
            self.assertLess(abs(rows["code"] - code), near, model)
            self.assertLessEqual(rows["unaccounted"], 0.03 * told["peak_rss_bytes"], (model, told))
            self.assertEqual(rows["packed"] > 0, "portable" not in model, (model, told))

    def test_pid_and_end_of_input(self):
        p = self.popen("--model", LINEAR)
        self.assertEqual(json.loads(p.stdout.readline())["pid"], p.pid)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)

    def test_dump_holds_what_ran_since(self):
        first, second = self.path("a b.etdump"), self.path("c.etdump")
        r = self.run_it("--model", MIXED, "--kind", "traced", commands=(
            "run 2\ndump %s\nrun 3\ndump -\nrun 4\ndump %s\ndump %s\n" % (first, second, second)))
        self.assertEqual(r.status, 1)  # because of the last dump
        self.assertIn("nothing was recorded", r.one("error")["message"])
        with open(first, "rb") as f:
            with_load = f.read()
        with open(second, "rb") as f:
            without = f.read()
        self.assertEqual(with_load[8:12], b"ED00")
        self.assertEqual(with_load.count(b"Program::load_method"), 1)
        self.assertEqual(with_load.count(b"Method::execute"), 2)
        self.assertEqual(without.count(b"Program::load_method"), 0)
        self.assertEqual(without.count(b"Method::execute"), 4)
        sizes = [d["bytes"] for d in r.of("done") if d["cmd"] == "dump"]
        self.assertEqual(sizes, [len(with_load), 0, len(without)])

    def test_timed_has_no_tracer(self):
        r = self.run_it("--model", LINEAR, commands="run 1\ndump %s\n" % self.path("x"))
        self.assertEqual(r.one("error")["code"], "kind")
        self.assertFalse(os.path.exists(self.path("x")))

    @unittest.skipUnless(sys.platform == "linux", "sampling is Linux's")
    def test_samples(self):
        """Program counters of this very process, in time order with its iterations."""
        conv, file = self.path("conv.pte", embedded("k_selftest_conv")), self.path("s.csv")
        p = self.popen("--model", conv, "--kind", "sampled")
        out, err = p.communicate("run 10\ndump -\nsamples /dev/null\nrun 200000\nsamples %s\nsamples %s\n"
                                 % (file, self.path("again.csv")), timeout=120)
        self.assertEqual(p.returncode, 0, err)
        r = Result(p.returncode, out, err)
        with open(file) as f:
            rows = f.read().splitlines()
        self.assertEqual(rows.pop(0), "time_ns,thread,module,address,symbol,streaming")
        self.assertEqual(len(rows), [d for d in r.of("done") if d["cmd"] == "samples"][1]["n"])
        self.assertGreaterEqual(len(rows), 20)
        iters = r.of("iter")
        in_sdk = 0
        for row in rows:
            time_ns, thread, module, address, _, streaming = row.split(",")
            self.assertEqual(int(thread), p.pid)
            self.assertGreaterEqual(int(time_ns), iters[10]["start_ns"] - 10**7)
            self.assertLessEqual(int(time_ns), iters[-1]["start_ns"] + iters[-1]["ns"] + 10**9)
            if platform.machine() == "x86_64":
                self.assertEqual(streaming, "")
            if module.startswith("libexecutorch"):
                in_sdk += 1
                sdk = os.path.join(os.path.dirname(self.start[0]), "sdk", module)
                self.assertLess(int(address, 16), os.path.getsize(sdk) + (1 << 20))
        self.assertGreater(in_sdk, len(rows) / 2)
        with open(self.path("again.csv")) as f:
            self.assertEqual(len(f.readlines()), 1)  # taken once, then forgotten
        r = self.run_it("--model", LINEAR, commands="samples %s\n" % file)
        self.assertEqual(r.one("error")["code"], "kind")

    def outputs(self, model, *args, name="out"):
        folder = self.path(name)
        r = self.run_it("--model", model, *args, commands="run 2\noutputs %s\n" % folder)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        with open(os.path.join(folder, "outputs.json")) as f:
            listed = json.load(f)["outputs"]
        with open(os.path.join(folder, "output-0.bin"), "rb") as f:
            return listed, f.read()

    def test_outputs_of_two_implementations_agree(self):
        """XNNPACK's linear against the portable kernels, on the same file of input."""
        data = struct.pack("<8f", *[i / 8 for i in range(8)])
        file = self.path("in.bin", data)
        listed, fast = self.outputs(LINEAR, "--inputs", file)
        self.assertEqual(listed, [{"index": 0, "file": "output-0.bin", "dtype": "float32",
                                   "shape": [2, 3], "dim_order": [0, 1], "bytes": 24}])
        _, plain = self.outputs(PORTABLE, "--inputs", file)
        for a, b in zip(struct.unpack("<6f", fast), struct.unpack("<6f", plain)):
            self.assertAlmostEqual(a, b, places=5)

    def test_seed_decides_inputs(self):
        _, a = self.outputs(LINEAR, "--inputs", "random:5", name="a")
        _, b = self.outputs(LINEAR, "--inputs=random:5", name="b")
        _, c = self.outputs(LINEAR, "--inputs", "random:6", name="c")
        _, ones = self.outputs(LINEAR, "--inputs", "ones", name="d")
        _, file = self.outputs(LINEAR, "--inputs", self.path("o", struct.pack("<8f", *[1] * 8)))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        self.assertEqual(ones, file)

    def test_data_file(self):
        r = self.run_it("--model", os.path.join(DATA, "linear_portable_fp32_external.pte"),
                        "--data", os.path.join(DATA, "linear_external.ptd"), commands="run 2\n")
        self.assertEqual(r.status, 0, r.text + r.stderr)
        self.assertEqual(len(r.of("iter")), 2)

    def test_threads(self):
        for threads in ("1", "2"):
            p = self.popen("--model", LINEAR, "--threads", threads)
            self.assertEqual(json.loads(p.stdout.readline())["threads"], int(threads))
            p.stdin.write("run 5\n")
            p.stdin.flush()
            for line in p.stdout:
                if json.loads(line)["type"] == "done":
                    break
            if sys.platform == "linux" and self.folder is None:
                self.assertEqual(len(os.listdir("/proc/%d/task" % p.pid)), int(threads))
            p.communicate(timeout=60)
            self.assertEqual(p.returncode, 0)

    @unittest.skipUnless(hasattr(os, "sched_getaffinity"), "no CPU pinning here")
    def test_cpus(self):
        cpu = max(os.sched_getaffinity(0))
        p = self.popen("--model", LINEAR, "--cpus", str(cpu))
        p.stdout.readline(), p.stdout.readline()
        self.assertEqual(os.sched_getaffinity(p.pid), {cpu})
        p.communicate(timeout=60)

    def test_a_crash_keeps_what_was_said(self):
        p = self.popen("--model", LINEAR)
        p.stdin.write("run 4\n")
        p.stdin.flush()
        seen = []
        for line in p.stdout:
            seen.append(json.loads(line)["type"])
            if seen[-1] == "done":
                break
        p.send_signal(signal.SIGSEGV)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, -signal.SIGSEGV)
        self.assertEqual(seen.count("iter"), 4)

    def computes(self, pid):
        """Returns when PID has had a CPU for thousands of iterations, however long that takes, and long before it has
        so many that it reports them; elsewhere than on Linux, when that would be so on an idle machine."""
        stat, end = "/proc/%d/stat" % pid, time.monotonic() + 60
        if not os.path.exists(stat):
            time.sleep(0.3)
            return

        def ticks():
            with open(stat) as f:
                return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))

        wanted = ticks() + 0.3 * os.sysconf("SC_CLK_TCK")
        while ticks() < wanted and time.monotonic() < end:
            time.sleep(0.01)

    def test_a_crash_in_a_run_reports_its_iterations(self):
        p = self.popen("--model", MIXED)
        p.stdin.write("run 1000000\n")
        p.stdin.flush()
        p.stdout.readline(), p.stdout.readline()
        self.computes(p.pid)
        p.send_signal(signal.SIGSEGV)
        out, _ = p.communicate(timeout=60)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(p.returncode, -signal.SIGSEGV)
        error = lines.pop()
        self.assertEqual((error["type"], error["code"]), ("error", "crash"))
        self.assertEqual(error["message"],
                         "the SDK crashed (signal 11, SIGSEGV) while executing the method")
        self.assertGreater(len(lines), 100)
        self.assertEqual([line["i"] for line in lines], list(range(len(lines))))
        self.assertTrue(all(line["type"] == "iter" and line["ns"] > 0 for line in lines))

    @unittest.skipUnless(sys.platform == "linux", "the end with the parent is Linux's")
    def test_no_orphan(self):
        """Its parent is killed while somebody else holds the runner's stdin open."""
        ours, theirs = os.pipe()
        code = ("import subprocess,sys,time\n"
                "p=subprocess.Popen(%r,stdin=%d,stdout=subprocess.PIPE)\n"
                "p.stdout.readline();print(p.pid,flush=True);time.sleep(60)"
                % (self.start + ["--model", LINEAR], ours))
        parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                  pass_fds=[ours], env=self.env(), text=True)
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.communicate()
        for _ in range(1000):
            try:
                with open("/proc/%d/stat" % pid) as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                        break  # dead, and nobody in this container reaps it
            except OSError:
                break
            time.sleep(0.05)
        else:
            os.kill(pid, signal.SIGKILL)
            self.fail("the runner outlived its parent by 50 s")
        os.close(ours), os.close(theirs)


class BadInput(Case):
    def refused(self, code, fragment, *args, status=1, **more):
        r = self.run_it(*args, **more)
        error = r.one("error")
        self.assertEqual(error["code"], code, r.text)
        self.assertIn(fragment, error["message"])
        self.assertEqual(r.status, status, r.text)
        self.assertFalse(r.of("iter"))

    def test_files(self):
        with open(MIXED, "rb") as f:
            good = f.read()
        def model(name, data):
            return ("--model", self.path(name, data))
        self.refused("file", "No such file", "--model", self.path("none.pte"))
        self.refused("file", "is a folder", "--model", self.tmp)
        self.refused("not_pte", "is empty", *model("e", b""))
        self.refused("not_pte", "only 3 bytes", *model("s", b"abc"))
        self.refused("not_pte", "not an ExecuTorch program", *model("t", b"some text that is no model"))
        self.refused("not_pte", "ETDump", "--model", os.path.join(DATA, "mixed_xnnpack_fp32.etdump"))
        self.refused("not_pte", "bundled", "--model", os.path.join(DATA, "linear_xnnpack_fp32.bpte"))
        self.refused("not_pte", "--data", "--model", os.path.join(DATA, "linear_external.ptd"))
        self.refused("not_pte", "'ET99'", *model("n", good[:4] + b"ET99" + good[8:]))
        for cut in (40, 100, len(good) // 2, len(good) - 1):
            self.refused("not_pte", "truncated: %d of" % cut, *model("c", good[:cut]))
        damaged = bytearray(good)
        damaged[0:4] = struct.pack("<I", 0x7FFFFFF0)
        self.refused("load", "cannot load", *model("d", bytes(damaged)))
        self.refused("load", "--data", "--model",
                     os.path.join(DATA, "linear_portable_fp32_external.pte"))

    def test_a_crash_of_the_sdk_is_said(self):
        """This SDK dies of an XNNPACK program whose weights are elsewhere."""
        model = os.path.join(os.environ.get("ETPROF_CORPUS", os.path.join(ROOT, "..", "shared", "corpus")),
                             "models", "mlp_xnnpack_fp32_external.pte")
        if not os.path.exists(model):
            self.skipTest("no reference corpus (ETPROF_CORPUS)")
        self.refused("crash", "while loading the model; if its weights are in a .ptd file, give it with --data",
                     "--model", model, status=-signal.SIGSEGV)

    def test_method(self):
        self.refused("method", "no method 'backward'; it has: forward",
                     "--model", LINEAR, "--method", "backward")

    def test_inputs(self):
        short = self.path("short", b"\0" * 31)
        long = self.path("long", b"\0" * 33)
        base = ("--model", LINEAR, "--inputs")
        self.refused("input", "has 31 bytes, the method takes 32", *base, short)
        self.refused("input", "has 33 bytes, the method takes 32", *base, long)
        self.refused("input", "names 2 files, the method takes 1", *base, short + "," + long)
        self.refused("input", "No such file", *base, self.path("gone"))
        self.refused("usage", "seed", *base, "random:", status=2)
        self.refused("usage", "seed", *base, "random:1x", status=2)

    def test_usage(self):
        base = ("--model", LINEAR)
        self.refused("usage", "--model is missing", status=2)
        self.refused("usage", "unknown argument '--modle'", "--modle", LINEAR, status=2)
        self.refused("usage", "needs a value", "--model", status=2)
        for threads in ("0", "x", "-1", "9999", "2x", ""):
            self.refused("usage", "--threads", *base, "--threads", threads, status=2)
        self.refused("usage", "--kind", *base, "--kind", "fast", status=2)
        for cpus in ("x", "1-", "3-1", "0,,1", "0-99999"):
            self.refused("usage", "--cpus", *base, "--cpus", cpus, status=2)

    def test_commands(self):
        r = self.run_it("--model", LINEAR, commands=(
            "run\nrun 0\njump\ndump\noutputs x\nrun 1\noutputs /proc/none/x\nrun 1\n%s\n" % ("x" * 20000)))
        self.assertEqual(r.status, 1)
        self.assertEqual([e["code"] for e in r.of("error")],
                         ["usage"] * 4 + ["io"] * 2 + ["usage"])
        self.assertIn("line too long", r.of("error")[-1]["message"])
        self.assertEqual(len(r.of("iter")), 2)  # and it went on in between

    def test_masks(self):
        base = ("--model", LINEAR)
        family, other = ("aarch64", "x86_64") if platform.machine() in ("aarch64", "arm64") else ("x86_64", "aarch64")
        wrong = X86["sse"] if other == "x86_64" else ARM["neon"]
        self.refused("mask", "expected aarch64: or x86_64:", *base, mask="sme2")
        self.refused("mask", "is for %s, this CPU is %s" % (other, family), *base, mask=wrong)
        self.refused("mask", "longer than", *base, mask="x86_64:" + "a" * 5000)
        if family == "x86_64":
            self.refused("mask", "expected an x86 feature name", *base, mask="x86_64:avx3")
            self.refused("level", "sme2 cannot be had here", *base, "--level", "sme2")
            self.refused("level", "not the mask of level sse", *base, "--level", "sse",
                         mask="x86_64:none")
        self.refused("level", "no level 'sse9'", *base, "--level", "sse9")
        r = self.run_it(*base, nonce="n" * 65)
        self.assertEqual(r.one("error")["code"], "usage")


class Mask(Case):
    """The names of operators change with the level, and the hello line says why they could."""

    def test_x86_levels(self):
        if platform.machine() != "x86_64":
            self.skipTest("x86-64 levels need an x86-64 machine")
        probe = self.run_it("--probe")
        flags = set(probe.one("hello")["cpu"].split(":")[1].split(","))
        dynamic = self.path("linear.pte", embedded("k_selftest_linear"))
        vnni = {"avx512vnni", "avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags
        for level, mask in X86.items():
            names, result = self.names(dynamic, mask)
            expected = "QDU8" if level == "vnni" and vnni else "QD8"
            self.assertEqual(names[-1], "Fully Connected (NC, %s, F32, QC8W) GEMM" % expected, level)
            hello = result.one("hello")
            hidden = set(mask.split(":")[1].split(",")) & flags
            self.assertEqual(hello["mask"]["requested"], mask)
            self.assertEqual(hello["mask"]["hook"], "cpuinfo_initialize")
            self.assertEqual(set(hello["mask"]["cleared"].split(":")[1].split(",")),
                             hidden or {"none"})
            self.assertGreater(hello["mask"]["calls"], 0)
            self.assertEqual(hello["mask"]["caller"], "libexecutorch_backend_xnnpack.so")
            seen = set(hello["flags"].split(":")[1].split(","))
            self.assertEqual(seen, flags - hidden)
            self.assertGreaterEqual(result.one("load")["hook_calls"], hello["mask"]["calls"])

    @unittest.skipUnless(platform.machine() == "x86_64" and sys.platform == "linux", "x86-64 Linux")
    def test_another_layout_is_refused(self):
        """Another table of flags in place of the SDK's: nothing may be hidden by offset."""
        code = (b"#define _GNU_SOURCE\n#include <dlfcn.h>\nunsigned char cpuinfo_isa[%d];"
                b"_Bool cpuinfo_initialize(void) {"
                b" _Bool ok = ((_Bool (*)(void))dlsym(RTLD_NEXT, \"cpuinfo_initialize\"))();"
                b" cpuinfo_isa[16] = 0; return ok; }")
        for size, message in ((86, "has 86 bytes, expected 85"),
                              (85, "byte 16 (sse3) is 0, CPUID says 1: another layout")):
            lib = self.path("lib%d.so" % size)
            source = self.path("fake.c", code % size)
            if subprocess.run(["cc", "-shared", "-fPIC", "-o", lib, source]).returncode != 0:
                self.skipTest("no cc")
            os.environ["LD_PRELOAD"] = lib
            try:
                r = self.run_it("--model", LINEAR, mask="x86_64:avx2", commands="run 1\n")
                unmasked = self.run_it("--model", LINEAR, commands="run 1\n")
            finally:
                del os.environ["LD_PRELOAD"]
            self.assertEqual((r.one("error")["code"], r.status), ("mask", 1))
            self.assertIn(message, r.one("error")["message"])
            self.assertEqual(unmasked.status, 0)  # without a mask there is nothing to refuse
            self.assertEqual(unmasked.one("hello")["flags"], "")

    def test_no_mask_claims_nothing(self):
        mask = self.run_it("--probe").one("hello")["mask"]
        self.assertEqual((mask["requested"], mask["cleared"], mask["calls"]), ("", "", 0))

    def test_sse_makes_fp16_run_in_fp32(self):
        """What the SDK does without AVX2 and F16C is visible in the names as well."""
        corpus = os.environ.get("ETPROF_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
        model = os.path.join(corpus, "models", "toy_cnn_xnnpack_fp16.pte")
        if platform.machine() != "x86_64" or not os.path.exists(model):
            self.skipTest("needs x86-64 and the reference corpus (ETPROF_CORPUS)")
        avx2, _ = self.names(model, X86["avx2"])
        sse, _ = self.names(model, X86["sse"])
        self.assertIn("Convolution (NHWC, F16) IGEMM", avx2)
        self.assertIn("Convolution (NHWC, F32) IGEMM", sse)


class SelfTest(Case):
    def test_every_level_of_this_machine(self):
        r = self.run_it("--selftest")
        self.assertEqual(r.status, 0, r.text + r.stderr)
        levels = {line["level"]: line for line in r.one("selftest")["levels"]}
        if platform.machine() == "x86_64":
            self.assertEqual(list(levels), ["amx", "fp16", "vnni", "avx512", "avx2", "sse"])
            if levels["vnni"]["linear"]:  # the CPU has it: then names can prove all four
                self.assertEqual([levels[name]["ok"] for name in ("vnni", "avx512", "avx2", "sse")], [True] * 4)
                self.assertIn("QDU8", levels["vnni"]["linear"])
                self.assertIn("QD8", levels["avx512"]["linear"])
        else:
            self.assertEqual(list(levels), ["sme2", "sme1", "neon", "dotprod", "base"])
        for level in levels.values():
            self.assertIsNot(level["ok"], False)
            self.assertTrue(level["why"])

    def test_one_level_under_a_mask(self):
        if platform.machine() != "x86_64":
            self.skipTest("x86-64 masks")
        level, = self.run_it("--selftest", mask=X86["avx2"]).one("selftest")["levels"]
        self.assertEqual(level["level"], "avx2")
        level, = self.run_it("--selftest", mask="x86_64:rdtscp").one("selftest")["levels"]
        self.assertEqual((level["level"], level["ok"]), ("custom", None))


class Roofs(Case):
    def test_loops_are_checked(self):
        r = self.run_it("--roofs", "0")
        self.assertEqual(r.status, 0, r.text + r.stderr)
        roofs = [line for line in r.lines if line["type"] == "roof"]
        self.assertEqual(r.one("done")["n"], len(roofs))
        self.assertIn("fma_f32", [x["what"] for x in roofs])
        self.assertTrue(all(x["best"] == 0 and x["median"] == 0 and x["unit"] == "op/s" for x in roofs))

    def test_measures_on_one_and_two_threads(self):
        r = self.run_it("--roofs", "0.2", "--counts", "1,2")
        self.assertEqual(r.status, 0, r.text + r.stderr)
        roofs = [line for line in r.lines if line["type"] == "roof"]
        self.assertTrue(all(x["best"] > 0 for x in roofs))
        self.assertEqual({x["what"] for x in roofs} - {"fma_f16"},
                         {"fma_f32", "dot_i8", "read", "write", "copy", "strided_copy", "region", "timer"})
        self.assertEqual([x["threads"] for x in roofs if x["what"] == "region"], [1, 2])

    def test_wrong_options(self):
        for args in (("--roofs", "x"), ("--roofs", "-1"), ("--roofs", "601"), ("--roofs", "nan"),
                     ("--roofs", "0", "--counts", "2,1"),
                     ("--roofs", "0", "--counts", "999")):
            r = self.run_it(*args)
            self.assertEqual(r.status, 2, args)
            self.assertEqual(r.one("error")["code"], "usage", args)


class Qemu(Case):
    """The aarch64 bundle under an emulator, with no file of an aarch64 system around."""

    def test_levels_by_names(self):
        conv = self.path("conv.pte", embedded("k_selftest_conv"))
        for level, token in (("sme2", "PF32"), ("sme1", "PF32"), ("neon", "F32")):
            names, result = self.names(conv, ARM[level], "--level", level)
            self.assertIn("Convolution (NHWC, %s) IGEMM" % token, names, level)
            mask = result.one("hello")["mask"]
            self.assertEqual(mask["hook"], "getauxval")
            self.assertEqual(mask["caller"], "libexecutorch_threadpool.so")
            self.assertGreater(mask["calls"], 0)

    def test_hidden_bits_are_gone(self):
        hello = self.run_it("--probe", mask=ARM["neon"]).one("hello")
        had = int(re.search("hwcap2=(0x[0-9a-f]+)", hello["cpu"]).group(1), 16)
        left = int(re.search("hwcap2=(0x[0-9a-f]+)", hello["flags"]).group(1), 16)
        self.assertTrue(had >> 23 & 1 and had >> 37 & 1)
        self.assertEqual(left, had & ~0x7E0007E07F800000)

    def test_outputs_agree_between_levels(self):
        conv = self.path("conv.pte", embedded("k_selftest_conv"))
        values = {}
        for level in ARM:
            folder = self.path(level)
            r = self.run_it("--model", conv, mask=ARM[level], commands="run 1\noutputs %s\n" % folder)
            self.assertEqual(r.status, 0, r.text + r.stderr)
            with open(os.path.join(folder, "output-0.bin"), "rb") as f:
                values[level] = struct.unpack("<288f", f.read())
        for level in ("sme2", "sme1"):
            for a, b in zip(values[level], values["neon"]):
                self.assertAlmostEqual(a, b, places=4)

    def test_selftest_level_by_level(self):
        for level, mask in ARM.items():
            found, = self.run_it("--selftest", mask=mask).one("selftest")["levels"]
            self.assertEqual((found["level"], found["ok"]), (level, True), found)
            self.assertIn("QP8", found["linear"])  # at every level: it proves nothing
        # An emulated program cannot start programs: said, not hidden.
        for found in self.run_it("--selftest").one("selftest")["levels"]:
            if found["ok"] is None:
                self.assertIn("ETPROF_MASK", found["why"])


class Bundle(Case):
    """What scripts/build-runner lays out: complete, described, started in both ways."""

    def test_description(self):
        with open(os.path.join(self.bundle, "bundle.json")) as f:
            doc = json.load(f)
        self.assertEqual(doc["schema"], "etprof.bundle/1")
        self.assertTrue(doc["executorch"]["version"].startswith("1.5.1"))
        self.assertRegex(doc["executorch"]["sha"], "^[0-9a-f]{40}$")
        listed = {f["path"]: f for f in doc["files"]}
        for folder, _, names in os.walk(self.bundle):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.bundle)
                if path in ("bundle.json", ".key"):
                    continue
                with open(os.path.join(folder, name), "rb") as f:
                    data = f.read()
                self.assertEqual(listed.pop(path)["sha256"], hashlib.sha256(data).hexdigest(), path)
        self.assertEqual(listed, {})
        self.assertEqual(len(doc["start"]), 4 if sys.platform == "linux" else 1)

    @unittest.skipUnless(sys.platform == "linux", "the loader is Linux's")
    def test_moved_and_started_both_ways(self):
        moved = self.path("moved here")
        shutil.copytree(self.bundle, moved)
        with open(os.path.join(moved, "bundle.json")) as f:
            doc = json.load(f)
        Bundle.folder = moved
        for start in (doc["start"], doc["direct"]):
            Bundle.start = start
            r = self.run_it("--model", LINEAR, commands="run 1\n")
            self.assertEqual(r.status, 0, r.text + r.stderr)
        # Through the loader nothing comes from the system.
        with subprocess.Popen(doc["start"] + ["--model", LINEAR], cwd=moved, env=self.env(),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            with open("/proc/%d/maps" % p.pid) as f:
                mapped = {line.split(None, 5)[5].strip() for line in f if ".so" in line}
            p.communicate()
        self.assertTrue(mapped)
        self.assertEqual([m for m in mapped if not m.startswith(os.path.realpath(moved))], [])
        Bundle.folder = None


def corpus():
    path = os.environ.get("ETPROF_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
    if not os.path.isdir(os.path.join(path, "dumps")):
        skip("no reference corpus (ETPROF_CORPUS)")
    return path


def counted_names(path):
    """Operator names of a recording with how often each stands in it, per execution."""
    with open(path, "rb") as f:
        data = f.read()
    counts = {}
    for name in re.findall(rb"[A-Z][A-Za-z0-9 ]+\([A-Z0-9, ]+\)[A-Za-z0-9 ]* #\d+", data):
        counts[name] = counts.get(name, 0) + 1
    runs = data.count(b"Method::execute")
    return {name: n / runs for name, n in counts.items()}


class Corpus(Case):
    """Recordings made by another program on the same SDK: same operators at the same level."""

    def compare(self, model, suffix, mask):
        recorded = os.path.join(self.corpus, "dumps", "%s.%s.etdump" % (model, suffix))
        dump = self.path("ours.etdump")
        r = self.run_it("--model", os.path.join(self.corpus, "models", model + ".pte"), "--kind",
                        "traced", mask=mask, commands="dump -\nrun 1\ndump %s\n" % dump)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        self.assertEqual(counted_names(dump), counted_names(recorded), suffix)

    def all_dumps(self, machine, levels):
        done = 0
        for file in sorted(os.listdir(os.path.join(self.corpus, "dumps"))):
            match = re.fullmatch(r"(.*_xnnpack_\w+)\.%s_([a-z0-9]+)\.etdump" % machine, file)
            if match is None or match.group(2) not in levels or "external" in file or "two_methods" in file:
                continue
            with self.subTest(file=file):
                self.compare(match.group(1), "%s_%s" % (machine, match.group(2)), levels[match.group(2)])
                done += 1
        return done


class CorpusX86(Corpus):
    def test_levels(self):
        """Of the four levels those that this CPU has: a level is told by its mask, so any CPU that has it will do."""
        if platform.machine() != "x86_64":
            self.skipTest("x86-64 recordings need an x86-64 machine")
        flags = self.run_it("--probe").one("hello")["cpu"].split(":")[1].split(",")
        wanted = {"full": "avx512vnni", "novnni": "avx512f", "noavx512": "avx2", "sse": "sse"}
        masks = {"full": X86["vnni"], "novnni": X86["avx512"], "noavx512": X86["avx2"], "sse": X86["sse"]}
        levels = {name: masks[name] for name, flag in wanted.items() if flag == "sse" or flag in flags}
        for name in wanted.keys() - levels.keys():
            print("left out: recordings of level %s (this CPU has no %s)" % (name, wanted[name]), flush=True)
        self.assertGreaterEqual(self.all_dumps("x86", levels), 8 * len(levels))


class CorpusArm(Corpus):
    def test_levels(self):
        self.assertGreaterEqual(self.all_dumps("arm64", ARM), 24)


class MacOS(unittest.TestCase):
    """Compiled and linked for macOS, not run: there was no Mac."""

    def test_files(self):
        with open(os.path.join(self.bundle, "etprof-runner"), "rb") as f:
            runner = f.read()
        with open(os.path.join(self.bundle, "libetprof-mask.dylib"), "rb") as f:
            mask = f.read()
        for data, kind in ((runner, 2), (mask, 6)):  # MH_EXECUTE, MH_DYLIB
            magic, cpu, _, filetype = struct.unpack("<4I", data[:16])
            self.assertEqual((magic, cpu, filetype), (0xFEEDFACF, 0x0100000C, kind))
        self.assertIn(b"@loader_path/sdk\0", runner)
        self.assertIn(b"@rpath/libexecutorch_backend_xnnpack.dylib", runner)
        self.assertIn(b"__interpose\0", mask)
        self.assertIn(b"_sysctlbyname", mask)
        self.assertNotIn(b"/sdk/arm64-macos/executorch/lib\0", runner)  # no run path of this machine


CASES = {"protocol": Protocol, "bad_input": BadInput, "mask": Mask, "selftest": SelfTest, "roofs": Roofs,
         "bundle": Bundle, "qemu": Qemu, "corpus_x86": CorpusX86, "corpus_aarch64": CorpusArm,
         "macos": MacOS}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CASES:
        sys.exit("usage: test_runner.py " + "|".join(CASES))
    case = CASES[sys.argv[1]]
    if issubclass(case, Corpus):
        Corpus.corpus = os.path.abspath(corpus())
    if case in (Qemu, CorpusArm):
        qemu = script(os.path.join(ROOT, "scripts", "qemu"))
        Case.folder = build("aarch64-linux-gnu")
        Case.start = [qemu, "-cpu", "max,sve=off,sme512=on", "./ld-linux-aarch64.so.1",
                      "--library-path", ".", "./etprof-runner"]
    else:
        case.bundle = build("arm64-macos" if case is MacOS else "native")
        Case.start = [os.path.join(case.bundle, "etprof-runner")]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        skip("; ".join(reason for _, reason in result.skipped))
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
