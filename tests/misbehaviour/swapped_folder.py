# SPDX-License-Identifier: Apache-2.0
"""A folder within a run folder that somebody swaps for a link, there and back, while reports are written: none of it
arrives behind the link, and nothing that lay there is removed.

usage: swapped_folder.py ETPROF"""
import ctypes
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders
from checks import execute, expect, finish, new_folder, skip

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
AT_FDCWD, EXCHANGE = -100, 2
REPORTS, SECONDS = 60, 40


def swap_for_ever(a, b):
    libc = ctypes.CDLL(None)
    a, b = os.fsencode(a), os.fsencode(b)
    while True:
        libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, EXCHANGE)
        time.sleep(0.0005)


def main():
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        skip("this system cannot swap two names at once")
    tmp = new_folder()
    run_folders.make(tmp / "run", 2, blocks=1)
    outside = tmp / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine")
    (tmp / "link").symlink_to(outside)
    swapper = os.fork()
    if swapper == 0:
        swap_for_ever(tmp / "run/arm0", tmp / "link")
    codes, end = [], time.monotonic() + SECONDS
    try:
        while len(codes) < REPORTS and time.monotonic() < end:
            codes.append(execute(ETPROF, "analyze", "run", "--renew", cwd=tmp, text=False).returncode)
    finally:
        os.kill(swapper, 9)
        os.waitpid(swapper, 0)
    found = sorted(p.name for p in outside.iterdir())
    expect(found == ["kept"], f"{len(codes)} reports", f"behind the link lies {found[:5]}")
    expect(set(codes) <= {0, 1, 3, 4, 5}, f"{len(codes)} reports", f"exit codes {sorted(set(codes))}")
    print(f"{len(codes)} reports, {codes.count(4)} refused")
    finish()


main()
