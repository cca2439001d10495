#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of scripts of steps and of shapes, from the command line: scripts.py ETPROF SOURCE

Answers come from eager PyTorch (tests/data/llm/make_scripts.py), counts from the scripts themselves."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = os.path.join(SOURCE, "tests", "data", "llm")
PIPELINE, SHAPES, POSITIONS, PLAIN, FUSED = (os.path.join(DATA, n + ".pte") for n in (
    "pipeline", "shapes", "decoder_positions", "decoder_plain", "decoder_fused"))
with open(os.path.join(DATA, "scripts.json")) as f:
    SAID = json.load(f)
SHORT = ["--blocks", "2", "--warmup", "2", "--iterations", "6", "--seed", "5"]


def ab(tmp, model, *args):
    out = os.path.join(tmp, "out%d" % len(os.listdir(tmp)))
    done = subprocess.run([ETPROF, "ab", model, *args, "--out", out], capture_output=True, text=True, timeout=100)
    if done.returncode and "one level only" in done.stderr:
        skip("this CPU has one level only")
    return done, out


def write(tmp, document, name="script.json"):
    path = os.path.join(tmp, name)
    with open(path, "w") as f:
        f.write(document if isinstance(document, str) else json.dumps(document))
    return path


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


def phase(name, steps, **more):
    return {"name": name, "steps": steps, **more}


def encode(n):
    return {"method": "encode", "inputs": [{"index": 0, "shape": "1x%dx4" % n, "fill": "values", "values": [1]}]}


STATE = {"index": 0, "fill": "output", "from": "encode"}
NEXT = {"index": 0, "fill": "output"}


def pipeline():
    """encode, then three steps of which each takes what the call before left."""
    return {"schema": "etprof.script/1", "phases": [
        phase("encode", [encode(6)]),
        phase("first step", [{"method": "step", "inputs": [STATE]}], after="encode"),
        phase("next steps", [{"method": "step", "repeat": 2, "inputs": [NEXT]}], after="first step")]}


def check_pipeline(tmp):
    done, out = ab(tmp, PIPELINE, "--script", write(tmp, pipeline()), *SHORT)
    expect(done.returncode == 0, "a script of two methods", "is measured", done.stderr[-400:])
    plan = plan_of(out)
    expect([(p["name"], p["kind"], p["calls"]) for p in plan["phases"]] ==
           [("encode", "script", 1), ("first step", "script", 1), ("next steps", "script", 2)], "manifest",
           "has the phases", plan["phases"])
    with open(os.path.join(out, "samples.csv")) as f:
        timed = [line for line in f if ",timed," in line]
    expect(len(timed) == 2 * 2 * 3 * 6, "samples.csv", "has every step", len(timed))
    for arm in plan["arms"]:
        dump = os.path.join(out, arm["name"], arm["prefix"] + ".etdump")
        expect(os.path.exists(dump) or os.path.exists(dump + ".zst"), arm["name"], "has a dump of its own", arm)
        if plan["phases"][arm.get("phase", 0)]["name"] == "next steps":
            close("the third step", outputs_of(out, arm), SAID["state"])
            close("its sum", outputs_of(out, arm, 1), SAID["sum"])
    verified = subprocess.run([ETPROF, "verify", out], capture_output=True, text=True)
    expect(verified.returncode == 0, "verify", "finds the folder whole", verified.stdout[-400:])


def check_file(tmp):
    """Values of a file beside the script are those of the numbers in it."""
    with open(os.path.join(tmp, "x.bin"), "wb") as f:
        f.write(struct.pack("<24f", *[1.0] * 24))
    script = pipeline()
    script["phases"][0]["steps"][0]["inputs"] = [{"index": 0, "shape": "1x6x4", "fill": "file", "file": "x.bin"}]
    done, out = ab(tmp, PIPELINE, "--script", write(tmp, script), *SHORT, "--no-trace")
    expect(done.returncode == 0, "a file", "is read", done.stderr[-400:])
    close("after it", outputs_of(out, plan_of(out)["arms"][-1]), SAID["state"])


def check_positions(tmp):
    """A decoder that takes a position for each token: prompt, and the same tokens one by one, by hand."""
    tokens = SAID["tokens"]
    at = list(range(len(tokens)))

    def calls(n):
        return [{"method": "forward", "inputs": [
            {"index": 0, "shape": "1x%d" % n, "fill": "values", "values": tokens[i:i + n]},
            {"index": 1, "shape": "%d" % n, "fill": "position", "start": i}]} for i in at[::n]]

    script = {"schema": "etprof.script/1", "phases": [
        phase("prompt", calls(8), tokens=8, kind="prefill"), phase("by one", calls(1), tokens=1),
        phase("half", calls(4)[:1], measured=False), phase("rest", calls(1)[4:], after="half", tokens=1)]}
    done, out = ab(tmp, POSITIONS, "--script", write(tmp, script), *SHORT, "--no-trace")
    expect(done.returncode == 0, "positions", "are measured", done.stderr[-400:])
    for arm in plan_of(out)["arms"]:
        close(arm["name"], outputs_of(out, arm)[-64:], SAID["logits"])
    done, out = ab(tmp, POSITIONS, "--prefill", "40", "--decode", "4", "--depth", "0,40", *SHORT)
    expect(done.returncode == 0, "positions", "are recognised", done.stderr[-400:])
    plan = plan_of(out)
    expect([(p["name"], p["tokens"], p["depth"], p["prompt"], p["calls"]) for p in plan["phases"]] ==
           [("prefill 32", 32, 0, 40, 1), ("prefill 8 @32", 8, 32, 40, 1), ("decode @0", 1, 0, 0, 4),
            ("decode @40", 1, 40, 0, 4)], "a prompt of 40", "is fed in chunks of 32", plan["phases"])
    check_first_token(out)


def check_put_back(tmp):
    """Each repetition finds the cache as the phase before left it: a place that the first call leaves out is empty
    again, although the second writes it. By PyTorch from a new cache; without, the second repetition is 0.5 apart."""
    with open(os.path.join(DATA, "expected.json")) as f:
        said = json.load(f)

    def call(tokens, at):
        return {"method": "forward", "inputs": [
            {"index": 0, "shape": "1x%d" % len(tokens), "fill": "values", "values": tokens},
            {"index": 1, "shape": "1", "fill": "values", "values": [at]}]}

    script = {"schema": "etprof.script/1", "phases": [
        phase("begin", [call(said["tokens"][:4], 0)], measured=False),
        phase("gaps", [call([token], at) for token, at in said["gaps"]["calls"]], after="begin", tokens=1)]}
    for model in (PLAIN, FUSED):
        done, out = ab(tmp, model, "--script", write(tmp, script), *SHORT, "--no-trace", "--no-kernels")
        expect(done.returncode in (0, 3), "places left out", "are measured", done.stderr[-400:])
        for arm in plan_of(out)["arms"]:
            close(arm["name"], outputs_of(out, arm), said["gaps"]["logits"])


def check_first_token(out):
    with open(os.path.join(out, "report.json")) as f:
        report = json.load(f)
    for i, said in enumerate(report["first_tokens"][0]["arms"]):
        parts = [p["arms"][i]["median_ns"] for p in report["phases"][:2]]
        expect(report["first_tokens"][0]["prompt"] == 40 and said["ns"] == sum(parts), "the first token",
               "takes both chunks", (said, parts))
    text = subprocess.run([ETPROF, "analyze", out, "--full"], capture_output=True, text=True).stdout
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


def check_bad_scripts(tmp):
    def bad(words, change, model=PIPELINE):
        script = pipeline()
        change(script)
        refused(tmp, words, model, "--script", write(tmp, script))

    def put(**what):
        return lambda s: s["phases"][0]["steps"][0]["inputs"][0].update(what)

    bad("phases[0].steps[0].inputs[0].colour is not index, fill", put(colour="red"))
    bad("phases[0].colour is not name, after", lambda s: s["phases"][0].update(colour="red"))
    bad("phases[0].steps[0].method is not there", lambda s: s["phases"][0]["steps"][0].pop("method"))
    bad("phases[0].steps[0].inputs[0].fill is not values, tokens", put(fill="noise"))
    bad('schema is not "etprof.script/1"', lambda s: s.update(schema="etprof.script/2"))
    bad("phases is not a list with a phase that is measured", lambda s: [p.update(measured=False)
                                                                       for p in s["phases"]])
    bad("phases[1].after is not the name of a phase before", lambda s: s["phases"][1].update(after="next steps"))
    bad("phases[1].name is not a name of its own", lambda s: s["phases"][1].update(name="encode"))
    bad("phases[2].name is not a name of its own, whatever its blanks", lambda s: (
        s["phases"][1].update(name="step 1 @2"), s["phases"][2].update(name="step_12", after="step 1 @2")))
    bad("phases[0].steps is not a list of calls of one method", lambda s: s["phases"][0]["steps"].append(
        {"method": "step", "inputs": []}))
    bad("there is no method \"jump\" (those that take inputs are encode, step)",
        lambda s: s["phases"][0]["steps"][0].update(method="jump"))
    bad("the method has 1 inputs", put(index=1))
    bad("shape 1x99x4 is not within 1x16x4", put(shape="1x99x4"))
    bad("is no shape like 1x64", put(shape="1xx4"))
    bad("dtype int64, the method takes float32", put(dtype="int64"))
    bad("2 values for 24 elements", put(values=[1, 2]))
    bad("phases[0].steps[0].inputs[0].values is not a list of numbers", put(values=["1"]))
    bad("more than 100000 calls", lambda s: s["phases"][0]["steps"][0].update(repeat=10 ** 9))
    bad("repeat is not a number", lambda s: s["phases"][0]["steps"][0].update(repeat=0))
    bad("output 7 of method step is no such tensor", lambda s: s["phases"][2]["steps"][0]["inputs"][0].update(output=7))
    bad("does not come before it", lambda s: s["phases"][0]["steps"][0].update(inputs=[{"index": 0, "fill": "output",
                                                                                        "from": "next steps"}]))
    bad("x.missing", put(fill="file", file="x.missing"))
    refused(tmp, "script.json", PIPELINE, "--script", write(tmp, "{"))
    refused(tmp, "does not exist", PIPELINE, "--script", os.path.join(tmp, "none.json"))

    def text(words, **more):
        inputs = [{"index": 0, "shape": "1x4", "fill": "tokens"}, {"index": 1, "fill": "position", "shape": "1"}]
        for k, v in more.items():
            inputs[int(k[1])].update(v)
        document = {"schema": "etprof.script/1", "phases": [phase("text", [{"method": "forward", "repeat": 4,
                                                                            "inputs": inputs}])]}
        refused(tmp, words, PLAIN, "--script", write(tmp, document))

    text("tokens below 65, the vocabulary has 64", i0={"below": 65})
    text("token 64 is not in the vocabulary of 64", i0={"fill": "values", "values": [1, 2, 3, 64]})
    text("position 64 is past the cache, which has room for 64", i1={"start": 61})
    text("position 64 is past the cache", i1={"start": 49, "advance": 4}, i0={"shape": "1x4"})
    text("position 73 is past the cache", i1={"fill": "values", "values": [70]})  # and the three after it
    text("position -1 is before the first one", i1={"fill": "values", "values": [-1]})
    with open(os.path.join(tmp, "tokens.bin"), "wb") as f:
        f.write(struct.pack("<4q", 0, 63, 64, 1))
    text("token 64 is not in the vocabulary of 64", i0={"fill": "file", "file": "tokens.bin"})
    text("below is not a number", i0={"below": 0})
    text("token -1 is not in the vocabulary of 64", i0={"fill": "values", "values": [1, 2, 3, -1]})
    text("1.5 is no whole number, and it is int64", i0={"fill": "values", "values": [1.5]})
    text("it is given twice", i1={"index": 0, "fill": "tokens", "shape": "1x4"})
    # what is drawn or counted for a token or a place: 4 tokens a call, so that place 61 is the first that is too late
    text("token 64 is not in the vocabulary of 64", i0={"fill": "random", "below": 65})
    text("token 64 is not in the vocabulary of 64", i0={"fill": "position", "start": 61})
    text("position 64 is past the cache, which has room for 64", i1={"fill": "random", "below": 62})
    text("position 64 is past the cache, which has room for 64", i1={"fill": "tokens", "below": 62})
    text("position 64 is past the cache", i0={"shape": "1x63"}, i1={"fill": "random", "below": 3})


def check_bad_shapes(tmp):
    for words, spec in (("ends in a comma", "0=1x3x8x8,"), ("not the number of an input", "x=1x3x8x8"),
                        ("names no input", "1x3x8x8"), ("is no shape", "0="), ("is given twice", "0=1x3x8x8,1x3x8x8"),
                        ("shape 1x3x64x64 is not within 1x3x32x32", "0=1x3x64x64"),
                        ("the method has 1 inputs", "1=1x3x8x8"), ("different numbers", "0=1x3x8x8,1x3x9x9,1=2,3,4")):
        refused(tmp, words, SHAPES, "--shape", spec)
    refused(tmp, "no method forward (those that take inputs are encode, step)", PIPELINE, "--shape", "0=1x4x4")
    static = os.path.join(SOURCE, "tests", "data", "linear_xnnpack_fp32.pte")
    refused(tmp, "the only one it takes (static shape)", static, "--shape", "0=1x4")
    refused(tmp, "give one of them", SHAPES, "--shape", "0=1x3x8x8", "--prefill", "4")


def main():
    for check in (check_pipeline, check_file, check_positions, check_put_back, check_shapes, check_bad_scripts,
                  check_bad_shapes):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp)
    finish()


main()
