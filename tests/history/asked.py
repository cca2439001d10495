# SPDX-License-Identifier: Apache-2.0
"""etprof history, asked in a folder."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, in_python_with, skip

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())


def need_duckdb():
    in_python_with("duckdb")
    try:
        __import__("duckdb")
    except ImportError:
        skip("no Python package duckdb")


def history(folder, *words, **environment):
    own = {**os.environ, "ETPROF_PYTHON": sys.executable, **environment}
    return execute(ETPROF, "history", *words, cwd=folder, env=own)


def document(folder, *words):
    done = ended(history(folder, *words, "--format", "json"), 0)
    nothing = {"series": [], "runs": [], "errors": [], "sessions": [], "left_out": None}
    return json.loads(done.stdout) if done.stdout.startswith("{") else nothing
