# SPDX-License-Identifier: Apache-2.0
"""What a launch needs is the model's, not the room for the times of its warm-up: a fast arm warms up with more
iterations, and would be told to need more memory.

usage: peak_memory.py ETPROF SOURCE_DIR"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODEL = SOURCE / "tests/data/linear_xnnpack_fp32.pte"
MOST = 512 * 1024  # bytes: times of a thousand iterations and their lines, and pages that one process touches alone


def peak(tmp, warmup):
    out = pathlib.Path(tmp) / str(warmup)
    done = execute(ETPROF, "ab", MODEL, "--levels", "best", "--blocks", "1", "--warmup", warmup, "--iterations", "20",
                   "--no-trace", "--kernels", "never", "--out", out)
    expect(done.returncode in (0, 3, 6), warmup, done.returncode, done.stderr[-400:])
    lines = map(json.loads, (out / "environment.jsonl").read_text().splitlines())
    return [line["peak_rss_bytes"] for line in lines if line["type"] == "launch" and line["kind"] == "timed"][0]


if not list(SOURCE.glob("build/bundle/*/etprof-runner")):
    skip("no runner is built (scripts/build-runner)")
with tempfile.TemporaryDirectory(prefix="etp-") as name:
    few, many = peak(name, 20), peak(name, 40000)
    expect(abs(many - few) < MOST, "peak memory after 20 and 40,000 iterations to warm up", few, many)
finish("the warm-up's times are not told as the model's memory")
