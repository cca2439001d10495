# SPDX-License-Identifier: Apache-2.0
"""Who holds memory at each stage, held against what the kernel says of the same process from outside, and against the
sizes of caches as the models' makers have them.

usage: memory_stages.py ETPROF SOURCE_DIR"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
DATA = SOURCE / "tests/data/llm"
IMAGES = SOURCE / "examples/models/image_encoder_xnnpack_fp32.pte"
INPUTS = 4 * 3 * 128 * 128  # bytes of its images
SLACK = 128 * 1024  # what lines and buffers of streams take between a reading and ours
COUNTERS = 128 * 1024 * os.cpu_count()  # each CPU of the kernel has up to 32 pages that VmHWM does not count yet
STAGES = "load", "first", "steady", "peak"
CACHE = 4 * 16 * 2 * 12  # bytes, of make_attention.py: 16 places of two heads of width 12


def resident(pid):
    return 1024 * sum(map(int, re.findall(r"^Rss:\s+(\d+)", pathlib.Path(f"/proc/{pid}/smaps").read_text(), re.M)))


def rows(stage):
    return {k: v for k, v in stage.items() if k != "peak_bytes"}


def from_outside(runner):
    name = "from outside"
    with subprocess.Popen([*runner, "--model", IMAGES, "--kind", "memory", "--inputs", "ones"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:

        def answer(kind, command=""):
            process.stdin.write(command)
            process.stdin.flush()
            return next(line for line in map(json.loads, process.stdout) if line["type"] == kind)

        pid = answer("hello")["pid"]
        answer("load")
        loaded = resident(pid)
        answer("done", "run 1\n")
        first = resident(pid)
        answer("done", "run 9\n")
        told = answer("done", "memory\n")
        steady = resident(pid)
        peak = 1024 * int(re.search(r"^VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1])
        process.stdin.close()
        expect(process.wait() == 0, name, "the runner ends well", process.returncode)
    stages = {k: told[f"memory_{k}"] for k in ("load", "first", "peak")}
    sums = {k: sum(rows(v).values()) for k, v in stages.items()}
    expect(-SLACK < loaded - INPUTS - sums["load"] < SLACK, name, "loaded", loaded, sums)
    expect(-SLACK < first - sums["first"] < SLACK, name, "first", first, sums)
    expect(-SLACK < steady - sum(told["memory"].values()) < SLACK, name, "steady", steady)
    expect(-SLACK - COUNTERS < peak - stages["peak"]["peak_bytes"] < SLACK, name, "peak", peak, stages["peak"])
    # It has many delegates, for which the workspace is made larger again and again: the old one and the new one lie
    # beside each other for a moment.
    expect(stages["peak"]["workspace"] > stages["first"]["workspace"] > stages["load"]["workspace"] == 0, name, stages)
    peaks = [stages[k]["peak_bytes"] for k in ("load", "first", "peak")]
    expect(peaks == sorted(peaks) and peaks[1] >= sums["first"], name, "peaks until then", peaks)
    left = stages["peak"]["peak_bytes"] - sums["peak"] + stages["peak"]["unaccounted"]
    expect(0 <= left <= 0.03 * peak, name, "of the peak at most 3 % are nobody's", left, peak)
    expect(stages["load"]["planned"] == stages["peak"]["planned"] > 0, name, "arenas are there when weights are packed")


def tables(folder, *words):
    """Those of the stages, by number: {row: bytes at each stage}."""
    found = []
    while True:
        done = execute(ETPROF, "analyze", folder, "--price", "--format", "csv", *words, "--table",
                       "stages" + (f"-{len(found) + 1}" if found else ""))
        if done.returncode:
            return found
        lines = csv.DictReader(io.StringIO(done.stdout))
        found.append({line["holder"]: [int(line[k]) for k in STAGES] for line in lines})


def measured(tmp, model, *words):
    out = pathlib.Path(tmp) / model.stem
    done = execute(ETPROF, "ab", model, "--levels", "best", "--blocks", "1", "--warmup", "2", "--iterations", "8",
                   "--price", "--kernels", "never", "--out", out, *words)
    expect(done.returncode in (0, 3, 6), model.name, done.returncode, done.stderr[-400:])
    return out


def check_columns(name, table):
    whole = table.pop("resident")
    expect(whole == [sum(column) for column in zip(*table.values())], name, "columns add up", whole, table)
    expect(whole[3] >= max(whole[:3]), name, "the peak is the most", whole)


def kept_buffers(tmp):
    caches = json.loads((DATA / "expected.json").read_text())["caches"]  # as ExecuTorch's Python reader has them
    folder = measured(tmp, DATA / "decoder_plain.pte", "--prefill", "8", "--decode", "4@8")
    for phase in ("prefill8", "decode@8"):
        (table, ) = tables(folder, "--phase", phase)
        whole = sum(c[2] for c in caches)
        expect(table["mutable buffers (KV cache)"] == [whole] * 4, phase, "the cache", whole, table)
        expect(table["copies of these"][0] == 0 and table["copies of these"][2] == whole, phase, "copies", table)
        check_columns(phase, table)
    folder = measured(tmp, DATA / "attention.pte", "--method", "kept")
    (table, ) = tables(folder)
    expect(table["mutable buffers (KV cache)"] == [CACHE] * 4, "kept", "without a script", table)
    check_columns("kept", table)


if not list(SOURCE.glob("build/bundle/x86_64-linux-gnu/etprof-runner")):
    skip("no runner is built (scripts/build-runner)")
BUNDLE = SOURCE / "build/bundle/x86_64-linux-gnu"
from_outside([BUNDLE / json.loads((BUNDLE / "bundle.json").read_text())["direct"][0]])
with tempfile.TemporaryDirectory(prefix="etp-") as name_of:
    kept_buffers(name_of)
finish("memory is told stage by stage")
