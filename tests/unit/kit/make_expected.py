# SPDX-License-Identifier: Apache-2.0
# Makes expected/: the timeline of a fixture from flatc's JSON of it, and the statistics of the
# session in test_kit_files.c, by other means than etprof's (nesting from times, numpy, scipy).
#   python3 make_expected.py    (numpy and scipy for the figures it prints; they are in the test)
import csv
import gzip
import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
STEM = "mixed_xnnpack_fp32_load"
HEADER = (
    "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,"
    "block,duration_ns,exclusive_ns,kind,category,five,chain,instruction,parent,event_block,"
    "session_block,level"
).split(",")
CATEGORY = {"Fully Connected": ("GEMM", "GEMM"), "native_call_cumsum": ("Reduction", "Other")}


def fixed(ns, digits):
    return f"{ns // 10**digits}.{ns % 10**digits:0{digits}d}"


def nesting(events):
    """Index of the smallest event whose span holds each event's, within one instruction or above."""
    parents = []
    for i, e in enumerate(events):
        best = -1
        for k, other in enumerate(events):
            inside = other["start_time"] <= e["start_time"] and e["end_time"] <= other["end_time"]
            span = other["end_time"] - other["start_time"]
            if k > i and inside:
                if best < 0 or span < events[best]["end_time"] - events[best]["start_time"]:
                    best = k
        parents.append(best)
    return parents


def kind_of(name, delegated, in_execution):
    if not in_execution:
        return "outside"
    if delegated:
        return "operator"
    if name == "DELEGATE_CALL":
        return "boundary"
    return "portable" if name.startswith("native_call_") else "framework"


def rows():
    data = json.load(gzip.open(DATA / f"{STEM}.etdump.json.gz"))
    first_node, nodes, run_index = {}, 0, 0
    for run in data["run_data"]:
        events = [e["profile_event"] for e in run["events"]]
        names = [e.get("delegate_debug_id_str") or e["name"] for e in events]
        key = (run["name"], tuple(names))
        if key not in first_node:
            first_node[key] = nodes
            nodes += len(events)
        block = list(first_node).index(key)
        execute = [e for e, n in zip(events, names) if n == "Method::execute"]
        parents = nesting(events)
        took = [e["end_time"] - e["start_time"] for e in events]
        for i, (e, name) in enumerate(zip(events, names)):
            delegated = bool(e.get("delegate_debug_id_str"))
            kind = kind_of(name, delegated, bool(execute))
            share = ""
            if execute:
                share = f"{100 * (took[i] / (execute[0]['end_time'] - execute[0]['start_time'])):.6g}"
            category = next((c for k, c in CATEGORY.items() if name.startswith(k)), ("", ""))
            parent = -1 if parents[i] < 0 else first_node[key] + parents[i]
            own = took[i] - sum(t for t, p in zip(took, parents) if p == i)
            yield [
                STEM, name, re.sub(r" #\d+$", "", name),
                "XnnpackBackend" if delegated else "portable",  # whose operators " #k" numbers
                fixed(e["start_time"], 3), fixed(e["end_time"], 3), fixed(took[i], 6), share,
                first_node[key] + i, run_index if execute else -1, run["name"], took[i], own, kind,
                *category, e["chain_index"], e["instruction_id"], parent, block, 1, "unknown",
            ]  # fmt: skip
        run_index += bool(execute)


def figures():
    import numpy as np
    from scipy import stats

    # As latencies_ns in test_kit_files.c.
    x = np.array([2_000_000 + 100 * ((8 * i) % 15) ** 2 for i in range(15)] + [9_000_000, 100_000]) / 1e6
    q1, q3 = np.percentile(x, [25, 75])
    lo, hi = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    kept = x[(x >= lo) & (x <= hi)]
    for name, sample in (("all", x), ("robust_stats", kept)):
        sd = sample.std(ddof=1)
        print(name, len(sample), repr(sample.mean()), np.median(sample), sd, 100 * sd / sample.mean())
    print("percentiles", [float(np.percentile(x, p)) for p in (50, 75, 90, 95, 99)])
    print("bounds", lo, hi, "trimmed", stats.trim_mean(x, 0.05), stats.trim_mean(x, 0.1))


if __name__ == "__main__":
    path = HERE / "expected" / f"{STEM}_exec_all_runs_timeline.csv"
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows())
    figures()
