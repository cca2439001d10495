# SPDX-License-Identifier: Apache-2.0
# The files of one export. Everything is made in a scratch folder beside its destination and renamed
# at the end, the .pte last: a file under its final name is whole and was checked.
from __future__ import annotations

import json
import os
import shutil
import struct
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.utils import _pytree as pytree

from ..errors import EnvironmentProblem
from ..runfolders import read_json

SCRATCH = ".etprof-export-"
SUFFIXES = {"ok": "", "failed": ".failed", "unproven": ".unproven"}  # by the state of the program


@contextmanager
def scratch_folder(out: Path):
    """A folder that is gone afterwards, also after an error or a signal that Python sees."""
    scratch = out / f"{SCRATCH}{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_abandoned(out)
        scratch.mkdir()
    except OSError as error:
        raise EnvironmentProblem(f"cannot write in {out}: {error.strerror}") from error
    try:
        yield scratch
    except OSError as error:
        raise EnvironmentProblem(f"writing in {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def remove_abandoned(out: Path):
    """Scratch of exports that were killed; a living one is left alone."""
    for old in out.glob(SCRATCH + "*"):
        pid = old.name[len(SCRATCH):]
        if not pid.isdecimal():
            continue
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(old, ignore_errors=True)
        except PermissionError:
            pass


def storage_bytes(tensor) -> bytes:
    """The elements in the order in which they lie in memory, as a program takes them."""
    tensor = tensor.detach().cpu()
    order = sorted(range(tensor.dim()), key=lambda i: (-tensor.stride(i), i))
    dense = tensor.permute(order).contiguous()
    return dense.reshape(-1).view(torch.uint8).numpy().tobytes() if dense.numel() else b""


def scalar_bytes(value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<q", value)
    if isinstance(value, int):
        return struct.pack("<q", value)
    if isinstance(value, float):
        return struct.pack("<d", value)
    return b""


def input_names(program) -> list:
    return list(program.graph_signature.user_inputs)


def describe_value(value) -> dict:
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
    return {"dtype": type(value).__name__, "shape": None, "value": value if not isinstance(
        value, (tuple, dict)) else str(value)}


def write_inputs(folder: Path, methods, flatten) -> list:
    """<folder>/<method>/<index>.bin, raw bytes, and inputs.json that says what they are."""
    document = {"schema": "etprof.inputs/1", "methods": []}
    for method in methods:
        flat = flatten(method.program, method.args, method.kwargs)
        names = input_names(method.program)
        (folder / method.name).mkdir(parents=True)
        entries = []
        for i, value in enumerate(flat):
            file = f"{method.name}/{i}.bin"
            tensor = isinstance(value, torch.Tensor)
            (folder / file).write_bytes(storage_bytes(value) if tensor else scalar_bytes(value))
            name = names[i] if i < len(names) else None
            entries.append({"name": name if isinstance(name, str) else None, "file": file,
                            **describe_value(value)})
        document["methods"].append({"name": method.name, "inputs": entries})
    write_json(folder / "inputs.json", document)
    return document["methods"]


def write_json(path: Path, document):
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n",
                    encoding="utf-8")


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def publish(scratch: Path, out: Path, names: list, suffix: str) -> None:
    """Moves finished files to their names with SUFFIX, which says that the check did not pass."""
    for name in names:
        # A file that no longer passes must not stay under the good name, nor the other way round.
        for other in SUFFIXES.values():
            if other != suffix:
                remove(out / (name + other))
        if (out / (name + suffix)).is_dir():
            shutil.rmtree(out / (name + suffix))
        os.replace(scratch / name, out / (name + suffix))


def update_export_json(scratch: Path, out: Path, entry: dict, tool: dict) -> None:
    """export.json lists every program of the folder; this export replaces its own entry."""
    path = out / "export.json"
    entries = []
    try:
        old = read_json(path)
        entries = [e for e in old["artifacts"] if e["file"] != entry["file"]]
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, TypeError):
        pass  # not ours or damaged: it is replaced
    entries = sorted(entries + [entry], key=lambda e: e["file"])
    write_json(scratch / "export.json",
               {"schema": "etprof.export/1", "tool": tool, "artifacts": entries})
    os.replace(scratch / "export.json", path)


def output_shapes(method) -> list:
    return [describe_value(v) for v in pytree.tree_flatten(method.reference)[0]]
