# SPDX-License-Identifier: Apache-2.0
"""Sessions of shapes, and of prompts in chunks, from the command line: shapes.py ETPROF SOURCE

Answers come from eager PyTorch (tests/data/llm/make_programs.py)."""
import json
import math
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = os.path.join(SOURCE, "tests", "data", "llm")
PIPELINE, SHAPES, POSITIONS = (os.path.join(DATA, n + ".pte") for n in ("pipeline", "shapes", "decoder_positions"))
with open(os.path.join(DATA, "programs.json")) as f:
    SAID = json.load(f)
SHORT = ["--blocks", "2", "--warmup", "2", "--iterations", "6", "--seed", "5"]


def ab(tmp, model, *args):
    out = os.path.join(tmp, "out%d" % len(os.listdir(tmp)))
    done = execute(ETPROF, "ab", model, *args, "--out", out)
    if done.returncode and "one level only" in done.stderr:
        skip("this CPU has one level only")
    return done, out


def plan_of(out):
    with open(os.path.join(out, "manifest.json")) as f:
        return json.load(f)["plan"]


def outputs_of(out, arm, index=0):
    folder = os.path.join(out, arm["name"], arm["prefix"] + ".outputs")
    found = folder if os.path.isdir(folder) else None
    for root, _, files in os.walk(out):
        if not found and "output-%d.bin" % index in files and arm["name"] in root:
            found = root
    with open(os.path.join(found, "output-%d.bin" % index), "rb") as f:
        data = f.read()
    return struct.unpack("<%df" % (len(data) // 4), data)


def close(what, got, wanted):
    far = max(abs(a - b) for a, b in zip(got, wanted)) if len(got) == len(wanted) else None
    expect(far is not None and far < 1e-4, what, "answers what PyTorch does", (got[:4], wanted[:4]))


def check_positions(tmp):
    """A decoder that takes a position for each token; a prompt that is longer than a call."""
    done, out = ab(tmp, POSITIONS, "--prefill", "40", "--decode", "4@0,40", *SHORT)
    expect(done.returncode == 0, "positions", "are recognised", done.stderr[-400:])
    plan = plan_of(out)
    expect([(p["name"], p["tokens"], p["depth"], p["prompt"], p["calls"]) for p in plan["phases"]] ==
           [("prefill 32", 32, 0, 40, 1), ("prefill 8 @32", 8, 32, 40, 1), ("decode @0", 1, 0, 0, 4),
            ("decode @40", 1, 40, 0, 4)], "a prompt of 40", "is fed in chunks of 32", plan["phases"])
    check_first_token(out)


def check_first_token(out):
    with open(os.path.join(out, "report.json")) as f:
        report = json.load(f)
    for i, said in enumerate(report["first_tokens"][0]["arms"]):
        parts = [p["arms"][i]["median_ns"] for p in report["phases"][:2]]
        expect(report["first_tokens"][0]["prompt"] == 40 and said["ns"] == sum(parts), "the first token",
               "takes both chunks", (said, parts))
    text = execute(ETPROF, "analyze", out, "--full").stdout
    expect("first token" in text.lower(), "analyze --full", "tells the first token", text[:600])


def check_shapes(tmp):
    done, out = ab(tmp, SHAPES, "--shape", "0=1x3x12x20,1x3x32x32", "--inputs", "ones", *SHORT)
    expect(done.returncode == 0, "two shapes", "are measured", done.stderr[-400:])
    plan = plan_of(out)
    expect([(p["name"], p["kind"]) for p in plan["phases"]] == [("1x3x12x20", "shape"), ("1x3x32x32", "shape")],
           "manifest", "has a phase for each shape", plan["phases"])
    with open(os.path.join(out, "report.json")) as f:
        first = json.load(f)
    for pixels, d in zip((12 * 20, 32 * 32), (first, first["phases"][1]["document"])):
        macs = sum(o["macs"] or 0 for o in d["operators"])  # 8 windows of 3 x 3 x 3 at every pixel
        expect(macs == pixels * 8 * 27, d["phase"], f"is {pixels * 8 * 27} multiply-accumulates", macs)
    for arm in plan["arms"][:2]:
        close(arm["name"], outputs_of(out, arm), SAID["picture_12x20_ones"])
    with open(os.path.join(out, "report.json")) as f:
        phases = json.load(f)["phases"]
    slow, fast = (p["arms"][0]["median_ns"] for p in (phases[1], phases[0]))
    expect(slow > fast, "a picture of 4 times the pixels", "takes longer", (slow, fast))


def refused(tmp, words, model, *args):
    done, out = ab(tmp, model, *args)
    expect(done.returncode not in (0, 3) and words in done.stderr, args, f"says '{words}'", done.stderr[-300:])
    expect(not os.path.exists(out), args, "leaves no folder", out)


def npy(tmp, shape):
    """An array of ones, as numpy saves it."""
    head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    path = os.path.join(tmp, "x".join(map(str, shape)) + ".npy")
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<f", 1.0) * math.prod(shape))
    return path


def check_files(tmp):
    """An array below the program's bound: its values and its sizes are what runs."""
    done, out = ab(tmp, SHAPES, "--inputs", npy(tmp, (1, 3, 12, 20)), *SHORT)
    expect(done.returncode == 0, "a smaller array", "is measured", done.stderr[-400:])
    plan = plan_of(out)
    expect([p["name"] for p in plan["phases"]] == ["1x3x12x20"], "a smaller array", "is a phase", plan["phases"])
    with open(os.path.join(out, "report.json")) as f:
        macs = sum(o["macs"] or 0 for o in json.load(f)["operators"])
    expect(macs == 12 * 20 * 8 * 27, "a smaller array", "is so much work", macs)
    for arm in plan["arms"][:2]:
        close(arm["name"], outputs_of(out, arm), SAID["picture_12x20_ones"])
    again = execute(ETPROF, "rerun", out, cwd=tmp)
    expect(again.returncode in (0, 3), "a smaller array", "is run again", again.returncode, again.stderr[-400:])
    for arm in plan["arms"][:2]:
        close(arm["name"] + " again", outputs_of(out + ".2", arm), SAID["picture_12x20_ones"])
    refused(tmp, "float32[1,3,32,33], method forward takes at most float32[1,3,32,32]", SHAPES, "--inputs",
            npy(tmp, (1, 3, 32, 33)))
    refused(tmp, "give one of them", SHAPES, "--inputs", npy(tmp, (1, 3, 8, 8)), "--prefill", "4")


def check_bad_shapes(tmp):
    for words, spec in (("ends in a comma", "0=1x3x8x8,"), ("not the number of an input", "x=1x3x8x8"),
                        ("names no input", "1x3x8x8"), ("is not a shape", "0="),
                        ("is given twice", "0=1x3x8x8,1x3x8x8"),
                        ("shape 1x3x64x64 is not within 1x3x32x32", "0=1x3x64x64"),
                        ("the method has 1 inputs", "1=1x3x8x8"), ("different numbers", "0=1x3x8x8,1x3x9x9,1=2,3,4")):
        refused(tmp, words, SHAPES, "--shape", spec)
    refused(tmp, "no method forward (those that take inputs are encode, step)", PIPELINE, "--shape", "0=1x4x4")
    static = os.path.join(SOURCE, "tests", "data", "linear_xnnpack_fp32.pte")
    refused(tmp, "the only one it takes (static shape)", static, "--shape", "0=1x4")
    refused(tmp, "give one of them", SHAPES, "--shape", "0=1x3x8x8", "--prefill", "4")


def main():
    for check in (check_positions, check_shapes, check_files, check_bad_shapes):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp)
    finish()


main()
