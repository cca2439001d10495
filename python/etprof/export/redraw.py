# SPDX-License-Identifier: Apache-2.0
# Random networks whose initialisation leaves parts of them out: a head of zeros, a residual branch that ends in a norm
# of weight 0, a layer scale of 1e-6. Whatever such a part computes, the answer is the same, so that no check sees it.
from __future__ import annotations

import math

import torch

TINY = 1e-2  # a scale below this, the same in all channels, hides its branch from float16 and int8
LIVELY = 0.5
LAYERS = (torch.nn.Linear, torch.nn.modules.conv._ConvNd)


def is_norm(module) -> bool:
    return "norm" in type(module).__name__.lower() and getattr(module, "weight", None) is not None


def same_everywhere(tensor) -> float | None:
    """The value that all elements have; None when they differ."""
    low, high = tensor.min().item(), tensor.max().item()
    return low if low == high else None


def hides(module, name: str, parameter) -> bool:
    if not parameter.is_floating_point() or not parameter.numel() or "bias" in name:
        return False
    value = same_everywhere(parameter.detach())
    if value is None:
        return False
    if isinstance(module, LAYERS) or is_norm(module):
        return name == "weight" and value == 0.0
    scales = any(word in name for word in ("gamma", "scale", "lambda"))
    return parameter.numel() > 1 and (0.0 < abs(value) < TINY or (scales and value == 0.0))


def redraw(model) -> list[str]:
    """Gives the parameters of a random network that hide a part of it other values; returns their names."""
    changed = []
    with torch.no_grad():
        for prefix, module in model.named_modules():
            for name, parameter in module.named_parameters(recurse=False):
                if not hides(module, name, parameter):
                    continue
                if isinstance(module, LAYERS):
                    parameter.normal_(std=1.0 / math.sqrt(parameter[0].numel()))
                else:
                    parameter.fill_(LIVELY)
                changed.append(f"{prefix}.{name}" if prefix else name)
    return changed
