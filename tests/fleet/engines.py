# SPDX-License-Identifier: Apache-2.0
"""What an engine of etprof.fleet needs here; without it the test is skipped, and says what is missing."""
import os
import shutil

from checks import in_python_with, skip


def need(engine):
    """In a Python that has the engine's modules; comes back only with all of them, and with Java where it is wanted."""
    wanted = {"duckdb": ("duckdb", "pyarrow"), "spark": ("duckdb", "pyarrow", "pandas", "pyspark")}[engine]
    in_python_with(*wanted)
    try:
        for module in wanted:
            __import__(module)
    except ImportError as e:
        skip(f"{e.name} is not here: pip install 'etprof[fleet]', and ETPROF_TESTS_PYTHON=that python "
             "(scripts/check --fleet brings it)")
    if engine == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        skip("no java here: apt-get install default-jre-headless")
