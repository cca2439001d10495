# SPDX-License-Identifier: Apache-2.0
# A mobile backbone (depthwise and pointwise convolutions, squeeze and excitation) with a feature
# pyramid whose levels leave as token sequences, as memory-attention video models want them.
import torch
import torch.nn.functional as F
from torch import nn


class MobileBlock(nn.Module):
    """Depthwise mixing over space with a gate per channel, pointwise mixing over channels."""

    def __init__(self, width, gate):
        super().__init__()
        self.mix = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.squeeze = nn.Conv2d(width, width // 4, 1) if gate else None
        self.excite = nn.Conv2d(width // 4, width, 1) if gate else None
        self.up = nn.Conv2d(width, 2 * width, 1)
        self.down = nn.Conv2d(2 * width, width, 1)

    def forward(self, x):
        x = self.norm(self.mix(x)) + x
        if self.squeeze is not None:
            gate = F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))
            x = x * torch.sigmoid(self.excite(gate))
        return x + self.down(F.gelu(self.up(x)))


class EdgeTamLike(nn.Module):
    def __init__(self, widths=(24, 48, 96, 128), depth=2, neck=64):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, stride=2, padding=1)
        ins = (widths[0], *widths[:-1])
        self.reduce = nn.ModuleList(
            nn.Conv2d(i, o, 3, stride=2, padding=1) for i, o in zip(ins, widths)
        )
        self.stages = nn.ModuleList(
            nn.Sequential(*[MobileBlock(w, gate=i % 2 == 0) for i in range(depth)]) for w in widths
        )
        self.lateral = nn.ModuleList(nn.Conv2d(w, neck, 1) for w in widths)

    def forward(self, image):
        x = F.gelu(self.stem(image))
        levels = []
        for reduce, stage in zip(self.reduce, self.stages):
            x = stage(reduce(x))
            levels.append(x)
        top = None
        tokens = []
        for level, lateral in zip(reversed(levels), reversed(self.lateral)):
            here = lateral(level)
            if top is not None:
                here = here + F.interpolate(
                    top, size=here.shape[-2:], mode="bilinear", align_corners=False)
            top = here
            tokens.append(here.flatten(2).permute(2, 0, 1))
        return tuple(reversed(tokens))


class EdgeTamLikeModel:
    def get_eager_model(self):
        return EdgeTamLike().eval()

    def get_example_inputs(self):
        return (torch.randn(1, 3, 192, 192),)

    def get_calibration_inputs(self):
        return [(torch.randn(1, 3, 192, 192),) for _ in range(4)]
