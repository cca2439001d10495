# SPDX-License-Identifier: Apache-2.0
# What each --dtype means: what is cast, what is quantised, with which ranges.
from __future__ import annotations

from pathlib import Path

import torch
from torch.utils import _pytree as pytree

from ..errors import BadInput, UsageError
from . import linears, norms

OF_LINEAR = {"int4": 4, "8da4w": 4, "8da8w": 8}  # of linear layers alone: bits of a weight
HALF_MAX = 65504.0
NAMED = 8  # layers that a warning lists


def cast_inputs(tree, dtype):
    """Floating tensors change type; integer ids and boolean masks stay what they are."""

    def cast(x):
        if not (isinstance(x, torch.Tensor) and x.is_floating_point()):
            return x
        if dtype == torch.float16 and x.numel() and x.abs().max().item() > HALF_MAX:
            raise BadInput(
                f"an example input has values up to {x.abs().max().item():g}, "
                f"more than float16 holds ({HALF_MAX:g}); scale them or export fp32"
            )
        return x.to(dtype)

    return pytree.tree_map(cast, tree)


def to_half(module):
    """Half weights and buffers; a weight that overflows is an error, not an infinity."""
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if tensor.is_floating_point() and torch.isfinite(tensor).all():
            if tensor.numel() and tensor.abs().max().item() > HALF_MAX:
                raise BadInput(f"weight {name} has values that float16 cannot hold; export fp32")
    return module.half()


def read_calibration(spec: str | None, model):
    """(samples, description, warnings). A sample is (args, kwargs) of the model's own structure."""
    if spec is None and model.calibration:
        samples = [as_sample(s) for s in model.calibration]
        return samples, {"source": "model", "samples": len(samples)}, []
    if spec is None:
        return (
            [(model.args, model.kwargs)],
            {"source": "example-inputs", "samples": 1},
            ["ranges come from the example inputs alone; give real samples with "
             "--calibrate FILE.npz"],
        )
    if spec.isdecimal():
        count = int(spec)
        if count < 1:
            raise UsageError("--calibrate needs at least one sample")
        samples = [pytree.tree_map(random_like, (model.args, model.kwargs)) for _ in range(count)]
        return (
            samples, {"source": "random", "samples": count},
            [f"ranges come from {count} random samples; give real ones with --calibrate FILE.npz"],
        )
    samples = read_npz(Path(spec), model)
    return samples, {"source": "file", "file": Path(spec).name, "samples": len(samples)}, []


def as_sample(sample):
    return sample if len(sample) == 2 and isinstance(sample[1], dict) else (tuple(sample), {})


def random_like(x):
    if isinstance(x, torch.Tensor) and x.is_floating_point():
        return torch.randn_like(x)
    return x


def read_npz(path: Path, model):
    """One array per input (named, or in order), each with a leading axis over the samples."""
    import numpy

    if not path.is_file():
        raise UsageError(f"--calibrate {path}: no such file; give FILE.npz or a number")
    try:
        with numpy.load(path, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except Exception as error:  # zip, zlib, pickle and numpy each have their own
        raise BadInput(f"{path}: not a readable .npz file: {error}") from error
    flat, spec = pytree.tree_flatten((model.args, model.kwargs))
    if len(arrays) != len(flat):
        raise BadInput(f"{path}: {len(arrays)} arrays, the model takes {len(flat)} inputs")
    columns = []
    for (name, array), example in zip(arrays.items(), flat):
        wanted = tuple(example.shape) if isinstance(example, torch.Tensor) else ()
        if array.shape[1:] != wanted:
            raise BadInput(
                f"{path}: array '{name}' has samples of shape {list(array.shape[1:])}, "
                f"the input takes {list(wanted)}"
            )
        columns.append(torch.from_numpy(array).to(example.dtype))
    counts = {len(c) for c in columns}
    if len(counts) != 1 or counts == {0}:
        raise BadInput(f"{path}: arrays hold {sorted(counts)} samples, expected one equal count ≥ 1")
    return [pytree.tree_unflatten(list(row), spec) for row in zip(*columns)]


def inside(path: str, names) -> set:
    """Those of NAMES that are the module at PATH, or hold it."""
    return {name for name in names if path == name or path.startswith(name + ".")}


def refuse_unknown(names, found):
    unknown = sorted(set(names) - found)
    if unknown:
        raise UsageError(f"--keep-float {unknown[0]}: nothing that could be quantised lies in a module of that name; "
                         "etprof ab FP32.pte INT8.pte --numerics names modules")


def nodes_inside(graph, names):
    """Nodes of a traced graph in modules called NAMES. A name that none is in is refused."""
    found, nodes = set(), []
    for node in graph.nodes:
        stack = node.meta.get("nn_module_stack") or {}
        own = set().union(*(inside(path, names) for path, _ in stack.values()), set())
        found |= own
        if own and node.op == "call_function":
            nodes.append(node)
    refuse_unknown(names, found)
    return nodes


def quantize_pt2e(graph, samples, dynamic: bool, keep=()):
    """A traced graph in int8 by PT2E for XNNPACK: weights per channel, activations static or per inference. The modules
    KEEP stay as they are."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import QuantizationAnnotation

    class Quantizer(XNNPACKQuantizer):
        def transform_for_annotation(self, model):
            return with_whole_numbers(model, super().transform_for_annotation)

        def annotate(self, model):
            for node in [*norms.sums_that_norms_read(model.graph), *nodes_inside(model.graph, keep)]:
                node.meta["quantization_annotation"] = QuantizationAnnotation(_annotated=True)
            return without_scalars(super().annotate(model))

    linears.WrittenAsProducts().on_graph(graph)
    quantizer = Quantizer()
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic)
    if dynamic:
        # Linear layers only: executorch 1.5.1 also lowers dynamically quantised convolutions, but
        # what they compute is not what eager computes (measured: cosine 0.974).
        quantizer.set_operator_type(torch.ops.aten.linear.default, config)
    else:
        quantizer.set_global(config)
    prepared = prepare_pt2e(graph, quantizer)
    with torch.no_grad():
        for sample_args, sample_kwargs in samples:
            prepared(*sample_args, **sample_kwargs)
    converted = plain_scalars(convert_pt2e(prepared))
    if not any("dequantize" in str(n.target) for n in converted.graph.nodes):
        kind = "linear layer" if dynamic else "operator"
        control = [n for n in converted.graph.nodes if isinstance(n.target, torch._ops.HigherOrderOperator)]
        inside = [f"; what torch.{n.target.name()} holds stays as it is: choose with torch.where" for n in control]
        raise BadInput(
            f"nothing was quantised: the model has no {kind} that XNNPACK takes in int8; export fp32"
            + "".join(inside[:1])
        )
    return converted


def with_whole_numbers(graph, transform):
    """TRANSFORM without what it does to integers: the quantiser of executorch 1.5.1 makes a float32 tensor of every
    number that is added or multiplied, so that positions and masks are floats afterwards (IndexError in BERT)."""
    values = {node: node.meta.get("val") for node in graph.graph.nodes}
    kept = {node: node.args for node, value in values.items()
            if isinstance(value, torch.Tensor) and not value.is_floating_point()}
    graph = transform(graph)
    for node, args in kept.items():
        node.args = args
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def without_scalars(graph):
    """Operators that take a computed tensor without axes stay in fp32: the layout pass of executorch
    1.5.1 asks a quantised one for its first row (IndexError), and there is nothing to gain."""
    for node in graph.graph.nodes:
        takes = (n for n in node.all_input_nodes if n.op == "call_function")
        values = (n.meta.get("val") for n in takes)
        if any(isinstance(v, torch.Tensor) and v.dim() == 0 for v in values):
            node.meta.pop("quantization_annotation", None)
    return graph


def plain_scalars(graph):
    """Constants without axes whose quantisation was not folded into them go back to fp32, for the
    same reason."""
    for node in list(graph.graph.nodes):
        if not str(node.target).startswith("quantized_decomposed.quantize_per_tensor"):
            continue
        source = node.args[0]
        value = source.meta.get("val")
        if source.op != "get_attr" or not isinstance(value, torch.Tensor) or value.dim() != 0:
            continue
        for user in list(node.users):
            user.replace_all_uses_with(source)
            graph.graph.erase_node(user)
        graph.graph.erase_node(node)
    graph.recompile()
    return graph


def quantize_linear(module, bits: int, group: int, keep=()):
    """Linear layers outside the modules KEEP: weights in 4 or 8 bits by groups of GROUP (0: per channel),
    activations int8 per token."""
    from torchao.quantization import quantize_
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig

    def fits(m):
        return isinstance(m, torch.nn.Linear) and m.in_features % (group or 1) == 0

    every = {name: m for name, m in module.named_modules() if isinstance(m, torch.nn.Linear)}
    linears = {name: m for name, m in every.items() if not inside(name, keep)}
    refuse_unknown(keep, set().union(*(inside(name, keep) for name in every), set()))
    fitting = [m for m in linears.values() if fits(m)]
    left = [f"{name} ({m.in_features})" for name, m in linears.items() if not fits(m)]
    if fitting and bits == 4 and group == 0:
        return four_bits_per_channel(module, fitting), []
    if not fitting:
        raise BadInput(
            f"nothing was quantised: int{bits} needs a linear layer"
            + (f" whose input width is a multiple of {group}" if group else "")
            + f"; this model has {len(linears)} linear layers"
        )
    quantize_(
        module,
        Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4 if bits == 4 else torch.int8,
            weight_granularity=PerGroup(group) if group else PerAxis(0),
        ),
        filter_fn=lambda m, _: any(m is one for one in fitting),
    )
    warnings = []
    if left:
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        warnings.append(
            f"{len(left)} of {len(linears)} linear layers stay fp32, as {group} does not divide their input width: "
            f"{', '.join(left[:NAMED])}{more}"
        )
    return module, warnings


def four_bits_per_channel(module, layers):
    """Written out here: what torchao makes of it, executorch 1.5.1 lowers as one group for each row,
    for which XNNPACK has other kernels."""
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  declares the operators

    ops = torch.ops.quantized_decomposed

    class Linear(torch.nn.Module):
        def __init__(self, linear):
            super().__init__()
            weight = linear.weight.detach().float()
            scales = weight.abs().amax(1).clamp(min=1e-12) / 7.5
            values = torch.clamp(torch.round(weight / scales[:, None]), -8, 7).to(torch.int8)
            self.register_buffer("values", values)
            self.register_buffer("scales", scales)
            self.register_buffer("zeros", torch.zeros(len(scales), dtype=torch.int64))
            self.bias = linear.bias

        def forward(self, x):
            scale, zero = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
            x = ops.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
            x = ops.dequantize_per_token(x, scale, zero, -128, 127, torch.int8, torch.float32)
            weight = ops.dequantize_per_channel(
                self.values, self.scales, self.zeros, 0, -8, 7, torch.int8)
            return torch.nn.functional.linear(x, weight, self.bias)

    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if any(child is layer for layer in layers):
                setattr(parent, name, Linear(child))
    return module
