# SPDX-License-Identifier: Apache-2.0
# A tokenizer for models whose texts mean nothing: every byte is one token, the rest of the
# vocabulary is filler. A prompt of N tokens is then N bytes. Standard library only.
from __future__ import annotations

import json
from pathlib import Path


def byte_letters() -> list:
    """The letters that byte-level tokenizers write bytes with, as GPT-2 chose them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, extra = {b: chr(b) for b in plain}, 256
    for byte in range(256):
        if byte not in letters:
            letters[byte], extra = chr(extra), extra + 1
    return [letters[b] for b in range(256)]


def document(vocab: int, bos: int, eos: int) -> dict:
    """tokenizer.json of Hugging Face's kind with VOCAB entries; needs 258 at least."""
    special = {bos: "<s>", eos: "</s>"}
    ids = (i for i in range(vocab) if i not in special)
    table = {letter: next(ids) for letter in byte_letters()}
    table |= {f"<{i}>": i for i in ids}
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, text in sorted(special.items())]
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": None, "pre_tokenizer": split, "post_processor": None,
        "decoder": {**split},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": table, "merges": []},
    }


def write(path: Path, vocab: int, bos: int, eos: int):
    if vocab < 258:
        raise ValueError(f"a vocabulary of {vocab} does not hold every byte and two marks")
    path.write_text(json.dumps(document(vocab, bos, eos), ensure_ascii=False), encoding="utf-8")
