# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp`: options, and the Python that has the SDK."""
from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
from typing import NoReturn

from etprof import bootstrap, restart
from etprof.errors import EnvironmentProblem, EtprofError, UsageError
from etprof.mcp.places import Places

DESCRIPTION = """\
A server of the Model Context Protocol for agents, over standard input and output, until the input ends. Nothing else is
listened to. Each tool is a verb of this program; run folders are resources, the playbooks prompts (docs/mcp.md).
"""
NEEDS = "mcp>=2.3,<3"
HAS_SDK = "import importlib.util as u, sys; sys.exit(not (u.find_spec('mcp') and u.find_spec('mcp_types')))"


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


def _in_python_with_sdk(argv: list[str]) -> None:
    """The SDK is there when this comes back."""
    if importlib.util.find_spec("mcp") and importlib.util.find_spec("mcp_types"):  # its second generation has both
        return
    folder = bootstrap.own_environment()
    own = str(bootstrap.venv_python(folder))
    if os.path.exists(own) and \
            subprocess.run([own, "-I", "-c", HAS_SDK], stdin=subprocess.DEVNULL, check=False).returncode == 0:
        os.execv(own, [own, "-I", os.path.join(restart.HERE, "start.py"), "mcp", *argv])
    # A system's own Python often refuses pip; our environment is looked into the next time.
    pip = f"{sys.executable} -m pip" if sys.prefix != sys.base_prefix else \
        f"{sys.executable} -m venv {shlex.quote(str(folder))} && {shlex.quote(own)} -m pip"
    raise EnvironmentProblem(f"the server needs the package mcp: {pip} install '{NEEDS}' "
                             "(or name another Python with ETPROF_PYTHON)")


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
        _in_python_with_sdk(argv)
        return _serve(options.root)
    except EtprofError as problem:
        print(f"etprof mcp: {problem}", file=sys.stderr)
        return problem.exit_code
