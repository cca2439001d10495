# SPDX-License-Identifier: Apache-2.0
# Where this package stands, and starting one of its verbs anew in another Python.
# Readable by Pythons older than 3.10 too: start.py needs it before it refuses them.
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def clean_path(text: str) -> str:
    """A search path without its relative entries; the empty one is the working directory."""
    return os.pathsep.join(part for part in text.split(os.pathsep) if os.path.isabs(part))


def program() -> str:
    """The program that started this, by its path: another etprof of PATH is another version."""
    found = os.environ.get("ETPROF")
    if not found:
        import shutil

        found = shutil.which("etprof", path=clean_path(os.environ.get("PATH", "")))
    if not found:
        from etprof.errors import EnvironmentProblem

        raise EnvironmentProblem("no etprof in PATH; name it with ETPROF=PATH")
    return os.path.abspath(found)


def again(python, verb, argv):
    """Replaces this process by `VERB ARGV` in PYTHON. Set iteration order reaches the exported file,
    so it is fixed (same input, same bytes), which an isolated Python would not read."""
    environment = dict(os.environ, PYTHONHASHSEED="0")
    environment["PYTHONPATH"] = clean_path(environment.get("PYTHONPATH", ""))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(python, [python, os.path.join(HERE, "start.py"), verb] + list(argv), environment)
