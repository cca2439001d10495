# SPDX-License-Identifier: Apache-2.0
# A U-shaped convolutional encoder-decoder with attention at the lowest resolution and prompt points
# drawn into the input, as interactive segmentation models for phones are built.
import torch
import torch.nn.functional as F
from torch import nn


class ConvBlock(nn.Module):
    """Two 3x3 convolutions with batch norm, the first one strided."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(x)))


class Bottom(nn.Module):
    """Transformer block over the pixels of the smallest map."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.heads = heads

    def forward(self, x):
        b, c, h, w = x.shape
        t = x.flatten(2).transpose(1, 2)
        q, k, v = self.qkv(self.norm1(t)).reshape(b, h * w, 3, self.heads, -1).permute(
            2, 0, 3, 1, 4).unbind(0)
        t = t + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(
            b, h * w, c))
        t = t + self.down(F.gelu(self.up(self.norm2(t))))
        return t.transpose(1, 2).reshape(b, c, h, w)


class SqueezeSamLike(nn.Module):
    def __init__(self, widths=(16, 24, 48, 96), size=192):
        super().__init__()
        self.size = size
        ins = (4, *widths[:-1])  # three colours and the prompt
        self.down = nn.ModuleList(ConvBlock(i, o, 2) for i, o in zip(ins, widths))
        self.bottom = Bottom(widths[-1], heads=4)
        ups = list(reversed(widths))
        self.up = nn.ModuleList(ConvBlock(a + b, b, 1) for a, b in zip(ups, ups[1:]))
        self.mask = nn.Conv2d(widths[0], 1, 1)
        axis = torch.arange(size, dtype=torch.float32) / size
        self.register_buffer("axis", axis)

    def prompt(self, points):
        """A bump at every point: separable, so two small products instead of a scatter."""
        x = torch.exp(-50.0 * (self.axis - points[:, :, 0:1]) ** 2)
        y = torch.exp(-50.0 * (self.axis - points[:, :, 1:2]) ** 2)
        return torch.matmul(y.transpose(1, 2), x).unsqueeze(1)

    def forward(self, image, points):
        x = torch.cat([image, self.prompt(points)], dim=1)
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
        x = self.bottom(x)
        for block, skip in zip(self.up, reversed(skips[:-1])):
            x = F.interpolate(x, size=skip.shape[-2:], mode="bilinear", align_corners=False)
            x = block(torch.cat([x, skip], dim=1))
        return self.mask(x)


class SqueezeSamLikeModel:
    def get_eager_model(self):
        return SqueezeSamLike().eval()

    def get_example_inputs(self):
        return (torch.randn(1, 3, 192, 192), torch.rand(1, 2, 2))

    def get_calibration_inputs(self):
        return [(torch.randn(1, 3, 192, 192), torch.rand(1, 2, 2)) for _ in range(4)]
