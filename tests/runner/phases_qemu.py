# SPDX-License-Identifier: Apache-2.0
"""Engagement of prefill and decode at SME2, SME1 and NEON under QEMU, from names: phases_qemu.py ETPROF SOURCE

The decoders of tests/data/llm have 2 layers of width 32, 2 heads of 16, hidden width 64, vocabulary 64, a cache of 64,
in fp32: XNNPACK has SME kernels for all of their products. An emulator's times say nothing, and none may be given."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
LLM = os.path.join(SOURCE, "tests", "data", "llm")
LAYERS, WIDTH, HIDDEN, VOCABULARY = 2, 32, 64, 64
MATRICES = LAYERS * (4 * WIDTH * WIDTH + 3 * WIDTH * HIDDEN)
LAST = WIDTH * VOCABULARY


def script(name, *words):
    done = execute(os.path.join(SOURCE, "scripts", name), *words)
    if done.returncode == 77:
        skip(done.stderr.strip().splitlines()[-1])
    expect(done.returncode == 0, name, "does its work", done.stderr[-500:])
    return done.stdout.strip()


def measured(tmp, model, levels, qemu):
    out = os.path.join(tmp, "out")
    done = execute(ETPROF, "ab", os.path.join(LLM, model + ".pte"), "--device", "qemu", "--levels", levels, "--prefill",
                   "16", "--decode", "4", "--blocks", "1", "--warmup", "1", "--iterations", "1", "--seed", "1", "--out",
                   out, env={**os.environ, "ETPROF_QEMU": qemu})
    expect(done.returncode in (0, 3), model, "is measured", done.returncode, done.stderr[-500:])
    with open(os.path.join(out, "report.json")) as f:
        first = json.load(f)
    documents = [first, first["phases"][1]["document"]]
    expect([d["phase"] for d in documents] == ["prefill 16", "decode @0"], model, "has its phases", first["phases"])
    for d in documents:
        for c in d["comparisons"]:
            expect(c["speedup"]["estimate"] is None and c["withheld"] == "emulated", d["phase"], "has no speedup", c)
        expect(d["engagement"]["time_share"] is None, d["phase"], "has no share of time", d["engagement"])
        expect(d["correctness"]["ok"] is True, d["phase"], "has logits that agree", d["correctness"])
    for p in first["phases"]:
        expect(all(a["tokens_per_s"] is None for a in p["arms"]), p["name"], "has no rate", p["arms"])
    for word in ("tok/s", " ms", "×"):
        expect(word not in done.stdout, model, f"shows no '{word}'", done.stdout)
    return [d["engagement"] for d in documents], done.stdout


def plain(tmp, qemu):
    (prefill, decode), text = measured(tmp, "decoder_plain", "sme2,sme1,neon", qemu)
    products = LAYERS * (4 + 3) + 1  # and two of attention in each layer
    for name, e in (("prefill", prefill), ("decode", decode)):
        expect((e["feature"], e["eligible"], e["engaged"], e["macs_share"]) ==
               ("SME2", products + 2 * LAYERS, products + 2 * LAYERS, 1), name, "is on SME2 in all that multiplies", e)
    # one token: each matrix meets a vector; 16 tokens: the last one alone, for logits are of the last token
    expect((prefill["row_kernel"], decode["row_kernel"]) == (1, products), "row kernels", "are those of one row",
           (prefill["row_kernel"], decode["row_kernel"]))
    for word in ("SME2 ran", "SME ran", "NEON arm clean"):
        expect(word in text, "the screen", f"says '{word}'", text)


def fused(tmp, qemu):
    """Attention is an operator outside the delegate: its part of the work differs from phase to phase."""
    engagements, _ = measured(tmp, "decoder_fused", "sme2,neon", qemu)
    for name, e, n, starts in (("prefill", engagements[0], 16, [0]), ("decode", engagements[1], 1, [0, 1, 2, 3])):
        seen = sum(at + i + 1 for at in starts for i in range(n)) / len(starts)
        products, attention = n * MATRICES + LAST, LAYERS * 2 * WIDTH * seen
        wanted = products / (products + attention)
        expect(e["macs_share"] is not None and abs(e["macs_share"] - wanted) < 1e-5, name,
               f"has {wanted:.5f} of its multiply-accumulates on SME2", e)
        expect((e["eligible"], e["engaged"], e["row_kernel"]) == (15 + LAYERS, 15, 1 if n > 1 else 15), name,
               "has attention outside, which is no kernel of one row", e)


def grouped(tmp, qemu):
    """4-bit weights by groups of 32, which SME has no kernel for: one layer of width 64 and hidden width 128, the last
    matrix for one token. How much could be on SME is all but attention, counted by hand."""
    engagements, _ = measured(tmp, "decoder_grouped", "sme2,neon", qemu)
    with open(os.path.join(tmp, "out", "report.json")) as f:
        first = json.load(f)
    documents = [first, first["phases"][1]["document"]]
    for d, e, n, seen in zip(documents, engagements, (16, 1), (16 * 17 / 2, (1 + 2 + 3 + 4) / 4)):
        products, attention = n * (4 * 64 * 64 + 3 * 64 * 128) + 64 * 64, 2 * 64 * seen
        could = 100 * products / (products + attention)
        expect((e["macs_share"], e["engaged"], e["row_kernel"]) == (0, 0, 0), d["phase"], "has nothing on SME2", e)
        said = [f["text"] for f in d["findings"] if f["kind"] == "groupwise_4bit"]
        words = f"0 % of the multiply-accumulates are on SME2, and with one scale per channel {could:.0f} % could be"
        expect(len(said) == 1 and words in said[0], d["phase"], f"is told '{words}'", said)


def main():
    qemu = script("qemu")
    script("build-runner", "aarch64-linux-gnu")
    for check in (plain, fused, grouped):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp, qemu)
    finish()


main()
