# SPDX-License-Identifier: Apache-2.0
"""How a session of fixes looks as text."""
from __future__ import annotations

import os
import shlex
from typing import Any

from etprof.shown import printable

Document = dict[str, Any]
BLOCKS = 6  # fewer give no verdict
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def _scale(ns: float) -> tuple[float, str]:
    return next(((factor, unit) for factor, unit in _UNITS if abs(ns) >= factor), (1, "ns"))


def _number(ns: float, factor: float) -> str:
    """Three digits of it, no sign."""
    value = abs(ns) / factor
    whole = len(str(int(value)))
    return f"{value:.{max(0, 3 - whole) if factor > 1 else 0}f}"


def _signed(ns: float, factor: float) -> str:
    """A gain as a change of the latency."""
    return ("−" if ns > 0 else "+" if ns < 0 else "") + _number(ns, factor)


def change(gain: Document, estimate: str) -> str:
    """"−12.4 ms [9.7, 13.9]" of a gain. The brackets hold what is saved, with signs where that is not sure."""
    middle, lo, hi = gain[estimate], gain["lo"], gain["hi"]
    factor, unit = _scale(middle if middle else hi or 0)
    if middle is None:
        return f"at most −{_number(hi, factor)} {unit}"
    text = f"{_signed(middle, factor)} {unit}"
    if lo is None or hi is None:
        return text
    if lo >= 0:
        return f"{text} [{_number(lo, factor)}, {_number(hi, factor)}]"
    ends = (_number(hi, factor), _number(lo, factor)) if hi <= 0 else (_signed(hi, factor), _signed(lo, factor))
    return f"{text} [{ends[0]}, {ends[1]}]"


def _tells(found: Document) -> bool:
    return found["gain_ns"]["estimate"] is not None


def _measured(found: Document) -> str:
    """What was measured, and how sure that is."""
    if not _tells(found):
        return "no result: " + (found["why"] or found["withheld"] or "no whole block")
    few = found["verdict"] == "unknown" and found["blocks"] < BLOCKS
    text = f"{change(found['gain_ns'], 'estimate')}, {found['verdict']}"
    return f"{text} ({found['blocks']} of at least {BLOCKS} blocks)" if few else text


def outcome(step: Document) -> str:
    found = step["measured"]
    what = step["why"] or "not finished"
    if found:
        what = f"measured {_measured(found)}" if _tells(found) else _measured(found)
    return f"{step['fix']} predicted {change(step['predicted_ns'], 'expected')}, {what}"


def _step(step: Document, again: Document | None) -> list[str]:
    """The prediction beside what came out; below it what exporting again has of that, and the command."""
    found = step["measured"]
    lines = [f"  {step['fix']} {step['text']}:", f"     {outcome(step).partition(' ')[2]}"]
    told = [m for m in (step["itself"], again and again["measured"]) if m and m["gain_ns"]["estimate"] is not None]
    if step["itself"] and again and told:
        lines += [f"     exporting again without the fix: {_measured(again['measured'])}",
                  f"     the fix by itself: {_measured(step['itself'])}"]
    end = "undone" if found and _tells(found) else "left out"
    if step["kept"]:
        end = "kept"
    lines.append(f"     {end}: {shlex.join(step['command'])}")
    if step["advice"] and step["kept"]:
        lines.append(f"     note: {step['advice']}")
    return lines


def _again(document: Document) -> str | None:
    again = document["again"]
    if again is None:
        return None
    if again["same_bytes"]:
        return "Exporting again without a fix makes the same program."
    if again["program"] is None:
        return f"Exporting again without a fix failed ({again['said']}): its share of the gains is not known."
    return None


def _best(document: Document) -> list[str]:
    best, total = document["best"], document["total"]
    if best is None:
        return ["Best     the program as it was: " + document["before"]["program"]["path"]]
    lines = [f"Best     {best['path']}"]
    speedup = total["speedup"]
    if speedup["estimate"]:
        factor, unit = _scale(total["before_ns"])
        lines.append(f"         {_number(total['before_ns'], factor)} → {_number(total['after_ns'], factor)} {unit}, "
                     f"{speedup['estimate']:.2f}×   95 % [{speedup['lo']:.2f}, {speedup['hi']:.2f}]")
    return lines


def _unsure(document: Document) -> bool:
    found = [m for s in document["steps"] for m in (s["measured"], s["itself"]) if m]
    return any(m["verdict"] == "unknown" for m in found)


def render(document: Document) -> str:
    before = document["before"]
    name = os.path.basename(before["program"]["path"]).removesuffix(".pte")
    threads = before["threads"]
    lines = [f"{name} at {before['level']}, {threads} thread{'s' if threads != 1 else ''}", ""]
    for step in document["steps"]:
        lines += [*_step(step, document["again"]), ""]
    said = _again(document)
    lines += [said, ""] if said else []
    lines += _best(document)
    runs = [s["run"] for s in document["steps"] if s["run"]]
    if runs:
        lines.append(f"Report   {os.path.join(document['folder'], runs[-1], 'report.html')}")
    if _unsure(document):
        lines.append("To settle it: the same command on a quiet machine, with more --blocks; it keeps the programs")
    lines.append(f"Steps    {os.path.join(document['folder'], 'fix.json')}")
    return "".join(printable(line) + "\n" for line in lines)
