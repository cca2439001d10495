# SPDX-License-Identifier: Apache-2.0
"""A run folder of ours as a whole: does it open, do its samples fit its plan and its dumps, and are raw and derived
files what they were (answered by `etprof verify`)?"""
from __future__ import annotations

import dataclasses
import json
import math
import os
import stat
from collections.abc import Iterator
from typing import Any

from etprof import runfolders
from etprof.validate import recordings, tables
from etprof.validate.notes import PACKED, File, Notes, agree, digits, entries, number, text

RAW = "raw files cannot be made again: restore it from a copy, or measure again"
_MOST_LEVELS, _MOST_MEMBERS = 16, 2_000_000
_RAW_NAMES = ("manifest.json", "samples.csv", "environment.jsonl", "derived.json", "roofs.json", "session.lock")
_STATES = {  # of verify: check, expected, what to do; the others are no problem
    "altered": ("hash.altered", "the bytes that were recorded", "edited after it was written: raw files from a copy, "
                "derived ones with 'etprof analyze --renew'"),
    "missing": ("hash.missing", "there, as recorded", "removed or renamed: raw files from a copy, derived ones with "
                "'etprof analyze --renew'"),
    "added": ("hash.added", "only files that the session recorded", "the session did not write it: move it out of the "
              "folder"),
    "differs": ("derived.differs", "what the raw files give", "its hash was renewed after an edit, or another version "
                "wrote it: 'etprof analyze --renew' makes it again"),
}


def is_run(folder: str) -> bool:
    """A manifest that is a link or a FIFO makes it a run folder that nobody opens."""
    manifest = os.path.join(folder, "manifest.json")
    return (os.path.lexists(manifest) and not stat.S_ISREG(os.lstat(manifest).st_mode) and not os.path.isdir(manifest)
            or runfolders.is_run(folder))


def _members(folder: str, depth: int) -> Iterator[str | None]:
    """For each member what is wrong with it."""
    for entry in sorted(os.scandir(folder), key=lambda e: os.fsencode(e.name)):
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
            yield (f"{entry.path} is a link, or no regular file: a run folder holds files and folders of its own only; "
                   "remove it, or put the file itself there")
        elif depth == _MOST_LEVELS:
            yield f"{folder} holds more levels of folders than a session makes"
        elif entry.is_dir():
            yield from _members(entry.path, depth + 1)
        yield None


def stranger(folder: str) -> str | None:
    """What is not a member of a run folder: links, which lead out of it, FIFOs and devices, which never end."""
    try:
        for n, problem in enumerate(_members(folder, 0)):
            if problem or n >= 2 * _MOST_MEMBERS:
                return problem or f"{folder} holds more files than a session makes"
    except OSError as problem:
        return f"{problem.filename}: {problem.strerror}"
    return None


def recorded(notes: Notes) -> set[str]:
    """The derived files on record. Empty without a readable record: then nothing can be told to be a guest."""
    derived = notes.find("derived.json")
    listed = entries(derived.json, "files") if derived and derived.json and is_run(notes.root) else []
    return {path for path in (text(f, "path") for f in listed) if path}


def is_raw(name: str) -> bool:
    return (name in _RAW_NAMES or name.removesuffix(PACKED).endswith((".etdump", ".samples", ".code"))
            or name.endswith(".log") or name.startswith("program/")
            or "/outputs/" in name or "/outputs_again/" in name)


@dataclasses.dataclass
class _Sample:
    experiment: str
    block: int
    launch: int
    iteration: int
    phase: str
    duration_ns: int


class _Run:
    """What raw files say of whole blocks."""

    def __init__(self, notes: Notes) -> None:
        manifest, rows = notes.find("manifest.json"), notes.find("samples.csv")
        assert manifest and manifest.json
        self.manifest, self.blocks = manifest.json, int(manifest.json["blocks_done"])
        self.launches: list[dict[str, Any]] = []
        environment = notes.find("environment.jsonl")
        if environment:
            with open(environment.path, "rb") as lines:
                self.launches = [one for one in map(json.loads, lines)
                                 if one["type"] == "launch" and number(one, "block") <= self.blocks]
        self.samples: list[_Sample] = []
        if rows and rows.readable:
            with open(rows.path, "rb") as file:
                table = tables.rows_of(file.read())
            at = {name: i for i, name in enumerate(next(table)[1])}
            for _, row in table:
                block, launch, iteration, ns = (int(row[at[k]]) for k in ("block", "launch", "iteration",
                                                                          "duration_ns"))
                if block <= self.blocks:
                    self.samples.append(_Sample(row[at["experiment"]], block, launch, iteration, row[at["phase"]], ns))

    def arms(self) -> list[dict[str, Any]]:
        return entries(self.manifest["plan"], "arms")

    def dumps(self, notes: Notes) -> list[tuple[str, int, File]]:
        """(experiment, block, file) of the dumps in the folder. They are looked for among its files: a manifest can
        name more than there is time for."""
        arms = self.arms()
        stems = {f"{arm['name']}/{arm['prefix']}": i for i, arm in enumerate(arms)}
        found: dict[tuple[int, int], File] = {}
        for file in notes.files:
            name = file.name.removesuffix(PACKED)
            stem, _, rest = name.rpartition(".etdump")
            if rest or not name.endswith(".etdump"):
                continue
            begin, _, number = stem.rpartition("_b")
            block = int(number) if begin in stems and number.isdecimal() and len(number) < 10 else 1
            arm = stems.get(begin if block > 1 else stem)
            if arm is not None and block <= self.blocks and name == _dump_name(arms[arm], block):
                found.setdefault((arm, block), file)
        return [(arms[arm]["name"], block, found[arm, block]) for arm, block in sorted(found)]

    def must_hold(self) -> list[str]:
        """Of a session that ended the files it has hashes of; of another one its rows, and the traces of its committed
        blocks: an interrupted session holds less."""
        listed = [str(f["path"]) for f in entries(self.manifest, "files")]
        if listed or not self.blocks:
            return listed
        arms = {arm["name"]: arm for arm in self.arms()}
        return ["samples.csv", "environment.jsonl",
                *(_dump_name(arms[one["experiment"]], int(one["block"])) for one in self.launches
                  if one["kind"] == "traced" and one["experiment"] in arms)]


def _dump_name(arm: dict[str, Any], block: int) -> str:
    return f"{arm['name']}/{arm['prefix']}{f'_b{block}' if block > 1 else ''}.etdump"


def _check_samples(notes: Notes, run: _Run) -> None:
    zero = next((s for s in run.samples if s.duration_ns == 0), None)
    if zero:
        notes.add("samples.csv", "samples.zero", False,
                  f"block {zero.block}, launch {zero.launch}, iteration {zero.iteration}", "durations above 0",
                  f"the row was edited, or the device's clock is broken: {RAW}")
        return
    timed = sum(s.phase == "timed" for s in run.samples)
    # A block that was cut short may hold the control and nothing else.
    ok = timed > 0 or not any(one["kind"] == "timed" for one in run.launches)
    notes.add("samples.csv", "samples" if ok else "samples.none", ok, f"{timed} timed rows in {run.blocks} blocks",
              "timed rows of whole blocks", f"the rows were removed: {RAW}")


def _check_dumps(notes: Notes, run: _Run) -> None:
    """The runner times around what the dump times: a dump of another experiment or launch does not fit into the traced
    rows of its own, which stand in the order of its executions."""
    traced: dict[tuple[str, int], list[int]] = {}
    for s in run.samples:
        if s.phase == "traced":
            traced.setdefault((s.experiment, s.block), []).append(s.duration_ns)
    for experiment, block, file in run.dumps(notes):
        if not file.readable:
            continue
        rows = traced.get((experiment, block), [])
        wrong = next((i for i, (ns, row) in enumerate(zip(file.execute_ns, rows)) if ns > row), None)
        if wrong is not None:
            notes.add(file.name, "dump.samples", False, f"execution {wrong} of {file.execute_ns[wrong]} ns",
                      f"within the {rows[wrong]} ns of its row in samples.csv",
                      f"the dump is of another experiment or launch (two were swapped?): {RAW}")
            continue
        ok = len(rows) == len(file.execute_ns)
        notes.add(file.name, "dump.samples" if ok else "dump.count", ok, f"{len(file.execute_ns)} executions",
                  f"{len(rows)} executions, as traced rows in samples.csv", f"the dump is of another launch: {RAW}")


def _check_metrics(notes: Notes, run: _Run) -> None:
    """The latencies of metrics.json are the timed rows, in milliseconds with decimals."""
    file = notes.find("metrics.json")
    timed: dict[str, list[int]] = {}
    for s in run.samples:
        if s.phase == "timed":
            timed.setdefault(s.experiment, []).append(s.duration_ns)
    for result in entries(file.json, "results") if file and file.json else ():
        name, listed = text(result, "experiment"), entries(result.get("metrics"), "latency_ms")
        rows = timed.get(name or "", [])
        worst = max((abs((number(listed[i]) if i < len(listed) else 0) - ns / 1e6) for i, ns in enumerate(rows)),
                    default=0)
        if rows and (len(rows) != len(listed) or worst > 1e-6):
            notes.add("metrics.json", "metrics.samples", False,
                      f"{name}: {len(listed)} latencies, off by up to {digits(worst, 6)} ms",
                      f"the {len(rows)} timed rows of samples.csv",
                      "one of the two was edited: 'etprof verify' says which")
            return


def _speedups(report: dict[str, Any]) -> dict[tuple[str | None, str | None], float]:
    """Of each pair of arms, whose names say the phase too: a session of several has a document for each later one."""
    found: dict[tuple[str | None, str | None], float] = {}
    documents = [report, *(phase.get("document") for phase in entries(report, "phases"))]
    for c in (c for document in documents for c in entries(document, "comparisons")):
        found.setdefault((text(c, "candidate"), text(c, "baseline")), number(c, "speedup", "estimate"))
    return found


def _check_headlines(notes: Notes) -> None:
    """They occur in two files. A summary's name begins with its model's, so it is found by its schema."""
    report = notes.find("report.json")
    speedups = _speedups(report.json) if report and report.json else None
    for file in notes.files if speedups is not None else ():
        for c in entries(file.json, "comparisons") if file.schema == "pipeline_summary" else ():
            says = number(c, "speedup", "estimate")
            found = (speedups or {}).get((text(c, "candidate"), text(c, "baseline")), math.nan)
            if not agree(says, found):
                notes.add(file.name, "summary.speedup", False, digits(says, 6), f"{digits(found, 6)} as in report.json",
                          "one of the two was edited or is older: make both again with 'etprof analyze --renew'")
                return


def _take_verify(notes: Notes, answer: dict[str, Any]) -> None:
    listed = [(f, raw) for key, raw in (("raw", True), ("derived", False)) for f in entries(answer, key)]
    for f, raw in listed:
        path, state = str(f["path"]), str(f["state"])
        # Raw files that are not there have their check already.
        if state in _STATES and not (raw and state == "missing" and not notes.find(path)):
            name, expected, fix = _STATES[state]
            notes.add(path, name, False, state, expected, fix)
    notes.add(None, "verify", answer["ok"] is not False, f"{len(listed)} files, session {answer['session']}",
              "raw files as recorded, derived ones as they follow", "see the files above; 'etprof verify' lists all")


def _opened(notes: Notes) -> _Run | str:
    """The run, or why it does not open: of files that are not sound what is wrong was said already."""
    manifest = notes.find("manifest.json")
    if not manifest or not manifest.json:
        return "manifest.json is not sound"
    try:
        run = _Run(notes)
    except (tables.Problem, OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as problem:
        return f"its rows cannot be read: {problem!r}"
    for name in ("samples.csv", "environment.jsonl") if run.blocks else ():
        file = notes.find(name)
        if file and name == "samples.csv" and not file.readable:
            return f"{name} is not sound"
    return run


def check(notes: Notes, program: str) -> None:
    """From the cheap to the dear: verify hashes every file and computes all derived ones again."""
    _, answer, words = recordings.ask(program, "verify", recordings.operand(notes.root))
    run = _opened(notes)
    if isinstance(run, str):
        notes.add(None, "run.open", False, words or run, "a run folder that can be read", RAW)
        for name in ("samples.csv", "environment.jsonl"):
            if not notes.find(name):
                notes.add(name, "run.missing", False, "absent", "there", RAW)
        return
    for name in run.must_hold():
        if not notes.find(name) and not (name.endswith(".etdump") and notes.find(name + PACKED)):
            notes.add(name, "run.missing", False, "absent", "there, as manifest.json and its launches say", RAW)
    _check_samples(notes, run)
    _check_dumps(notes, run)
    _check_metrics(notes, run)
    _check_headlines(notes)
    if answer is None:
        notes.add(None, "verify", False, words, "numbers that follow from the raw files", RAW)
    else:
        _take_verify(notes, answer)
