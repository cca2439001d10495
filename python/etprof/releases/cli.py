# SPDX-License-Identifier: Apache-2.0
"""What `etprof ab --executorch` asks: A,B in, the folders of two bundles of one kind out, a line each. The program has
the options, measures and shows the answer."""
from __future__ import annotations

import sys

from etprof.errors import EtprofError, UsageError
from etprof.releases.prepare import prepare


def main(argv: list[str]) -> int:
    try:
        if len(argv) != 1:
            raise UsageError("python -m etprof.releases takes two versions, A,B")
        for folder in prepare(argv[0]):
            print(folder)
        return 0
    except EtprofError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
