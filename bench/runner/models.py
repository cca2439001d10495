# SPDX-License-Identifier: Apache-2.0
# Small networks whose executions ask the SDK often: what bench/runner/run measures beside the programs of the tree.
# etprof export bench/runner/models.py:Decoder --dtype int8-dynamic
import torch
from torch import nn


class Model:
    """What `etprof export FILE.py:Class` asks of a class."""

    net = None
    shape = (1, 8, 256)

    def get_eager_model(self):
        torch.manual_seed(0)
        return self.net().eval()

    def get_example_inputs(self):
        return (torch.randn(self.shape, generator=torch.Generator().manual_seed(1)),)


class Block(nn.Module):
    """A decoder's block: attention without a cache, gated feed-forward."""

    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(width,
                                                  2 * width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = torch.softmax(q @ k.transpose(1, 2) * 0.0625, -1)
        x = x + self.o(scores @ v)
        return x + self.down(torch.sigmoid(self.gate(x)) * self.up(x))


class DecoderNet(nn.Sequential):
    def __init__(self):
        super().__init__(*[Block(256) for _ in range(4)])


class Decoder(Model):
    net = DecoderNet


class LstmNet(nn.Module):
    """Twelve steps of a cell, unrolled."""

    def __init__(self):
        super().__init__()
        self.x, self.h = nn.Linear(64, 256), nn.Linear(64, 256)

    def forward(self, x):
        h = c = torch.zeros(1, 64)
        for t in range(12):
            i, f, g, o = (self.x(x[:, t]) + self.h(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h


class Lstm(Model):
    net = LstmNet
    shape = (1, 12, 64)


class BranchNet(nn.Module):
    """Control flow: what follows a layer is decided while it runs."""

    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList(nn.Linear(128, 128) for _ in range(4))

    def forward(self, x):
        for step in self.steps:
            x = torch.cond(x.sum() > 0, lambda y: y + 1.0, lambda y: y * 0.5, (step(x),))
        return x


class Branch(Model):
    net = BranchNet
    shape = (4, 128)


if __name__ == "__main__": # python bench/runner/models.py FILE.pte: Branch, whose ETRecord ExecuTorch cannot write
    import sys

    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model = Branch()
    program = torch.export.export(model.get_eager_model(), model.get_example_inputs())
    with open(sys.argv[1], "wb") as f:
        to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch().write_to_file(f)
