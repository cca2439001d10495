# SPDX-License-Identifier: Apache-2.0
"""Writes the table of README.md from totals.tsv. usage: table.py"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
AIM = 10**8
rows = [line.split("\t") for line in (HERE / "totals.tsv").read_text().splitlines()[1:]]
table = ["| target | executions | seconds | per second | open findings | nights to 10⁸ |", "|---|---|---|---|---|---|"]
for name, executions, seconds, findings in rows:
    rate = int(executions) / max(int(seconds), 1)
    nights = max(0, (AIM - int(executions)) / (rate * 1800)) if rate else 0
    table.append(f"| `{name}` | {int(executions):,} | {int(seconds):,} | {rate:,.0f} | {findings} | {nights:,.0f} |")
readme = HERE / "README.md"
text = readme.read_text()
readme.write_text(re.sub(r"(?:TABLE\n|\| target \|.*?\n(?:\|.*\n)+)", "\n".join(table) + "\n", text, count=1))
