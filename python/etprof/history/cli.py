# SPDX-License-Identifier: Apache-2.0
"""`etprof history`: options, where sessions come from, exit codes."""
from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

from etprof import extras
from etprof.errors import BadInput, EnvironmentProblem, EtprofError, UsageError
from etprof.fleet.sources import is_lake
from etprof.history import engine, series, show, words
from etprof.history.series import History
from etprof.whole import opened

DESCRIPTION = """\
Tells where latency of an arm or speedup over the baseline changed from session to session (E-divisive, p at most 0.001,
three runs on either side) and what else changed there: program, runner, ExecuTorch, etprof, CPU. Reads run folders and
folders that have some in them (the working directory where none is named), a lake of python -m etprof.fleet, or a
table: --format csv writes one row a run with a column per series, and any such table that has a column 'time' is read.
`list` shows which sessions there are. docs/fleet.md has more.
"""
_TABLE_BYTES = 256 << 20
_SHOWN = 5 # folders that could not be read


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see etprof history --help")


def _share(text: str) -> float:
    try:
        found = float(text.removesuffix("%").strip()) / 100
    except ValueError:
        found = -1.0
    if not 0 < found < 1000:
        raise argparse.ArgumentTypeError(f"expected a share above 0, like 2%, found '{text}'")
    return found


def _date(text: str) -> str:
    if not re.fullmatch(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])(T[\d:]*Z?)?)?)?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"expected a date like 2026-03 or 2026-03-01, found '{text}'")
    return text


def _parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="etprof history", description=DESCRIPTION, allow_abbrev=False,
                usage="etprof history [list] [FOLDER... | LAKE | FILE.csv] [OPTION...]",
                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("places", metavar="FOLDER", nargs="*", help=argparse.SUPPRESS)
    p.add_argument("--min-change", metavar="PERCENT", type=_share, default=series.MIN_CHANGE,
                   help="ignore smaller changes (default 2%%)")
    p.add_argument("--of", metavar="MODEL", help="only sessions of this model")
    p.add_argument("--on", metavar="DEVICE", help="only sessions on this device, by address or processor")
    p.add_argument("--since", metavar="DATE", type=_date, help="only sessions since then, e.g. 2026-03 or 2026-03-01")
    p.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb",
                   help="engine that reads a lake (default: duckdb)")
    p.add_argument("-f", "--format", choices=("text", "json", "csv", "md"), default="text")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress, no hints")
    return p.parse_intermixed_args(argv)


def _of_file(path: str, asked: argparse.Namespace) -> History:
    if asked.of or asked.on or asked.since:
        raise UsageError("--of, --on and --since choose sessions; a table is read whole")
    try:
        if os.path.getsize(path) > _TABLE_BYTES:
            raise BadInput(f"{path} has more than {_TABLE_BYTES} bytes")
        text = Path(path).read_bytes().decode("utf-8-sig", "replace")
    except OSError as e:
        raise EnvironmentProblem(f"cannot open {path}: {e.strerror}") from e
    try:
        return series.of_table(text)
    except BadInput as e:
        raise BadInput(f"{path}: {e}") from e


def _opened(asked: argparse.Namespace, argv: list[str]) -> engine.Source:
    places = asked.places or ["."]
    lakes = [place for place in places if is_lake(place)]
    if lakes and len(places) > 1:
        raise UsageError(f"{lakes[0]} is a lake: it is read alone")
    if asked.engine == "spark" and not lakes:
        raise UsageError("--engine spark asks a lake; python -m etprof.fleet FOLDER --out LAKE makes one")
    if lakes:
        return (engine.SparkLake if asked.engine == "spark" else engine.DuckLake)(Path(lakes[0]).absolute())
    extras.need("history", ("duckdb", ), argv)
    return engine.Folders(places)


def _say(source: engine.Source, left_out: int, unread: engine.Rows, asked: argparse.Namespace) -> None:
    said = []
    if left_out:
        said.append(f"left out   {left_out} sessions: unfinished, emulated or without timed launches")
    if source.copies:
        said.append(f"copies     {source.copies} folders hold sessions that others here hold too")
    if source.anew:
        said.append(f"analysed   {source.anew} folders without a report.json of this version; 'etprof analyze FOLDER' "
                    "writes it")
    if not asked.quiet and said:
        print(*said, sep="\n", file=sys.stderr)
    for row in unread[:_SHOWN]:
        print(show.printable(f"not read   {row['run']}: {row['message']}"), file=sys.stderr)
    if len(unread) > _SHOWN:
        print(f"           and {len(unread) - _SHOWN} more", file=sys.stderr)


def _answer(asked: argparse.Namespace, argv: list[str]) -> str:
    listing = bool(asked.places) and asked.places[0] == "list" # a folder of that name is ./list
    asked.places = asked.places[listing:]
    forced = os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    color = not asked.output and not os.environ.get("NO_COLOR") and (forced or sys.stdout.isatty())
    if len(asked.places) == 1 and not os.path.isdir(asked.places[0]) and not listing:
        found = _of_file(asked.places[0], asked)
    else:
        source = _opened(asked, argv)
        try:
            bound = {"model": asked.of, "device": asked.on, "since": asked.since}
            left_out, unread = int(source.ask("left_out", {})[0]["n"]), source.errors()
            if listing:
                _say(source, 0, unread, asked)
                rows = series.listed(source.ask("list", bound), source.ask("models", bound))
                if not rows and unread:
                    raise BadInput("none of the run folders could be read")
                return show.sessions(rows, asked.format)
            _say(source, left_out, unread, asked)
            runs = source.ask("runs", bound)
            if not runs and unread and not left_out:
                raise BadInput("none of the run folders could be read")
            if not runs:
                raise BadInput("no finished session that was measured on a real device" +
                               ("" if not any(bound.values()) else " fits --of, --on and --since") +
                               "; unfinished and emulated ones do not count")
            found = series.of_sessions(runs, source.ask("models", bound), source.ask("points", bound))
            found.errors, found.left_out = unread, left_out
            if found.withheld and asked.format == "csv" and not asked.quiet: # which has no line for it
                print(f"withheld   {words.not_given(found)}", file=sys.stderr)
        finally:
            source.close()
    found.min_change = asked.min_change
    found.find_changes()
    return show.history(found, asked.format, color)


def _write(text: str, path: str | None) -> None:
    try:
        if path:
            with opened(path) as file:
                file.write(text.encode())
        else:
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as e:
        raise EnvironmentProblem(f"writing {path or 'standard output'}: {e.strerror}") from e


def main(argv: list[str]) -> int:
    sys.stdout.reconfigure(encoding="utf-8", errors="replace") # type: ignore[union-attr]
    try:
        asked = _parse(argv)
        _write(_answer(asked, argv), asked.output)
        return 0
    except EtprofError as problem:
        print(show.printable(f"etprof history: {problem}"), file=sys.stderr)
        return problem.exit_code
