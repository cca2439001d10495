# SPDX-License-Identifier: Apache-2.0
# Which models exist: folders in the kit's shape (<folder>/<name>/__init__.py calls register_model).
# Needs no torch: a folder's code is only imported when that model is asked for.
from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from . import model_base, system
from .errors import BadInput, UsageError

INFO_FILE = "model.json"


@dataclass
class Registration:
    name: str
    cls: type


@dataclass
class ModelFolder:
    """One folder of a model, described without running any of its code."""

    name: str
    path: Path
    info: dict = field(default_factory=dict)


_registered: dict[str, Registration] = {}


def register_model(name, cls, xnnpack_quantization=None, xnnpack_delegation=True):
    """Called by a model folder's __init__.py. The last two arguments are accepted and ignored:
    precision and backend are chosen when exporting."""
    del xnnpack_quantization, xnnpack_delegation
    if not callable(cls):
        raise TypeError(f"register_model({name!r}): the second argument must be a class, not {cls!r}")
    _registered[name] = Registration(name, cls)


def search_path() -> list[Path]:
    """Folders that hold model folders, first match wins: ETPROF_MODELS, the workspace, the tree."""
    path = [Path(p) for p in os.environ.get("ETPROF_MODELS", "").split(os.pathsep) if p]
    path.append(Path.cwd() / "model_profiling" / "models")
    for tree in (Path(__file__).resolve().parents[2], Path(system.TREE, "share", "etprof")):
        path.append(tree / "model_profiling" / "models")
    return list(dict.fromkeys(p.absolute() for p in path))


def read_folder(path: Path) -> ModelFolder:
    info_path = path / INFO_FILE
    info = {}
    if info_path.exists():
        try:
            info = json.loads(info_path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"{info_path}: not readable as JSON: {error}") from error
        if not isinstance(info, dict):
            raise BadInput(f"{info_path}: expected an object, found {type(info).__name__}")
    return ModelFolder(path.name, path, info)


def folders() -> dict[str, ModelFolder]:
    """Every model folder on the search path, by name."""
    found: dict[str, ModelFolder] = {}
    for parent in search_path():
        if not parent.is_dir():
            continue
        for child in sorted(parent.iterdir()):
            if any((child / n).is_file() for n in ("__init__.py", "model.py")) and child.name not in found:
                found[child.name] = read_folder(child)
    return found


def missing_checkout(folder: ModelFolder) -> str | None:
    """The environment variable that has to name a checkout before this model can be built; None: nothing is missing."""
    told = folder.info.get("checkout")
    if not told:
        return None
    root = Path(os.environ.get(told["env"]) or folder.path / told["vendor"])
    return None if (root / told["file"]).is_file() else told["env"]


def load_folder(folder: Path) -> Registration:
    """Runs a model folder's code and returns what it registered under the folder's name."""
    name = folder.name
    if not any((folder / n).is_file() for n in ("__init__.py", "model.py")):
        raise BadInput(f"{folder}: no model.py; a model folder has __init__.py and model.py")
    # The parent becomes a package of its own name, so that `from . import model` and the kit's
    # `from .. import register_model` and `from ..model_base import EagerModelBase` work without any
    # entry in sys.path.
    parent_name = "etprof_models_" + "".join(c if c.isalnum() else "_" for c in str(folder.parent))
    if parent_name not in sys.modules:
        parent = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(parent_name, loader=None, is_package=True)
        )
        parent.__path__ = [str(folder.parent)]
        parent.register_model = register_model
        sys.modules[parent_name] = parent
        if not (folder.parent / "model_base.py").is_file():
            sys.modules[parent_name + ".model_base"] = parent.model_base = model_base
    qualified = f"{parent_name}.{name}"
    if qualified not in sys.modules and (folder / "__init__.py").is_file():
        spec = importlib.util.spec_from_file_location(
            qualified, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[qualified] = module
        _registered.pop(name, None)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            for loaded in [m for m in sys.modules if m == qualified or m.startswith(qualified + ".")]:
                del sys.modules[loaded]
            raise
    if name not in _registered:
        run_list(folder.parent, sys.modules[parent_name])
    if name not in _registered:
        raise UsageError(
            f"neither {folder / '__init__.py'} nor {folder.parent / '__init__.py'} registers a model '{name}'; "
            f"one of them should say register_model(\"{name}\", TheClass)"
        )
    return _registered[name]


def run_list(folder: Path, package) -> None:
    """The models' own __init__.py, where the learning path registers a model (import, register_model). It is run only
    for a model whose folder does not register itself, since it may import all of them."""
    path = folder / "__init__.py"
    if path.is_file() and not getattr(package, "__file__", None):
        package.__file__ = str(path)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), package.__dict__)  # noqa: S102
