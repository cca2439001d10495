# SPDX-License-Identifier: Apache-2.0
"""A history: one figure after the other over the runs, and where each changed."""
from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from etprof.errors import BadInput, UsageError
from etprof.fleet import statistics as stats

MAX_P, MIN_CHANGE = 0.001, 0.02
ATTRIBUTES = ["program", "runner", "executorch", "etprof", "cpu"]
MOST_RUNS, MOST_SERIES = 10_000, 5_000
FEWEST = 6 # a change has three runs on either side
# What a name ends in, and what the figure is called.
UNITS = {"_ns": "time", "_speedup": "speedup", "_tokens_per_s": "tokens/s"}
WAITED = ("contended", "crowded") # a time of such an arm is that of the others, too
SAID = "said:"  # of a build of others: nothing was hidden from it
_LEVELS = {"sme1": "SME", "dotprod": "dot products", "avx512": "AVX-512"} # others in capitals
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass
class Run:
    """A moment."""

    time: str # as written; ISO 8601 of a session
    attributes: list[str] # "" unknown


@dataclass
class Change:
    run: int # the first of the new segment
    before: float
    after: float
    p: float
    also: str # attributes that are other ones than in the run before, comma-separated


@dataclass
class Series:
    name: str
    called: str # for people
    phase: str # "decode @256"; "" none, or not known
    values: list[float | None] # by run
    changes: list[Change] = field(default_factory=list)

    @property
    def end(self) -> str:
        """What NAME ends in; "" of a figure that is judged neither way."""
        return next((end for end in UNITS if self.name.endswith(end)), "")

    def known(self) -> list[tuple[int, float]]:
        return [(run, v) for run, v in enumerate(self.values) if v is not None]


@dataclass
class Withheld:
    """A figure that a run does not give."""

    run: int
    series: str
    reason: str # a word of etprof.ab/1


@dataclass
class History:
    attributes: list[str]
    runs: list[Run]
    series: list[Series]
    min_change: float = MIN_CHANGE
    errors: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    withheld: list[Withheld] = field(default_factory=list)

    def find_changes(self) -> None:
        for one in self.series:
            known = one.known()
            found = stats.changes([v for _, v in known], MAX_P, self.min_change)
            # Runs without the figure are no part of it: the run before a change is the last one that has it.
            one.changes = [Change(known[c.at][0], c.before, c.after, c.p,
                                  self._also(known[c.at - 1][0], known[c.at][0])) for c in found]

    def _also(self, before: int, run: int) -> str:
        pairs = zip(self.attributes, self.runs[before].attributes, self.runs[run].attributes)
        return ", ".join(name for name, old, new in pairs if old != new)


def ratio(v: float) -> float:
    """With six digits, as every document has them."""
    return float(f"{v:.6g}")


def _figures(point: dict[str, Any]) -> list[tuple[str, float | None]]:
    """None: withheld."""
    ns, tokens, speedup = point["median_ns"], point["phase_tokens"], point["speedup"]
    known = point["withheld"] not in WAITED
    found: list[tuple[str, float | None]] = [("_ns", float(ns) if known else None)] if ns and ns > 0 else []
    if found and tokens:
        found.append(("_tokens_per_s", ratio(1e9 * tokens / ns) if known else None))
    if speedup is not None or (point["baseline"] and point["withheld"]):
        found.append(("_speedup", None if speedup is None else ratio(speedup)))
    return found


def _arm(point: dict[str, Any], name: str, of: str) -> str:
    """VNNI of an experiment linux_vnni: what stands behind its level but threads and phase is somebody's own."""
    experiment, level = name or "?", (of or "").removeprefix(SAID)
    said = ["(said)"] if level != (of or "") else []
    found = re.search(rf"(?:^|_)(?:linux|android|mac)_(?:{re.escape(level)}|sme2_o(?:n|ff))(?:_(.+))?$", experiment)
    if not level or not found:
        return " ".join([experiment, *said])
    phase = re.sub(r"[ @]", "", point["phase_name"] or "")
    rest = [w for w in (found.group(1) or "").split("_") if w and w not in (phase, f"t{point['threads']}")]
    return " ".join([_LEVELS.get(level, level.upper()), *said, *rest])


def called(point: dict[str, Any], end: str) -> str:
    """What people read for a series: "net, VNNI, 1 thread: time"."""
    n = point["threads"] or 0
    arm = _arm(point, point["experiment"], point["level"])
    over = f" over {_arm(point, point['baseline'], point['baseline_level'])}" if end == "_speedup" else ""
    words = [point["model"] or "?", arm + over, *([point["phase_name"]] if point["phase_name"] else []),
             *([f"{n} thread" + ("" if n == 1 else "s")] if n else [])]
    return f"{', '.join(words)}: {UNITS[end]}"


def _one_device(runs: list[dict[str, Any]]) -> None:
    """Times of several devices do not make one series."""
    there = sorted({(r["device"] or "", r["cpu"] or "") for r in runs})
    if len({device for device, _ in there}) > 1:
        listed = ", ".join(f"'{device}' ({cpu or 'unknown'})" for device, cpu in there[:8])
        raise UsageError("sessions of several devices do not make one series: choose a device with --on, of "
                         f"{listed}{' and more' if len(there) > 8 else ''}")


def of_sessions(runs: list[dict[str, Any]], models: list[dict[str, Any]], points: list[dict[str, Any]]) -> History:
    """From rows of the questions of these names."""
    _one_device(runs)
    if len(runs) > MOST_RUNS:
        raise BadInput(f"{len(runs)} sessions, {MOST_RUNS} at most: choose with --of, --since")
    programs: dict[str, list[str]] = defaultdict(list)
    for row in models:
        programs[row["run_id"]].append(f"sha256:{(row['model_sha256'] or '')[:12]}")
    found, place = History(ATTRIBUTES, [], []), {}
    for row in runs:
        place[row["run_id"]] = len(found.runs)
        # Of a build that nobody named: hash of the program + hash of the runner.
        program, plus, runner = (row["build"] or "").partition("+")
        found.runs.append(Run(row["began"][:19] + "Z", [
            " ".join(programs[row["run_id"]]), f"sha256:{runner}" if plus else program, row["executorch"] or "",
            row["tool_version"] or "", row["cpu"] or ""]))
    by_name: dict[str, Series] = {}
    for point in points:
        for end, value in _figures(point):
            said = "_said" if (point["level"] or "").startswith(SAID) else ""  # no mask set it: another series
            over = f"_over_{point['baseline']}" if end == "_speedup" else ""  # ratios of others are another series
            name = f"{point['model']}_{point['experiment']}{said}_t{point['threads']}{over}{end}"
            run = place[point["run_id"]]
            if value is None:
                found.withheld.append(Withheld(run, name, point["withheld"]))
                continue
            if name not in by_name and len(by_name) == MOST_SERIES:
                raise BadInput(f"more than {MOST_SERIES} series: choose with --of")
            one = by_name.setdefault(name, Series(name, called(point, end), point["phase_name"] or "",
                                                  [None] * len(runs)))
            one.values[run] = value
    found.series = list(by_name.values())
    return found


def listed(sessions: list[dict[str, Any]], models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of etprof.sessions/1."""
    names: dict[str, list[str]] = defaultdict(list)
    for row in models:
        names[row["run_id"]] += [row["model"]] if row["model"] and row["model"] not in names[row["run_id"]] else []
    return [{"run_id": r["run_id"], "folder": r["folder"], "generated_at": r["began"][:19] + "Z",
             "models": ", ".join(names[r["run_id"]]) or None,
             **{k: r[k] for k in ("device", "cpu", "emulated", "arms", "blocks", "grade", "candidate")},
             **{k: None if r[k] is None else ratio(r[k]) for k in ("estimate", "lo", "hi")},
             "withheld": r["withheld"]} for r in sessions]


# ---- tables ----

def _cells(text: str) -> list[list[str]]:
    csv.field_size_limit(1 << 28)
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        for row in lines:
            if row and rows and len(row) != len(rows[0]):
                raise BadInput(f"line {lines.line_num}: {len(row)} cells, the header has {len(rows[0])}")
            if len(rows) > MOST_RUNS:
                raise BadInput(f"more than {MOST_RUNS} rows")
            rows += [row] if row else []
    except csv.Error as e:
        raise BadInput(f"line {lines.line_num}: {e}") from e
    return rows


def _numbers(cells: list[str]) -> list[float | None] | None:
    """None: not a column of numbers. One without a single number is an attribute that nobody filled in."""
    if not any(cells) or any(c and (len(c) >= 64 or not _NUMBER.fullmatch(c)) for c in cells):
        return None
    values = [float(c) if c else None for c in cells]
    return None if any(v is not None and abs(v) == float("inf") for v in values) else values


def of_table(text: str) -> History:
    """A table with a column `time` and a row a run, in the order of its rows: columns of numbers are series, others
    attributes."""
    rows = _cells(text)
    if len(rows) < 2:
        raise BadInput("a header with a column 'time' and rows below it were expected")
    header = rows[0]
    if "time" not in header:
        raise BadInput("no column 'time' in the header")
    if len(header) > MOST_SERIES:
        raise BadInput(f"{len(header)} columns, {MOST_SERIES} at most")
    for i, name in enumerate(header):
        if name in header[:i]:
            raise BadInput(f"two columns are called '{name}'")
    at = header.index("time")
    found = History([], [Run(row[at], []) for row in rows[1:]], [])
    for i, name in enumerate(header):
        cells = [row[i] for row in rows[1:]]
        values = _numbers(cells) if i != at else None
        if values is not None:
            found.series.append(Series(name, name, "", values))
        elif i != at:
            found.attributes.append(name)
            for run, cell in zip(found.runs, cells):
                run.attributes.append(cell)
    if not found.series:
        raise BadInput("no column of numbers beside 'time'")
    return found
