# SPDX-License-Identifier: Apache-2.0
"""test_numbers.py ETPROF TREE: opN is the same operator in every answer about a recording."""
import json
import os
import pathlib
import sys
import tempfile

import dumps
import etdump

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish  # noqa: E402

ETPROF, TREE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
TMP = pathlib.Path(tempfile.mkdtemp())
MS = dumps.MS


def run(*words):
    done = execute(ETPROF, *words, cwd=TMP)
    return done.returncode, done.stdout, done.stderr


def document(*words):
    code, out, _ = run(*words, "--format", "json")
    return json.loads(out) if code == 0 else None


def three_calls():
    """Each call hides 15 us beside its operator of 50, 800 and 20 us."""
    inside, at = [], 10_000
    for i, (name, ns) in enumerate((("A", 50_000), ("B", 800_000), ("C", 20_000))):
        inside += [dumps.delegate(name, at + 5000, at + 5000 + ns, i),
                   dumps.call("DELEGATE_CALL", at, at + 15_000 + ns, i)]
        at += ns + 20_000
    return dumps.executions(inside, at, 6)


def chosen():
    """By hand: C is op3 for `ops`, for a viewer and for a gate, and B is none of theirs."""
    path = etdump.write(TMP / "three.etdump", three_calls())
    named = {o["id"]: o["name"] for o in document("ops", path)["operators"]}
    expect([named.get(f"op{i}") for i in (1, 2, 3)] == ["A", "B", "C"] and len(named) == 6, "three calls", named)
    expect("op4" not in named, "three calls: what is no operator has an operator's number", named)
    rests = sum(o["ns"]["mean"] for o in document("ops", path)["operators"] if o["category"] == "Not logged")
    told = {c["category"]: c["arms"]["three"]["ns"] for c in document("analyze", path)["categories"]}
    expect(rests == told.get("Not logged") == 45_000, "three calls: not logged", rests, told)
    code, out, err = run("convert", path, "--to", "chrome")
    drawn = {e["args"]["op"]: e["name"] for e in json.loads(out)["traceEvents"] if "op" in e.get("args", {})}
    expect(drawn == {f"op{i}": n for i, n in zip((1, 2, 3), "ABC")}, "three calls: drawn", drawn, err)
    for number, name in ((2, "B"), (3, "C")):
        code, out, err = run("gate", path, f"op{number}.ns <= 0.1 ms")
        expect(code == (1 if name == "B" else 0), "three calls: gate", name, code, out, err)


def alike(path):
    """Each operator of `analyze` is in `ops` by the same id, with the same name and instruction."""
    told, listed = document("analyze", path), document("ops", path)
    if not told or not listed or not told.get("operators"):
        return 0
    rows = {o["id"]: o for o in listed["operators"]}
    expect(len(rows) == len(listed["operators"]), path, "an id is given twice")
    for o in told["operators"]:
        row = rows.get(o["id"])
        names = {n for said in o["names"].values() for n in (said if isinstance(said, list) else [said])}
        same = row and row["instruction"] == o["instruction"] and row["chain"] == o["chain"] and (
            row["name"] in names or row["name"] == "DELEGATE_CALL" and any("not logged" in n for n in names))
        expect(same, path, o["id"], names, row and (row["name"], row["instruction"]))
    return len(told["operators"])


def main():
    chosen()
    made = [pathlib.Path(etdump.write(TMP / f"{name}.etdump", make())) for name, make in dumps.ALL.items()]
    corpus = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared/corpus"))
    paths = [*made, *sorted((TREE / "tests/data").rglob("*.etdump")), *sorted((corpus / "dumps").glob("*.etdump"))]
    n = sum(alike(path) for path in paths)
    expect(n > 200, "operators were compared", n)
    finish(f"{n} operators of {len(paths)} recordings have one number each")


main()
