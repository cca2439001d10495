#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and says what it took: time, time of processors and memory of all its processes, those of theirs too
(Spark's Java and its workers). Memory is looked at twice a second: the most of all together, shared pages once.

usage: bench/fleet/timed.py COMMAND..."""
import ctypes
import os
import resource
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36


def held(session):
    """MB that the processes of SESSION hold now."""
    kb = 0
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == session:
                with open(f"/proc/{entry}/smaps_rollup", encoding="ascii") as f:
                    kb += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
        except OSError: # it has ended
            pass
    return kb / 1024


def watch(session, most, ended):
    while not ended.wait(0.5):
        most[0] = max(most[0], held(session))


def main(command):
    # What outlives its parent comes to this process, and its time is counted.
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun, most, ended = time.monotonic(), [0.0], threading.Event()
    with subprocess.Popen(command, start_new_session=True) as child:
        watcher = threading.Thread(target=watch, args=(child.pid, most, ended))
        watcher.start()
        code = child.wait()
    took = time.monotonic() - begun
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    ended.set()
    watcher.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  {took:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, largest process "
          f"{used.ru_maxrss / 1024:.0f} MB, all together {most[0]:.0f} MB", flush=True)
    return code


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    sys.exit(main(sys.argv[1:]))
