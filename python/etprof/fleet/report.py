# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet.report LAKE: what all devices and nights say, in the terminal, as a page or as JSON."""
from __future__ import annotations

import argparse
import datetime
import html
import json
import math
import sys
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet import questions
from etprof.fleet.sources import local

# Of each part: its key, its heading, what is said of none, and its columns with how they are shown.
PARTS: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("regressions", "Slower since", "no step up is told from noise",
     (("model", ""), ("experiment", ""), ("slower", "%"), ("lo", "%"), ("hi", "%"), ("since", ""),
      ("first_bad_build", ""), ("last_good_build", ""), ("devices", "n"))),
    ("speedups", "Speedup by feature and device (geometric mean, random effects over sessions)", "no comparison holds",
     (("feature", ""), ("against", ""), ("device", ""), ("speedup", "x"), ("lo", "x"), ("hi", "x"), ("sessions", "n"),
      ("models", "n"))),
    ("engagement_fell", "Models whose engagement fell", "none",
     (("model", ""), ("device", ""), ("level", ""), ("operators_before", "%"), ("operators_after", "%"),
      ("before", "%"), ("after", "%"), ("since", ""), ("first_bad_build", ""))),
    ("slowest_operators", "Where time goes over all models", "no operators",
     (("operator", ""), ("category", ""), ("ns", "ms"), ("longest_ns", "ms"), ("models", "n"))),
    ("fixes", "Fixes worth most", "no fix has a gain",
     (("kind", ""), ("gain_ns", "ms"), ("gain_lo_ns", "ms"), ("gain_hi_ns", "ms"), ("models", "n"), ("devices", "n"),
      ("example", ""))),
    ("devices_apart", "Devices apart from the others", "none, or fewer than four that tell",
     (("device", ""), ("apart", ""), ("usual_c", "1"), ("throttled", "%"), ("lowest_clock_cap", "%"),
      ("night_to_night", "%"), ("lost", "n"))),
    ("errors", "What could not be read", "everything was read",
     (("sources", "n"), ("kind", ""), ("status", ""), ("device", ""), ("example", ""), ("run", "path"))))


def shown(value: Any, how: str) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, list):
        return ", ".join(value)
    if how == "%":
        return f"{100 * value:.2f} %"
    if how == "x":
        return f"{value:.3f}"
    if how == "ms":
        return f"{int(value) / 1e6:,.3f}"
    if how == "1":
        return f"{value:.1f}"
    # names come from files of others: no control reaches a terminal
    return f"{int(value):,}" if how == "n" else "".join(ch if ch.isprintable() else "?" for ch in str(value))


def cell(value: Any, how: str) -> str:
    """What fits: of a path its end."""
    whole = shown(value, how)
    return "…" + whole[-59:] if how == "path" and len(whole) > 60 else whole if how == "path" else whole[:48]


def is_word(how: str) -> bool:
    return how in ("", "path")


def heading(column: str, how: str) -> str:
    if how == "ms":
        return f"{column[:-2].rstrip('_').replace('_', ' ')} ms".lstrip()
    return column.replace("_", " ")


def text(found: dict[str, Any], most: int) -> str:
    lines = [", ".join(f"{n:,} {table}" for table, n in found["rows"].items()),
             f"{found['series']:,} series of a model over the nights"]
    for key, title, none, columns in PARTS:
        rows = found[key]
        lines += ["", f"{title} {found['since']}" if key == "regressions" and found["since"] else title]
        if not rows:
            lines.append(f"  {none}")
            continue
        cells = [[heading(*c) for c in columns]]
        cells += [[cell(row[name], how) for name, how in columns] for row in rows[:most]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        lines += ["  " + "  ".join(told.ljust(w) if is_word(how) else told.rjust(w)
                                   for told, w, (_, how) in zip(row, widths, columns)).rstrip() for row in cells]
        if len(rows) > most:
            lines.append(f"  and {len(rows) - most:,} more (--most, --format json)")
    return "\n".join(lines) + "\n"


STYLE = ("body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}"
         "table{border-collapse:collapse}td,th{padding:.15rem .7rem;border-bottom:1px solid #ccc;text-align:left;"
         "vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums}"
         "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}")


def page(found: dict[str, Any], most: int) -> str:
    out = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
           f"<title>Fleet</title><style>{STYLE}</style><h1>Fleet</h1>",
           f"<p>{html.escape(', '.join(f'{n:,} {t}' for t, n in found['rows'].items()))}</p>"]
    for key, title, none, columns in PARTS:
        rows = found[key]
        out.append(f"<h2 id={key}>{html.escape(title)}</h2>")
        if not rows:
            out.append(f"<p>{html.escape(none)}</p>")
            continue
        head = "".join(f"<th{'' if is_word(how) else ' class=n'}>{html.escape(heading(name, how))}"
                       for name, how in columns)
        body = "".join("<tr>" + "".join(f"<td{'' if is_word(how) else ' class=n'}>{html.escape(shown(row[name], how))}"
                                        for name, how in columns) for row in rows[:most])
        out.append(f"<table><tr>{head}{body}</table>")
        if len(rows) > most:
            out.append(f"<p>and {len(rows) - most:,} more</p>")
    return "\n".join(out) + "\n"


def plain(value: Any) -> Any:
    """VALUE as JSON has it: what is not known is null, a decimal a number."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else int(value)


def answers(lake: str, engine: str, since: str) -> dict[str, Any]:
    root = Path(local(lake)).absolute()
    if not (root / "_etprof/commits").is_dir():
        raise errors.EnvironmentProblem(f"{root} is no lake: make it with python -m etprof.fleet SOURCE --out {lake}")
    if engine == "spark":
        from etprof.fleet import spark

        session = spark.session("local[*]")
        try:
            spark.views(session, root)
            return questions.everything(lambda q: [row.asDict() for row in session.sql(q).collect()], since)
        finally:
            session.stop()
    from etprof.fleet import duck

    connection = duck.engine().connect()
    duck.views(connection, root)
    return questions.everything(lambda q: list(duck.rows(connection, q)), since)


def day(text: str) -> str:
    """Days are compared as text: another form of one would choose nothing, or everything."""
    try:
        if not text or datetime.datetime.strptime(text, "%Y-%m-%d").strftime("%Y-%m-%d") == text:
            return text
    except ValueError:
        pass
    raise errors.UsageError(f"--since {text}: a day is written as 2026-11-14")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m etprof.fleet.report", description="What all devices and nights "
                                     "of a lake say (docs/fleet.md).")
    parser.add_argument("lake", metavar="LAKE")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--since", metavar="DAY", default="",
                        help="regressions that began on this day (2026-11-14) or later")
    parser.add_argument("--format", choices=("text", "html", "json"), default="text")
    parser.add_argument("--most", metavar="N", type=int, default=20, help="rows of each part; default 20")
    parser.add_argument("-o", "--output", metavar="FILE")
    asked = parser.parse_args()
    try:
        found = answers(asked.lake, asked.engine, day(asked.since))
    except errors.EtprofError as problem:
        print(f"etprof fleet: {problem}", file=sys.stderr)
        return problem.exit_code
    written = {"text": lambda: text(found, asked.most), "html": lambda: page(found, asked.most),
               "json": lambda: json.dumps(plain(found), indent=1, allow_nan=False) + "\n"}[asked.format]()
    if not asked.output:
        sys.stdout.write(written)
        return 0
    try:
        Path(asked.output).write_text(written, encoding="utf-8")
    except OSError as problem:
        print(f"etprof fleet: cannot write {asked.output}: {problem.strerror}", file=sys.stderr)
        return errors.EnvironmentProblem.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
