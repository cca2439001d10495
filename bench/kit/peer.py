# SPDX-License-Identifier: Apache-2.0
"""What Arm's kit does with a folder of dumps, step by step and process by process as its pipeline and its pages start
them, re-stated on the official Inspector (the kit spends its time there). usage: peer.py STEP ARGUMENT…

csv DUMP DIR      as etdump_to_csv.py --all-runs: Inspector, one line per event and run, statistics by operator
robust CSV CSV    as robust_latency_analysis.py --compare
operators CSV     as analyze_etdump_csv.py: categories and operators by name
folder DIR        as analyze_results.py: csv once more for each dump, then the Inspector's own table"""
import csv
import json
import pathlib
import re
import subprocess
import sys


def inspector(dump):
    from executorch.devtools import Inspector
    from executorch.devtools.inspector import TimeScale

    return Inspector(etdump_path=str(dump), source_time_scale=TimeScale.NS, target_time_scale=TimeScale.MS)


def base(name):
    return re.sub(r" #\d+$", "", str(name).strip("'\""))


def step_csv(dump, out):
    dump, out = pathlib.Path(dump), pathlib.Path(out)
    frame = inspector(dump).to_dataframe()
    lines = []
    for node, row in frame.iterrows():
        for i, (ms, start) in enumerate(zip(row["raw"], row["start_time"])):
            backend = "portable" if not row["is_delegated_op"] else row["delegate_backend_name"] or "delegated"
            lines.append([dump.stem, row["event_name"], base(row["event_name"]), backend, start / 1000,
                          start / 1000 + ms * 1000, ms, 0.0, node, i, row["event_block_name"]])
    total = {}
    for line in lines:
        total[line[9]] = total.get(line[9], 0.0) + line[6]
    for line in lines:
        line[7] = line[6] / total[line[9]] * 100
    head = "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,block".split(
        ","
    )
    for name, chosen in (("all_runs", lines), ("run0", [x for x in lines if x[9] == 0])):
        with open(out / f"{dump.stem}_exec_{name}_timeline.csv", "w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(head)
            writer.writerows(chosen)
    frame["type"] = frame["event_name"].map(base)
    stats = frame.groupby(["type", "is_delegated_op"])["avg (ms)"].agg(["count", "sum", "mean"])
    stats.sort_values("sum", ascending=False).to_csv(out / f"{dump.stem}_exec_ops_stats.csv")


def step_robust(*paths):
    import pandas
    from scipy import stats

    for path in paths:
        frame = pandas.read_csv(path)
        x = frame[frame["name"] == "Method::execute"].groupby("run_index")["duration_ms"].sum()
        q1, q3 = x.quantile(0.25), x.quantile(0.75)
        kept = x[(x >= q1 - 1.5 * (q3 - q1)) & (x <= q3 + 1.5 * (q3 - q1))]
        result = {"median_ms": float(x.median()), "mean_ms": float(x.mean()), "kept": float(kept.median()),
                  "trimmed": float(stats.trim_mean(x, 0.05)), "std": float(x.std())}
        pathlib.Path(str(path).replace(".csv", "_robust_stats.json")).write_text(json.dumps(result))


def step_operators(path):
    import pandas

    frame = pandas.read_csv(path)
    runs = (frame["name"] == "Method::execute").sum()
    leaves = frame[~frame["name"].isin(["Method::execute", "DELEGATE_CALL", "OPERATOR_CALL", "Program::load_method",
                                        "Method::init"])]
    result = [(name, leaves[leaves["name"] == name]["duration_ms"].sum() / runs) for name in leaves["name"].unique()]
    with open(str(path).replace("_exec_all_runs_timeline.csv", "_operator_details.csv"), "w", newline="") as f:
        csv.writer(f).writerows(sorted(result, key=lambda x: -x[1]))


def step_folder(folder):
    totals = {}
    for dump in sorted(pathlib.Path(folder).rglob("*.etdump")):
        subprocess.run([sys.executable, __file__, "csv", dump, dump.parent], check=True)
        inspector(dump).save_data_to_tsv(open(dump.with_suffix(".tsv"), "w"))
        with open(dump.with_suffix(".tsv")) as f:
            for row in csv.DictReader(f, delimiter="\t"):
                totals["Other"] = totals.get("Other", 0.0) + float(row.get("avg (ms)") or 0)
    pathlib.Path(folder, "analysis_summary.json").write_text(json.dumps({"category_totals_ms": totals}))


if __name__ == "__main__":
    {"csv": step_csv, "robust": step_robust, "operators": step_operators,
     "folder": step_folder}[sys.argv[1]](*sys.argv[2:])
