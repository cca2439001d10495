# SPDX-License-Identifier: Apache-2.0
# What a check can tell: agreement of answers that do not vary proves nothing, a model that draws random numbers is not
# compared, and what PyTorch and ExecuTorch refuse ends with a next step.
import unittest

from support import NEEDS_TORCH, ExportCase

BASE = """
    class Base(nn.Module):
        def get_eager_model(self):
            return self
        def get_example_inputs(self):
            return (torch.randn(4, 64),)
"""

CONSTANT = BASE + """
    class ZeroHead(Base):
        def __init__(self):
            super().__init__()
            self.a, self.head = nn.Linear(64, 32), nn.Linear(32, 10)
            nn.init.zeros_(self.head.weight)
            nn.init.zeros_(self.head.bias)
        def forward(self, x):
            return self.head(torch.relu(self.a(x)))

    class OnlyBias(ZeroHead):
        def __init__(self):
            super().__init__()
            nn.init.normal_(self.head.bias)

    class OneClass(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 1)
        def forward(self, x):
            return torch.softmax(self.a(x), -1)

    class Dead(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 8)
            nn.init.constant_(self.a.bias, -100.0)
        def forward(self, x):
            return torch.relu(self.a(x))

    class Beside(OnlyBias):
        def forward(self, x):
            return self.a(x), super().forward(x)

    class Mean(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 1)
        def forward(self, x):
            return self.a(x).mean().expand(8) * 1.0

    class Negative(ZeroHead):
        def forward(self, x):
            return super().forward(x) + (torch.zeros(10) if torch.compiler.is_compiling() else torch.ones(10))
"""

RANDOM = BASE + """
    class Dropout(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 64)
        def forward(self, x):
            return nn.functional.dropout(self.a(x), 0.3, True)

    class Noise(Dropout):
        def forward(self, x):
            return self.a(x + 0.1 * torch.randn(4, 64))

    class Like(Dropout):
        def forward(self, x):
            return self.a(x + 0.1 * torch.rand_like(x))

    class Still(Dropout):
        def forward(self, x):
            y = nn.functional.dropout(self.a(x), 0.3, False).reshape(1, 4, 8, 8)
            return nn.functional.scaled_dot_product_attention(y, y, y)
"""

CONDITION = BASE + """
    class Branch(Base):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: self.b(self.b(x)), (x,))

    class Loop(Branch):
        def forward(self, x):
            return torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, self.a(x)),
                                                      (torch.tensor(0), x))[1]

    class Complex(Base):
        def forward(self, x):
            return torch.fft.fft(x).abs() * 2.0
"""


@NEEDS_TORCH
class ProvesNothing(ExportCase):
    def unproven(self, source, *options):
        run = self.export(source, *options)
        self.assertEqual(run.code, 3, run.err)
        entry = run.entry
        self.assertEqual(entry["state"], "unproven")
        self.assertFalse(entry["checks"][0]["ok"])
        self.assertTrue((self.out / (entry["file"] + ".unproven")).is_file())
        self.assertFalse((self.out / entry["file"]).exists())
        self.assertIn("--accept-unproven", run.err)
        self.assertNotIn("does not agree", run.err)
        return run

    def test_answers_that_do_not_vary(self):
        path = self.model_file(CONSTANT)
        for name, words in (("ZeroHead", "is 0 in all of its 40 elements"), ("OnlyBias", "changes by 0 of its largest"),
                            ("OneClass", "changes by 0"), ("Dead", "is 0 in all of its 32 elements")):
            with self.subTest(name):
                run = self.unproven(f"{path}:{name}")
                self.assertIn("proves nothing", run.err)
                self.assertIn(words, run.err)
                self.assertEqual(run.entry["checks"][0]["state"], "unproven")

    def test_taken_as_it_is(self):
        path = self.model_file(CONSTANT)
        self.unproven(f"{path}:ZeroHead")
        run = self.exported(f"{path}:ZeroHead", "--accept-unproven")
        self.assertEqual((run.entry["state"], run.entry["checks"][0]["ok"]), ("unproven", False))
        names = {p.name for p in self.out.iterdir()}
        self.assertIn("model_ZeroHead_xnnpack_fp32.pte", names)
        self.assertEqual([n for n in names if n.endswith(".unproven")], [])

    def test_one_answer_that_varies_is_enough_and_the_other_is_named(self):
        entry = self.exported(f"{self.model_file(CONSTANT)}:Beside").entry
        self.assertEqual([u["output"] for u in entry["checks"][0]["unproven"]], [1])
        entry = self.exported(f"{self.model_file(CONSTANT)}:Mean").entry  # equal everywhere, but it moves
        self.assertEqual(entry["checks"][0]["unproven"], [])

    def test_zeros_where_eager_has_others_still_differ(self):
        run = self.export(f"{self.model_file(CONSTANT)}:Negative")
        self.assertEqual((run.code, run.entry["state"]), (1, "failed"), run.err)

    def test_how_answers_move_by_hand(self):
        import math

        import torch
        from etprof.export.evidence import response

        model = [torch.tensor([5.0, 1.0]), torch.tensor([7.0, 1.0]), torch.tensor([9.0, 4.0])]
        ours = [torch.tensor([0.0, 2.0]), torch.tensor([2.0, 2.0]), torch.tensor([1.0, 2.0])]
        # Moved by (-2, -1), (0, -1), (2, 2) and by (-1, 0), (1, 0), (0, 0): 2 of sqrt(14 * 2).
        self.assertAlmostEqual(response(ours, model), 2 / math.sqrt(28))
        self.assertEqual(response([ours[0]] * 3, model), 0.0)
        self.assertTrue(math.isnan(response(ours, [model[0]] * 3)))

    def test_a_program_that_always_gives_the_first_answer_is_told(self):
        """It agrees on the example inputs to the last bit."""
        import torch
        from etprof.export import job, lower, verify
        from etprof.export.source import load, resolve

        found = load(resolve(f"{self.model_file(CONSTANT)}:Beside"))
        method = lower.prepare(found, job.wanted_methods(found, None), lower.Options())[0][0]

        class Stuck:
            @staticmethod
            def execute(_):
                return verify.asked_eager(method, method.args, method.kwargs)

        check = verify.check_method(Stuck, method, "fp32", None)
        self.assertEqual((check["state"], check["against_same_precision"]["max_abs"]), ("differs", 0.0))
        self.assertIn("a correlation of 0.00 (eager PyTorch in fp32: 1.00)", check["why"])

        class Same:
            @staticmethod
            def execute(inputs):
                with torch.no_grad():
                    return verify.outputs_of(method.module(*inputs))

        check = verify.check_method(Same, method, "fp32", None)
        self.assertEqual((check["state"], [r["program"] for r in check["responses"]]), ("agrees", [1.0, None]))

    def test_movement_that_eight_bits_lose_proves_nothing(self):
        """The answers lie near 400 and move by about 0.4; a step of int8 is 1.6."""
        path = self.model_file(BASE + """
    class Faint(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 8)
            nn.init.constant_(self.a.bias, 400.0)
        def forward(self, x):
            return self.a(x)
        """)
        run = self.unproven(f"{path}:Faint", "--dtype", "int8")
        self.assertIn("asked with other inputs, moves as the fp32 model's with a correlation of 0.", run.err)
        self.assertEqual(self.exported(f"{path}:Faint").entry["checks"][0]["state"], "agrees")

    def test_a_random_network_with_a_hidden_part_is_drawn_again(self):
        import torch
        from etprof.export.redraw import redraw
        from torch import nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.conv, self.head = nn.BatchNorm2d(4), nn.Conv2d(4, 4, 1), nn.Linear(4, 2)
                self.gamma = nn.Parameter(1e-6 * torch.ones(4))
                self.token = nn.Parameter(torch.zeros(1, 1, 4))
                for weight in (self.norm.weight, self.head.weight, self.head.bias):
                    nn.init.zeros_(weight)

        block = Block()
        before = block.conv.weight.clone()
        self.assertEqual(sorted(redraw(block)), ["gamma", "head.weight", "norm.weight"])
        self.assertTrue(block.head.weight.std() > 0.1 and block.gamma.min() > 0.1 and block.norm.weight.min() > 0.1)
        self.assertTrue(torch.equal(block.conv.weight, before))
        self.assertFalse(block.token.any() or block.head.bias.any())


@NEEDS_TORCH
class NotDeterministic(ExportCase):
    def test_the_operator_is_named(self):
        path = self.model_file(RANDOM)
        for name, operator, line in (("Dropout", "aten.dropout.default", 15), ("Noise", "aten.randn.default", 19)):
            with self.subTest(name):
                run = self.export(f"{path}:{name}")
                self.assertEqual(run.code, 3, run.err)
                self.assertEqual(run.entry["checks"][0]["state"], "not_deterministic")
                self.assertIn("not deterministic", run.err)
                self.assertIn(f"{operator} ({path}:{line}", run.err)
                self.assertNotIn("does not agree", run.err)

    def test_one_that_executorch_has_not_is_refused_for_that(self):
        path = self.model_file(RANDOM)
        run = self.refused(4, "draws random numbers", f"{path}:Like")
        self.assertIn(f"aten.rand_like.default ({path}:23", run.err)

    def test_what_is_switched_off_draws_nothing(self):
        self.exported(f"{self.model_file(RANDOM)}:Still")

    def test_a_buffer_that_is_written_is_no_drawing(self):
        path = self.model_file(BASE + """
    class Counts(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 8)
            self.register_buffer("count", torch.zeros(1))
        def forward(self, x):
            self.count.add_(1.0)
            return self.a(x) + self.count
        """)
        self.assertEqual(self.exported(f"{path}:Counts").entry["checks"][0]["state"], "agrees")


@NEEDS_TORCH
class NextStep(ExportCase):
    def test_control_flow_in_the_graph(self):
        path = self.model_file(CONDITION)
        for options in ((), ("--dtype", "int8")):
            with self.subTest(options):
                run = self.export(f"{path}:Branch", *options)
                self.assertEqual(run.code, 4, run.err)
                self.assertIn("torch.cond", run.err)
                self.assertIn("torch.where", run.err)
                if not options:
                    self.assertIn("model.py:15", run.err)

    def test_a_loop_in_the_graph(self):
        said = self.refused(4, "torch.while_loop", f"{self.model_file(CONDITION)}:Loop").err
        self.assertIn("fixed number of times", said)
        self.assertNotIn("portable", said)  # which has no such instruction either

    def test_complex_numbers(self):
        self.assertIn("real and imaginary", self.refused(4, "complex", f"{self.model_file(CONDITION)}:Complex").err)

    def test_what_no_row_knows_has_a_step_too(self):
        from etprof.errors import BadInput
        from etprof.export import refusals

        for stage in (refusals.EXPORT, refusals.QUANTISE, refusals.LOWER, refusals.WRITE, refusals.CHECK):
            for backend in ("xnnpack", "portable"):
                with self.assertRaises(BadInput) as caught, refusals.refused("it", stage, backend=backend):
                    raise KeyError("surely unknown")
                self.assertIn("--verbose shows the whole traceback", str(caught.exception))
                self.assertIn("KeyError: 'surely unknown'", str(caught.exception))

    def test_every_row_can_be_reached(self):
        """Each row with the error that it is for; none is hidden by one before it."""
        from etprof.export import refusals

        class SpecViolationError(Exception):
            pass

        class Unsupported(Exception):
            pass

        cases = (
            (refusals.LOWER, MemoryError(), {}), (refusals.LOWER, RecursionError(), {}),
            (refusals.LOWER, IndexError(), {"calls": {"while_loop": "a.py:1"}}),
            (refusals.LOWER, IndexError(), {"calls": {"cond": "a.py:1"}}),
            (refusals.EXPORT, RuntimeError("Could not guard on data-dependent expression"), {}),
            (refusals.EXPORT, RuntimeError("expected scalar type Half but found Float"), {"halves": True}),
            (refusals.EXPORT, ValueError("Constraints violated (x_0)! For more information"), {}),
            (refusals.EXPORT, ValueError("Unsupported input type <class 'Odd'>"), {}),
            (refusals.EXPORT, Unsupported("call of a builtin"), {}),
            (refusals.LOWER, KeyError("complex64"), {"complex": True}),
            (refusals.WRITE, RuntimeError("Missing out variants: {'aten::bincount'}"), {}),
            (refusals.LOWER, KeyError(), {"drawing": ["aten.rand_like.default"]}),
            (refusals.LOWER, SpecViolationError("Operator torch._ops.aten.x is not Aten Canonical"), {}),
            (refusals.WRITE, OverflowError("flatbuffers: cannot grow buffer beyond 2 gigabytes"), {}),
        )
        found = [next(i for i, row in enumerate(refusals.REFUSALS)
                      if stage in row.stages and row.holds(refusals.Facts(stage, error, **known)))
                 for stage, error, known in cases]
        self.assertEqual(found, list(range(len(refusals.REFUSALS))))


@NEEDS_TORCH
class PartsAt(ExportCase):
    def test_the_first_operator_whose_numbers_part_is_named(self):
        """300² leaves the range of float16 in eager PyTorch as well; the operators before it do not."""
        path = self.model_file(BASE + """
    class Square(Base):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(64, 64)
        def forward(self, x):
            y = torch.relu(self.a(x)) + 300.0
            z = y * y
            return z * 0.001
        """)
        run = self.export(f"{path}:Square", "--dtype", "fp16")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn(f"numbers part first at aten.mul.Tensor ({path}:16", run.err)

    def test_what_an_operator_is_held_against_lies_behind_the_steps_to_int8(self):
        import torch
        from etprof.export.parting import known_before

        graph = torch.fx.Graph()
        x, weight = graph.placeholder("x"), graph.placeholder("weight")
        first = graph.call_function(torch.ops.aten.linear.default, (x, weight), name="first")
        there = graph.call_function(torch.ops.aten.round.default, (first,), name="there")
        back = graph.call_function(torch.ops.aten.mul.Tensor, (there, 0.1), name="back")
        last = graph.call_function(torch.ops.aten.linear.default, (back, weight), name="last")
        self.assertEqual(known_before(last, {"first": 0.1, "last": 0.3, "x": 0.0}), {"first"})

    def test_a_program_that_computes_something_else(self):
        import copy
        from unittest import mock

        import torch
        from etprof.export import lower

        path = self.model_file(BASE + """
    class Chain(Base):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 8)
        def forward(self, x):
            y = torch.tanh(self.a(x))
            z = torch.sigmoid(self.b(y))
            return self.c(z)
        """)
        real = lower.to_edge

        def wrong(programs, *arguments, **named):
            programs = copy.deepcopy(programs)
            for program in programs.values():
                for node in program.graph.nodes:
                    if str(node.target) == "aten.sigmoid.default":
                        node.target = torch.ops.aten.cos.default
            return real(programs, *arguments, **named)

        with mock.patch.object(lower, "to_edge", wrong):
            run = self.export(f"{path}:Chain")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("numbers part first at aten.", run.err)
        self.assertIn(f"{path}:16", run.err)
        self.assertIn("--tolerance", run.err)

    def test_depth_counts_what_rounds_on_the_longest_path(self):
        import torch
        from etprof.export import evidence
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
            def forward(self, x):
                y = torch.relu(self.a(x)).reshape(2, 4, 2).permute(0, 2, 1).reshape(2, 8)
                return self.b(y) + torch.sigmoid(x)

        program = torch.export.export(Net(), (torch.randn(2, 8),))
        self.assertEqual(evidence.depth(program), 3)  # linear, linear, add


if __name__ == "__main__":
    unittest.main()
