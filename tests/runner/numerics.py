# SPDX-License-Identifier: Apache-2.0
"""The operator at which two arms part: faults that bench/cut/faults.py plants are found, equal arms are not blamed, and
what cannot be compared is refused: numerics.py ETPROF SOURCE"""
import importlib.util
import json
import os
import pathlib
import platform
import random
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = pathlib.Path(SOURCE, "tests", "data")


def faults():
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("faults", os.path.join(SOURCE, "bench", "cut", "faults.py"))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def ask(*words):
    done = execute(ETPROF, "ab", *words, "--numerics", "--quiet", "--format", "json")
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def planted(program, path, node):
    """A copy in which eight weights of NODE, a place in (delegate, node), are others."""
    place, data = next(f[0] for f in program.faults if f[3] == node), bytearray(program.data)
    for i in range(8):
        at = place[0] + i * (place[1] // 32) * 4
        data[at:at + 4] = struct.pack("<f", 2.5)
    path.write_bytes(data)
    return path


ROW = 9 * 33 * 4  # of the filters of nodes 2 and 3


def copied_row(data, place):
    """Channels 0 and 1 of a node are equal."""
    data[place[0] + ROW:place[0] + 2 * ROW] = data[place[0]:place[0] + ROW]


def rounding(program, path):
    """Node 3 makes two channels that are nearly the same, node 4 their difference: roundings of node 3, which no level
    is to blame for, become all of the output."""
    data, place = bytearray(program.data), {f[3][1]: f[0] for f in program.faults}
    copied_row(data, place[3])
    first, = struct.unpack_from("<f", data, place[3][0])
    struct.pack_into("<f", data, place[3][0] + ROW, first + 2 ** -22)
    data[place[4][0]:sum(place[4])] = bytes(place[4][1])
    for out in range(8):
        struct.pack_into("<2f", data, place[4][0] + out * 33 * 4, 1.0, -1.0)
    path.write_bytes(data)


def cancelling(program, path):
    """Node 2 makes two equal channels, node 3 adds them with weights of 3e6 and -3e6: its own sums are what differs."""
    data, place = bytearray(program.data), {f[3][1]: f[0] for f in program.faults}
    copied_row(data, place[2])
    for tap in range(33 * 9):
        struct.pack_into("<2f", data, place[3][0] + tap * 33 * 4, 3e6, -3e6)
    path.write_bytes(data)


def check_levels(program, path):
    """Operands differ in some bits there, so that the operator has to run alone."""
    for make, node, verdict in ((rounding, 4, "grow"), (cancelling, 3, "part")):
        make(program, path)
        code, answer, said = ask(path, "--levels", "best,sse")
        expect(code == 1 and answer["verdict"] == verdict and answer["operator"].startswith(f"node {node} ("),
               make.__name__, answer, said)
        expect(answer["why"] is None, "one program has one weight", answer["why"])
        rows = {(r["place"], r["alone"]): r for r in answer["rows"]}
        expect(not rows[node - 1, False]["same_bits"] and rows[node - 1, False]["within"], "its operands", rows)
        expect(rows[node, True]["within"] == (verdict == "grow"), "alone", rows[node, True])


def check_every(model, copy, node):
    """--full compares all operators that can be: what leads to the fault is equal, what the fault leads to is not."""
    code, answer, said = ask(model, copy, "--full", "--blocks", "1", "--iterations", "2")
    rows = [r for r in answer["rows"] if not r["alone"]]
    expect([r["place"] for r in rows] == list(range(answer["operators"])) and answer["not_cut"] == 0, "every", answer)
    expect([r["same_bits"] for r in rows] == [i < node for i in range(len(rows))], "a chain of operators", rows)
    expect(answer["untimed"] is None and any((r["baseline_ns"] or 0) > 0 for r in rows), "times", answer)
    code, answer, said = ask(model, copy, "--full", "--no-trace")
    expect("--no-trace" in answer["untimed"] and all(r["baseline_ns"] is None for r in answer["rows"]), "none", answer)
    words = ["ab", model, copy, "--numerics", "--quiet", "--blocks", "1", "-f", "html"]
    done = execute(ETPROF, *words)
    page = done.stdout
    expect(done.returncode == 1 and page.count('"picture":"graph"') == 1, "a graph", done.stderr)
    tips = [page.count(f'"tip":"{words}') for words in ("no difference", "SNR ")]
    expect(tips == [node, len(rows) - node], "its boxes", tips)


def check_builds(model):
    """Two bundles are two arms as two levels are; the same libraries compute the same."""
    bundle = pathlib.Path(SOURCE, "build", "bundle", f"{platform.machine()}-linux-gnu")
    if bundle.is_dir():
        other = shutil.copytree(bundle, "other")
        code, answer, said = ask(model, "--runner-a", bundle, "--runner-b", other, "--levels", "best")
        expect(code == 0 and answer["verdict"] == "agree" and answer["launches"] == 2, "two builds", answer, said)


def check_branches(module, path):
    """What stands before the jump is found, what control flow leads to blames nobody and is named."""
    model = DATA / "precision" / "branches_xnnpack_fp32.pte"
    program = module.Program(bytearray(model.read_bytes()))
    for delegate, verdict in ((0, "part"), (1, "unknown")):
        code, answer, said = ask(model, planted(program, path, (delegate, 0)), "--levels", "best")
        expect(answer["verdict"] == verdict and code == {"part": 1, "unknown": 3}[verdict], delegate, answer, said)
        expect(answer["operators"] == 6 and answer["not_cut"] == 3, "behind the jump", answer)
        if verdict == "part":
            expect(answer["operator"] == "node 0 (FullyConnected) of delegate 0", "before the jump", answer)
        else:
            expect(answer["operator"] is None and "behind instruction 3, which jumps" in answer["why"], "why", answer)


def check_tables(model, copy):
    """A table has its heading where nothing differs, too."""
    same = pathlib.Path("same.pte")
    same.write_bytes(model.read_bytes())
    for other, code, lines in ((same, 0, 1), (copy, 1, None)):
        done = execute(ETPROF, "ab", model, other, "--numerics", "--quiet", "-f", "csv")
        rows = done.stdout.splitlines()
        expect(done.returncode == code and rows[0].startswith("place,operator,dtype,"), "CSV", done)
        expect(lines is None or len(rows) == lines, "CSV", rows)


def main():
    module = faults()
    tmp = new_folder()
    os.chdir(tmp)  # where .etprof lies
    program = module.Program(bytearray((DATA / "fixes" / "odd_sizes.pte").read_bytes()))
    module.fill(program, random.Random(1))
    model, copy = pathlib.Path(tmp, "model.pte"), pathlib.Path(tmp, "copy.pte")
    model.write_bytes(program.data)
    code, answer, said = ask(model)
    if code == 5 and "no runner" in said:
        skip(said.strip())
    if "one level only" not in said:
        expect(code == 0 and answer["verdict"] == "agree" and not answer["exact"], "levels", answer, said)
        if platform.machine() == "x86_64":
            check_levels(program, copy)
    copy.write_bytes(model.read_bytes())
    code, answer, said = ask(model, copy)
    expect(code == 0 and answer["verdict"] == "agree" and answer["exact"], "an equal copy", answer, said)
    expect(answer["rows"] == [] and answer["operator"] is None, "an equal copy", "blames nobody", answer)
    places = sorted({f[3] for f in program.faults})
    expect(len(places) >= 2, "odd_sizes", "has weights", places)
    for delegate, node in places:
        code, answer, said = ask(model, planted(program, copy, (delegate, node)))
        name = answer and answer["operator"] or ""
        expect(code == 1 and answer["verdict"] == "part" and name.startswith(f"node {node} (")
               and name.endswith(f" of delegate {delegate}"), f"a fault in node {node}", answer, said)
        expect("not the same in both programs" in (answer["why"] or ""), "whose weights differ", answer["why"])
        row = next(r for r in answer["rows"] if r["name"] == name)
        expect(not row["same_bits"] and row["mismatched"] > 0 and row["snr_db"] < 60, "its row", row)
        before = [r for r in answer["rows"] if r["place"] < row["place"]]
        expect(all(r["same_bits"] for r in before), "operators before", "are equal", answer["rows"])
        expect(answer["launches"] <= 3 + 2 * (2 + answer["operators"].bit_length() + 3), "launches", answer)
    check_every(model, copy, places[-1][1])
    check_tables(model, copy)
    check_branches(module, copy)
    check_builds(model)
    code, answer, said = ask(model, DATA / "fixes" / "recurrent.pte")
    expect(code == 2 and "not the same operators: one has" in said, "another program", said)
    for words in (["--price"], ["--resume", "folder"]):
        code, answer, said = ask(model, *words)
        expect(code == 2 and "--numerics measures nothing" in said, words, said)
    code, answer, said = ask(model, "--threads", "1,2,3", "--levels", "best")
    expect(code == 2 and "two arms" in said, "three arms", said)
    code, answer, said = ask(DATA / "fixes" / "islands.pte", "--threads", "1,2", "--levels", "best")
    expect(code == 6 and "cannot load method" in said, "a program that cannot be loaded", code, said)
    expect(not pathlib.Path(tmp, "out_model").exists(), "no run folder", "is made")
    finish()


main()
