# SPDX-License-Identifier: Apache-2.0
"""The files of Arm's kit for a session with phases: every phase has its tables, and none holds arms of another.

usage: test_kit.py ETPROF"""
import csv
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
from checks import execute, expect, finish, new_folder

ETPROF = sys.argv[1]
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}
TABLES = ("category_summary", "operator_details", "e2e_latency")
WORDS = {"prefill 16": "", "decode @0": "decode0_", "decode @32": "decode32_"}


def rows(path):
    if not path.exists():
        expect(False, path.name, "is there")
        return []
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def look(folder, stem, name, levels):
    """The tables of the phase NAME in FOLDER, whose times are LEVELS."""
    word = "prefill16" if name == "prefill 16" else WORDS[name].rstrip("_")
    own = {f"linux_{level}_{word}" for level in levels}
    for table in TABLES:
        found = {row["experiment"] for row in rows(folder / f"{stem}_{WORDS[name]}{table}.csv")}
        expect(found == own, name, table, "holds its arms and no others", found)
    for row in rows(folder / f"{stem}_{WORDS[name]}e2e_latency.csv"):
        wanted = levels[row["experiment"].split("_")[1]]
        expect(abs(int(row["untraced_median_ns"]) / wanted - 1) < 2e-4, name, row["experiment"], "its own time", row)
    for row in rows(folder / f"{stem}_{WORDS[name]}comparison.csv")[:1]:
        expect({f"{arm}_ns" for arm in own} <= set(row), name, "is compared with itself", list(row))
    path = folder / f"{stem}_{WORDS[name]}pipeline_summary.json"
    summary = json.loads(path.read_text()) if path.exists() else {"runs": [], "comparisons": [], "model": ""}
    expect({run["experiment"] for run in summary["runs"]} == own, name, "its summary", summary["runs"])
    expect(summary["model"].startswith(f"{stem}.pte"), name, "is of the model", summary["model"])
    told = [round(c["speedup"]["estimate"], 3) for c in summary["comparisons"]]
    expect(told == [levels["sse"] / levels["avx2"]], name, "its speedup", told)
    for arm in own:
        kinds = {f.name.split("_exec_")[-1] for f in (folder / arm).glob("*_exec_*")}
        expect({"ops_stats.csv", "run0_timeline.csv"} <= kinds, arm, "has its timelines", kinds)


def look_at_documents(run):
    """The two documents whose names say no phase hold all of them."""
    arms = {f"linux_{level}_{phase.replace(' @', '').replace(' ', '')}": (phase, ns) for phase, levels in TIMES.items()
            for level, ns in levels.items()}
    metrics = {r["experiment"]: r for r in json.loads((run / "metrics.json").read_text())["results"]}
    expect(set(metrics) == set(arms), "metrics.json", "has every experiment", sorted(metrics))
    summary = json.loads((run / "analysis_summary.json").read_text())
    told = {e["experiment"]: e for e in summary["experiments"]}
    expect(set(told) == set(arms), "analysis_summary.json", "has every experiment", sorted(told))
    dumps = sorted(str(p.relative_to(run)) for p in run.rglob("*.etdump*"))
    named = sorted(d["etdump"] for d in summary["per_etdump"])
    expect(named == dumps and summary["etdump_count"] == len(dumps), "analysis_summary.json", "has every recording",
           len(named), len(dumps))
    tables = sorted(str(p.relative_to(run)) for p in run.rglob("*.csv") if "program" not in p.parts)
    expect(sorted([*summary["csv_files"], "samples.csv"]) == tables, "analysis_summary.json", "has every table",
           set(tables) ^ set(summary["csv_files"]))
    for name, (phase, ns) in arms.items():
        for what in metrics.get(name, {}), told.get(name, {}):
            expect(what.get("phase") == phase, name, "says its phase", what.get("phase"))
        median = metrics.get(name, {"metrics": {"median_ms": 0}})["metrics"]["median_ms"]
        expect(abs(median * 1e6 / ns - 1) < 2e-4, name, "has its own latency", median)
    expect({d["phase"] for d in summary["per_etdump"] if "phase" in d} == set(TIMES), "recordings", "say their phase")


def look_at_several(place):
    """One report over two sessions, the second twice as slow: a row for each arm of each phase of each."""
    for name, factor in (("one", 1), ("two", 2)):
        phase_folders.make(place / name, lambda p, level, t, m, factor=factor: factor * TIMES[p][level])
    said = execute(ETPROF, "analyze", "one", "two", "--format", "md", cwd=place).stdout.replace("<!-- -->", "")
    told = {line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in said.splitlines()
            if line.startswith(("| one · ", "| two · ")) and line.count(" ms ") == 1}
    wanted = {f"{name} · {phase}: {level.upper()}": f"{factor * ns / 1e6:.3f} ms" for name, factor in
              (("one", 1), ("two", 2)) for phase, levels in TIMES.items() for level, ns in levels.items()}
    expect(told == wanted, "a report over two", "has the latency of every phase", told)
    for name, rate in (("one", "5,333 → 16,000 tok/s"), ("two", "500 → 625 tok/s")):
        expect(rate in said, "a report over two", name, f"says '{rate}'", said[:900])


place = new_folder()
look_at_several(place)
run = phase_folders.make(place / "run", lambda p, level, t, m: TIMES[p][level])
execute(ETPROF, "analyze", "--renew", run, check=True, text=False)
for phase, chosen in TIMES.items():
    look(run, "m0", phase, chosen)
look_at_documents(run)
said = execute(ETPROF, "validate", run, "--format", "json").stdout
wrong = [c for c in json.loads(said)["checks"] if c["id"] == "summary.speedup" and not c["ok"]]
expect(not wrong, "summaries agree with the report", wrong)
path = run / "m0_decode32_pipeline_summary.json"
if path.exists():
    changed = json.loads(path.read_text())
    changed["comparisons"][0]["speedup"]["estimate"] = 9
    path.write_text(json.dumps(changed))
    said = execute(ETPROF, "validate", run).stdout
    expect("summary.speedup" in said and "1.25 as in report.json" in " ".join(said.split()), "edited ones are told",
           said[:600])
finish()
