# SPDX-License-Identifier: Apache-2.0
# How large a language model is: a table of known ones, and configurations of Meta's and Hugging
# Face's kind. Standard library only, so that a wrong name is told before torch is loaded.
from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ..errors import BadInput, UsageError


@dataclass(frozen=True)
class RopeScaling:
    """Llama 3.1's stretching of the slow rotations."""

    factor: float
    low: float
    high: float
    original: int


@dataclass(frozen=True)
class Shape:
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    hidden: int  # of the feed-forward part
    vocab: int
    eps: float
    theta: float
    context: int  # tokens that the cache holds unless --context says otherwise
    bos: int
    eos: tuple
    tied: bool = True  # the last matrix is the embedding
    norms_qk: bool = False
    rope_scaling: RopeScaling | None = None


KNOWN = {
    "stories15M": Shape(288, 6, 6, 6, 48, 768, 32000, 1e-5, 1e4, 128, 1, (2,)),
    "stories110M": Shape(768, 12, 12, 12, 64, 2048, 32000, 1e-5, 1e4, 512, 1, (2,)),
    "llama3.2-1B": Shape(2048, 16, 32, 8, 64, 8192, 128256, 1e-5, 5e5, 1024, 128000,
                         (128001, 128009), rope_scaling=RopeScaling(32.0, 1.0, 4.0, 8192)),
    "qwen3-0.6B": Shape(1024, 28, 16, 8, 128, 3072, 151936, 1e-6, 1e6, 1024, 151643,
                        (151645, 151643), norms_qk=True),
}
ALIASES = {name.lower().replace("-", "_"): name for name in KNOWN} | {
    "llama_3.2_1b": "llama3.2-1B", "llama3_2_1b": "llama3.2-1B", "qwen3_0_6b": "qwen3-0.6B"}


def known(name: str) -> str | None:
    return ALIASES.get(name.lower().replace("-", "_"))


def read_config(path: Path) -> Shape:
    """config.json of Hugging Face (hidden_size …) or params.json of Meta (dim …)."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not readable as JSON: {error}") from error
    if not isinstance(values, dict):
        raise BadInput(f"{path}: expected an object, found {type(values).__name__}")
    try:
        shape = from_hf(values) if "hidden_size" in values else from_meta(values)
    except KeyError as error:
        raise BadInput(f"{path}: no {error} in it; expected a config.json of Hugging Face "
                       "(hidden_size, …) or a params.json of Meta (dim, n_layers, …)") from error
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        raise BadInput(f"{path}: a member is not a number: {error}") from error
    check(shape, str(path))
    return shape


def from_hf(v: dict) -> Shape:
    if v.get("model_type") not in (None, "llama", "qwen3"):
        raise UsageError(f"model_type {v['model_type']}: llm: knows llama and qwen3")
    heads = int(v["num_attention_heads"])
    scaling = v.get("rope_scaling") or {}
    rope = None
    if scaling.get("rope_type") == "llama3":
        rope = RopeScaling(float(scaling["factor"]), float(scaling["low_freq_factor"]),
                           float(scaling["high_freq_factor"]),
                           int(scaling["original_max_position_embeddings"]))
    elif scaling.get("rope_type", "default") != "default":
        raise UsageError(f"rope_scaling {scaling['rope_type']}: llm: knows llama3")
    eos = v.get("eos_token_id", 2)
    return Shape(
        int(v["hidden_size"]), int(v["num_hidden_layers"]), heads,
        int(v.get("num_key_value_heads") or heads),
        int(v.get("head_dim") or v["hidden_size"] // heads), int(v["intermediate_size"]),
        int(v["vocab_size"]), float(v.get("rms_norm_eps", 1e-6)), float(v.get("rope_theta", 1e4)),
        min(int(v.get("max_position_embeddings", 1024)), 1024), int(v.get("bos_token_id") or 1),
        tuple(eos) if isinstance(eos, list) else (int(eos),),
        bool(v.get("tie_word_embeddings", False)), v.get("model_type") == "qwen3", rope)


def from_meta(v: dict) -> Shape:
    width, heads = int(v["dim"]), int(v["n_heads"])
    multiple = int(v.get("multiple_of", 256))
    hidden = int(v.get("hidden_dim") or 0)
    if not hidden:
        hidden = int(2 * 4 * width / 3)
        hidden = int(v["ffn_dim_multiplier"] * hidden) if v.get("ffn_dim_multiplier") else hidden
        hidden = multiple * ((hidden + multiple - 1) // multiple)
    rope = RopeScaling(float(v.get("rope_scale_factor", 8)), 1.0, 4.0, 8192) \
        if v.get("use_scaled_rope") else None
    large = int(v["vocab_size"]) == 128256
    return Shape(
        width, int(v["n_layers"]), heads, int(v.get("n_kv_heads") or heads),
        int(v.get("head_dim") or width // heads), hidden, int(v["vocab_size"]),
        float(v.get("norm_eps", 1e-5)), float(v.get("rope_theta", 1e4)),
        min(int(v.get("max_seq_len", 1024)), 1024), 128000 if large else 1,
        (128001, 128009) if large else (2,), rope_scaling=rope,
        norms_qk=bool(v.get("use_qk_norm", False)))


def check(shape: Shape, where: str):
    for field in fields(shape):
        value = getattr(shape, field.name)
        if type(value) is int and field.name != "bos" and not 1 <= value <= 1 << 22:
            raise BadInput(f"{where}: {field.name} is {value}, expected 1 … {1 << 22}")
    if shape.heads % shape.kv_heads:
        raise BadInput(f"{where}: {shape.heads} heads do not share {shape.kv_heads} key-value heads evenly")
    if shape.head_width % 2:
        raise BadInput(f"{where}: heads are {shape.head_width} wide, rotary positions need an even width")


def with_context(shape: Shape, context: int | None) -> Shape:
    return replace(shape, context=context) if context else shape
