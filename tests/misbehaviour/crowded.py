# SPDX-License-Identifier: Apache-2.0
"""More threads than the CPUs that the process is allowed: that is the cause, not other programs.

usage: crowded.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = (os.path.abspath(p) for p in sys.argv[1:3])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    tmp = new_folder()
    fake_sessions.model(tmp / "net.pte")

    def etprof(*words):
        return execute(ETPROF, *words, cwd=tmp, env={**os.environ, "ETPROF_NO_WAIT": "1"})

    for threads, crowded in (("2", True), ("1", False)):
        done = etprof("ab", "net.pte", "--levels", "sme2,neon", "--runner", FAKE, "--threads", threads,
                      "--blocks", "2", "--iterations", "3", "--out", "run" + threads)
        text = done.stdout + done.stderr
        said = " ".join(text.split())
        expect(done.returncode in (0, 1), done.returncode, text)
        expect(("2 threads on 1 CPU" in said) == crowded, "the cause", text)
        if crowded:
            expect("other programs" not in said and "--resume" not in said and "rerun" not in said, text)
    own = min(os.sched_getaffinity(0))
    done = etprof("ab", "net.pte", "--levels", "sme2,neon", "--runner", FAKE, "--cpus", f"{own},{own + 40}",
                  "--blocks", "2", "--iterations", "3", "--out", "wide")
    expect(done.stderr.count(f"of the CPUs {own},{own + 40} the runner's threads may run on {own} only") == 1,
           "CPUs that are not allowed", done.stderr)
    rows = json.loads(etprof("doctor", "--runner", FAKE, "--format", "json").stdout)["checks"]
    rows = {c["id"]: c for c in rows}
    expect(rows["cpus"]["found"] == "1 allowed" and "cpu_quota" in rows, rows)
finish()
