# SPDX-License-Identifier: Apache-2.0
# One model in one precision to one program: the sequence of ExecuTorch calls and its options.
from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.utils.configs import get_transform_passes
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge_transform_and_lower,
)
from torch.export import export

from ..errors import BadInput
from . import evidence, norms, recipes
from . import precision as prec
from .leftovers import drop_unused
from .recipe import require_change
from .refusals import EXPORT, LOWER, QUANTISE, WRITE, refused
from .rejections import RejectionLog
from .source import Model, first_line, user_frame


@dataclass
class Options:
    backend: str = "xnnpack"
    dtype: str = "fp32"
    calibrate: str | None = None
    inline_delegates: bool = False
    external_weights: str | None = None  # name of the data file
    fixes: list = field(default_factory=list)
    transforms: bool = True
    group_size: int = 32  # of 4-bit weights, 0 a whole channel
    keep_float: tuple = ()  # modules that are not quantised


@dataclass
class Method:
    """One entry point: what is exported, what it is given, what it must answer."""

    name: str
    module: Any  # eager, in the precision of the program
    args: tuple
    kwargs: dict
    dynamic_shapes: Any
    reference: Any = None  # outputs of the fp32 model
    fp32: Any = None  # the module and its inputs before anything was done to them
    evidence: Any = None  # what a comparison with them can tell
    drawing: list = field(default_factory=list)  # operators that draw random numbers
    depth: int = 0  # operators that round, on the longest path
    program: Any = None  # torch.export.ExportedProgram that is lowered
    places: dict = field(default_factory=dict)  # of each recipe that can say: how many it would change


@dataclass
class Lowered:
    methods: list
    edge: Any
    program: Any
    rejected: dict  # node name -> why the partitioner left it alone
    warnings: list
    calibration: dict | None


def trace(what: str, module, args, kwargs, dynamic_shapes):
    """torch.export, with its failures turned into one line that names the model's own source."""
    with refused(f"{what} cannot be exported", EXPORT, inputs=(args, kwargs)):
        return export(module, args, kwargs, dynamic_shapes=dynamic_shapes)


def run_eager(what: str, module, args, kwargs):
    try:
        with torch.no_grad(), evidence.state_kept(module):
            return module(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception as error:
        where = user_frame(error)
        raise BadInput(
            f"{what} fails on its own example inputs: {type(error).__name__}: {first_line(error)}"
            + (f" ({where})" if where else "")
        ) from error


def change_inputs(method, change):
    """The example inputs, and the others that the check asks with, as the program takes them."""
    method.args, method.kwargs = change((method.args, method.kwargs))
    method.evidence.others = [(change(inputs), answer) for inputs, answer in method.evidence.others]


def in_precision(what: str, method: Method, options: Options, model: Model):
    """Brings a method to its precision. Returns (warnings, calibration, its trace before that or None)."""
    traced: list = []
    if options.dtype in ("int8", "int8-dynamic"):
        traced.append(trace(what, method.module, method.args, method.kwargs, method.dynamic_shapes))
    with refused(f"{what} cannot be brought to {options.dtype}", QUANTISE, traced,
                 (method.args, method.kwargs), dtype=options.dtype):
        return *converted(method, options, model, *traced), traced[0] if traced else None


def converted(method: Method, options: Options, model: Model, traced=None):
    dtype = options.dtype
    if dtype == "fp32":
        return [], None
    if dtype == "fp16":
        method.module = prec.to_half(method.module)
        change_inputs(method, lambda inputs: prec.cast_inputs(inputs, torch.float16))
        return [], None
    if dtype in prec.OF_LINEAR:
        bits, group = prec.OF_LINEAR[dtype], options.group_size
        method.module, warnings = prec.quantize_linear(method.module, bits, group if bits == 4 else 0,
                                                       options.keep_float)
        return warnings, None
    if dtype == "int8":
        own = Model(model.name, model.module, method.args, method.kwargs,
                    calibration=model.calibration)
        samples, calibration, warnings = prec.read_calibration(options.calibrate, own)
    else:
        samples, calibration, warnings = [(method.args, method.kwargs)], None, []
    method.module = prec.quantize_pt2e(traced.module(), samples, dtype == "int8-dynamic", options.keep_float)
    return warnings, calibration


def partitioners(options: Options):
    if options.backend == "portable":
        return []
    for fix in options.fixes:
        replaced = fix.partitioners()
        if replaced is not None:
            return replaced
    return [XnnpackPartitioner()]


def prepare(model: Model, wanted: dict, options: Options) -> tuple[list, list, dict | None]:
    """The methods in the program's precision, traced, with the recipes applied."""
    methods, warnings, calibration = [], [], None
    for name, (module, args, kwargs) in wanted.items():
        what = f"'{model.name}'" if name == "forward" else f"'{model.name}' method {name}"
        method = Method(name, module, args, kwargs, model.dynamic_shapes)
        method.reference = run_eager(what, module, args, kwargs)
        method.evidence = evidence.of_reference(module, args, kwargs, method.reference)
        method.fp32 = (module, args, kwargs)
        if options.dtype in ("fp16", *prec.OF_LINEAR):
            method.module = copy.deepcopy(module)  # methods share the module; casts are in place
        for fix in options.fixes:
            method.module = fix.on_module(method.module)
            change_inputs(method, fix.on_inputs)
        if any(fix.rewrites_graph for fix in options.fixes):
            traced = trace(what, method.module, method.args, method.kwargs, method.dynamic_shapes)
            graph = traced.module()
            for fix in options.fixes:
                require_change(fix, fix.on_graph(graph), model.name)
            method.module = graph
        more, found, traced = in_precision(what, method, options, model)
        warnings += [w for w in more if w not in warnings]
        calibration = found or calibration
        method.program = trace(
            what, method.module, method.args, method.kwargs, method.dynamic_shapes
        )
        method.places = recipes.places((traced or method.program).module(), (method.args, method.kwargs))
        if options.dtype == "fp16":
            warnings += [w for w in with_wide_norms(what, method) if w not in warnings]
        if options.external_weights and options.backend == "xnnpack":
            method.program = tag_external(method, options.external_weights)
        drop_unused(method.program)
        method.drawing, method.depth = evidence.drawing(method.program), evidence.depth(method.program)
        methods.append(method)
    return methods, warnings, calibration


def with_wide_norms(what: str, method: Method) -> list:
    """Layer norms that the runtime cannot do in float16 are traced in float32; returns warnings."""
    graph = method.program.module()
    warning = norms.in_float32(graph)
    if warning is None:
        return []
    method.module = graph
    method.program = trace(what, graph, method.args, method.kwargs, method.dynamic_shapes)
    return [warning]


def tag_external(method: Method, tag: str):
    from executorch.exir.passes.external_constants_pass import (
        delegate_external_constants_pass_unlifted,
    )

    graph = method.program.module()
    delegate_external_constants_pass_unlifted(module=graph, gen_tag_fn=lambda _: tag)
    return export(graph, method.args, method.kwargs, dynamic_shapes=method.dynamic_shapes)


def parts_for(programs, parts, single):
    if not parts:
        return None
    return parts if single else dict.fromkeys(programs, parts)


def to_edge(programs: dict, options: Options, constants=None, record=False):
    parts = partitioners(options)
    single = list(programs) == ["forward"]
    passes = get_transform_passes() if options.backend == "xnnpack" and options.transforms else None
    compile_config = EdgeCompileConfig(
        _check_ir_validity=options.dtype in ("fp32", "fp16") and not options.fixes
    )
    return to_edge_transform_and_lower(
        programs["forward"] if single else programs,
        partitioner=parts_for(programs, parts, single),
        transform_passes=passes,
        compile_config=compile_config,
        constant_methods=constants,
        generate_etrecord=record,
    )


def lower(model: Model, wanted: dict, options: Options) -> Lowered:
    methods, warnings, calibration = prepare(model, wanted, options)
    programs = {m.name: m.program for m in methods}
    known = {"dtype": options.dtype, "backend": options.backend}
    config = ExecutorchBackendConfig(extract_delegate_segments=not options.inline_delegates)
    if options.external_weights and options.backend == "portable":
        tag = options.external_weights
        config = ExecutorchBackendConfig(external_constants=lambda _: tag)
    with RejectionLog() as log, refused(
            f"ExecuTorch cannot lower '{model.name}' for {options.backend}", LOWER, programs.values(), **known):
        edge = to_edge(programs, options, model.constants or None, record=True)
    with refused(f"ExecuTorch cannot write '{model.name}'", WRITE, programs.values(), **known):
        # to_executorch changes the graphs it is given; the summary wants them as partitioned.
        partitioned = {name: edge.exported_program(name) for name in programs}
        snapshot = {name: copy.deepcopy(p.graph_module) for name, p in partitioned.items()}
        program = edge.to_executorch(config)
    return Lowered(methods, snapshot, program, log.reasons, warnings, calibration)
