# SPDX-License-Identifier: Apache-2.0
# Layer norms of float16 programs: the kernel of executorch 1.5.1 answers wrongly where a norm goes over 256 values or
# more (measured: 0 off at 192, 0.75 of the largest value at 256, 1.45 at 512), so those are computed in float32.
from __future__ import annotations

from math import prod

import torch

from .recipe import GraphFix, weight

WRONG_FROM = 256


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


def in_float32(graph_module) -> str | None:
    """Rewrites the traced graph in place; what was done to it, for the user."""
    changed = WideNorms().on_graph(graph_module)
    if not changed:
        return None
    return (f"{changed} layer norm{'s' * (changed > 1)} over {WRONG_FROM} values or more computed in float32: "
            "the float16 kernel of executorch 1.5.1 answers them wrongly")
