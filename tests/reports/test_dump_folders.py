# SPDX-License-Identifier: Apache-2.0
"""Folders of nothing but .etdump files: `analyze DIR` and the whole family of tables that `--out` writes, against
what flatc says of the dumps. usage: test_dump_folders.py ETPROF"""
import csv
import gzip
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
DATA = ROOT / "tests/data"
DUMPS = ["linear_portable_fp32", "linear_xnnpack_fp32", "mixed_xnnpack_fp32"]
P_FILES = ["_exec_all_runs_timeline.csv", "_exec_run0_timeline.csv", "_exec_ops_stats.csv",
           "_exec_all_runs_timeline_robust_stats.json"]
TABLES = ["category_summary.csv", "operator_details.csv", "other_top_ops.csv", "e2e_latency.csv"]


def run(cwd, *words, code=0):
    done = subprocess.run([ETPROF, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    expect(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def executions(stem):
    """Per execution of a dump, by flatc: duration of Method::execute, and of what has no part within it: kernels and
    operators of delegates."""
    found = []
    for data in json.load(gzip.open(DATA / f"{stem}.etdump.json.gz"))["run_data"]:
        events = [e["profile_event"] for e in data["events"]]
        spent = {"execute": 0, "delegated": 0, "portable": 0}
        for e in events:
            name, ns = e.get("name") or "", e["end_time"] - e["start_time"]
            delegated = e.get("delegate_debug_id_str") or e.get("delegate_debug_id_int", -1) >= 0
            kind = ("delegated" if delegated else "portable" if name.startswith("native_call_")
                    else "execute" if name == "Method::execute" else None)
            if kind:
                spent[kind] += ns
        if spent["execute"]:
            found.append(spent)
    return found


def near(found, exact):
    return abs(Fraction(found) - exact) <= Fraction(1, 2)  # whole nanoseconds


def check_answer(answer):
    arms = answer["arms"]
    expect(len(arms) == 3 and len(answer["comparisons"]) == 2, "three arms, two against the third")
    expect(answer["grade"] == "D", "dumps alone are of grade D")
    split = {d["arm"]: d for d in answer["delegation"]}
    for stem in DUMPS:
        arm = next((a for a in arms if stem.startswith(a["name"]) or stem.endswith(a["name"])), None)
        expect(arm is not None, f"{stem} is an arm of {[a['name'] for a in arms]}")
        if arm is None:
            continue
        runs = executions(stem)
        whole = [r["execute"] for r in runs]
        expect(arm["median_ns"] is None, f"{stem}: nothing untraced is claimed")
        expect(arm["traced_runs"] == len(runs), f"{stem}: {len(runs)} executions")
        expect(near(arm["traced_ns"], Fraction(sum(whole), len(whole))), f"{stem}: mean of {whole}: {arm['traced_ns']}")
        expect(abs(arm["traced_median_ns"] - statistics.median(whole)) <= 0.5, f"{stem}: median of {whole}")
        for kind in ("delegated", "portable"):
            mean = Fraction(sum(r[kind] for r in runs), len(runs))
            got = split[arm["name"]][f"{kind}_ns"]
            count = split[arm["name"]]["operators" if kind == "delegated" else "kernels"]
            expect(abs(got - mean) <= max(1, count), f"{stem}: {kind} {mean}, found {got}")
        parts = split[arm["name"]]
        expect(sum(parts[k] for k in ("delegated_ns", "portable_ns", "boundary_ns", "rest_ns")) == arm["traced_ns"],
              f"{stem}: the parts add up")


def rows(path):
    with path.open(newline="") as f:
        return list(csv.DictReader(f))


def check_tables(out, stems):
    for stem in stems:
        for ending in P_FILES:
            expect((out / (stem + ending)).is_file(), f"{stem}{ending} was written")
        runs = executions(stem)
        lines = [r for r in rows(out / f"{stem}_exec_all_runs_timeline.csv") if r["name"] == "Method::execute"]
        expect([int(r["duration_ns"]) for r in lines] == [r["execute"] for r in runs],
               f"{stem}: the timeline's executions")
        first = [r for r in rows(out / f"{stem}_exec_run0_timeline.csv") if r["name"] == "Method::execute"]
        expect([int(r["duration_ns"]) for r in first] == [runs[0]["execute"]], f"{stem}: run 0")
        robust = json.loads((out / f"{stem}_exec_all_runs_timeline_robust_stats.json").read_text())
        expect(abs(robust["median_ms"] * 1e6 - statistics.median(r["execute"] for r in runs)) < 1,
               f"{stem}: robust median")
    for ending in TABLES:
        expect(len(list(out.glob(f"*_{ending}"))) == 1, f"one {ending}: {sorted(p.name for p in out.iterdir())}")
    latency = {r["model_name"]: r for r in rows(next(out.glob("*_e2e_latency.csv")))}
    expect(set(latency) == set(stems), f"latencies of {set(latency)}")
    for stem in set(latency) & set(stems):
        whole = [r["execute"] for r in executions(stem)]
        r = latency[stem]
        expect(int(r["num_runs"]) == len(whole), f"{stem}: number of runs")
        for column, ns in (("total_ms", sum(whole)), ("min_ms", min(whole)), ("max_ms", max(whole))):
            expect(Fraction(r[column]) * 10**6 == ns, f"{stem}: {column} {r[column]}, not {ns} ns")
    for name in ("metrics.json", "analysis_summary.json"):
        expect((out / name).is_file(), f"{name} was written")
    summary = json.loads((out / "analysis_summary.json").read_text())
    expect(summary["etdump_count"] == len(stems), "the summary counts the dumps")
    expect(set(summary["csv_files"]) == {p.name for p in out.glob("*.csv")},
           "the summary lists every CSV file there is")


def counted_rows(tmp):
    """`rows` are the lines of Inspector's own table, which leaves out every name that has OPERATOR_CALL in it."""
    stem = DUMPS[2]
    lines = list(csv.DictReader((DATA / f"{stem}.etdump.tsv").open(newline="", encoding="utf-8"), delimiter="\t"))
    old = "native_call_cumsum.out"
    for name, want in ((old, len(lines)), ("my_OPERATOR_CALL_batch", sum(x["event_name"] != old for x in lines))):
        dump = tmp / f"{name}.etdump"
        dump.write_bytes((DATA / f"{stem}.etdump").read_bytes().replace(old.encode(), name.encode()))
        run(tmp, "analyze", dump, "--out", tmp / name)
        counted = json.loads((tmp / name / "analysis_summary.json").read_text())["per_etdump"][0]["rows"]
        table = run(tmp, "ops", dump, "--format", "inspector").stdout.splitlines()
        expect(counted == want == len(table) - 1, f"{name}: {counted} rows, {len(table) - 1} lines, not {want}")


def main(tmp):
    counted_rows(tmp)
    flat, nested = tmp / "flat", tmp / "nested"
    flat.mkdir()
    for stem in DUMPS:
        shutil.copy(DATA / f"{stem}.etdump", flat)
        (nested / "runs" / stem).mkdir(parents=True)
        shutil.copy(DATA / f"{stem}.etdump", nested / "runs" / stem)
    for folder in (flat, nested):
        out = tmp / f"{folder.name}-out"
        done = run(tmp, "analyze", folder, "--out", out, "--format", "json")
        check_answer(json.loads(done.stdout))
        check_tables(out, DUMPS)
        listed = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
        expect(len(listed) == 3, f"nothing was written into {folder.name}: {listed}")
    same = {p.name: p.read_bytes() for p in (tmp / "flat-out").iterdir()}
    for p in (tmp / "nested-out").iterdir():
        expect(p.name.split("_")[0] in ("flat", "nested") or same.get(p.name) == p.read_bytes(),
               f"{p.name} is the same")

    one = tmp / "one-out"
    run(tmp, "analyze", DATA / f"{DUMPS[2]}.etdump", "--out", one)
    check_tables(one, DUMPS[2:])
    expect(not list(one.glob("*_comparison.csv")), "nothing is compared with one dump")
    expect(len(list((tmp / "flat-out").glob("*_comparison.csv"))) == 1, "several dumps are compared")

    (flat / "notes.txt").write_text("no dump")  # what is no dump is not touched
    (flat / ".hidden").mkdir()
    shutil.copy(DATA / f"{DUMPS[0]}.etdump", flat / ".hidden")
    expect(len(json.loads(run(tmp, "analyze", flat, "--format", "json").stdout)["arms"]) == 3, "junk changes nothing")
    (flat / "broken.etdump").write_bytes((DATA / f"{DUMPS[0]}.etdump").read_bytes()[:100])
    expect("broken.etdump" in run(tmp, "analyze", flat, code=4).stderr, "the broken dump is named")
    (flat / "broken.etdump").unlink()
    run(tmp, "analyze", flat, "--out", flat / "notes.txt", code=5)
    (tmp / "empty").mkdir()
    expect("no .etdump" in run(tmp, "analyze", tmp / "empty", code=2).stderr, "an empty folder is said to be one")


scratch = new_folder()
main(scratch)
finish("three dumps, flat, nested and alone: as flatc says")
