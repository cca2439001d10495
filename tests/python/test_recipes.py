# SPDX-License-Identifier: Apache-2.0
# Every fix recipe: the numbers stay (the export's own check against the untouched model runs with
# fp32 limits), the operators change as promised.
import textwrap
import unittest

from support import NEEDS_TORCH, ExportCase, operators, runtime_events

ATTENTION = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(32, 96)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = self.qkv(x).reshape(b, t, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
            return self.attend(q, k, v).transpose(1, 2).reshape(b, t, 32)

        def attend(self, q, k, v):
            return torch.softmax(q @ k.transpose(-2, -1), -1) @ v

    class Sdpa(M):
        def attend(self, q, k, v):
            return nn.functional.scaled_dot_product_attention(q, k, v)

    class Base:
        net = M
        def get_eager_model(self):
            return self.net()
        def get_example_inputs(self):
            return (torch.randn(2, 10, 32),)

    class Plain(Base):
        pass

    class Fused(Base):
        net = Sdpa
"""

BLOCKS = """
    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Conv2d(3, 12, 3, padding=1)
            self.norm = nn.BatchNorm2d(12)
            self.b = nn.Conv2d(12, 8, 3, bias=False)
            self.norm.running_mean.uniform_(-1, 1)
            self.norm.running_var.uniform_(0.5, 2)

        def forward(self, x):
            return self.b(torch.relu(self.norm(self.a(x))))

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(8, 20), nn.Linear(20, 4)

        def forward(self, x):
            return self.b(nn.functional.gelu(self.a(x)))

    class Turned(nn.Module):
        def forward(self, x):
            y = torch.relu(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
            return torch.sigmoid(y).transpose(1, 2).transpose(1, 3)

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(24)
            self.norm.weight.data.uniform_(0.5, 2)
            self.norm.bias.data.uniform_(-1, 1)

        def forward(self, x):
            return self.norm(x * 3.0 + 5.0)

    def source(net, *shape):
        class Source:
            def get_eager_model(self):
                return net()
            def get_example_inputs(self):
                return (torch.randn(*shape),)
        return Source

    ConvNet = source(Conv, 1, 3, 16, 16)
    WideNet = source(Wide, 5, 8)
    OneRow = source(Wide, 1, 8)
    TurnedNet = source(Turned, 1, 3, 4, 5)
    NormNet = source(Norm, 2, 7, 24)
"""

BORDERS = """
    class Padded(nn.Sequential):
        def __init__(self):
            super().__init__(
                nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(3, 8, 3, 2), nn.ReLU(),
                nn.ZeroPad2d(1), nn.Conv2d(8, 8, 3), nn.ReLU(),
                nn.ZeroPad2d((1, 0, 1, 0)), nn.Conv2d(8, 8, 3, 2))

    class Stem(nn.Conv2d):
        def __init__(self):
            super().__init__(3, 8, 3, 2, 1)

    class Mirrored(nn.Sequential):
        def __init__(self):
            super().__init__(nn.ReflectionPad2d(1), nn.Conv2d(3, 4, 3))

    class Ones(nn.Sequential):
        def __init__(self):
            super().__init__(nn.ConstantPad2d(1, 1.0), nn.Conv2d(3, 4, 3))

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 3, padding=1)

        def forward(self, x):
            x = nn.functional.pad(x, (1, 1, 1, 1))
            return self.conv(x) + x

    class Even(nn.Conv2d):
        def __init__(self):
            super().__init__(3, 4, 3, padding=1)

    class Unstrided(Even):
        pass

    class Depthwise(nn.Conv2d):
        def __init__(self):
            super().__init__(4, 4, 3, 2, groups=4)

    class Deep(nn.Conv2d):
        def __init__(self):
            super().__init__(16, 8, 3, 2)
"""

BORDER_SOURCES = """
    PaddedNet = source(Padded, 1, 3, 16, 16)
    StemNet = source(Stem, 1, 3, 16, 16)
"""


def torch_randn(*shape):
    import torch

    return torch.randn(*shape)


@NEEDS_TORCH
class Recipes(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.model_file(ATTENTION + BLOCKS + BORDERS + BORDER_SOURCES)

    def before_after(self, name, *options, apply):
        before = self.exported(f"{self.path}:{name}", *options).entry
        places = {r["name"]: r["places"] for r in before["recipes"]}
        self.assertTrue({"keep-gemv", "per-op"}.isdisjoint(places), places)  # of the partitioner: they cannot say
        self.assertGreater(places.get(apply[0], 1), 0, apply)
        fixes = [word for fix in apply for word in ("--apply", fix)]
        after = self.exported(f"{self.path}:{name}", *options, *fixes).entry
        self.assertEqual(after["file"], before["file"].replace(
            ".pte", "_" + "_".join(apply) + ".pte"))
        if not {"fp16", "int8"} & set(options):  # those have limits of their own
            figures = after["checks"][0]["against_fp32"]
            self.assertLess(figures["max_rel"], 1e-3)
            self.assertGreater(figures["cosine"], 0.99999)
        return before, after

    def left(self, entry, operator):
        return operators(entry).get(operator, (0, 0))[1]

    def test_fold_expand(self):
        before, after = self.before_after("Plain", "--no-transforms", apply=["fold-expand"])
        self.assertEqual(self.left(before, "aten.expand_copy.default"), 4)
        self.assertEqual(self.left(after, "aten.expand_copy.default"), 0)

    def test_decompose_attention(self):
        before, after = self.before_after("Fused", apply=["decompose-attention"])
        self.assertEqual(self.left(before, "aten.logical_not.default"), 2)
        self.assertEqual(self.left(after, "aten.logical_not.default"), 0)
        self.assertEqual(operators(after)["aten.bmm.default"], (2, 0))

    def test_unbind_views(self):
        before, after = self.before_after("Plain", apply=["unbind-views"])
        self.assertEqual(self.left(before, "aten.squeeze_copy.dims"), 3)
        self.assertEqual(after["delegation"]["nodes_undelegated"], 0)
        self.assertEqual(after["delegation"]["partitions"], 1)

    def test_layer_norm_variants(self):
        for fix in ("layer-norm", "layer-norm-linear"):
            before, after = self.before_after("NormNet", apply=[fix])
            self.assertEqual(self.left(before, "aten.native_layer_norm.default"), 1)
            self.assertEqual(after["delegation"]["nodes_undelegated"], 0, fix)

    def test_gelu_tanh_keeps_fp16_on_the_delegate(self):
        before, after = self.before_after("WideNet", "--dtype", "fp16", apply=["gelu-tanh"])
        self.assertEqual(self.left(before, "aten.gelu.default"), 1)
        self.assertEqual(after["delegation"]["nodes_undelegated"], 0)
        self.assertGreater(after["checks"][0]["against_fp32"]["cosine"], 0.9999)

    def test_fold_conv_bn(self):
        before, after = self.before_after("ConvNet", "--backend", "portable", apply=["fold-conv-bn"])
        norm = "aten._native_batch_norm_legit_no_training.default"
        self.assertEqual(self.left(before, norm), 1)
        self.assertEqual(self.left(after, norm), 0)

    def test_fold_transposes(self):
        before, after = self.before_after("TurnedNet", apply=["fold-transposes"])
        self.assertEqual(operators(before)["aten.permute_copy.default"], (4, 0))
        self.assertEqual(operators(after)["aten.permute_copy.default"], (1, 0))

    def test_align_channels(self):
        before, after = self.before_after("WideNet", apply=["align-channels"])
        # 5x8x20 + 5x20x4 becomes 5x8x32 + 5x32x4
        self.assertEqual(before["delegation"]["macs"], 5 * 20 * 12)
        self.assertEqual(after["delegation"]["macs"], 5 * 32 * 12)

    def test_keep_gemv(self):
        before, after = self.before_after("OneRow", apply=["keep-gemv"])
        self.assertEqual(operators(before)["aten.linear.default"], (2, 0))
        left = [u for u in after["delegation"]["undelegated"] if u["macs"]]
        self.assertEqual(len(left), 2)
        self.assertTrue(all("keep-gemv" in u["reason"] for u in left), left)

    def test_per_op(self):
        before, after = self.before_after("WideNet", apply=["per-op"])
        self.assertEqual(before["delegation"]["partitions"], 1)
        self.assertEqual(after["delegation"]["partitions"], 3)

    def test_channels_last_drops_the_transpose_at_the_border(self):
        import torch

        before, after = self.before_after("ConvNet", apply=["channels-last"])
        x = torch.randn(1, 3, 16, 16)
        plain = runtime_events(self.out / before["file"], (x,))
        last = runtime_events(
            self.out / after["file"], (x.contiguous(memory_format=torch.channels_last),))
        transposes = [sum("Transpose" in e for e in events) for events in (plain, last)]
        self.assertLess(transposes[1], transposes[0], (plain, last))

    def test_events_change_as_the_operators_do(self):
        import torch

        before, after = self.before_after("NormNet", apply=["layer-norm"])
        x = torch.randn(2, 7, 24)
        self.assertIn("native_call_native_layer_norm.out",
                      runtime_events(self.out / before["file"], (x,)))
        self.assertFalse([e for e in runtime_events(self.out / after["file"], (x,))
                          if e.startswith("native_call")])

    def test_align_padding(self):
        before, after = self.before_after("PaddedNet", "--dtype", "int8", apply=["align-padding"])
        pad = "aten.constant_pad_nd.default"
        self.assertEqual(sum(operators(before).get(pad, (0, 0))), 3)
        self.assertEqual(sum(operators(after).get(pad, (0, 0))), 0)
        # The pad of (0, 1) becomes a zero row and column of the 3x3 kernel; (1, 0) and 1 are free.
        self.assertEqual(before["delegation"]["macs"], 64 * 9 * (3 * 8 + 8 * 8) + 16 * 9 * 8 * 8)
        self.assertEqual(after["delegation"]["macs"],
                         64 * (16 * 3 * 8 + 9 * 8 * 8) + 16 * 9 * 8 * 8)
        x = torch_randn(1, 3, 16, 16)
        events = [runtime_events(self.out / e["file"], (x,)) for e in (before, after)]
        pads, converts = ([sum(word in e for e in run) for run in events]
                          for word in ("Pad", "Convert"))
        self.assertEqual(pads, [3, 0], events)
        self.assertLess(converts[1], converts[0], events)

    def test_align_strides(self):
        before, after = self.before_after("StemNet", apply=["align-strides"])
        self.assertEqual(before["delegation"]["macs"], 64 * 27 * 8)
        self.assertEqual(after["delegation"]["macs"], 64 * 48 * 8)
        # 2x2 blocks as channels; the zeros before the image become one row and column of blocks
        ops = operators(after)
        self.assertEqual(ops["aten.permute_copy.default"], (1, 0))
        self.assertEqual(ops["aten.view_copy.default"], (2, 0))
        self.assertEqual(ops["aten.constant_pad_nd.default"], (1, 0))
        self.assertEqual(ops["aten.convolution.default"], (1, 0))

    def test_convolutions_keep_their_numbers_at_every_border(self):
        """Even and odd sizes, kernels and strides, rows that no window reaches, uneven pads."""
        import torch
        from etprof.export.recipes import find
        from torch import nn

        torch.manual_seed(3)
        cases = [(k, s, p, size, pad) for k, s in ((2, 2), (3, 2), (4, 4), (5, 3), ((3, 5), (2, 1)))
                 for p, pad in ((0, (0, 1, 0, 1)), (1, (1, 0, 2, 0)), (2, None))
                 for size in ((16, 16), (17, 14))]
        changed = {"align-padding": 0, "align-strides": 0}
        for name in changed:
            for k, s, p, size, pad in cases:
                net = nn.Sequential(nn.ZeroPad2d(pad or 0), nn.Conv2d(3, 4, k, s, min(p, 1))).eval()
                x = torch.randn(2, 3, *size)
                graph = torch.export.export(net, (x,)).module()
                changed[name] += find(name).on_graph(graph)
                torch.testing.assert_close(graph(x), net(x), msg=str((name, k, s, p, size, pad)))
        self.assertGreater(min(changed.values()), 20, changed)

    def test_padding_that_is_not_zeros_stays(self):
        for net, why in (("Mirrored", "mode reflect"), ("Ones", "value 1"), ("Shared", "other users"),
                         ("Even", "symmetric")):
            self.assertIn(why, self.reasons("align-padding", net))

    def test_depthwise_kernels_do_not_grow(self):
        """An uneven pad would make 3x3 a 4x4, for which there is no depthwise kernel; an even one is taken over."""
        import torch

        weight, wide, pad = torch.randn(4, 1, 3, 3), torch.randn(2, 4, 3, 3), torch.nn.functional.pad
        conv = torch.nn.functional.conv2d
        for pads, changed in (((0, 1, 0, 1), 0), ((1, 1, 1, 1), 1)):
            found, _, why = self.rewritten("align-padding", lambda x,
                                           p=pads: conv(pad(x, p), weight, stride=2, groups=4),
                                           torch.randn(1, 4, 16, 16))
            self.assertEqual(found, changed)
            self.assertEqual("depthwise" in str(why), not changed)
        self.assertEqual(self.rewritten("align-padding", lambda x: conv(pad(x, (0, 1, 0, 1)), wide, stride=2),
                                        torch.randn(1, 4, 16, 16))[0], 1)

    def test_strides_that_gain_nothing_stay(self):
        for net, why in (("Unstrided", "stride is 1"), ("Depthwise", "grouped"),
                         ("Deep", "16 channels × 3x3 take 18 steps of 8 channels, rewritten they "
                                  "would take 32")):
            self.assertIn(why, self.reasons("align-strides", net))

    def reasons(self, fix, net):
        """Why the recipe refuses a module of BORDERS whose output must then be untouched."""
        import torch
        from etprof.errors import BadInput
        from etprof.export.recipe import require_change
        from etprof.export.recipes import find

        space = {"torch": torch, "nn": torch.nn}
        exec(textwrap.dedent(BORDERS), space)
        module, channels = space[net]().eval(), {"Depthwise": 4, "Deep": 16}.get(net, 3)
        graph = torch.export.export(module, (torch.randn(1, channels, 16, 16),)).module()
        recipe = find(fix)
        code = graph.code
        self.assertEqual(recipe.on_graph(graph), 0)
        self.assertEqual(graph.code, code)
        with self.assertRaises(BadInput) as caught:
            require_change(recipe, 0, net)
        return str(caught.exception)

    def rewritten(self, fix, forward, *inputs):
        """How many places FIX changed in FORWARD; what is computed must stay what it was."""
        import torch
        from etprof.export.recipes import find

        class Net(torch.nn.Module):
            pass

        Net.forward = lambda self, *args: forward(*args)
        net, recipe = Net().eval(), find(fix)
        graph = torch.export.export(net, inputs).module()
        changed = recipe.on_graph(graph)
        torch.testing.assert_close(graph(*inputs), net(*inputs), atol=1e-5, rtol=1e-4)
        kept = [n.target for n in graph.graph.nodes if n.target in recipe.targets()]
        return changed, len(kept), recipe.skipped

    def test_attention_of_every_kind(self):
        """Causal, grouped queries, masks that are known at export; what needs the safe softmax is left alone."""
        import torch

        torch.manual_seed(5)
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = (torch.randn(2, 4, 6, 8) for _ in range(3))
        few, long = torch.randn(2, 2, 6, 8), torch.randn(2, 4, 9, 8)
        window = (torch.arange(6)[:, None] - torch.arange(6)).abs() < 3
        nothing = window.clone()
        nothing[2] = False
        fine = {
            "plain": (lambda q, k, v: attend(q, k, v), (q, k, v)),
            "causal": (lambda q, k, v: attend(q, k, v, is_causal=True), (q, k, v)),
            "causal, more keys": (lambda q, k, v: attend(q, k, v, is_causal=True), (q, long, long)),
            "causal, scaled": (lambda q, k, v: attend(q, k, v, is_causal=True, scale=0.7), (q, k, v)),
            "grouped": (lambda q, k, v: attend(q, k, v, is_causal=True, enable_gqa=True), (q, few, few)),
            "boolean": (lambda q, k, v: attend(q, k, v, attn_mask=torch.ones(6, 6, dtype=torch.bool).tril()),
                        (q, k, v)),
            "infinite": (lambda q, k, v: attend(q, k, v, attn_mask=torch.full((6, 6), float("-inf")).triu(1)),
                         (q, k, v)),
            "added": (lambda q, k, v, m: attend(q, k, v, attn_mask=m), (q, k, v, torch.randn(6, 6))),
        }
        for name, (forward, inputs) in fine.items():
            with self.subTest(name):
                self.assertEqual(self.rewritten("decompose-attention", forward, *inputs)[:2], (1, 0))
        changed, kept, why = self.rewritten("decompose-attention", lambda q, k, v, m: attend(q, k, v, attn_mask=m), q,
                                            k, v, window)
        self.assertEqual((changed, kept), (0, 1))
        self.assertIn("known at run time only", str(why))
        changed, _, why = self.rewritten("decompose-attention", lambda q, k, v: attend(
            q, k, v, attn_mask=torch.arange(6)[:, None] * torch.ones(6, 6, dtype=torch.int64) > 3), q, k, v)
        self.assertEqual(changed, 0)
        self.assertIn("hides a whole row", str(why))

    def test_layer_norms_and_squeezes_of_every_kind(self):
        import torch

        norm, x = torch.nn.functional.layer_norm, torch.randn(2, 5, 4, 6)
        for forward in (lambda x: norm(x, (6,)), lambda x: norm(x, (4, 6)),
                        lambda x: norm(x, (4, 6), torch.arange(24.0).reshape(4, 6))):
            self.assertEqual(self.rewritten("layer-norm", forward, x)[:2], (1, 0))
        for forward, places in ((lambda x: x[:, 0], 1), (lambda x: x[:, -1, 0] + x.select(2, 1)[:, 1], 4),
                                (lambda x: x[:, :1].squeeze(1), 1),
                                (lambda x: torch.stack(x.unbind(-2)), 1), (lambda x: x[:1].squeeze(), 1)):
            self.assertEqual(self.rewritten("unbind-views", forward, x)[:2], (places, 0))
        for forward, places in ((lambda x: x.mean((2, 3)), 1), (lambda x: x.mean([-1, -2]), 1),
                                (lambda x: x.mean((2, 3), keepdim=True), 0),
                                (lambda x: x.mean((1, 2)), 0), (lambda x: x.mean(3), 0)):
            self.assertEqual(self.rewritten("keep-dims", forward, x)[0], places)

    def test_what_applies_is_recorded(self):
        entry = self.exported(f"{self.path}:WideNet", "--seed", "5").entry
        places = {r["name"]: r["places"] for r in entry["recipes"]}
        self.assertEqual((places["decompose-attention"], places["gelu-tanh"], places["channels-last"]), (0, 1, 0))
        self.assertEqual(entry["command"], ["etprof", "export", f"{self.path}:WideNet", "--seed", "5"])

    def test_recipe_without_a_place_is_refused(self):
        self.refused(4, "no place where it applies", f"{self.path}:WideNet",
                     "--apply", "decompose-attention")

    def test_unknown_recipe(self):
        self.refused(2, "did you mean layer-norm", f"{self.path}:NormNet", "--apply", "layernorm")


if __name__ == "__main__":
    unittest.main()
