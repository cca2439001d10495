# SPDX-License-Identifier: Apache-2.0
"""`etprof smoke`: the whole way works with the real runner, and every way in which it can fail is told.
usage: test_smoke.py ETPROF FAKE_RUNNER; 77 = skipped, no runner is built (after the failing cases ran)"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
STEPS = ["model", "measure", "evidence", "analyse", "report", "validate", "dumps"]


def smoke(cwd, *words, code=0):
    done = subprocess.run([ETPROF, "smoke", *words, "--quiet", "--format", "json"], cwd=cwd, capture_output=True,
                          text=True, timeout=600, check=False)
    answer = json.loads(done.stdout) if done.stdout else {"ok": None, "steps": [], "folder": None}
    if "no runner for" in json.dumps(answer):
        print("skipped: no runner is built here")
        return None
    expect(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    expect(done.returncode == 2 or answer["ok"] == (code == 0), f"{words}: ok is {answer['ok']}")
    bad = [s for s in answer["steps"] if s["ok"] is False]
    expect(all(s["fix"] and s["text"] for s in bad), f"{words}: {bad} say not what to do")
    return answer


def text_of(answer, step):
    return next((s["text"] for s in answer["steps"] if s["id"] == step), "")


def fake(cwd, *directives):
    """What fake_runner takes for a model; it runs nothing and does what the lines say."""
    lines = ("base vnni 1000000", "base avx2 3000000", "base sme2 1000000", "base neon 3000000", *directives)
    (cwd / "model.pte").write_bytes(b"\x10\0\0\0ET12" + "\n".join(lines).encode() + b"\n")
    return ["--model", "model.pte", "--runner", FAKE]


def main(cwd):
    answer = smoke(cwd, "--model", "no.pte", code=5)
    expect([s["id"] for s in answer["steps"]] == ["model"], f"no.pte: {answer}")
    smoke(cwd, "--model", "a.pte", "--export", "toy_cnn", code=2)
    smoke(cwd, *fake(cwd, "on * * * crash"), code=6)
    # A self-test that can tell of no level has not passed.
    unsure = cwd / "unsure"
    unsure.write_text(f"#!/bin/sh\ncase \"$*\" in *--selftest*) {FAKE} \"$@\" | sed 's/\"ok\":true/\"ok\":null/';; "
                      f"*) exec {FAKE} \"$@\";; esac\n")
    unsure.chmod(0o755)
    answer = smoke(cwd, *fake(cwd)[:3], unsure, "--out", "unsure-run", code=1)
    expect("masking cannot tell" in text_of(answer, "evidence"), f"a self-test that cannot tell: {answer}")
    answer = smoke(cwd, *fake(cwd), code=1)  # the fake's dumps are none
    expect("masking passed" in text_of(answer, "evidence"), f"a self-test that passed: {answer}")
    bad = {s["id"] for s in answer["steps"] if s["ok"] is False}
    expect(bad == {"measure", "analyse", "validate", "dumps"}, f"dumps that are none: {bad}")
    expect((cwd / answer["folder"] / "manifest.json").is_file(), "what failed is kept")
    work = cwd / ".etprof/work"
    answer = smoke(cwd, "--out", "kept")
    if answer is None:
        return 77
    expect([s["id"] for s in answer["steps"]] == STEPS, f"steps {answer['steps']}")
    expect(answer["seconds"] < 60, f"{answer['seconds']} s")
    expect((cwd / "kept/report.html").is_file() and answer["folder"] == "kept", "the run folder is where --out says")
    again = smoke(cwd)
    expect(again["folder"] is None, f"a folder is left: {again['folder']}")
    left = [p.name for p in work.glob("smoke-*")]
    expect(len(left) == 1, f"left behind: {left}")
    done = subprocess.run([ETPROF, "validate", "kept"], cwd=cwd, capture_output=True, text=True, timeout=600,
                          check=False)
    expect(done.returncode == 0, done.stdout)
    return 0


with tempfile.TemporaryDirectory() as tmp:
    code = main(pathlib.Path(tmp))
finish(code=code)
