# SPDX-License-Identifier: Apache-2.0
"""A folder above runs stands for the newest of them in every verb that reads runs, and the verb says which it took.
Sessions are measured with the fake runner, whose durations are exact: the first run says 3×, the later one 6×.

usage: newest.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
OLD, NEW = "out_m/runs/linux", "out_m/runs/linux.2"


def etprof(cwd, *words, env=None):
    return execute(ETPROF, *words, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)


def measure(cwd, factor, *more):
    fake_sessions.model(cwd / "m_xnnpack_fp32.pte", "base sme2 1000000", f"base neon {factor}000000")
    done = etprof(cwd, "ab", "m_xnnpack_fp32.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8",
                  "--warmup", "3", "--seed", "7", "--runner", FAKE, *more)
    expect(done.returncode == 0, "measuring", done.stderr)


def redate(folder, at):
    path = folder / "manifest.json"
    path.write_text(re.sub(r'("generated_at": ?")[^"]*', r"\g<1>" + at, path.read_text()))


def every_verb(cwd, above, taken, others):
    """VERB operands → the run that its answer is of must be TAKEN, and stderr names it and the OTHERS."""
    verbs = [("analyze",), ("verify",), ("validate",), ("stats",), ("gate", "speedup >= 1"),
             ("convert", "--to", "chrome", "-o", "x.json"),
             ("whatif", "drop nothing*"),
             ("kernels",), ("rerun", "--runner", "nowhere"), ("explain", "F99")]
    for verb, *more in verbs:
        at = [*more, above] if verb == "explain" else [above, *more]
        done = etprof(cwd, verb, *at)
        said = done.stderr.splitlines()[0] if done.stderr else ""
        expect(said.startswith(f"run folder {taken} ("), verb, f"says which run: {said!r}, not {taken}")
        expect(all(f"{x} (" in said for x in others), verb, f"lists {others}: {said!r}")
    answer = etprof(cwd, "analyze", above, "--format", "json")
    document = json.loads(answer.stdout)
    expect(len(document["arms"]) == 2, "analyze", f"{len(document['arms'])} arms are of one session")
    return document["comparisons"][0]["speedup"]["estimate"]


def main(cwd):
    measure(cwd, 3)
    time_of_first = json.loads((cwd / OLD / "manifest.json").read_text())["generated_at"]
    measure(cwd, 6)
    expect((cwd / NEW).is_dir(), "the second session got a number")
    for above in ("out_m", "out_m/", "out_m/runs"):
        is_ = every_verb(cwd, above, NEW, [OLD])
        expect(abs(is_ - 6) < 0.1, above, f"the answer is of the newest: {is_}")
    # What counts is when it was measured, not its name or its files' times.
    redate(cwd / OLD, "2099-01-01T00:00:00Z")
    is_ = every_verb(cwd, "out_m", OLD, [NEW])
    expect(abs(is_ - 3) < 0.1, "redated", f"the answer is of the newest: {is_}")
    redate(cwd / OLD, time_of_first)
    # A run's own folder is that run, and no word is lost on others.
    done = etprof(cwd, "gate", OLD, "speedup >= 5")
    expect(done.returncode == 1 and NEW not in done.stderr, "exact path", done.stderr)
    # The folder that sessions were started in: the newest of all that is there, but not beside recordings.
    done = etprof(cwd, "analyze", ".", "--format", "json")
    is_ = json.loads(done.stdout)["comparisons"][0]["speedup"]["estimate"]
    expect(f"{NEW} (" in done.stderr and abs(is_ - 6) < 0.1, "the working directory", is_, done.stderr)
    (cwd / "x.etdump").write_bytes(b"")
    done = etprof(cwd, "analyze", ".")
    expect(done.returncode != 0 and "x.etdump" in done.stderr, "recordings beside runs", done.stderr)
    (cwd / "x.etdump").unlink()
    expect(etprof(cwd, "gate", "out_m", "speedup >= 5").returncode == 0, "gate of the newest")
    # compare: each side, an arm of a side; gate --against.
    done = etprof(cwd, "compare", f"{OLD}:linux_sme2_off", "out_m:linux_sme2_off", "--format", "json")
    expect(f"run folder {NEW} (" in done.stderr, "compare", done.stderr)  # the fake leaves no dumps to compare
    done = etprof(cwd, "gate", OLD, "--against", "out_m")
    expect(f"run folder {NEW} (" in done.stderr, "gate --against", done.stderr)
    # --resume: of the newest.
    ended(etprof(cwd, "ab", "--resume", "out_m", "--runner", FAKE), 2, says=f"{NEW} is finished")
    # The paths of the documents are fixed: with ETPROF_NEWEST the name is the newest of that name.
    fixed = {"ETPROF_NEWEST": "1"}
    answer = json.loads(etprof(cwd, "analyze", OLD, "--format", "json", env=fixed).stdout)
    expect(abs(answer["comparisons"][0]["speedup"]["estimate"] - 6) < 0.1, "a fixed path", "is of the newest")
    done = etprof(cwd, "stats", f"{OLD}/samples.csv", env=fixed)
    expect(f"run folder {NEW} (" in done.stderr and "6.0" in done.stdout, "a file at a fixed path", done.stderr)
    lost = cwd / OLD / "linux_sme2_on/old.csv"
    shutil.copy(cwd / OLD / "samples.csv", lost)
    ended(etprof(cwd, "stats", str(lost.relative_to(cwd)), env=fixed), 2, says="older run")
    lost.unlink()
    # A manifest that cannot be read is not the newest, and does not hide the others.
    (cwd / NEW / "manifest.json").write_text('{"schema": "etprof.run/1", ')
    ended(etprof(cwd, "gate", "out_m", "speedup >= 5"), 1, says=(f"run folder {OLD} (", "unreadable"))


tmp = new_folder()
main(tmp)
finish()
