# SPDX-License-Identifier: Apache-2.0
# EfficientSAM (ViT-tiny) of ExecuTorch's examples with random weights: latency does not depend on
# them and nothing is fetched. `executorch:efficient_sam` is the one that downloads its checkpoint.
import torch
from etprof.export.source import from_executorch
from executorch.examples.models.efficient_sam.efficient_sam_core.efficient_sam import (
    build_efficient_sam,
)
from torch import nn


class Encoding32(nn.Module):
    """The encoding of positions, which upstream computes in float32 whatever the model is in: its
    frequencies stay float32 here, and what comes out has the type of the model's other weights."""

    def __init__(self, upstream):
        super().__init__()
        self.upstream = upstream
        self.register_buffer("type_of_the_model", torch.zeros(()))

    def _apply(self, fn, recurse=True):
        return super()._apply(fn, recurse=False)  # the type of the model changes, upstream does not

    def forward(self, size):
        return self.upstream(size).to(self.type_of_the_model.dtype)

    def forward_with_coords(self, points, size):
        return self.upstream.forward_with_coords(points.float(), size).to(self.type_of_the_model.dtype)


class EfficientSam:
    def get_eager_model(self):
        model = build_efficient_sam(encoder_patch_embed_dim=192, encoder_num_heads=3)
        model.prompt_encoder.pe_layer = Encoding32(model.prompt_encoder.pe_layer)
        return model.eval()

    def get_example_inputs(self):
        return from_executorch("efficient_sam").get_example_inputs()
