#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and says what it took: time, time of processors, the largest process.

usage: bench/fleet/timed.py COMMAND..."""
import resource
import subprocess
import sys
import time

if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit(0 if len(sys.argv) > 1 else 2)
begun = time.monotonic()
code = subprocess.run(sys.argv[1:], check=False).returncode
took = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"  {took:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, at most {used.ru_maxrss / 1024:.0f} MB",
      flush=True)
sys.exit(code)
