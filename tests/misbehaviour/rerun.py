# SPDX-License-Identifier: Apache-2.0
"""etprof rerun with the fake runner, whose durations are exact: what the first session says is changed instead.

usage: rerun.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish

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
        path = run / "environment.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "counted"}) + "\n" for row in rows))
    return change


CASES = [
    ("the same", lambda run: None, 0, "reproduced"),
    ("2 % slower then: within the margin", times(lambda b: 1.02), 0, "reproduced"),
    ("50 % slower then", times(lambda b: 1.5), 1, "not"),
    ("too noisy to say", times(lambda b: 1.5 if b % 2 else 0.7), 3, "unknown"),
]
with tempfile.TemporaryDirectory() as tmp:
    tmp = pathlib.Path(tmp)
    (tmp / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n")
    subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8",
                    "--warmup",
                    "3", "--seed", "7", "--quiet", "--out", "first", "--runner", FAKE], cwd=tmp, check=True,
                   stdout=subprocess.DEVNULL)
    for number, (name, change, code, verdict) in enumerate(CASES):
        run = tmp / f"run{number}"
        shutil.copytree(tmp / "first", run)
        change(run)
        done = execute(ETPROF, "rerun", run.name, "--runner", FAKE, "--quiet", "--format", "json", cwd=tmp)
        expect(done.returncode == code, name, f"exit {done.returncode}, expected {code}: {done.stderr[-300:]}")
        document = json.loads(done.stdout)
        expect(document["verdict"] == verdict, name, document)
        new = json.loads((tmp / f"run{number}.2" / "manifest.json").read_text())
        old = json.loads((run / "manifest.json").read_text())
        for key in ("seed", "order", "blocks", "arms", "iterations"):
            expect(new["plan"][key] == old["plan"][key], name, f"plan.{key} differs")
        expect((tmp / f"run{number}.2" / "report.json").exists(), name, "no report of the second session")
    with open(tmp / "model.pte", "ab") as f:
        f.write(b"# changed\n")
    done = execute(ETPROF, "rerun", "first", "--runner", FAKE, cwd=tmp)
    expect(done.returncode == 2 and "not the model that was measured" in done.stderr, "changed model", done.stderr)
    expect(not (tmp / "first.2").exists(), "changed model", "a folder was made")
finish(f"{len(CASES) + 1} cases as documented")
