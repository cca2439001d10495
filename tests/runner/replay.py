#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One operator by itself, with the real runner: replay.py ETPROF SOURCE"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ETPROF, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
DATA = pathlib.Path(SOURCE, "tests", "data")
SHORT = ["--blocks", "2", "--iterations", "4", "--quiet"]


def run(*words):
    done = subprocess.run([ETPROF, *map(str, words)], text=True, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def ask(*words):
    code, said, error = run("replay", *words, "--format", "json")
    return code, json.loads(said) if said else None, error


def check_capsule(folder):
    """Without a runner: what is in it, and that its weights are the model's in another order."""
    model = DATA / "linear_xnnpack_fp32.pte"
    for words, real in ((["--real-weights"], True), ([], False)):
        code, answer, error = ask(model, "0:0", "--no-measure", *words)
        expect(code == 0 and answer["real_weights"] == real and answer["levels"] == [], "no measure", answer, error)
        capsule = pathlib.Path(folder, answer["capsule"])
        expect(capsule.stat().st_size == answer["bytes"] < 20000, "the capsule", answer)
        code, said, error = run("inspect", capsule, "--format", "json")
        expect(code == 0, "inspect", error)
        inside, whole = json.loads(said), json.loads(run("inspect", model, "--format", "json")[1])
        expect(inside["delegates"][0]["nodes"] == whole["delegates"][0]["nodes"], "its node", inside)
        first = lambda d, file: file[s[0]["offset"]:][:s[0]["size"]] if (  # noqa: E731
            s := [x for x in d["segments"] if x["kind"] == "named"]) else b""
        mine, theirs = first(inside, capsule.read_bytes()), first(whole, model.read_bytes())
        words_of = lambda data: collections.Counter(data[i:i + 4] for i in range(0, len(data), 4))  # noqa: E731
        expect(words_of(mine) == words_of(theirs) and (mine == theirs) == (real or not theirs), "weights", real)


def check_in_the_way():
    """A file of the capsule's name that is another one stays; the capsule itself may be written again."""
    model = DATA / "linear_xnnpack_fp32.pte"
    code, answer, error = ask(model, "0:0", "--no-measure")
    expect(code == 0 and answer["outside"] == 0, "again", error)
    there = pathlib.Path(answer["capsule"])
    there.write_bytes(model.read_bytes())
    code, answer, error = ask(model, "0:0", "--no-measure")
    expect(code == 2 and "is not this operator's program" in error, "in the way", error)
    expect(there.read_bytes() == model.read_bytes(), "in the way", "it stays")
    there.unlink()


def check_nothing_written():
    """What is refused later is refused before the capsule is written."""
    model = DATA / "linear_xnnpack_fp32.pte"
    pathlib.Path("taken").mkdir()
    pathlib.Path("taken", "mine").write_text("")
    for words, part in ((["--out", "taken"], "folder taken is not empty"),
                        (["--no-measure", "--data", "none.ptd"], "none.ptd does not exist")):
        code, answer, error = ask(model, "0:0", *words)
        expect(code == 2 and part in error and not list(pathlib.Path().glob("*.pte")), words, error,
               list(pathlib.Path().glob("*.pte")))


def check_operator_of_an_answer():
    """op5 of a run folder is the node that its row names; who did not measure the folder names model and node."""
    model = DATA / "fixes" / "odd_sizes.pte"
    code, said, error = run("ab", model, *SHORT, "--out", "measured", "--format", "json")
    if code == 5 and "runner" in error:
        skip(error.strip())
    operators = {o["id"]: o for o in json.loads(said)["operators"]}
    at = next(o for o in operators.values() if "IGEMM" in str(o["names"]))
    code, answer, error = ask("measured", at["id"], "--no-measure")
    expect(code == 0 and answer["type"] == "Conv2d" and answer["model"] == str(model), at["id"], answer, error)
    pathlib.Path(answer["capsule"]).unlink()
    code, answer, error = ask("measured", "op999", "--no-measure")
    expect(code == 2 and f"it has op1 to op{len(operators)}" in error, "op999", error)
    os.environ["XDG_STATE_HOME"] = str(pathlib.Path("another's").resolve())
    code, answer, error = ask("measured", at["id"], "--no-measure")
    expect(code == 2 and "was not measured by you" in error and not list(pathlib.Path().glob("*.pte")), "not ours",
           error)
    del os.environ["XDG_STATE_HOME"]


def check_refused():
    for words, part in (((DATA / "linear_xnnpack_fp32.pte", "3"), "DELEGATE:NODE"),
                        ((DATA / "linear_xnnpack_fp32.pte", "0x0:0x0"), "DELEGATE:NODE"),
                        ((DATA / "linear_xnnpack_fp32.pte", "0:9"), "delegate 0 has no node 9"),
                        ((DATA / "linear_xnnpack_fp32.pte", "7:0"), "no delegate 7 is called"),
                        ((DATA / "linear_portable_fp32.pte", "0:0"), "no delegate 0 is called")):
        code, answer, error = ask(*words)
        expect(code == 2 and part in error and answer is None, words[1], error)
    code, answer, error = ask(DATA / "llm" / "decoder_grouped.pte", "2:0", "--no-measure")
    expect(code == 4 and "node 0 (Convert) of delegate 2" in error and "hand over" in error, "a dynamic convert", error)


def check_measured():
    model = DATA / "fixes" / "odd_sizes.pte"
    code, answer, error = ask(model, "0:2", *SHORT)
    if code == 5 and "runner" in error:
        skip(error.strip())
    expect(code == 0 and answer["type"] == "Conv2d" and answer["levels"], "measured", answer, error)
    for row in answer["levels"]:
        expect(row["model"]["name"] == row["alone"]["name"] and row["alone"]["ns"] > 0, "ran as the same", row)
        busy = (row["waited"] or 0) > 0.05  # then neither time is the operator's
        expect(("other programs" in (row["why"] or "")) == busy and (not busy or row["agrees"] is None), "waited", row)
    code, said, error = run("replay", model, "0:2", *SHORT, "--levels", "best", "--issue")
    expect(code == 0 and said.startswith("### Conv2d") and "float32[33,3,3,33]" in said, "an issue", said, error)
    expect("etprof replay" in said and "| in the model | alone |" in said, "an issue", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_capsule(folder)
        for capsule in pathlib.Path(folder).glob("*.pte"):
            capsule.unlink()
        check_nothing_written()
        check_operator_of_an_answer()
        check_in_the_way()
        check_refused()
        check_measured()
    finish()


main()
