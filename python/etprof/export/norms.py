# SPDX-License-Identifier: Apache-2.0
# Layer norms in narrow programs. In float16 the kernel of executorch 1.5.1 answers wrongly where a norm goes over 256
# values or more (measured: 0 off at 192, 0.75 of the largest value at 256, 1.45 at 512), so those are computed in
# float32. In int8 what they read is not rounded: a norm enlarges what rounding left of small values.
from __future__ import annotations

from math import prod

import torch

from .recipe import GraphFix, weight

WRONG_FROM = 256
NORMS = ("layer_norm", "rms_norm", "group_norm")
SUMS = ("add", "add_", "cat")
SAME_VALUES = ("chunk", "clone", "contiguous", "dropout", "expand", "flatten", "getitem", "pad", "permute", "reshape",
               "roll", "select", "slice", "split", "split_with_sizes", "squeeze", "to", "transpose", "unbind",
               "unflatten", "unsqueeze", "view")


class WideNorms(GraphFix):
    def targets(self):
        return (torch.ops.aten.layer_norm.default,)

    def rewrite(self, build, node):
        x, shape, *rest = node.args
        if x.meta["val"].dtype != torch.float16 or prod(shape) < WRONG_FROM:
            return None

        def wide(given):
            held = weight(build.gm, given)
            if held is not None:
                return build.constant(given, held.float())
            return given if given is None else build(torch.ops.aten.to.dtype, given, torch.float32)

        scales = [wide(given) for given in rest[:2]]
        norm = build(torch.ops.aten.layer_norm.default, wide(x), shape, *scales, *rest[2:3])
        return build(torch.ops.aten.to.dtype, norm, torch.float16)


def kind(node) -> str:
    """`add` of aten.add.Tensor; the name of a function of Python's."""
    packet = getattr(node.target, "overloadpacket", node.target)
    return getattr(packet, "__name__", "") if node.op == "call_function" else ""


def sums_that_norms_read(graph) -> set:
    """Sums and concatenations (a residual stream) that a norm reads, through whatever only moves their values.

    A norm makes rows of very different sizes equally large, so a step of int8 that fits the largest row (a picture's
    patches) loses the smallest (the token that the answer is read from)."""
    found, reads = set(), set()
    for node in reversed(graph.nodes):
        name = kind(node)
        if not any(kind(user) in NORMS or user in reads for user in node.users):
            continue
        if name in SUMS or name in SAME_VALUES:
            reads.add(node)
        if name in SUMS:
            found.add(node)
    return found


def in_float32(graph_module) -> str | None:
    """Rewrites the traced graph in place; what was done to it, for the user."""
    changed = WideNorms().on_graph(graph_module)
    if not changed:
        return None
    return (f"{changed} layer norm{'s' * (changed > 1)} over {WRONG_FROM} values or more computed in float32: "
            "the float16 kernel of executorch 1.5.1 answers them wrongly")
