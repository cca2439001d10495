# SPDX-License-Identifier: Apache-2.0
"""Whole run folders, changed by their structure (values, keys, rows, files), through the verbs that read them. A
signal, exit code 70 or a report of a sanitizer is a finding: the folder is kept.

usage: folders.py ETPROF COUNT [SEED]   (build/asan/bin/etprof for a search, any build for a smoke test)"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders

ETPROF, COUNT, SEED = (
    str(pathlib.Path(sys.argv[1]).resolve()),
    int(sys.argv[2]),
    int(sys.argv[3]) if len(sys.argv) > 3 else 1,
)
VERBS = [["analyze", "run", "--full"], ["analyze", "run", "--format", "json"], ["verify", "run"], ["validate", "run"],
         ["stats", "run"],
         ["analyze", "run", "--renew"], ["history", "list", "run"],
         ["convert", "run", "--to", "parquet", "--output", "o.parquet"],
         ["whatif", "run", "drop X"], ["explain", "F1", "run"]]
VALUES = [None, True, -1, 0, 1, 2**31, 2**63, 1e308, "", "x" * 300, "..", "/", "=1", "\x1b[2J", [], {}, [[]]]


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in items:
        yield from places(v, (*path, k))


def change_json(r, value):
    path = r.choice([p for p in places(value) if p])
    at = value
    for k in path[:-1]:
        at = at[k]
    what = r.randrange(4)
    if what == 0:
        del at[path[-1]]
    elif what == 1 and isinstance(at, list):
        at.extend([at[path[-1]]] * r.choice([1, 2, 30]))
    else:
        at[path[-1]] = r.choice(VALUES)


def change(r, root):
    name = r.choice(["manifest", "manifest", "samples", "environment", "bytes", "remove"])
    if name == "manifest":
        value = json.loads((root / "manifest.json").read_text())
        change_json(r, value)
        (root / "manifest.json").write_text(json.dumps(value))
    elif name == "samples":
        rows = [line.split(",") for line in (root / "samples.csv").read_text().splitlines()]
        if rows:
            row = r.choice(rows)
            row[r.randrange(len(row))] = str(r.choice(VALUES))
            r.choice([lambda: None, lambda: rows.append(row), lambda: rows.remove(row)])()
        (root / "samples.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    elif name == "environment":
        lines = (root / "environment.jsonl").read_text().splitlines()
        k = r.randrange(len(lines)) if lines else None
        if k is not None:
            try:
                value = json.loads(lines[k])
                change_json(r, value)
                lines[k] = json.dumps(value)
            except (ValueError, TypeError, IndexError):
                lines[k] = lines[k][:r.randrange(len(lines[k]) + 1)]
        (root / "environment.jsonl").write_text("\n".join(lines) + "\n")
    else:
        path = r.choice(sorted(p for p in root.rglob("*") if p.is_file() and p.name != "manifest.json"))
        data = bytearray(path.read_bytes())
        if name == "remove" or not data:
            path.unlink()
        else:
            data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            path.write_bytes(data)


executions = findings = 0
with tempfile.TemporaryDirectory() as tmp:
    tmp = pathlib.Path(tmp)
    bases = [run_folders.make(tmp / f"base{n}", n, blocks=b) for n, b in ((1, 2), (2, 6), (3, 2), (17, 1))]
    for i in range(COUNT):
        r = random.Random(SEED * 1000003 + i)
        shutil.rmtree(tmp / "run", ignore_errors=True)
        shutil.copytree(r.choice(bases), tmp / "run")
        for _ in range(r.choice([1, 1, 2, 4])):
            try:
                change(r, tmp / "run")
            except (KeyError, TypeError, IndexError, FileNotFoundError, ValueError):
                pass  # an earlier change took away what this one wanted
        verb = r.choice(VERBS)
        try:
            done = subprocess.run([ETPROF, *verb], cwd=tmp, capture_output=True, timeout=60, check=False)
            bad = (
                done.returncode < 0
                or done.returncode == 70
                or b"Sanitizer" in done.stderr
                or b"runtime error" in done.stderr
            )
        except subprocess.TimeoutExpired:
            bad = True
        executions += 1
        if bad:
            findings += 1
            kept = pathlib.Path(f"finding-{SEED}-{i}")
            shutil.copytree(tmp / "run", kept, dirs_exist_ok=True)
            print(f"{kept}: {' '.join(verb)}", flush=True)
print(f"{executions} executions, {findings} findings")
sys.exit(findings > 0)
