# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts of steps through the runner's protocol: test_steps.py

What a tiny text decoder answers was computed by PyTorch (tests/data/llm/make_decoder.py)."""
import json
import math
import os
import struct
import sys
import unittest

import test_runner


class Steps(test_runner.Case):
    """Scripts of steps on a tiny text decoder. What it should answer was computed by PyTorch."""
    DECODER = os.path.join(test_runner.DATA, "llm", "decoder_plain.pte")

    def script(self, *lines):
        return self.path("s%d" % len(os.listdir(self.tmp)), ("\n".join(lines) + "\n").encode())

    @staticmethod
    def call(tokens, at):
        return ["call forward", "in 0 int64 1x%d values %s" % (len(tokens), " ".join(map(str, tokens))),
                "in 1 int64 1 values %d" % at]

    def logits(self, script, n, model=None):
        folder = self.path("out")
        r = self.run_it("--model", model or self.DECODER, "--steps", script,
                        commands="run %d\noutputs %s\n" % (n, folder))
        self.assertEqual(r.status, 0, r.text + r.stderr)
        self.assertEqual(len(r.of("iter")), n)
        with open(os.path.join(folder, "output-0.bin"), "rb") as f:
            return struct.unpack("<64f", f.read()[-256:])  # of the last token

    def close(self, a, b):
        for x, y in zip(a, b):
            self.assertAlmostEqual(x, y, places=4)

    def expected(self):
        with open(os.path.join(test_runner.DATA, "llm", "expected.json")) as f:
            e = json.load(f)
        return e["tokens"], e["logits"]

    def test_prefill_and_decode_agree_with_pytorch(self):
        tokens, logits = self.expected()
        self.close(self.logits(self.script("etprof-steps 1", "each", *self.call(tokens, 0)), 2), logits)
        each = [line for i, t in enumerate(tokens) for line in self.call([t], i)]
        self.close(self.logits(self.script("etprof-steps 1", "each", *each), len(tokens)), logits)
        half = len(tokens) // 2
        rest = [line for i in range(half, len(tokens)) for line in self.call([tokens[i]], i)]
        script = self.script("etprof-steps 1", "once", *self.call(tokens[:half], 0), "each", *rest)
        self.close(self.logits(script, 3 * (len(tokens) - half)), logits)

    def test_a_position_for_each_token(self):
        """The prompt at once, by halves and token by token, in a cache of its own for each."""
        with open(os.path.join(test_runner.DATA, "llm", "programs.json")) as f:
            said = json.load(f)
        tokens, model = said["tokens"], os.path.join(test_runner.DATA, "llm", "decoder_positions.pte")
        for n in (8, 4, 1):
            calls = [line for i in range(0, len(tokens), n) for line in (
                "call forward", "in 0 int64 1x%d values %s" % (n, " ".join(map(str, tokens[i:i + n]))),
                "in 1 int64 %d values %s" % (n, " ".join(map(str, range(i, i + n)))))]
            got = self.logits(self.script("etprof-steps 1", "each", *calls), len(tokens) // n, model)
            self.close(got, said["logits"])

    def test_an_embedding_in_4_bits(self):
        """Its logits are near those of fp32, and not they."""
        tokens, logits = self.expected()
        model = os.path.join(test_runner.DATA, "llm", "decoder_embedding.pte")
        got = self.logits(self.script("etprof-steps 1", "each", *self.call(tokens, 0)), 1, model)
        zero = [0] * 64
        cosine = sum(a * b for a, b in zip(got, logits)) / math.dist(got, zero) / math.dist(logits, zero)
        self.assertTrue(0.95 < cosine < 1, cosine)

    def test_mutable_buffers_are_put_back(self):
        """The same call answers the same again although another wrote the cache in between."""
        tokens, logits = self.expected()
        wrong = self.call([(t + 1) % 64 for t in tokens[:4]], 0)
        last = self.call(tokens[4:], 4)
        once = ["once", *self.call(tokens[:4], 0)]
        # Without a reset the second repetition finds the cache that `wrong` left.
        spoilt = self.logits(self.script("etprof-steps 1", *once, "each", *wrong, *last), 2)
        self.assertGreater(max(abs(a - b) for a, b in zip(spoilt, logits)), 1e-3)
        ranges = ["reset forward %d %d %d" % r for r in self.ranges()]
        script = self.script("etprof-steps 1", *ranges, *once, "each", *last, *wrong)
        self.close(self.logits(script, 3), logits)

    def ranges(self):
        with open(os.path.join(test_runner.DATA, "llm", "expected.json")) as f:
            return [tuple(r) for r in json.load(f)["caches"]]

    def test_recordings_hold_repetitions_only(self):
        tokens, _ = self.expected()
        dump = self.path("x.etdump")
        script = self.script("etprof-steps 1", "once", *self.call(tokens, 0), "each", *self.call([1], len(tokens)))
        r = self.run_it("--model", self.DECODER, "--steps", script, "--kind", "traced",
                        commands="run 3\ndump %s\n" % dump)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        with open(dump, "rb") as f:
            self.assertEqual(f.read().count(b"Method::execute"), 3)

    def test_tokens_past_the_vocabulary_are_an_error(self):
        for token in (64, -1, 2 ** 40):
            script = self.script("etprof-steps 1", "each", *self.call([1, token], 0))
            r = self.run_it("--model", self.DECODER, "--steps", script, commands="run 2\nquit\n")
            self.assertEqual((r.status, r.one("error")["code"]), (1, "execute"), (token, r.text))
            self.assertEqual(r.of("iter"), [], "nothing was measured")

    def test_scripts_that_cannot_be(self):
        good = ["etprof-steps 1", "each", "call forward"]
        for lines, words in (
                (["steps"], "not a script of steps"), (["etprof-steps 1"], "no call after 'each'"),
                (["etprof-steps 1", "call forward"], "before 'once' or 'each'"),
                ([*good, "in 0 int64 1x2 values 1"], "1 values for 2"), ([*good, "in 0 int64 1xx values 1"], "shape"),
                ([*good, "in 0 from 0 0"], "'0' is not values"), ([*good, "jump"], "'jump'"),
                ([*good, "in 0 int64 1x1 values 1", "in 0 int64 1x1 values 1"], "twice"),
                ([*good, "in 0 float32 1x1 values 1"], "the method takes int64"),
                ([*good, "in 0 int64 1x99999 random 1"], "at most"), ([*good, "in 7 int64 1 ones"], "takes 2"),
                ([*good, "in 0 int64 1x1 values x"], "'x' is no int64"),
                (["etprof-steps 1", "each", "call other"], "no method 'other'"),
                (["etprof-steps 1", "reset forward 1 0 99999999999", *good[1:]], "which has")):
            r = self.run_it("--model", self.DECODER, "--steps", self.script(*lines), commands="run 1\n")
            self.assertEqual(r.status, 1 if r.one("error")["code"] != "usage" else 2, r.text)
            self.assertIn(words, r.one("error")["message"])


if __name__ == "__main__":
    Steps.start = [os.path.join(test_runner.build("native"), "etprof-runner")]
    done = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Steps))
    sys.exit(0 if done.wasSuccessful() else 1)
