# SPDX-License-Identifier: Apache-2.0
"""etprof verify on a run folder (of the fake runner) that somebody changed afterwards.

usage: verify_tampered.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
DUMP = "linux_sme2_on/model_linux_sme2_on_t1_b2.etdump"


def verify(directory):
    done = execute(ETPROF, "verify", "run", "--format", "json", cwd=directory)
    document = json.loads(done.stdout) if done.stdout else None
    states = {f["path"]: f["state"] for f in document["raw"] + document["derived"]} if document else {}
    return done, document, states


def text_lists(directory, *files):
    """In text the files that are not as recorded, and with --full all of them; how many there are, always."""
    for full in (False, True):
        done = execute(ETPROF, "verify", "run", *["--full"] * full, cwd=directory, env={**os.environ, "COLUMNS": "200"})
        _, document, states = verify(directory)
        listed = set(re.findall(r"^(\S+\.\w+) +(?:raw|derived) ", done.stdout, re.M))
        expect(listed == (set(states) if full else set(files)), "text", f"full: {full}", files, done.stdout)
        expect(f"{len(document['raw'])} raw files, {len(document['derived'])} derived ones\n" in done.stdout, "text",
               "how many there are", done.stdout)


def answers(directory, altered):
    """Who explains a folder says first when a raw file is not the recorded one."""
    shutil.copytree(directory / "run", directory / "again")
    done = execute(ETPROF, "stats", "again", "--format", "json", cwd=directory)
    said = json.loads(done.stdout).get("altered") or ""
    expect(("samples.csv does not have the hash" in said) == altered, "stats", altered, said)
    for verb in (["analyze", "again"], ["analyze", "again", "--renew"]):
        done = execute(ETPROF, *verb, "--format", "json", cwd=directory)
        found = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "folder_altered"]
        expect(len(found) == altered, *verb, "altered:", altered, found)
        expect(not found or (found[0]["id"] == "F1" and "samples.csv" in found[0]["text"]
                             and str(directory) not in found[0]["text"]), *verb, found)
    shutil.rmtree(directory / "again")


def manifests(directory, samples):
    """A manifest that was edited is named by all who read the folder, and no file that is made again hides it."""
    whole = (directory / "run/manifest.json").read_text()
    faster = re.sub(rb"(?m)^(linux_sme2_on,.*,)\d(\d{5,})(,|$)", rb"\g<1>\2\3", samples)
    row = {f["path"]: f for f in json.loads(whole)["files"]}["samples.csv"]
    rehashed = whole.replace(row["sha256"], hashlib.sha256(faster).hexdigest()).replace(
        f'"bytes": {row["bytes"]}', f'"bytes": {len(faster)}')
    stopped = rehashed.replace('"state": "finished"', '"state": "interrupted"')
    for name, text, rows in (("hash", rehashed, faster), ("cpu", re.sub(r'"cpu": "', '"cpu": "M', whole), samples),
                             ("interrupted", stopped, faster)):
        expect(text != whole, name, "nothing was edited")
        shutil.copytree(directory / "run", directory / "again")
        (directory / "again/manifest.json").write_text(text)
        (directory / "again/samples.csv").write_bytes(rows)
        more = ["ab", "--resume", "again", *([] if name == "interrupted" else ["--blocks", "1"])]
        for words, code in ((["gate", "again", "speedup >= 1.01"], 1), (["verify", "again"], 1),
                            (["stats", "again"], None), (["analyze", "again"], None),
                            (["analyze", "again", "--renew"], None), (more, 2 if name == "cpu" else 4),
                            (["verify", "again"], 1)):
            done = execute(ETPROF, *words, cwd=directory)
            said = " ".join((done.stdout + done.stderr).split())
            expect(code is None or done.returncode == code, name, words, done.returncode, said[-300:])
            expect("manifest.json" in said, name, words, "does not name it", said[-300:])
        shutil.rmtree(directory / "again")


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
    text = (run / "derived.json").read_text()
    old = next(f for f in json.loads(text)["files"] if f["path"] == name)
    line = '{"path": "%s", "sha256": "%s", "bytes": %d}'
    before = line % (name, old["sha256"], old["bytes"])
    assert before in text
    (run / "derived.json").write_text(text.replace(before, line % (name, hashlib.sha256(data).hexdigest(), len(data))))


def forge(run):
    change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4')
    rehash(run, "report.json")


def rounding(run):
    """The last of six digits, with its hash: what another machine's libm may give."""
    by(run, 1)


def by(run, units):
    text = (run / "report.json").read_text()
    old = next(n for n in re.findall(r"\b3\.[0-9]{5}\b", text) if int(n[-1]) + units < 10)
    new = old[:-1] + str(int(old[-1]) + units)
    (run / "report.json").write_text(text.replace(old, new, 1))
    rehash(run, "report.json")


def expectations(run):
    (run / "program" / "expected").mkdir(parents=True, exist_ok=True)
    (run / "program" / "expected" / "outputs.json").write_bytes(
        (run / "linux_sme2_on" / "outputs" / "outputs.json").read_bytes()
    )


def last_digit(run):
    data = (run / "samples.csv").read_bytes()
    (run / "samples.csv").write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])


def hash_digit(run):
    """One digit of a hash: anywhere else the list would not be JSON any more, which is another case."""
    data = (run / "derived.json").read_bytes()
    at = data.index(b'"sha256": "') + len(b'"sha256": "')
    (run / "derived.json").write_bytes(data[:at] + (b"1" if data[at:at + 1] == b"0" else b"0") + data[at + 1:])


def unlist(run):
    listed = json.loads((run / "derived.json").read_text())
    listed["files"] = [f for f in listed["files"] if f["path"] != "report.json"]
    (run / "derived.json").write_text(json.dumps(listed))
    change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4')


def unrecord_dump(run):
    files = run_folders.manifest(run)["files"]
    (run / "manifest.json").write_text(json.dumps(
        {**run_folders.manifest(run), "files": [f for f in files if f["path"] != DUMP]}))


def unfinished(run):
    never_reported(run)
    run_folders.alter(run, state="running", files=[])


def forged_report(run):
    for name in ("report.md", "report.html"):
        text = (run / name).read_text()
        (run / name).write_text(re.sub(r"\d\.\d+×", "9.74×", text))


def without_list(run):
    forged_report(run)
    (run / "derived.json").unlink()


def list_of_nothing(run):
    forged_report(run)
    (run / "derived.json").write_text('{"schema": "etprof.derived/1", "files": []}')


def no_manifest_hash(run):
    listed = (run / "derived.json").read_text()
    (run / "derived.json").write_text(re.sub(r' *"manifest_sha256": "\w+",\n', "", listed))
    change_byte(run / "manifest.json", b'"generated_at": "2', b'"generated_at": "1')


def packed_samples(run):
    (run / "samples.csv.zst").write_bytes((run / "samples.csv").read_bytes())


def one_more(name, of=None):
    def add(run):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_bytes((run / of).read_bytes() if of else b"<h1>9x</h1>")

    return add


def never_reported(run):
    for name in [f["path"] for f in json.loads((run / "derived.json").read_text())["files"]] + ["derived.json"]:
        (run / name).unlink()


# name, what is changed, exit code, a file and the state it must have
CASES = [
    ("untouched", lambda run: None, 0, "samples.csv", "ok"),
    ("samples.csv", last_digit, 1, "samples.csv", "altered"),
    ("environment.jsonl", lambda run: change_byte(run / "environment.jsonl", b'"pid":', b'"pit":'), 1,
     "environment.jsonl", "altered"),
    ("a dump", lambda run: change_byte(run / DUMP), 1, DUMP, "altered"),
    ("report.json", lambda run: change_byte(run / "report.json", b'"estimate": 3', b'"estimate": 4'), 1, "report.json",
     "altered"),
    ("metrics.json", lambda run: change_byte(run / "metrics.json"), 1, "metrics.json", "altered"),
    ("samples.csv is gone", lambda run: (run / "samples.csv").unlink(), 1, "samples.csv", "missing"),
    ("samples.csv is gone: the other files", lambda run: (run / "samples.csv").unlink(), 1, DUMP, "ok"),
    ("environment.jsonl is gone", lambda run: (run / "environment.jsonl").unlink(), 1, "environment.jsonl", "missing"),
    ("a dump is gone", lambda run: (run / DUMP).unlink(), 1, DUMP, "missing"),
    ("report.html is gone", lambda run: (run / "report.html").unlink(), 1, "report.html", "missing"),
    ("a dump nobody recorded", unrecord_dump, 1, DUMP, "added"),
    ("forged with its hash", forge, 1, "report.json", "differs"),
    ("taken off the list", unlist, 1, "report.json", "altered"),
    ("rounding", rounding, 0, "report.json", "within_1e-6"),
    ("more than rounding", lambda run: by(run, 3), 1, "report.json", "differs"),
    ("a count", lambda run: (change_byte(run / "report.json", b'"blocks": 6', b'"blocks": 7'),
                             rehash(run, "report.json")), 1, "report.json", "differs"),
    ("outputs nobody recorded", lambda run: (run / "linux_sme2_on" / "outputs" / "output-1.bin").write_bytes(b"1234"),
     1, "linux_sme2_on/outputs/output-1.bin", "added"),
    ("expectations nobody recorded", expectations, 1, "program/expected/outputs.json", "added"),
    ("roofs nobody recorded", lambda run: (run / "roofs.json").write_text("{}"), 4, None, None),
    ("the manifest", lambda run: change_byte(run / "manifest.json", b'"generated_at": "2', b'"generated_at": "1'), 1,
     "manifest.json", "altered"),
    ("the list of hashes", hash_digit, 1, "derived.json", "altered"),
    ("no list", without_list, 1, "derived.json", "missing"),
    ("no list: a report", without_list, 1, "report.md", "altered"),
    ("an empty list", list_of_nothing, 1, "derived.json", "altered"),
    ("an empty list: a report", list_of_nothing, 1, "report.html", "altered"),
    ("a list without the manifest", no_manifest_hash, 1, "derived.json", "altered"),
    ("a list that holds nothing else", lambda run: (run / "derived.json").write_text(""), 1, "derived.json",
     "altered"),
    ("never reported on", never_reported, 0, "samples.csv", "ok"),
    ("never reported on, a note", lambda run: (never_reported(run), one_more("note.txt")(run)), 1, "note.txt", "added"),
    ("packed samples", packed_samples, 1, "samples.csv.zst", "added"),
    ("samples spelt otherwise", one_more("SAMPLES.CSV", "samples.csv"), 1, "SAMPLES.CSV", "added"),
    ("a hidden dump", one_more("linux_sme2_on/.x.etdump", DUMP), 1, "linux_sme2_on/.x.etdump", "added"),
    ("a folder of an arm, copied", one_more("linux_avx9/model_t1.etdump", DUMP), 1, "linux_avx9/model_t1.etdump",
     "added"),
    ("another report", one_more("report_final.html"), 1, "report_final.html", "added"),
    ("a table of another tool", one_more("x_comparison.csv"), 0, "x_comparison.csv", "beside"),
    ("what a file manager leaves", one_more(".DS_Store"), 0, "samples.csv", "ok"),
    ("not finished, no hashes", unfinished, 1, "manifest.json", "altered"),
    ("samples.csv unreadable", lambda run: change_byte(run / "samples.csv", b",timed,", b",tamed,"), 1, "samples.csv",
     "altered"),
    ("manifest cut", lambda run: (run / "manifest.json").write_text((run / "manifest.json").read_text()[:300]), 4,
     None, None),
    ("derived.json outside", lambda run: (run / "derived.json").write_text(
        '{"schema": "etprof.derived/1", "files": [{"path": "../model.pte", "sha256": "", "bytes": 1}]}'), 1,
     "derived.json", "altered"),
]

tmp = new_folder()
fake_sessions.model(tmp / "model.pte", "base sme2 1000000", "base neon 3300000", "noise 9")
execute(ETPROF, "ab", "model.pte", *fake_sessions.words(), "--runner", FAKE, cwd=tmp, check=True)
execute(ETPROF, "analyze", "run", "--margin", "2", "--renew", cwd=tmp, check=True)
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

text_lists(tmp)
for empty in ("empty", "linux_sme2_on/copy/deeper"):
    (tmp / "run" / empty).mkdir(parents=True)
    done, _, states = verify(tmp)
    named = states.get(f"{empty}/") == "added"
    expect(done.returncode == 1 and named, "an empty folder", empty, done.stdout[-300:])
    shutil.rmtree(tmp / "run" / empty)
(tmp / "run/linux_sme2_on/copy").rmdir()
answers(tmp, False)
samples = (tmp / "run/samples.csv").read_bytes()
change_byte(tmp / "run/samples.csv")
text_lists(tmp, "samples.csv")
answers(tmp, True)
# Blocks that are added would give what was edited a hash of its own.
manifest = tmp / "run/manifest.json"
whole = manifest.read_text()
for words, state in ((("--resume", "run", "--blocks", "1"), "finished"), (("--resume", "run"), "interrupted")):
    manifest.write_text(whole.replace('"state": "finished"', f'"state": "{state}"'))
    done = ended(execute(ETPROF, "ab", *words, cwd=tmp), 4, says="samples.csv does not have the hash")
manifest.write_text(whole)
expect(verify(tmp)[2].get("samples.csv") == "altered", "an edited file", "has another hash now")
(tmp / "run/samples.csv").write_bytes(samples)
manifests(tmp, samples)

# Every file of the folder, changed in one byte, cut or longer: verify never says yes, and names that file.
rng = random.Random(5)
changes = 0
for path in sorted(p for p in (tmp / "run").rglob("*") if p.is_file() and p.name != "session.lock"):
    name, data = str(path.relative_to(tmp / "run")), path.read_bytes()
    at = rng.randrange(len(data)) if data else 0
    for what, changed in (("a byte", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:] if data else b"x"),
                          ("longer", data + b"\n"),
                          ("cut", data[:-1]), ("half", data[:len(data) // 2]), ("empty", b"")):
        if changed == data:
            continue
        path.write_bytes(changed)
        done, document, states = verify(tmp)
        changes += 1
        # Of a manifest that cannot be read nothing follows, not even what the other files are.
        codes = (1, 2, 4) if name == "manifest.json" else (1, 4) if what in ("a byte", "longer") else (1,)
        expect(done.returncode in codes, f"{name}, {what} at {at}", f"exit {done.returncode}", done.stderr)
        expect(states.get(name, "ok") != "ok" or pathlib.Path(name).name in done.stderr, f"{name}, {what} at {at}",
               f"not named: {done.stderr}{states}")
    path.write_bytes(data)
expect(verify(tmp)[0].returncode == 0, "put back", "not accepted")
finish(f"{len(CASES)} cases and {changes} changes of single files as documented")
