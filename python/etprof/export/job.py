# SPDX-License-Identifier: Apache-2.0
# One export from model source to published files.
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .. import __version__, made, runfolders
from ..errors import EnvironmentProblem, MissingPackage, UsageError, suggest
from . import source as sources


@dataclass
class Names:
    stem: str

    @property
    def pte(self):
        return self.stem + ".pte"

    @property
    def etrecord(self):
        return self.pte + ".etrecord"

    @property
    def inputs(self):
        return self.pte + ".inputs"

    @property
    def graph(self):
        return self.pte + ".graph.json"

    @property
    def data(self):
        return self.stem + ".ptd"


def versions() -> dict:
    found = {"python": "%d.%d.%d" % sys.version_info[:3]}
    for package in ("torch", "executorch", "torchao", "torchvision", "timm", "transformers"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def find_model(options, talk):
    """The source and the loaded model; --fallback takes over when something is missing that is not
    going to be installed."""
    import torch

    def load(spec):
        talk(f"building {spec}")
        torch.manual_seed(options.seed)
        found = sources.resolve(spec, options)
        return found, sources.load(found)

    try:
        return load(options.source)
    except EnvironmentProblem as error:
        if not options.fallback or (isinstance(error, MissingPackage) and options.may_install):
            raise
        talk.warn(f"{error}; exporting '{options.fallback}' instead")
        return load(options.fallback)


def wanted_methods(model, specs) -> dict:
    """name -> (module, args, kwargs). Without --method: what the model says, else forward."""
    if not specs:
        if model.methods:
            return {
                name: (method_module(model.module, name), *entry)
                for name, entry in model.methods.items()
            }
        return {"forward": (model.module, model.args, model.kwargs)}
    wanted = {}
    for spec in specs:
        name, _, attribute = spec.partition("=")
        attribute = attribute or name
        if not name.isidentifier():
            raise UsageError(f"--method {spec}: '{name}' is not a method name")
        if not callable(getattr(model.module, attribute, None)):
            known = [m for m in vars(type(model.module)) if not m.startswith("_")]
            raise UsageError(
                f"--method {spec}: the module has no method '{attribute}'"
                + suggest(attribute, known)
            )
        args, kwargs = model.methods.get(name) or model.methods.get(attribute) or (
            model.args, model.kwargs)
        wanted[name] = (method_module(model.module, attribute), args, kwargs)
    return wanted


def method_module(module, attribute):
    """A module whose forward is another method of MODULE."""
    from torch import nn

    if attribute == "forward":
        return module

    class Entry(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = module

        def forward(self, *args, **kwargs):
            return getattr(self.model, attribute)(*args, **kwargs)

    return Entry().eval()


def dynamic_shapes(model, specs, static: bool):
    """From INPUT:AXIS=MIN..MAX to what torch.export takes; else what the model says."""
    if static:
        return None
    if not specs:
        return model.dynamic_shapes
    import inspect

    from torch.export import Dim

    names = list(inspect.signature(model.module.forward).parameters)
    positional = names[: len(model.args)]
    shapes = {name: {} for name in [*positional, *model.kwargs]}
    for spec in specs:
        try:
            place, bounds = spec.split("=")
            name, axis = place.split(":")
            low, high = (int(b) for b in bounds.split(".."))
            axis = int(axis)
        except ValueError as error:
            raise UsageError(f"--dynamic-shape {spec}: expected INPUT:AXIS=MIN..MAX") from error
        if name.isdecimal() and int(name) < len(positional):
            name = positional[int(name)]
        if name not in shapes:
            raise UsageError(
                f"--dynamic-shape {spec}: no input '{name}'; inputs are {', '.join(shapes)}")
        if not 1 <= low < high:
            raise UsageError(f"--dynamic-shape {spec}: expected 1 ≤ MIN < MAX")
        example = dict(zip(positional, model.args)) | model.kwargs
        rank = getattr(example[name], "dim", lambda: 0)()
        if not 0 <= axis < rank:
            raise UsageError(f"--dynamic-shape {spec}: input '{name}' has {rank} axes")
        extent = example[name].shape[axis]
        if not low <= extent <= high:
            raise UsageError(f"--dynamic-shape {spec}: the example input has {extent} there")
        shapes[name][axis] = Dim(f"{name}_{axis}", min=low, max=high)
    return {name: axes or None for name, axes in shapes.items()}


def silence_libraries():
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.environ.setdefault("TORCH_LOGS", "-all")


def run(options, talk):
    """(entry of export.json, record of the tool, folder). The entry's state decides the exit."""
    if not options.verbose:
        silence_libraries()
    from .recipes import find

    fixes = [find(name) for name in options.apply]  # before the slow part: it may be a usage error
    talk("loading torch and executorch")
    import torch

    found, model = find_model(options, talk)
    torch.manual_seed(options.seed + 1)  # what follows must not depend on how weights were drawn
    wanted = wanted_methods(model, options.method)
    model.dynamic_shapes = dynamic_shapes(model, options.dynamic_shape, options.static)
    model.name = options.name or model.name
    grouped = {32: "", 0: "_channel"}.get(options.group_size, f"_g{options.group_size}")
    stem = "_".join([model.name + grouped, options.backend, options.dtype, *(f.name for f in fixes)])
    out = options.outdir or Path(f"out_{model.name}") / "artifacts"
    refuse_taken(out, stem + ".pte", found)
    return make(options, talk, found, model, wanted, fixes, Names(stem), out)


def same_source(one: dict, other: dict) -> bool:
    def key(source):
        spec = str(source.get("source"))
        return source.get("kind"), os.path.normpath(spec) if os.sep in spec else spec

    return key(one) == key(other)


def refuse_taken(out: Path, file: str, found):
    """Two models may have one name; the second must not take the files of the first."""
    try:
        entries = runfolders.read_json(out / "export.json")["artifacts"]
        taken = [e["model"] for e in entries if e["file"] == file]
    except (OSError, ValueError, KeyError, TypeError):
        return  # none, or not ours: it is replaced
    for model in taken:
        if not same_source(model, {"kind": found.kind, "source": found.spec}):
            raise UsageError(
                f"{out / file} is of another model, '{model.get('source')}'; "
                "give this one a name with --name, or a folder with --outdir")


def make(options, talk, found, model, wanted, fixes, names, out):
    from . import artifacts, delegation, lower, refusals, verify

    settings = lower.Options(
        options.backend, options.dtype, options.calibrate, options.inline_delegates,
        names.stem if options.external_weights else None, fixes, options.transforms,
        options.group_size, tuple(options.keep_float),
    )
    with artifacts.scratch_folder(out) as scratch:
        talk(f"exporting {names.stem}")
        lowered = lower.lower(model, wanted, settings)
        talk("writing")
        with refusals.refused(f"'{model.name}' cannot be written", refusals.WRITE, dtype=options.dtype,
                              backend=options.backend):
            files = write_files(options, scratch, names, lowered, verify)
        talk("checking in the ExecuTorch runtime")
        data = str(scratch / names.data) if names.data in files else None
        if options.dtype not in ("fp32", "fp16"):
            load_quantized_kernels()
        checks = verify.check_program(
            scratch / names.pte, data, lowered.methods, options.dtype, options.tolerance, model.steps)
        explain_failures(checks, lowered, settings, options, talk)
        state = verify.state_of(checks)
        suffix = "" if state == "unproven" and options.accept_unproven else artifacts.SUFFIXES[state]
        entry = {
            "file": names.pte,
            "state": state,
            "kept_as": names.pte + suffix,
            "bytes": (scratch / names.pte).stat().st_size,
            "sha256": runfolders.sha256(scratch / names.pte),
            "files": file_records(scratch, files, artifacts),
            "model": {"name": model.name, "source": found.spec, "kind": found.kind,
                      "license": found.info.get("license"), "weights": found.info.get("weights")},
            "options": option_record(options, fixes),
            "command": command_of(options, found.spec),
            "recipes": recipe_places(lowered.methods),
            "methods": [
                {"name": m.name, "inputs": described_inputs(m, artifacts, verify),
                 "outputs": artifacts.output_shapes(m)} for m in lowered.methods
            ],
            "calibration": lowered.calibration,
            "checks": checks,
            "delegation": delegation.summarize(lowered.edge, lowered.rejected, options.backend),
            "warnings": lowered.warnings,
        }
        tool = {"version": __version__, **versions()}
        artifacts.publish(scratch, out, files, suffix)
        artifacts.update_export_json(scratch, out, entry, tool)
        made.note(entry["sha256"], entry["command"])
    talk("done")
    return entry, tool, out


def explain_failures(checks, lowered, settings, options, talk):
    """What made a program fail: kernels that the runtime has not, or the first operator whose numbers part."""
    from . import parting, verify

    for check, method in zip(checks, lowered.methods):
        if check["state"] == "not_run":
            absent = verify.absent_kernels(lowered.program)
            check["why"] += f"; this runtime has no kernel of {', '.join(absent)}" if absent else ""
        if check["state"] != "differs":
            continue
        talk("looking for the operator whose numbers part")
        check["parts_at"] = parting.first(check, method, settings)


def load_quantized_kernels():
    """Quantise and dequantise steps that no delegate takes need kernels of their own library."""
    import executorch.kernels.quantized  # noqa: F401


def write_files(options, scratch, names, lowered, verify) -> list:
    """Everything into the scratch folder; the names in the order of publishing, .pte last."""
    from . import artifacts

    files = [names.inputs, names.etrecord]
    artifacts.write_inputs(scratch / names.inputs, lowered.methods, verify.flatten_inputs)
    lowered.program.get_etrecord().save(str(scratch / names.etrecord))
    if options.external_weights:
        lowered.program.write_tensor_data_to_file(str(scratch))
        if (scratch / names.data).exists():
            files.append(names.data)
    if options.save_graph:
        from .graph import graph_document

        artifacts.write_json(scratch / names.graph, graph_document(lowered.methods[0]))
        files.append(names.graph)
    with open(scratch / names.pte, "wb") as file:
        lowered.program.write_to_file(file)
    return [*files, names.pte]


def file_records(scratch, files, artifacts) -> list:
    return [
        {"name": name, "bytes": (scratch / name).stat().st_size,
         "sha256": runfolders.sha256(scratch / name)}
        for name in files if (scratch / name).is_file()
    ]


def described_inputs(method, artifacts, verify) -> list:
    flat = verify.flatten_inputs(method.program, method.args, method.kwargs)
    names = artifacts.input_names(method.program)
    return [{"name": str(n), **artifacts.describe_value(v)} for n, v in zip(names, flat)]


# Options that the program depends on, with what they are where nobody gave them.
OF_PROGRAM = {"dtype": "fp32", "backend": "xnnpack", "name": None, "method": [], "dynamic_shape": [], "static": False,
              "calibrate": None, "group_size": 32, "keep_float": [], "apply": [], "inline_delegates": False,
              "external_weights": False, "seed": 0, "tolerance": None, "attention": "plain", "context": None,
              "weights": None}


def command_of(options, source: str) -> list:
    """The words that make this program again."""
    words = ["etprof", "export", source]
    for name, usual in OF_PROGRAM.items():
        value = getattr(options, name)
        if value is None or value == usual:
            continue
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif name == "group_size":
            words += [flag, str(value or "channel")]
        else:
            for one in value if isinstance(value, list) else [value]:
                words += [flag, str(one)]
    return words if options.transforms else [*words, "--no-transforms"]


def recipe_places(methods) -> list:
    """Of each recipe that every method can say it of: how many places it would change."""
    names = set.intersection(*(set(m.places) for m in methods))
    return [{"name": n, "places": sum(m.places[n] for m in methods)} for n in sorted(names)]


def option_record(options, fixes) -> dict:
    return {
        "dtype": options.dtype, "backend": options.backend, "seed": options.seed,
        "apply": [f.name for f in fixes], "transforms": options.transforms,
        "inline_delegates": options.inline_delegates, "external_weights": options.external_weights,
        "dynamic_shape": options.dynamic_shape, "method": options.method,
        "calibrate": options.calibrate, "tolerance": options.tolerance,
        "accept_unproven": options.accept_unproven,
        "group_size": options.group_size if options.dtype == "8da4w" else None,
        "keep_float": options.keep_float,
        "attention": options.attention, "context": options.context,
    }
