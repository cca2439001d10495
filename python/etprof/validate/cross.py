# SPDX-License-Identifier: Apache-2.0
"""Files against each other: do figures that occur twice agree, and do figures follow from what they are said to be
made of? Works by the names of files, so for folders of Arm's kit too."""
from __future__ import annotations

import math
import os
import re
import statistics
from typing import Any

from etprof.validate import runs
from etprof.validate.notes import NAN, PACKED, File, Notes, agree, close, digits, entries, number, text

AGAIN = "make the derived files again with 'etprof analyze --renew' or 'etprof analyze --out', and compare"
_MOMENTS = (("median_ms", statistics.median), ("min_ms", min), ("max_ms", max))


def _same_durations(a: list[int], b: list[int]) -> bool:
    """In any order: Arm's kit writes event by event, a dump is in time. One apart: decimals of milliseconds."""
    return len(a) == len(b) and all(abs(x - y) <= 1 for x, y in zip(sorted(a), sorted(b)))


# ---- one document in itself ----

def _check_moments(notes: Notes, file: str, name: str, document: Any, latencies: str, experiment: str | None) -> None:
    """Median, minimum and maximum of the latencies against the figures beside them."""
    values = [number(x) for x in entries(document, latencies)]
    if not values:
        return
    for key, moment in _MOMENTS:
        says, found = number(document, key), float(moment(values))
        if not agree(says, found):
            notes.add(file, name, False, f"{experiment} {key} = {digits(says, 9)}",
                      f"{key} of the {len(values)} latencies beside it: {digits(found, 9)}",
                      f"the figure or a latency was edited: {AGAIN}")
            return
    notes.add(file, name, True, f"{experiment}: {len(values)} latencies",
              "median, minimum and maximum of the latencies")


def _check_robust(notes: Notes, file: File) -> None:
    """Counts before means before medians: each makes sense only when the one before holds."""
    values = [number(x) for x in entries(file.json, "latencies_ms")]
    n, indices, count = len(values), len(entries(file.json, "run_indices")), number(file.json, "count")
    if count != n or indices != n:
        notes.add(file.name, "robust.count", False, f"count {count:.0f}, {indices} run_indices",
                  f"{n}, one per latency", f"latencies were added or lost: {AGAIN}")
        return
    mean = number(file.json, "mean_ms")
    if n and not close(mean, sum(values) / n):
        notes.add(file.name, "robust.mean", False, f"mean_ms = {digits(mean, 9)}",
                  f"the mean of the latencies: {digits(sum(values) / n, 9)}",
                  f"the figure or a latency was edited: {AGAIN}")
        return
    _check_moments(notes, file.name, "robust.median", file.json, "latencies_ms", text(file.json, "name"))


def _check_analysis(notes: Notes, file: File) -> None:
    for e in entries(file.json, "experiments"):
        whole = number(e, "execute_ns")
        categories = e.get("categories_ns") or {}
        parts = sum(number(value) for value in categories.values()) + sum(
            number(e, key) for key in ("boundary_ns", "framework_ns", "unexplained_ns"))
        # Exactly: whole nanoseconds below 2^53 (104 days) are doubles without rounding.
        if math.isfinite(whole) and parts != whole:
            notes.add(file.name, "categories.sum", False, f"{text(e, 'experiment')}: {parts:.0f}",
                      f"categories and remainder = execute_ns, {whole:.0f}",
                      f"a category was edited or lost: {AGAIN}")
            return
    dumps, listed = number(file.json, "etdump_count"), len(entries(file.json, "per_etdump"))
    same = listed == dumps
    notes.add(file.name, "categories" if same else "analysis.dumps", same, f"{listed} of {dumps:.0f} dumps",
              "categories that add up, an entry per dump", f"an entry was added or lost: {AGAIN}")


def _ledger_problem(ledger: Any) -> tuple[str, str, str, str] | None:
    """A ledger without rows belongs to a comparison without recordings: there is nothing to add up."""
    rows = entries(ledger, "rows")
    total, delta = sum(number(row, "delta_ns") for row in rows), number(ledger, "delta_ns")
    ends = number(ledger, "candidate_ns") - number(ledger, "baseline_ns")
    if not rows or (total == delta and ends == delta):
        return None
    return ("report.ledger", f"{total:.0f}, {delta:.0f}, {ends:.0f}",
            "sum of the rows = delta_ns = candidate_ns - baseline_ns", "a row was edited, added or lost")


def _fix_problem(fix: Any, operators: set[str | None]) -> tuple[str, str, str, str] | None:
    name = text(fix, "id")
    low, expected, high = (number(fix, "gain_ns", key) for key in ("lo", "expected", "hi"))
    if low > high or expected < low or expected > high:  # the expected gain may be unknown
        return ("report.fix", f"{name}: {expected:.0f} in {low:.0f} to {high:.0f}", "lo <= expected <= hi",
                "a gain was edited")
    for op in entries(fix, "evidence"):
        if isinstance(op, str) and op.startswith("op") and op not in operators:
            return ("report.fix", f"{name} is about {op}", "operators that are there",
                    "an operator was renamed or lost")
    return None


def _comparison_problem(comparison: Any, arms: set[str | None]) -> tuple[str, str, str, str] | None:
    base, candidate = text(comparison, "baseline"), text(comparison, "candidate")
    if base not in arms or candidate not in arms:
        return ("report.arms", f"{candidate} against {base}", "comparisons of arms that are there",
                "an arm was renamed or lost")
    low, ratio, high = (number(comparison, "speedup", key) for key in ("lo", "estimate", "hi"))
    if low > ratio or ratio > high:  # what is unknown or withheld is NAN
        return ("report.interval", f"{candidate}: {digits(ratio, 6)} in {digits(low, 6)} to {digits(high, 6)}",
                "lo <= estimate <= hi", "the speedup or its interval was edited")
    if text(comparison, "withheld") and math.isfinite(ratio):
        return ("report.withheld", f"{candidate}: {digits(ratio, 6)}, withheld {text(comparison, 'withheld')}",
                "no figure where it is withheld", "a withheld speedup was filled in")
    return None


def _check_report(notes: Notes, file: File) -> None:
    """One problem is told for the whole report: an edit that breaks one of these figures often breaks several."""
    comparisons = entries(file.json, "comparisons")
    operators = {text(op, "id") for op in entries(file.json, "operators")}
    arms = {text(arm, "name") for arm in entries(file.json, "arms")} - {None}
    found = [*(_fix_problem(fix, operators) for fix in entries(file.json, "next_fixes")),
             *map(_ledger_problem, entries(file.json, "ledgers")),
             *(_comparison_problem(c, arms) for c in comparisons)]
    problem = next(filter(None, found), None)
    if problem:
        notes.add(file.name, problem[0], False, problem[1], problem[2], f"{problem[3]}: {AGAIN}")
    else:
        notes.add(file.name, "report", True, f"{len(comparisons)} comparisons",
                  "ledgers that add up, intervals in order")


# ---- documents against files ----

def _check_robust_timeline(notes: Notes, file: File) -> None:
    """The statistics against the timeline they describe."""
    stem = file.name.removesuffix("_robust_stats.json")
    timeline = notes.find(f"{stem}.csv") if stem != file.name else None
    if not timeline or not timeline.readable:
        return
    ns = [int(number(ms) * 1e6 + 0.5) for ms in entries(file.json, "latencies_ms")]
    same = _same_durations(ns, timeline.execute_ns)
    notes.add(file.name, "robust.timeline", same, f"{len(ns)} latencies{', the same' if same else ''}",
              f"the {len(timeline.execute_ns)} Method::execute of {timeline.name}",
              f"statistics and timeline are of different runs, or one was edited: {AGAIN}")


def _block_of_dump(name: str, stem: str) -> int:
    """P.etdump is of block 1, P_b2.etdump of block 2; 0: none of its dumps."""
    name = name.removesuffix(PACKED)
    if not name.startswith(stem) or not name.endswith(".etdump"):
        return 0
    found = re.fullmatch(r"(?:_b(\d{1,9}))?\.etdump", name[len(stem):], re.ASCII)
    block = int(found[1] or 1) if found else 0
    return block if found and (not found[1] or block > 1) else 0


def _check_timeline_dumps(notes: Notes, file: File, committed: float) -> None:
    """A timeline against its dumps: P.etdump, and P_b2.etdump … of later blocks."""
    # The longer end first, of which the other is a part.
    stem = next((file.name.removesuffix(end) for end in ("_exec_all_runs_timeline.csv", "_all_runs_timeline.csv")
                 if file.name.endswith(end)), None)
    if stem is None:
        return
    # A block that is not committed may have left some, one that was cut short may have none.
    dumps = [f for f in notes.files for block in [_block_of_dump(f.name, stem)] if block and not block > committed]
    if not all(f.readable for f in dumps):
        return  # said already
    if not dumps:
        notes.add(file.name, "timeline.dump", False, "absent", f"{stem}.etdump, the dump it was made from",
                  "the dump was removed or renamed: bring it back, the table alone proves nothing")
        return
    ns = [n for f in dumps for n in f.execute_ns]
    same = _same_durations(ns, file.execute_ns)
    notes.add(file.name, "timeline.dump", same,
              f"{len(file.execute_ns)} executions{', the same' if same else ', other durations'}",
              f"the {len(ns)} executions of {len(dumps)} dumps",
              f"the table was edited, or made from another dump (a stale file, swapped experiments): {AGAIN}")


def _named_files(document: Any) -> list[Any]:
    """In all the kit's documents. A key that is null or absent names nothing."""
    return [*entries(document, "csv_files"), *(text(e, "etdump") for e in entries(document, "per_etdump")),
            *(path for run in entries(document, "runs") for path in (run.get("paths") or {}).values()),
            *(text(e.get("metrics"), "etdump_rel") for e in entries(document, "results"))]


def _check_paths(notes: Notes, file: File) -> None:
    """Absolute paths are of the machine that wrote them: their last part counts."""
    for name in _named_files(file.json):
        if isinstance(name, str) and not notes.find(name) and not (
                name.startswith("/") and notes.find(os.path.basename(name))):
            notes.add(file.name, "paths", False, f"{name} is not there", "files that are in the folder",
                      "a file was removed or renamed after the summary was written: bring it back, or make the "
                      "derived files again with 'etprof analyze --renew'")
            return
    notes.add(file.name, "paths", True, "all there", "files that are in the folder")


def _check_summary(notes: Notes, file: File) -> None:
    """The pipeline summary quotes the robust statistics. A run without them (a recording that failed) quotes none."""
    listed = entries(file.json, "runs")
    for run in listed:
        metrics = run.get("metrics")
        path = text(metrics, "robust_stats_path")
        robust = (notes.find(path) or notes.find(os.path.basename(path))) if path else None
        if not robust or not robust.json:
            continue
        says, found = number(metrics, "median_ms"), number(robust.json, "median_ms")
        if not agree(says, found) or not agree(number(metrics, "mean_ms"), number(robust.json, "mean_ms")):
            notes.add(file.name, "summary.median", False, f"{text(run, 'experiment')}: {digits(says, 9)}",
                      f"median and mean as in {robust.name}: {digits(found, 9)}",
                      f"one of the two was edited or is older: {AGAIN}")
            return
    notes.add(file.name, "summary", True, f"{len(listed)} runs", "medians as in the robust statistics")


def _check_outputs(notes: Notes, file: File) -> None:
    """Their content is compared when a folder is analysed; here only whether all of it is there."""
    stem = file.name.removesuffix("outputs.json")
    for output in entries(file.json, "outputs"):
        name, size = text(output, "file"), number(output, "bytes")
        found = notes.find(f"{stem}{name}") if stem != file.name else None
        if not found or os.path.getsize(found.path) != size:
            notes.add(file.name, "outputs.size", False, f"{name}: {'another size' if found else 'absent'}",
                      f"{size:.0f} bytes", "the output was cut or removed: restore it from a copy, or measure again")
            return


def _check_results(notes: Notes, file: File) -> None:
    for r in entries(file.json, "results"):
        _check_moments(notes, file.name, "metrics.median", r.get("metrics"), "latency_ms", text(r, "experiment"))


# By schema: what it cannot say. Figures that follow from others of the same document, and files that have to be there
# or to say the same.
_ASKED = {
    "robust_stats": (_check_robust, _check_robust_timeline), "metrics": (_check_results, _check_paths),
    "kit_manifest": (_check_results, _check_paths), "run": (_check_results, _check_paths),
    "analysis_summary": (_check_analysis, _check_paths), "pipeline_summary": (_check_summary, _check_paths),
    "ab": (_check_report,), "outputs": (_check_outputs,),
}


def check(notes: Notes) -> None:
    recorded, manifest = runs.recorded(notes), notes.find("manifest.json")
    state = text(manifest.json, "state") if manifest else None
    committed = NAN if manifest is None or state in (None, "finished") else number(manifest.json, "blocks_done")
    for file in notes.files:
        # Tables of something else that somebody put into a run folder: they are not of its record, and the dump they
        # were made from need not lie beside them.
        if recorded and file.name not in recorded and not runs.is_raw(file.name):
            continue
        if file.kind == "csv" and file.readable and file.execute_ns:
            _check_timeline_dumps(notes, file, committed)
        for question in _ASKED.get(file.schema or "", ()) if file.json else ():
            question(notes, file)
