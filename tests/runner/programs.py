# SPDX-License-Identifier: Apache-2.0
"""Language models of other kinds: an embedding in 4 bits, a cache in 8 bits. programs.py ETPROF SOURCE

Operators come from ExecuTorch's own reader of the programs."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = os.path.join(SOURCE, "tests", "data", "llm")
SHORT = ["--blocks", "2", "--warmup", "1", "--iterations", "4", "--seed", "5"]


def ab(tmp, model, *args):
    out = os.path.join(tmp, "out")
    done = execute(ETPROF, "ab", os.path.join(DATA, model + ".pte"), *args, *SHORT, "--out", out)
    if done.returncode and "one level only" in done.stderr:
        skip("this CPU has one level only")
    return done, out


def read(path):
    with open(path) as f:
        return json.load(f)


def documents(out):
    first = read(os.path.join(out, "report.json"))
    return [first] + [p["document"] for p in first["phases"][1:]]


def embedding(tmp):
    """Its one embedding is a kernel of 4 bits, which the SDK has (its logits: test_steps.py)."""
    done, out = ab(tmp, "decoder_embedding", "--prefill", "16", "--decode", "4@0,32")
    expect(done.returncode == 0, "an embedding in 4 bits", "is measured", done.stderr[-500:])
    found = documents(out)
    expect([d["phase"] for d in found] == ["prefill 16", "decode @0", "decode @32"], "embedding", "has its phases")
    for d in found:
        expect(d["correctness"]["ok"] is True, d["phase"], "has logits that agree", d["correctness"])
        rows = [o["category"] for o in d["operators"] if "quantized_decomposed::embedding_4bit" in json.dumps(o)]
        expect(rows == ["Embedding"], d["phase"], "has a row of the embedding", rows)


def cache(tmp):
    """An operator that nobody here has is told before anything is measured, with its share."""
    done, out = ab(tmp, "decoder_cache", "--prefill", "16", "--decode", "4")
    words = ("(OperatorMissing): llama::custom_quantized_sdpa.out (2), together 2 of its 115 instructions (1.74 %)",
             "--custom-ops")
    for said in words:
        expect(done.returncode not in (0, 3) and said in done.stderr, "a cache in 8 bits", f"says '{said}'",
               done.stderr[-500:])
    expect(not os.path.exists(out), "a cache in 8 bits", "leaves no folder")


def main():
    for check in (embedding, cache):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp)
    finish()


main()
