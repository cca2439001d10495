# SPDX-License-Identifier: Apache-2.0
"""What `etprof validate` asks: PATH in, etprof.validate/1 out. The program has the options, finds the run that a path
means and shows the answer. Exit code 0: answered, whatever the answer is."""
from __future__ import annotations

import json
import os
import sys

from etprof import extras, restart
from etprof.errors import EtprofError, UsageError
from etprof.validate.folder import validate


def _answer(argv: list[str]) -> int:
    if len(argv) != 1:
        raise UsageError("python -m etprof.validate takes one path")

    def need_schemas() -> None:
        extras.need("validate", ("jsonschema", "referencing"), argv)

    os.environ.pop("ETPROF_NEWEST", None)  # PATH is the one that is meant
    document = validate(argv[0], restart.program(), need_schemas)
    json.dump(document, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def main(argv: list[str]) -> int:
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        return _answer(argv)
    except EtprofError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
    except MemoryError:
        print("out of memory", file=sys.stderr)
        return 5
