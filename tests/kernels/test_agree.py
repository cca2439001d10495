# SPDX-License-Identifier: Apache-2.0
"""Names of operators against the code that ran, the short version of bench/kernels/run: one int8 model at
every x86-64 level, one float model at the aarch64 levels under QEMU. And the check itself: results under a
wrong level must disagree.

usage: test_agree.py ETPROF"""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
MODELS = ROOT / "examples/models"
loader = importlib.machinery.SourceFileLoader("kernels_run", str(ROOT / "bench/kernels/run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("kernels_run", loader))
sys.dont_write_bytecode = True
loader.exec_module(run)
ARGS = argparse.Namespace(etprof=ETPROF)


class Agree(unittest.TestCase):
    def test_x86(self):
        if platform.system() != "Linux":
            self.skipTest("program counters are sampled on Linux only")
        if "avx512_vnni" not in pathlib.Path("/proc/cpuinfo").read_text():
            self.skipTest("this CPU has no AVX-512 VNNI: the four levels cannot all run")
        if not (ROOT / "build/bundle/x86_64-linux-gnu/etprof-runner").exists():
            self.skipTest("no runner bundle: scripts/build-runner x86_64-linux-gnu")
        with tempfile.TemporaryDirectory() as folder:
            rows = list(run.x86(ARGS, MODELS / "toy_cnn_xnnpack_int8.pte", [], folder))
            self.assertEqual([r["level"] for r in rows], run.X86)
            self.assertEqual([w for r in rows for w in r["wrong"]], [])
            self.assertGreaterEqual(sum(r["judged"] for r in rows), 4)
            # As a runner would look that ignores the mask of the level it is called after.
            shown = subprocess.run([ETPROF, "kernels", folder + "/run", "--format", "json"], capture_output=True,
                                   text=True, check=True)
            for arm in json.loads(shown.stdout)["arms"]:
                for claimed in run.X86:
                    wrong, _, _ = run.judge({**arm, "level": claimed}, [])
                    self.assertEqual(bool(wrong), claimed != arm["level"], (arm["level"], claimed, wrong))

    def test_aarch64(self):
        found = subprocess.run([ROOT / "scripts/qemu"], capture_output=True, text=True)
        if found.returncode != 0:
            self.skipTest(found.stderr.strip())
        if not (ROOT / "build/bundle/aarch64-linux-gnu/etprof-runner").exists():
            self.skipTest("no runner bundle: scripts/build-runner aarch64-linux-gnu")
        with tempfile.TemporaryDirectory() as folder:
            rows = list(run.emulated(ARGS, MODELS / "toy_cnn_xnnpack_fp32.pte", [], folder))
        self.assertEqual([r["level"] for r in rows], run.ARM)
        self.assertEqual([w for r in rows for w in r["wrong"]], [])
        self.assertGreater(rows[0]["samples"], 20)

    def test_disagreement_is_seen(self):
        for level, names, counts, agrees in (("sme2", ["Convolution (NHWC, PF32) IGEMM #1"], [9], True),
                                             ("sme2", ["Convolution (NHWC, PF32) IGEMM #1"], [0], False),
                                             ("sme2", ["Convolution (NHWC, F32) IGEMM #1"], [9], False),
                                             ("neon", ["Convolution (NHWC, PF32) IGEMM #1"], [9], False),
                                             ("neon", ["Fully Connected (NC, QP8, F32, QC8W) GEMM #1"], [0], True),
                                             ("sme1", ["Fully Connected (NC, QP8, F32, QC8W) GEMM #1"], [0], False),
                                             ("sme1", [], [], False)):
            self.assertEqual(run.judge_sme(level, names, counts)[0] == [], agrees, (level, names, counts))
        arm = {"level": "vnni", "kernels": [], "operators": []}
        self.assertNotEqual(run.judge(arm, ["Fully Connected (NC, QD8, F32, QC8W) GEMM"])[0], [])
        self.assertNotEqual(run.judge({**arm, "level": "avx2"}, ["Fully Connected (NC, QDU8, F32, QC8W) GEMM"])[0], [])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print("left out: %s: %s" % (test, reason))
    sys.exit(0 if result.wasSuccessful() else 1)
