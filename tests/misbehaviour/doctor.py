# SPDX-License-Identifier: Apache-2.0
"""etprof doctor with a runner that answers, and with a program that is none.

usage: doctor.py ETPROF FAKE_RUNNER"""
import json
import os
import subprocess
import sys
import tempfile

ETPROF, FAKE = (os.path.abspath(p) for p in sys.argv[1:3])
failures = 0
for runner, code, answers in ((FAKE, 0, True), ("/bin/false", 1, False)):
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run([ETPROF, "doctor", "--runner", runner, "--format", "json"], cwd=tmp, capture_output=True,
                              text=True, timeout=60, check=False)
    document = json.loads(done.stdout)
    checks = {c["id"]: c for c in document["checks"]}
    # The fake claims a CPU with every feature: the five levels of the family can be had.
    good = (done.returncode == code and document["ok"] == (code == 0) and checks["runner_answers"]["ok"] == answers
            and ("levels" in checks) == answers and all((c["fix"] is None) for c in checks.values() if c["ok"]))
    if answers:
        good = good and "sme2" in checks["levels"]["found"] and "neon" in checks["levels"]["found"]
    if not good:
        failures += 1
        print(runner, done.returncode, done.stdout, done.stderr)
print(f"{failures} failures" if failures else "as documented")
sys.exit(1 if failures else 0)
