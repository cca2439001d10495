# SPDX-License-Identifier: Apache-2.0
"""What `etprof ab --executorch` asks: A,B in, the folders of two bundles of one kind out, a line each; with a source
on the next line the programs that A and B export of it, too. The program has the options, measures and shows the
answer."""
from __future__ import annotations

import sys

from etprof.errors import EtprofError, UsageError
from etprof.releases.prepare import prepare


def main(argv: list[str]) -> int:
    try:
        if len(argv) != 1:
            raise UsageError("python -m etprof.releases takes two versions, A,B")
        text, _, source = argv[0].partition("\n")
        for line in prepare(text, source or None):
            print(line)
        return 0
    except EtprofError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
