# SPDX-License-Identifier: Apache-2.0
# Linear layers that a model writes as a product with a weight (GPT-2's Conv1D): the quantiser knows the layer alone.
from __future__ import annotations

import torch

from .recipe import GraphFix, weight


class WrittenAsProducts(GraphFix):
    def targets(self):
        return (torch.ops.aten.addmm.default,)

    def rewrite(self, build, node):
        bias, x, given = node.args
        held = weight(build.gm, given)
        if node.kwargs or held is None or bias.meta["val"].dim() != 1:
            return None
        return build(torch.ops.aten.linear.default, x, build.constant(given, held.t().contiguous()), bias)
