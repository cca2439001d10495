# SPDX-License-Identifier: Apache-2.0
# One small network for each kind of fix: as people write it, so that the fix is worth something.
# bench/fixes/run measures them before and after; tests/data/fixes holds recordings of them.
import torch
from torch import nn


class Model:
    """What `etprof export FILE.py:Class` asks of a class."""

    net = None
    shape = (1, 16, 48, 48)

    def get_eager_model(self):
        torch.manual_seed(0)
        return self.net().eval()

    def get_example_inputs(self):
        return (torch.randn(self.shape, generator=torch.Generator().manual_seed(1)),)


class FrozenNorm(nn.Module):
    """Batch norm as detection models freeze it: a multiplication and an addition per channel."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.rand(channels) + 0.5)
        self.register_buffer("shift", torch.randn(channels))

    def forward(self, x):
        return x * self.scale.reshape(1, -1, 1, 1) + self.shift.reshape(1, -1, 1, 1)


class FrozenNormNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList(
            nn.Sequential(nn.Conv2d(16, 16, 1), FrozenNorm(16), nn.ReLU()) for _ in range(6))

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class BatchNorm(Model):
    net = FrozenNormNet


class ReshapeNet(nn.Module):
    """Windows cut and put back twice: only the first and the last permute are needed, or none."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        x = self.first(x)
        for _ in range(4):
            x = x.permute(0, 2, 1, 3)
            x = torch.relu(x)
            x = x.permute(0, 2, 1, 3)
        return self.last(x)


class ReshapeChain(Model):
    net, shape = ReshapeNet, (1, 24, 32, 64)


class BorderNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 16, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x)).mean((2, 3), keepdim=True)


class BorderLayout(Model):
    net, shape = BorderNet, (1, 32, 112, 112)


class LayerNormNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.steps = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()) for _ in range(3))

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Undelegated(Model):
    net, shape = LayerNormNet, (1, 196, 64)


class ConvNet(nn.Module):
    """Compute and little else."""

    def __init__(self, width=48):
        super().__init__()
        self.stem = nn.Conv2d(16, width, 3, padding=1)
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(4))

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for conv in self.convs:
            x = torch.relu(conv(x))
        return x.mean((2, 3), keepdim=True)


class Compute(Model):
    """One thread, float32: what threads, precision and the portable backend are measured on."""

    net = ConvNet


class RecurrentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(64, 96, batch_first=True), nn.Linear(96, 4)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


class Recurrent(Model):
    """Steps that multiply by the same weight: int8 leaves them in float32."""

    net = RecurrentNet
    shape = (1, 3, 64)


class OddNet(nn.Module):
    def __init__(self, width=33):
        super().__init__()
        self.stem = nn.Conv2d(16, width, 1)
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.head = nn.Conv2d(width, 8, 1)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for conv in self.convs:
            x = torch.relu(conv(x))
        return self.head(x).mean((2, 3), keepdim=True)


class OddSizes(Model):
    net = OddNet


class EvenNet(OddNet):
    def __init__(self):
        super().__init__(32)


class EvenSizes(Model):
    """What is left when OddSizes' designer chooses one channel fewer."""

    net = EvenNet


class IslandNet(nn.Module):
    """Pads of their own in front of convolutions: int8 leaves them in float32."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(16, 16, 3) for _ in range(4))

    def forward(self, x):
        for conv in self.convs:
            x = torch.relu(conv(nn.functional.pad(x, (1, 1, 1, 1))))
        return x


class Islands(Model):
    net = IslandNet


class BroadcastNet(nn.Module):
    """Attention over heads as matmul of 4-D tensors, which export expands and copies."""

    def forward(self, x):
        scores = torch.softmax(x @ x.transpose(-1, -2), -1)
        return scores @ x


class Broadcast(Model):
    net, shape = BroadcastNet, (2, 4, 64, 32)


class UnbindNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        for _ in range(2):
            q, k, v = self.qkv(x).reshape(3, *x.shape).unbind(0)
            x = self.out(q * k + v)
        return x


class Unbind(Model):
    net, shape = UnbindNet, (128, 64)


class NormLayerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 8, 1), nn.BatchNorm2d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class NormLayer(Model):
    """A batch norm as such: the XNNPACK export folds it, the portable one does not."""

    net, shape = NormLayerNet, (1, 1, 32, 32)


class ClashNet(nn.Module):
    """A linear layer over the channels of an image: permuted, although the delegate has channels last."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(8, 16, 3), nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(self.conv(x).permute(0, 2, 3, 1))


class Clash(Model):
    net, shape = ClashNet, (1, 8, 34, 34)
