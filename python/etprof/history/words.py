# SPDX-License-Identifier: Apache-2.0
"""How figures, times and changes of a history are written; what its document says."""
from __future__ import annotations

import csv
import io
import math
from collections import Counter
from decimal import Decimal
from typing import Any

from etprof.fleet.report import many
from etprof.history.series import FEWEST, MAX_P, Change, History, Series, ratio
from etprof.shown import printable

CARDS = 3 # changes on the first screen
_LADDER = "▁▂▃▄▅▆▇█"
_WIDE = 48 # moments of a ladder; of more, each stands for several


def digits(v: float, n: int) -> str:
    """N significant ones, without an exponent."""
    return f"{Decimal(f'{v:.{n}g}'):f}"


def figure(one: Series, v: float | None) -> str:
    if v is None or not math.isfinite(v):
        return "–"
    if one.end == "_ns":
        factor, unit = next(((f, u) for f, u in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if abs(v) >= f), (1, "ns"))
        return f"{v / factor:.3f} {unit}" if factor > 1 else f"{v:.0f} ns"
    return f"{v:.2f}×" if one.end == "_speedup" else digits(v, 5)


def moment(time: str) -> str:
    """2026-01-07 06:00 of 2026-01-07T06:00:00Z; other texts as they are."""
    form = "".join("0" if ch in "0123456789" else ch for ch in time[:16])
    return printable(f"{time[:10]} {time[11:16]}" if form == "0000-00-00T00:00" else time)


def relative(change: Change) -> float:
    return change.after / change.before - 1 if change.before else math.nan


def by_how_much(change: Change) -> str:
    """More or less, of times and of ratios alike: faster is a ratio of times elsewhere."""
    by = relative(change)
    return f"{100 * abs(by):.1f} % {'more' if by > 0 else 'less'}" if math.isfinite(by) else "changed"


def signed(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return "–"
    return f"{'−' if share < 0 else '+'}{100 * abs(share):.1f} %"


def judgement(one: Series, change: Change) -> str:
    """The name alone says what is good, also in tables of others."""
    if not one.end:
        return "info"
    return "good" if (change.after > change.before) == (one.end != "_ns") else "bad"


def changes_of(h: History) -> list[tuple[Series, Change]]:
    """By run, then by series: what changed in one session stands together."""
    found = [(one, change) for one in h.series for change in one.changes]
    return sorted(found, key=lambda pair: pair[1].run)


def newest(h: History) -> list[tuple[Series, Change]]:
    """The last change of each series: the latest first, the larger before the smaller."""
    last = [(one, one.changes[-1]) for one in h.series if one.changes]
    return sorted(last, key=lambda pair: (-pair[1].run, -round(1000 * abs(relative(pair[1])))
                                          if math.isfinite(relative(pair[1])) else 0))


def over(h: History) -> str:
    first, last = moment(h.runs[0].time), moment(h.runs[-1].time)
    return f"{many(len(h.runs), 'run')}, {first}" + ("" if first == last else f" to {last}")


def not_given(h: History) -> str:
    """What sessions withhold, by reason: "figures are withheld in 2 of 8 runs: 3 contended, 1 noise_floor"; ""."""
    reasons = Counter(w.reason for w in h.withheld)
    told = ", ".join(f"{n} {printable(reason)}" for reason, n in sorted(reasons.items()))
    runs = len({w.run for w in h.withheld})
    return f"figures are withheld in {runs} of {many(len(h.runs), 'run')}, and in no series: {told}" if told else ""


def looked_for(h: History) -> str:
    return (f"{sum(len(one.changes) for one in h.series)} in {len(h.series)} series (at least "
            f"{digits(100 * h.min_change, 6)} %, p ≤ {digits(MAX_P, 6)}, E-divisive)")


def nothing(h: History) -> str:
    return "too few runs to find a change" if len(h.runs) < FEWEST else "no change"


def ladder(one: Series) -> str:
    """The runs as small bars, a blank for one without the figure."""
    n = len(one.values)
    steps = [one.values[n * i // min(n, _WIDE):max(n * (i + 1) // min(n, _WIDE), n * i // min(n, _WIDE) + 1)]
             for i in range(min(n, _WIDE))]
    means = [sum(known) / len(known) if (known := [v for v in step if v is not None]) else None for step in steps]
    told = [v for v in means if v is not None]
    if not told:
        return ""
    low, width = min(told), max(max(told) - min(told), 1e-300)
    return "".join(" " if v is None else _LADDER[min(int(8 * (v - low) / width), 7)] for v in means)


# ---- documents ----

def number(v: float | None) -> int | float | None:
    if v is None or not math.isfinite(v):
        return None
    return int(v) if v == int(v) and abs(v) < 2**53 else v


def _mean(one: Series, v: float) -> int | float | None:
    return number(float(round(v)) if one.end == "_ns" else ratio(v))


def document(h: History) -> dict[str, Any]:
    """etprof.history/1."""
    runs = [{"time": run.time, "attributes": [{"name": n, "value": v} for n, v in zip(h.attributes, run.attributes)]}
            for run in h.runs]
    series = []
    for one in h.series:
        changes = [{"run": c.run, "time": h.runs[c.run].time, "before": _mean(one, c.before),
                    "after": _mean(one, c.after),
                    "change": number(ratio(relative(c))) if math.isfinite(relative(c)) else None,
                    "p": number(ratio(c.p)), "also_changed": c.also} for c in one.changes]
        series.append({"name": one.name, **({"phase": one.phase} if one.phase else {}),
                       "values": [number(v) for v in one.values], "changes": changes})
    return {"schema": "etprof.history/1", "min_change": number(ratio(h.min_change)), "runs": runs, "series": series,
            "withheld": [{"run": w.run, "series": w.series, "reason": w.reason} for w in h.withheld],
            "left_out": h.left_out, "errors": h.errors}


def _safe(cell: str) -> str:
    """A spreadsheet would run a text that begins so."""
    return printable(f"'{cell}" if cell[:1] in tuple("=+-@\t\r") else cell)


def table(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def columns(h: History) -> str:
    """The table again: time, attributes, series."""
    rows = [["time", *map(_safe, h.attributes), *(_safe(one.name) for one in h.series)]]
    for i, run in enumerate(h.runs):
        values = ["" if (v := number(one.values[i])) is None else str(v) for one in h.series]
        rows.append([_safe(run.time), *map(_safe, run.attributes), *values])
    return table(rows)
