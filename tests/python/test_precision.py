# SPDX-License-Identifier: Apache-2.0
# Inputs and precisions: what is cast, what is quantised, keyword inputs, axes that vary, methods.
import unittest

from support import HAVE_TORCH, NEEDS_TORCH, ExportCase, runtime_events

if HAVE_TORCH:
    import torch

EMBED = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(16, 32)
            self.out = nn.Linear(32, 4)

        def forward(self, ids, mask):
            return self.out(self.table(ids) * mask.unsqueeze(-1))

    class Embed:
        def get_eager_model(self):
            return M()
        def get_example_inputs(self):
            return (torch.tensor([[1, 5, 9]]), torch.tensor([[True, False, True]]))
"""

MLP = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 32), nn.Linear(32, 8)

        def forward(self, x, bias=None):
            y = self.b(torch.relu(self.a(x)))
            return y if bias is None else y + bias

        def head(self, x):
            return self.b(x)

    class Mlp:
        def get_eager_model(self):
            return M()
        def get_example_inputs(self):
            return (torch.randn(4, 64),)
"""


@NEEDS_TORCH
class Inputs(ExportCase):
    def test_integer_and_boolean_inputs_are_not_cast(self):
        path = self.model_file(EMBED)
        entry = self.exported(f"{path}:Embed", "--dtype", "fp16").entry
        self.assertEqual([i["dtype"] for i in entry["methods"][0]["inputs"]], ["int64", "bool"])
        self.assertEqual(entry["methods"][0]["outputs"][0]["shape"], [1, 3, 4])

    def test_keyword_inputs(self):
        path = self.model_file(MLP + """
    class Kw(Mlp):
        def get_example_kwarg_inputs(self):
            return {"bias": torch.full((8,), 100.0)}
        """)
        entry = self.exported(f"{path}:Kw", "--dtype", "fp16").entry
        inputs = entry["methods"][0]["inputs"]
        self.assertEqual([(i["name"], i["dtype"]) for i in inputs],
                         [("x", "float16"), ("bias", "float16")])

    def test_float32_of_the_model_s_own_is_the_reason(self):
        path = self.own_model("""
            class Mixed(Own):
                def __init__(self):
                    super().__init__()
                    self.a = nn.Linear(4, 4)
                def forward(self, x):
                    return torch.bmm(self.a(x), torch.ones(2, 4, 4))
                def get_example_inputs(self):
                    return (torch.rand(2, 4, 4),)
        """)
        self.exported(f"{path}:Mixed")
        run = self.refused(4, "float32 tensors of its own", f"{path}:Mixed", "--dtype", "fp16",
                           out=self.folder / "half")
        self.assertIn("model.py:13", run.err)
        self.assertNotIn("data-dependent", run.err)

    def test_wide_layer_norms_are_computed_in_float32(self):
        """In float16 the kernel of executorch 1.5.1 answers them wrongly: 2.3 times the largest value off at 384."""
        path = self.own_model("""
            class Wide(Own):
                def __init__(self, width=384):
                    super().__init__()
                    self.a, self.norm, self.b = nn.Linear(64, width), nn.LayerNorm(width), nn.Linear(width, 8)
                def forward(self, x):
                    return self.b(self.norm(self.a(x)))
                def get_example_inputs(self):
                    return (torch.randn(4, 64),)

            class Narrow(Wide):
                def __init__(self):
                    super().__init__(128)
        """)
        for name, wide in (("Wide", 1), ("Narrow", 0)):
            entry = self.exported(f"{path}:{name}", "--dtype", "fp16").entry
            self.assertEqual(len([w for w in entry["warnings"] if "layer norm" in w]), wide)
            left = {u["operator"]: u["dtype"] for u in entry["delegation"]["undelegated"]}
            self.assertEqual(left["aten.native_layer_norm.default"], "float32" if wide else "float16")

    def test_values_beyond_half_are_refused(self):
        path = self.model_file(MLP + """
    class Big(Mlp):
        def get_example_inputs(self):
            return (torch.full((4, 64), 1e5),)
        """)
        self.refused(4, "float16", f"{path}:Big", "--dtype", "fp16")

    def test_dynamic_shape_is_checked_at_both_ends(self):
        path = self.model_file(MLP)
        entry = self.exported(f"{path}:Mlp", "--dynamic-shape", "x:0=2..16").entry
        shapes = [s["inputs"] for s in entry["checks"][0]["other_shapes"]]
        self.assertEqual(shapes, [[[2, 64]], [[16, 64]]])

    def test_dynamic_shapes_of_the_model_are_honoured_and_can_be_left_out(self):
        path = self.model_file(MLP + """
    class Dyn(Mlp):
        def get_dynamic_shapes(self):
            return ({0: torch.export.Dim("rows", min=1, max=8)},)
        """)
        entry = self.exported(f"{path}:Dyn").entry
        self.assertEqual(len(entry["checks"][0]["other_shapes"]), 2)
        entry = self.exported(f"{path}:Dyn", "--static").entry
        self.assertEqual(entry["checks"][0]["other_shapes"], [])

    def test_dynamic_shape_mistakes(self):
        path = self.model_file(MLP)
        for spec, needle in (("y:0=2..16", "no input 'y'"), ("x:5=2..16", "2 axes"),
                             ("x:0=9..2", "MIN < MAX"), ("x:0=5..9", "example input has 4"),
                             ("nonsense", "INPUT:AXIS")):
            self.refused(2, needle, f"{path}:Mlp", "--dynamic-shape", spec)


@NEEDS_TORCH
class Methods(ExportCase):
    def test_two_methods(self):
        path = self.model_file(MLP + """
    class Two(Mlp):
        def get_method_inputs(self):
            return {"forward": ((torch.randn(4, 64),), {}), "head": ((torch.randn(4, 32),), {})}
        """)
        for options in ((), ("--method", "forward", "--method", "tail=head")):
            run = self.exported(f"{path}:Two", *options)
            names = [m["name"] for m in run.entry["methods"]]
            self.assertEqual(names, ["forward", "tail" if options else "head"])
            self.assertTrue(all(c["ok"] for c in run.entry["checks"]))
            for name in names:
                file = self.out / (run.entry["file"] + ".inputs") / name / "0.bin"
                self.assertEqual(file.stat().st_size, 4 * 4 * (64 if name == "forward" else 32))

    def test_unknown_method(self):
        path = self.model_file(MLP)
        self.refused(2, "did you mean head", f"{path}:Mlp", "--method", "haed")


@NEEDS_TORCH
class Quantised(ExportCase):
    def test_dynamic_int8_and_int4(self):
        path = self.model_file(MLP)
        for dtype, operator in (("int8-dynamic", "choose_qparams"), ("int4", "dequantize_affine")):
            entry = self.exported(f"{path}:Mlp", "--dtype", dtype).entry
            self.assertIn(f"_{dtype}.pte", entry["file"])
            names = " ".join(o["operator"] for o in entry["delegation"]["operators"])
            self.assertIn(operator, names)

    def test_modules_are_kept_in_float(self):
        path, x = self.model_file(MLP), (torch.ones(4, 64),)
        for dtype, quantised in (("int8", "QS8"), ("int8-dynamic", "QD"), ("8da8w", "QD")):
            entry = self.exported(f"{path}:Mlp", "--dtype", dtype, "--keep-float", "b").entry
            names = [n for n in runtime_events(self.out / entry["file"], x) if n.startswith("Fully Connected")]
            self.assertEqual([sum(quantised in n for n in names), len(names)], [1, 2], (dtype, names))
            self.assertEqual(entry["command"][2:], [f"{path}:Mlp", "--dtype", dtype, "--keep-float", "b"])
            self.refused_beside(f"{path}:Mlp", "--dtype", dtype, "--keep-float", "b,c")
        self.refused_beside(f"{path}:Mlp", "--keep-float", "b", said="is for a --dtype that quantises", code=2)

    def refused_beside(self, *words, said="--keep-float c: ", code=2):
        self.refused(code, said, *words, out=self.folder / "none")

    def test_a_computed_scalar_stays_in_fp32(self):
        """executorch 1.5.1 cannot lower one that is quantised: IndexError in its layout pass."""
        path = self.own_model("""
            class Scalar(Own):
                def __init__(self):
                    super().__init__()
                    self.a, self.b = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3)
                def forward(self, x):
                    return self.b(torch.relu(self.a(x)) * torch.cumsum(x.flatten(), 0)[-1])
                def get_example_inputs(self):
                    return (torch.rand(1, 3, 32, 32),)
        """)
        entry = self.exported(f"{path}:Scalar", "--dtype", "int8").entry
        self.assertEqual(entry["delegation"]["macs_share"], 1.0)

    def test_an_unfolded_scalar_goes_back_to_fp32(self):
        import torch
        from etprof.export.precision import plain_scalars
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
            XNNPACKQuantizer,
            get_symmetric_quantization_config,
        )
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

        class Half(torch.nn.Module):
            def forward(self, x):
                return (x + 0.5) * x

        x = torch.rand(4, 4)
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
        prepared = prepare_pt2e(torch.export.export(Half(), (x,)).module(), quantizer)
        prepared(x)
        converted = convert_pt2e(prepared, fold_quantize=False)

        def scalars():
            return [n for n in converted.graph.nodes if ".quantize_per_tensor" in str(n.target)
                    and n.args[0].op == "get_attr"]

        self.assertEqual(len(scalars()), 1)
        plain_scalars(converted)
        self.assertEqual(scalars(), [])
        self.assertLess((converted(x) - Half()(x)).abs().max().item(), 0.02)

    def test_integers_stay_integers(self):
        """The quantiser of executorch 1.5.1 makes ids + 1 a float32, with which no table can be read (BERT's mask)."""
        path = self.own_model("""
            class Next(Own):
                def __init__(self):
                    super().__init__()
                    self.table, self.out = nn.Embedding(16, 32), nn.Linear(32, 4)
                def forward(self, ids):
                    return self.out(self.table(ids + 1) * 2.0)
                def get_example_inputs(self):
                    return (torch.tensor([[1, 5, 9]]),)
        """)
        self.exported(f"{path}:Next", "--dtype", "int8")

    def test_what_a_norm_reads_is_not_rounded(self):
        """A token a hundred times smaller than the patches beside it: a step of int8 for both leaves nothing of it."""
        path = self.own_model("""
            class Token(Own):
                def __init__(self):
                    super().__init__()
                    self.token = nn.Parameter(0.005 * torch.randn(1, 1, 32))
                    self.a, self.b, self.c = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 8)
                    self.first, self.last = nn.LayerNorm(32), nn.LayerNorm(32)
                def forward(self, x):
                    token = self.token + 0.005 * x.mean(1, keepdim=True)
                    y = torch.cat((token, self.a(x)), 1)
                    y = y + 0.001 * self.b(self.first(y))
                    return self.c(self.last(y[:, 0]))
                def get_example_inputs(self):
                    return (torch.randn(1, 4, 32),)
        """)
        entry = self.exported(f"{path}:Token", "--dtype", "int8").entry
        self.assertGreater(entry["checks"][0]["responses"][0]["program"], 0.95)

    def test_a_product_with_a_weight_is_a_linear_layer(self):
        """GPT-2 writes its layers so; the quantiser would pass over all of them."""
        path = self.own_model("""
            class Product(Own):
                def __init__(self):
                    super().__init__()
                    self.weight = nn.Parameter(0.2 * torch.randn(64, 32))
                    self.bias = nn.Parameter(torch.randn(32))
                def forward(self, x):
                    return torch.addmm(self.bias, x, self.weight)
                def get_example_inputs(self):
                    return (torch.randn(4, 64),)
        """)
        delegation = self.exported(f"{path}:Product", "--dtype", "int8-dynamic").entry["delegation"]
        self.assertEqual((delegation["macs"], delegation["macs_share"]), (4 * 64 * 32, 1.0))

    def test_layers_that_stay_fp32_are_named(self):
        path = self.own_model("""
            class Widths(Own):
                def __init__(self):
                    super().__init__()
                    self.a, self.b, self.c = nn.Linear(64, 144), nn.Linear(144, 64), nn.Linear(64, 8)
                def forward(self, x):
                    return self.c(torch.relu(self.b(torch.relu(self.a(x)))))
                def get_example_inputs(self):
                    return (torch.randn(1, 64),)
        """)
        warnings = self.exported(f"{path}:Widths", "--dtype", "8da4w").entry["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("1 of 3 linear layers stay fp32", warnings[0])
        self.assertTrue(warnings[0].endswith(": b (144)"), warnings[0])

    def test_weights_are_quantised_per_channel(self):
        entry = self.exported("toy_cnn", "--dtype", "int8", "--calibrate", "2").entry
        names = {o["operator"] for o in entry["delegation"]["operators"]}
        self.assertIn("quantized_decomposed.dequantize_per_channel.default", names)

    def test_nothing_to_quantise_is_an_error_not_a_wrong_tag(self):
        path = self.model_file("""
            class Plain:
                def get_eager_model(self):
                    return nn.Tanh()
                def get_example_inputs(self):
                    return (torch.randn(2, 3),)
        """)
        self.refused(4, "nothing was quantised", f"{path}:Plain", "--dtype", "int8")
        self.refused(4, "nothing was quantised", f"{path}:Plain", "--dtype", "int4")

    def test_calibration_sources(self):
        import numpy

        run = self.exported("toy_cnn", "--dtype", "int8")
        self.assertEqual(run.entry["calibration"]["source"], "example-inputs")
        self.assertTrue(any("--calibrate" in w for w in run.entry["warnings"]))
        path = self.folder / "samples.npz"
        numpy.savez(path, image=numpy.random.default_rng(0).normal(
            size=(3, 1, 3, 96, 96)).astype("float32"))
        run = self.exported("toy_cnn", "--dtype", "int8", "--calibrate", str(path))
        self.assertEqual(run.entry["calibration"],
                         {"source": "file", "file": "samples.npz", "samples": 3})
        self.assertEqual(run.entry["warnings"], [])

    def test_calibration_ranges_matter(self):
        import numpy

        digests = set()
        for scale in (1.0, 30.0):
            path = self.folder / f"{scale}.npz"
            numpy.savez(path, image=numpy.full((1, 1, 3, 96, 96), scale, dtype="float32"))
            run = self.export("toy_cnn", "--dtype", "int8", "--calibrate", str(path),
                              "--tolerance", "-1", out=self.folder / f"o{scale}")
            digests.add(run.entry["sha256"])
        self.assertEqual(len(digests), 2)

    def test_broken_calibration_files(self):
        import numpy

        bad = self.folder / "bad.npz"
        bad.write_bytes(b"PK\x03\x04 not a zip")
        wrong = self.folder / "wrong.npz"
        numpy.savez(wrong, image=numpy.zeros((2, 1, 3, 95, 96), dtype="float32"))
        many = self.folder / "many.npz"
        numpy.savez(many, a=numpy.zeros(2), b=numpy.zeros(2))
        pickled = self.folder / "pickled.npz"
        numpy.savez(pickled, a=numpy.array([object()], dtype=object))
        for path, needle in ((bad, "not a readable"), (wrong, "samples of shape"),
                             (many, "2 arrays"), (pickled, "not a readable")):
            self.refused(4, needle, "toy_cnn", "--dtype", "int8", "--calibrate", str(path))
        self.refused(2, "no such file", "toy_cnn", "--dtype", "int8", "--calibrate", "none.npz")


@NEEDS_TORCH
class Rounding(unittest.TestCase):
    """Two int8 implementations may round a deep network apart; what computes something else is further from fp32."""

    def setUp(self):
        import torch
        from etprof.export import verify

        draw = torch.Generator().manual_seed(0)
        self.fp32, one, other = (torch.randn(1, 20000, generator=draw) for _ in range(3))
        self.eager, self.program = self.fp32 + 0.2 * one, self.fp32 + 0.2 * other
        self.verify, self.more = verify, self.fp32 + 0.3 * other

    def as_near(self, program):
        return self.verify.as_near([program], [self.eager], [self.fp32])

    def test_two_roundings(self):
        apart = self.verify.compare([self.program], [self.eager], self.verify.SAME["int8"])
        self.assertFalse(apart.ok)  # cosine 1 / 1.04 by the variances
        self.assertAlmostEqual(apart.cosine, 1 / 1.04, delta=0.003)
        self.assertTrue(self.as_near(self.program))

    def test_something_else(self):
        self.assertFalse(self.as_near(self.more))
        self.assertFalse(self.as_near(self.fp32.roll(1)))
        self.assertFalse(self.as_near(-self.program))
        one_wrong = self.program.clone()
        one_wrong[0, 7] += 3
        self.assertFalse(self.as_near(one_wrong))
        one_wrong[0, 7] = float("nan")
        self.assertFalse(self.as_near(one_wrong))
        self.assertFalse(self.verify.as_near([self.program], [self.eager] * 2, [self.fp32] * 2))


if __name__ == "__main__":
    unittest.main()
