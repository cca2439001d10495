# SPDX-License-Identifier: Apache-2.0
"""Tests of the kernels that ExecuTorch's SDK lacks and the runner brings: test_kernels.py

What they must answer was computed by PyTorch without them (tests/data/llm/make_attention.py, make_decoder.py)."""
import json
import math
import os
import struct
import subprocess
import sys
import unittest

import test_runner
from test_steps import Steps

LLM = os.path.join(test_runner.DATA, "llm")
FUSED = os.path.join(LLM, "decoder_fused.pte")
ATTENTION = os.path.join(LLM, "attention.pte")
OURS = "llama::custom_sdpa.out, llama::update_cache.out"


class Decoder(Steps):
    """The tests of scripts of steps on the decoder whose attention is one operator."""
    DECODER = FUSED

    def ranges(self):  # by ExecuTorch's own Python reader: four caches of 64 x 2 x 16 float32
        return [(1, at, 64 * 2 * 16 * 4) for at in (48384, 56576, 64768, 72960)]

    def test_its_kernels_are_named(self):
        r = self.run_it("--model", FUSED, commands="run 1\n")
        self.assertEqual(r.one("load")["kernels_ours"], OURS)
        r = self.run_it("--model", test_runner.LINEAR, commands="run 1\n")
        self.assertNotIn("kernels_ours", r.one("load"))

    def test_recordings_name_them_as_executorch_does(self):
        dump = self.path("x.etdump")
        script = self.script("etprof-steps 1", "each", *self.call([1], 0))
        r = self.run_it("--model", FUSED, "--steps", script, "--kind", "traced", commands="run 1\ndump %s\n" % dump)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        with open(dump, "rb") as f:
            recorded = f.read()
        self.assertEqual(recorded.count(b"native_call_custom_sdpa.out"), 2)  # two layers
        self.assertEqual(recorded.count(b"native_call_update_cache.out"), 4)

    def test_a_position_past_the_cache_is_an_error(self):
        for tokens, at in (([1], 64), ([1, 2], 63), ([1], 2 ** 40), ([1], -1)):
            script = self.script("etprof-steps 1", "each", *self.call(tokens, at))
            r = self.run_it("--model", FUSED, "--steps", script, commands="run 1\n")
            self.assertEqual(r.one("error")["code"], "execute", (at, r.text))


class Attention(test_runner.Case):
    """Grouped heads, a mask, a scale, a place: what the decoders here do not ask for."""
    def setUp(self):
        super().setUp()
        with open(os.path.join(LLM, "attention.json")) as f:
            self.known = json.load(f)

    def floats(self, name):
        numbers = [float(x) for x in self.known[name]]
        return self.path(name, struct.pack("<%df" % len(numbers), *numbers))

    def agrees(self, method, *inputs):
        folder = self.path("out")
        r = self.run_it("--model", ATTENTION, "--method", method, "--inputs", ",".join(map(self.floats, inputs)),
                        commands="run 2\noutputs %s\n" % folder)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        with open(os.path.join(folder, "output-0.bin"), "rb") as f:
            data = f.read()
        said, known = struct.unpack("<%df" % (len(data) // 4), data), self.known[method]
        self.assertEqual(len(said), len(known))
        self.assertLess(max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(said, known)), 1e-5, method)

    def test_causal(self):
        self.agrees("causal", "q", "k", "v")

    def test_all_that_is_there_with_a_scale(self):
        self.agrees("open", "q", "k", "v")

    def test_masked(self):
        self.agrees("masked", "q", "k", "v", "mask")

    def test_the_cache_is_written_in_place(self):
        self.agrees("kept", "value")


class Changed(test_runner.Case):
    def changed(self, *pairs):
        with open(FUSED, "rb") as f:
            program = f.read()
        for old, new in pairs:
            self.assertEqual((len(old), program.count(old)), (len(new), 1))
            program = program.replace(old, new)
        return self.path("changed.pte", program)


class Missing(Changed):
    def test_every_missing_operator_is_named_with_its_share(self):
        model = self.changed((b"llama::custom_sdpa", b"other::custom_sdpa"),
                             (b"llama::update_cache", b"other::update_cache"))
        r = self.run_it("--model", model, commands="run 1\n")
        error = r.one("error")
        self.assertEqual((r.status, error["code"], r.of("load")), (1, "load", []))
        # Counted with ExecuTorch's own Python reader: 83 instructions in `forward`.
        for words in ("OperatorMissing", "other::custom_sdpa.out (2)", "other::update_cache.out (4)",
                      "together 6 of its 83 instructions (7.23 %)", "--runner"):
            self.assertIn(words, error["message"])

    def test_a_name_of_no_sense_is_told_and_nothing_breaks(self):
        model = self.changed((b"llama::custom_sdpa", b"llama::\xff\x01\"tom_sdpa"))
        r = self.run_it("--model", model, commands="run 1\n")
        self.assertIn("together 2 of its ", r.one("error")["message"])


def library(bundle):
    """Builds other_kernels.cpp in the build folder of the runner in BUNDLE."""
    tree = os.path.join(os.path.dirname(os.path.dirname(bundle)), "runner", os.path.basename(bundle))
    cmake = os.path.join(test_runner.ROOT, ".venv", "bin", "cmake")
    made = subprocess.run([cmake if os.path.exists(cmake) else "cmake", "--build", tree, "--target", "other_kernels"],
                          capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(made.stdout + made.stderr)
    return os.path.join(tree, "libother_kernels.so")


class Given(Changed):
    """Kernels of a library that somebody has."""
    def test_they_run_and_are_named(self):
        with open(os.path.join(LLM, "expected.json")) as f:
            known = json.load(f)
        model = self.changed((b"llama::custom_sdpa", b"other::custom_sdpa"))
        script = self.path("steps", ("etprof-steps 1\neach\n" + "\n".join(Steps.call(known["tokens"], 0))
                                     + "\n").encode())
        folder = self.path("out")
        r = self.run_it("--model", model, "--steps", script, "--custom-ops", LIBRARY,
                        commands="run 1\noutputs %s\n" % folder)
        self.assertEqual(r.status, 0, r.text + r.stderr)
        self.assertEqual(r.one("load")["kernels_theirs"], "other::custom_sdpa.out")
        self.assertEqual(r.one("load")["kernels_ours"], "llama::update_cache.out")
        with open(os.path.join(folder, "output-0.bin"), "rb") as f:
            said = struct.unpack("<64f", f.read())
        self.assertLess(max(abs(a - b) for a, b in zip(said, known["logits"])), 1e-4)

    def test_what_is_no_such_library_is_told(self):
        for path, words in ((self.path("text.so", b"no library" * 100), "invalid ELF header"),
                            (self.path("none.so"), "No such file"), ("libm.so.6", "registers no kernel")):
            r = self.run_it("--model", FUSED, "--custom-ops", path, commands="run 1\n")
            self.assertEqual((r.status, r.of("load")), (1, []), r.text)
            self.assertIn(words, r.one("error")["message"])
            self.assertIn("--custom-ops", r.one("error")["message"])


if __name__ == "__main__":
    folder = sys.argv.pop() if len(sys.argv) > 1 else test_runner.build("native")
    test_runner.Case.start = [os.path.join(folder, "etprof-runner")]
    LIBRARY = library(folder)
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    done = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.TestSuite([load(Decoder), load(Attention), load(Missing), load(Given)]))
    sys.exit(0 if done.wasSuccessful() else 1)
