# SPDX-License-Identifier: Apache-2.0
"""etprof history, asked in a folder."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, in_python_with, skip

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())


def need_duckdb():
    in_python_with("duckdb")
    try:
        __import__("duckdb")
    except ImportError:
        skip("no Python package duckdb")


def history(folder, *words, **environment):
    own = {**os.environ, "ETPROF_PYTHON": sys.executable, **environment}
    return subprocess.run([ETPROF, "history", *map(str, words)], cwd=folder, capture_output=True, text=True,
                          timeout=600, check=False, env=own)


def document(folder, *words):
    done = history(folder, *words, "--format", "json")
    expect(done.returncode == 0, "history", words, f"exit {done.returncode}", done.stderr)
    nothing = {"series": [], "runs": [], "errors": [], "sessions": [], "left_out": None}
    return json.loads(done.stdout) if done.stdout.startswith("{") else nothing
