# SPDX-License-Identifier: Apache-2.0
# What went to the backend and what did not: partitions, share of the multiply-accumulates, and for
# every operator left behind its line in the model and a reason.
from __future__ import annotations

import re
from collections import OrderedDict
from math import prod

import torch

HINTS = {
    "native_layer_norm": "XNNPACK has no layer norm; --apply layer-norm writes it out in operators it has",
    "expand_copy": "broadcast of a batched product; --apply fold-expand removes it",
    "gelu": "XNNPACK takes GELU in fp32 only; --apply gelu-tanh writes it out",
    "embedding": "table look-ups stay on the CPU's portable kernel",
    "squeeze_copy": "a size-1 axis is dropped; take slices with one axis less instead (unbind, select)",
    "mean": "XNNPACK takes a mean over both spatial axes with keepdim=True; --apply keep-dims makes it one",
    "bmm": "--apply fold-expand lowers batched products without broadcasts",
    "native_group_norm": "XNNPACK has no group norm; batch norm folds into convolutions",
    "where": "safe softmax of attention without a mask; --apply decompose-attention leaves it out",
    "logical_not": "safe softmax of attention without a mask; --apply decompose-attention leaves it out",
    "any": "safe softmax of attention without a mask; --apply decompose-attention leaves it out",
    "clone": "a copy that changes the layout; avoid .contiguous() on permuted tensors",
    "_to_dim_order_copy": "a change of type or layout between operators",
    "cumsum": "not in XNNPACK; keep it outside of hot loops",
}


def operator_name(target) -> str:
    """aten.add.Tensor of any dialect."""
    name = getattr(target, "name", None)
    text = name() if callable(name) else getattr(target, "__name__", str(target))
    text = text.replace("::", ".")
    return text if text.count(".") >= 2 or "." not in text else text + ".default"


def base_name(operator: str) -> str:
    parts = operator.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def extents(value) -> list[int | None]:
    """The shape; None where an extent depends on the data."""
    def known(extent):
        try:
            return int(extent)
        except Exception:  # torch's own for symbols without a value
            return None

    return [known(extent) for extent in value.shape]


def size(value) -> int:
    return prod(extents(value)) if isinstance(value, torch.Tensor) else 0


def first_tensor(value):
    if isinstance(value, (tuple, list)):
        return next((v for v in value if isinstance(v, torch.Tensor)), None)
    return value if isinstance(value, torch.Tensor) else None


def macs(node) -> int | None:
    """Multiply-accumulates of convolutions, linear layers and matrix products; 0 for the rest, None
    where the extents depend on the data."""
    try:
        return known_macs(node)
    except TypeError:  # a product with None
        return None


def known_macs(node) -> int:
    kind = base_name(operator_name(node.target))
    out = first_tensor(node.meta.get("val"))

    def shape(i):
        return extents(node.args[i].meta["val"])

    if out is None:
        return 0
    if kind in ("convolution", "conv2d", "conv1d"):
        weight = shape(1)
        transposed = kind == "convolution" and len(node.args) > 6 and node.args[6]
        if transposed:
            return prod(shape(0)) * prod(weight) // weight[0]
        return size(out) * prod(weight[1:])
    if kind == "linear":
        return size(out) * shape(1)[-1]
    if kind == "addmm":
        return size(out) * shape(1)[-1]
    if kind in ("mm", "bmm", "matmul"):
        return size(out) * shape(0)[-1]
    if kind == "scaled_dot_product_attention":
        query, key = shape(0), shape(1)
        return prod(query) * key[-2] * 2
    return 0


def source_line(node) -> tuple[str | None, int | None]:
    """The model's own line: the innermost frame that is not inside an installed library."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    for path, line in reversed(frames):
        if "site-packages" not in path and "dist-packages" not in path and not path.startswith("<"):
            return path, int(line)
    return None, None


def module_path(node) -> str | None:
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return None
    path = list(stack.values())[-1][0]
    return path or None


def is_bookkeeping(node) -> bool:
    name = str(node.target)
    return (
        node.op != "call_function"
        or "getitem" in name
        or "executorch_call_delegate" in name
        or "alloc" in name
        or "sym_size" in name
    )


def describe(node, rejected: dict, backend: str) -> dict:
    operator = operator_name(node.target)
    kind = base_name(operator)
    path, line = source_line(node)
    value = first_tensor(node.meta.get("val"))
    reason = rejected.get(node.name)
    if backend == "portable":
        reason = "the portable backend delegates nothing"
    elif reason is None:
        reason = "the partitioner has no rule for this operator"
    return {
        "node": node.name,
        "operator": operator,
        "dtype": str(value.dtype).removeprefix("torch.") if value is not None else None,
        "shape": extents(value) if value is not None else None,
        "file": path,
        "line": line,
        "module": module_path(node),
        "macs": macs(node),
        "reason": reason,
        "hint": HINTS.get(kind),
    }


def summarize(graphs: dict, rejected: dict, backend: str) -> dict:
    """The delegation summary over all methods."""
    partitions = delegated = 0
    macs_delegated = macs_left = 0
    left = []
    operators: OrderedDict[str, list] = OrderedDict()
    for method, graph_module in graphs.items():
        for node in graph_module.graph.nodes:
            if node.op == "get_attr" and hasattr(
                getattr(graph_module, str(node.target), None), "original_module"
            ):
                partitions += 1
                inner = getattr(graph_module, str(node.target)).original_module
                for child in inner.graph.nodes:
                    if is_bookkeeping(child):
                        continue
                    delegated += 1
                    macs_delegated += macs(child) or 0
                    operators.setdefault(operator_name(child.target), [0, 0])[0] += 1
            elif not is_bookkeeping(node):
                macs_left += macs(node) or 0
                operators.setdefault(operator_name(node.target), [0, 0])[1] += 1
                left.append({"method": method, **describe(node, rejected, backend)})
    total = macs_delegated + macs_left
    return {
        "partitions": partitions,
        "nodes_delegated": delegated,
        "nodes_undelegated": len(left),
        "macs": total,
        "macs_delegated": macs_delegated,
        "macs_share": float(f"{macs_delegated / total:.6g}") if total else None,
        "operators": [
            {"operator": name, "delegated": inside, "undelegated": outside}
            for name, (inside, outside) in sorted(operators.items())
        ],
        "undelegated": left,
    }
