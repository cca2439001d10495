# SPDX-License-Identifier: Apache-2.0
"""etprof ab with a runner of language models: the stand-in for llama_main of build.py, whose times are planted, with
real ExecuTorch libraries and recordings.

Expected are the planted times: three (prefill) and two (decode) times as long of the second build.

usage: test_text.py ETPROF"""
import csv
import hashlib
import json
import os
import pathlib
import platform
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import build

ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(build.ROOT)
RUNNERS = ROOT / "build" / "foreign" / "x86_64-linux-gnu"
VARIANTS = ["text", "text_slow", "text_untraced", "text_old"]
ON, OFF = ("vnni", "avx2") if "avx512_vnni" in pathlib.Path("/proc/cpuinfo").read_text() else ("avx2", "sse")
MODEL = ROOT / "tests" / "data" / "llm" / "decoder_plain.pte"


class Text(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.dir = pathlib.Path(self.tmp.name)

    def ab(self, *words, runner="text", tokenizer="words", blocks=2, off=None, run="run", **env):
        shutil.rmtree(self.dir / run, ignore_errors=True)
        (self.dir / "tokenizer").write_text(f"{tokenizer}\n")
        given = ["--tokenizer", "tokenizer"] if tokenizer else []
        path = runner if isinstance(runner, pathlib.Path) else RUNNERS / runner
        how = ["--runner", path, "--levels", "best"]
        if off:
            how = ["--runner-a", path, "--runner-b", RUNNERS / off, "--levels", f"{ON},{OFF}"]
        done = execute(ETPROF, "ab", MODEL, *how, *given, "--blocks", blocks, "--out", run, "--format", "json", *words,
                       cwd=self.dir, env={**os.environ, **env})
        self.answer = json.loads(done.stdout) if done.stdout.startswith("{") else None
        self.stderr = done.stderr
        return done.returncode

    def manifest(self, run="run"):
        return json.loads((self.dir / run / "manifest.json").read_text())

    def documents(self):
        return [p["document"] or self.answer for p in self.answer["phases"]]

    def notes(self):
        return {n["id"]: n["text"] for n in self.manifest().get("notes", [])}

    def test_another_tokenizer(self):
        """Its hash is kept, and a session does not go on with another: a prompt would be other tokens."""
        self.assertIn(self.ab("--prefill", "16", blocks=1), (0, 3), self.stderr)
        kept = self.manifest()["plan"]
        self.assertEqual(kept.get("tokenizer_sha256"), hashlib.sha256(b"words\n").hexdigest())
        for content, status in (("bytes\n", 2), ("words\n", 0)):
            (self.dir / "tokenizer").write_text(content)
            done = execute(ETPROF, "ab", "--resume", "run", "--blocks", "1", "--quiet", cwd=self.dir)
            self.assertEqual(done.returncode in (0, 3), status == 0, done.stderr)
            if status:
                self.assertIn("tokenizer is not the tokenizer that was measured", done.stderr)
                self.assertEqual(self.manifest()["blocks_done"], 1)

    def test_prefill_and_decode(self):
        self.assertEqual(self.ab("--prefill", "16", "--decode", "8", off="text_slow", blocks=8), 0, self.stderr)
        plan = self.manifest()["plan"]
        self.assertEqual([(p["name"], p["kind"], p["tokens"], p["depth"], p["calls"], p["clock_ns"])
                          for p in plan["phases"]],
                         [("prefill 16", "prefill", 16, 0, 1, 1000000), ("decode @16", "decode", 1, 16, 8, 125000)])
        for document, truth in zip(self.documents(), (3.0, 2.0)):
            c = document["comparisons"][0]
            self.assertEqual(c["verdict"], "faster")
            self.assertLessEqual(c["speedup"]["lo"], truth)
            self.assertGreaterEqual(c["speedup"]["hi"], truth)
            self.assertGreater(c["speedup"]["hi"] / c["speedup"]["lo"], 1.05) # equal readings are not precise
            # a breakdown of the phase's own calls, from the recordings of the real libraries
            self.assertTrue(document["operators"])
        rates = {a["level"]: a["tokens_per_s"] for a in self.answer["phases"][1]["arms"]}
        self.assertAlmostEqual(rates[f"said:{ON}"], 1e6 / 1010, delta=0.13 * 1e6 / 1010)
        calls = [document["arms"][0]["traced_runs"] / document["arms"][0]["dumps"] for document in self.documents()]
        self.assertEqual(calls, [1, 8])
        with open(self.dir / "run" / "samples.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({int(r["duration_ns"]) % (125000 if "decode" in r["experiment"] else 1000000) for r in rows},
                         {0})
        self.assertEqual(len([r for r in rows if r["phase"] == "timed"]), 2 * 2 * 8)
        self.assertIn("whole milliseconds: prefill 16 ±1.000 ms, decode @16 ±125.0 µs", self.notes()["runner_clock"])
        self.assertIn("±125.0 µs", json.dumps([f["text"] for f in self.answer["findings"]], ensure_ascii=False))
        for rule, status in (("decode.speedup >= 1.5", 0), ("prefill.speedup >= 5", 1)):
            done = execute(ETPROF, "gate", "run", rule, cwd=self.dir)
            self.assertEqual(done.returncode, status, (rule, done.stdout, done.stderr))
        report = execute(ETPROF, "analyze", "run", "--format", "md", cwd=self.dir)
        self.assertIn("| clock", report.stdout)
        self.assertIn("125.0 µs", report.stdout)
        for phase, step in (("prefill16", "1.000 ms"), ("decode@16", "125.0 µs")):
            screen = execute(ETPROF, "analyze", "run", "--phase", phase, cwd=self.dir)
            self.assertIn(f"clock ±{step} a call", " ".join(screen.stdout.split()))
        self.assertEqual(execute(ETPROF, "verify", "run", cwd=self.dir, text=False).returncode, 0)

    def test_what_is_not_asked_for(self):
        self.assertEqual(self.ab("--prefill", "12,24", blocks=1), 0, self.stderr)
        self.assertEqual([p["name"] for p in self.answer["phases"]], ["prefill 12", "prefill 24"])
        self.assertEqual(self.ab("--decode", "4@5,40", blocks=1), 0, self.stderr)
        self.assertEqual([p["name"] for p in self.answer["phases"]], ["decode @5", "decode @40"])

    def test_prompts_have_the_tokens_asked_for(self):
        """Whatever the tokenizer makes of words, else it is told."""
        for tokenizer in ("bos", "bytes"):
            with self.subTest(tokenizer):
                self.assertEqual(self.ab("--prefill", "16", "--decode", "4", tokenizer=tokenizer, blocks=1), 0,
                                 self.stderr)
                self.assertEqual(self.manifest()["lost"], [])
        self.assertEqual(self.ab("--prefill", "16", tokenizer="odd", blocks=1), 6)
        self.assertIn("its tokenizer makes", self.stderr)

    def test_without_a_recording(self):
        self.assertEqual(self.ab("--prefill", "16", "--decode", "4", runner="text_untraced", blocks=1), 0, self.stderr)
        self.assertIn("writes no recording", self.notes()["runner_no_tracer"])
        self.assertEqual([d["operators"] for d in self.documents()], [[], []])
        self.assertIsNone(self.answer["arms"][0]["proof"]["ok"])

    def test_an_old_release_has_seq_len_alone(self):
        self.assertEqual(self.ab("--prefill", "16", "--decode", "4", runner="text_old", blocks=1), 0, self.stderr)

    def test_a_script_in_front(self):
        script = self.dir / "front"
        script.write_text(f"#!/bin/sh\nexec '{RUNNERS / 'text'}' \"$@\"\n")
        script.chmod(0o755)
        # Nothing in it says what it is: the tokenizer does.
        self.assertEqual(self.ab("--prefill", "16", runner=script, blocks=1), 0, self.stderr)
        # Named in it: with recordings.
        script.write_text(script.read_text() + "# model_path tokenizer_path prompt max_new_tokens temperature "
                                               "etdump_path\n")
        self.assertEqual(self.ab("--prefill", "16", runner=script, blocks=1), 0, self.stderr)
        self.assertTrue(self.answer["operators"])

    def test_statistics_that_cannot_be(self):
        for fault, text in (("missing", "no statistics in its output"), ("nan", "NaN"), ("negative", "is before"),
                            ("zero", "had no token"), ("units", "1000000 units a second"),
                            ("ended", "tokens after the prompt's"), ("crash", "signal 11")):
            with self.subTest(fault):
                self.assertEqual(self.ab("--decode", "4@8", blocks=1, TEXT_FAULT=fault), 6, self.stderr)
                self.assertIn(text, self.stderr)
        self.assertEqual(self.ab("--decode", "4@8", blocks=1, TEXT_DECODE_US="1"), 6)
        self.assertIn("less than a millisecond", self.stderr)

    def test_refused_before_anything_is_measured(self):
        for words, tokenizer, status, text in (
                (["--prefill", "16"], None, 2, "--tokenizer FILE"),
                (["--decode", "4@0"], "words", 2, "behind a prompt"),
                (["--decode", "@4"], "words", 2, "--decode takes N or N@D,..., not '@4'"),
                (["--decode", "4@70"], "words", 2, "past the cache"),
                (["--shape", "0=1x8"], "words", 2, "step by step"),
                (["--prefill", "16", "--precision", "1%"], "words", 2, "--blocks"),
                (["--prefill", "16", "--iterations", "3"], "words", 2, "--blocks"),
                (["--prefill", "0"], "words", 2, "prefill"),
                (["--prefill", "16", "--kernels", "always"], "words", 4, "--kernels")):
            with self.subTest(words=words):
                self.assertEqual(self.ab(*words, tokenizer=tokenizer, off="text_slow"), status, self.stderr)
                self.assertIn(text, self.stderr)
                self.assertFalse((self.dir / "run" / "manifest.json").exists())

    def test_goes_on_and_is_repeated(self):
        self.assertEqual(self.ab("--prefill", "16", "--decode", "4", blocks=1), 0, self.stderr)
        done = execute(ETPROF, "ab", "--resume", "run", "--blocks", "1", "--format", "json", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p["name"] for p in json.loads(done.stdout)["phases"]], ["prefill 16", "decode @16"])
        done = execute(ETPROF, "rerun", "run", cwd=self.dir)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        self.assertEqual([p["clock_ns"] for p in self.manifest("run.2")["plan"]["phases"]], [1000000, 250000])


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("written for Linux on x86-64")
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        skip("this CPU has no AVX2, and so one level")
    try:
        build.build("x86_64-linux-gnu", str(RUNNERS), VARIANTS)
    except build.Missing as reason:
        skip(reason)
    unittest.main()
