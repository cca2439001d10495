# SPDX-License-Identifier: Apache-2.0
# A user's weights into our decoder: safetensors (a file, or a folder with parts) by Hugging Face's
# names, .pth and .pt checkpoints by Meta's. Nothing in a file is executed.
from __future__ import annotations

import json
import math
import re
from pathlib import Path

import torch

from ..errors import BadInput, UsageError

HEADER_MAX = 100 << 20
TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
HF = {
    "model.embed_tokens": "embedding", "model.norm": "norm", "lm_head": "output",
    "self_attn.q_proj": "q", "self_attn.k_proj": "k", "self_attn.v_proj": "v",
    "self_attn.o_proj": "o", "self_attn.q_norm": "q_norm", "self_attn.k_norm": "k_norm",
    "mlp.gate_proj": "gate", "mlp.up_proj": "up", "mlp.down_proj": "down",
    "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm",
}
META = {
    "tok_embeddings": "embedding", "norm": "norm", "output": "output",
    "attention.wq": "q", "attention.wk": "k", "attention.wv": "v", "attention.wo": "o",
    "attention.q_norm_fn": "q_norm", "attention.k_norm_fn": "k_norm",
    "feed_forward.w1": "gate", "feed_forward.w3": "up", "feed_forward.w2": "down",
    "attention_norm": "attention_norm", "ffn_norm": "ffn_norm",
}
LAYER = re.compile(r"^(?:model\.)?layers\.(\d+)\.(.+)$")


def read_safetensors(path: Path) -> dict:
    """8 bytes of length, a JSON header, then the tensors' bytes."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(HEADER_MAX, size - 8):
            raise BadInput(f"{path}: not a safetensors file: its header would be {length} bytes")
        try:
            header = json.loads(file.read(length))
            entries = {k: v for k, v in header.items() if k != "__metadata__"}
            places = {k: (TYPES.get(v["dtype"]), v["dtype"], [int(d) for d in v["shape"]],
                          *(int(o) for o in v["data_offsets"])) for k, v in entries.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: its header is not one of safetensors: {error}") from error
    start, tensors = 8 + length, {}
    for name, (dtype, word, shape, low, high) in places.items():
        if dtype is None:
            raise BadInput(f"{path}: '{name}' is {word}, expected one of {', '.join(TYPES)}")
        count = math.prod(shape)
        if not 0 <= low <= high <= size - start or high - low != count * dtype.itemsize:
            raise BadInput(f"{path}: '{name}' {shape} {word} does not fit its bytes {low}…{high}")
        whole = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)
        tensors[name] = whole[start + low:start + high].clone().view(dtype).view(shape)
    return tensors


def read_checkpoint(path: Path) -> dict:
    try:
        values = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # zip, pickle and torch each have their own
        raise BadInput(f"{path}: not a checkpoint that torch reads without running code: "
                       f"{str(error).splitlines()[0] if str(error) else type(error).__name__}") from error
    values = values.get("model", values) if isinstance(values, dict) else None
    if not isinstance(values, dict) or not all(isinstance(k, str) for k in values):
        raise BadInput(f"{path}: holds no table of weights")
    return {k.removeprefix("_orig_mod."): v for k, v in values.items() if isinstance(v, torch.Tensor)}


def read(path: Path) -> dict:
    if path.is_dir():
        parts = sorted(path.glob("*.safetensors"))
        if not parts:
            raise UsageError(f"--weights {path}: no *.safetensors in this folder")
        return {k: v for part in parts for k, v in read_safetensors(part).items()}
    if not path.is_file():
        raise UsageError(f"--weights {path}: no such file")
    if path.suffix == ".safetensors":
        return read_safetensors(path)
    if path.suffix in (".pth", ".pt"):
        return read_checkpoint(path)
    raise UsageError(f"--weights {path}: expected a .safetensors, .pth or .pt file, or a folder with "
                     ".safetensors")


def our_name(name: str, table: dict) -> str | None:
    layer = LAYER.match(name)
    stem, _, kind = (layer[2] if layer else name).rpartition(".")
    if kind != "weight" or stem not in table:
        return None
    return f"layers.{layer[1]}.{table[stem]}.weight" if layer else f"{table[stem]}.weight"


def in_halves(weight, head_width: int):
    """Meta's pairs of neighbours as Hugging Face's two halves: the same scores."""
    rows = weight.shape[0]
    return weight.view(rows // head_width, head_width // 2, 2, -1).transpose(1, 2).reshape(
        rows, -1)


def load(model, path: Path):
    """Every weight of MODEL from PATH; too few, too many or of another shape are errors."""
    given = read(path)
    meta = any(name.startswith("tok_embeddings") for name in given)
    table, shape = (META if meta else HF), model.shape
    wanted, found, unknown = dict(model.named_parameters()), {}, []
    for name, tensor in given.items():
        ours = our_name(name, table)
        if ours in wanted:
            found[ours] = tensor
        elif not name.endswith(("rope.freqs", "freqs_cos", "freqs_sin", "inv_freq", "mask")):
            unknown.append(name)
    if "output.weight" not in found and "embedding.weight" in found and shape.tied:
        found["output.weight"] = found["embedding.weight"]
    absent = [name for name in wanted if name not in found]
    if absent or unknown:
        what = [f"{len(absent)} weights are missing ({absent[0]} …)"] if absent else []
        what += [f"{len(unknown)} are unknown ({unknown[0]} …)"] if unknown else []
        raise BadInput(f"{path}: {' and '.join(what)}; is it of this model?")
    with torch.no_grad():
        for name, weight in wanted.items():
            tensor = found[name]
            if meta and name.endswith((".q.weight", ".k.weight")):
                if tensor.shape == weight.shape:
                    tensor = in_halves(tensor, shape.head_width)
            if tensor.shape != weight.shape:
                raise BadInput(f"{path}: {name} is {list(tensor.shape)}, this model has "
                               f"{list(weight.shape)}")
            weight.copy_(tensor)
            if not torch.isfinite(weight).all():
                raise BadInput(f"{path}: {name} holds infinities or NaN")
