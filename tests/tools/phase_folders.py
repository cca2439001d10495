# SPDX-License-Identifier: Apache-2.0
"""Run folders of phases made from nothing, with times that the caller chooses: what history, gate and tables say
of them can be calculated by hand. Recordings are those of another small model, the same for every arm."""
import json
import struct

import run_folders

PREFILL = {"name": "prefill 16", "kind": "prefill", "tokens": 16, "depth": 0, "prompt": 16, "calls": 1}
DECODE = {"name": "decode @0", "kind": "decode", "tokens": 1, "depth": 0, "prompt": 0, "calls": 1}
DEEP = {"name": "decode @32", "kind": "decode", "tokens": 1, "depth": 32, "prompt": 0, "calls": 1}


def word(phase):
    return phase["name"].replace(" @", "").replace(" ", "")


def write_outputs(root, folder):
    (root / folder).mkdir()
    (root / folder / "output-0.bin").write_bytes(struct.pack("<2f", 1.5, -2))
    (root / folder / "outputs.json").write_text(json.dumps({"outputs": [
        {"dtype": "float32", "shape": [2], "dim_order": [0], "file": "output-0.bin"}]}))
    return [f"{folder}/output-0.bin", f"{folder}/outputs.json"]


def make(folder, time_ns, phases=(PREFILL, DECODE, DEEP), levels=("avx2", "sse"), threads=(1, ), models=("m0", ),
         blocks=6, iterations=3, dumps=True, at="2026-11-20T09:00:00Z", outputs=False,
         recording=lambda phase: 1, **plan):
    """TIME_NS(phase's name, level, threads, model) is the median of that arm, up to one part in ten thousand; a list of
    them is gone through block by block. The last level of the first model and number of threads is the baseline.
    OUTPUTS: every arm has the same two numbers. With a tracer it is RECORDING(phase's name) times as long."""
    arms, times = [], []
    for p, phase in enumerate(phases or [None]):
        for m, stem in enumerate(models):
            for t in threads:
                for level in levels:
                    parts = [stem] * (len(models) > 1) + ["linux", level] + [f"t{t}"] * (len(threads) > 1)
                    experiment = "_".join(parts + ([word(phase)] if phase else []))
                    arms.append({"name": experiment, "level": level, "threads": t, "model": m,
                                 "runner_sha256": "ab" * 32, "prefix": f"{stem}_{experiment}_t{t}", "emulated": False}
                                | ({"phase": p} if phase else {}))
                    times.append(time_ns(phase["name"] if phase else None, level, t, stem))

    def took(a, kind, b, _):
        about = times[a][(b - 1) % len(times[a])] if isinstance(times[a], list) else times[a]
        ns = about + about * (b % 3 - 1) // 10000
        if kind == "traced":
            ns = round(ns * recording(phases[arms[a]["phase"]]["name"] if phases else None))
        return ns

    return run_folders.lay_out(
        folder, arms, [list(range(len(arms)))] * blocks, took, blocks, iterations, dumps, models=models,
        baseline=len(levels) - 1, at=at, outputs=write_outputs if outputs else None,
        **({"phases": list(phases)} if phases else {}), **plan)
