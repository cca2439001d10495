# SPDX-License-Identifier: Apache-2.0
"""etprof sweep on an emulated arm64 with SME2: cells are measured and proven, no ratio is made; what only makes sense
of real times is refused before anything is launched.

usage: sweep.py ETPROF SOURCE_DIR"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import skip

ETPROF, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
BUNDLE = ROOT / "build" / "bundle" / "aarch64-linux-gnu"
MODEL = ROOT / "examples" / "models" / "toy_cnn_xnnpack_fp32.pte"


def run(tmp, qemu, verb, *words):
    return subprocess.run([ETPROF, verb, MODEL, "--device", "qemu", "--levels", "sme2,neon", "--quiet", "--out", "run",
                           *words],
                          cwd=tmp, capture_output=True, text=True, check=False, timeout=600,
                          env={**os.environ, "ETPROF_QEMU": qemu, "ETPROF_RUNNER": str(BUNDLE)})


def main():
    if not (BUNDLE / "bundle.json").exists():
        skip("no aarch64 runner bundle (scripts/build-runner aarch64-linux-gnu)")
    found = subprocess.run([ROOT / "scripts" / "qemu"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        skip((found.stderr.strip().splitlines() or ["no QEMU with SME2"])[-1])
    qemu = found.stdout.strip()
    with tempfile.TemporaryDirectory() as tmp:
        refused = run(tmp, qemu, "sweep", "--precision", "1%")
        says = "precision is of a speedup: an emulator's times have none"
        assert refused.returncode == 2 and says in refused.stderr, (refused.returncode, refused.stderr)
        assert not (pathlib.Path(tmp) / "run").exists(), "a folder was left"
        done = run(tmp, qemu, "sweep", "--threads", "1,2", "--no-trace", "--format", "json")
    assert done.returncode == 0, (done.returncode, done.stderr)
    answer = json.loads(done.stdout)
    assert answer["device"]["emulated"] is True
    assert len(answer["cells"]) == 4 and all(c["time_ns"] > 0 for c in answer["cells"]), answer["cells"]
    assert len(answer["speedups"]) == 2, answer["speedups"]
    for x in answer["speedups"]:
        assert x["withheld"] == "emulated" and x["verdict"] == "unknown", x
        assert x["speedup"]["estimate"] is x["speedup"]["lo"] is x["speedup"]["hi"] is None, x
    assert all(x["ratio_of_ratios"]["estimate"] is None and not x["established"]
               for x in answer["interactions"]), answer["interactions"]
    print("4 cells, no ratio")


main()
