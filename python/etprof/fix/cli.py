# SPDX-License-Identifier: Apache-2.0
"""`etprof fix`: options, what is printed, exit codes. src/cli/cmd_fix.c has the help."""
from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any, NoReturn

from etprof.errors import EnvironmentProblem, EtprofError, UsageError
from etprof.fix import loop, words, work
from etprof.shown import printable
from etprof.verbs import program
from etprof.whole import opened

_MEASURING = ("blocks", "precision", "budget", "iterations", "device", "runner")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see etprof fix --help")


def _parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="etprof fix", allow_abbrev=False, usage="etprof fix FOLDER | MODEL.pte [N1 ...] [OPTION...]")
    p.add_argument("operand")
    p.add_argument("names", nargs="*")
    for name in ("all", "trust", "no-install"):
        p.add_argument(f"--{name}", action="store_true")
    for name in ("source", "out", "python", *_MEASURING):
        p.add_argument(f"--{name}")
    p.add_argument("-f", "--format", choices=("text", "json"), default="text")
    p.add_argument("-o", "--output")
    p.add_argument("-q", "--quiet", action="store_true")
    return p.parse_intermixed_args(argv)


def tools(quiet: bool, **options: Any) -> work.Tools:
    """How programs are made and measured: the options of `etprof export` and `etprof ab` that are given on."""
    exporting = [f"--python={options['python']}"] if options.get("python") else []
    exporting += ["--no-install"] if options.get("no_install") else []
    measuring = [f"--{name}={options[name]}" for name in _MEASURING if options.get(name)]
    return work.Tools(program(), exporting, measuring, quiet)


def _stop(number: int, _frame: Any) -> NoReturn:
    raise work.Stopped(number)


def _answer(argv: list[str]) -> int:
    asked = _parse(argv)
    given = vars(asked)
    how = tools(given.pop("quiet"), **given)
    document = loop.fix(loop.Asked(asked.operand, asked.names, asked.all, asked.source, asked.out, asked.trust), how)
    text = words.render(document)
    if asked.format == "json":
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        with opened(asked.output) as file:
            file.write(text.encode())
    except OSError as e:
        raise EnvironmentProblem(f"writing {asked.output or 'standard output'}: {e.strerror}") from e
    return loop.exit_code(document)


def main(argv: list[str]) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    try:
        return _answer(argv)
    except EtprofError as problem:
        print(printable(f"etprof fix: {problem}"), file=sys.stderr)
        return problem.exit_code
    except work.Stopped as stop:
        print(f"etprof fix: stopped by {signal.Signals(stop.number).name}; the same command goes on", file=sys.stderr)
        return 128 + stop.number
