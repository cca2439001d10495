#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and says what it took: time, time of processors and memory of all its processes, those of theirs too
(Spark's Java and its workers). Memory is looked at twice a second: the most of all together, shared pages once. Time of
processors is looked at ten times a second too: nobody waits for Spark's workers (its daemon ignores SIGCHLD), and what
nobody waits for is in no sum of the system's.

usage: bench/fleet/timed.py COMMAND..."""
import ctypes
import itertools
import os
import resource
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36


def processes(session):
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == session:
                yield entry
        except OSError: # it has ended
            pass


def held(session):
    """MB that the processes of SESSION hold now."""
    kb = 0
    for entry in processes(session):
        try:
            with open(f"/proc/{entry}/smaps_rollup", encoding="ascii") as f:
                kb += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
        except OSError:
            pass
    return kb / 1024


def used_now(session, used):
    """Into USED: seconds of processors that each process of SESSION has had by now, without its children's."""
    for entry in processes(session):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
            used[entry, fields[19]] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass


def watch(session, most, used, ended):
    for tick in itertools.count():
        if ended.wait(0.1):
            return
        used_now(session, used)
        if tick % 5 == 4:
            most[0] = max(most[0], held(session))


def main(command):
    # What outlives its parent comes to this process, and its time is counted.
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun, most, used, ended = time.monotonic(), [0.0], {}, threading.Event()
    with subprocess.Popen(command, start_new_session=True) as child:
        watcher = threading.Thread(target=watch, args=(child.pid, most, used, ended))
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
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = max(waited.ru_utime + waited.ru_stime, sum(used.values()))
    print(f"  {took:.1f} s, {cpu:.1f} s of CPU, largest process {waited.ru_maxrss / 1024:.0f} MB, "
          f"all together {most[0]:.0f} MB", flush=True)
    return code


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    sys.exit(main(sys.argv[1:]))
