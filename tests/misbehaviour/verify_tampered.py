# SPDX-License-Identifier: Apache-2.0
"""etprof verify on a run folder (of the fake runner) that somebody changed afterwards.

usage: verify_tampered.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
SCRIPT = b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n"
DUMP = "linux_sme2_on/model_linux_sme2_on_t1_b2.etdump"
FAILURES = []


def expect(condition, name, what):
    if not condition:
        FAILURES.append(name)
        print(f"{name}: {what}")


def verify(directory):
    done = subprocess.run([ETPROF, "verify", "run", "--format", "json"], cwd=directory, capture_output=True,
                          text=True, timeout=60, check=False)
    document = json.loads(done.stdout) if done.stdout else None
    states = {f["path"]: f["state"] for f in document["raw"] + document["derived"]} if document else {}
    return done, document, states


def change_byte(path, old=None, new=None):
    data = path.read_bytes()
    if old is None:
        middle = len(data) // 2
        data = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:]
    else:
        assert data.count(old) >= 1 and len(old) == len(new), (path, old)
        data = data.replace(old, new, 1)
    path.write_bytes(data)


def rehash(run, name):
    """What a careful forger does: the list of hashes follows the changed file."""
    data = (run / name).read_bytes()
    listed = json.loads((run / "derived.json").read_text())
    for f in listed["files"]:
        if f["path"] == name:
            f.update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
    (run / "derived.json").write_text(json.dumps(listed))


def forge(run):
    change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4')
    rehash(run, "report.json")


def rounding(run):
    """The last of six digits, with its hash: what another machine's libm may give."""
    text = (run / "report.json").read_text()
    assert '"hi": 3' in text
    (run / "report.json").write_text(text.replace('"hi": 3', '"hi": 3.000001', 1))
    rehash(run, "report.json")


def unlist(run):
    listed = json.loads((run / "derived.json").read_text())
    listed["files"] = [f for f in listed["files"] if f["path"] != "report.json"]
    (run / "derived.json").write_text(json.dumps(listed))
    change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4')


def unrecord_dump(run):
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["files"] = [f for f in manifest["files"] if f["path"] != DUMP]
    (run / "manifest.json").write_text(json.dumps(manifest))


def unfinished(run):
    manifest = json.loads((run / "manifest.json").read_text())
    manifest.update(state="running", files=[])
    (run / "manifest.json").write_text(json.dumps(manifest))
    for name in [f["path"] for f in json.loads((run / "derived.json").read_text())["files"]] + ["derived.json"]:
        (run / name).unlink()


# name, what is changed, exit code, a file and the state it must have
CASES = [
    ("untouched", lambda run: None, 0, "samples.csv", "ok"),
    ("samples.csv", lambda run: change_byte(run / "samples.csv", b",1000000\n", b",1000001\n"), 1, "samples.csv", "altered"),
    ("environment.jsonl", lambda run: change_byte(run / "environment.jsonl", b'"pid":', b'"pit":'), 1, "environment.jsonl", "altered"),
    ("a dump", lambda run: change_byte(run / DUMP), 1, DUMP, "altered"),
    ("report.json", lambda run: change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4'), 1, "report.json", "altered"),
    ("metrics.json", lambda run: change_byte(run / "metrics.json"), 1, "metrics.json", "altered"),
    ("a dump is gone", lambda run: (run / DUMP).unlink(), 1, DUMP, "missing"),
    ("report.html is gone", lambda run: (run / "report.html").unlink(), 1, "report.html", "missing"),
    ("a dump nobody recorded", unrecord_dump, 1, DUMP, "added"),
    ("forged with its hash", forge, 1, "report.json", "differs"),
    ("taken off the list", unlist, 1, "report.json", "altered"),
    ("rounding", rounding, 0, "report.json", "within_1e-6"),
    ("not finished", unfinished, 3, "samples.csv", "unrecorded"),
    ("samples.csv unreadable", lambda run: change_byte(run / "samples.csv", b",timed,", b",tamed,"), 4, None, None),
    ("manifest cut", lambda run: (run / "manifest.json").write_text((run / "manifest.json").read_text()[:300]), 4, None, None),
    ("derived.json outside", lambda run: (run / "derived.json").write_text(
        '{"schema": "etprof.derived/1", "files": [{"path": "../model.pte", "sha256": "", "bytes": 1}]}'), 4, None, None),
]

with tempfile.TemporaryDirectory() as tmp:
    tmp = pathlib.Path(tmp)
    (tmp / "model.pte").write_bytes(SCRIPT)
    subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8", "--warmup",
                    "3", "--seed", "7", "--margin", "2", "--quiet", "--out", "run", "--runner", FAKE], cwd=tmp, check=True,
                   stdout=subprocess.DEVNULL)
    for name, change, code, path, state in CASES:
        copy = tmp / "case"
        copy.mkdir()
        shutil.copytree(tmp / "run", copy / "run")
        change(copy / "run")
        before = {p: p.read_bytes() for p in (copy / "run").rglob("*") if p.is_file()}
        done, document, states = verify(copy)
        expect(done.returncode == code, name, f"exit {done.returncode}, expected {code}: {done.stderr[-300:]}")
        if path:
            expect(states.get(path) == state, name, f"{path}: {states.get(path)}, expected {state}")
            expect(document["ok"] is {0: True, 1: False, 3: None}[code], name, document["ok"])
        else:
            expect(len(done.stderr.strip().splitlines()) == 1, name, done.stderr)
        after = {p: p.read_bytes() for p in (copy / "run").rglob("*") if p.is_file()}
        expect(before == after, name, "verify changed the folder")
        expect(not list((copy / ".etprof" / "work").glob("*")), name, "temporary folder left behind")
        shutil.rmtree(copy)
print(f"{len(FAILURES)} failures" if FAILURES else f"{len(CASES)} cases as documented")
sys.exit(1 if FAILURES else 0)
