# SPDX-License-Identifier: Apache-2.0
"""Which tools are there? Each is a verb of this program: what it takes, and the documents that it answers with."""
from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from etprof import bootstrap
from etprof.mcp import operands as o
from etprof.mcp.operands import Operand
from etprof.validate.documents import SCHEMAS

MINUTE_S, HOUR_S = 60.0, 3600.0
# Parameters that mean the same have the same words in every tool: a model learns them once.
_RUN = "run folder (out_MODEL/runs/PLATFORM), or a recording (.etdump)"
_ARM = f"{_RUN}; RUN:ARM for one arm of a run that has several"
RUN = Operand("run", o.RUN, None, _RUN, required=True)
BASELINE = Operand("baseline", o.ARM, "--baseline", "arm or level that the others are compared with")
PHASE_OF = Operand("phase", o.PHASE, "--phase", "of a session of several phases: 'decode@256'; default: the first")
RULES = ("'speedup >= 1.3', 'latency ARM <= 5 ms', 'op35.ns ARM <= 0.2 ms', "
         "'category(\"Data movement\").share <= 30 %', 'category(\"GEMM\").speedup >= 1.5', "
         "'peak_memory <= 60 MB', 'cold_load <= 50 ms', 'noise <= 1 %'")
# For the server, not for the verb.
PARTS = Operand("parts", o.PART, None, "only these members of the document, such as findings, or operators[20:40] of a "
                "list; more of each fits then", many=True)


def _cannot_export() -> str | None:
    if bootstrap.present_python():
        return None
    return f"{bootstrap.not_installed()}. Ask the user first."


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    verb: tuple[str, ...]
    help: str
    documents: tuple[str, ...]  # names in schemas/
    operands: tuple[Operand, ...]
    changes: bool = False  # writes files or takes a device
    limit_s: float = 10 * MINUTE_S
    hindrance: Callable[[], str | None] | None = None  # why it cannot be called here

    @property
    def takes(self) -> tuple[Operand, ...]:
        return self.operands if self.changes else (*self.operands, PARTS)

    def output_schema(self) -> dict[str, Any]:
        answers = [_outline(name) for name in self.documents]
        return {
            "type": "object",
            "properties": {
                "exit_code": {"type": "integer", "description": "of the verb: 0 complete or yes, 1 no, 3 unknown"},
                "answer": answers[0] if len(answers) == 1 else {"anyOf": answers},
                "left_out": {"type": "object", "additionalProperties": {"type": "integer"}, "description":
                             "how many items of which lists, or members, did not fit; ask for them with parts"},
                "notes": {"type": "string", "description": "what the verb said beside its answer"},
            },
            "required": ["exit_code", "answer", "left_out"],
            "additionalProperties": False,
        }


@cache
def _outline(document: str) -> dict[str, Any]:
    """The members of a document, without theirs: a model's context is small, and the whole is in docs/documents.md."""
    outline: dict[str, Any] = {"type": "object", "properties": {"schema": {"const": f"etprof.{document}/1"}},
                               "required": ["schema"]}
    members = json.loads((SCHEMAS / f"{document}.schema.json").read_text(encoding="utf-8"))["properties"]
    typed = {name: {"type": member["type"]} for name, member in members.items() if "type" in member}
    return {**outline, "properties": {**typed, **outline["properties"]}}


TOOLS = {tool.name: tool for tool in (
    Tool("measure", ("ab",),
         "Measures a .pte at CPU-feature levels, block by block, and says whether one is faster, with its interval. "
         "Takes minutes; reports progress and can be cancelled: whole blocks stay.",
         ("ab",), (
             Operand("models", o.FILE, None, "programs (.pte)", required=True, many=True),
             Operand("levels", o.LEVEL, "--levels", "see tool devices; default: best against plain", many=True),
             Operand("threads", o.COUNT, "--threads", "thread counts, default 1", many=True),
             BASELINE,
             Operand("device", o.DEVICE, "--device", "local, adb[:SERIAL], ssh:HOST or qemu[:CPU]"),
             Operand("blocks", o.COUNT, "--blocks", "exactly so many; with precision at most"),
             Operand("precision", o.NUMBER, "--precision", "percent: stop when intervals are so narrow"),
             Operand("budget", o.NUMBER, "--budget", "seconds: stop after the last block that fits"),
             Operand("iterations", o.COUNT, "--iterations", "timed ones per launch"),
             Operand("warmup", o.COUNT, "--warmup", "per launch"),
             Operand("data", o.FILE, "--data", "external weights (.ptd)"),
             Operand("prefill", o.COUNT, "--prefill", "language models: tokens of a prompt", many=True),
             Operand("decode", o.DECODE, "--decode", "language models: tokens one at a time, each with D in the cache "
                     "before (default 0)"),
             Operand("out", o.NEW, "--out", "run folder, new or empty"),
             Operand("runner", o.FILE, "--runner", "another runner or its bundle"),
             Operand("kernels", o.WHEN, "--kernels", "whether to sample which kernels ran"),
             Operand("packed_cache", o.CACHE, "--packed-cache", "XNNPACK's packed weights; each an arm", many=True),
             Operand("price", o.FLAG, "--price", "load with a cold page cache, too"),
         ), changes=True, limit_s=4 * HOUR_S),
    Tool("compare", ("compare",), "Two sides, the first being the baseline: what became faster or slower.", ("ab",), (
        Operand("a", o.ARM_OF_RUN, None, _ARM, required=True),
        Operand("b", o.ARM_OF_RUN, None, _ARM, required=True),
        Operand("pte", o.FILE, "--pte", "the program of bare recordings"),
    )),
    Tool("explain", ("explain",),
         "The rows and the formula behind one sentence of a report: a finding (F1), a fix (N1), an operator (op7), "
         "something ruled out (tracer).", ("explain",),
         (Operand("id", o.ID, None, "F1, N1, op7", required=True), RUN, BASELINE, PHASE_OF)),
    Tool("report", ("analyze",), "What a run folder says: ratio, operators, findings, what to do next.",
         ("ab", "kit"),
         (RUN, BASELINE)),
    Tool("whatif", ("whatif",), "Recomputes an inference with operators dropped, sent back or sped up.", ("whatif",), (
        RUN,
        Operand("changes", o.CHANGE, None, "'fix N1', 'drop transpose*', 'back GLOB', 'scale conv* 2', 'GLOB at-roof', "
                "'threads N'", required=True, many=True),
        BASELINE,
        PHASE_OF,
    )),
    Tool("gate", ("gate",), "Yes, no or unknown: is the run as fast as rules or an earlier run want?", ("gate",), (
        RUN,
        Operand("rules", o.RULE, None, RULES, many=True),
        Operand("against", o.RUN, "--against", "an earlier run folder"),
        Operand("margin", o.NUMBER, "--margin", "percent that is not a regression"),
    )),
    Tool("verify_claim", ("gate",),
         "Is what you are about to tell borne out by the data? Write each figure as a rule of a gate. Check every "
         "figure you tell people: yes, no or unknown.", ("gate",),
         (RUN, Operand("claims", o.RULE, None, RULES, required=True, many=True))),
    Tool("inspect", ("inspect",), "What is in a model or recording, and what makes it big.",
         ("inspect", "inspect_diff", "inspect_tensors"), (
             Operand("file", o.FILE, None, ".pte, .bpte, .ptd, .etrecord or .etdump", required=True),
             Operand("etrecord", o.FILE, "--etrecord", "adds source lines"),
             Operand("etdump", o.FILE, "--etdump", "adds what operators cost"),
             Operand("diff", o.FILE, "--diff", "another program to compare with"),
             Operand("tree", o.FLAG, "--tree", "every instruction and node"),
         )),
    Tool("export", ("export", "--no-install"), "From a PyTorch model to a checked .pte. Needs PyTorch and ExecuTorch, "
         "which it does not install.", ("export",), (
             Operand("model", o.MODEL, None, "a name that 'etprof export --list' lists", required=True),
             Operand("dtype", o.DTYPE, "--dtype", "default fp32"),
             Operand("apply", o.RECIPE, "--apply", "recipes of fixes, as reports name them", many=True),
             Operand("group_size", o.GROUP, "--group-size", "8da4w: a number, or channel"),
             Operand("outdir", o.NEW, "--outdir", "folder of the program"),
         ), changes=True, limit_s=HOUR_S, hindrance=_cannot_export),
    Tool("devices", ("doctor", "devices"), "Devices and what they can do.", ("devices",), ()),
)}
