#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes attention.pte, llama::custom_sdpa and llama::update_cache in forms that decoders of this folder lack.

usage: make_attention.py OUT_DIR      (with the executorch package and torch)
attention.json: inputs of each method and what PyTorch's own scaled_dot_product_attention says of them, float32.
Four query heads share two heads of a cache of 72 places, width 12; more keys than fit one block of a kernel's."""
import json
import os
import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from torch.nn.functional import scaled_dot_product_attention

HEADS, SHARED, WIDTH, CACHE, N, PLACE = 4, 2, 12, 72, 9, 54
llama = torch.ops.llama


class Causal(torch.nn.Module):
    def forward(self, q, k, v):
        return llama.custom_sdpa(q, k, v, PLACE, None, 0.0, True)


class Open(torch.nn.Module):  # every query sees what is there, with a scale of its own
    def forward(self, q, k, v):
        return llama.custom_sdpa(q, k, v, PLACE, None, 0.0, False, 0.5)


class Masked(torch.nn.Module):
    def forward(self, q, k, v, mask):
        return llama.custom_sdpa(q, k, v, 0, mask, 0.0, False)


class Kept(torch.nn.Module):  # what is put at place 3 is seen, what lies behind it is left
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 16, SHARED, WIDTH))

    def forward(self, value):
        llama.update_cache(value, self.cache, 3)
        return self.cache + 1.0


def eager(q, k, v, keys, mask, scale=None):
    q, k, v = (x.transpose(1, 2) for x in (q, k[:, :keys], v[:, :keys]))
    k, v = (x.repeat_interleave(HEADS // SHARED, 1) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale).transpose(1, 2)


def main():
    out = sys.argv[1]
    torch.manual_seed(3)
    # Multiples of 1/8: short in JSON, exact in float32.
    sizes = (N, HEADS), (CACHE, SHARED), (CACHE, SHARED)
    q, k, v = ((torch.randn(1, n, h, WIDTH) * 8).round() / 8 for n, h in sizes)
    q = q * 4  # peaks, so that the running maximum changes often
    mask = (torch.randn(N, CACHE) * 8).round() / 8
    mask[torch.rand(N, CACHE) < 0.3] = -torch.inf
    value = (torch.randn(1, 2, SHARED, WIDTH) * 8).round() / 8
    kept = torch.ones(1, 16, SHARED, WIDTH)
    kept[:, 3:5] += value
    causal = torch.arange(N + PLACE)[None] <= torch.arange(N)[:, None] + PLACE
    methods = {"causal": (Causal(), (q, k, v), eager(q, k, v, N + PLACE, causal)),
               "open": (Open(), (q, k, v), eager(q, k, v, N + PLACE, None, 0.5)),
               "masked": (Masked(), (q, k, v, mask), eager(q, k, v, CACHE, mask)),
               "kept": (Kept(), (value,), kept)}
    for name, (module, inputs, said) in methods.items():
        difference = (module(*inputs) - said).abs().max().item()
        print(name, "the package's own kernel differs from PyTorch by", difference)
        assert difference < 1e-4
    methods["kept"] = (Kept(), *methods["kept"][1:])
    programs = {n: torch.export.export(m, i, strict=True) for n, (m, i, _) in methods.items()}
    edge = to_edge(programs, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    with open(os.path.join(out, "attention.pte"), "wb") as f:
        f.write(edge.to_executorch().buffer)
    answer = {n: {"inputs": [x.flatten().tolist() for x in i],
                  "output": [round(x, 6) for x in o.flatten().tolist()]} for n, (_, i, o) in methods.items()}
    same = {"q": answer["causal"]["inputs"][0], "k": answer["causal"]["inputs"][1], "v": answer["causal"]["inputs"][2],
            "mask": ["-inf" if x == -torch.inf else x for x in answer["masked"]["inputs"][3]],
            "value": answer["kept"]["inputs"][0], **{n: a["output"] for n, a in answer.items()}}
    with open(os.path.join(out, "attention.json"), "w") as f:
        json.dump(same, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
