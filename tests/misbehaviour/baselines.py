# SPDX-License-Identifier: Apache-2.0
"""Run folders by name: etprof ab --save, gate --against NAME, baselines; folders that moved or changed, bad notes.

The fake runner's durations are exact: base LEVEL NS in its model file. usage: baselines.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
OPTIONS = ["--levels", "sme2,neon", "--iterations", "4", "--warmup", "3", "--seed", "7", "--runner", FAKE]


def run(*words, **env):
    return execute(ETPROF, *words,
                   env={**os.environ, "HOME": str(TMP / "home"), "XDG_STATE_HOME": str(TMP / "state"), **env})


def measure(out, ns, *options, blocks=6):
    fake_sessions.model("model.pte", f"base sme2 {ns}", "base neon 3000000")
    return run("ab", "model.pte", "--out", out, "--blocks", blocks, *OPTIONS, *options)


def listed():
    document = json.loads(run("gate", "--list", "--format", "json").stdout)
    expect(document["schema"] == "etprof.baselines/1", document)
    return {b["name"]: (b["state"], b["dir"], b.get("manifest_sha256")) for b in document["baselines"]}


def against(name, code, *words, folder="slow"):
    done = run("gate", folder, "--against", name)
    said = done.stdout + done.stderr
    expect(done.returncode == code and all(w in said for w in words), f"--against {name}", done.returncode, said)


def saved():
    expect(listed() == {}, "nothing is saved yet")
    expect("--save" in run("gate", "--list").stdout, "an empty list says what to do")
    measure("fast", 1000000)
    ended(run("gate", "fast", "--save", "main"), 0, says="main")
    measure("slow", 1300000)
    digest = hashlib.sha256(pathlib.Path("fast/manifest.json").read_bytes()).hexdigest()
    expect(listed() == {"main": ("same", str(TMP / "fast"), digest)}, "listed", listed())
    note = TMP / "state/etprof/baselines/main"
    ended(execute("sha256sum", "-c", note, text=False), 0)
    against("main", 1, "against:SME2", str(TMP / "fast"))
    against("main", 0, folder="fast")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    against("main", 1, "against:SME2", folder="../slow")
    os.chdir(TMP)
    # Where there is a folder of that name too, which of the two is meant is asked; the same folder is no question.
    (TMP / "work").mkdir()
    os.symlink(TMP / "slow", "work/main")
    os.chdir("work")
    against("main", 2, "./main", str(TMP / "fast"), folder="../slow")
    against("./main", 0, folder="../slow")
    os.chdir(TMP)
    os.symlink(TMP / "fast", "main")
    against("main", 1, "against:SME2")
    os.unlink("main")
    done = run("gate", "slow", "--save", "release-1.0")
    expect(done.returncode == 0 and listed()["release-1.0"][:2] == ("same", str(TMP / "slow")), done.stderr)
    expect(sorted(listed()) == ["main", "release-1.0"], listed())


def lost():
    os.rename("fast", "away")
    expect(listed()["main"][0] == "moved", "a moved folder", listed())
    against("main", 5, "moved or removed", "gate FOLDER --save main")
    ended(run("gate", "away", "--save", "main"), 0, says=f"it was {TMP / 'fast'}")
    against("main", 1, "against:SME2")
    manifest = pathlib.Path("away/manifest.json")
    before = manifest.read_bytes()
    manifest.write_bytes(before + b"\n")
    expect(listed()["main"][0] == "changed", "a changed folder", listed())
    against("main", 4, "another run", "gate FOLDER --save main")
    manifest.write_bytes(before)
    against("main", 1, "against:SME2")
    note = TMP / "state/etprof/baselines/main"
    line = note.read_bytes()
    for bad in (b"", b"main\n", line[:-1], line[1:], line + line, line.replace(b"  /", b"  "),
                line[:64] + b"\0" + line[65:], b"\xff" * 9000):
        note.write_bytes(bad)
        done = run("gate", "slow", "--against", "main")
        expect(done.returncode == 4 and done.stderr.startswith("etprof gate: "), bad[:80], done.returncode, done.stderr)
        expect(run("gate", "--list").returncode in (0, 4), "a bad note", bad[:80])
    note.write_bytes(line)


def refused():
    against("nosuch", 2, "no folder and no baseline is called 'nosuch'", "etprof gate --list")
    for name in ("", ".", "..", "../x", "a/b", "-x", "a b", "x" * 65, "a\nb", "ä"):
        expect(run("gate", "slow", f"--save={name}").returncode == 2, name)
        expect(run("gate", f"--forget={name}").returncode == 2, name)
    for words in ([], ["--forget"], ["--save", "x"], ["slow", "speedup >= 1", "--save", "x"], ["none", "--save", "x"],
                  ["--forget", "nosuch"], ["slow", "--list"], ["slow", "--forget", "main"],
                  ["--list", "--forget", "main"]):
        expect(run("gate", *words).returncode in (2, 4, 5), words)
    ended(run("gate", "slow", "--save", "x", HOME="", XDG_STATE_HOME="relative"), 2, says="HOME")
    for name in ("main", "release-1.0"):
        expect(run("gate", "--forget", name).returncode == 0, "removed", name)
    expect(listed() == {}, "removed")
    expect(pathlib.Path("away/manifest.json").is_file(), "the folder stays")


def interrupted():
    fake_sessions.model("model.pte")
    session = fake_sessions.begun([ETPROF, "ab", "model.pte", "--out=cut", "--blocks=1000", *OPTIONS],
                                  lambda: pathlib.Path("cut/samples.csv").stat().st_size > 200,
                                  env={**os.environ, "XDG_STATE_HOME": str(TMP / "state")})
    session.send_signal(signal.SIGINT)
    said = session.communicate(timeout=300)[1]
    expect(session.returncode == 130, "interrupted", session.returncode, said)
    expect(run("gate", "cut", "--save", "cut").returncode == 2, "what is not finished gets no name")
    expect("cut" not in listed(), "what is not finished has no name")


TMP = new_folder()
os.chdir(TMP)
saved()
lost()
refused()
interrupted()
os.chdir("/")
finish("baselines have names, and what became of them is said")
