# SPDX-License-Identifier: Apache-2.0
# A small two-scale image encoder of the kind that segmentation models put before their mask
# decoder: convolution stem, two stages of window attention, a neck that joins the scales.
import torch
import torch.nn.functional as F
from torch import nn


class LayerNorm2d(nn.Module):
    """Layer norm over the channels of a feature map, which torch only offers for the last axis."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class WindowAttention(nn.Module):
    """Multi-head self-attention within windows of `window` x `window` pixels of a channels-last map."""

    def __init__(self, width, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def partition(self, x):
        _, h, w, c = x.shape
        s = self.window
        x = x.reshape(h // s, s, w // s, s, c).permute(0, 2, 1, 3, 4)
        return x.reshape((h // s) * (w // s), s * s, c)

    def unpartition(self, x, h, w):
        s = self.window
        x = x.reshape(h // s, w // s, s, s, -1).permute(0, 2, 1, 3, 4)
        return x.reshape(1, h, w, -1)

    def attend(self, x):
        b, n, c = x.shape
        # (3, window, head, token, channel of the head)
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        weights = torch.softmax(torch.matmul(q * self.scale, k.transpose(-2, -1)), dim=-1)
        return self.out(torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(b, n, c))

    def forward(self, x):
        _, h, w, _ = x.shape
        return self.unpartition(self.attend(self.partition(x)), h, w)


class Block(nn.Module):
    """Pre-norm transformer block on a channels-last map."""

    def __init__(self, width, heads, window, expansion=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = WindowAttention(width, heads, window)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, expansion * width)
        self.down = nn.Linear(expansion * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Stage(nn.Module):
    """Blocks work channels last, convolutions channels first: a transpose on each side."""

    def __init__(self, width, heads, window, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, window) for _ in range(depth))

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        return x.permute(0, 3, 1, 2)


class ImageEncoder(nn.Module):
    def __init__(self, stem=24, fine=64, coarse=96, neck=64):
        super().__init__()
        self.stem = nn.Conv2d(12, stem, 3, padding=1)
        self.embed = nn.Conv2d(stem, fine, 3, stride=2, padding=1)
        self.fine = Stage(fine, heads=4, window=4, depth=2)
        self.reduce = nn.Conv2d(fine, coarse, 2, stride=2)
        self.coarse = Stage(coarse, heads=4, window=8, depth=1)
        self.lateral_fine = nn.Conv2d(fine, neck, 1, bias=False)
        self.norm_fine = LayerNorm2d(neck)
        self.lateral_coarse = nn.Conv2d(coarse, neck, 1, bias=False)
        self.norm_coarse = LayerNorm2d(neck)
        self.smooth = nn.Conv2d(neck, neck, 3, padding=1, bias=False)
        self.norm = LayerNorm2d(neck)

    def forward(self, image):
        x = F.gelu(self.stem(F.pixel_unshuffle(image, 2)))
        fine = self.fine(self.embed(x))
        coarse = self.norm_coarse(self.lateral_coarse(self.coarse(self.reduce(fine))))
        up = F.interpolate(coarse, size=fine.shape[-2:], mode="bilinear", align_corners=False)
        return self.norm(self.smooth(self.norm_fine(self.lateral_fine(fine)) + up))


class ImageEncoderModel:
    """What the exporter asks of a model: the module and example inputs."""

    def get_eager_model(self):
        return ImageEncoder().eval()

    def get_example_inputs(self):
        return (torch.randn(1, 3, 128, 128),)
