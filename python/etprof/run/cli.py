# SPDX-License-Identifier: Apache-2.0
"""`etprof run`: what was typed, then `etprof ab` takes the place of this process. src/cli/cmd_run.c has the help."""
from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import NoReturn

from etprof.errors import EnvironmentProblem, EtprofError, UsageError
from etprof.run import config, experiments, new
from etprof.shown import printable
from etprof.verbs import program

_FLAGS = ("analysis-only", "trace", "plain", "full", "price", "quiet")
_TEXTS = ("init", "platform", "blocks", "precision", "budget", "device", "prepare", "runner", "kernels", "format",
          "output")
_SHOWING = ("full", "price", "format", "output", "quiet")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see etprof run --help")


def _parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="etprof run", allow_abbrev=False, usage="etprof run CONFIG.json [OPTION...]")
    p.add_argument("config", nargs="?")
    p.add_argument("--only", action="append", default=[])
    for name in _FLAGS:
        p.add_argument(f"--{name}", action="store_true")
    for name in _TEXTS:
        p.add_argument(f"--{name}")
    return p.parse_args(argv)


def _become(words: list[str], **environment: str) -> NoReturn:
    """Signals, the terminal and the exit code are then the program's own."""
    sys.stderr.flush()
    started = program()
    try:
        os.execve(started, ["etprof", *words], {**os.environ, **environment})
    except (OSError, ValueError) as e:
        raise EnvironmentProblem(f"cannot start {started}: {e}") from e


def _answer(argv: list[str]) -> None:
    asked = _parse(argv)
    typed = {key: value for key, value in vars(asked).items() if value}

    def say(topic: str, text: str) -> None:
        if not asked.quiet:
            print(printable(f"{topic:<10} {text}"), file=sys.stderr)

    if asked.init:
        # The path alone on standard output: `etprof run $(etprof run --init MODEL.pte)` works.
        print(new.write(asked.init, asked.platform, asked.config or asked.output, asked.trace))
        return
    if asked.trace:
        raise UsageError("--trace goes with --init; in a config it is the mode xnntrace of an experiment")
    if not asked.config:
        raise UsageError("give a config; 'etprof run --init MODEL.pte' writes one")
    chosen = experiments.Experiments(config.load(asked.config), asked.only, say)
    if asked.analysis_only:
        # It may have been measured for another pair.
        folder, baseline = chosen.folder(), chosen.baseline()
        words = [f"--{key}" if typed[key] is True else f"--{key}={typed[key]}" for key in _SHOWING if key in typed]
        _become(["analyze", "--renew", *words, *([f"--baseline={baseline}"] if baseline else []), "--", folder],
                ETPROF_NEWEST="1")
    options = {key: value for key, value in typed.items() if key not in ("config", "only", "platform")}
    line = shlex.join(["etprof", "run", *(word for word in argv if word not in ("--", "--format=text"))])
    _become(["ab", *chosen.session(options)], ETPROF_CONFIG=asked.config, ETPROF_COMMAND=line)


def main(argv: list[str]) -> int:
    try:
        _answer(argv)
        return 0
    except EtprofError as problem:
        print(printable(f"etprof run: {problem}"), file=sys.stderr)
        return problem.exit_code
