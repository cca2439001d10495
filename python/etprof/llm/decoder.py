# SPDX-License-Identifier: Apache-2.0
# A text decoder of Llama's kind (also Qwen3) with its key-value cache in mutable buffers, for
# ExecuTorch's usual contract: forward(tokens [1, n], input_pos [1]) -> logits [1, vocab] of the last
# token. Two kinds of attention: written out, or ExecuTorch's fused operators.
from __future__ import annotations

import math

import torch
from torch import nn

from .shapes import Shape

HIDDEN = -1e9  # score of a position that must not be seen


def rotations(shape: Shape):
    """cos and sin [context, head width / 2] of each position."""
    half = shape.head_width // 2
    speed = 1.0 / shape.theta ** (torch.arange(half, dtype=torch.float64) / half)
    scaling = shape.rope_scaling
    if scaling:
        turns = scaling.original * speed / (2 * math.pi)  # within the length trained on
        keep = ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)
        speed = keep * speed + (1 - keep) * speed / scaling.factor
    angle = torch.arange(shape.context, dtype=torch.float64)[:, None] * speed[None]
    return angle.cos().float(), angle.sin().float()


def rotate(x, cos, sin):
    """x [1, n, heads, head width], its first half the real parts."""
    real, imaginary = x.chunk(2, dim=-1)
    cos, sin = cos[:, None].to(x.dtype), sin[:, None].to(x.dtype)
    return torch.cat((real * cos - imaginary * sin, real * sin + imaginary * cos), dim=-1)


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + self.eps)
        return wide.to(x.dtype) * self.weight


class PlainAttention(nn.Module):
    """Cache [1, kv heads, context, head width]; the queries of one key-value head are rows of one
    product, so the cache is never repeated."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        size = (1, shape.kv_heads, shape.context, shape.head_width)
        self.register_buffer("k_cache", torch.zeros(size), persistent=False)
        self.register_buffer("v_cache", torch.zeros(size), persistent=False)

    def forward(self, q, k, v, start, hidden):
        s, n = self.shape, q.shape[1]
        self.k_cache.narrow(2, start, n).copy_(k.transpose(1, 2))
        self.v_cache.narrow(2, start, n).copy_(v.transpose(1, 2))
        share = s.heads // s.kv_heads
        q = q.transpose(1, 2).reshape(1, s.kv_heads, share * n, s.head_width)
        scores = q @ self.k_cache.transpose(2, 3) * s.head_width ** -0.5
        scores = scores.view(1, s.heads, n, s.context) + hidden
        seen = scores.softmax(-1).view(1, s.kv_heads, share * n, s.context) @ self.v_cache
        return seen.view(1, s.heads, n, s.head_width).transpose(1, 2).reshape(
            1, n, s.heads * s.head_width)


class FusedAttention(nn.Module):
    """ExecuTorch's llama::update_cache and llama::custom_sdpa, which work in float32 on a cache
    [1, context, kv heads, head width]."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        # Not a buffer of the module's type: half() must leave it.
        size = (1, shape.context, shape.kv_heads, shape.head_width)
        self.register_buffer("k_cache", torch.zeros(size), persistent=False)
        self.register_buffer("v_cache", torch.zeros(size), persistent=False)

    def forward(self, q, k, v, start, hidden):
        del hidden
        dtype, ops = q.dtype, torch.ops.llama
        ops.update_cache(k.float(), self.k_cache, start)
        ops.update_cache(v.float(), self.v_cache, start)
        seen = ops.custom_sdpa(q.float(), self.k_cache, self.v_cache, start, None, 0, True)
        return seen.reshape(1, q.shape[1], self.shape.heads * self.shape.head_width).to(dtype)

    def _apply(self, fn, recurse=True):
        caches = self.k_cache, self.v_cache
        super()._apply(fn, recurse)
        self.k_cache, self.v_cache = (c.to(self.k_cache.device) for c in caches)
        return self


class Layer(nn.Module):
    def __init__(self, shape: Shape, attention):
        super().__init__()
        self.shape = shape
        wide, narrow = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        self.attention_norm = Norm(shape.width, shape.eps)
        self.q = nn.Linear(shape.width, wide, bias=False)
        self.k = nn.Linear(shape.width, narrow, bias=False)
        self.v = nn.Linear(shape.width, narrow, bias=False)
        if shape.norms_qk:
            self.q_norm = Norm(shape.head_width, shape.eps)
            self.k_norm = Norm(shape.head_width, shape.eps)
        self.attention = attention(shape)
        self.o = nn.Linear(wide, shape.width, bias=False)
        self.ffn_norm = Norm(shape.width, shape.eps)
        self.gate = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x, cos, sin, start, hidden):
        s, n = self.shape, x.shape[1]
        h = self.attention_norm(x)
        q = self.q(h).view(1, n, s.heads, s.head_width)
        k = self.k(h).view(1, n, s.kv_heads, s.head_width)
        v = self.v(h).view(1, n, s.kv_heads, s.head_width)
        if s.norms_qk:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        x = x + self.o(self.attention(q, k, v, start, hidden))
        h = self.ffn_norm(x)
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, shape: Shape, fused: bool):
        super().__init__()
        self.shape, self.fused = shape, fused
        attention = FusedAttention if fused else PlainAttention
        self.embedding = nn.Embedding(shape.vocab, shape.width)
        self.layers = nn.ModuleList(Layer(shape, attention) for _ in range(shape.layers))
        self.norm = Norm(shape.width, shape.eps)
        self.output = nn.Linear(shape.width, shape.vocab, bias=False)
        # Constants, not buffers: they stay float32 in a model of half precision.
        self.cos, self.sin = rotations(shape)
        self.positions = torch.arange(shape.context, dtype=torch.float32)

    def forward(self, tokens, input_pos):
        n = tokens.shape[1]
        start = input_pos[0].item()
        torch._check(start >= 0)
        torch._check(start + n <= self.shape.context)
        cos, sin = self.cos.narrow(0, start, n), self.sin.narrow(0, start, n)
        x = self.embedding(tokens)
        hidden = None
        if not self.fused:
            ahead = self.positions.narrow(0, start, n)[:, None] - self.positions[None]
            hidden = (ahead.clamp(-1, 0) * -HIDDEN).to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin, start, hidden)
        return self.output(self.norm(x[:, -1]))


def initialise(model: Decoder):
    """Weights that keep activations near one in size, whatever the depth: a network of which
    nothing is trained still has to answer something that can be compared."""
    deep = 1 / math.sqrt(2 * len(model.layers))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.fill_(1.0)
                continue
            spread = 1 / math.sqrt(weight.shape[1])
            spread *= deep if name.endswith(("o.weight", "down.weight")) else 1
            weight.normal_(0.0, spread)
        if model.shape.tied:
            model.output.weight.copy_(model.embedding.weight)
