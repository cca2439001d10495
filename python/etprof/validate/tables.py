# SPDX-License-Identifier: Apache-2.0
"""The CSV files of a run folder: are all columns there, does every row have all its cells, is every number a number,
and do the cells of a row agree?"""
from __future__ import annotations

import csv
import functools
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from etprof.validate.notes import NAN, File, Notes

# A table of operators has some columns for each of a session's arms, of which there are at most 1,024.
MOST_COLUMNS = 16384
AGAIN = "make it again with 'etprof analyze --renew' or 'etprof analyze --out'"
EDITED = f"the file is not as it was written: {AGAIN}"
MOVED = f"columns were renamed, moved or lost: {EDITED}"
_REAL, _WHOLE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII), re.compile(r"-?\d{1,19}", re.ASCII)
# What columns hold that no table lists follows from their names: CONTRIBUTING asks for units in names.
_INTEGERS = ("_ns", "chain", "instruction", "parent", "threads", "calls", "event_block", "session_block", "occurrence")
_NUMBERS = ("_ms", "_us", "_pct", "speedup", "share")
_COMPARISON = ("category", "_ms", "_ms", "speedup", "_pct", "_pct")
PHASES = ("warmup", "timed", "traced", "sampled", "control")


class Problem(Exception):
    """What is wrong with a table: check, found, expected, what to do."""


@functools.cache
def _layouts() -> list[dict[str, Any]]:
    """Written from the program's own table (src/document/layouts.c) by tests/documents."""
    found: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
    return found


def real(cell: str) -> float:
    """NAN fails no comparison: a cell that is not a number is not judged."""
    value = float(cell) if len(cell) < 64 and _REAL.fullmatch(cell) else NAN
    return value if math.isfinite(value) else NAN


def _near(a: float, b: float, absolute: float) -> bool:
    """Rounding of decimal milliseconds, and of microseconds since a far origin."""
    return abs(a - b) <= absolute + 1e-9 * max(abs(a), abs(b))


class _Table:
    def __init__(self, layout: dict[str, Any], header: list[str]) -> None:
        self.layout, self.suffix, self.rows, self.execute_ns = layout, layout["suffix"], 0, list[int]()
        self.names, self.at = header, {name: i for i, name in enumerate(header)}
        self._check_header()
        known = {c["name"]: c for c in layout["columns"]}
        self.cells: list[tuple[int, str, bool, str]] = []
        for i, name in enumerate(header):
            kind = "integer" if name.endswith(_INTEGERS) else "number" if name.endswith(_NUMBERS) else "text"
            column = known.get(name, {"kind": kind, "may_be_empty": True})
            if column["kind"] != "text" or not column["may_be_empty"]:
                self.cells.append((i, column["kind"], column["may_be_empty"], name))

    def _check_header(self) -> None:
        """The first columns are the kit's, in its order; further ones may follow."""
        if len(self.names) > MOST_COLUMNS:
            raise Problem("csv.columns", f"{len(self.names)} columns", f"at most {MOST_COLUMNS} columns", MOVED)
        seen = set[str]()
        for name in self.names:
            if name in seen:
                raise Problem("csv.columns", f"column {name} twice", "every column once", MOVED)
            seen.add(name)
        required = [c["name"] for c in self.layout["columns"] if c["required"]]
        for i, name in enumerate(required):
            found = self.names[i] if i < len(self.names) else "missing"
            if found != name:
                raise Problem("csv.columns", f"column {i + 1} is {found}", ",".join(required), MOVED)
        for i, end in enumerate(_COMPARISON if self.suffix == "_comparison.csv" else ()):
            if i >= len(self.names) or not self.names[i].endswith(end):
                raise Problem("csv.columns", self.names[i] if i < len(self.names) else "fewer columns",
                              "category,<baseline>_ms,<candidate>_ms,speedup,<baseline>_pct,<candidate>_pct", MOVED)

    def check_row(self, line: int, row: list[str]) -> None:
        """Cells first, then what they say together: a cell that is not a number is told as such, not as a wrong sum."""
        def fail(name: str, column: str, expected: str, fix: str = EDITED) -> Problem:
            cell = row[self.at[column]] if column in self.at else ""
            return Problem(name, f"line {line}, column {column}: '{cell[:60]}'", expected, fix)

        if len(row) != len(self.names):
            raise Problem("csv.row", f"line {line} has {len(row)} cells", f"{len(self.names)} cells as in the header",
                          EDITED)
        for i, kind, may_be_empty, name in self.cells:
            if not row[i]:
                if not may_be_empty:
                    raise fail("csv.empty_cell", name, "a value")
            elif kind == "number" and math.isnan(real(row[i])):
                raise fail("csv.number", name, "a finite number")
            elif kind == "integer" and not (_WHOLE.fullmatch(row[i]) and -2**63 <= int(row[i]) < 2**63):
                raise fail("csv.integer", name, "a whole number")
        if self.suffix == "_timeline.csv":
            self._check_event(row, fail)
        elif self.suffix in ("_ops_stats.csv", "_e2e_latency.csv"):
            self._check_mean(row, fail)
        elif self.suffix == "samples.csv" and row[self.at["phase"]] not in PHASES:
            raise fail("samples.phase", "phase", ", ".join(PHASES[:-1]) + " or " + PHASES[-1],
                       "samples.csv is raw: restore it from a copy, or measure again")
        self.rows += 1

    def _number(self, row: list[str], name: str) -> float:
        return real(row[self.at[name]]) if name in self.at else NAN

    def _check_event(self, row: list[str], fail: Any) -> None:
        """Microseconds count from an origin that may be far away: the larger the start, the fewer digits are left."""
        ms, ns = self._number(row, "duration_ms"), self._number(row, "duration_ns")
        start, end = self._number(row, "start_us"), self._number(row, "end_us")
        if ms < 0:
            raise fail("timeline.negative", "duration_ms", "durations of 0 or more")
        if not _near(end - start, ms * 1000, 0.002 + 1e-6 * abs(start)):
            raise fail("timeline.end", "end_us", "end_us = start_us + duration")
        if not math.isnan(ns) and not _near(ns, ms * 1e6, 0.5):
            raise fail("timeline.units", "duration_ns", "duration_ns is duration_ms")
        # Run −1 is what belongs to no whole execution: loading, and executions that failed.
        if row[self.at["name"]] == "Method::execute" and self._number(row, "run_index") >= 0:
            self.execute_ns.append(int(ms * 1e6 + 0.5))

    def _check_mean(self, row: list[str], fail: Any) -> None:
        latency = self.suffix == "_e2e_latency.csv"
        count, total = self._number(row, "num_runs" if latency else "count"), self._number(row, "total_ms")
        low, mean, high = (self._number(row, name) for name in ("min_ms", "avg_ms", "max_ms"))
        if latency and (low > mean * (1 + 1e-6) or mean > high * (1 + 1e-6)):
            raise fail("e2e.order", "avg_ms", "min_ms <= avg_ms <= max_ms")
        # Both figures are rounded to decimals of a millisecond, so their quotient is off by that much.
        if count > 0 and not math.isnan(total) and not _near(total / count, mean, 2e-6 + 1e-6 * abs(mean)):
            raise fail("csv.mean", "avg_ms", "avg_ms = total_ms / count")


def rows_of(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row that is not empty. Written line by line, so a file that does not end with a line break
    was cut."""
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Problem("csv.utf8", f"byte {problem.start} is not UTF-8", "a table in UTF-8",
                      f"the file was saved in another encoding: {EDITED}") from None
    if source and not source.endswith("\n"):
        raise Problem("csv.cut", "none", "a line break at the end", f"the last line is cut off: {EDITED}")
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader((line + "\n" for line in source.removeprefix("\ufeff").split("\n")[:-1]), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error:
        raise Problem("csv.quotes", f"a quote from line {line} on is not closed, or text follows one",
                      "quotes that close", f"the file is cut off or was edited: {EDITED}") from None


def _read(layout: dict[str, Any], data: bytes) -> _Table:
    """The first problem ends the reading: a file that was cut or edited would give one for each row."""
    table = None
    for line, row in rows_of(data):
        if table is None:
            table = _Table(layout, row)
        else:
            table.check_row(line, row)
    if table is None or not (table.rows or layout["may_be_empty"]):
        raise Problem("csv.no_rows", "only a header" if table else "the file is empty", "a header and rows", EDITED)
    return table


def check(notes: Notes, file: File, data: bytes) -> None:
    """Layouts are told by the end of the name, as Arm's kit names its files; another table is somebody else's."""
    layout = next((each for each in _layouts() if file.name.endswith(each["suffix"])), None)
    if layout is None:
        return
    try:
        table = _read(layout, data)
    except Problem as problem:
        name, found, expected, fix = problem.args
        notes.add(file.name, name, False, found, expected, fix)
        return
    file.readable, file.execute_ns = True, table.execute_ns
    notes.add(file.name, "csv", True, f"{table.rows} rows", "columns and cells of its kind")
