# SPDX-License-Identifier: Apache-2.0
# Small networks as people write them, none made for a fix: bench/fixes/unseen measures every fix that is
# offered for them. sets.py says which of them may be used to set factors. Weights are drawn from a seed.
import torch
import torch.nn.functional as F
from torch import nn


class Model:
    """What `etprof export FILE.py:Class` asks of a class."""

    net = None
    shape = (1, 3, 64, 64)

    def get_eager_model(self):
        torch.manual_seed(0)
        return self.net().eval()

    def get_example_inputs(self):
        return (torch.randn(self.shape, generator=torch.Generator().manual_seed(1)),)


def model(name, net, shape):
    """A class of that name in this module."""
    globals()[name] = type(name, (Model,), {"net": staticmethod(net), "shape": shape, "__module__": __name__})


# ---- parts ----------------------------------------------------------------------------------------


class FrozenNorm(nn.Module):
    """Batch norm as detection models freeze it."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("weight", torch.rand(channels) + 0.5)
        self.register_buffer("bias", torch.randn(channels) * 0.1)
        self.register_buffer("mean", torch.randn(channels) * 0.1)
        self.register_buffer("var", torch.rand(channels) + 0.5)

    def forward(self, x):
        scale = (self.weight * (self.var + 1e-5).rsqrt()).reshape(1, -1, 1, 1)
        return x * scale + (self.bias.reshape(1, -1, 1, 1) - self.mean.reshape(1, -1, 1, 1) * scale)


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, reduced, 1), nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        s = self.up(F.relu(self.down(x.mean((2, 3), keepdim=True))))
        return x * torch.sigmoid(s)


class Mlp(nn.Module):
    def __init__(self, width, hidden, act=nn.GELU):
        super().__init__()
        self.a, self.act, self.b = nn.Linear(width, hidden), act(), nn.Linear(hidden, width)

    def forward(self, x):
        return self.b(self.act(self.a(x)))


class SdpaAttention(nn.Module):
    """q, k, v by one linear layer, heads by view and transpose, torch's own attention."""

    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = (p.view(n, t, self.heads, w // self.heads).transpose(1, 2)
                   for p in self.qkv(x).split(w, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(n, t, w))


class UnbindAttention(nn.Module):
    """As timm writes it without fused attention: reshape, permute, unbind, matmul, softmax, matmul."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, w = x.shape
        qkv = self.qkv(x).reshape(n, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attention = (q * self.scale @ k.transpose(-2, -1)).softmax(-1)
        return self.proj((attention @ v).transpose(1, 2).reshape(n, t, w))


class Block(nn.Module):
    def __init__(self, width, attention, hidden, act=nn.GELU):
        super().__init__()
        self.n1, self.attention, self.n2, self.mlp = (
            nn.LayerNorm(width), attention, nn.LayerNorm(width), Mlp(width, hidden, act))

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.mlp(self.n2(x))


class Stack(nn.Module):
    def __init__(self, make, count):
        super().__init__()
        self.blocks = nn.ModuleList(make() for _ in range(count))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class SamePadConv(nn.Module):
    """Padding as models from TensorFlow carry it: a pad of its own, uneven where the stride is 2."""

    def __init__(self, inp, out, size, stride, groups=1):
        super().__init__()
        total = size - stride if stride > 1 else size - 1
        self.pads = (total // 2, total - total // 2) * 2
        self.conv = nn.Conv2d(inp, out, size, stride, groups=groups)

    def forward(self, x):
        return self.conv(F.pad(x, self.pads))


# ---- tuning ---------------------------------------------------------------------------------------


class MixerLayer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.n1, self.tokens = nn.LayerNorm(width), Mlp(tokens, tokens // 2)
        self.n2, self.channels = nn.LayerNorm(width), Mlp(width, 2 * width)

    def forward(self, x):
        x = x + self.tokens(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.n2(x))


class FrozenResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1, bias=False), FrozenNorm(24), nn.ReLU())
        self.a = nn.ModuleList(nn.Sequential(
            nn.Conv2d(24, 24, 3, padding=1, bias=False), FrozenNorm(24), nn.ReLU(),
            nn.Conv2d(24, 24, 3, padding=1, bias=False), FrozenNorm(24)) for _ in range(3))
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        x = self.stem(x)
        for a in self.a:
            x = F.relu(x + a(x))
        return self.head(x.mean((2, 3)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        def two(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.a, self.b, self.c = two(3, 16), two(16, 32), two(32, 48)
        self.ub, self.ua = nn.ConvTranspose2d(48, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.db, self.da = two(64, 32), two(32, 16)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        b = self.db(torch.cat([self.ub(c), b], 1))
        return self.out(self.da(torch.cat([self.ua(b), a], 1)))


class MobileBlocks(nn.Module):
    def __init__(self, act=nn.Hardswish, width=32, size=5, blocks=3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), act())
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(width, 3 * width, 1), nn.BatchNorm2d(3 * width), act(),
            nn.Conv2d(3 * width, 3 * width, size, padding=size // 2, groups=3 * width), nn.BatchNorm2d(3 * width),
            act(),
            SqueezeExcite(3 * width, width // 2 + 4), nn.Conv2d(3 * width, width, 1), nn.BatchNorm2d(width))
            for _ in range(blocks))
        self.head = nn.Linear(width, 20)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x.mean((2, 3)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(40, 64, batch_first=True), nn.Linear(64, 12)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


class WindowNet(nn.Module):
    """Attention in windows of 8 × 8, 4-D matmuls."""

    def __init__(self, width=48, heads=3, window=8):
        super().__init__()
        self.window, self.heads, self.norm = window, heads, nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def cut(self, x):
        n, h, w, c = x.shape
        s = self.window
        return x.view(n, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)

    def heads_of(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x):
        n, h, w, c = x.shape
        s, y = self.window, self.cut(self.norm(x))
        q, k, v = (self.heads_of(part(y)) for part in (self.q, self.k, self.v))
        y = torch.softmax(q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5, -1) @ v
        y = self.out(y.permute(0, 2, 1, 3).reshape(-1, s * s, c))
        y = y.view(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + y


class PaddedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(
            SamePadConv(3, 24, 3, 2), nn.ReLU6(), SamePadConv(24, 24, 3, 1, 24), nn.ReLU6(), nn.Conv2d(24, 48, 1),
            nn.ReLU6(),
            SamePadConv(48, 48, 3, 2, 48), nn.ReLU6(), nn.Conv2d(48, 64, 1), nn.ReLU6(), SamePadConv(64, 64, 3, 1),
            nn.ReLU6())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.steps(x).mean((2, 3)))


class NextBlock(nn.Module):
    """ConvNeXt: depthwise, then channels last for norm and linear layers, then back."""

    def __init__(self, width, size=7):
        super().__init__()
        self.dw, self.norm = nn.Conv2d(width, width, size, padding=size // 2, groups=width), nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width)

    def forward(self, x):
        y = self.mlp(self.norm(self.dw(x).permute(0, 2, 3, 1)))
        return x + y.permute(0, 3, 1, 2)


class NextNet(nn.Module):
    def __init__(self, width, blocks, patch):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*(NextBlock(width) for _ in range(blocks)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class PlainCnn(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.steps = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(), nn.Conv2d(2 * width, 4 * width, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(4 * width, out))

    def forward(self, x):
        return self.steps(x)


class PermutedMlp(nn.Module):
    """Axes moved for a norm, an activation between, and moved back: written for clarity."""

    def __init__(self, width=96):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        for layer in (self.a, self.b, self.c):
            y = layer(x).transpose(1, 2)
            x = torch.sigmoid(y).transpose(1, 2) * x
        return x


class SeparableNet(nn.Module):
    """Depthwise and pointwise convolutions in turns, as MobileNet v1 has them."""

    def __init__(self, widths, stride=2):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, stride, 1), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(a, a, 3, 1, 1, groups=a), nn.BatchNorm2d(a), nn.ReLU(),
            nn.Conv2d(a, b, 1), nn.BatchNorm2d(b), nn.ReLU()) for a, b in zip(widths, widths[1:], strict=False))
        self.head = nn.Linear(widths[-1], 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class GruSequence(nn.Module):
    """nn.GRU over a sequence, unrolled by the export."""

    def __init__(self, inputs, hidden, layers=1):
        super().__init__()
        self.rnn, self.head = nn.GRU(inputs, hidden, layers, batch_first=True), nn.Linear(hidden, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


model("Separable", lambda: SeparableNet((16, 32, 64, 64)), (1, 3, 96, 96))
model("SeparableWide", lambda: SeparableNet((32, 128, 128, 256)), (1, 3, 64, 64))
model("SeparableThin", lambda: SeparableNet((8, 16, 24, 32, 32), 1), (1, 3, 64, 64))
model("GruShort", lambda: GruSequence(32, 64), (1, 12, 32))
model("GruWide", lambda: GruSequence(80, 160, 2), (1, 16, 80))
model("Mixer", lambda: nn.Sequential(MixerLayer(64, 96), MixerLayer(64, 96)), (1, 64, 96))
model("FrozenNet", FrozenResNet, (1, 3, 64, 64))
model("CausalBlocks", lambda: Stack(lambda: Block(128, SdpaAttention(128, 4, True), 256), 2), (1, 64, 128))
model("Encoder", lambda: Stack(lambda: Block(96, SdpaAttention(96, 3), 192), 2), (1, 100, 96))
model("SmallUNet", UNet, (1, 3, 64, 64))
model("Mobile", MobileBlocks, (1, 3, 96, 96))
model("LstmTagger", Lstm, (1, 24, 40))
model("Windows", WindowNet, (1, 32, 32, 48))
model("Padded", PaddedNet, (1, 3, 96, 96))
model("VitUnbind", lambda: Stack(lambda: Block(128, UnbindAttention(128, 4), 256), 2), (1, 65, 128))
model("Next", lambda: NextNet(48, 2, 4), (1, 3, 96, 96))
model("Cnn", lambda: PlainCnn(16, 10), (1, 3, 64, 64))
model("Permuted", PermutedMlp, (4, 64, 96))


# ---- held out -------------------------------------------------------------------------------------


class ResMlpLayer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(width, elementwise_affine=False), nn.Linear(tokens, tokens)
        self.norm2, self.mlp = nn.LayerNorm(width), Mlp(width, 3 * width)

    def forward(self, x):
        x = x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp(self.norm2(x))


class FrozenBackbone(nn.Module):
    """Bottlenecks of a detector, strided, with projections."""

    def __init__(self):
        super().__init__()
        def cna(i, o, k, s=1, relu=True):
            parts = [nn.Conv2d(i, o, k, s, k // 2, bias=False), FrozenNorm(o)]
            return nn.Sequential(*parts, *([nn.ReLU()] if relu else []))
        self.stem = cna(3, 16, 7, 2)
        self.one = nn.Sequential(cna(16, 16, 1), cna(16, 16, 3), cna(16, 64, 1, relu=False))
        self.skip1 = cna(16, 64, 1, relu=False)
        self.two = nn.Sequential(cna(64, 32, 1), cna(32, 32, 3, 2), cna(32, 128, 1, relu=False))
        self.skip2 = cna(64, 128, 1, 2, relu=False)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 2)
        x = F.relu(self.one(x) + self.skip1(x))
        return F.relu(self.two(x) + self.skip2(x)).mean((2, 3))


class GroupedQueryAttention(nn.Module):
    """Causal, twice as many query heads as key heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        n, t, w = x.shape
        q = self.q(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k, v = (p.reshape(n, t, self.heads // 2, self.size).transpose(1, 2) for p in self.kv(x).chunk(2, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(y.transpose(1, 2).reshape(n, t, w))


class MultiheadNet(nn.Module):
    """torch's own MultiheadAttention with a causal mask."""

    def __init__(self, width=80, heads=5, tokens=72):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(width, heads, batch_first=True), nn.LayerNorm(width)
        self.register_buffer("mask", torch.triu(torch.ones(tokens, tokens, dtype=torch.bool), 1))

    def forward(self, x):
        y = self.norm(x)
        y, _ = self.attention(y, y, y, attn_mask=self.mask, need_weights=False)
        return x + y


class ResizeUNet(nn.Module):
    """U-Net that resizes instead of deconvolving, with group norm."""

    def __init__(self):
        super().__init__()
        def step(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU())
        self.a, self.b, self.c = step(3, 24), step(24, 40), step(40, 40)
        self.d, self.e, self.out = step(80, 24), step(48, 24), nn.Conv2d(24, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.avg_pool2d(a, 2))
        c = self.c(F.avg_pool2d(b, 2))
        c = self.d(torch.cat([F.interpolate(c, scale_factor=2, mode="bilinear", align_corners=False), b], 1))
        return self.out(self.e(torch.cat([F.interpolate(c, scale_factor=2, mode="bilinear", align_corners=False), a],
                                         1)))


class DilatedCnn(nn.Module):
    """Dilated and asymmetric convolutions for dense prediction."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 28, 3, 2, 1), nn.LeakyReLU(0.1))
        self.wide = nn.ModuleList(nn.Sequential(
            nn.Conv2d(28, 28, (1, 3), padding=(0, d), dilation=(1, d)),
            nn.Conv2d(28, 28, (3, 1), padding=(d, 0), dilation=(d, 1)), nn.LeakyReLU(0.1))
            for d in (1, 2, 4))
        self.out = nn.Conv2d(28, 6, 1)

    def forward(self, x):
        x = self.stem(x)
        for step in self.wide:
            x = x + step(x)
        return self.out(x)


class GruTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(32, 48), nn.Linear(48, 8)

    def forward(self, x):
        h, out = x.new_zeros(x.shape[0], 48), []
        for step in x.unbind(1):
            h = self.cell(step, h)
            out.append(self.head(h))
        return torch.stack(out, 1)


class CrossAttention(nn.Module):
    """Queries learnt, keys and values of an image; 4-D matmuls, kv by unbind."""

    def __init__(self, width=112, heads=7, queries=20):
        super().__init__()
        self.heads, self.queries = heads, nn.Parameter(torch.randn(1, queries, width))
        self.q, self.kv, self.out, self.norm = (
            nn.Linear(width, width),
            nn.Linear(width, 2 * width),
            nn.Linear(width, width),
            nn.LayerNorm(width),
        )

    def forward(self, x):
        n, t, w = x.shape
        q = self.q(self.queries).view(1, -1, self.heads, w // self.heads).transpose(1, 2)
        k, v = self.kv(self.norm(x)).view(n, t, 2, self.heads, w // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.softmax(q @ k.transpose(-2, -1) / (w // self.heads) ** 0.5, -1) @ v
        return self.out(y.transpose(1, 2).flatten(2))


class EfficientPads(nn.Module):
    def __init__(self):
        super().__init__()
        def mb(i, o, k, s):
            return nn.Sequential(nn.Conv2d(i, 4 * i, 1), nn.BatchNorm2d(4 * i), nn.ReLU(),
                                 SamePadConv(4 * i, 4 * i, k, s, 4 * i),
                                 nn.BatchNorm2d(4 * i), nn.ReLU(), nn.Conv2d(4 * i, o, 1), nn.BatchNorm2d(o))
        self.stem = nn.Sequential(SamePadConv(3, 16, 3, 2), nn.ReLU())
        self.steps = nn.Sequential(mb(16, 16, 3, 1), mb(16, 28, 5, 2), mb(28, 28, 5, 1))
        self.head = nn.Conv2d(28, 12, 1)

    def forward(self, x):
        return self.head(self.steps(self.stem(x)).mean((2, 3), keepdim=True))


class Conformer(nn.Module):
    """Half steps of linear layers around a depthwise convolution over time and attention."""

    def __init__(self, width=96):
        super().__init__()
        self.f1, self.n1, self.attention = Mlp(width, 2 * width, nn.SiLU), nn.LayerNorm(width), SdpaAttention(width, 4)
        self.n2, self.glu, self.out = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.dw = nn.Conv1d(width, width, 9, padding=4, groups=width)
        self.f2, self.n3 = Mlp(width, 2 * width, nn.SiLU), nn.LayerNorm(width)

    def forward(self, x):
        x = x + 0.5 * self.f1(x)
        x = x + self.attention(self.n1(x))
        y = F.glu(self.glu(self.n2(x)), -1)
        x = x + self.out(F.silu(self.dw(y.transpose(1, 2)).transpose(1, 2)))
        return self.n3(x + 0.5 * self.f2(x))


class Shuffle(nn.Module):
    """Channel shuffle: a reshape and a transpose around grouped and depthwise convolutions."""

    def __init__(self, width=48):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.a = nn.ModuleList(nn.Conv2d(width, width, 1, groups=3) for _ in range(3))
        self.d = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1, groups=width) for _ in range(3))

    def forward(self, x):
        x = F.relu(self.stem(x))
        for a, d in zip(self.a, self.d):
            n, c, h, w = x.shape
            y = F.relu(a(x)).view(n, 3, c // 3, h, w).transpose(1, 2).reshape(n, c, h, w)
            x = x + d(y)
        return x.mean((2, 3))


class BertSelf(nn.Module):
    """As transformers write BERT: three linear layers, permutes, matmul, division, softmax, matmul."""

    def __init__(self, width=120, heads=6):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.n1, self.n2, self.mlp = nn.LayerNorm(width), nn.LayerNorm(width), Mlp(width, 2 * width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.size ** 0.5
        y = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3).contiguous()
        x = self.n1(x + self.out(y.view(y.shape[0], y.shape[1], -1)))
        return self.n2(x + self.mlp(x))


model("ResMlp", lambda: nn.Sequential(ResMlpLayer(80, 72), ResMlpLayer(80, 72), ResMlpLayer(80, 72)), (1, 80, 72))
model("Backbone", FrozenBackbone, (1, 3, 128, 128))
model("GqaDecoder", lambda: Stack(lambda: Block(96, GroupedQueryAttention(96, 6), 288), 2), (1, 48, 96))
model("GptBlocks", lambda: Stack(lambda: Block(160, SdpaAttention(160, 5, True), 320, nn.ReLU), 2), (1, 56, 160))
model("Multihead", MultiheadNet, (1, 72, 80))
model("Resized", ResizeUNet, (1, 3, 56, 56))
model("Dilated", DilatedCnn, (1, 3, 80, 80))
model("Gru", GruTagger, (1, 16, 32))
model("Cross", CrossAttention, (1, 144, 112))
model("Efficient", EfficientPads, (1, 3, 80, 80))
model("Speech", Conformer, (1, 90, 96))
model("Shuffled", Shuffle, (1, 3, 88, 88))
model("Bert", BertSelf, (1, 110, 120))
model("NextWide", lambda: NextNet(64, 1, 2), (1, 3, 48, 48))
model("MobileSilu", lambda: MobileBlocks(nn.SiLU, 24, 3, 4), (1, 3, 72, 72))
model("PortableCnn", lambda: PlainCnn(8, 6), (1, 3, 48, 48))
