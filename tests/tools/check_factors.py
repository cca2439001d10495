# SPDX-License-Identifier: Apache-2.0
"""The factors of next fixes are those of the measured cases in bench/fixes/table.tsv, and of no case that only judges.

usage: check_factors.py SOURCE_DIR"""
import csv
import pathlib
import re
import statistics
import sys

from checks import expect, finish

ROOT = pathlib.Path(sys.argv[1])
rows = list(csv.DictReader((ROOT / "bench/fixes/table.tsv").open(), delimiter="\t"))
ratios = {}
for row in rows:
    expect(row["set"] in ("tuning", "made", "held-out"), "a row of no set", row)
    counts = row["set"] != "held-out" and row["gain_us"] and row["estimate_us"] and float(row["estimate_us"])
    # A case whose interval is wider than its estimate says nothing about either.
    if counts and float(row["gain_hi_us"]) - float(row["gain_lo_us"]) <= float(row["estimate_us"]):
        ratios.setdefault(row["command"].split()[-1], []).append(float(row["gain_us"]) / float(row["estimate_us"]))
# A network that was made for a change gains more by it than others: it adds a case, and is never the only one.
tuned = {row["command"].split()[-1] for row in rows if row["set"] == "tuning"}
ratios = {change: found for change, found in ratios.items() if change in tuned}
source = (ROOT / "src/judge/fixes/factors.c").read_text()
told = {name.lower().replace("_", "-"): (int(n), float(least), float(usual))
        for name, n, least, usual in
        re.findall(r'\{ETP_CHANGE_(\w+),\s+(\d+),\s+(-?[\d.]+),\s+(-?[\d.]+)\s*\}', source)}
expect(set(told) == set(ratios), "changes in factors.c and in the table differ", set(told) ^ set(ratios))
for name in sorted(set(told) & set(ratios)):
    cases, least, usual = told[name]
    found = ratios[name]
    expect(cases == len(found), name, f"{cases} cases are told, the table has {len(found)}")
    # the table's figures have a tenth of a microsecond
    expect(abs(least - min(found)) < 0.03, name, f"least {least}, in the table {min(found):.3f}")
    expect(abs(usual - statistics.median(found)) < 0.03, name,
           f"usual {usual}, in the table {statistics.median(found):.3f}")
sets = {row["case"].split("-")[0]: row["set"] for row in rows}
listed = (ROOT / "bench/fixes/sets.py").read_text()
for name, which in sets.items():
    part = {"tuning": "TUNING", "made": "MADE", "held-out": "HELD_OUT"}[which]
    body = re.search(rf"^{part} = \((.*?)^\)", listed, re.S | re.M)[1]
    expect(f'"{name}"' in body, name, "is not of the set that its row names")
expect(sum(r["set"] == "held-out" for r in rows) >= 20, "fewer than 20 cases judge")
expect(sum(n for n, _, _ in told.values()) >= 30, "fewer than 30 cases set factors")
# bench/results.md says of the held-out set what the table says.
document, page = ((ROOT / name).read_text() for name in ("bench/results.md", "docs/fixes.md"))
judged = [r for r in rows if r["set"] == "held-out"]
measured = [r for r in judged if r["gain_us"]]
known = [r for r in measured if r["within_1.5"]]
for r in judged:
    row = ("| {case} | `{command}` | {before_us} | {floor_us} / {expected_us} / {ceiling_us} | "
           "{gain_us} [{gain_lo_us}, {gain_hi_us}] |")
    expect(row.format(**r) in document, "bench/results.md lacks a row of the table", r["case"], r["command"])
counts = {
    "applies": f"{sum(r['applies'] == 'yes' for r in judged)} of {len(judged)} commands that were tried apply",
    "inside": f"{sum(r['range'] in ('inside', 'noise') for r in measured)} of {len(measured)} gains lie in their range",
    "by interval": f"({sum(r['range'] == 'noise' for r in measured)} of them by their interval alone)",
    "near": f"{sum(r['within_1.5'] == 'yes' for r in known)} of {len(known)} within a factor of 1.5",
}
for what, sentence in counts.items():
    expect(sentence in document, f"bench/results.md: {what}", f"the table says: {sentence}")
    expect(sentence in page, f"docs/fixes.md: {what}", f"the table says: {sentence}")
finish(f"{len(told)} changes, {sum(n for n, _, _ in told.values())} cases")
