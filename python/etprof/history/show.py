# SPDX-License-Identifier: Apache-2.0
"""A history, and a list of sessions, in the forms that are asked for."""
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from etprof.fleet.report import aligned, many
from etprof.history import words
from etprof.history.series import FEWEST, Change, History, Series
from etprof.shown import printable

Rows = list[dict[str, Any]]
_COLORS = {"good": "32", "bad": "31", "warn": "33"}


@dataclass
class Table:
    key: str
    title: str
    columns: list[tuple[str, bool]] # heading, and whether it is words
    rows: list[list[str]]


def _changes(h: History) -> Table:
    rows = [[words.moment(h.runs[c.run].time), printable(one.called), words.figure(one, c.before),
             words.figure(one, c.after), words.signed(words.relative(c)), f"{c.p:.2g}", printable(c.also)]
            for one, c in words.changes_of(h)]
    return Table("changes", "Changes", [("from", True), ("series", True), ("before", False), ("after", False),
                                        ("change", False), ("p", False), ("what else changed there", True)], rows)


def _series(h: History, drawn: bool) -> Table:
    rows = []
    for one in h.series:
        known = [v for _, v in one.known()]
        last = known[-1] / known[0] - 1 if known[0] else None
        rows.append([printable(one.called), str(len(known)), words.figure(one, known[0]), words.figure(one, known[-1]),
                     words.signed(last), str(len(one.changes)), *([words.ladder(one)] if drawn else [])])
    columns = [("series", True), ("runs", False), ("first", False), ("last", False), ("last against first", False),
               ("changes", False)]
    return Table("series", "Series", columns + ([("over the runs", True)] if drawn else []), rows)


def _errors(h: History) -> Table:
    rows = [[printable(e["run"]), printable(e["message"]), "" if e["at_byte"] is None else str(e["at_byte"])]
            for e in h.errors]
    return Table("errors", "What could not be read", [("folder", True), ("why", True), ("byte", False)], rows)


def _sessions(rows: Rows, unknown: str) -> Table:
    def three(v: float | None) -> str:
        return unknown if v is None else f"{v:.3f}"

    cells = [[words.moment(r["generated_at"]), *(printable(r[k] or unknown) for k in ("models", "device", "cpu")),
              str(r["arms"]), printable(r["candidate"] or unknown), *(three(r[k]) for k in ("estimate", "lo", "hi")),
              printable(r["folder"])] for r in rows]
    return Table("sessions", "Sessions", [("began", True), ("model", True), ("device", True), ("processor", True),
                                          ("arms", False), ("arm", True), ("speedup", False), ("from", False),
                                          ("to", False), ("run folder", True)], cells)


def _card(h: History, one: Series, c: Change) -> tuple[str, str, str, str]:
    """How bad it is, by how much, of what, its figures."""
    figures = f"{words.figure(one, c.after)}, {words.figure(one, c.before)} before"
    figures += f" · changed there too: {c.also}" if c.also else ""
    return (words.judgement(one, c), words.by_how_much(c),
            printable(f"{one.called} since {words.moment(h.runs[c.run].time)}"), printable(figures))


def _cards(h: History) -> list[tuple[str, str, str, str]]:
    cards = [_card(h, one, c) for one, c in words.newest(h)[:words.CARDS]]
    return cards or [("info", words.nothing(h),
                      f"in {len(h.series)} series over {many(len(h.runs), 'run')}", "")]


def _facts(h: History) -> list[str]:
    told = [f"changes {words.looked_for(h)}"]
    if len(h.runs) < FEWEST:
        told.append("a change needs three runs on either side: with fewer than six none is found")
    if words.not_given(h):
        told.append(words.not_given(h))
    if h.errors:
        told.append(f"{many(len(h.errors), 'folder')} could not be read: the table below says why")
    return told


def _tables(h: History, drawn: bool = False) -> list[Table]:
    return [t for t in (_changes(h), _series(h, drawn), _errors(h)) if t.rows]


def _plain(title: str, subtitle: str, head: list[str], tables: list[Table]) -> str:
    lines = [title, subtitle, *([""] if head else []), *head]
    for t in tables:
        lines += ["", t.title, *(f"  {line}" for line in
                                 aligned([[name for name, _ in t.columns], *t.rows], [word for _, word in t.columns]))]
    return "\n".join(lines) + "\n"


def _markdown(title: str, subtitle: str, head: list[str], tables: list[Table]) -> str:
    def row(cells: list[str]) -> str:
        return "| " + " | ".join(_escaped(c) for c in cells) + " |"

    lines = [f"# {title}", "", subtitle, "", *(x for line in head for x in (_escaped(line), ""))]
    for t in tables:
        lines += [f"## {t.title}", "", row([name for name, _ in t.columns]),
                  "|" + "|".join("---" if word else "---:" for _, word in t.columns) + "|", *map(row, t.rows), ""]
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    for mark in "\\|`*_<>[]":
        cell = cell.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return cell


def _head(h: History, mark: Callable[[str, str], str]) -> list[str]:
    lines: list[str] = []
    for kind, by, what, figures in _cards(h):
        lines += [f"{mark(kind, by)}  {what}", *([figures] if figures else []), ""]
    return [*lines, *_facts(h)]


def _unmarked(_: str, text: str) -> str:
    return text


def _colored(kind: str, text: str) -> str:
    return f"\033[{_COLORS[kind]}m{text}\033[0m" if kind in _COLORS else text


def history(h: History, form: str, color: bool) -> str:
    if form == "json":
        return dumped(words.document(h))
    if form == "csv":
        return words.columns(h)
    if form == "md":
        return _markdown("history", words.over(h), _head(h, _unmarked), _tables(h))
    return _plain("history", words.over(h), _head(h, _colored if color else _unmarked), _tables(h, True))


def sessions(rows: Rows, form: str) -> str:
    if form == "json":
        return dumped({"schema": "etprof.sessions/1", "sessions": rows})
    t, none = _sessions(rows, "" if form == "csv" else "–"), [] if rows else ["No finished session is there."]
    tables = [t] if rows else []
    if form == "csv":
        return words.table([[name for name, _ in t.columns], *t.rows])
    write = _markdown if form == "md" else _plain
    return write("sessions", many(len(rows), "session"), none, tables)


def dumped(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
