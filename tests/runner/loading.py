# SPDX-License-Identifier: Apache-2.0
"""The parts of loading that etprof-runner tells, held against what others say of the same: its own load line and first
iteration, the file that ExecuTorch writes with packed weights, the kernel's page faults, the clock of this process, and
a library that makes one part longer.

usage: loading.py ETPROF SOURCE_DIR"""
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder, skip

ETPROF, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODELS = SOURCE / "examples/models"
TOY = MODELS / "toy_cnn_xnnpack_fp32.pte"
MIXED = SOURCE / "tests/data/mixed_xnnpack_fp32.pte"  # two delegates
LOADING = ("mapping", "verification", "graph", "packing", "creation", "method")  # what the load line times
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int xnn_create_runtime_v4(void *a, void *b, void *c, void *d, unsigned e, void **f)
{
    int (*real)(void *, void *, void *, void *, unsigned, void **);
    *(void **)&real = dlsym(RTLD_NEXT, "xnn_create_runtime_v4");
    if (getenv("SLOW_CREATION")) usleep(50000);
    return real(a, b, c, d, e, f);
}
int posix_memalign(void **at, size_t alignment, size_t size)
{
    int (*real)(void **, size_t, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    const char *slow = getenv("SLOW_SIZE");
    if (slow && size == (size_t)atol(slow)) usleep(70000);
    return real(at, alignment, size);
}
"""


def launch(model, *words, kind="traced", env=None, commands="run 3\nledger\nquit\n"):
    """The lines of one launch, by type; when its load line came; its page faults, or what it read from disks."""
    started = time.monotonic_ns()
    process = subprocess.Popen([*RUNNER, "--model", model, "--kind", kind, *words], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env={**os.environ, "ETPROF_STARTED": str(started), **(env or {})})
    process.stdin.write(commands)
    process.stdin.flush()
    lines, loaded = {}, 0
    for text in process.stdout:
        line = json.loads(text)
        lines.setdefault(line["type"], []).append(line)
        loaded = time.monotonic_ns() - started if line["type"] == "load" else loaded
    _, _, usage = os.wait4(process.pid, 0)
    return lines, loaded, usage.ru_inblock * 512 if kind in ("timed", "cold") else usage.ru_minflt + usage.ru_majflt


def took(parts, *what):
    return sum(p["ns"] for p in parts if p["what"] in what)


def adds_up(model):
    lines, loaded, faults = launch(model)
    parts, name = lines["part"], model.name
    expect(took(parts, *LOADING) == lines["load"][0]["ns"], name, "loading", took(parts, *LOADING), lines["load"])
    expect(took(parts, "first") == lines["iter"][0]["ns"], name, "first inference", parts[-1], lines["iter"][0])
    expect(0 < took(parts, "process", "runner", *LOADING) <= loaded, name, "longer than it took", loaded)
    expect(all(0 <= p["ns"] < 60e9 for p in parts), name, "a part that cannot be", parts)
    expect(0 < sum(p["faults"] for p in parts) <= faults, name, "page faults", faults)
    expect(lines["done"][-1] | {"peak_rss_bytes": 0} == {"type": "done", "cmd": "ledger", "n": len(parts), "bytes": 0,
                                                         "peak_rss_bytes": 0}, name, lines["done"][-1])
    return [(p["delegate"], p["operation"], p["bytes"]) for p in parts if p["what"] == "packing"]


def packed_as_in_the_file(model, tmp):
    """ExecuTorch gives each entry of its file whole pages, and an index behind them."""
    file = tmp / (model.name + ".packed")
    launch(model, "--packed-cache", f"cold:{file}", commands="run 1\nquit\n")
    packed = adds_up(model)
    pages = sum((size + 4095) // 4096 * 4096 for _, _, size in packed)
    expect(packed and pages <= file.stat().st_size <= pages + 65536, model.name, pages, file.stat().st_size)
    expect(packed == adds_up(model), model.name, "other bytes each time")
    warm = launch(model, "--packed-cache", f"warm:{file}")[0]["part"]
    read = [p for p in warm if p["what"] == "packing"]
    expect(read == [], model.name, "packed although the file is read", read)
    expect(took(warm, *LOADING) > 0, model.name, warm)


def by_hand():
    """XNNPACK keeps the bias of each output beside its weights, and fills outputs up to whole tiles of 8 to 64."""
    packed = [size for _, _, size in adds_up(TOY)]
    row = 4 * (128 + 1)
    last = [(1000 + tile - 1) // tile * tile * row for tile in (8, 16, 32, 64)]
    expect(packed[:3] == [32 * 4 * (3 * 9 + 1), 64 * 4 * (32 * 9 + 1), 128 * 4 * (64 * 9 + 1)], "convolutions", packed)
    expect(len(packed) == 4 and any(abs(packed[3] - size) < 64 for size in last), "the last linear", packed, last)


def workspaces():
    """XNNPACK's delegates of one program share a workspace, as is ExecuTorch's default (its mode 2, "Global")."""
    parts = launch(MIXED)[0]["part"]
    told = [(p["delegate"], p["workspace"]) for p in parts if p["what"] == "creation"]
    expect(told == [(1, 1), (2, 1)], "workspaces", told)


def slow_parts(tmp):
    if shutil.which("cc") is None:
        return
    (tmp / "slow.c").write_text(SLOW)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", tmp / "slow.so", tmp / "slow.c", "-ldl"], check=True)
    preload = {"LD_PRELOAD": str(tmp / "slow.so")}
    parts = launch(TOY, env=preload | {"SLOW_CREATION": "1"})[0]["part"]
    expect(took(parts, "creation") >= 50e6 > took(parts, "packing"), "a slow creation", parts)
    largest = max((p for p in parts if p["what"] == "packing"), key=lambda p: p["bytes"])
    parts = launch(TOY, env=preload | {"SLOW_SIZE": str(largest["bytes"])})[0]["part"]
    slow = [p["operation"] for p in parts if p["what"] == "packing" and p["ns"] >= 70e6]
    expect(slow == [largest["operation"]] and took(parts, "creation") < 70e6, "a slow packing", parts)


def none_of_it():
    lines, _, _ = launch(TOY, kind="timed")
    expect(not [p for p in lines["part"] if p["what"] in ("graph", "packing", "creation")], "watched", lines["part"])
    expect(took(lines["part"], *LOADING) == lines["load"][0]["ns"], "a timed launch", lines["part"])
    lines, _, _ = launch(TOY, env={"ETPROF_STARTED": "9" * 19})
    expect("process" not in {p["what"] for p in lines["part"]}, "started in the future", lines["part"])


def session(tmp):
    """What the answer says of it: operators by name, whose weights are what they need at least."""
    out = tmp / "run"
    done = execute(ETPROF, "ab", TOY, "--levels", "best", "--blocks", "2", "--iterations", "3", "--warmup", "1",
                   "--quiet", "--out", out, "--format", "json")
    expect(done.returncode == 0, "ab", done.stderr[-500:])
    answer = json.loads(done.stdout)
    loading, operators = answer["arms"][0]["loading"], {o["id"]: o for o in answer["operators"]}
    packing = [p for p in loading["parts"] if p["what"] == "packing"]
    expect(sum(p["ns"] for p in loading["parts"]) == loading["whole_ns"], "the whole", loading)
    # Of examples/models/make_models.py: float32 weights and biases of 3 convolutions and the last linear layer.
    kinds = [operators[p["operator"]]["category"] for p in packing]
    expect(kinds == ["Convolution"] * 3 + ["GEMM"], "operators", kinds)
    expect(all(p["bytes"] >= p["weight_bytes"] > 0 for p in packing), "as large as its weights", packing)
    lines = [json.loads(text) for text in (out / "environment.jsonl").read_text().splitlines()]
    told = [x for x in lines if "loading" in x]
    expect(len(told) == 1 and told[0]["kind"] == "traced" and told[0]["block"] == 1, "asked once", len(told))
    expect(took(told[0]["loading"]["parts"], *LOADING) == told[0]["load_ns"], "the launch", told[0]["load_ns"])


def cold_cache(tmp):
    """Of kind cold the program comes from the disk, which the kernel counts; mapped by somebody else it stays."""
    name, model = "cold", tmp / "cold.pte"
    shutil.copy(max(MODELS.glob("*.pte"), key=lambda p: p.stat().st_size), model)
    size = model.stat().st_size
    for kind in ("timed", "cold", "timed"):
        lines, _, read = launch(model, kind=kind, commands="run 1\nquit\n")
        left = lines["load"][0].get("cached_bytes", 0)
        if kind == "cold" and left > 0:
            skip(f"{tmp} keeps {left} bytes of a file in memory")
        expect((read >= 0.9 * size) == (kind == "cold"), name, (kind, read, size))
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as held:
        sum(held[::4096])
        lines, _, _ = launch(model, kind="cold", commands="run 1\nquit\n")
        expect(0.9 * size <= lines["load"][0].get("cached_bytes", 0) <= size + 4096, name, (lines["load"], size))


machine = os.uname().machine
bundles = [p.parent for p in SOURCE.glob("build/bundle/*/etprof-runner") if p.parent.name.startswith(machine)]
if not bundles:
    skip("no runner is built (scripts/build-runner)")
os.chdir(bundles[0])
RUNNER = json.loads(pathlib.Path("bundle.json").read_text())["start"]
place = new_folder()
for pte in sorted(MODELS.glob("*.pte")):
    adds_up(pte)
packed_as_in_the_file(TOY, place)
packed_as_in_the_file(MODELS / "image_encoder_xnnpack_int8.pte", place)
by_hand()
workspaces()
slow_parts(place)
none_of_it()
session(place)
cold_cache(place)
finish("the parts of loading add up to what others see")
