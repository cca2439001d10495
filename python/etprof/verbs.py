# SPDX-License-Identifier: Apache-2.0
"""Verbs of the program as children: where it is, and what its exit codes mean."""
from __future__ import annotations

import os
from pathlib import Path

from etprof import errors, system


def program() -> str:
    """The etprof that started this, or the one beside this package: in the wheel, installed, in a source tree."""
    here = Path(__file__).resolve().parent
    places = [os.environ.get("ETPROF"), os.path.join(system.TREE, "bin", "etprof"),
              *(str(prefix / "bin/etprof") for prefix in here.parents[3:4]),
              str(here.parents[1] / "build/release/bin/etprof")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    raise errors.EnvironmentProblem("no etprof beside this package; name the program in ETPROF")


def error_of(code: int) -> type[errors.EtprofError]:
    """What a verb that ended with CODE would have raised."""
    kinds = (errors.CheckFailed, errors.UsageError, errors.NotEnoughData, errors.BadInput, errors.EnvironmentProblem,
             errors.RunFailed)
    return next((kind for kind in kinds if kind.exit_code == code), errors.EtprofError)
