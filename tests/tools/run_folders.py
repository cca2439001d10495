# SPDX-License-Identifier: Apache-2.0
"""Run folders made from nothing, with any number of arms and blocks, as docs/run-folder.md describes them."""
import hashlib
import json
import pathlib
import shutil

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
MODEL = "mixed_xnnpack_fp32"


def entry(root, path):
    data = (root / path).read_bytes()
    return {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def cut_short(folder, blocks, state="interrupted"):
    """Makes of a finished session one that ended after BLOCKS: its files are recorded as far as that."""
    root = pathlib.Path(folder)
    manifest = json.loads((root / "manifest.json").read_text())
    for block in range(blocks + 1, manifest["blocks_done"] + 1):
        for path in (p for arm in manifest["plan"]["arms"] for p in (root / arm["name"]).glob(f"*_b{block}[._]*")):
            path.unlink()
    rows = (root / "samples.csv").read_text().splitlines(keepends=True)
    (root / "samples.csv").write_text("".join(rows[:1] + [r for r in rows[1:] if int(r.split(",")[1]) <= blocks]))
    lines = (root / "environment.jsonl").read_text().splitlines(keepends=True)
    kept = "".join(line for line in lines if json.loads(line).get("block", 0) <= blocks)
    (root / "environment.jsonl").write_text(kept)
    files = [entry(root, f["path"]) for f in manifest["files"] if (root / f["path"]).is_file()]
    manifest.update(state=state, blocks_done=blocks, files=files, results=[])
    (root / "manifest.json").write_text(json.dumps(manifest))
    (pathlib.Path(folder) / "derived.json").unlink(missing_ok=True)  # it ended before its reports


def record(folder):
    """The folder's manifest says what is in it now."""
    root = pathlib.Path(folder)
    manifest = json.loads((root / "manifest.json").read_text())
    manifest["files"] = [entry(root, f["path"]) for f in manifest["files"] if (root / f["path"]).is_file()]
    (root / "manifest.json").write_text(json.dumps(manifest))
    (root / "derived.json").unlink(missing_ok=True)  # which names the manifest as it was


def contend(folder, experiment, share=0.4):
    """Timed launches of EXPERIMENT were ready without a CPU for that SHARE of their time."""
    path, out = pathlib.Path(folder) / "environment.jsonl", []
    for line in map(json.loads, path.read_text().splitlines()):
        if line["type"] == "launch" and line["kind"] == "timed" and line["experiment"] == experiment:
            line |= {"run_span_ns": 1000000, "run_wait_ns": round(1000000 * share)}
        out.append(json.dumps(line))
    path.write_text("\n".join(out) + "\n")
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


def make(folder, n_arms, blocks=2, iterations=3, dumps=True, control=True, name="arm"):
    """Arm k takes 1000000 + 1000 k ns; the last one is the baseline. FOLDER must not exist."""
    root = pathlib.Path(folder)
    root.mkdir(parents=True)
    arms = [{"name": f"{name}{k}", "level": "sse", "threads": k % 64 + 1, "model": 0, "runner_sha256": "ab" * 32,
             "prefix": f"{MODEL}_{name}{k}_t{k % 64 + 1}", "emulated": False} for k in range(n_arms)]
    order = [[(b + k) % n_arms for k in range(n_arms)] for b in range(blocks)]
    rows, lines, number, now = ["experiment,block,launch,iteration,phase,start_ns,duration_ns"], [], 0, 10**9
    for b in range(1, blocks + 1):
        lines.append({"type": "block", "block": b, "order": [arms[a]["name"] for a in order[b - 1]],
                      "control_position": 0, "start": {"time_ns": now, "load1": 0.1},
                      "end": {"time_ns": now + 10**9, "load1": 0.1}, "slept_ns": 0, "clock_jump_s": 0})
        todo = [(a, kind) for a in order[b - 1] for kind in ("timed", "traced") if dumps or kind == "timed"]
        for a, kind in [(n_arms - 1, "control")] * control + todo:
            number += 1
            now += 10**7
            lines.append(launch(b, number, arms[a], kind, a, now))
            for i in range(iterations):
                rows.append(
                    f"{arms[a]['name']},{b},{number},{i},{kind},{now + i * 2000000},{1000000 + 1000 * a + b * 10 + i}"
                )
    files = ["samples.csv", "environment.jsonl", f"program/{MODEL}.pte"]
    (root / "samples.csv").write_text("\n".join(rows) + "\n")
    (root / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (root / "program").mkdir()
    shutil.copy(DATA / f"{MODEL}.pte", root / "program")
    for a in arms:
        (root / a["name"]).mkdir()
        for b in range(1, blocks + 1):
            at = f"{a['name']}/{a['prefix']}" + (f"_b{b}" if b > 1 else "")
            if dumps:
                shutil.copy(DATA / f"{MODEL}.etdump", root / f"{at}.etdump")
                (root / f"{at}.log").write_text("")
                files += [f"{at}.etdump", f"{at}.log"]
    model = entry(DATA, f"{MODEL}.pte")
    manifest = {
        "schema": "etprof.run/1", "state": "finished", "tool": {"name": "etprof", "version": "0.1.0"},
        "generated_at": "2026-11-20T09:00:00Z", "command": "", "config": None, "model": f"/nowhere/{MODEL}.pte",
        "executorch": {"present": True, "version": "1.5.1", "sha": "", "dirty": False}, "blocks_done": blocks,
        "signal": 0,
        "stopped": "blocks", "selftest": {"ok": True, "text": ""},
        "models": [{"path": f"/nowhere/{MODEL}.pte", "stem": MODEL, "sha256": model["sha256"],
                    "bytes": model["bytes"]}],
        "plan": {"seed": 7, "blocks": blocks, "control_blocks": blocks if control else 0, "budget_s": None,
                 "precision": None,
                 "baseline": n_arms - 1, "method": "", "inputs": "random:0", "data": "", "cpus": "",
                 "asked": {"warmup": 0, "timed": iterations, "traced": iterations if dumps else 0, "trace": dumps,
                           "kernels": False, "sampling": True},
                 "arms": arms, "iterations": [{"warmup": 0, "timed": iterations, "traced": iterations}] * n_arms,
                 "order": order},
        "device": {"spec": "local", "platform": "linux", "emulated": False, "isa": "", "facts": {"system": "Linux 6"}},
        "lost": [], "unreadable": [], "notes": [], "files": [entry(root, f) for f in files], "results": []}
    (root / "manifest.json").write_text(json.dumps(manifest))
    return root
