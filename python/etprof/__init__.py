# SPDX-License-Identifier: Apache-2.0
"""etprof: measure, compare and explain ExecuTorch models. What is here asks the C library (docs/library.md); the
exporter is etprof.export. Importing this needs no other package and loads nothing.

>>> import etprof
>>> run = etprof.ab("x.pte")                       # measures; etprof.open("out_x/runs/linux") opens it later
>>> run.comparisons[0].speedup, run.comparisons[0].verdict
>>> run.operators.to_pandas()
"""
# Readable by Pythons older than 3.10 too: start.py needs it before it refuses them.

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from etprof.fixes import Fix as Fix
    from etprof.fixes import Fixed as Fixed
    from etprof.inspector import Inspector as Inspector
    from etprof.measuring import Progress as Progress
    from etprof.measuring import ab as ab
    from etprof.measuring import resume as resume
    from etprof.replies import inspect as inspect
    from etprof.replies import ops as ops
    from etprof.replies import stats as stats
    from etprof.replies import whatif as whatif
    from etprof.runs import Analysis as Analysis
    from etprof.runs import compare as compare
    from etprof.runs import dumps as dumps
    from etprof.runs import open as open
    from etprof.tables import Table as Table

_PLACES = {
    "Fix": "fixes", "Fixed": "fixes", "Inspector": "inspector", "Progress": "measuring", "ab": "measuring",
    "resume": "measuring", "inspect": "replies", "ops": "replies", "stats": "replies", "whatif": "replies",
    "Analysis": "runs", "compare": "runs", "dumps": "runs", "open": "runs", "Table": "tables",
}
__all__ = ["Analysis", "Fix", "Fixed", "Inspector", "Progress", "Table", "ab", "compare", "dumps", "inspect", "open",
           "ops", "resume", "stats", "whatif"]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError("module 'etprof' has no attribute '" + name + "'")
    import importlib

    value = getattr(importlib.import_module("etprof." + _PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted([*globals(), *_PLACES])
