# SPDX-License-Identifier: Apache-2.0
"""The store of sessions: what measures enters its session by itself, history and gate answer from it as from the
folders, it is made again from them, and whatever is wrong with it, the measurement stands. SQLite is asked by Python.

The fake runner's durations are planted: base LEVEL NS in its model file. usage: stored.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def run(*words, **env):
    """With a home of its own, and no word of where the store is."""
    own = {k: v for k, v in os.environ.items() if k not in ("ETPROF_STORE", "XDG_DATA_HOME")}
    return subprocess.run([ETPROF, *map(str, words)], capture_output=True, text=True, timeout=600, check=False,
                          env={**own, "HOME": str(TMP / "home"), "XDG_STATE_HOME": str(TMP / "state"), **env})


def measure(out, ns, seed, *options, **env):
    pathlib.Path("model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 %d\nbase neon 3000000\nnoise 4\n" % ns)
    return run("ab", "model.pte", "--levels", "sme2,neon", "--blocks", 6, "--iterations", 4, "--warmup", 1, "--seed",
               seed, "--runner", FAKE, "--out", out, *options, **env)


def ask(file, sql):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        rows = db.execute(sql).fetchall()
    db.close()
    return rows


def json_of(*words, code=0, **env):
    done = run(*words, "--format", "json", **env)
    expect(done.returncode == code, words, done.returncode, done.stderr)
    return json.loads(done.stdout) if done.stdout else {}


def listed(*words, **env):
    return json_of("history", "list", *words, **env).get("sessions", [])


def hash_of(folder):
    return hashlib.sha256(pathlib.Path(folder, "manifest.json").read_bytes()).hexdigest()


def entered():
    expect(listed() == [], "nothing is there yet")
    expect(not STORE.exists(), "listing makes no file")
    none = run("history")
    expect(none.returncode == 2 and "history add" in none.stderr, "an empty store says what to do", none.stderr)
    first = measure("nightly/run0", 1000000, 1)
    expect(first.returncode == 0 and str(STORE) in first.stderr, "the first one says where", first.stderr)
    for number in range(1, 8):
        done = measure(f"nightly/run{number}", 1000000 if number < 4 else 1100000, number + 1, "--no-trace")
        expect(done.returncode == 0 and str(STORE) not in done.stderr, "and only the first", done.stderr)
    lines = listed()
    folders = [str(TMP / f"nightly/run{n}") for n in range(8)]
    expect(sorted(x["folder"] for x in lines) == folders, lines)
    expect({x["run_id"] for x in lines} == {hash_of(f) for f in folders}, "the hashes of the manifests")
    answer = json_of("analyze", "nightly/run0")
    ratio = answer["comparisons"][0]["speedup"]["estimate"]
    line = next(x for x in lines if x["folder"] == folders[0])
    expect(line["models"] == "model" and line["device"] == "local" and line["estimate"] == ratio, line, ratio)
    expect(ask(STORE, "PRAGMA journal_mode") == [("wal",)], "other processes read beside a writer")
    medians = {a["name"]: a["median_ns"] for a in answer["arms"]}
    stored = dict(ask(STORE, "SELECT experiment, median_ns FROM arms JOIN sessions ON session = id"
                             f" WHERE run_id = '{hash_of(folders[0])}'"))
    expect(stored == medians and len(medians) == 2, stored, medians)


def answered():
    """The same series and changes as from the folders, which read every file of every session."""
    folders, store = json_of("history", "nightly"), json_of("history", "--of", "model", "--on", "local")
    expect(store == folders and len(store["runs"]) == 8, "history of the store differs", store, folders)
    planted = {s["name"]: [c["run"] for c in s["changes"]] for s in store["series"]}
    expect(planted["model_linux_sme2_on_t1_ns"] == [4], planted)
    with open("nightly.csv", "w", encoding="utf-8") as f:
        f.write(run("history", "nightly", "--format", "csv").stdout)
    expect(run("history", "--format", "csv").stdout == pathlib.Path("nightly.csv").read_text(), "as a table")
    for words in (("--of", "none"), ("--on", "none"), ("--since", "2999")):
        done = run("history", *words)
        expect(done.returncode == 2 and "history list" in done.stderr, words, done.stderr)
        expect(listed(*words) == [], words)
    expect(run("history", "nightly", "--of", "model").returncode == 2, "folders are not chosen from")
    expect("nightly/run7" in run("history", "list", "--format", "csv").stdout, "list as a table")


def again():
    done = run("history", "add", "nightly")
    expect(done.returncode == 0 and "0 new, 0 made again, 8 known" in done.stderr, done.stderr)
    expect(ask(STORE, "SELECT count(*) FROM sessions") == [(8,)], "each once")
    before = ask(STORE, "SELECT s.run_id, r.* FROM arms r JOIN sessions s ON s.id = r.session ORDER BY 1, 3")
    shutil.rmtree("other", ignore_errors=True)
    os.rename("nightly", "other")
    expect("8 known" in run("history", "add", "other").stderr, "a folder that moved is the same session")
    expect(all("/other/" in x["folder"] for x in listed()), listed())
    os.rename("other", "nightly")
    run("history", "add", "nightly")
    # Lost, and made again from the folders: every figure.
    os.rename(STORE, "lost.sqlite")
    shutil.copytree("nightly/run0", "nightly/torn")
    manifest = pathlib.Path("nightly/torn/manifest.json")
    manifest.write_bytes(manifest.read_bytes()[:-100])
    done = run("history", "rebuild", "nightly")
    expect(done.returncode == 4 and "8 new" in done.stderr and "nightly/torn" in done.stderr, done)
    shutil.rmtree("nightly/torn")
    after = ask(STORE, "SELECT s.run_id, r.* FROM arms r JOIN sessions s ON s.id = r.session ORDER BY 1, 3")
    strip = [tuple(v for i, v in enumerate(row) if i != 1) for row in before]
    expect(strip == [tuple(v for i, v in enumerate(row) if i != 1) for row in after], "rebuilt, other figures")
    with sqlite3.connect(STORE) as db:
        db.execute("UPDATE arms SET median_ns = 1")
    db.close()
    os.rename("nightly/run7", "gone")
    done = run("history", "rebuild")
    expect("7 made again" in done.stderr and "1 kept" in done.stderr, done.stderr)
    expect(ask(STORE, "SELECT count(*) FROM arms WHERE median_ns = 1") == [(2,)], "made again from the folders")
    os.rename("gone", "nightly/run7")
    expect("8 made again" in run("history", "rebuild").stderr, "all of them")


def unfinished():
    """A session that was interrupted is entered when it is whole, not before."""
    shutil.copytree("nightly/run0", "cut/run")
    manifest = pathlib.Path("cut/run/manifest.json")
    told = manifest.read_text()
    for state in ("interrupted", "running"):
        manifest.write_text(told.replace('"state": "finished"', f'"state": "{state}"'))
        expect(manifest.read_text() != told, "the manifest's state")
        said = run("history", "add", "cut").stderr
        expect("0 new" in said and "0 made again" in said, state, said)
        expect(ask(STORE, "SELECT count(*) FROM sessions") == [(8,)], state, "is not entered")
    shutil.rmtree("cut")


def gated():
    """A baseline whose folder is gone is in the store: the same answer as with the folder."""
    expect(run("gate", "nightly/run0", "--save", "main").returncode == 0, "save")
    want = json_of("gate", "nightly/run7", "--against", "main", code=1)
    os.rename("nightly/run0", "away")
    found = json_of("gate", "nightly/run7", "--against", "main", code=1)
    expect(found == want, "gate --against from the store", found, want)
    state = json_of("gate", "--list")["baselines"][0]
    expect(state["state"] == "moved" and state["stored"] is True, state)
    expect("in the store" in run("gate", "--list").stdout, "the list says that it is enough")
    alone = run("gate", "nightly/run7", "--against", "main", ETPROF_STORE="off")
    expect(alone.returncode == 5 and "moved or removed" in alone.stderr, "without a store", alone.stderr)
    os.rename("away", "nightly/run0")


def measured(name, words, **env):
    """The session is finished and its answer printed; one line says why it was not entered."""
    done = measure(name, 1000000, 5, "--no-trace", **env)
    expect(done.returncode == 0 and "1.0" in done.stdout + done.stderr, name, done.returncode, done.stderr)
    expect(run("verify", name).returncode == 0, name)
    expect(("not entered" in done.stderr) == bool(words) and words in done.stderr, name, words, done.stderr)


def in_the_way():
    before = STORE.read_bytes()
    measured("off", "", ETPROF_STORE="off")
    expect(not any("off" in x["folder"] for x in listed()), "off is off")
    done = run("history", "list", ETPROF_STORE="off")
    expect(done.returncode == 2 and "off" in done.stderr, done.stderr)
    measured("homeless", "HOME", HOME="", XDG_DATA_HOME="relative")
    measured("a_folder", "is no file", ETPROF_STORE=str(TMP))
    pathlib.Path("letter.txt").write_text("Dear Sir or Madam, this is no database at all.\n" * 100)
    measured("letter", "no SQLite file", ETPROF_STORE="letter.txt")
    with sqlite3.connect("songs.sqlite") as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()
    songs = pathlib.Path("songs.sqlite").read_bytes()
    measured("songs", "another program", ETPROF_STORE="songs.sqlite")
    expect(pathlib.Path("songs.sqlite").read_bytes() == songs, "a file of others is left alone")
    shutil.copy(STORE, "newer.sqlite")
    with sqlite3.connect("newer.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    measured("newer", "newer etprof", ETPROF_STORE="newer.sqlite")
    expect("newer etprof" in run("history", "list", "--store", "newer.sqlite").stderr, "reading it says so too")
    expect(STORE.read_bytes() == before, "none of this is in the user's store")
    # No file, where there may be none: a device that is full from the beginning.
    if pathlib.Path("/dev/full").exists():
        measured("device", "is no file", ETPROF_STORE="/dev/full")
    measure("own", 1000000, 6, "--no-trace", "--store", "deep/own.sqlite")
    expect([x["folder"] for x in listed("--store", "deep/own.sqlite")] == [str(TMP / "own")], "--store")
    measure("data", 1000000, 6, "--no-trace", XDG_DATA_HOME=str(TMP / "data_home"))
    expect((TMP / "data_home/etprof/sessions.sqlite").is_file(), "XDG_DATA_HOME")
    expect(len(listed()) == 8, "and the user's own has what it had", len(listed()))


def continued():
    """Another session in the place of an old one: both stay."""
    expect(measure("place", 1000000, 8, "--no-trace").returncode == 0, "place")
    shutil.rmtree("place")
    second = int(time.time())
    while int(time.time()) == second: # sessions of one folder are told apart by when they began
        time.sleep(0.01)
    expect(measure("place", 1200000, 9, "--no-trace").returncode == 0, "place again")
    own = [x for x in listed() if x["folder"] == str(TMP / "place")]
    expect(len(own) == 2 and len({x["run_id"] for x in own}) == 2, own)


if "built without SQLite" in subprocess.run([ETPROF, "history", "list", "--store", "/dev/null/absent"], text=True,
                                            capture_output=True, check=False).stderr:
    skip("this etprof was built without SQLite")
expect(os.environ.get("ETPROF_STORE") == "off" or "CTEST_INTERACTIVE_DEBUG_MODE" not in os.environ,
       "ctest must not let tests enter their sessions in the user's store")
with tempfile.TemporaryDirectory() as made:
    TMP = pathlib.Path(made).resolve()
    STORE = TMP / "home/.local/share/etprof/sessions.sqlite"
    os.chdir(TMP)
    entered()
    answered()
    again()
    unfinished()
    gated()
    in_the_way()
    continued()
    os.chdir("/")
finish("sessions are in the store, and a store in trouble costs no measurement")
