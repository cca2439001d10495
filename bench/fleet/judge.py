#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what a report of a synthetic fleet says against what was planted: regressions found and false alarms by size,
nights off, true speedups inside their intervals, bad devices named, falls of engagement and what the fixes are worth.
The last are added up from what `etprof analyze` says of the newest session of each model and device.

usage: bench/fleet/judge.py TRUTH.json REPORT.json [ETPROF]"""
import collections
import json
import pathlib
import subprocess
import sys


def same(said, planted):
    return f"{len(said & planted)} of {len(planted)} told, {len(said - planted)} besides" + (
        f": {sorted(said - planted)[:5]}" if said - planted else "")


def falls(truth, report):
    planted = {(m["name"], d, "b%04d" % m["night"]) for m in truth["recorded"] if m["after"] == "fallen"
               for d in m["devices"]}
    told = [(r["model"], r["device"], r["first_bad_build"]) for r in report["engagement_fell"]]
    print("engagement fell (model, device, first bad build):", same(set(told), planted),
          f", {len(told) - len(set(told))} twice")


def fixes(truth, folder, report, etprof):
    newest = {}
    for manifest in folder.glob("recorded/*/*/*/*/manifest.json"):
        m = json.loads(manifest.read_text())
        key = m["models"][0]["stem"], manifest.parts[-4]
        newest[key] = max(newest.get(key, ("", None)), (m["generated_at"], str(manifest.parent)))
    gain, models = collections.Counter(), collections.defaultdict(set)
    for (model, _), (_, run) in newest.items():
        # 6: of what fell
        done = subprocess.run([etprof, "analyze", run, "--format", "json"], check=False, capture_output=True)
        for fix in json.loads(done.stdout)["next_fixes"]:
            if fix["gain_ns"]["expected"] is not None:
                gain[fix["kind"], fix["recipe"]] += fix["gain_ns"]["expected"]
                models[fix["kind"], fix["recipe"]].add(model)
    told = [(r["kind"], r["recipe"], r["gain_ns"], r["models"]) for r in report["fixes"]]
    wanted = [(*key, ns, len(models[key])) for key, ns in sorted(gain.items(), key=lambda g: (-g[1], g[0]))][:25]
    print(f"fixes by worth: {'as added up by hand' if told == wanted else f'DIFFER: {told} instead of {wanted}'}: "
          f"{[(kind, round(ns / 1e6, 3), n) for kind, _, ns, n in told]} (ms, models)")


def main(truth_path, report_path, etprof="build/release/bin/etprof"):
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
    words = {"noisy": {"noisy", "noisy in its sessions"}, "hot": {"hot"}, "throttled": {"throttled"}}
    apart = {r["device"]: set(r["apart"]) for r in report["devices_apart"]}
    for kind, any_of in words.items():
        print(f"devices that are {kind}:", same({d for d, said in apart.items() if said & any_of},
                                                {d["name"] for d in truth["devices"] if d["bad"] == kind}))
    if truth["recorded"]:
        falls(truth, report)
        fixes(truth, pathlib.Path(truth_path).parent, report, etprof)
    print("errors:", report["rows"]["errors"], "planted:", truth["corrupt"])


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    main(*sys.argv[1:])
