#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command that reads BYTES bytes and says how fast.

usage: bench/convert/timed.py BYTES WHAT COMMAND..."""
import resource
import subprocess
import sys
import time

if len(sys.argv) < 4 or sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
begun = time.monotonic()
subprocess.run(sys.argv[3:], check=True)
took = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
size, cpu = int(sys.argv[1]) / 1e6, used.ru_utime + used.ru_stime
print(f"{sys.argv[2]}: {took:.2f} s on the clock ({size / took:.0f} MB/s), {cpu:.2f} s of CPU ({size / cpu:.0f} MB/s), "
      f"{used.ru_maxrss / 1024:.0f} MB")
