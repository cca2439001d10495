# SPDX-License-Identifier: Apache-2.0
"""Run folders of phases made from nothing, with times that the caller chooses: what history, gate and tables say
of them can be calculated by hand. Recordings are those of another small model, the same for every arm."""
import json
import pathlib
import shutil
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
         blocks=6, iterations=3, dumps=True, at="2026-11-20T09:00:00Z", name=None, outputs=False,
         recording=lambda phase: 1, **plan):
    """TIME_NS(phase's name, level, threads, model) is the median of that arm, up to one part in ten thousand; a list of
    them is gone through block by block. The last
    level of the first model and number of threads is the baseline. OUTPUTS: every arm has the same two numbers. With
    a tracer it is RECORDING(phase's name) times as long. FOLDER must not exist."""
    root = pathlib.Path(folder)
    root.mkdir(parents=True)
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
    baseline = len(levels) - 1
    rows, lines, number, now = ["experiment,block,launch,iteration,phase,start_ns,duration_ns"], [], 0, 10**9
    order = [list(range(len(arms))) for _ in range(blocks)]
    for b in range(1, blocks + 1):
        lines.append({"type": "block", "block": b, "order": [a["name"] for a in arms], "control_position": 0,
                      "start": {"time_ns": now, "load1": 0.1}, "end": {"time_ns": now + 10**9, "load1": 0.1},
                      "slept_ns": 0, "clock_jump_s": 0})
        todo = [(a, kind) for a in range(len(arms)) for kind in ["timed"] + ["traced"] * dumps]
        for a, kind in [(baseline, "control")] + todo:
            number += 1
            now += 10**7
            lines.append(run_folders.launch(b, number, arms[a], kind, a, now))
            for i in range(iterations):
                about = times[a][(b - 1) % len(times[a])] if isinstance(times[a], list) else times[a]
                ns = about + about * (b % 3 - 1) // 10000
                if kind == "traced":
                    phase = (phases or [None])[arms[a].get("phase", 0)]
                    ns = round(ns * recording(phase and phase["name"]))
                rows.append(f"{arms[a]['name']},{b},{number},{i},{kind},{now + i * 2000000},{ns}")
    (root / "samples.csv").write_text("\n".join(rows) + "\n")
    (root / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (root / "program").mkdir()
    files = ["samples.csv", "environment.jsonl"]
    for stem in models:
        shutil.copy(run_folders.DATA / f"{run_folders.MODEL}.pte", root / "program" / f"{stem}.pte")
        files.append(f"program/{stem}.pte")
    for a in arms:
        (root / a["name"]).mkdir()
        files += write_outputs(root, f"{a['name']}/outputs") if outputs else []
        for b in range(1, blocks + 1) if dumps else ():
            path = f"{a['name']}/{a['prefix']}" + (f"_b{b}" if b > 1 else "")
            shutil.copy(run_folders.DATA / f"{run_folders.MODEL}.etdump", root / f"{path}.etdump")
            (root / f"{path}.log").write_text("")
            files += [f"{path}.etdump", f"{path}.log"]
    entries = [run_folders.entry(root, f"program/{stem}.pte") for stem in models]
    (root / "manifest.json").write_text(json.dumps({
        "schema": "etprof.run/1", "state": "finished", "tool": {"name": "etprof", "version": "0.1.0"},
        "generated_at": at, "command": "", "config": None, "model": f"/nowhere/{models[0]}.pte",
        "executorch": {"present": True, "version": "1.5.1", "sha": "", "dirty": False}, "blocks_done": blocks,
        "signal": 0, "stopped": "blocks", "selftest": {"ok": True, "text": ""},
        "models": [{"path": f"/nowhere/{stem}.pte", "stem": stem, "sha256": e["sha256"], "bytes": e["bytes"]}
                   for stem, e in zip(models, entries)],
        "plan": {"seed": 7, "blocks": blocks, "control_blocks": blocks, "budget_s": None, "precision": None,
                 "baseline": baseline, "method": "", "inputs": "random:0", "data": "", "cpus": "",
                 "asked": {"warmup": 0, "timed": iterations, "traced": iterations if dumps else 0, "trace": dumps,
                           "kernels": False, "sampling": True},
                 **({"phases": list(phases)} if phases else {}), **plan, "arms": arms,
                 "iterations": [{"warmup": 0, "timed": iterations, "traced": iterations}] * len(arms), "order": order},
        "device": {"spec": "local", "platform": "linux", "emulated": False, "isa": "", "facts": {"system": "Linux 6"}},
        "lost": [], "unreadable": [], "notes": [], "files": [run_folders.entry(root, f) for f in files],
        "results": []}))
    return root
