# SPDX-License-Identifier: Apache-2.0
"""Packages that a verb needs beside Python: looked for in this Python, then in our own environment; else one line
for pip says how to get them."""
from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from etprof import bootstrap, restart
from etprof.errors import EnvironmentProblem

_HAS = "import importlib.util as u, sys; sys.exit(not all(u.find_spec(m) for m in sys.argv[1:]))"
# What pip is told, as in requirements/VERB.in.
NEEDS = {"fleet": ("duckdb>=1.4,<3", "pyarrow>=18"), "history": ("duckdb>=1.4,<3",), "mcp": ("mcp>=2.3,<3",),
         "parquet": ("pyarrow>=18",), "spark": ("pyspark>=4,<5", "pandas>=2.2", "pyarrow>=18"),
         "validate": ("jsonschema>=4.18,<5",)}


def missing(purpose: str, module: str) -> EnvironmentProblem:
    """That MODULE is not in this Python, which somebody chose, and the line for pip."""
    return EnvironmentProblem(f"{module} is missing: {sys.executable} -m pip install {shlex.join(NEEDS[purpose])}")


def need(verb: str, modules: Sequence[str], argv: list[str]) -> None:
    """MODULES are there when this comes back; where only our own environment has them VERB begins anew in it."""
    if all(importlib.util.find_spec(m) for m in modules):
        return
    folder = bootstrap.own_environment()
    own = str(bootstrap.venv_python(folder))
    if os.path.exists(own) and \
            subprocess.run([own, "-I", "-c", _HAS, *modules], stdin=subprocess.DEVNULL, check=False).returncode == 0:
        os.execv(own, [own, "-I", os.path.join(restart.HERE, "start.py"), verb, *argv])
    # A system's own Python often refuses pip; our environment is looked into the next time.
    pip = f"{sys.executable} -m pip" if sys.prefix != sys.base_prefix else \
        f"{sys.executable} -m venv {shlex.quote(str(folder))} && {shlex.quote(own)} -m pip"
    raise EnvironmentProblem(f"{verb} needs the Python package {modules[0]}: {pip} install {shlex.join(NEEDS[verb])} "
                             "(or name another Python with ETPROF_PYTHON)")
