# SPDX-License-Identifier: Apache-2.0
"""The command of the wheel: becomes the program beside this file, or says why it cannot."""
import os
import sys

from etprof import system

PROGRAM = os.path.join(system.TREE, "bin", "etprof")


def command():
    """The entry point `etprof`."""
    why = system.hindrance()
    if why is None:
        # `export` and `models` run Python: this one, with what pip installed beside this package.
        os.environ.setdefault("ETPROF_PYTHON", sys.executable)
        try:
            os.execv(PROGRAM, ["etprof", *sys.argv[1:]])
        except OSError as e:
            why = f"cannot start {PROGRAM}: {e.strerror}; install the wheel again"
    print(f"etprof: this package {why}", file=sys.stderr)
    return 5
