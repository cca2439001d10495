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
    if row["set"] != "held-out" and row["gain_us"] and row["estimate_us"] and float(row["estimate_us"]):
        ratios.setdefault(row["command"].split()[-1], []).append(float(row["gain_us"]) / float(row["estimate_us"]))
source = (ROOT / "src/judge/fixes/factors.c").read_text()
told = {name: (int(n), float(least), float(usual))
        for name, n, least, usual in re.findall(r'\{"([a-z0-9-]+)",\s+(\d+),\s+(-?[\d.]+),\s+(-?[\d.]+)\s*\}', source)}
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
finish(f"{len(told)} changes, {sum(n for n, _, _ in told.values())} cases")
