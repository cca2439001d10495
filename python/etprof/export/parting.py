# SPDX-License-Identifier: Apache-2.0
# Where a program that does not agree begins to differ: the first operator whose answer parts from the other's while
# those before it agree. Asked only of programs that failed their check, since it takes another lowering or two.
from __future__ import annotations

import math

import torch
from torch.utils import _pytree as pytree

from .delegation import base_name, operator_name
from .evidence import EXACT, change, where

AT_ONCE = 40  # operators whose answers one program gives, where the delegate takes that many outputs
LIMIT = 0.15  # of the largest value, where the check itself has none
ROUNDS = 16  # lowerings: of 40 or one at a time, 2¹⁵ operators at most
# What the delegate makes one operator of together with the one before it; the answer in between is not asked for.
FOLLOWERS = {"relu", "relu_", "hardtanh", "hardtanh_", "clamp", "batch_norm", "_native_batch_norm_legit_no_training",
             "quantize_per_tensor", "dequantize_per_tensor"}


class Values(torch.fx.Interpreter):
    """Runs a graph and keeps the answers of its calls, by their names."""

    def __init__(self, graph_module, names=None):
        super().__init__(graph_module)
        self.names, self.found = names, {}

    def run_node(self, node):
        value = super().run_node(node)
        wanted = not self.names or node.name in self.names
        if wanted and isinstance(value, torch.Tensor) and value.is_floating_point():
            self.found[node.name] = value.detach().clone()
        return value


def answers(graph_module, args, kwargs, names=None) -> dict:
    flat = graph_module.graph._codegen.process_inputs(*args, **kwargs)
    values = Values(graph_module, names)
    with torch.no_grad():
        values.run(*flat, enable_io_processing=False)
    return values.found


def kind(node) -> str:
    return base_name(operator_name(node.target))


def end_of(node):
    """The last of the operators that the delegate makes one of with NODE."""
    while len(node.users) == 1 and kind(next(iter(node.users))) in FOLLOWERS:
        node = next(iter(node.users))
    if kind(node) == "quantize_per_tensor" and node.users:  # each of its readers has a step back to floats
        node = next(iter(node.users))
    return node


def computing(graph) -> list:
    """Calls that round what the inputs say, in their order, each with the call whose answer stands for it."""
    found, follows = [], set()  # weights, and what is made of them alone, are constants of the program
    for node in graph.nodes:
        if node.op != "placeholder" and not follows.intersection(node.all_input_nodes):
            continue
        follows.add(node)
        value = node.meta.get("val")
        if node.op == "call_function" and isinstance(value, torch.Tensor) and value.is_floating_point() \
                and kind(node) not in EXACT | FOLLOWERS:
            found.append((node, end_of(node)))
    return found


def described(node, max_rel, before) -> dict:
    """MAX_REL and BEFORE are None where infinities or NaN are there that the other has not."""
    far, near = (float(f"{x:.3g}") if math.isfinite(x) else None for x in (max_rel, before))
    return {"operator": operator_name(node.target), "where": where(node), "max_rel": far, "before": near,
            "first": True}


def of_precision(fp32, graph_module, args, kwargs, fp32_args, fp32_kwargs, limit):
    """Where eager PyTorch in the program's precision parts from the fp32 model: both graphs have the same calls under
    the same names, but for batch norms that went into the convolution before them."""
    reference = fp32.module()
    merged = {n.name for n in reference.graph.nodes if any("batch_norm" in kind(u) for u in n.users)}
    ours, theirs = answers(graph_module, args, kwargs), answers(reference, fp32_args, fp32_kwargs)
    far = {name: change(value, ours[name]) for name, value in theirs.items() if name in ours and name not in merged}
    for node in graph_module.graph.nodes:
        if far.get(node.name, 0.0) > limit and kind(node) not in EXACT:
            return described(node, far[node.name], max((far[n] for n in known_before(node, far)), default=0.0))
    return None


def known_before(node, far) -> set:
    """The nearest operators before NODE whose difference is known: steps to int8 and back have no twin in fp32."""
    found, seen, left = set(), set(), list(node.all_input_nodes)
    while left:
        before = left.pop()
        if before.name in far:
            found.add(before.name)
        elif before not in seen:
            seen.add(before)
            left += before.all_input_nodes
    return found


def spread(indices: list, most: int) -> list:
    """At most that many of them, evenly, the last one too; one alone: that in the middle."""
    if len(indices) <= most:
        return indices
    if most == 1:
        return [indices[(len(indices) - 1) // 2]]
    return sorted({indices[(len(indices) - 1) * i // (most - 1)] for i in range(most)})


def of_program(method, settings, limit):
    """Where the program parts from eager PyTorch in its own precision by more than LIMIT; where it does nowhere, the
    operator at which the difference is largest."""
    from executorch.runtime import Runtime

    from . import lower
    from .verify import native_messages

    def differences(indices) -> list:
        graph_module = method.program.module()
        calls = computing(graph_module.graph)
        ends = [calls[i][1] for i in indices]
        output = next(n for n in graph_module.graph.nodes if n.op == "output")
        output.args = (tuple(ends),)
        graph_module.graph._codegen.pytree_info = graph_module.graph._codegen.pytree_info._replace(out_spec=None)
        graph_module.graph.eliminate_dead_code()
        graph_module.recompile()
        names = {n.name for n in ends}
        want = answers(graph_module, method.args, method.kwargs, names)
        traced = torch.export.export(graph_module, method.args, method.kwargs)
        edge = lower.to_edge({"forward": traced}, settings)
        program = Runtime.get().load_program(edge.to_executorch().buffer)
        got = program.load_method("forward").execute(pytree.tree_leaves((method.args, method.kwargs)))
        return [change(want[n.name], g) for n, g in zip(ends, got)]

    calls = computing(method.program.module().graph)
    left, known, at_once = list(range(len(calls))), {}, AT_ONCE
    with native_messages():
        for _ in range(ROUNDS):
            asked = spread(left, at_once)
            try:
                known.update(zip(asked, differences(asked)))
            except RuntimeError:  # XNNPACK does not take every graph with so many outputs
                if at_once == 1:
                    raise
                at_once = 1
                continue
            bad = next((i for i in asked if known[i] > limit), None)
            if bad is None and asked[-1] == left[-1]:  # many operators, each a little
                worst = max(known, key=known.get)
                return {**described(calls[worst][0], known[worst], known.get(worst - 1, 0.0)), "first": False}
            good = max((i for i in known if known[i] <= limit and (bad is None or i < bad)), default=-1)
            left = [i for i in left if good < i and (bad is None or i <= bad)]
            if left == [bad]:
                return described(calls[bad][0], known[bad], known.get(good, 0.0))
    return None


def first(check: dict, method, settings):
    """The first operator whose numbers part, by whichever comparison failed; None where it is not found."""
    same, fp32 = check["against_same_precision"], check["against_fp32"]
    try:
        if not same["ok"]:
            # Over the operators after it a difference may shrink: half of what came out is looked for.
            half = (same["max_rel"] or 1.0) / 2
            return of_program(method, settings, min(same["tolerance"]["max_rel"] or LIMIT, half))
        if not fp32["ok"]:
            module, args, kwargs = method.fp32
            reference = torch.export.export(module, args, kwargs)
            graph = method.module if isinstance(method.module, torch.fx.GraphModule) else method.program.module()
            return of_precision(reference, graph, method.args, method.kwargs, args, kwargs,
                                fp32["tolerance"]["max_rel"] or LIMIT)
    except Exception:  # an answer to "where" is no reason to lose the answer to "whether"
        return None
    return None
