# SPDX-License-Identifier: Apache-2.0
# What a comparison with eager PyTorch can tell: whether the model answers the same when it is asked the same again,
# and whether its answers move with its inputs. Where they do not, agreement proves nothing.
from __future__ import annotations

import copy
import math
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.utils import _pytree as pytree

from .delegation import base_name, module_path, operator_name, source_line

REPEATS = 1e-6  # of the largest value: what the order of additions may change
DRAWS = 3
RATES = ("p", "dropout_p", "dropout")  # arguments of operators that draw: nothing is drawn at 0
SWITCHES = ("train", "training")  # the same, when False


@dataclass
class Evidence:
    again: float = 0.0  # largest difference between two runs on the same inputs, of the largest value
    moved: list = field(default_factory=list)  # by output: largest change with other inputs, of the largest value
    keeps_state: bool = False  # a run leaves other values in the module's buffers
    others: list = field(default_factory=list)  # ((args, kwargs), the model's answer) of each of those inputs


@contextmanager
def state_kept(module):
    """A run may write buffers, and the next one must begin where it did."""
    saved = [(buffer, buffer.clone()) for buffer in module.buffers()]
    try:
        yield saved
    finally:
        with torch.no_grad():
            for buffer, value in saved:
                buffer.copy_(value)


def leaves(tree) -> list:
    return [x for x in pytree.tree_flatten(tree)[0] if x is not None]


def change(one, other) -> float:
    """Largest difference of two answers, of the largest value of the first; infinite for other shapes or infinities."""
    if not isinstance(one, torch.Tensor):
        return 0.0 if one == other else math.inf
    if one.shape != other.shape:
        return math.inf
    a, b = one.detach().double().flatten(), other.detach().double().flatten()
    if not torch.equal(torch.isfinite(a), torch.isfinite(b)):
        return math.inf
    kept = torch.isfinite(a)
    a, b = a[kept], b[kept]
    if not a.numel():
        return 0.0
    scale, most = a.abs().max().item(), (a - b).abs().max().item()
    return most / scale if scale else (math.inf if most else 0.0)


def other_inputs(x, generator):
    """Inputs of the same kind and range that are none of the example's; masks stay."""
    if not isinstance(x, torch.Tensor) or x.dtype == torch.bool or x.is_complex() or not x.numel():
        return x
    mixed = x.flatten()[torch.randperm(x.numel(), generator=generator)].reshape(x.shape)
    factor = 0.5 + 0.5 * torch.rand(x.shape, generator=generator)
    if x.is_floating_point():
        return ((mixed if x.any() else torch.ones_like(x)) * factor).to(x.dtype)
    low, high = int(x.min()), int(x.max())
    if low < high:
        return torch.randint(low, high + 1, x.shape, generator=generator).to(x.dtype)
    return (x - 1).clamp(min=0) if low > 0 else x


def of_reference(module, args, kwargs, reference) -> Evidence:
    """Asks the model again what it has answered with REFERENCE, then otherwise."""

    found = Evidence()

    def run(args, kwargs):
        with torch.no_grad(), state_kept(module) as before:
            answer = leaves(module(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
            found.keeps_state |= any(not torch.equal(buffer, value) for buffer, value in before)
            return answer

    first = leaves(reference)
    again = run(args, kwargs)
    found.again = (math.inf if len(again) != len(first) else
                   max((change(a, b) for a, b in zip(first, again)), default=0.0))
    found.moved = [None] * len(first)
    if found.again > REPEATS:
        return found
    generator = torch.Generator().manual_seed(0)
    for _ in range(DRAWS):
        others = pytree.tree_map(lambda x: other_inputs(x, generator), (args, kwargs))
        if all(x is y or (isinstance(x, torch.Tensor) and torch.equal(x, y))
               for x, y in zip(leaves((args, kwargs)), leaves(others))):
            break  # nothing that may be asked otherwise
        try:
            answer = run(*others)
        except Exception:  # the model takes other values than these; it was not asked then
            continue
        if len(answer) == len(first):
            found.moved = [max(m or 0.0, change(a, b)) for m, a, b in zip(found.moved, first, answer)]
            found.others.append((others, answer))
    return found


def response(ours: list, model: list) -> float:
    """How one output's answers to several inputs move with the inputs, held against the model's: their correlation
    after the mean over the inputs is taken away. 0 where only the model's move, NaN where the model's do not."""
    a, b = (torch.stack([t.detach().double().flatten() for t in answers]) for answers in (ours, model))
    a, b = a - a.mean(0), b - b.mean(0)
    norms = a.norm().item() * b.norm().item()
    if norms:
        return (a * b).sum().item() / norms
    return 0.0 if b.any() else math.nan


def why_random(method) -> str:
    text = f"eager PyTorch answers by {method.evidence.again:.2g} of the largest value otherwise when it is asked twice"
    if method.drawing:
        return text + f": {'; '.join(method.drawing[:3])} draws random numbers"
    return text + ", and no operator of the graph draws random numbers: the module keeps a state or draws outside of it"


def empty_answers(got: list, eager: list, want: list, evidence: Evidence) -> dict[int, str]:
    """Outputs whose agreement proves nothing: number -> why. WANT is the fp32 model's answer, EAGER the one in the
    program's precision. The answer to other inputs must be further away than the program's is."""
    found = {}
    for i, (value, moved) in enumerate(zip(want, evidence.moved)):
        if not isinstance(value, torch.Tensor) or not value.numel():
            continue
        if not torch.isfinite(value).any():
            found[i] = f"output {i} has no finite value"
        elif not value.any():
            found[i] = f"output {i} is 0 in all of its {value.numel()} elements"
        elif moved is not None:
            off = max(change(eager[i], got[i]), REPEATS) if i < len(got) else math.inf
            if moved <= off:
                found[i] = (f"output {i} changes by {moved:.2g} of its largest value with other inputs, no more than "
                            f"the program is off ({off:.2g})")
    return found


def draws(node) -> bool:
    """Whether a call of an exported graph draws random numbers."""
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded not in tags:
        return False
    schema = node.target._schema.arguments
    given = {a.name: node.args[i] for i, a in enumerate(schema) if i < len(node.args)} | dict(node.kwargs)
    for argument in schema:
        value = given.get(argument.name, argument.default_value)
        if (argument.name in RATES and value in (0, 0.0)) or (argument.name in SWITCHES and value is False):
            return False
    return True


def where(node) -> str:
    """FILE:LINE and module of a call, as far as the trace knows them."""
    path, line = source_line(node)
    parts = [f"{path}:{line}"] if path else []
    if module_path(node):
        parts.append(f"module {module_path(node)}")
    return ", ".join(parts)


def drawing(program) -> list[str]:
    """The operators of an exported program that draw random numbers, with their places."""
    found = []
    for node in program.graph.nodes:
        if node.op == "call_function" and draws(node):
            place = where(node)
            found.append(operator_name(node.target) + (f" ({place})" if place else ""))
    return list(dict.fromkeys(found))


EXACT = {  # operators that move values or choose among them: they round nothing
    "view", "reshape", "_unsafe_view", "permute", "transpose", "t", "squeeze", "unsqueeze", "expand", "expand_as",
    "slice", "select", "cat", "stack", "split", "split_with_sizes", "chunk", "unbind", "flatten", "unflatten",
    "contiguous", "clone", "alias", "detach", "relu", "relu_", "hardtanh", "hardtanh_", "clamp", "max_pool2d",
    "dropout", "roll", "pad", "constant_pad_nd", "embedding", "index", "index_select", "gather", "where",
    "masked_fill", "movedim", "narrow", "repeat", "flip", "neg", "abs", "maximum", "minimum", "amax", "amin",
    "getitem", "to", "_to_copy", "pixel_shuffle", "zeros_like", "ones_like", "full_like", "lift_fresh_copy",
    "channel_shuffle",
}


def depth(program) -> int:
    """How many operators that round lie on the longest path through an exported program."""
    steps: dict = {}
    for node in program.graph.nodes:
        below = max((steps[n] for n in node.all_input_nodes), default=0)
        value = node.meta.get("val")
        rounds = (node.op == "call_function" and isinstance(value, torch.Tensor) and value.is_floating_point()
                  and base_name(operator_name(node.target)) not in EXACT)
        steps[node] = below + rounds
    return max(steps.values(), default=0)
