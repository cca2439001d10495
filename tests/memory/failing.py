# SPDX-License-Identifier: Apache-2.0
"""Runs of a program whose Nth allocation fails (shortage.c), for the tests of this folder."""
import bisect
import os
import pathlib
import subprocess

PASS_ON = ("etp_arena_", "etp_strbuf_", "etp_sink_", "etp_csv_", "etp_index_", "etp_json_", "bump", "add_block",
           "libc_resize", "write_strbuf", "__wrap_", "write_callers")  # ask for memory because somebody else does


def functions_of(program):
    """(addresses, names) of PROGRAM's functions, and the address that callers are counted from."""
    listed = subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    found = sorted((int(w[0], 16), w[2]) for w in map(str.split, listed.splitlines()) if len(w) == 3 and w[1] in "tTwW")
    addresses, names = [a for a, _ in found], [n for _, n in found]
    return addresses, names, addresses[names.index("__wrap_realloc")]


def who_asked(callers, functions):
    """The function of the program that each allocation was for, as a place in FUNCTIONS, by the file that shortage.c
    wrote."""
    addresses, names, origin = functions
    asked = []
    for line in callers.read_text().splitlines():
        stack = (bisect.bisect_right(addresses, origin + int(at) - 1) - 1 for at in line.split())
        asked.append(next((place for place in stack if not names[place].startswith(PASS_ON)), None))
    return asked


def run(program, arguments, here, scratch, fail_at=None, once=False, callers=None):
    """(exit status, stdout, stderr, allocations, those that hold a block's last rows) of PROGRAM in the folder HERE,
    with SCRATCH for what a user has. CALLERS: the file for who_asked."""
    count = pathlib.Path(scratch) / "count"
    count.unlink(missing_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                   "ETPROF_TEST_COUNT": str(count), "SOURCE_DATE_EPOCH": "0"}
    environment.update({"ETPROF_TEST_FAIL_AT": str(fail_at)} if fail_at else {})
    environment.update({"ETPROF_TEST_FAIL_ONCE": "1"} if once else {})
    environment.update({"ETPROF_TEST_CALLERS": str(callers)} if callers else {})
    done = subprocess.run([program, *map(str, arguments)], cwd=here, env=environment, capture_output=True,
                          check=False, stdin=subprocess.DEVNULL, timeout=300)
    counted, *last_rows = map(int, count.read_text().split()) if count.exists() else (0,)
    return done.returncode, done.stdout, done.stderr, counted, last_rows


def first_of_each(asked, seen):
    """The allocations in which a function asks first that is not in SEEN, which has all of them afterwards."""
    found = {}
    for number, place in enumerate(asked, 1):
        if place not in seen:
            found.setdefault(place, number)
    seen.update(found)
    return set(found.values())


def points(total, most):
    """The allocations that fail, at most MOST or 64: the first, the last, and some between, at no even distance."""
    if total <= max(most, 64):  # each run of so few takes no time
        return list(range(1, total + 1))
    ends = {1, 2, 3, total - 1, total} if most > 7 else {1, total}
    return sorted(ends | {1 + (i * i * 7919 + i * 104729) % total for i in range(1, most + 1 - len(ends))})
