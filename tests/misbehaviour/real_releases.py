# SPDX-License-Identifier: Apache-2.0
"""etprof ab MODEL --executorch A,B with published wheels, only where ETPROF_RELEASES names them ("1.4.1,1.5.1"): a
Python with torch and a package index are needed, and minutes.

usage: real_releases.py ETPROF SOURCE_DIR"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder, skip

ETPROF, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
VERSIONS = os.environ.get("ETPROF_RELEASES", "")
if not VERSIONS:
    skip("ETPROF_RELEASES names no releases")


def measured(name, model):
    run = pathlib.Path(name)
    done = execute(ETPROF, "ab", SOURCE / "tests/data" / model, "--executorch", VERSIONS, "--blocks", "6",
                   "--iterations", "20", "--warmup", "3", "--out", run, "--format", "json")
    expect(done.returncode == 0, name, done.returncode, done.stderr[-1500:])
    d = json.loads(done.stdout)
    arms = {a["executorch"]: a for a in d["arms"]}
    expect(set(arms) == set(VERSIONS.split(",")), name, list(arms))
    for version, arm in arms.items():
        expect(arm["launches"] >= 6 and arm["median_ns"] > 0 and arm["load_ns"] > 0, name, version, arm)
    recorded = all(tuple(map(int, v.split("."))) >= (1, 5) for v in VERSIONS.split(","))
    expect(all(bool(a["traced_ns"]) == recorded for a in arms.values()), name, "recordings", recorded)
    expect(d["correctness"]["ok"] is True, name, d["correctness"])
    expect(any(f["text"].startswith("what ExecuTorch ") for f in d["findings"]), name, d["findings"])
    builds = json.loads((run / "manifest.json").read_text())["plan"]["builds"]
    expect(all(len(b["wheel_sha256"]) == 64 for b in builds), name, builds)
    expect(execute(ETPROF, "verify", run, text=False).returncode == 0, name, "verify")
    return d


scratch = new_folder()
os.chdir(scratch)
for model in ("linear_xnnpack_fp32.pte", "mixed_xnnpack_fp32.pte", "linear_portable_fp32.pte"):
    measured(model[:-4], model)
os.chdir(SOURCE)
finish("all as expected")
