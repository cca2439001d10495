# SPDX-License-Identifier: Apache-2.0
"""SME2's numbers against NEON's, operator by operator, without hardware: only operators that multiply differ, and by no
more than sums in another order do; the answer is the same when it is asked again.

usage: numerics.py ETPROF SOURCE_DIR"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
MULTIPLYING = ("Conv2d", "FullyConnected", "aten::mean")
ARMS = ("linux_sme2_off", "linux_sme2_on")
FLOAT32_DB = 120  # 2⁻²⁴ is 144 dB; sums of up to 288 products lose some


def main():
    bundle = ROOT / "build" / "bundle" / "aarch64-linux-gnu"
    if not (bundle / "bundle.json").exists():
        skip("no aarch64 runner bundle (scripts/build-runner aarch64-linux-gnu)")
    qemu = execute(ROOT / "scripts" / "qemu")
    if qemu.returncode != 0:
        skip((qemu.stderr.strip().splitlines() or ["no QEMU with SME2"])[-1])
    model = ROOT / "examples" / "models" / "toy_cnn_xnnpack_fp32.pte"
    words = [ETPROF, "ab", model, "--device", "qemu", "--levels", "sme2,neon", "--inputs", "random:1", "--numerics",
             "--full", "--no-trace", "--quiet", "--format", "json"]
    said = []
    with tempfile.TemporaryDirectory() as tmp:
        for _ in range(2):
            done = execute(*words, cwd=tmp,
                           env={**os.environ, "ETPROF_QEMU": qemu.stdout.strip(), "ETPROF_RUNNER": str(bundle)})
            expect(done.returncode == 0, done.returncode, done.stderr)
            said.append(done.stdout)
    expect(said[0] == said[1], "the same answer again")
    answer = json.loads(said[0])
    expect(answer["verdict"] == "agree" and (answer["baseline"], answer["candidate"]) == ARMS, "arms",
           answer)
    expect([r["place"] for r in answer["rows"]] == list(range(answer["operators"])), "every operator", answer)
    first = next((r for r in answer["rows"] if not r["same_bits"]), None)
    expect(first is None or any(word in first["name"] for word in MULTIPLYING), "the first that differs", first)
    for row in answer["rows"]:
        expect(row["same_bits"] == (row["snr_db"] is None) and (row["same_bits"] or row["snr_db"] > FLOAT32_DB), row)
    finish()


main()
