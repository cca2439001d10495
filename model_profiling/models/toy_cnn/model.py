# SPDX-License-Identifier: Apache-2.0
# The smallest model that is still a network: three strided convolutions and a classifier.
import torch
from torch import nn


class ToyCNN(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        widths = (3, 32, 64, 128)
        self.convs = nn.ModuleList(
            nn.Conv2d(i, o, kernel_size=3, stride=2, padding=1) for i, o in zip(widths, widths[1:])
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(widths[-1], classes)

    def forward(self, image):
        x = image
        for conv in self.convs:
            x = torch.relu(conv(x))
        return self.classifier(torch.flatten(self.pool(x), 1))


class ToyCNNModel:
    """What the exporter asks of a model: the module and example inputs."""

    def get_eager_model(self):
        return ToyCNN().eval()

    def get_example_inputs(self):
        return (torch.randn(1, 3, 96, 96),)
