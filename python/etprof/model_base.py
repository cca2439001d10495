# SPDX-License-Identifier: Apache-2.0
# `from ..model_base import EagerModelBase`, as model folders of Arm's kit and ExecuTorch's own begin.
from __future__ import annotations

from abc import ABC, abstractmethod


class EagerModelBase(ABC):
    """What the exporter asks of a model; a class that has the methods need not derive from this."""

    @abstractmethod
    def get_eager_model(self):
        """The torch.nn.Module in eval mode, with its weights."""

    @abstractmethod
    def get_example_inputs(self):
        """A tuple of inputs."""

    def get_example_kwarg_inputs(self):
        """Keyword inputs, a dict, or None."""
        return

    def get_dynamic_shapes(self):
        """What torch.export takes as dynamic_shapes, or None."""
        return
