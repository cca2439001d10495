# SPDX-License-Identifier: Apache-2.0
"""test_sessions.py SHORT_ETPROF ETPROF FAKE_RUNNER [N] [NAME...]: memory runs out while a session is measured.

As test_memory.py, for what no two runs give alike. A command whose Nth allocation fails ends with status 5 and says
that memory ran out, or it ends as with enough memory and its folder says as much: the same members of the manifest,
each known that was known, and as many rows. Of a session that ended early every block that the manifest vouches for
has all of its rows. The last rows of every block are among the allocations that fail: nothing is launched after them
that would fail too. N: how many others of each command fail, in place of some."""
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import sys
import tempfile

import failing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder  # noqa: E402

SHORT, ETPROF, FAKE = (os.path.abspath(p) for p in sys.argv[1:4])
POINTS = next((int(w) for w in sys.argv[4:] if w.isdigit()), 5)
ONLY = [w for w in sys.argv[4:] if not w.isdigit()]
MODEL = b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n" + b"\n" * 40
NEW = ["ab", "../model.pte", "--levels", "sme2,neon", "--blocks", 2, "--iterations", 3, "--warmup", 1, "--seed", 7,
       "--runner", FAKE, "--out", "run"]
COMMANDS = {"new": NEW, "untraced": [*NEW, "--no-trace"],
            "extend": ["ab", "--resume", "run", "--blocks", 1, "--runner", FAKE, "--trust"],
            "doctor": ["doctor", "--runner", FAKE]}

OF_THE_MACHINE = ("cpu_contended",)  # notes that come of what else runs here


def outline(value):
    """What is known, without what it is: texts and numbers of two sessions differ, their members do not."""
    if isinstance(value, dict):
        return {k: outline(v) for k, v in value.items()}
    if isinstance(value, list):
        return [outline(v) for v in value if not (isinstance(v, dict) and v.get("id") in OF_THE_MACHINE)]
    return bool(value) if isinstance(value, str) else value is None


def read(folder):
    """(manifest, rows of each block)."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except FileNotFoundError:
        return None, {}
    with open(folder / "samples.csv", newline="") as f:
        rows = collections.Counter((int(r["block"]), r["experiment"], r["phase"]) for r in csv.DictReader(f))
    return manifest, {k: v for k, v in rows.items() if k[0] <= manifest["blocks_done"]}


def run(scratch, program, command, fail_at=None, once=False):
    """(exit status, stderr, manifest, rows, allocations, those that hold a block's last rows, stdout)."""
    work = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    here = work / "here"
    here.mkdir()
    (work / "model.pte").write_bytes(MODEL)
    if "--resume" in command:  # of a finished session
        shutil.copytree(scratch / "measured" / "here" / "run", here / "run")
    status, out, error, count, last_rows = failing.run(program, command, here, work, fail_at, once)
    manifest, rows = read(here / "run")
    shutil.rmtree(work)
    return status, error.decode(errors="replace"), manifest, rows, count, last_rows, out.decode(errors="replace")


def check(scratch, name, whole, before, at, once):
    status, error, manifest, rows, *_, out = run(scratch, SHORT, COMMANDS[name], at, once)
    what = f"{name}: allocation {at}{' alone' if once else ''} of {whole[4]} fails"
    # A start that failed is made again; the answer says so, as of any launch that was lost.
    again = manifest and any(item["reason"] == "start" and item["recovered"] for item in manifest["lost"])
    expect("out of memory" not in out or again, what, "is told as a result", out[-1500:])
    if status != whole[0]:
        expect(status == 5 and "out of memory" in error, what, f"status {status}", error[-1500:])
    if not manifest:
        expect(status == 5 or not whole[2], what, "no folder")
        return
    lost = [item for item in manifest["lost"] if not item["recovered"] or item["reason"] != "start"]
    expect(not lost or status == 5, what, "launches lost", lost)
    wanted = {k: v for k, v in whole[3].items() if k[0] <= manifest["blocks_done"]}
    expect(rows == wanted, what, "rows", rows, wanted)
    if manifest["state"] == "finished" and manifest != before:
        # A start that failed is tried again, and leaves a log; what the system cannot tell is told apart elsewhere.
        differs = [k for k in whole[2] if k not in ("lost", "unreadable") and not (k == "files" and manifest["lost"])
                   and outline(manifest.get(k)) != outline(whole[2][k])]
        expect(not differs, what, "a finished session without", *((k, manifest.get(k), whole[2][k]) for k in differs))


def main():
    scratch = new_folder()
    first = scratch / "measured" / "here"
    first.mkdir(parents=True)
    (scratch / "measured" / "model.pte").write_bytes(MODEL)
    status, _, error, *_ = failing.run(ETPROF, NEW, first, scratch / "measured")
    expect(status in (0, 3), "the session to extend", status, error)
    before = read(first / "run")[0]
    tried = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, command in COMMANDS.items():
            if ONLY and name not in ONLY:
                continue
            whole = run(scratch, SHORT, command)
            expect(whole[0] in (0, 1, 3), name, "does not run with enough memory", whole[0], whole[1])
            expect(whole[4] > 0, name, "its allocations are not seen")
            expect(bool(whole[5]) == (whole[3] != {}), name, "the last rows of its blocks are not seen")
            tries = [(at, once) for at in failing.points(whole[4], POINTS) for once in (True, False)]
            tries += [(at, True) for at in whole[5]]
            list(pool.map(lambda t, n=name, w=whole: check(scratch, n, w, before, *t), tries))
            tried += len(tries)
    finish(f"{tried} failures end as they should")


main()
