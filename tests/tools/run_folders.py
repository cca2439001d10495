# SPDX-License-Identifier: Apache-2.0
"""Run folders, as docs/run-folder.md describes them: read without etprof, altered, and made from nothing with any
number of arms and blocks."""
import csv
import hashlib
import json
import pathlib
import shutil

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
MODEL = "mixed_xnnpack_fp32"


def manifest(folder):
    return json.loads(pathlib.Path(folder, "manifest.json").read_text())


def report(folder):
    return json.loads(pathlib.Path(folder, "report.json").read_text())


def environment(folder, **members):
    """Lines of environment.jsonl that have these MEMBERS."""
    lines = map(json.loads, pathlib.Path(folder, "environment.jsonl").read_text().splitlines())
    return [line for line in lines if members.items() <= line.items()]


def samples(folder, phase=None):
    """Rows of samples.csv, of a PHASE if one is named."""
    with open(pathlib.Path(folder, "samples.csv"), newline="", encoding="utf-8") as f:
        return [row for row in csv.DictReader(f) if phase in (None, row["phase"])]


def alter(folder, **members):
    """The manifest says MEMBERS instead; no file with its hash is left."""
    pathlib.Path(folder, "manifest.json").write_text(json.dumps({**manifest(folder), **members}))
    pathlib.Path(folder, "derived.json").unlink(missing_ok=True)


def entry(root, path):
    data = (root / path).read_bytes()
    return {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def cut_short(folder, blocks, state="interrupted"):
    """Makes of a finished session one that ended after BLOCKS, before its reports."""
    root, was = pathlib.Path(folder), manifest(folder)
    for block in range(blocks + 1, was["blocks_done"] + 1):
        for path in (p for arm in was["plan"]["arms"] for p in (root / arm["name"]).glob(f"*_b{block}[._]*")):
            path.unlink()
    rows = (root / "samples.csv").read_text().splitlines(keepends=True)
    (root / "samples.csv").write_text("".join(rows[:1] + [r for r in rows[1:] if int(r.split(",")[1]) <= blocks]))
    write_lines(root, [line for line in environment(root) if line.get("block", 0) <= blocks])
    alter(root, state=state, blocks_done=blocks, results=[])
    record(root)


def record(folder):
    """The folder's manifest says what is in it now."""
    root = pathlib.Path(folder)
    alter(root, files=[entry(root, f["path"]) for f in manifest(root)["files"] if (root / f["path"]).is_file()])


def write_lines(folder, lines):
    """environment.jsonl has LINES alone."""
    pathlib.Path(folder, "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def contend(folder, experiment, share=0.4):
    """Timed launches of EXPERIMENT were ready without a CPU for that SHARE of their time."""
    lines = environment(folder)
    for line in lines:
        if line["type"] == "launch" and line["kind"] == "timed" and line["experiment"] == experiment:
            line |= {"run_span_ns": 1000000, "run_wait_ns": round(1000000 * share)}
    write_lines(folder, lines)
    record(folder)


def disturb(folder, tenths=4):
    """The A/A control takes that many TENTHS more in odd blocks, less in even ones."""
    path, out = pathlib.Path(folder) / "samples.csv", []
    for line in path.read_text().splitlines():
        row = line.split(",")
        if row[4] == "control":
            row[6] = str(round(int(row[6]) * (1 + tenths / 10 * (1 if int(row[1]) % 2 else -1))))
        out.append(",".join(row))
    path.write_text("\n".join(out) + "\n")
    record(folder)


def launch(block, number, arm, kind, position, start):
    return {"type": "launch", "block": block, "launch": number, "experiment": arm["name"], "kind": kind,
            "position": position, "pid": 1000 + number, "start_ns": start, "wall_ns": 9000000, "load_ns": 7000000,
            "first_ns": 3000000, "rss_bytes": 4000000, "peak_rss_bytes": 5000000, "user_ns": 1000000, "system_ns": 0,
            "minor_faults": 83, "major_faults": 0, "voluntary_switches": 3, "involuntary_switches": 4,
            "env_pad_bytes": 64 * number % 4096, "wait_ns": 1000, "migrations": 0, "counters": None,
            "mask": {"requested": "", "hook": "", "cleared": "", "caller": ""}, "hook_calls": 3, "flags": ""}


def lay_out(folder, arms, order, time_ns, blocks, iterations, dumps=True, control=True, models=(MODEL,), baseline=0,
            at="2026-11-20T09:00:00Z", outputs=None, **plan):
    """A finished session of ARMS, in the ORDER of each block. An iteration takes TIME_NS(arm, kind, block, iteration).
    OUTPUTS(root, folder) writes those of an arm and says which files they are. FOLDER must not exist."""
    root = pathlib.Path(folder)
    root.mkdir(parents=True)
    rows, lines, number, now = ["experiment,block,launch,iteration,phase,start_ns,duration_ns"], [], 0, 10**9
    for b in range(1, blocks + 1):
        lines.append({"type": "block", "block": b, "order": [arms[a]["name"] for a in order[b - 1]],
                      "control_position": 0, "start": {"time_ns": now, "load1": 0.1},
                      "end": {"time_ns": now + 10**9, "load1": 0.1}, "slept_ns": 0, "clock_jump_s": 0})
        for a, kind in [(baseline, "control")] * control + [(a, kind) for a in order[b - 1]
                                                            for kind in ["timed"] + ["traced"] * dumps]:
            number += 1
            now += 10**7
            lines.append(launch(b, number, arms[a], kind, a, now))
            rows += [f"{arms[a]['name']},{b},{number},{i},{kind},{now + i * 2000000},{time_ns(a, kind, b, i)}"
                     for i in range(iterations)]
    (root / "samples.csv").write_text("\n".join(rows) + "\n")
    write_lines(root, lines)
    (root / "program").mkdir()
    programs = [f"program/{stem}.pte" for stem in models]
    for path in programs:
        shutil.copy(DATA / f"{MODEL}.pte", root / path)
    files = ["samples.csv", "environment.jsonl", *programs]
    for a in arms:
        (root / a["name"]).mkdir()
        files += outputs(root, f"{a['name']}/outputs") if outputs else []
        for b in range(1, blocks + 1) if dumps else ():
            path = f"{a['name']}/{a['prefix']}" + (f"_b{b}" if b > 1 else "")
            shutil.copy(DATA / f"{MODEL}.etdump", root / f"{path}.etdump")
            (root / f"{path}.log").write_text("")
            files += [f"{path}.etdump", f"{path}.log"]
    entries = [entry(root, path) for path in programs]
    (root / "manifest.json").write_text(json.dumps({
        "schema": "etprof.run/1", "state": "finished", "tool": {"name": "etprof", "version": "0.1.0"},
        "generated_at": at, "command": "", "config": None, "model": f"/nowhere/{models[0]}.pte",
        "executorch": {"present": True, "version": "1.5.1", "sha": "", "dirty": False}, "blocks_done": blocks,
        "signal": 0, "stopped": "blocks", "selftest": {"ok": True, "text": ""},
        "models": [{"path": f"/nowhere/{stem}.pte", "stem": stem, "sha256": e["sha256"], "bytes": e["bytes"]}
                   for stem, e in zip(models, entries)],
        "plan": {"seed": 7, "blocks": blocks, "control_blocks": blocks if control else 0, "budget_s": None,
                 "precision": None, "baseline": baseline, "method": "", "inputs": "random:0", "data": "", "cpus": "",
                 "asked": {"warmup": 0, "timed": iterations, "traced": iterations if dumps else 0, "trace": dumps,
                           "kernels": False, "sampling": True},
                 **plan, "arms": arms, "order": order,
                 "iterations": [{"warmup": 0, "timed": iterations, "traced": iterations}] * len(arms)},
        "device": {"spec": "local", "platform": "linux", "emulated": False, "isa": "", "facts": {"system": "Linux 6"}},
        "lost": [], "unreadable": [], "notes": [], "files": [entry(root, f) for f in files], "results": []}))
    return root


def make(folder, n_arms, blocks=2, iterations=3, dumps=True, control=True, name="arm"):
    """Arm k takes 1000000 + 1000 k ns; the last one is the baseline. FOLDER must not exist."""
    arms = [{"name": f"{name}{k}", "level": "sse", "threads": k % 64 + 1, "model": 0, "runner_sha256": "ab" * 32,
             "prefix": f"{MODEL}_{name}{k}_t{k % 64 + 1}", "emulated": False} for k in range(n_arms)]
    return lay_out(folder, arms, [[(b + k) % n_arms for k in range(n_arms)] for b in range(blocks)],
                   lambda a, kind, b, i: 1000000 + 1000 * a + b * 10 + i, blocks, iterations, dumps, control,
                   baseline=n_arms - 1)
