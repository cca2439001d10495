# SPDX-License-Identifier: Apache-2.0
"""What etprof-runner adds to an execution, in instructions: counted by valgrind, so that a busy machine
does not matter. The other side is the bare loop of bench/runner, which has nothing of etprof in it.

An execution costs the difference between a long and a short run, divided by their iterations: what both
do once falls out. Two claims, with a mask set that hides nothing, so that both run the same kernels:
  - the hook adds at most 50 instructions to each of the SDK's questions;
  - an execution takes at most 1 % more instructions than in the bare loop.

usage: hook_cost.py [MODEL.pte[:METHOD] ...]    these instead of the tree's (for bench/README.md)
"""
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip
from test_runner import DATA, ROOT, X86, build, embedded

SHORT, LONG = 4, 14
EXECUTE = "executorch::runtime::Method::execute()"


def programs(folder):
    """Small ones with many delegate calls, dynamic quantisation, kernels outside delegates."""
    if GIVEN:
        return GIVEN
    linear = os.path.join(folder, "dynamic.pte")
    pathlib.Path(linear).write_bytes(embedded("k_selftest_linear"))
    fixes = [os.path.join(DATA, "fixes", n + ".pte") for n in ("layer_norm", "batch_norm")]
    return [os.path.join(DATA, "linear_xnnpack_fp32.pte"), os.path.join(DATA, "mixed_xnnpack_fp32.pte"), linear,
            os.path.join(ROOT, "examples", "models", "toy_cnn_xnnpack_int8.pte"), *fixes]


def counted(words, folder, commands="", mask=None):
    """Instructions inside Method::execute, and what the program printed."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("ETPROF_")}
    if mask:
        env["ETPROF_MASK"] = mask
    env["ETPROF_COUNTERS"] = "off"
    out = os.path.join(folder, "callgrind.out")
    done = execute("valgrind", "--tool=callgrind", "--toggle-collect=" + EXECUTE, "--callgrind-out-file=" + out, *words,
                   input=commands, env=env)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise AssertionError("%s: status %d\n%s%s" % (words[0], done.returncode, done.stdout[-500:],
                                                      done.stderr[-2000:]))
    return int(found.group(1)), done.stdout


class HookCost(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="etprof-test-")
        self.addCleanup(shutil.rmtree, self.tmp)

    def execution(self, words_of, **more):
        """Instructions of one execution, and the last output."""
        short, _ = counted(*words_of(SHORT), **more)
        long, text = counted(*words_of(LONG), **more)
        self.assertGreater(long, short, "nothing was counted inside %s" % EXECUTE)
        return (long - short) / (LONG - SHORT), text

    def test_the_bare_loop_has_no_hook(self):
        symbols = execute("nm", "-D", "--defined-only", BARE, check=True).stdout
        self.assertNotIn("cpuinfo_initialize", symbols)

    def test_instructions_of_an_execution(self):
        asked = 0
        for given in programs(self.tmp):
            model, _, method = given.partition(":")
            method = method or "forward"
            bare, _ = self.execution(lambda n: ([BARE, model, method, "0", str(n)], self.tmp))
            with self.subTest(model=os.path.basename(model)):
                ours, text = self.execution(
                    lambda n: ([RUNNER, "--model", model, "--method", method, "--inputs", "ones"], self.tmp,
                               "run %d\n" % n), mask=X86["vnni"])
                done = json.loads(text.splitlines()[-1])
                calls = done.get("hook_calls", 0)
                print("%-26s bare %9.0f  runner %9.0f  ratio %.4f  questions %d"
                      % (os.path.basename(model), bare, ours, ours / bare, calls), flush=True)
                self.assertIn("hook_call_ps", done)
                asked += calls
                self.assertLessEqual(ours - bare, 50 * calls)
                self.assertLess(abs(ours / bare - 1), 0.01)
        self.assertGreater(asked, 0, "no model asked the hook: this test would prove nothing")


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("the SDK asks cpuinfo_initialize while it executes on x86-64 Linux only")
    if shutil.which("valgrind") is None:
        skip("no valgrind to count instructions with; on Debian: apt-get install valgrind")
    GIVEN = [arg for arg in sys.argv[1:] if ".pte" in arg]
    sys.argv[1:] = [arg for arg in sys.argv[1:] if ".pte" not in arg]
    bundle = build("native")
    tree = os.path.join(ROOT, "build", "runner", os.path.basename(bundle))
    cmake = os.path.join(ROOT, ".venv", "bin", "cmake")
    made = execute(cmake if os.path.exists(cmake) else "cmake", "--build", tree, "--target", "bare")
    if made.returncode != 0:
        sys.exit(made.stdout + made.stderr)
    RUNNER, BARE = os.path.join(bundle, "etprof-runner"), os.path.join(tree, "bare")
    unittest.main()
