# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: all checks of a test are made before it fails, and a skip is one for ctest."""
import sys

FAILURES = []


def expect(ok, *what):
    """Notes a failure, and prints it at once, unless OK."""
    if not ok:
        FAILURES.append(": ".join(map(str, what)))
        print(FAILURES[-1], flush=True)


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)


def finish(fine="all as expected", code=0):
    """Ends the test: 1 after a failure, else CODE (77: a part was skipped, which was said when it was)."""
    print(f"{len(FAILURES)} failures" if FAILURES else fine)
    sys.exit(1 if FAILURES else code)
