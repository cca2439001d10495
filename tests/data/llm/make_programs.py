#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small programs that phases are tested with, and what PyTorch says they answer.

usage: make_programs.py OUT_DIR      (with the executorch package and torch)
decoder_positions.pte  forward(tokens [1, n], positions [n]), as transformers' static cache has it; n from 1 to 32
pipeline.pte           encode(x [1, n, 4]) -> state [1, 4], step(state) -> (state, sum)
shapes.pte             a convolution over pictures of 8 to 32 pixels a side
programs.json          answers, float32, by eager PyTorch"""
import json
import os
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from torch.export import Dim, export

VOCABULARY, WIDTH, ROOM, CALL = 64, 16, 48, 32
TOKENS = [3, 41, 7, 60, 22, 5, 5, 19]


class Decoder(torch.nn.Module):
    """One layer of attention over a cache that is written at the positions of the tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.q, self.k, self.v = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("keys", torch.zeros(ROOM, WIDTH))
        self.register_buffer("values", torch.zeros(ROOM, WIDTH))
        self.register_buffer("places", torch.arange(ROOM))

    def forward(self, tokens, positions):
        x = self.embedding(tokens)[0]
        self.keys.index_copy_(0, positions, self.k(x))
        self.values.index_copy_(0, positions, self.v(x))
        scores = self.q(x) @ self.keys.transpose(0, 1) / WIDTH ** 0.5
        seen = self.places[None, :] <= positions[:, None]
        scores = torch.where(seen, scores, torch.full((), -1e9))
        return self.head(x + torch.softmax(scores, -1) @ self.values)[None]


class Encode(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).mean(1)


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, state):
        state = torch.tanh(self.linear(state))
        return state, state.sum(1)


class Picture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x)).mean((2, 3))


def lower(programs, path, constant=None):
    edge = to_edge_transform_and_lower(programs, partitioner=[XnnpackPartitioner()], constant_methods=constant)
    with open(path, "wb") as f:
        f.write(edge.to_executorch().buffer)


def main():
    out = sys.argv[1]
    torch.manual_seed(5)
    with torch.no_grad():
        decoder = Decoder().eval().requires_grad_(False)
        tokens = torch.tensor([TOKENS])
        n = Dim("n", min=1, max=CALL)
        program = export(decoder, (tokens, torch.arange(len(TOKENS))), dynamic_shapes=({1: n}, {0: n}), strict=True)
        decoder.keys.zero_(), decoder.values.zero_()
        logits = decoder(tokens, torch.arange(len(TOKENS)))[0, -1]
        lower({"forward": program}, os.path.join(out, "decoder_positions.pte"),
              {"use_kv_cache": True, "get_max_seq_len": CALL, "get_max_context_len": ROOM,
               "get_vocab_size": VOCABULARY, "enable_dynamic_shape": True})
        encode, step = Encode().eval(), Step().eval()
        x = torch.ones(1, 6, 4)
        m = Dim("m", min=2, max=16)
        state = encode(x)
        lower({"encode": export(encode, (x,), dynamic_shapes=({1: m},), strict=True),
               "step": export(step, (state,), strict=True)}, os.path.join(out, "pipeline.pte"))
        picture = Picture().eval()
        h, w = Dim("h", min=8, max=32), Dim("w", min=8, max=32)
        lower({"forward": export(picture, (torch.randn(1, 3, 16, 16),), dynamic_shapes=({2: h, 3: w},), strict=True)},
              os.path.join(out, "shapes.pte"))
        ones = picture(torch.ones(1, 3, 12, 20))
    answer = {"tokens": TOKENS, "logits": logits.tolist(), "picture_12x20_ones": ones.flatten().tolist()}
    with open(os.path.join(out, "programs.json"), "w") as f:
        json.dump(answer, f)
        f.write("\n")


if __name__ == "__main__":
    main()
