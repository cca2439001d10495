# SPDX-License-Identifier: Apache-2.0
"""Nothing lasts or grows with what others say: runners that talk for ever, manifests whose numbers multiply, inputs
with many names. Times are ceilings far above what is needed, far below what a quadratic place takes.

usage: bounds.py ETPROF FAKE_RUNNER"""
import csv
import json
import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
AB = ["--levels", "sme2,neon", "--blocks", "2", "--iterations", "4", "--warmup", "1", "--quiet"]


def call(tmp, *args, timeout=120, memory=None):
    """The answer and the processor time of etprof and what it started."""
    def limit():
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    try:
        done = execute(ETPROF, *args, cwd=tmp, timeout=timeout, stdin=subprocess.DEVNULL, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        done = None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime, time.monotonic() - begin


def talkers(tmp):
    fake_sessions.model(tmp / "model.pte")
    chatter = "while :; do echo '{\"type\":\"news\"}'; sleep 0.05; done"
    flood = "while :; do echo '{\"type\":\"news\"}'; done"
    answer = r"{\"type\":\"iter\",\"i\":$i,\"start_ns\":${i}0,\"ns\":5}"
    iterations = f'i=0; while :; do echo "{answer}"; i=$((i+1)); done'
    cases = {
        "unknown lines from the beginning": (chatter, ""),
        "a flood of unknown lines": (flood, ""),
        "silence from the beginning": ("sleep 1000", ""),
        "unknown lines after the probe": (chatter, "probe"),
        "iterations without end": (iterations, "load"),
        "stderr without end": ("while :; do echo news >&2; done", "probe"),
    }
    for name, (loop, later) in cases.items():
        runner = tmp / "etprof-runner"
        honest = f'case "$*" in *--probe*|*--selftest*) exec {FAKE} "$@";; esac' if later else ""
        if later == "load":
            loop = f'{FAKE} "$@" </dev/null | head -n 2; {loop}'
        runner.write_text(f"#!/bin/sh\n{honest}\n{loop}\n")
        runner.chmod(0o755)
        done, _, wall = call(tmp, "ab", "model.pte", *AB, "--runner", runner, "--timeout", "1", "--out", "o-"
                             + str(len(name)))
        expect(done is not None, name, "is never given up")
        expect(done is None or done.returncode in (5, 6), name, done and (done.returncode, done.stderr[-300:]))


def manifests(tmp):
    """Numbers within their limits that multiply: refused before anything is made of them."""
    def change(root, **blocks):
        m = run_folders.manifest(root)
        m["plan"]["arms"] = [{**m["plan"]["arms"][0], "name": f"arm{k}", "prefix": f"p{k}"} for k in range(1024)]
        m["plan"].update(baseline=0, order=[], iterations=[])
        m["blocks_done"] = blocks["blocks"]
        m["files"] = m["results"] = []
        (root / "manifest.json").write_text(json.dumps(m))
    for name, blocks in (("many blocks", {"blocks": 100000}),
                         ("as many as are allowed", {"blocks": 1953})):
        root = run_folders.make(tmp / name.replace(" ", "-"), 2, dumps=False)
        change(root, **blocks)
        for verb in ("analyze", "verify", "stats", "validate"):
            done, cpu, _ = call(tmp, verb, root.name, memory=1 << 30)
            expect(done is not None and done.returncode >= 0 and cpu < 60, name, verb, "took", cpu, done
                   and done.returncode)
            if name != "as many as are allowed":
                expect(done is not None and done.returncode in (1, 4) and cpu < 5, name, verb, done
                       and (done.returncode, cpu, done.stderr[-200:]))


def timeline(path, side, n):
    with open(path, "w", newline="") as out:
        w = csv.writer(out, lineterminator="\n")
        w.writerow(
            "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,block".split(
                ","
            )
        )
        for run in range(2):
            base = 5000 + run * 10 * n
            for k in range(n):
                w.writerow([side, f"Op {side * (k % 3 == 0)} (NHWC, F32) #{k + 1}", f"Op{k % 7}", "delegated",
                            float(base + k * 5),
                            float(base + k * 5 + 4), 0.004, 0.1, k, run, "Execute"])
            w.writerow([side, "Method::execute", "Method::execute", "portable", float(base - 10), float(base + 5 * n),
                        0.1, 100, n, run,
                        "Execute"])


def names(tmp):
    n = 50000
    timeline(tmp / "a.csv", "a", n)
    timeline(tmp / "b.csv", "b", n)
    (tmp / "k.log").write_text("".join(f"Using gemm microkernel 'xnn_f32_gemm_ukernel_{i}x8__avx'\n"
                                       for i in range(99000)))
    for args in (["analyze", "a.csv"], ["compare", "a.csv", "b.csv"], ["kernels", "k.log"],
                 ["kernels", "k.log", "k.log"]):
        done, cpu, _ = call(tmp, *args, "--format", "json", timeout=300)
        expect(done is not None and done.returncode == 0, *args, done and done.stderr[-200:])
        expect(cpu < 8, *args, f"{cpu:.1f} s of processor time")
        print(*args, f"{cpu:.2f} s", flush=True)


for part in (talkers, manifests, names):
    tmp = new_folder()
    part(tmp)
finish()
