# SPDX-License-Identifier: Apache-2.0
"""etprof rerun with the fake runner, whose durations are exact: what the first session says is changed instead.

usage: rerun.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def times(factor_of_block):
    """Changes sme2's durations in samples.csv by a factor per block."""
    def change(run):
        path = run / "samples.csv"
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            cells = line.split(",")
            if cells[0] == "linux_sme2_on" and cells[4] == "timed":
                cells[6] = str(int(1000000 * factor_of_block(int(cells[1]))))
                lines[i] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
        # CPU times that stayed behind would say that other programs made the difference.
        run_folders.write_lines(run, [{k: v for k, v in row.items() if k != "counted"}
                                      for row in run_folders.environment(run)])
    return change


CASES = [
    ("the same", lambda run: None, 0, "reproduced"),
    ("2 % slower then: within the margin", times(lambda b: 1.02), 0, "reproduced"),
    ("50 % slower then", times(lambda b: 1.5), 1, "not"),
    ("too noisy to say", times(lambda b: 1.5 if b % 2 else 0.7), 3, "unknown"),
]
tmp = new_folder()
fake_sessions.model(tmp / "model.pte")
execute(ETPROF, "ab", "model.pte", *fake_sessions.words("first"), "--runner", FAKE, cwd=tmp, check=True)
for number, (name, change, code, verdict) in enumerate(CASES):
    run = tmp / f"run{number}"
    shutil.copytree(tmp / "first", run)
    change(run)
    done = ended(execute(ETPROF, "rerun", run.name, "--runner", FAKE, "--quiet", "--format", "json", cwd=tmp), code)
    document = json.loads(done.stdout)
    expect(document["verdict"] == verdict, name, document)
    new, old = (run_folders.manifest(folder)["plan"] for folder in (tmp / f"run{number}.2", run))
    for key in ("seed", "order", "blocks", "arms", "iterations"):
        expect(new[key] == old[key], name, f"plan.{key} differs")
    expect((tmp / f"run{number}.2" / "report.json").exists(), name, "no report of the second session")
with open(tmp / "model.pte", "ab") as f:
    f.write(b"# changed\n")
ended(execute(ETPROF, "rerun", "first", "--runner", FAKE, cwd=tmp), 2, says="not the model that was measured")
expect(not (tmp / "first.2").exists(), "changed model", "a folder was made")
finish(f"{len(CASES) + 1} cases as documented")
