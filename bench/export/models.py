# SPDX-License-Identifier: Apache-2.0
# The architectures of bench/export/matrix: twenty of torchvision, ten of timm, ten of transformers, random weights.
# Those of transformers are small (their configurations are written where they are needed); BERT comes twice, the second
# time with a mask of its inputs.
import json

TORCHVISION = (
    "alexnet", "convnext_tiny", "deeplabv3_mobilenet_v3_large", "densenet121", "efficientnet_b0", "googlenet",
    "inception_v3", "lraspp_mobilenet_v3_large", "maxvit_t", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_small",
    "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_1", "swin_t",
    "vit_b_16",
)
TIMM = (
    "convnext_atto", "deit_tiny_patch16_224", "edgenext_xx_small", "efficientvit_b0", "fastvit_t8", "ghostnet_100",
    "levit_128s", "mobilenetv4_conv_small", "mobilevit_xxs", "repvgg_a0",
)
ENCODER = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512,
           "vocab_size": 1000}
PICTURE = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 96, "patch_size": 16}
TRANSFORMERS = {
    "albert": {**ENCODER, "embedding_size": 64},
    "bert": ENCODER,
    "distilbert": {"dim": 128, "n_layers": 4, "n_heads": 4, "hidden_dim": 512, "vocab_size": 1000},
    "dinov2": PICTURE,
    "electra": {**ENCODER, "embedding_size": 128},
    "gpt2": {"n_embd": 128, "n_layer": 4, "n_head": 4, "vocab_size": 1000},
    "mobilebert": {"hidden_size": 128, "intra_bottleneck_size": 64, "embedding_size": 64, "intermediate_size": 256,
                   "num_hidden_layers": 4, "vocab_size": 1000},
    "qwen2": {**ENCODER, "num_key_value_heads": 2},
    "roberta": ENCODER,
    "vit": {**PICTURE, "intermediate_size": 512},
}
DTYPES = ("fp32", "fp16", "int8", "int8-dynamic")


def rows(folder):
    """(family, architecture, what is given to etprof export); writes the configurations into FOLDER."""
    found = [("torchvision", name, f"torchvision:{name}") for name in TORCHVISION]
    found += [("timm", name, f"timm:{name}") for name in TIMM]
    for name, values in TRANSFORMERS.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"model_type": name, **values}), encoding="utf-8")
        found.append(("transformers", name, f"hf:{path}"))
    return [*found, ("transformers", "bert with mask", f"{__file__}:BertWithMask")]


class BertWithMask:
    """What bert is asked in use: ids, and which of them are there."""

    def get_eager_model(self):
        import transformers
        from torch import nn

        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = transformers.BertModel(transformers.BertConfig(**ENCODER, return_dict=False))

            def forward(self, ids, mask):
                return self.bert(ids, attention_mask=mask)[0]

        return Masked().eval()

    def get_example_inputs(self):
        import torch

        mask = torch.ones(1, 32, dtype=torch.int64)
        mask[:, 24:] = 0
        return torch.randint(0, ENCODER["vocab_size"], (1, 32)), mask
