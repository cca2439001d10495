# SPDX-License-Identifier: Apache-2.0
"""etprof doctor with a runner that answers, and with a program that is none.

usage: doctor.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = (os.path.abspath(p) for p in sys.argv[1:3])
for runner, code, answers in ((FAKE, 0, True), ("/bin/false", 1, False)):
    tmp = new_folder()
    done = execute(ETPROF, "doctor", "--runner", runner, "--format", "json", cwd=tmp)
    document = json.loads(done.stdout)
    checks = {c["id"]: c for c in document["checks"]}
    # The fake claims a CPU with every feature: the five levels of the family can be had.
    good = (done.returncode == code and document["ok"] == (code == 0) and checks["runner_answers"]["ok"] == answers
            and ("levels" in checks) == answers and all((c["fix"] is None) for c in checks.values() if c["ok"]))
    if answers:
        good = good and "sme2" in checks["levels"]["found"] and "neon" in checks["levels"]["found"]
    expect(good, runner, done.returncode, done.stdout, done.stderr)


def doctor(runner, *words):
    tmp = new_folder()
    done = execute(ETPROF, "doctor", "--runner", runner, *words, cwd=tmp)
    return done


# The noise floor is measured, judged against 1 %, and says what would lower it when it is above. It may
# round to nothing: a chain of additions alone in a core takes the same time again.
document = json.loads(doctor(FAKE, "--format", "json").stdout)
checks = {c["id"]: c for c in document["checks"]}
noise = checks["noise_floor"]
value = float(re.match(r"±([0-9.]+) % \(95 %, 10 pairs", noise["found"]).group(1))
expect(0 <= value < 100 and noise["ok"] == (value <= 1.0) and not noise["required"], noise)
expect(re.fullmatch(r"[\d.]+ [MGT]B", checks["disk"]["found"]), "room is told in a unit of its size", checks["disk"])
expect((noise["fix"] is None) == noise["ok"], noise)
if not noise["ok"] and checks["load"]["ok"] is False:
    expect("end other work" in noise["fix"] and f"load: {checks['load']['found']}" in noise["fix"], noise)
expect(checks["mask"]["ok"] is True and "sme2: ok, fake" in checks["mask"]["found"], checks["mask"])
text = doctor(FAKE).stdout
expect("noise now: ±" in text, "the text does not tell the noise")
text = doctor("/bin/false").stdout
expect("start the runner by hand with --probe and read what it says" in " ".join(text.split()),
       "the text cuts what to do: " + text)

# Without any runner: what to do is said once in what would help, with the target's name.
tmp = new_folder()
alone = shutil.copy(ETPROF, os.path.join(tmp, "etprof"))
env = {k: v for k, v in os.environ.items() if k != "ETPROF_RUNNER"}
text = execute(alone, "doctor", cwd=tmp, env=env).stdout
line = " ".join(re.search(r"^runner +(.*?)\n\S", text, re.M | re.S)[1].split())
expect(re.fullmatch(r"no runner for (\S+): build it with scripts/build-runner \1, or name one with --runner or "
                    r"ETPROF_RUNNER", line), "what to do about no runner", line)

# Beside hogs on its own CPU it waits, and a loop that it is held against itself with is no longer the same. Then the
# answer is no longer yes, and the noise is not told to be small.
one = min(os.sched_getaffinity(0))
hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        for _ in range(3)]
everywhere = os.sched_getaffinity(0)
os.sched_setaffinity(0, {one})
try:
    checks = {c["id"]: c for c in json.loads(doctor(FAKE, "--format", "json").stdout)["checks"]}
    text = doctor(FAKE).stdout
finally:
    os.sched_setaffinity(0, everywhere)
    for hog in hogs:
        hog.kill()
        hog.wait()
expect(checks["waiting"]["ok"] is False and float(checks["waiting"]["found"].split()[0]) > 25, checks["waiting"])
expect("not now: other programs take its CPUs" in text, "beside three hogs", text)

# A hog is seen as other work. It needs a CPU beside ours.
if len(os.sched_getaffinity(0)) > 1:
    hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        checks = {c["id"]: c for c in json.loads(doctor(FAKE, "--format", "json").stdout)["checks"]}
    finally:
        hog.kill()
        hog.wait()
    expect(checks["other_work"]["ok"] is False and float(checks["other_work"]["found"].split()[0]) > 0.3,
           checks["other_work"])

# A runner whose masks do not work: exit code 1, and what to do. One that cannot tell is no obstacle, and no success.
# Where names differ between a level and the one above it, the mask reached XNNPACK whatever the runner says; another
# order of the same names is no difference.
tmp = new_folder()
for verdict, base, code, ok, says in (("false", "", 1, False, "base: FAILED"),
                                      ("null", "", 0, None, "base: cannot tell"),
                                      ("null", "Add; Max F16", 0, None, "base: cannot tell"),
                                      ("null", "Add", 0, True, "base: ok, Max F16, which dotprod has, is gone"),
                                      ("false", "Add", 1, False, "base: FAILED"),
                                      (None, "", 0, None, "no answer")):
    levels = ",".join(f'{{"level":"{line}","ok":{verdict},"why":"planted"'
                      f',"types":"{base if line == "base" else "Max F16; Add"}"}}'
                      for line in ("sme2", "sme1", "neon", "dotprod", "base"))
    line = f'{{"type":"selftest","levels":[{levels}]}}' if verdict else ""
    script = os.path.join(tmp, "runner")
    with open(script, "w") as f:
        f.write(f"#!/bin/sh\ncase \"$*\" in *--selftest*) echo '{line}'; exit 0;; esac\nexec {FAKE} \"$@\"\n")
    os.chmod(script, 0o755)
    done = doctor(script, "--format", "json")
    mask = {c["id"]: c for c in json.loads(done.stdout)["checks"]}["mask"]
    expect(done.returncode == code and mask["ok"] is ok and says in mask["found"],
           (verdict, base, done.returncode, mask))
    expect((mask["fix"] is not None) == (code == 1), mask)
finish("as documented")
