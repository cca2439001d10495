# SPDX-License-Identifier: Apache-2.0
# EfficientSAM (ViT-tiny) of ExecuTorch's examples with random weights: latency does not depend on
# them and nothing is fetched. `executorch:efficient_sam` is the one that downloads its checkpoint.
from etprof.export.source import from_executorch
from executorch.examples.models.efficient_sam.efficient_sam_core.efficient_sam import (
    build_efficient_sam,
)


class EfficientSam:
    def get_eager_model(self):
        return build_efficient_sam(encoder_patch_embed_dim=192, encoder_num_heads=3).eval()

    def get_example_inputs(self):
        return from_executorch("efficient_sam").get_example_inputs()
