#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny text decoders of this folder with ExecuTorch 1.5.1's own exporter, and what PyTorch says they answer.

usage: make_decoder.py OUT_DIR [plain] [fused] [static] [portable] [embedding] [cache] [grouped]
embedding: its table in 4 bits by groups of 32; cache: keys and values in 8 bits;
grouped: one layer of width 64, its linears in 4 bits by groups of 32 (8da4w), fused attention.
Two layers of width 32, vocabulary 64, room for 64 tokens, seeded weights.
expected.json: tokens, the logits after the last of them (eager PyTorch), the same of calls that leave gaps, the 64
tokens that follow one when always the likeliest is taken, where the plain program's caches lie in its planned memory
(memory, offset, bytes), read with ExecuTorch's own Python reader."""
import json
import os
import sys

import torch
from executorch.examples.models.llama import model as llama
from executorch.examples.models.llama.export_llama_lib import export_llama
from executorch.examples.models.llama.llama_transformer import construct_transformer
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.llm.export.config.llm_config import LlmConfig, ModelType

PARAMS = {"dim": 32, "multiple_of": 32, "n_heads": 2, "n_kv_heads": 2, "n_layers": 2, "norm_eps": 1e-05,
          "vocab_size": 64, "hidden_dim": 64}
TOKENS = [3, 41, 7, 60, 22, 5, 5, 19]
# After four tokens one by one, the second of them at a place that the first left empty: what the first leaves depends
# on what was there, so that another round of the same calls answers something else.
GAPS = [(5, 5), (9, 4), (2, 6)]
expected = {}


def seed(model):
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.fill_(1.0)
            else:
                weight.copy_(torch.randn_like(weight) * (0.5 if "embedding" in name else weight.shape[-1] ** -0.5))


def greedy(model, prompt=(3, )):
    """The likeliest tokens as far as the cache goes, and what each of them was ahead by."""
    tokens, margins, given, at = [], [], list(prompt), 0
    while at + len(given) <= 64:
        with torch.no_grad():
            out = model(torch.tensor([given]), {"input_pos": torch.tensor([at])})
        out = out[0] if isinstance(out, tuple) else out
        (best, second), ids = (x.tolist() for x in out.reshape(-1, 64)[-1].topk(2))
        at, given = at + len(given), [ids[0]]
        tokens.append(ids[0])
        margins.append(best - second)
    return {"prompt": list(prompt), "tokens": tokens, "margins": margins}


class Seeded(llama.Llama2Model):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        loaded = self.model_.checkpoint_dtype
        self.model_ = construct_transformer(self.model_.params)  # the exporter's own has buffers without values
        self.model_.checkpoint_dtype = loaded
        seed(self.model_)
        if "logits" not in expected:
            state = {k: v.clone() for k, v in self.model_.state_dict().items()}
            self.model_.eval()
            with torch.no_grad():
                out = self.model_(torch.tensor([TOKENS]), {"input_pos": torch.tensor([0])})
            out = out[0] if isinstance(out, tuple) else out
            expected["tokens"] = TOKENS
            expected["logits"] = [float(x) for x in out.reshape(-1, 64)[-1]]
            self.model_.load_state_dict(state)
            with torch.no_grad():
                self.model_(torch.tensor([TOKENS[:4]]), {"input_pos": torch.tensor([0])})
                for token, place in GAPS:
                    out = self.model_(torch.tensor([[token]]), {"input_pos": torch.tensor([place])})
            out = out[0] if isinstance(out, tuple) else out
            expected["gaps"] = {"calls": GAPS, "logits": [float(x) for x in out.reshape(-1, 64)[-1]]}
            self.model_.load_state_dict(state)
            expected["greedy"] = greedy(self.model_)
            self.model_.load_state_dict(state)


def caches(path):
    """Planned tensors that an index_put or update writes in place: its first argument is also what it returns."""
    with open(path, "rb") as f:
        program = deserialize_pte_binary(f.read())
    program = getattr(program, "program", program)
    plan = next(p for p in program.execution_plan if p.name == "forward")
    found = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instr_args
        name = plan.operators[call.op_index].name if hasattr(call, "op_index") else ""
        if name == "aten::copy_":
            where = plan.values[call.args[0]].val.allocation_info
            found.append([where.memory_id, where.memory_offset_low + (where.memory_offset_high << 32), 2 * 64 * 16 * 4])
    return found


def main():
    out = sys.argv[1]
    kinds = sys.argv[2:] or ["plain", "fused", "static"]
    llama.Llama2Model = Seeded
    params = os.path.join(out, "params.json")
    for kind in kinds:
        with open(params, "w") as f:
            json.dump(PARAMS | ({"dim": 64, "hidden_dim": 128, "n_layers": 1} if kind == "grouped" else {}), f)
        c = LlmConfig()
        c.base.model_class = ModelType("stories110m")
        c.base.params = params
        c.model.use_kv_cache = True
        c.model.enable_dynamic_shape = kind != "static"
        c.model.use_sdpa_with_kv_cache = kind in ("fused", "cache", "grouped")
        c.model.quantize_kv_cache = kind == "cache"
        c.quantization.embedding_quantize = "4,32" if kind == "embedding" else None
        if kind == "grouped":
            c.quantization.qmode, c.quantization.group_size = "8da4w", 32
        c.export.max_seq_length = c.export.max_context_length = 64
        c.export.output_name = os.path.join(out, "decoder_" + kind)
        c.backend.xnnpack.enabled = c.backend.xnnpack.extended_ops = kind != "portable"
        export_llama(c)
    os.remove(params)
    if "plain" in kinds:
        expected["caches"] = caches(os.path.join(out, "decoder_plain.pte"))
        with open(os.path.join(out, "expected.json"), "w") as f:
            json.dump(expected, f)
            f.write("\n")


if __name__ == "__main__":
    main()
