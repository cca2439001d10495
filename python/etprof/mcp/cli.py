# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp`: options, and the Python that has the SDK."""
from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from etprof import extras, restart
from etprof.errors import EnvironmentProblem, EtprofError, UsageError
from etprof.mcp.places import Places
from etprof.shown import safe

DESCRIPTION = """\
A server of the Model Context Protocol for agents, over standard input and output, until the input ends. Nothing else is
listened to. Each tool is a verb of this program; run folders are resources, the playbooks prompts (docs/library.md).
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see etprof mcp --help")


def _parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="etprof mcp", description=DESCRIPTION, allow_abbrev=False,
                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--root", metavar="FOLDER", action="append", default=[],
                   help="files must lie in it (repeatable; default: the working directory)")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress, no hints")
    return p.parse_args(argv)


def _nobody_reads(problem: BaseException) -> bool:
    return isinstance(problem, BrokenPipeError) or any(map(_nobody_reads, getattr(problem, "exceptions", ())))


def _serve(roots: list[str]) -> int:
    import anyio

    from etprof.mcp.server import serve

    for root in roots:
        if not os.path.isdir(root):
            raise UsageError(f"--root {root}: no such folder")
    try:
        # Fixed at the start: paths of calls are relative to where the server was started.
        anyio.run(serve, restart.program(), Places(roots, os.getcwd()))
    except Exception as problem:
        if _nobody_reads(problem):
            raise EnvironmentProblem("writing standard output: the client no longer reads") from None
        raise
    return 0


def main(argv: list[str]) -> int:
    try:
        options = _parse(argv)
        extras.need("mcp", ("mcp", "mcp_types"), argv)  # its second generation has both
        return _serve(options.root)
    except EtprofError as problem:
        print(safe(f"etprof mcp: {problem}"), file=sys.stderr)
        return problem.exit_code
