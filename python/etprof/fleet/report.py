# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet.report LAKE: what all devices and nights say, in the terminal, as a page or as JSON."""
from __future__ import annotations

import argparse
import datetime
import json
import math
import sys
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet import page as pages
from etprof.fleet import questions
from etprof.fleet.page import percent
from etprof.fleet.sources import is_lake, local
from etprof.shown import printable, safe
from etprof.whole import opened

# Of each part: its key, its heading, what is said of none, and its columns with how they are shown.
SLOWER = (("series", ""), ("slower", "%"), ("ends", ""), ("since", ""), ("first_bad_build", ""),
          ("last_good_build", ""), ("devices", "n"), ("alone", ""))
PARTS: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("slower_last_night", "Slower last night", "none", SLOWER),
    ("regressions", "Slower for three nights or more", "no step up above the noise", SLOWER),
    ("on_some_devices", "Slower on some devices alone", "none",
     (("series", ""), ("slower", "%"), ("since", ""), ("first_bad_build", ""), ("last_good_build", ""), ("alone", ""))),
    ("whole_devices", "Devices that became slower with all models", "none, or fewer than eight models on them",
     (("device", ""), ("slower", "%"), ("since", ""))),
    ("engagement_fell", "Models whose engagement fell", "none",
     (("model", ""), ("device", ""), ("level", ""), ("operators_before", "%"), ("operators_after", "%"),
      ("before", "%"), ("after", "%"), ("since", ""), ("first_bad_build", ""))),
    ("devices_apart", "Devices apart from the others", "none, or fewer than four that tell",
     (("device", ""), ("apart", ""), ("usual_c", "1"), ("throttled", "%"), ("lowest_clock_cap", "%"),
      ("night_to_night", "%"), ("lost", "n"))),
    ("speedups", "Speedup by feature and device (geometric mean, random effects over sessions)", "no comparison holds",
     (("feature", ""), ("against", ""), ("device", ""), ("speedup", "x"), ("lo", "x"), ("hi", "x"), ("sessions", "n"),
      ("models", "n"))),
    ("fixes", "Fixes worth most", "no fix with a gain",
     (("kind", ""), ("gain_ns", "ms"), ("gain_lo_ns", "ms"), ("gain_hi_ns", "ms"), ("models", "n"), ("devices", "n"),
      ("example", ""))),
    ("slowest_operators", "Where time goes over all models", "no operators",
     (("operator", ""), ("category", ""), ("ns", "ms"), ("longest_ns", "ms"), ("models", "n"))),
    ("errors", "What could not be read", "everything was read",
     (("sources", "n"), ("kind", ""), ("status", ""), ("device", ""), ("example", ""), ("run", "path"))))
HEADINGS = {"ends": "95 %", "lo": "from", "hi": "to", "series": "model", "alone": "shows alone on",
            "usual_c": "usual °C"}
LONG = ("example", "operator") # columns whose cells may break
NAMED = 3 # devices that are named; of more, their number


def many(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def series_of(row: dict[str, Any]) -> str:
    """A model, and what else tells its series from others of it."""
    words = [row["model"] or "?"]
    words += [row["experiment"]] if row["experiment"] and row["experiment"] != row["model"] else []
    words += [row["phase"]] if row["phase"] else []
    words += [many(row["threads"], "thread")] if row["threads"] else []
    return ", ".join([*words, *(["recording on"] if row["how"] == "traced" else [])])


def devices_of(on: list[dict[str, Any]], devices: int) -> str:
    """Those which are slower by themselves, or how many."""
    return ", ".join(r["device"] for r in on) or "none" if len(on) <= NAMED else f"{len(on)} of {devices}"


def ready(found: dict[str, Any]) -> dict[str, Any]:
    """FOUND as people read it: names of series, intervals as one cell, alike falls of several devices as one row."""
    parts = {**found, "slower_last_night": found["last_night"]["slower"]}
    for key in ("slower_last_night", "regressions", "on_some_devices"):
        parts[key] = [{**r, "series": series_of(r), "alone": devices_of(r["on"], r["devices"]),
                       "ends": f"{100 * r['lo']:.1f} to {percent(r['hi'])}" if "lo" in r else ""} for r in parts[key]]
    falls: dict[tuple[Any, ...], list[str]] = {}
    for row in found["engagement_fell"]:
        falls.setdefault(tuple((k, v) for k, v in row.items() if k != "device"), []).append(row["device"])
    parts["engagement_fell"] = [
        {**dict(key), "device": ", ".join(names) if len(names) <= NAMED else f"{len(names)} devices"}
        for key, names in falls.items()]
    return parts


def one_line(row: dict[str, Any]) -> str:
    """Of all devices together, and on which it is seen by itself; or of those alone."""
    on, more = row["on"], ""
    if len(on) > NAMED:
        more = f"; most on {on[0]['device']}, {percent(on[0]['slower'])}"
    where = row["alone"] + more
    if row["ends"]:
        where = f"{row['devices']} devices together (shows alone on {where})"
    return (f"{row['series']}: {percent(row['slower'])} slower" + (f" ({row['ends']})" if row["ends"] else "") +
            f" since build {row['first_bad_build'] or 'unknown'} of {row['since']}, on {where}")


def of_last_night(night: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[str, str, list[str]]:
    if not night["judged"]:
        words = "Last night cannot be judged: it takes five nights before it, and times with a day and a device."
        return "info", words, []
    builds = [b for b in night["builds"] if b]
    which = str(night["day"])
    if builds:
        which += f", build {', '.join(builds[:NAMED])}" + (", …" if builds[NAMED:] else "")
    n = len(rows) or "none"
    told = f"Last night ({which}): {n} of {night['judged']} series (a model, its arm, threads) slower."
    if not rows:
        return "good", f"{told} Half of them would have shown a change of {percent(night['least'])} or more.", []
    return "bad", told, [one_line(r) for r in rows]


def answer(found: dict[str, Any], parts: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """Did the last night's build make it slower, on which device, since which build: sentences, each with how bad that
    is and what belongs to it."""
    night, whole = found["last_night"], parts["whole_devices"]
    told = [of_last_night(night, parts["slower_last_night"])]
    for key, words in (("regressions", "slower for three nights or more"),
                       ("on_some_devices", "slower on some devices alone")):
        if parts[key]:
            begun = f", begun on {found['since']} or later" if found["since"] else ""
            told.append(("bad", f"{len(parts[key])} {words}{begun}.", [one_line(r) for r in parts[key]]))
    if whole:
        told.append(("warn", f"{many(len(whole), 'device')} became slower with all models: not caused by a build.",
                     [f"{r['device']}: {percent(r['slower'])} since {r['since']}" for r in whole]))
    if night["silent"]:
        told.append(("warn", f"Nothing came last night from {', '.join(night['silent'])}.", []))
    if found["rows"]["errors"]:
        told.append(("warn", f"{many(found['rows']['errors'], 'source')} could not be read.", []))
    return told


SHORT = 5 # lines below a sentence of the answer


def shown(value: Any, how: str) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, list):
        return ", ".join(value)
    if how == "%":
        return percent(value)
    if how == "x":
        return f"{value:.2f}×"
    if how == "ms":
        return f"{int(value) / 1e6:,.3f}"
    if how == "1":
        return f"{value:.1f}"
    return f"{int(value):,}" if how == "n" else printable(str(value))


def cell(value: Any, how: str) -> str:
    """What fits: of a path its end."""
    whole = shown(value, how)
    return "…" + whole[-59:] if how == "path" and len(whole) > 60 else whole if how == "path" else whole[:48]


def is_word(how: str) -> bool:
    return how in ("", "path")


def heading(column: str, how: str) -> str:
    if how == "ms":
        return f"{column[:-2].rstrip('_').replace('_', ' ')} ms".lstrip()
    return HEADINGS.get(column, column.replace("_", " "))


def counts(found: dict[str, Any]) -> str:
    return ", ".join(f"{n:,} {table}" for table, n in found["rows"].items())


def aligned(rows: list[list[str]], words: list[bool]) -> list[str]:
    """ROWS below each other: WORDS says which columns begin at the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(told.ljust(w) if word else told.rjust(w) for told, w, word in zip(row, widths, words)).rstrip()
            for row in rows]


def text(found: dict[str, Any], most: int) -> str:
    parts, lines = ready(found), []
    for _, sentence, below in answer(found, parts):
        lines += [printable(sentence), *(f"  {printable(line)}" for line in below[:SHORT])]
        lines += [f"  and {len(below) - SHORT:,} more, below"] if len(below) > SHORT else []
    for key, title, none, columns in PARTS:
        rows = parts[key]
        lines += ["", title]
        if not rows:
            lines.append(f"  {none}")
            continue
        cells = [[heading(*c) for c in columns]]
        cells += [[cell(row[name], how) for name, how in columns] for row in rows[:most]]
        lines += [f"  {line}" for line in aligned(cells, [is_word(how) for _, how in columns])]
        if len(rows) > most:
            lines.append(f"  and {len(rows) - most:,} more (--most, --format json)")
    return "\n".join([*lines, "", counts(found)]) + "\n"


def page(found: dict[str, Any], most: int) -> str:
    """Tables that have rows, in the order of PARTS; those without are told in one list."""
    parts = ready(found)
    told = [pages.Sentence(kind, printable(words), [printable(line) for line in below[:SHORT]],
                           max(len(below) - SHORT, 0)) for kind, words, below in answer(found, parts)]
    sections, empty = [], []
    for key, title, none, columns in PARTS:
        rows = parts[key][:most]
        if not rows:
            empty.append((title, none))
            continue
        kinds = ["n" if not is_word(how) else "w" if how or name in LONG else "" for name, how in columns]
        sections.append(pages.Section(
            key, title, [(heading(*c), kind) for c, kind in zip(columns, kinds)],
            [[shown(row[name], how) for name, how in columns] for row in rows],
            [nights(row) for row in rows if "nights" in row], left(len(parts[key]) - len(rows))))
    return pages.write("Fleet", counts(found), told, sections, empty)


def nights(row: dict[str, Any]) -> str:
    """The nights of a series, a line where it became slower."""
    days, values = [n["day"] for n in row["nights"]], [n["ratio"] for n in row["nights"]]
    return pages.picture(values, days.index(row["since"]), f"nights {days[0]} to {days[-1]}, "
                         f"{percent(min(values) - 1)} to {percent(max(values) - 1)} against before")


def left(rows: int) -> str:
    return f"and {rows:,} more (--most, --format json)" if rows else ""


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
    if not is_lake(root):
        raise errors.EnvironmentProblem(
            f"{root} is not a lake: make it with python -m etprof.fleet SOURCE --out {lake}")
    if engine == "spark":
        from etprof.fleet import spark

        session = spark.session("local[*]")
        try:
            spark.views(session, root)
            return questions.everything(lambda q: [row.asDict() for row in session.sql(q).collect()], since)
        finally:
            session.stop()
    from etprof.fleet import duck

    with duck.asking(root) as connection:
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
        print(safe(f"etprof fleet: {problem}"), file=sys.stderr)
        return problem.exit_code
    written = {"text": lambda: text(found, asked.most), "html": lambda: page(found, asked.most),
               "json": lambda: json.dumps(plain(found), indent=1, allow_nan=False) + "\n"}[asked.format]()
    if not asked.output:
        sys.stdout.write(written)
        return 0
    try:
        with opened(asked.output) as file:
            file.write(written.encode())
    except OSError as problem:
        print(f"etprof fleet: cannot write {asked.output}: {problem.strerror}", file=sys.stderr)
        return errors.EnvironmentProblem.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
