# SPDX-License-Identifier: Apache-2.0
# Reloads the written program, runs it in the ExecuTorch runtime and compares with eager PyTorch.
from __future__ import annotations

import math
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch.utils import _pytree as pytree

from . import evidence
from .refusals import CHECK, refused

# Against eager in the same precision the program must agree closely; against the fp32 model it may
# lose what the precision loses. (relative to the largest reference value, cosine)
SAME = {
    "fp32": (1e-3, 0.99999), "fp16": (3e-2, 0.999),
    "int8": (0.15, 0.99), "int8-dynamic": (0.1, 0.995), "int4": (0.1, 0.99),
    "8da4w": (0.1, 0.99), "8da8w": (0.1, 0.995),
}
FP32 = {
    "fp32": (1e-3, 0.99999), "fp16": (5e-2, 0.999),
    "int8": (None, 0.95), "int8-dynamic": (None, 0.97), "int4": (None, 0.85),
    "8da4w": (None, 0.85), "8da8w": (None, 0.97),
}
# How the answers to several inputs must move with the inputs, held against the fp32 model's (evidence.response).
RESPONSE = {"fp32": 0.99, "fp16": 0.99, "int8": 0.85, "int8-dynamic": 0.85, "int4": 0.8, "8da4w": 0.8,
            "8da8w": 0.85}
HALF_STEP = 2.0**-11  # what rounding to float16 costs a value at most, relative to it
AGREES, DIFFERS, NOT_RUN, UNPROVEN, RANDOM = "agrees", "differs", "not_run", "unproven", "not_deterministic"


def limits(dtype: str, depth: int, tolerance_cosine: float | None):
    """(against eager in the same precision, against the fp32 model).

    In float16 every operator rounds, and what one rounds off goes through all that follow: over DEPTH operators on
    a path that is DEPTH steps, of which each side has its own."""
    if tolerance_cosine is not None:
        return (None, tolerance_cosine), (None, tolerance_cosine)
    same, fp32 = SAME[dtype], FP32[dtype]
    if dtype == "fp16":
        most = float(f"{HALF_STEP * depth:.3g}")
        same, fp32 = (max(same[0], most), same[1]), (max(fp32[0], most), fp32[1])
    return same, fp32


NOT_FINITE = "infinities or NaN"


@dataclass
class Figures:
    max_abs: float
    max_rel: float
    cosine: float
    ok: bool
    why: str = ""

    def as_json(self, tolerance):
        relative, cosine = tolerance
        return {
            "ok": self.ok,
            "max_abs": number(self.max_abs),
            "max_rel": number(self.max_rel),
            "cosine": number(self.cosine),
            "tolerance": {"max_rel": relative, "cosine": cosine},
        }


def number(x):
    return float(f"{x:.6g}") if math.isfinite(x) else None


def flatten_inputs(program, args, kwargs):
    """Inputs in the order in which the program takes them."""
    from torch.export._tree_utils import reorder_kwargs

    in_spec = program.call_spec.in_spec
    flat, _ = pytree.tree_flatten((args, reorder_kwargs(kwargs, in_spec)))
    return flat


def compare_tensor(got, want, tolerance) -> Figures:
    relative, cosine_min = tolerance
    if tuple(got.shape) != tuple(want.shape):
        return Figures(math.inf, math.inf, 0.0, False,
                       f"shape {list(got.shape)}, expected {list(want.shape)}")
    if got.numel() == 0:
        return Figures(0.0, 0.0, 1.0, True)
    if not want.is_floating_point():
        same = (got == want).double().mean().item()
        different = (got.double() - want.double()).abs().max().item()
        ok = same >= cosine_min
        return Figures(different, 1.0 - same, same, ok,
                       "" if ok else f"{1 - same:.1%} of the integers differ")
    got, want = got.double().flatten(), want.double().flatten()
    if not torch.equal(torch.isfinite(got), torch.isfinite(want)):
        return Figures(math.inf, math.inf, 0.0, False, NOT_FINITE + " where eager has none")
    finite = torch.isfinite(want)
    got, want = got[finite], want[finite]
    if want.numel() == 0:
        return Figures(0.0, 0.0, 1.0, True)
    max_abs = (got - want).abs().max().item()
    scale = want.abs().max().item()
    max_rel = max_abs / scale if scale else (0.0 if max_abs == 0 else math.inf)
    norms = got.norm().item() * want.norm().item()
    cosine = (got @ want).item() / norms if norms else float(max_abs == 0)
    reasons = []
    if relative is not None and max_rel > relative:
        reasons.append(f"largest difference is {max_rel:.3g} of the largest value, allowed {relative:g}")
    if cosine < cosine_min:
        reasons.append(f"cosine {cosine:.6f}, expected at least {cosine_min:g}")
    return Figures(max_abs, max_rel, cosine, not reasons, "; ".join(reasons))


def compare(got: list, want: list, tolerance) -> Figures:
    """Worst figures over all outputs."""
    if len(got) != len(want):
        return Figures(math.inf, math.inf, 0.0, False, f"{len(got)} outputs, expected {len(want)}")
    worst = Figures(0.0, 0.0, 1.0, True)
    for i, (g, w) in enumerate(zip(got, want)):
        if isinstance(w, torch.Tensor):
            one = compare_tensor(g, w, tolerance)
        else:
            one = Figures(0.0, 0.0, 1.0, g == w, "" if g == w else f"value {g!r}, expected {w!r}")
        worst = Figures(
            max(worst.max_abs, one.max_abs), max(worst.max_rel, one.max_rel),
            min(worst.cosine, one.cosine), worst.ok and one.ok,
            worst.why or (f"output {i}: {one.why}" if one.why else ""),
        )
    return worst


def as_near(got: list, eager: list, fp32: list) -> bool:
    """Whether the program is as near to the fp32 model as quantised eager is, output by output.

    Kernels round otherwise than eager does. Over a deep network that takes both as far from each
    other as from fp32; a program that computes something else is further from fp32."""
    if not len(got) == len(eager) == len(fp32):
        return False
    for g, e, f in zip(got, eager, fp32):
        ours, theirs = compare([g], [f], (None, -1.0)), compare([e], [f], (None, -1.0))
        if not (ours.ok and 1 - ours.cosine <= 1.1 * (1 - theirs.cosine) + 1e-6
                and ours.max_rel <= 1.5 * theirs.max_rel + 1e-6):
            return False
    return True


def outputs_of(tree) -> list:
    return [x for x in pytree.tree_flatten(tree)[0] if x is not None]


def other_sizes(method):
    """The example inputs stretched to the bounds of their dynamic axes, where there are any."""
    if not method.dynamic_shapes:
        return []
    ranges = {}
    symbols = method.program.range_constraints
    for node in method.program.graph.nodes:
        if node.op != "placeholder" or not isinstance(node.meta.get("val"), torch.Tensor):
            continue
        for axis, extent in enumerate(node.meta["val"].shape):
            expression = getattr(getattr(extent, "node", None), "expr", None)
            if expression in symbols:
                ranges.setdefault(node.name, {})[axis] = symbols[expression]
    names = list(method.program.graph_signature.user_inputs)
    flat, spec = pytree.tree_flatten((method.args, method.kwargs))
    sets = []
    for pick in ("lower", "upper"):
        changed = []
        for name, x in zip(names, flat):
            for axis, bound in ranges.get(name, {}).items():
                extent = int(getattr(bound, pick)) if getattr(bound, pick).is_finite else None
                if extent is None or extent > 4096:
                    extent = x.shape[axis] + 1
                index = torch.arange(extent) % x.shape[axis]
                x = x.index_select(axis, index)
            changed.append(x)
        args, kwargs = pytree.tree_unflatten(changed, spec)
        sets.append((args, kwargs))
    return sets


class NotRun(Exception):
    """The runtime did not take a program, or not these inputs."""


def executed(loaded, method, args, kwargs) -> list:
    try:
        return loaded.execute(flatten_inputs(method.program, args, kwargs))
    except Exception as error:
        raise NotRun(f"the runtime cannot run the method: {error}") from error


def asked_eager(method, args, kwargs) -> list:
    with torch.no_grad(), refused(f"eager PyTorch cannot run method {method.name} in the program's precision", CHECK,
                                  inputs=(args, kwargs)):
        return outputs_of(method.module(*args, **kwargs))


def check_steps(loaded, method, steps, same) -> list:
    """Calls that follow each other on one state, ours and eager's, the last ones compared too."""
    checks = []
    for i, args in enumerate(steps):
        want = asked_eager(method, args, {})
        figures = compare(executed(loaded, method, args, {}), want, same)
        why = f"step {i + 1} of {len(steps)}: {figures.why}" if figures.why else None
        checks.append({**figures.as_json(same), "why": why})
    return checks


def check_shapes(loaded, method, same) -> list:
    """The same at the other ends of the axes that vary."""
    checks = []
    for args, kwargs in other_sizes(method):
        figures = compare(executed(loaded, method, args, kwargs), asked_eager(method, args, kwargs), same)
        inputs = [list(x.shape) for x in pytree.tree_flatten((args, kwargs))[0]]
        checks.append({"inputs": inputs, **figures.as_json(same), "why": figures.why or None})
    return checks


def responses(loaded, method, reference) -> dict[int, tuple[float, float]]:
    """Of each output that is a tensor of real numbers how the program's and eager's answers move with the inputs.

    A model whose answers hardly depend on what it is asked (random weights) agrees with anything that answers its
    mean. The example inputs are left out: the others are smaller, and a step in size is followed by any program. A
    method that keeps a state is not asked: the order of calls would be part of the answer."""
    if method.evidence.keeps_state or len(method.evidence.others) < 2:
        return {}
    asked = [(executed(loaded, method, args, kwargs), asked_eager(method, args, kwargs), answer)
             for (args, kwargs), answer in method.evidence.others]
    found = {}
    for i, want in enumerate(reference):
        if isinstance(want, torch.Tensor) and want.is_floating_point() and want.numel():
            ours, theirs, model = ([answers[side][i] for answers in asked] for side in range(3))
            if all(t.shape == want.shape for t in [*ours, *theirs, *model]):
                found[i] = evidence.response(ours, model), evidence.response(theirs, model)
    return found


def moving_text(output, dtype, ours, theirs) -> str:
    return (f"output {output}, asked with other inputs, moves as the fp32 model's with a correlation of {ours:.2f} "
            f"(eager PyTorch in {dtype}: {theirs:.2f})")


def check_method(loaded, method, dtype, tolerance_cosine, steps=()) -> dict:
    """Figures of one method; `state` is what they say, `ok` whether they agree."""
    same, fp32 = limits(dtype, method.depth, tolerance_cosine)
    least = RESPONSE[dtype] if tolerance_cosine is None else min(RESPONSE[dtype], tolerance_cosine)
    got = executed(loaded, method, method.args, method.kwargs)
    eager = asked_eager(method, method.args, method.kwargs)
    against_same = compare(got, eager, same)
    reference = outputs_of(method.reference)
    against_fp32 = compare(got, reference, fp32)
    # Asked only where it decides.
    rounded = (dtype not in ("fp32",) and tolerance_cosine is None and not against_same.ok
               and as_near(got, eager, reference))
    if rounded:
        against_same = replace(against_same, ok=True, why="")
    empty = evidence.empty_answers(got, eager, reference, method.evidence)
    moves = responses(loaded, method, reference)
    deaf = [i for i, (ours, theirs) in moves.items() if ours < least and 1 - ours > 2 * (1 - theirs)]
    empty |= {i: moving_text(i, dtype, *pair) for i, pair in moves.items() if pair[0] < least and i not in deaf}
    shapes = check_shapes(loaded, method, same)
    stepped = check_steps(loaded, method, steps, same)
    checks = [against_same, against_fp32]
    agree = all(c.ok for c in checks) and all(s["ok"] for s in [*shapes, *stepped]) and not deaf
    why = next((c.why for c in checks if not c.ok), None) or next(
        (s["why"] for s in [*shapes, *stepped] if not s["ok"]), None
    ) or (moving_text(deaf[0], dtype, *moves[deaf[0]]) if deaf else None)
    state = AGREES if agree else DIFFERS
    if against_same.ok and not against_fp32.ok:
        why += f"; eager PyTorch in {dtype} is as far from fp32: " + (
            "values leave the range of float16 (65504), export fp32"
            if dtype == "fp16" and NOT_FINITE in why else "the precision costs it, not the export")
    if method.evidence.again > evidence.REPEATS:
        state, why = RANDOM, evidence.why_random(method)
    elif agree and empty and len(empty) == len(reference):
        state, why = UNPROVEN, "; ".join(empty.values())
    return {
        "method": method.name,
        "ok": state == AGREES,
        "state": state,
        "why": why,
        "against_same_precision": against_same.as_json(same),
        "against_fp32": against_fp32.as_json(fp32),
        "as_near_as_eager": rounded,
        "depth": method.depth,
        "unproven": [{"output": i, "why": text} for i, text in sorted(empty.items())],
        "responses": [{"output": i, "program": number(ours), "eager": number(theirs)}
                      for i, (ours, theirs) in moves.items()],
        "other_shapes": shapes,
        "steps": stepped,
    }


@contextmanager
def native_messages():
    """Collects what the runtime writes to descriptor 2 behind Python's back."""
    saved = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        lines: list[str] = []
        try:
            yield lines
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()


def check_program(pte, data, methods, dtype, tolerance_cosine, steps=()) -> list:
    """Loads the file as a user would and checks every method; failures to run count as failed."""
    from executorch.runtime import Runtime

    results = []
    with native_messages() as lines:
        try:
            more = {"data_path": data} if data else {}  # releases before 1.1 do not know the word
            program = Runtime.get().load_program(str(pte), **more)
        except Exception as error:
            return [not_run(m.name, f"the runtime cannot load the program: {error}") for m in methods]
        for method in methods:
            try:
                loaded = program.load_method(method.name)
            except Exception as error:
                results.append(not_run(method.name, f"the runtime cannot load the method: {error}"))
                continue
            try:
                results.append(check_method(loaded, method, dtype, tolerance_cosine, steps))
            except NotRun as error:
                results.append(not_run(method.name, str(error)))
    for result in results:
        if not result["ok"]:
            result["runtime_messages"] = lines[-5:]
        if result["state"] == NOT_RUN:
            result["why"] += first_message(lines)
    return results


def first_message(lines) -> str:
    """What the runtime said first; the lines after it, and Python's error, only pass it on."""
    said = [line for line in lines if line.startswith("[") and "cpuinfo" not in line]
    return f" (the runtime says: {said[0]})" if said else ""


def not_run(name, why):
    return {
        "method": name, "ok": False, "state": NOT_RUN, "why": why.strip().splitlines()[0],
        "against_same_precision": None, "against_fp32": None, "unproven": [], "responses": [], "other_shapes": [],
        "steps": [],
    }


def absent_kernels(program) -> list[str]:
    """Operators of a written program (ExecutorchProgramManager) that the runtime here has no kernel of."""
    from executorch.runtime import Runtime

    known = Runtime.get().operator_registry.operator_names
    named = {f"{o.name}.{o.overload}" if o.overload else o.name
             for plan in program.executorch_program.execution_plan for o in plan.operators}
    return sorted(named - set(known))


STATES = ((DIFFERS, "failed"), (NOT_RUN, "failed"), (RANDOM, "unproven"), (UNPROVEN, "unproven"))


def state_of(checks: list) -> str:
    """Of the whole program: the worst of its methods'."""
    found = {c["state"] for c in checks}
    return next((word for state, word in STATES if state in found), "ok")
