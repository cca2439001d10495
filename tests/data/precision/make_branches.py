#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes branches_xnnpack_fp32.pte with ExecuTorch 1.5.1: a linear layer, a branch that the input decides, another
linear layer behind it. usage: make_branches.py"""
import pathlib

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower


class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.behind = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.before(x)
        return self.behind(torch.cond(x.sum() > 0, lambda a: a + 1.0, lambda a: a * 2.0, (y,)))


torch.manual_seed(0)
program = to_edge_transform_and_lower(torch.export.export(Branches().eval(), (torch.ones(2, 8),)),
                                      partitioner=[XnnpackPartitioner()]).to_executorch()
pathlib.Path(__file__).with_name("branches_xnnpack_fp32.pte").write_bytes(program.buffer)
