# SPDX-License-Identifier: Apache-2.0
"""Figures of a run folder worked out anew from its samples.csv, by the formulas of docs/statistics.md and tables."""
import csv
import math
import pathlib
import statistics

T_SEVEN = 2.364624252  # Student's t, 97.5 %, seven degrees of freedom (tables)


def medians(folder):
    """Of the timed launches: experiment -> median duration of each block, in the blocks' order."""
    times = {}
    with open(pathlib.Path(folder, "samples.csv"), newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["phase"] == "timed":
                times.setdefault(row["experiment"], {}).setdefault(int(row["block"]), []).append(
                    int(row["duration_ns"]))
    return {e: [statistics.median(blocks[b]) for b in sorted(blocks)] for e, blocks in times.items()}


def looked_at(before, after):
    """lo, hi of ln(BEFORE / AFTER) of eight blocks whose result was known before the last of them: the t interval over
    the blocks' log ratios, wider by 1 + 1.5/8."""
    ln = [math.log(x / y) for x, y in zip(before, after, strict=True)]
    assert len(ln) == 8, len(ln)
    mean, half = statistics.fmean(ln), T_SEVEN * statistics.stdev(ln) / math.sqrt(8) * (1 + 1.5 / 8)
    return mean - half, mean + half
