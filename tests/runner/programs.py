#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Language models of other kinds: an embedding in 4 bits, a cache in 8 bits, a picture in front of the text.
programs.py ETPROF SOURCE

Answers come from eager PyTorch (tests/data/llm), operators from ExecuTorch's own reader of the programs."""
import json
import math
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
SHORT = ["--blocks", "2", "--warmup", "1", "--iterations", "4", "--seed", "5"]


def ab(tmp, model, *args):
    out = os.path.join(tmp, "out")
    done = subprocess.run([ETPROF, "ab", os.path.join(DATA, model + ".pte"), *args, *SHORT, "--out", out],
                          capture_output=True, text=True)
    if done.returncode and "one level only" in done.stderr:
        skip("this CPU has one level only")
    return done, out


def read(path):
    with open(path) as f:
        return json.load(f)


def documents(out):
    first = read(os.path.join(out, "report.json"))
    return [first] + [p["document"] for p in first["phases"][1:]]


def answers(out):
    """Phase's name -> what each of its arms left as first output."""
    plan, found = read(os.path.join(out, "manifest.json"))["plan"], {}
    for arm in plan["arms"]:
        for root, _, files in os.walk(os.path.join(out, arm["name"])):
            if "output-0.bin" in files:
                data = pathlib.Path(root, "output-0.bin").read_bytes()
                said = struct.unpack(f"<{len(data) // 4}f", data)
                found.setdefault(plan["phases"][arm["phase"] if "phase" in arm else 0]["name"], []).append(said)
    return found


def script(tmp, *phases):
    path = os.path.join(tmp, "script.json")
    names = ("name", "after", "method", "repeat", "inputs")
    steps = [dict(zip(names, p)) for p in phases]
    document = {"schema": "etprof.script/1", "phases": [
        {"name": s["name"], **({"after": s["after"]} if s["after"] else {}),
         "steps": [{"method": s["method"], "repeat": s["repeat"],
                    "inputs": [{"index": i, **x} for i, x in enumerate(s["inputs"])]}]} for s in steps]}
    with open(path, "w") as f:
        json.dump(document, f)
    return path


def embedding(tmp):
    """Its one embedding is a kernel of 4 bits, which the SDK has; logits stay near those of fp32."""
    done, out = ab(tmp, "decoder_embedding", "--prefill", "16", "--decode", "4", "--depth", "0,32")
    expect(done.returncode == 0, "an embedding in 4 bits", "is measured", done.stderr[-500:])
    found = documents(out)
    expect([d["phase"] for d in found] == ["prefill 16", "decode @0", "decode @32"], "embedding", "has its phases")
    for d in found:
        expect(d["correctness"]["ok"] is True, d["phase"], "has logits that agree", d["correctness"])
        rows = [o["category"] for o in d["operators"] if "quantized_decomposed::embedding_4bit" in json.dumps(o)]
        expect(rows == ["Embedding"], d["phase"], "has a row of the embedding", rows)
    said = read(os.path.join(DATA, "expected.json"))
    path = script(tmp, ("prompt", None, "forward", 1, [
        {"shape": f"1x{len(said['tokens'])}", "fill": "values", "values": said["tokens"]},
        {"shape": "1", "fill": "values", "values": [0]}]))
    with tempfile.TemporaryDirectory() as own:
        done, out = ab(own, "decoder_embedding", "--script", path)
        expect(done.returncode == 0, "its prompt", "is measured", done.stderr[-500:])
        for got in answers(out).get("prompt", [[]]):
            cosine = sum(a * b for a, b in zip(got, said["logits"])) / math.dist(got, [0] * len(got)) / math.dist(
                said["logits"], [0] * 64) if len(got) == 64 else 0
            expect(0.95 < cosine < 1, "logits", "are near those of fp32 and not they", cosine)


def cache(tmp):
    """An operator that nobody here has is told before anything is measured, with its share."""
    done, out = ab(tmp, "decoder_cache", "--prefill", "16", "--decode", "4")
    words = ("(OperatorMissing): llama::custom_quantized_sdpa.out (2), together 2 of its 115 instructions (1.74 %)",
             "--kernels-lib")
    for said in words:
        expect(done.returncode not in (0, 3) and said in done.stderr, "a cache in 8 bits", f"says '{said}'",
               done.stderr[-500:])
    expect(not os.path.exists(out), "a cache in 8 bits", "leaves no folder")


def picture_and_text(tmp):
    """Three methods in one script: a picture, words after it, then a word at a time; one cache for all of them."""
    said = read(os.path.join(DATA, "scripts.json"))
    tokens = said["tokens"]
    path = script(
        tmp, ("picture", None, "image_encoder", 1, [{"fill": "ones"}]),
        ("see", "picture", "text_model", 1, [{"fill": "output", "from": "picture"},
                                             {"shape": "4", "fill": "position", "start": 0}]),
        ("words", "see", "token_embedding", 1, [{"shape": "1x3", "fill": "values", "values": tokens[:3]}]),
        ("prompt", "words", "text_model", 1, [{"fill": "output", "from": "words"},
                                              {"shape": "3", "fill": "position", "start": 4}]),
        ("word", "prompt", "token_embedding", 1, [{"shape": "1x1", "fill": "values", "values": tokens[3:4]}]),
        ("decode", "word", "text_model", 2, [{"fill": "output", "from": "word"},
                                             {"shape": "1", "fill": "position", "start": 7}]))
    done, out = ab(tmp, "vision_text", "--script", path)
    expect(done.returncode == 0, "a picture and text", "are measured", done.stderr[-500:])
    if done.returncode:
        return
    found = answers(out)
    wanted = {"picture": said["vision_text"]["seen"], "prompt": said["vision_text"]["prompt"],
              "decode": said["vision_text"]["last"]}
    for name, values in wanted.items():
        expect(len(found.get(name, [])) >= 2, name, "left its answer at each level", list(found))
        for got in found.get(name, []):
            far = max(map(lambda a, b: abs(a - b), got, values)) if len(got) == len(values) else None
            expect(far is not None and far < 1e-4, name, "answers what PyTorch does", (got[:4], values[:4]))
    found = documents(out)
    expect([d["phase"] for d in found] == ["picture", "see", "words", "prompt", "word", "decode"], "documents",
           "are one for each phase", [d["phase"] for d in found])
    for d in found:
        conv = [o for o in d["operators"] if o["category"] == "Convolution"]
        expect(bool(conv) == (d["phase"] == "picture"), d["phase"], "has the operators of its own method", conv)
        ledger = d["ledgers"][0]
        expect(sum(r["delta_ns"] for r in ledger["rows"]) == ledger["delta_ns"], d["phase"], "has a ledger that closes")


def main():
    for check in (embedding, cache, picture_and_text):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp)
    finish()


main()
