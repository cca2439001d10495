# SPDX-License-Identifier: Apache-2.0
"""One operator by itself, with the real runner: replay.py ETPROF SOURCE"""
import collections
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
DATA = pathlib.Path(SOURCE, "tests", "data")
SHORT = ["--blocks", "2", "--iterations", "4", "--quiet"]


def run(*words):
    done = execute(ETPROF, *words)
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
    if code == 5 and "no runner" in error:
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


SWEEP = ("--sweep", "M=64,1,7")


def check_sizes_made():
    """Without a runner: a program for each M, by M; what cannot be made is a row, what is no M is refused."""
    model = DATA / "linear_xnnpack_fp32.pte"
    code, answer, error = ask(model, "0:0", "--no-measure", *SWEEP)
    expect(code == 0 and answer["m"] == 2 and [s["m"] for s in answer["sizes"]] == [1, 7, 64], "sizes", answer, error)
    for size in answer["sizes"]:
        m = size["m"]
        expect(size["capsule"] == f"linear_xnnpack_fp32.0-0.M{m}.pte" and size["levels"] == [], "a size", size)
        expect(size["shapes"].startswith(f"float32[{m},4], ") and size["shapes"].endswith(f"float32[{m},3]"), m, size)
        inside = json.loads(run("inspect", size["capsule"], "--format", "json")[1])
        expect([t["shape"] for t in inside["methods"][0]["inputs"]] == [[m, 4]], "its input", inside["methods"])
        expect([t["shape"] for t in inside["methods"][0]["outputs"]] == [[m, 3]], "its output", inside["methods"])
        pathlib.Path(size["capsule"]).unlink()
    odd = DATA / "fixes" / "odd_sizes.pte"
    code, answer, error = ask(odd, "0:2", "--no-measure", "--sweep", "M=6,2147483647")
    made, not_made = answer["sizes"]
    expect(code == 0 and "[1,2,3,33], " in made["shapes"], "6 pixels are 2 × 3", made)
    expect(not_made["capsule"] is None and "no size that can be planned" in not_made["why"], "too many", not_made)
    pathlib.Path(made["capsule"]).unlink()
    for words, code, part in ((("0:2", "--sweep", "1,2"), 2, "as M=1,2,4,8, not '1'"),
                              (("0:2", "--sweep", "M=1,0"), 2, "not '0'"),
                              (("0:2", "--sweep", "M=4,4"), 2, "M = 4 twice"),
                              (("0:2", "--sweep", "M=4", "--issue"), 2, "--issue is of the operator as it is"),
                              (("0:0", "--sweep", "M=4"), 4, "node 0 (StaticTranspose) of delegate 0: it has no M"),
                              (("0:2", "--sweep", "M=2147483647"), 4, "no size of it can be made")):
        found, answer, error = ask(odd, *words, "--no-measure")
        expect(found == code and part in error and not list(pathlib.Path().glob("*.pte")), words, found, error)


def check_sizes_measured():
    """ExecuTorch itself says how large its outputs are; no level pays by two blocks."""
    model = DATA / "fixes" / "odd_sizes.pte"
    code, answer, error = ask(model, "0:2", *SHORT, *SWEEP, "--out", "swept")
    expect(code == 0 and answer["m"] == 48 * 48 and answer["folder"] == "swept", "swept", answer, error)
    said = sorted(json.loads(p.read_text())["outputs"][0]["shape"] for p in pathlib.Path("swept").rglob("outputs.json"))
    levels = {(x["level"], x["threads"]) for x in answer["sizes"][0]["levels"]}
    expect(said == sorted([[1, 1, 1, 33], [1, 1, 7, 33], [1, 8, 8, 33]] * len(levels)), "outputs of the runtime", said)
    for size in answer["sizes"]:
        expect({(x["level"], x["threads"]) for x in size["levels"]} == levels, "levels", size)
        for x in size["levels"]:
            expect(x["ns"] > 0 and "Convolution" in x["operator"]["name"], "measured", x)
        held = [x for x in size["levels"] if "speedup" in x and x["speedup"]]
        expect(len(held) == len(levels) - 1, "held against the lowest", size)
        expect(all(x["speedup"]["verdict"] == "unknown" for x in held), "two blocks", held)
    expect(all(a["from"] is None and "is not known" in a["text"] for a in answer["answers"]), "answers", answer)
    code, said, error = run("replay", model, "0:2", *SHORT, "--sweep", "M=1,4", "--levels", "best", "-f", "csv")
    expect(code == 0 and said.startswith("m,level,threads,ns,") and len(said.splitlines()) == 3, "CSV", said, error)


def check_refused():
    for words, part in (((DATA / "linear_xnnpack_fp32.pte", "3"), "DELEGATE:NODE"),
                        ((DATA / "linear_xnnpack_fp32.pte", "0x0:0x0"), "DELEGATE:NODE"),
                        ((DATA / "linear_xnnpack_fp32.pte", "0:9"), "delegate 0 has no node 9"),
                        ((DATA / "linear_xnnpack_fp32.pte", "7:0"), "no delegate 7 is called"),
                        ((DATA / "linear_portable_fp32.pte", "0:0"), "no delegate 0 is called")):
        code, answer, error = ask(*words)
        expect(code == 2 and part in error and answer is None, words[1], error)
    code, answer, error = ask(DATA / "precision" / "branches_xnnpack_fp32.pte", "1:0", "--no-measure")
    expect(code == 0 and answer["type"] == "FullyConnected", "behind control flow", error)
    pathlib.Path(answer["capsule"]).unlink()
    code, answer, error = ask(DATA / "llm" / "decoder_grouped.pte", "2:0", "--no-measure")
    expect(code == 4 and "node 0 (Convert) of delegate 2" in error and "hand over" in error, "a dynamic convert", error)


def meets(one, other):
    """By hand: intervals that meet, or means that are a microsecond apart at most; None: not known."""
    if None in (one["name"], other["name"], one["lo"], other["lo"]):
        return None
    return abs(one["ns"] - other["ns"]) <= 1000 or (one["lo"] <= other["hi"] and other["lo"] <= one["hi"])


def check_verdict(row, fused):
    """The first way that meets the model's time is named, and a reason where that is not the capsule's."""
    met = {way: meets(row["model"], row[way]) for way in ("alone", "cold", "among")}
    if fused:
        return
    first = next((way for way in met if met[way]), None)
    known = any(m is not None for m in met.values())
    expect(row["as"] == first and row["agrees"] is (first is not None if known else None), "verdict", row, met)
    expect((row["why"] is None) == (first == "alone"), "its reason", row)


def check_measured():
    model = DATA / "fixes" / "odd_sizes.pte"
    code, answer, error = ask(model, "0:2", *SHORT)
    if code == 5 and "no runner" in error:
        skip(error.strip())
    expect(code == 0 and answer["type"] == "Conv2d" and answer["levels"], "measured", answer, error)
    for row in answer["levels"]:
        expect(row["model"]["name"] == row["alone"]["name"] and row["alone"]["ns"] > 0, "ran as the same", row)
        busy = (row["waited"] or 0) > 0.05  # then neither time is the operator's
        expect(("other programs" in (row["why"] or "")) == busy and (not busy or row["agrees"] is None), "waited", row)
        if not busy:
            check_verdict(row, "fusion" in (row["why"] or ""))
    between = {kind: json.loads(run("inspect", answer["capsule"].replace(".pte", f".{kind}.pte"), "-f", "json")[1])
               for kind in ("cold", "among")}
    types = {kind: [n["type"] for d in x["delegates"] for n in d["nodes"]] for kind, x in between.items()}
    expect(types == {"cold": ["Conv2d"], "among": ["Conv2d"] * 3}, "its neighbours", types)
    code, said, error = run("replay", model, "0:2", *SHORT, "--levels", "best", "--issue")
    expect(code == 0 and said.startswith("### Conv2d") and "float32[33,3,3,33]" in said, "an issue", said, error)
    expect("etprof replay" in said and "| in the model | alone | alone, cold caches |" in said, "an issue", said)


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
        check_sizes_made()
        check_measured()
        check_sizes_measured()
    finish()


main()
