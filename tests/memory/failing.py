# SPDX-License-Identifier: Apache-2.0
"""Runs of a program whose Nth allocation fails (shortage.c), for the tests of this folder."""
import os
import pathlib
import subprocess


def run(program, arguments, here, scratch, fail_at=None, once=False):
    """(exit status, stdout, stderr, allocations, those that hold a block's last rows) of PROGRAM in the folder HERE,
    with SCRATCH for what a user has."""
    count = pathlib.Path(scratch) / "count"
    count.unlink(missing_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                   "ETPROF_STORE": "off", "ETPROF_TEST_COUNT": str(count), "SOURCE_DATE_EPOCH": "0"}
    environment.update({"ETPROF_TEST_FAIL_AT": str(fail_at)} if fail_at else {})
    environment.update({"ETPROF_TEST_FAIL_ONCE": "1"} if once else {})
    done = subprocess.run([program, *map(str, arguments)], cwd=here, env=environment, capture_output=True,
                          check=False, stdin=subprocess.DEVNULL, timeout=300)
    counted, *last_rows = map(int, count.read_text().split()) if count.exists() else (0,)
    return done.returncode, done.stdout, done.stderr, counted, last_rows


def points(total, most):
    """The allocations that fail, at most MOST or 64: the first, the last, and some between, at no even distance."""
    if total <= max(most, 64):  # each run of so few takes no time
        return list(range(1, total + 1))
    ends = {1, 2, 3, total - 1, total} if most > 7 else {1, total}
    return sorted(ends | {1 + (i * i * 7919 + i * 104729) % total for i in range(1, most + 1 - len(ends))})
