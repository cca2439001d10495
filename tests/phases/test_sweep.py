#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep of models x levels x threads x phases, from a folder whose times are chosen here: one table, a winner of each
phase, and nothing of one phase said of another.

usage: test_sweep.py ETPROF"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
import run_folders
from checks import expect, finish

ETPROF = sys.argv[1]
BASE = {"prefill 16": 4000000, "decode @0": 1000000, "decode @32": 1200000}
TOKENS = {"prefill 16": 16, "decode @0": 1, "decode @32": 1}


# int4 is half as fast as int8 in prefill and twice as fast in decode; two threads pay in prefill alone.
def time_ns(phase, level, threads, model):
    prefill = phase.startswith("prefill")
    faster = {"sse": 1, "avx2": 2 if prefill else 1.25}[level] * {1: 1, 2: 1.9 if prefill else 1.02}[threads]
    return round(BASE[phase] / faster / {"int8": 1, "int4": 0.5 if prefill else 2}[model])


WINNER = {"prefill 16": ("int8", "avx2", 2), "decode @0": ("int4", "avx2", 2), "decode @32": ("int4", "avx2", 2)}


def report(tmp, *words):
    done = subprocess.run([ETPROF, "analyze", "run", "--full", "--renew", *words], cwd=tmp, capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0, words, done.stderr[-500:])
    return done.stdout


def check_document(tmp):
    document = json.loads(report(tmp, "--format", "json"))
    phases = document.get("phases", [])
    expect([p["name"] for p in phases] == list(BASE), "phases", "are those of the session", phases)
    expect(document.get("phase") == "prefill 16", "phase", "is the first", document.get("phase"))
    for p in phases:
        d = p["document"] or document
        expect(d.get("phase") == p["name"] and len(d["cells"]) == 8, p["name"], "has its cells", d.get("phase"))
        for c in d["cells"]:
            ns = time_ns(p["name"], c["level"], c["threads"], c["model"])
            expect(abs(c["time_ns"] / ns - 1) < 1e-3, p["name"], "has its own times", c)
            expect(abs(c["tokens_per_s"] * ns / 1e9 / TOKENS[p["name"]] - 1) < 1e-3, p["name"], "tells rates", c)
        w = p["winner"]
        expect((w["model"], w["level"], w["threads"]) == WINNER[p["name"]], p["name"], "has its winner", w)
        knees = {(k["model"], k["level"]): (k["knee"]["from"], k["knee"]["to"]) for k in d["scaling"]}
        expect(set(knees.values()) == {(2, 2) if p["name"].startswith("prefill") else (1, 1)}, p["name"],
               "has its knees", knees)
        up = {round(x["speedup"]["estimate"], 3) for x in d["speedups"]}
        expect(up == {2.0 if p["name"].startswith("prefill") else 1.25}, p["name"], "has its speedups", up)


def check_tables(tmp):
    rows = list(csv.DictReader(io.StringIO(report(tmp, "--format", "csv"))))
    expect(len(rows) == 24, "csv", "is one table of all phases", len(rows))
    for r in rows:
        key = r.get("phase"), r.get("level"), int(r.get("threads", 0)), r.get("model")
        if key[0] not in BASE:
            expect(False, "csv", "names the phase", r)
            return
        ns = time_ns(*key)
        expect(abs(float(r["time_ns"]) / ns - 1) < 1e-3, "csv", r)
        expect(abs(float(r["rate"]) * ns / 1e9 / TOKENS[key[0]] - 1) < 1e-3, "csv", "tells rates", r)
    text = report(tmp, "--format", "text")
    for phase, (model, level, threads) in WINNER.items():
        said = f"{phase} · {model}: {level.upper()} with {threads} threads"
        expect(said in " ".join(text.split()), "text", f"says '{said}'", text[:1500])
    expect("decode @32: int8 SSE: 1 thread is enough" in " ".join(text.split()), "text", "tells knees by phase",
           text[:3000])
    expect("tok/s" in text, "text", "tells rates", text[:1500])
    page = report(tmp, "--format", "html")
    for phase in BASE:
        expect(phase in page, "page", f"has {phase}")


def check_doubt(tmp):
    """A fast cell that waited for other programs has no ratio; the one behind it is not called the fastest."""
    root = phase_folders.make(tmp / "doubt", lambda p, level, t, m: (2000000 if level == "sse" else 1000000) // t,
                              phases=(phase_folders.DECODE, ), threads=(1, 2), levels=("avx2", "sse"),
                              sweep={"knee": 0.1})
    lines = [json.loads(line) for line in (root / "environment.jsonl").read_text().splitlines()]
    for line in lines:
        if line["type"] == "launch" and "avx2_t2" in line["experiment"]:
            line |= {"run_span_ns": 5000000, "run_wait_ns": 2000000}
    (root / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = json.loads((root / "manifest.json").read_text())
    manifest["files"] = [run_folders.entry(root, f["path"]) for f in manifest["files"]]
    (root / "manifest.json").write_text(json.dumps(manifest))
    said = {f: subprocess.run([ETPROF, "analyze", "doubt", "--full", "--format", f], cwd=tmp, capture_output=True,
                              text=True, check=False).stdout for f in ("json", "text", "md")}
    document = json.loads(said["json"])
    cells = {(c["level"], c["threads"]): c for c in document["cells"]}
    expect(cells["avx2", 2]["withheld"] == "contended", "doubt", cells["avx2", 2])
    expect(cells["avx2", 1]["withheld"] is None, "doubt", cells["avx2", 1])
    winners = [p["winner"] for p in document["phases"]]
    expect(winners == [None], "doubt", "has no winner", winners)
    for form in ("text", "md"):
        expect("the fastest is unknown" in " ".join(said[form].split()), form, said[form][:1000])
        expect("other programs had the CPU" in " ".join(said[form].split()), form, said[form][:1000])
    screen = subprocess.run([ETPROF, "analyze", "doubt"], cwd=tmp, capture_output=True, text=True, check=False).stdout
    expect("To settle it: etprof rerun doubt" in " ".join(screen.split()), "screen", screen[:600])


def check_control(tmp):
    """The A/A control speaks for the machine where it is small beside each effect, as in a session of two arms."""
    for name, slower, mark in (("large", 2000000, "✓"), ("small", 1200000, "?")):
        root = phase_folders.make(tmp / name, lambda p, level, t, m, slower=slower:
                                  (slower if level == "sse" else 1000000) // t, phases=(), threads=(1, 2),
                                  levels=("avx2", "sse"), sweep={"knee": 0.1})
        run_folders.disturb(root, 0.8)
        said = subprocess.run([ETPROF, "analyze", name], cwd=tmp, capture_output=True, text=True, check=False).stdout
        expect(f"{mark} A/A −8" in said, name, said[-900:])


with tempfile.TemporaryDirectory() as name:
    TMP = pathlib.Path(name)
    phase_folders.make(TMP / "run", time_ns, levels=("avx2", "sse"), threads=(1, 2), models=("int8", "int4"),
                       sweep={"knee": 0.1})
    check_document(TMP)
    check_tables(TMP)
    check_doubt(TMP)
    check_control(TMP)
    subprocess.run([ETPROF, "analyze", "run", "--output", "sweep.json"], cwd=TMP, check=False)
    valid = subprocess.run([ETPROF, "validate", "sweep.json"], cwd=TMP, capture_output=True, text=True, check=False)
    expect(valid.returncode == 0, "validate", valid.stdout + valid.stderr)
    # one phase in which a level is slower is a reason to fail for those who asked
    phase_folders.make(TMP / "ab", lambda p, level, t, m: 1000000 if level == "sse" else
                       1100000 if p == "decode @32" else 500000)
    for words, code in [(("--fail-on", "slower"), 1), ((), 0)]:
        done = subprocess.run([ETPROF, "analyze", "ab", *words], cwd=TMP, capture_output=True, text=True, check=False)
        expect(done.returncode == code, "analyze", words, f"exit {done.returncode}", done.stderr)
finish("a winner of each phase")
