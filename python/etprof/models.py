# SPDX-License-Identifier: Apache-2.0
# `etprof export --list`: which models can be exported and what is missing for them; `export --new NAME`.
# Runs without torch: it reads model.json and looks for packages, it imports no model.
from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from pathlib import Path

from . import bootstrap, packages, registry
from .errors import EnvironmentProblem, EtprofError, UsageError
from .shown import safe

INIT = '''\
# Makes the model known: `etprof export {name}`.
from etprof.registry import register_model

from .model import {cls}

register_model("{name}", {cls})
'''

MODEL = '''\
# The model that `etprof export {name}` exports. Replace the network; keep the three methods.
import torch
from torch import nn


class Network(nn.Module):
    """A small example: put your own network here, or import it from vendor/."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.classifier = nn.Linear(16, 10)

    def forward(self, image):
        x = torch.relu(self.conv(image)).mean((2, 3), keepdim=True)
        return self.classifier(torch.flatten(x, 1))


class {cls}:
    def get_eager_model(self):
        # Load your weights here; fail when one is missing (load_state_dict(..., strict=True)).
        return Network().eval()

    def get_example_inputs(self):
        # Shapes, types and value ranges of real use: the program is fixed to these shapes.
        return (torch.randn(1, 3, 64, 64),)

    # Optional: keyword inputs, axes that vary, real samples for int8.
    # def get_example_kwarg_inputs(self): return {{}}
    # def get_dynamic_shapes(self): return None
    # def get_calibration_inputs(self): return [(torch.randn(1, 3, 64, 64),)]
'''

INFO = {
    "description": "what it is",
    "license": "whose, and under which terms",
    "weights": "random, seeded",
    "inputs": ["image 1x3x64x64 float"],
    "needs": [],
}


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Model"


def new_model(name: str, parent: Path) -> Path:
    """Writes a runnable model folder; refuses to touch an existing one."""
    if not name.isidentifier() or name != name.lower():
        raise UsageError(f"--new {name}: use lower case letters, digits and underscores")
    folder = parent / name
    if folder.exists():
        raise UsageError(f"{folder} exists already")
    files = {
        "__init__.py": INIT.format(name=name, cls=class_name(name)),
        "model.py": MODEL.format(name=name, cls=class_name(name)),
        registry.INFO_FILE: json.dumps(INFO, indent=2) + "\n",
        "vendor/README.md": "Upstream code that the model needs, with its licence files.\n",
    }
    try:
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {folder}: {error.strerror}") from error
    return folder


def missing_for(folder: registry.ModelFolder, absent: set, python: str | None) -> list[str]:
    """What has to be done before this model can be exported; empty when nothing. ABSENT are the
    modules that the exporter's interpreter PYTHON has not; None: it is not there yet."""
    steps = []
    modules = [m for m in folder.info.get("needs", []) if m in absent]
    if modules:
        names = " ".join(packages.pinned_for(modules))
        own = python is None or bootstrap.is_own(python)
        steps.append(f"{', '.join(modules)}, which the first export installs: {names}" if own else
                     f"{python} -m pip install --no-deps {names}")
    checkout = registry.missing_checkout(folder)
    if checkout:
        steps.append(f"set {checkout} to a checkout")
    return steps


def listing() -> tuple[list[dict], bool]:
    """A row for each model, and whether PyTorch is there already."""
    folders = registry.folders()
    needs = {m for folder in folders.values() for m in folder.info.get("needs", [])}
    python = bootstrap.present_python()
    absent = set(bootstrap.lacking(python, sorted(needs))) if python else needs
    rows = []
    for name, folder in sorted(folders.items()):
        info = folder.info
        rows.append({
            "name": name,
            "description": info.get("description"),
            "license": info.get("license"),
            "weights": info.get("weights"),
            "inputs": info.get("inputs", []),
            "path": str(folder.path),
            "missing": missing_for(folder, absent, python),
        })
    return rows, python is not None


def columns() -> int:
    """Of the terminal, or what COLUMNS says; 80 where neither is known, as etprof's other verbs have it."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, 60), 200)


def render(rows: list[dict], exporter_ready: bool, width: int) -> str:
    indent = " " * (2 + max((len(r["name"]) for r in rows), default=0))

    def wrapped(text: str, first: str = indent, rest: str = indent) -> str:
        return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                             break_on_hyphens=False)

    lines = []
    for r in rows:
        lines.append(wrapped(r["description"] or "", r["name"].ljust(len(indent))).rstrip() or r["name"])
        lines.append(wrapped(f"{'; '.join(r['inputs'])} · {r['license'] or 'licence not given'}"))
        for step in r["missing"]:  # a command stays on its line, to be copied
            said = f"needs: {step}"
            lines.append(indent + said if " -m pip " in said else wrapped(said, rest=indent + "  "))
    end = ["also: torchvision:NAME, timm:NAME, hf:CONFIG, executorch:NAME, FILE.py:Class, FOLDER"]
    if not exporter_ready:
        end.append("torch and executorch are not here yet; the first `etprof export` installs them")
    lines += ["", *(wrapped(text, "", "  ") for text in end)]
    return "\n".join(lines) + "\n"


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message}; see etprof export --help")


def is_asked(argv) -> bool:
    """Are the words of `etprof export` about models, not the export of one?"""
    return any(word in ("--list", "--new") or word.startswith("--new=") for word in argv)


def main(argv) -> int:
    p = Parser(prog="etprof export", allow_abbrev=False)
    action = p.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true")
    action.add_argument("--new", metavar="NAME")
    p.add_argument("--dir", type=Path, default=Path("model_profiling") / "models")
    p.add_argument("-f", "--format", choices=("text", "json"), default="text")
    p.add_argument("-q", "--quiet", action="store_true")
    try:
        options = p.parse_args(argv)
        if options.new is not None:
            folder = new_model(options.new, options.dir)
            known = options.dir == p.get_default("dir")
            print(folder if options.quiet else f"{folder}\nnext: etprof export {options.new if known else folder}")
            return 0
        rows, ready = listing()
        if options.format == "json":
            json.dump({"schema": "etprof.models/1", "exporter_ready": ready, "models": rows},
                      sys.stdout, indent=2, ensure_ascii=False)
            sys.stdout.write("\n")
        else:
            sys.stdout.write(render(rows, ready, columns()))
        return 0
    except EtprofError as error:
        print(safe(f"etprof export: {error}"), file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
