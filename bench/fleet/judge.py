#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what a report of a synthetic fleet says against what was planted: regressions found and false alarms by size,
nights off, true speedups inside their intervals, bad devices named.

usage: bench/fleet/judge.py TRUTH.json REPORT.json"""
import collections
import json
import sys


def main(truth_path, report_path):
    with open(truth_path, encoding="utf-8") as f:
        truth = json.load(f)
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    planted = {m["name"]: m for m in truth["models"] if m["regression"]}
    told = collections.defaultdict(list)
    for r in report["regressions"]:
        if r["how"] == "traced": # of the dumps, where they were planted
            told[r["model"]].append(r)
    for size in sorted({m["regression"] for m in planted.values()}):
        models = [m for m in planted.values() if m["regression"] == size]
        hits, inside, extra = [], 0, 0
        for m in models:
            near = sorted(told[m["name"]], key=lambda r: abs(truth["days"].index(r["since"]) - m["night"]))
            if near and abs(truth["days"].index(near[0]["since"]) - m["night"]) <= 2:
                hits.append(truth["days"].index(near[0]["since"]) - m["night"])
                inside += near[0]["lo"] <= size <= near[0]["hi"]
                extra += len(near) - 1
            else:
                extra += len(near)
        print(f"{size:.0%}: {len(hits)} of {len(models)} found, {hits.count(0)} on the very night, interval holds it "
              f"in {inside}, {extra} steps more in these models")
    false = [r for name, rows in told.items() if name not in planted for r in rows]
    print(f"false alarms: {len(false)} in {len(truth['models']) - len(planted)} models" +
          "".join(f"\n  {r['model']} {r['since']} {r['slower']:.2%}" for r in false[:10]))
    print(f"of sessions: {sum(r['how'] == 'timed' for r in report['regressions'])} regressions told, none planted")
    rows = [r for r in report["speedups"] if r["feature"] in truth["speedup"]]
    holds = sum(r["lo"] <= truth["speedup"][r["feature"]] <= r["hi"] for r in rows if r["lo"])
    print(f"true speedup inside its 95 % interval on {holds} of {len(rows)} devices")
    bad = {d["name"]: d["bad"] for d in truth["devices"] if d["bad"]}
    print("devices:", {d["device"]: d["apart"] for d in report["devices_apart"]}, "planted:", bad)
    print("errors:", report["rows"]["errors"], "planted:", truth["corrupt"])


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    main(*sys.argv[1:])
