# SPDX-License-Identifier: Apache-2.0
# Language models: shapes and options without torch; exported programs against a decoder that is
# written here in numpy after the papers (pairs as complex numbers, loops over heads).
import contextlib
import io
import json
import math
import struct
import unittest
from argparse import Namespace

from support import NEEDS_TORCH, ExportCase, runtime_events

TINY = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 1, "intermediate_size": 64, "vocab_size": 96,
        "rms_norm_eps": 1e-5, "rope_theta": 1e4, "max_position_embeddings": 32, "bos_token_id": 1,
        "eos_token_id": 2, "tie_word_embeddings": False}
META = {"dim": 32, "n_layers": 1, "n_heads": 2, "vocab_size": 96, "multiple_of": 32,
        "norm_eps": 1e-5, "max_seq_len": 32}


class Shapes(unittest.TestCase):
    def test_known_sizes_are_those_of_the_published_models(self):
        from etprof.llm.shapes import KNOWN

        def weights(s, tied):
            attention = s.width * s.head_width * (2 * s.heads + 2 * s.kv_heads)
            norms = 2 * s.width + (2 * s.head_width if s.norms_qk else 0)
            layer = attention + 3 * s.width * s.hidden + norms
            return s.layers * layer + s.width + s.vocab * s.width * (1 if tied else 2)

        # As their authors state them: 15 M, 110 M, 1,235,814,400 and 596,049,920 parameters.
        self.assertEqual(weights(KNOWN["llama3.2-1B"], True), 1235814400)
        self.assertEqual(weights(KNOWN["qwen3-0.6B"], True), 596049920)
        self.assertEqual(round(weights(KNOWN["stories15M"], True) / 1e6), 15)
        self.assertEqual(round(weights(KNOWN["stories110M"], True) / 1e6), 110)

    def test_names_are_found_however_they_are_written(self):
        from etprof.llm.shapes import known

        self.assertEqual(known("STORIES15m"), "stories15M")
        self.assertEqual(known("Llama-3.2-1B"), "llama3.2-1B")
        self.assertEqual(known("Qwen3-0.6B"), "qwen3-0.6B")
        self.assertIsNone(known("stories16M"))

    def test_hidden_width_of_metas_configurations(self):
        from etprof.llm.shapes import from_meta

        # 4 · 288 · 2 / 3 = 768; 4 · 4096 · 2 / 3 = 10922.7, up to a multiple of 256: 11008
        stories = {"dim": 288, "n_layers": 6, "n_heads": 6, "vocab_size": 32000, "multiple_of": 32}
        self.assertEqual(from_meta(stories).hidden, 768)
        seven = {"dim": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": 32000, "multiple_of": 256}
        self.assertEqual(from_meta(seven).hidden, 11008)


class Tokenizer(unittest.TestCase):
    def test_every_byte_has_a_token_of_its_own_and_marks_stay_free(self):
        from etprof.llm.tokenizer import document

        for bos, eos in ((1, 2), (300, 301), (0, 319)):
            d = document(320, bos, eos)
            table = d["model"]["vocab"]
            ids = sorted([*table.values(), *(a["id"] for a in d["added_tokens"])])
            self.assertEqual(ids, list(range(320)))
            self.assertEqual(d["model"]["merges"], [])
            # GPT-2's letters: a stays a, a space is Ġ, byte 0 is Ā
            self.assertTrue({"a", "\u0120", "\u0100"} <= table.keys())

    def test_too_small_a_vocabulary_is_refused(self):
        from pathlib import Path

        from etprof.llm.tokenizer import write

        with self.assertRaises(ValueError):
            write(Path("/nowhere/t.json"), 257, 1, 2)


class Statistics(unittest.TestCase):
    """What bench/llm/run takes from the lines of TextLLMRunner."""

    @staticmethod
    def module():
        import importlib.machinery
        import importlib.util

        from support import ROOT

        loader = importlib.machinery.SourceFileLoader("bench_llm", str(ROOT / "bench" / "llm" / "run"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_llm", loader))
        loader.exec_module(module)
        return module

    def parse(self, text):
        return self.module().parse(text)

    LINE = ('PyTorchObserver {"prompt_tokens":64,"generated_tokens":31,"inference_start_ms":1795362698058,'
            '"prompt_eval_end_ms":%d,"inference_end_ms":1795362698109,"SCALING_FACTOR_UNITS_PER_SECOND":1000}\n')

    def test_a_line_as_recorded(self):
        # 37 ms of prompt, then 14 ms for 31 tokens: the runner itself said 2214.29 tokens/s
        found = self.parse("noise\n" + self.LINE % 1795362698095 + "more")
        self.assertEqual([f.prefill for f in found], [37])
        self.assertAlmostEqual(1000 * found[0].tokens / found[0].decode, 2214.29, places=2)

    def test_what_the_calls_took(self):
        """A clock that cuts to whole milliseconds, read at moments that nobody chose: 300 answers of a prompt alone
        and of a prompt with 32 tokens. A prompt is made in 0.06 ms, its call takes 2.85 and its first choice 0.03; a
        token's call takes 0.218 ms, its choice 0.036. Every tenth answer has a burst of something else in it."""
        import random

        rng = random.Random(4)
        bench = self.module()

        def answer(tokens, slow):
            begin = now = rng.random() * 1000
            called = 0

            def call(ms):
                nonlocal now, called
                called += int(now + ms) - int(now)
                now += ms

            now += 0.06
            call(2.85 * slow)
            now += 0.03
            prompt = now
            for _ in range(tokens):
                call(0.218 * slow)
                now += 0.036
            return bench.Answer(int(prompt) - int(begin), int(now) - int(prompt), tokens, called)

        answers = [answer(n, 3 if i % 10 == 0 else 1) for i in range(300) for n in (0, 32)]
        found = bench.beside.theirs(answers)
        for got, truth in zip(found, (2.94, 0.254, 2.85, 0.218)):
            self.assertLess(abs(got / truth - 1), 0.015, found)
        with self.assertRaises(SystemExit):
            bench.beside.theirs(answers[1:])
        prompt, token = bench.beside.loop([2850000, 2850000 + 32 * 218000] * 5, Namespace(decode=32))
        self.assertAlmostEqual(prompt, 2.85)
        self.assertAlmostEqual(token, 0.218)
        older = self.parse(self.LINE % 1795362698095)[0]
        self.assertNotEqual(older.calls, older.calls)  # an older release does not say it: not a number

    def test_what_is_within(self):
        """3 % of a ratio and 1 ms of a difference, both."""
        bench = self.module()
        for ours, theirs, inside in ((1.029, 1.0, True), (0.971, 1.0, True), (1.031, 1.0, False), (0.969, 1.0, False),
                                     (50.9, 50.0, True), (51.1, 50.0, False)):
            rows = [{"runner": (0, ours), "text": (0, theirs)}] * 10
            with contextlib.redirect_stdout(io.StringIO()) as said:
                found = bench.beside.judge(rows, "decode @64, call", "runner", "text", -1)
                self.assertEqual(found, inside, said.getvalue())

    def test_who_is_judged(self):
        """The runner against TextLLMRunner in a process of the same kind; what Python adds is told beside it."""
        bench = self.module()
        o = Namespace(prefill=64, decode=32)

        def told(runner, text, python):
            row = {"runner": runner, "python": python, "inside": python, "alone": runner, "text": text}
            row = {side: (9.0, 9.0, 5.0, ms) for side, ms in row.items() if ms}
            with contextlib.redirect_stdout(io.StringIO()) as said:
                good = bench.beside.report([row] * 10, o)
            return good, said.getvalue().splitlines()

        good, lines = told(0.300, 0.303, 0.320)
        self.assertTrue(good, lines)
        judged, rest = lines[1:3], "\n".join(lines[3:])
        self.assertRegex(judged[1], r"decode @64 .* 0\.3000 ms · TextLLMRunner 0\.3030 ms .* 0\.9901 .* yes$")
        self.assertRegex(rest, r"TextLLMRunner 0\.3030 ms · TextLLMRunner under Python 0\.3200 ms .* 0\.9469 \[")
        self.assertRegex(rest, r"a loop alone 0\.3000 ms · a loop under Python 0\.3200 ms .* 0\.9375 \[")
        self.assertFalse(told(0.300, 0.310, 0.300)[0])  # as Python has it is not judged
        self.assertFalse(told(0.300, None, 0.320)[0])  # unless it is all there is
        self.assertTrue(told(0.300, None, 0.301)[0])

    def test_the_runner_makes_the_calls_of_two_answers(self):
        bench = self.module()
        calls = bench.beside.answers(Namespace(prefill=3, decode=2)).split("call forward\n")[1:]
        self.assertEqual([c.splitlines() for c in calls],
                         [[f"in 0 int64 1x{len(t.split())} values {t}", f"in 1 int64 1 values {at}"]
                          for t, at in (("97 97 97", 0), ("97 97 97", 0), ("97", 3), ("97", 4))])

    def test_statistics_that_cannot_be_are_refused(self):
        with self.assertRaises(ValueError):
            self.parse(self.LINE % 1795362698000)


class Weights(ExportCase):
    @NEEDS_TORCH
    def test_seeded_weights_are_set_and_nothing_is_nan(self):
        """Memory that nobody wrote looks like weights often enough: every one of them is drawn again here over NaN."""
        import torch
        from etprof.llm import decoder, shapes

        shape = shapes.with_context(shapes.KNOWN["stories15M"], 64)
        torch.manual_seed(0)
        model = decoder.Decoder(shape, False)
        with torch.no_grad():
            for weight in model.parameters():
                weight.fill_(math.nan)
            decoder.initialise(model)
            for name, weight in model.named_parameters():
                self.assertTrue(torch.isfinite(weight).all(), name)
            for start, n in ((0, 48), (48, 1), (63, 1)):
                tokens = torch.randint(0, shape.vocab, (1, n))
                logits = model(tokens, torch.tensor([start]))
                self.assertTrue(torch.isfinite(logits).all(), start)
                self.assertTrue(0.1 < logits.std() < 10, logits.std())  # to be told apart, and no overflow


class Refused(ExportCase):
    def test_what_cannot_be_meant(self):
        bad = self.folder / "bad.json"
        bad.write_text(json.dumps({**META, "n_heads": "x"}))
        uneven = self.folder / "uneven.json"
        uneven.write_text(json.dumps({**TINY, "num_key_value_heads": 3, "num_attention_heads": 4}))
        other = self.folder / "other.json"
        other.write_text(json.dumps({**TINY, "model_type": "mamba"}))
        lacking = self.folder / "lacking.json"
        lacking.write_text("{}")
        for code, word, argv in (
            (2, "did you mean stories15M", ["llm:stories16M"]),
            (2, "names no model", ["llm:"]),
            (2, "is for llm:NAME", ["toy_cnn", "--attention", "fused"]),
            (2, "multiple of 32", ["llm:stories15M", "--dtype", "8da4w", "--group-size", "31"]),
            (2, "is for --dtype 8da4w", ["llm:stories15M", "--group-size", "128"]),
            (4, "a member is not a number", [f"llm:{bad}"]),
            (4, "evenly", [f"llm:{uneven}"]),
            (2, "knows llama and qwen3", [f"llm:{other}"]),
            (4, "no 'dim' in it", [f"llm:{lacking}"]),
        ):
            with self.subTest(argv=argv):
                self.refused(code, word, *argv)

    @NEEDS_TORCH
    def test_precisions_and_weights(self):
        config = self.folder / "tiny.json"
        config.write_text(json.dumps(TINY))
        cut = self.folder / "cut.safetensors"
        cut.write_bytes(struct.pack("<Q", 1 << 40) + b"{}")
        other = self.folder / "other.safetensors"
        write_safetensors(other, {"model.norm.weight": numpy().ones(32, "f4")})
        code = self.folder / "code.pth"
        code.write_bytes(b"cos\nsystem\n(S'true'\ntR.")
        for number, word, argv in (
            (2, "language models take", ["--dtype", "int8"]),
            (2, "at least", ["--context", "4"]),
            (2, "no such file", ["--weights", str(self.folder / "none.pth")]),
            (4, "not a safetensors file", ["--weights", str(cut)]),
            (4, "weights are missing", ["--weights", str(other)]),
            (4, "without running code", ["--weights", str(code)]),
        ):
            with self.subTest(argv=argv):
                self.refused(number, word, f"llm:{config}", *argv)


def numpy():
    import numpy

    return numpy


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(x.shape),
                        "data_offsets": [offset, offset + x.nbytes]}
        offset += x.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(
        x.tobytes() for x in tensors.values()))


def draw(seed, **shapes):
    rng = numpy().random.default_rng(seed)
    return {name: (rng.standard_normal(shape) / math.sqrt(shape[-1])).astype("f4")
            if len(shape) > 1 else (1 + 0.1 * rng.standard_normal(shape)).astype("f4")
            for name, shape in shapes.items()}


def decode(w, tokens, heads, kv_heads, head_width, neighbours, norms_qk):
    """Logits after each token of a sequence, one position after the other, in float64."""
    np = numpy()

    def norm(x, weight):
        return x / np.sqrt(np.mean(x * x) + 1e-5) * weight

    def turn(x, position):  # a pair is one complex number
        half = head_width // 2
        a, b = (x[0::2], x[1::2]) if neighbours else (x[:half], x[half:])
        speed = np.array([1e4 ** (-2 * i / head_width) for i in range(half)])
        z = (a + 1j * b) * np.exp(1j * position * speed)
        return np.stack([z.real, z.imag], 1).ravel() if neighbours else np.concatenate([z.real, z.imag])

    keys, values, answers = [], [], []
    for position, token in enumerate(tokens):
        x = w["embedding"][token].astype("f8")
        h = norm(x, w["attention_norm"])
        q = (w["q"] @ h).reshape(heads, head_width)
        k = (w["k"] @ h).reshape(kv_heads, head_width)
        if norms_qk:
            q = [norm(row, w["q_norm"]) for row in q]
            k = [norm(row, w["k_norm"]) for row in k]
        keys.append([turn(row, position) for row in k])
        values.append((w["v"] @ h).reshape(kv_heads, head_width))
        seen = []
        for i in range(heads):
            mine = i * kv_heads // heads
            scores = np.array([turn(q[i], position) @ past[mine] for past in keys])
            scores = np.exp((scores - scores.max()) / math.sqrt(head_width))
            share = scores / scores.sum()
            seen.append(sum(s * past[mine] for s, past in zip(share, values)))
        x = x + w["o"] @ np.concatenate(seen)
        h = norm(x, w["ffn_norm"])
        gate = w["gate"] @ h
        x = x + w["down"] @ (gate / (1 + np.exp(-gate)) * (w["up"] @ h))
        answers.append(w["output"] @ norm(x, w["norm"]))
    return answers


def run_program(path, calls):
    """Logits of calls (tokens, position) on one loaded method."""
    import torch
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(str(path)).load_method("forward")
    return [method.execute([torch.tensor([tokens]), torch.tensor([position])])[0][0].numpy().copy()
            for tokens, position in calls]


TOKENS = [5, 90, 17, 17, 3, 64, 41, 8, 77, 30]
CALLS = [(TOKENS[:6], 0), ([TOKENS[6]], 6), (TOKENS[7:9], 7), ([TOKENS[9]], 9)]
LAST = [5, 6, 8, 9]  # the position that each call answers for


@NEEDS_TORCH
class Programs(ExportCase):
    def agree(self, path, want):
        for got, last in zip(run_program(path, CALLS), LAST):
            numpy().testing.assert_allclose(got, want[last], rtol=2e-4, atol=2e-4)

    def test_metas_weights_with_attention_written_out(self):
        import torch

        w = draw(1, embedding=(96, 32), q=(32, 32), k=(32, 32), v=(32, 32), o=(32, 32),
                 gate=(96, 32), up=(96, 32), down=(32, 96), attention_norm=(32,), ffn_norm=(32,),
                 norm=(32,), output=(96, 32))
        names = {"embedding": "tok_embeddings", "q": "layers.0.attention.wq",
                 "k": "layers.0.attention.wk", "v": "layers.0.attention.wv",
                 "o": "layers.0.attention.wo", "gate": "layers.0.feed_forward.w1",
                 "up": "layers.0.feed_forward.w3", "down": "layers.0.feed_forward.w2",
                 "attention_norm": "layers.0.attention_norm", "ffn_norm": "layers.0.ffn_norm",
                 "norm": "norm", "output": "output"}
        checkpoint = self.folder / "weights.pth"
        torch.save({f"{names[k]}.weight": torch.tensor(v) for k, v in w.items()}, checkpoint)
        config = self.folder / "params.json"
        config.write_text(json.dumps(META))
        entry = self.exported(f"llm:{config}", "--weights", str(checkpoint), "--name", "tiny").entry
        self.assertEqual(len(entry["checks"][0]["steps"]), 5)
        self.assertEqual(entry["model"]["weights"], str(checkpoint))
        self.agree(self.out / entry["file"], decode(w, TOKENS, 2, 2, 16, True, False))

    def test_hugging_faces_weights_with_the_fused_operators(self):
        w = draw(2, embedding=(96, 32), q=(32, 32), k=(16, 32), v=(16, 32), o=(32, 32),
                 q_norm=(16,), k_norm=(16,), gate=(64, 32), up=(64, 32), down=(32, 64),
                 attention_norm=(32,), ffn_norm=(32,), norm=(32,), output=(96, 32))
        layer = "model.layers.0."
        names = {"embedding": "model.embed_tokens", "norm": "model.norm", "output": "lm_head",
                 "attention_norm": layer + "input_layernorm",
                 "ffn_norm": layer + "post_attention_layernorm",
                 **{k: f"{layer}self_attn.{k}_proj" for k in "qkvo"},
                 **{k: f"{layer}self_attn.{k}" for k in ("q_norm", "k_norm")},
                 **{k: f"{layer}mlp.{k}_proj" for k in ("gate", "up", "down")}}
        folder = self.folder / "weights"
        folder.mkdir()
        write_safetensors(folder / "model.safetensors", {f"{names[k]}.weight": v for k, v in w.items()})
        config = folder / "config.json"
        config.write_text(json.dumps({**TINY, "model_type": "qwen3"}))
        entry = self.exported(f"llm:{config}", "--weights", str(folder), "--attention", "fused").entry
        self.assertEqual(entry["file"], "weights_fused_xnnpack_fp32.pte")
        self.agree(self.out / entry["file"], decode(w, TOKENS, 2, 1, 16, False, True))

    def test_four_bits_per_channel_and_the_constant_methods(self):
        from executorch.runtime import Runtime

        config = self.folder / "tiny.json"
        config.write_text(json.dumps(TINY))
        entry = self.exported(f"llm:{config}", "--dtype", "8da4w", "--group-size", "channel").entry
        self.assertEqual(entry["file"], "tiny_channel_xnnpack_8da4w.pte")
        program = Runtime.get().load_program(str(self.out / entry["file"]))
        said = {name: program.load_method(name).execute([]) for name in program.method_names
                if name != "forward"}
        self.assertEqual(said["get_max_context_len"], [32])
        self.assertEqual(said["get_max_seq_len"], [31])
        self.assertEqual(said["get_vocab_size"], [96])
        self.assertEqual(said["use_kv_cache"], [True])
        self.assertEqual(said["enable_dynamic_shape"], [True])
        self.assertEqual(said["get_eos_ids"], [2])
        # QB4W: one group for each row, which has other kernels and none for SME
        import torch

        events = runtime_events(self.out / entry["file"], [torch.tensor([[5, 9, 17]]), torch.tensor([0])])
        linear = [e for e in events if e.startswith("Fully Connected")]
        self.assertEqual(len(linear), 8)
        self.assertTrue(all("QC4W" in e for e in linear), linear)


def upright(w, group=32):
    """The largest weight of each group is positive: with the steps of a scheme a negative one lies between the last two
    of them, and which it becomes is left to the last bit of a division."""
    np = numpy()
    rows = w.reshape(len(w), -1, group)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=2)[..., None], 2)
    return (rows * np.sign(largest)).reshape(w.shape)


def bfloat16(x):
    """The nearest number of eight bits."""
    np = numpy()
    fraction, power = np.frexp(x)
    return np.ldexp(np.round(fraction * 256) / 256, power)


class Rounded:
    """A matrix as a scheme keeps it, times a vector as it is rounded for each call: symmetric steps of the largest
    weight of a group (GROUP weights of a row, 0: the row), 8-bit steps between the least and the largest number of a
    vector. XNNPACK keeps the step of a group in bfloat16, that of a row in float32."""

    def __init__(self, w, bits, group):
        np = numpy()
        rows = w.astype("f8").reshape(len(w), -1, group or w.shape[1])
        top = 2 ** (bits - 1)
        step = np.abs(rows).max(axis=2, keepdims=True) / (top - 0.5)
        kept = bfloat16(step) if group else step.astype("f4")
        self.w = (np.clip(np.round(rows / step), -top, top - 1) * kept).reshape(w.shape)

    def __matmul__(self, x):
        np = numpy()
        low, high = min(x.min(), 0), max(x.max(), 0)
        step = (high - low) / 255
        zero = np.round(low / step)
        return self.w @ ((np.clip(np.round(x / step) - zero, 0, 255) + zero) * step)


@NEEDS_TORCH
class Schemes(ExportCase):
    """Each precision against the decoder above with its weights and numbers rounded here: the program answers as its
    own scheme does, and XNNPACK's kernels are those of the scheme. Both compute the same but for the order of sums,
    which can move a number of a vector over the edge of its step. LIMIT (of the spread of the logits) lies above what
    that does and below the least that something else does, steps of groups kept in float32."""

    SIZES = {"embedding": (96, 128), **dict.fromkeys("qkvo", (128, 128)), "gate": (256, 128), "up": (256, 128),
             "down": (128, 256), "attention_norm": (128,), "ffn_norm": (128,), "norm": (128,), "output": (96, 128)}
    LINEAR = ("q", "k", "v", "o", "gate", "up", "down", "output")
    ROUNDED = {"groups of 32": (4, 32), "groups of 128": (4, 128), "a row of 4 bits": (4, 0), "a row of 8 bits": (8, 0)}
    LIMIT = 0.01

    def check(self, own, kernel, *options):
        import torch

        np = numpy()
        w = draw(3, **self.SIZES)
        w.update({k: upright(w[k]) for k in self.LINEAR})
        layer = "model.layers.0."
        names = {"embedding": "model.embed_tokens", "norm": "model.norm", "output": "lm_head",
                 "attention_norm": layer + "input_layernorm", "ffn_norm": layer + "post_attention_layernorm",
                 **{k: f"{layer}self_attn.{k}_proj" for k in "qkvo"},
                 **{k: f"{layer}mlp.{k}_proj" for k in ("gate", "up", "down")}}
        weights = self.folder / "weights"
        weights.mkdir()
        write_safetensors(weights / "model.safetensors", {f"{names[k]}.weight": v for k, v in w.items()})
        (weights / "config.json").write_text(json.dumps(
            {**TINY, "hidden_size": 128, "num_key_value_heads": 2, "intermediate_size": 256, "model_type": "llama"}))
        entry = self.exported(f"llm:{weights / 'config.json'}", "--weights", str(weights), *options).entry
        self.assertTrue(entry["checks"][0]["ok"], entry["checks"])
        path = self.out / entry["file"]
        got = np.stack(run_program(path, CALLS))

        def apart(bits, group):
            rounded = {k: Rounded(v, bits, group) if k in self.LINEAR else v for k, v in w.items()}
            want = np.stack([decode(rounded, TOKENS, 2, 2, 64, False, False)[i] for i in LAST])
            return np.sqrt(np.mean((got - want) ** 2)) / want.std()

        if own:
            off = {name: apart(*scheme) for name, scheme in self.ROUNDED.items()}
            mine = off.pop(own)
            self.assertLess(mine, self.LIMIT, off)
            self.assertGreater(min(off.values()), 2 * self.LIMIT, (mine, off))
        else:
            exact = np.stack([decode(w, TOKENS, 2, 2, 64, False, False)[i] for i in LAST])
            # Kernels of AVX512-FP16 add in halves of 11 bits, 256 products to a sum; a wrong weight is off by 1.
            self.assertLess(np.abs(got - exact).max() / exact.std(), 8 * 2**-11 * 256**0.5)
        events = runtime_events(path, [torch.tensor([[5, 9, 17]]), torch.tensor([0])])
        linear = [e for e in events if e.startswith("Fully Connected")]
        self.assertTrue(len(linear) == 8 and all(kernel in e for e in linear), linear)

    def test_groups_of_32(self):
        self.check("groups of 32", "QB4W", "--dtype", "8da4w")

    def test_groups_of_128(self):
        self.check("groups of 128", "QB4W", "--dtype", "8da4w", "--group-size", "128")

    def test_a_row_of_four_bits(self):
        self.check("a row of 4 bits", "QC4W", "--dtype", "8da4w", "--group-size", "channel")

    def test_eight_bits_with_fused_attention(self):
        self.check("a row of 8 bits", "QC8W", "--dtype", "8da8w", "--attention", "fused")

    def test_half_precision(self):
        self.check(None, "F16", "--dtype", "fp16")


@NEEDS_TORCH
class TextRunner(ExportCase):
    def test_executorchs_own_runner_takes_the_program_and_answers_in_its_log(self):
        import os
        import subprocess
        import sys

        from support import ROOT

        config = self.folder / "tiny.json"
        config.write_text(json.dumps({**TINY, "vocab_size": 320}))
        entry = self.exported(f"llm:{config}", "--attention", "fused").entry
        runner = str(ROOT / "python" / "etprof" / "llm" / "text_runner.py")
        done = subprocess.run(
            [sys.executable, runner, f"--model_path={self.out / entry['file']}", "--num_executions=2",
             "--prompt_tokens=12", "--new_tokens=5", "--prompt_alone"],
            capture_output=True, text=True, env={**os.environ})
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [json.loads(line.split(" ", 1)[1]) for line in done.stdout.splitlines()
                if line.startswith("PyTorchObserver ")]
        self.assertEqual([(s["prompt_tokens"], s["generated_tokens"]) for s in said], [(12, 0), (12, 4)] * 2)
        for text in ("Iteration 1 of 2: ", "Iteration 2 of 2: ", "num threads = 1"):
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
