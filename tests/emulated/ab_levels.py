# SPDX-License-Identifier: Apache-2.0
"""etprof ab on an emulated arm64 with SME2: levels switch by mask, names prove it, no speedup is claimed.

usage: ab_levels.py ETPROF SOURCE_DIR fp32|fp16|int8"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

# What XNNPACK calls the operators: at an SME level, and where SME is hidden.
TOKENS = {
    "fp32": ("PF32", "F32"),
    "fp16": ("PF16", "F16"),
    "int8": ("PQS8", "QC8"),
}


def main():
    etprof, root, precision = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    bundle = root / "build" / "bundle" / "aarch64-linux-gnu"
    if not (bundle / "bundle.json").exists():
        skip("no aarch64 runner bundle (scripts/build-runner aarch64-linux-gnu)")
    qemu = execute(root / "scripts" / "qemu")
    if qemu.returncode != 0:
        skip((qemu.stderr.strip().splitlines() or ["no QEMU with SME2"])[-1])
    model = root / "examples" / "models" / f"toy_cnn_xnnpack_{precision}.pte"
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run(
            [etprof, "ab", model, "--device", "qemu", "--levels", "sme2,sme1,neon", "--format", "json",
             "--out", "run", "--price"],
            cwd=tmp, capture_output=True, text=True, check=False, timeout=600,
            env={**os.environ, "ETPROF_QEMU": qemu.stdout.strip(), "ETPROF_RUNNER": str(bundle),
                 "ETPROF_PROGRESS": "lines"})
        assert done.returncode == 0, (done.returncode, done.stderr)
        answer = json.loads(done.stdout)
        manifest = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())
        price = execute(etprof, "analyze", "run", "--price", cwd=tmp, check=True)
    # Three arms timed and traced: an emulator has no page cache to be cold, and no times of loading that say anything.
    counts = {line.split()[2] for line in done.stderr.splitlines() if line.startswith("progress") and "1/1" in line}
    assert counts == {"6"}, counts
    told = " ".join(price.stdout.split())
    assert "loading, cold not in an not in an" in told and "process and libraries" not in told, told
    assert "together" in told and "not known here" not in told.partition("Packed weights")[2], told
    arms = {arm["level"]: arm for arm in answer["arms"]}
    assert set(arms) == {"sme2", "sme1", "neon"}, arms.keys()
    for level, arm in arms.items():
        assert arm["emulated"] is True
        assert arm["proof"]["ok"] is True, (level, arm["proof"])
    with_sme, without = TOKENS[precision]
    changed = 0
    for operator in answer["operators"]:
        names = {level: operator["names"][arm["name"]] for level, arm in arms.items()}
        tokens = {level: {word.strip("(),") for name in found for word in name.split()}
                  for level, found in names.items()}
        assert with_sme not in tokens["neon"], names
        assert (with_sme in tokens["sme2"]) == (with_sme in tokens["sme1"]), names
        if with_sme in tokens["sme2"]:
            changed += 1
            assert without in tokens["neon"] or "QS8" in tokens["neon"], names
            assert operator["engaged"]["state"] == "engaged", operator
        assert all(s is None for s in operator["speedup"]), "a speedup from an emulator"
    assert changed >= 3, changed
    assert len(answer["comparisons"]) == 2
    for comparison in answer["comparisons"]:
        assert comparison["withheld"] == "emulated", comparison
        assert comparison["verdict"] == "unknown"
        assert comparison["speedup"]["estimate"] is None and comparison["speedup"]["lo"] is None
    assert answer["device"]["emulated"] is True
    assert answer["correctness"]["ok"] is True, answer["correctness"]
    for ledger in answer["ledgers"]:
        assert sum(row["delta_ns"] for row in ledger["rows"]) == ledger["delta_ns"]
    assert manifest["state"] == "finished" and manifest["executorch"]["sha"], manifest["executorch"]
    print(f"{changed} operators switch to {with_sme}")


main()
