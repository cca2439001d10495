#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of a roof loop per trip, counted by callgrind: the arithmetic and next to nothing else.
callgrind runs no AVX-512, so those loops are held by their sums alone (test_roofs.c)."""
import re
import shutil
import subprocess
import sys

# Twelve chains a trip: SSE needs two instructions for each, FMA3 one.
WANTED = {"sse": 24, "avx2": 12}


def count(program, isa, trips):
    r = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, isa, str(trips)],
                       capture_output=True, text=True, timeout=200)
    found = re.search(r"Collected : (\d+)", r.stderr)
    assert r.returncode == 0 and found, r.stderr
    return int(found[1])


if not shutil.which("valgrind"):
    print("skipped: no valgrind")
    sys.exit(77)
failed = False
for isa, wanted in WANTED.items():
    per_trip = (count(sys.argv[1], isa, 20000) - count(sys.argv[1], isa, 10000)) / 10000
    ok = wanted <= per_trip <= 1.3 * wanted
    print(f"{isa}: {per_trip:.2f} instructions a trip, {wanted} of them arithmetic: {'ok' if ok else 'WRONG'}")
    failed = failed or not ok
sys.exit(failed)
