# SPDX-License-Identifier: Apache-2.0
"""What an engine of etprof.fleet needs here; without it the test is skipped, and says what is missing."""
import importlib.util
import os
import pathlib
import shutil

from checks import in_python_with, skip

# What tests/fleet/run has installed, whole.
CACHE = pathlib.Path(os.environ.get("ETPROF_CACHE") or pathlib.Path(__file__).resolve().parents[2] / ".cache") / "fleet"


def need(engine):
    """In a Python that has the engine's modules; comes back only with all of them, and with Java where it is wanted."""
    wanted = {"duckdb": ("duckdb", "pyarrow"), "spark": ("duckdb", "pyarrow", "pandas", "pyspark")}[engine]
    if engine == "spark" and (CACHE / "installed.txt").is_file() and not importlib.util.find_spec("pyspark"):
        os.environ["ETPROF_TESTS_PYTHON"] = str(CACHE / "bin/python")
    in_python_with(*wanted)
    try:
        for module in wanted:
            __import__(module)
    except ImportError as e:
        skip(f"{e.name} is not here; install it, and ETPROF_TESTS_PYTHON=that python "
             "(scripts/check brings it where Java is)")
    if engine == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        skip("no java here: apt-get install default-jre-headless")
