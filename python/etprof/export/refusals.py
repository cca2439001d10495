# SPDX-License-Identifier: Apache-2.0
# What PyTorch and ExecuTorch refuse, and what to do about it: one table. Whatever fails between the model and the
# file is an answer to the user (what was being done, the error, its place, the next step), never a traceback.
from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.utils import _pytree as pytree

from ..errors import BadInput, EnvironmentProblem, EtprofError
from .delegation import operator_name, source_line
from .evidence import drawing
from .source import first_line, user_frame

EXPORT, QUANTISE, LOWER, WRITE, CHECK = "export", "quantise", "lower", "write", "check"
CONTROL = ("cond", "while_loop", "map_impl", "scan", "associative_scan")
GUIDE = "docs/export.md"


@dataclass
class Facts:
    """What is known where something was refused."""

    stage: str
    error: BaseException
    dtype: str = "fp32"
    backend: str = "xnnpack"
    calls: dict = field(default_factory=dict)  # operators of the exported graph -> their first place in the model
    drawing: list = field(default_factory=list)  # those that draw random numbers
    halves: bool = False  # inputs in float16
    complex: bool = False  # complex tensors in the graph

    @property
    def kinds(self) -> set:
        """Names of the error's classes, those of its causes too."""
        found, error = set(), self.error
        while error is not None:
            found |= {c.__name__ for c in type(error).__mro__}
            error = error.__cause__
        return found

    def says(self, pattern: str) -> bool:
        """For what torch tells by its words alone."""
        return re.search(pattern, str(self.error), re.I) is not None

    def control(self) -> str | None:
        return next((f"torch.{name.removesuffix('_impl')}" + (f" ({self.calls[name]})" if self.calls[name] else "")
                     for name in CONTROL if name in self.calls), None)


@dataclass(frozen=True)
class Refusal:
    stages: tuple
    holds: object  # of Facts
    cause: object  # a text, or of Facts
    step: str
    kind: type = BadInput


MIXED = r"dtype|scalar type|same type|\bHalf\b|float16|float32"
DATA_DEPENDENT = {"GuardOnDataDependentSymNode", "PendingUnbackedSymbolNotFound"}

REFUSALS = (
    Refusal((EXPORT, QUANTISE, LOWER, WRITE), lambda f: "MemoryError" in f.kinds or f.says("not enough memory"),
            "this machine has too little memory for it", "export on one with more, or a smaller model",
            EnvironmentProblem),
    Refusal((EXPORT, QUANTISE, LOWER, WRITE), lambda f: "RecursionError" in f.kinds,
            "the graph is nested deeper than Python recurses", "export parts of the model with --method"),
    Refusal((QUANTISE, LOWER, WRITE), lambda f: "while_loop" in f.calls,
            "the graph repeats with torch.while_loop, for which ExecuTorch has no instruction",
            "repeat a fixed number of times in Python, or export the body as a method (--method) and loop around it"),
    Refusal((QUANTISE, LOWER, WRITE), lambda f: f.control() is not None,
            lambda f: f"the graph branches with {f.control()}",
            "compute both sides and choose with torch.where, or export each side as a method (--method); "
            "--backend portable runs a branch without the delegate"),
    Refusal((EXPORT,), lambda f: f.kinds & DATA_DEPENDENT or f.says("data-dependent|control flow"),
            "a branch or a shape depends on values",
            "use torch.where or masks of a fixed size, or torch.cond with --backend portable "
            f"({GUIDE}, on control flow and on shapes)"),
    Refusal((EXPORT,), lambda f: f.halves and f.says(MIXED),
            "the model makes float32 tensors of its own",
            f"cast them to the type of its inputs or weights, or export fp32 ({GUIDE}, on half precision)"),
    Refusal((EXPORT,), lambda f: f.says("constraints violated|dynamic.shape|specialized|Dim[ .(]"),
            "an axis cannot vary as it was declared",
            "export with --static, or declare the range that the message names: --dynamic-shape INPUT:AXIS=MIN..MAX"),
    Refusal((EXPORT,), lambda f: f.says("unsupported input type|unsupported output|register_pytree|pytree"),
            "an input or an output is not a tensor, number, tuple or dict of those",
            f"wrap the model so that tensors go in and come out ({GUIDE}, on wrappers)"),
    Refusal((EXPORT,), lambda f: "Unsupported" in f.kinds or "TorchDynamoException" in f.kinds,
            "the tracer cannot follow this Python code",
            f"keep forward() to tensors and plain Python, or wrap the model around that part ({GUIDE}, on wrappers)"),
    Refusal((QUANTISE, LOWER, WRITE), lambda f: f.complex,
            "the graph has complex numbers, which ExecuTorch does not",
            "write real and imaginary parts as two real tensors"),
    Refusal((LOWER, WRITE), lambda f: f.says("out.?vari?ant"),
            "ExecuTorch has no kernel of that signature for an operator of the graph",
            f"write that operator with others ({GUIDE}, on replacing operators)"),
    Refusal((LOWER, WRITE), lambda f: f.drawing,
            lambda f: f"{f.drawing[0]} draws random numbers, for which ExecuTorch has no operator",
            "give the random numbers as an input of the model"),
    Refusal((LOWER,), lambda f: "SpecViolationError" in f.kinds or f.says("not (in )?core.?aten"),
            "an operator is not of the core set that ExecuTorch lowers",
            f"write that operator with others ({GUIDE}, on replacing operators)"),
    Refusal((WRITE,), lambda f: f.kinds & {"OverflowError", "BuilderSizeError"} or f.says("2 ?g(b|igabyte)"),
            "the program is larger than its format holds", "put the weights beside it with --external-weights"),
)
GENERAL = {
    EXPORT: f"make forward() simpler at that place ({GUIDE}), or replace that part of the model; --verbose shows the "
            "whole traceback",
    QUANTISE: "export with --dtype fp16, or with --dtype int8-dynamic, which takes linear layers alone; "
              "--verbose shows the whole traceback",
    LOWER: "try --backend portable, which has no delegate, or --no-transforms; --verbose shows the whole traceback",
    WRITE: "try --backend portable, which has no delegate; --verbose shows the whole traceback",
    CHECK: "there is nothing to compare the program with: export in another precision; --verbose shows the whole "
           "traceback",
}
WITHOUT_DELEGATE = {  # where there is none already
    LOWER: f"replace the operator that the error names ({GUIDE}); --verbose shows the whole traceback",
    WRITE: f"replace the operator that the error names ({GUIDE}); --verbose shows the whole traceback",
}


def next_step(facts: Facts) -> tuple[str, type]:
    """What the message ends with (CAUSE: STEP of the row that fits, else the stage's own step), and its class."""
    for row in REFUSALS:
        if facts.stage in row.stages and row.holds(facts):
            cause = row.cause(facts) if callable(row.cause) else row.cause
            return f"{cause}: {row.step}", row.kind
    if facts.backend == "portable" and facts.stage in WITHOUT_DELEGATE:
        return WITHOUT_DELEGATE[facts.stage], BadInput
    return GENERAL[facts.stage], BadInput


def look_at(facts: Facts, programs, inputs) -> Facts:
    """Adds what graphs and inputs tell."""
    facts.halves = any(getattr(x, "dtype", None) == torch.float16 for x in pytree.tree_leaves(inputs))
    for program in programs:
        facts.drawing += drawing(program)
        graphs = (m.graph for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule))
        for node in (node for graph in graphs for node in graph.nodes):
            value = node.meta.get("val")
            facts.complex |= isinstance(value, torch.Tensor) and value.is_complex()
            if node.op != "call_function":
                continue
            path, line = source_line(node)
            facts.calls.setdefault(operator_name(node.target), f"{path}:{line}" if path else "")
    return facts


def place_of_named(facts: Facts, text: str) -> str:
    """Where the model calls the operator that an error's text names."""
    return next((place for name, place in facts.calls.items() if "." in name and name in text and place), "")


def frame_in_text(text: str) -> str:
    """torch.export quotes the user's frame inside its message, not in the traceback."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', text)
    mine = [f"{f}:{n}" for f, n in frames if "site-packages" not in f and not f.startswith("<")]
    return mine[-1] if mine else ""


def root(error: BaseException) -> BaseException:
    """Passes of ExecuTorch wrap what one of them raised."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


@contextmanager
def refused(what: str, stage: str, programs=(), inputs=(), **known):
    """Turns whatever is raised inside into one line: WHAT failed, the error, its place, the next step."""
    try:
        yield
    except (EtprofError, OSError):
        raise
    except Exception as error:
        facts = look_at(Facts(stage, error, **known), programs, inputs)
        cause = error if stage == EXPORT else root(error)
        where = place_of_named(facts, str(cause)) or user_frame(error) or frame_in_text(str(error))
        step, kind = next_step(facts)
        raise kind(f"{what}: {type(cause).__name__}: {first_line(cause)[:300]}" + (f" ({where})" if where else "")
                   + f"; {step}") from error
