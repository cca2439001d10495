# SPDX-License-Identifier: Apache-2.0
# A language model as the exporter takes it: example inputs, lengths that vary, the constant methods
# that ExecuTorch's runners ask for, and steps through the cache that the check repeats.
from __future__ import annotations

from pathlib import Path

from ..errors import UsageError, suggest
from . import shapes

DTYPES = ("fp32", "fp16", "8da4w", "8da8w", "int4")
PROMPT = 8  # tokens of the example
STEPS = 4  # decoded after it in the check


def describe(name: str, options=None):
    """(shape, name for files) of what stands behind "llm:"."""
    known = shapes.known(name)
    if known:
        return shapes.KNOWN[known], known
    if name.endswith(".json"):
        path = Path(name)
        own = path.stem not in ("config", "params") or not path.absolute().parent.name
        return shapes.read_config(path), path.stem if own else path.absolute().parent.name
    raise UsageError(f"no language model '{name}'{suggest(name, shapes.KNOWN)}; known are "
                     f"{', '.join(shapes.KNOWN)}, or llm:FILE.json (config.json or params.json)")


class LanguageModel:
    """The EagerModelBase interface of a decoder, and what only language models have."""

    def __init__(self, shape, options):
        self.options = options
        self.shape = shapes.with_context(shape, options.context)
        if self.shape.context < PROMPT + STEPS:
            raise UsageError(f"--context {self.shape.context}: at least {PROMPT + STEPS} tokens")
        if options.dtype not in DTYPES:
            raise UsageError(f"--dtype {options.dtype}: language models take {', '.join(DTYPES)}")

    def get_eager_model(self):
        import torch

        from . import decoder, weights

        if self.options.attention == "fused":
            from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
        with torch.device("cpu"):
            model = decoder.Decoder(self.shape, self.options.attention == "fused")
        if self.options.weights:
            weights.load(model, Path(self.options.weights))
        else:
            decoder.initialise(model)
        return model.requires_grad_(False)  # the exporter runs the cache's in-place steps

    def tokens(self, n):
        import torch

        return torch.randint(0, self.shape.vocab, (1, n))

    def get_example_inputs(self):
        import torch

        return (self.tokens(1 if self.options.static else PROMPT), torch.tensor([0]))

    def longest(self):
        """Tokens of one call: the exporter tells a part of the cache from all of it."""
        return 1 if self.options.static else self.shape.context - 1

    def get_dynamic_shapes(self):
        from torch.export import Dim

        if self.options.static:
            return None
        return {"tokens": {1: Dim("tokens_1", min=1, max=self.longest())}, "input_pos": None}

    def get_steps(self):
        """Inputs of a prompt and the tokens after it, each at its place in the cache."""
        import torch

        first = 1 if self.options.static else PROMPT
        steps = [(self.tokens(first), torch.tensor([0]))]
        return steps + [(self.tokens(1), torch.tensor([first + i])) for i in range(STEPS)]

    def get_constant_methods(self):
        s = self.shape
        return {
            "use_kv_cache": True, "use_sdpa_with_kv_cache": self.options.attention == "fused",
            "enable_dynamic_shape": not self.options.static,
            "get_max_seq_len": self.longest(), "get_max_context_len": s.context,
            "get_vocab_size": s.vocab, "get_n_layers": s.layers, "get_n_kv_heads": s.kv_heads,
            "get_head_dim": s.head_width,
            "get_bos_id": s.bos, "get_eos_ids": list(s.eos), "get_n_bos": 1, "get_n_eos": 1,
        }
