# SPDX-License-Identifier: Apache-2.0
"""A finished session is measured further: what was there stays as it is, intervals are widened because the result was
known, and the command that stands beside every unknown answer is one that the program takes.

usage: extend.py ETPROF FAKE_RUNNER"""
import json
import math
import os
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from by_hand import looked_at, medians
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def etprof(tmp, *words, fine=(0, 3)):
    done = execute(ETPROF, *words, cwd=tmp, env=os.environ | {"ETPROF_RUNNER": FAKE})
    expect(done.returncode in fine, words, done.returncode, done.stderr[-500:])
    return done


def again(tmp, command, *more, fine=(0, 3)):
    """Runs a command as it was printed."""
    words = shlex.split(command)
    expect(words[:1] == ["etprof"], "a command", command)
    return etprof(tmp, *words[1:], *more, fine=fine)


def settles(done):
    """The command that an answer names; it may be broken at a blank."""
    found = re.search(r"To settle it: (etprof (?:\S+\s+)*?--blocks \d+)", re.sub(r"\s*\n\s*", " ", done.stdout))
    expect(found, "unknown names no command", done.stdout[:700])
    return found.group(1) if found else "etprof none"


def new(tmp, name, *more, noise=0):
    model = fake_sessions.model(tmp / f"{name}.pte", "base sme2 1000000", "base neon 1015000", f"noise {noise}")
    return etprof(tmp, "ab", model, "--runner", FAKE, "--levels", "sme2,neon", "--iterations", 4, "--warmup", 1,
                  "--seed", 7, "--out", name, *more)


def check_few(tmp):
    first = new(tmp, "few", "--blocks", 2)
    folder, before = tmp / "few", {}
    for path in (p for p in folder.rglob("*") if p.is_file() and p.name.endswith((".etdump", ".log", "samples.csv"))):
        before[path] = path.read_bytes()
    said = settles(first)
    expect(said.endswith("--blocks 4"), "two of six blocks", said)
    again(tmp, said)
    m = run_folders.manifest(folder)
    expect((m["state"], m["blocks_done"], m["plan"]["blocks"], m["plan"]["extended"]) == ("finished", 6, 6, 2),
           m["state"], m["blocks_done"], m["plan"])
    for path, content in before.items():
        expect(path.read_bytes()[:len(content)] == content, path.name, "is as it was")
    expect(len(before) >= 3, "files of the first blocks", len(before))
    etprof(tmp, "verify", "few", fine=(0,))
    shown = etprof(tmp, "analyze", "few", "--full")
    expect("extended" in shown.stdout and "after 2 blocks" in shown.stdout, "the whole text says so")
    etprof(tmp, "ab", "--resume", "few", "--blocks", 2)
    m = run_folders.manifest(folder)
    expect((m["blocks_done"], m["plan"]["extended"]) == (8, 6), "extended once more")


def check_interval(answer, folder):
    times, c = medians(folder), answer["comparisons"][0]
    found = [math.log(c["speedup"][end]) for end in ("lo", "hi")]
    wanted = looked_at(times[c["baseline"]], times[c["candidate"]])
    expect(all(abs(x - y) < 1e-4 for x, y in zip(found, wanted)), "interval", c, wanted)


def check_gate(tmp):
    new(tmp, "noisy", "--blocks", 6, noise=30)
    done = etprof(tmp, "gate", "noisy", "speedup >= 1", "--format", "json")
    fixes = [c["fix"] for c in json.loads(done.stdout)["checks"] if c["ok"] is None]
    expect(fixes == ["etprof rerun noisy"], "more blocks bring no more control launches", fixes)
    arm = run_folders.report(tmp / "noisy")["arms"][0]
    done = etprof(tmp, "gate", "noisy", f"latency {arm['name']} <= {arm['median_ns']} ns", "--format", "json")
    fixes = [c["fix"] for c in json.loads(done.stdout)["checks"] if c["ok"] is None]
    expect(done.returncode == 3 and fixes, "gate is unknown", done.returncode, done.stdout[:300])
    for fix in fixes:
        expect(re.match(r"etprof ab --resume \S+ --blocks \d+", fix or ""), "the fix is a command", fix)
    if fixes:
        done = again(tmp, re.match(r"etprof ab --resume \S+ --blocks ", fixes[0]).group(0) + "2", "--format", "json")
        expect(run_folders.manifest(tmp / "noisy")["blocks_done"] == 8, "measured further")
        check_interval(json.loads(done.stdout), tmp / "noisy")


def check_refusals(tmp):
    for words, says in ((("--resume", "few"), "few is finished: say how many blocks"),
                        (("--resume", "few", "--levels", "sme2"), "leave out"),
                        (("--resume", "few", "--blocks", "999"), "1000"),
                        (("--resume", "few", "few.pte"), "leave out")):
        done = etprof(tmp, "ab", *words, fine=(2,))
        expect(says in done.stderr, words, done.stderr)
    done = etprof(tmp, "ab", "--resume", "none", fine=(5,))
    expect("cannot open none: No such file" in done.stderr, "a folder that is not there", done.stderr)
    run_folders.alter(tmp / "few", state="interrupted")
    done = etprof(tmp, "ab", "--resume", "few", "--blocks", 2, fine=(2,))
    expect("few is not finished" in done.stderr and "leave out --blocks" in done.stderr, "an unfinished one",
           done.stderr)
    done = etprof(tmp, "analyze", "few")


def main():
    tmp = new_folder()
    check_few(tmp)
    check_gate(tmp)
    check_refusals(tmp)
    finish()


main()
