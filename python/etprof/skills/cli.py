# SPDX-License-Identifier: Apache-2.0
"""`etprof skills`: options, what is printed, exit codes."""
from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from etprof import restart
from etprof.errors import EtprofError, UsageError
from etprof.shown import safe
from etprof.skills import installing, reading, running
from etprof.skills.reading import Command, Skill
from etprof.whole import opened

DESCRIPTION = """\
Playbooks with gates. Without a name, the catalogue. NAME is a number, a name or a file's name; its Markdown is printed.
run executes the steps and gates of LIST (01-07, 03,05, setup-agent) in the working directory, the root of a clone, and
stops at the first that fails: exit code 1. install copies all of them where an agent looks for skills, a folder with
SKILL.md each.
"""
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see etprof skills --help")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    value = float(found[1]) * SECONDS[found[2]] if found else 0
    if value <= 0:
        raise UsageError(f"--timeout takes a time above 0 such as 90s, 2m or 1.5h, not '{text}'")
    return value


def _parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="etprof skills", usage="etprof skills [NAME | run LIST | install DIR]", description=DESCRIPTION,
                formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    p.add_argument("-s", "--set", metavar="NAME=VALUE", action="append", default=[],
                   help="a setting of the skills, e.g. model=my_net (repeatable)")
    p.add_argument("-n", "--dry-run", action="store_true",
                   help="with run: print the commands, filled in, and stop")
    p.add_argument("--timeout", metavar="TIME", default="1h",
                   help="with run: longest time for one command (default 1h)")
    p.add_argument("-f", "--format", metavar="FORMAT", choices=("text", "json"), default="text", help="text, json")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress, no hints")
    found = p.parse_intermixed_args(argv)
    verb, n = (found.words[0] if found.words else ""), len(found.words)
    found.verb = verb if verb in ("run", "install") else ""
    if found.verb and n != 2 or not found.verb and n > 1:
        raise UsageError({"run": "skills run needs a list: 01-07, 04, setup-agent",
                          "install": "skills install needs the folder where an agent looks for skills",
                          "": "skills takes one name, or 'run' and a list"}[found.verb])
    if found.verb != "run" and (found.dry_run or found.set):
        raise UsageError("--set and --dry-run belong to 'etprof skills run LIST'")
    found.timeout_s = _seconds(found.timeout)
    return found


def _settings(words: list[str]) -> dict[str, str]:
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes NAME=VALUE, not '{word}'")
        given[name] = value
    return given


def _command(command: Command) -> dict[str, object]:
    found: dict[str, object] = {"kind": "gate" if command.gate else "step", "line": command.line,
                                "command": command.shown, "ok": command.ok}
    ran = {"exit_code": command.exit_code, "wall_ns": command.wall_ns, "output": command.output}
    return found | {key: value for key, value in ran.items() if value is not None}


def document(skills: list[Skill], executed: bool, stopped_at: str | None) -> dict[str, object]:
    """etprof.skills/1 (schemas/skills.schema.json)."""
    return {"schema": "etprof.skills/1", "ok": stopped_at is None if executed else None, "stopped_at": stopped_at,
            "skills": [{"id": s.id, "folder": s.folder, "name": s.name, "description": s.description, "next": s.next,
                        "ok": s.ok, "commands": [_command(c) for c in s.commands]} for s in skills]}


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: tuple[int, ...] = ()) -> str:
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(row: tuple[str, ...]) -> str:
        cells = (c.rjust(widths[i]) if i in right else c.ljust(widths[i]) for i, c in enumerate(row))
        return "  ".join(cells).rstrip()

    return "\n".join([line(head), "─" * (sum(widths) + 2 * len(head) - 2), *map(line, rows)]) + "\n"


def _catalogue(skills: list[Skill]) -> str:
    rows = [(s.id, s.description.split(". ", 1)[0].removesuffix("."), str(s.minutes or "–")) for s in skills]
    return "Skills\n\n" + _table(("skill", "what it does", "minutes"), rows, (2,)) + \
        "\n`etprof skills NAME` prints one, `etprof skills run 01-07` executes them.\n"


def _executed(skills: list[Skill], stopped_at: str | None) -> str:
    commands = [(s, c) for s in skills for c in s.commands]
    rows = [(s.id, "gate" if c.gate else "step", {None: "–", True: "ok", False: "failed"}[c.ok],
             "–" if c.wall_ns is None else f"{c.wall_ns / 1e9:.1f} s", c.shown) for s, c in commands]
    text = "Skills, executed\n" + ("stopped at the first that failed" if stopped_at else
                                   "every command and gate succeeded") + "\n\n"
    text += _table(("skill", "kind", "result", "took", "command"), rows, (3,))
    for s, c in commands:
        if c.ok is False:
            text += f"\n{s.id} stopped at line {c.line}, exit code {c.exit_code}: {c.shown}\n{c.output}"
    return text


def _told(skill: Skill, command: Command) -> None:
    if command.ok is None:
        print(safe(f"{skill.id}  {'gate' if command.gate else 'step'}  {command.shown}"), file=sys.stderr, flush=True)
    elif not command.ok:
        print(f"{skill.id}  failed with exit code {command.exit_code}", file=sys.stderr, flush=True)


def _emit(text: str, file: str | None) -> None:
    if file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        with opened(file) as out:
            out.write(text.encode())


def _work(options: argparse.Namespace) -> int:
    if options.verb == "install":
        skills = reading.select(None, {})
        installing.install(skills, options.words[1])
        if not options.quiet:
            print(safe(f"{len(skills)} skills in {options.words[1]}"), file=sys.stderr)
        return 0
    given, stopped_at = _settings(options.set), None
    skills = reading.select(options.words[-1] if options.words else None, given)
    runs = options.verb == "run" and not options.dry_run
    if runs:
        platform = given.get("platform", reading.platform())  # also decides in which folder a run is looked for
        stopped_at = running.run(skills, restart.program(), platform, options.timeout_s,
                                 (lambda skill, command: None) if options.quiet else _told)
    if options.format == "json":
        text = json.dumps(document(skills, runs, stopped_at), indent=2, ensure_ascii=False) + "\n"
    elif options.dry_run:
        for command in (c for s in skills for c in s.commands):
            running.show_run(command, given.get("platform", reading.platform()))
        text = "".join(f"{c.shown}\n" for s in skills for c in s.commands)
    elif runs:
        text = _executed(skills, stopped_at)
    else:
        text = skills[0].text if options.words else _catalogue(skills)
    _emit(text, options.output)
    return 0 if stopped_at is None else 1  # no is an answer: the gate did what it is there for


class _Ended(BaseException):
    pass


def main(argv: list[str]) -> int:
    ended: list[int] = []

    def end(number: int, _: object) -> None:
        ended.append(number)
        raise _Ended

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    try:
        return _work(_parse(argv))
    except EtprofError as problem:
        print(safe(f"etprof skills: {problem}"), file=sys.stderr)
        return problem.exit_code
    except OSError as problem:
        print(safe(f"etprof skills: {problem.filename or 'standard output'}: {problem.strerror}"), file=sys.stderr)
        return 5
    except _Ended:
        return 128 + ended[0]
