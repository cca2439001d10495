# SPDX-License-Identifier: Apache-2.0
"""What lies at a path, and the checks for it in order."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from etprof.validate import cross, documents, recordings, runs, tables
from etprof.validate.notes import PACKED, File, Notes, is_regular

_TEXT_BYTES = 1 << 30


def _check_alone(notes: Notes, file: File, program: str) -> None:
    try:
        size = os.stat(file.path).st_size
        if not is_regular(file.path):
            raise OSError(0, "no regular file")
        if file.kind in ("dump", "model"):
            with open(file.path, "rb"):
                pass
            recordings.check(notes, file, size, program)
            return
        if size > _TEXT_BYTES:
            raise OSError(0, f"{size} bytes; at most {_TEXT_BYTES} are read")
        with open(file.path, "rb") as opened:
            data = opened.read()
    except OSError as problem:
        notes.add(file.name, "file.readable", False, f"{file.path}: {problem.strerror}", "a file that can be read",
                  "give yourself the right to read it, or remove it")
        return
    {"json": documents.check, "lines": documents.check_lines, "csv": tables.check}[str(file.kind)](notes, file, data)


def _kind_of_folder(notes: Notes) -> str:
    """By the names alone, as what it is has to be known before anything in it is sound; the most telling sign first,
    since a run folder holds the kit's tables and dumps as well. One of ours stays one when its manifest is damaged."""
    def has(*ends: str) -> bool:
        return any(f.name.endswith(ends) for f in notes.files)

    if runs.is_run(notes.root) or notes.find("samples.csv") or notes.find("environment.jsonl"):
        return "run folder"
    if has("_pipeline_summary.json", "_timeline.csv") or notes.find("metrics.json"):
        return "folder of Arm's kit"
    if has(".etdump", ".etdump" + PACKED):
        return "dumps"
    return "files" if has(".pte", ".csv") else "folder"


def _check_folder(notes: Notes, program: str) -> str:
    what = _kind_of_folder(notes)
    if what == "folder":
        notes.add(None, "folder.empty", False, f"{len(notes.files)} files, none of them known",
                  "a run folder, dumps or model files",
                  "nothing was measured into it, or another folder is meant")
        return what
    cross.check(notes)
    if what == "run folder" and not notes.find("manifest.json"):
        notes.add("manifest.json", "run.manifest", False, "absent", "there", "without its plan a session cannot be "
                  "read: restore manifest.json from a copy, or measure again")
    elif what == "run folder":
        runs.check(notes, program)
    # Arm's kit keeps dumps beside its tables; a folder of loose tables or models never had any.
    elif what != "files" and not any(f.name.endswith((".etdump", ".etdump" + PACKED)) for f in notes.files):
        notes.add(None, "folder.no_dump", False, "none", "at least one .etdump",
                  "tables without the dumps they were made from prove nothing: bring the dumps back, or measure again")
    return what


def _check(notes: Notes, program: str, need_schemas: Callable[[], None]) -> str:
    is_folder = os.path.isdir(notes.root)
    if not is_folder and not is_regular(notes.root):
        notes.add(None, "path.missing", False, f"{notes.root} does not exist", "a file or folder",
                  "look at the spelling; run folders are out_<model>/runs/<platform>")
        return "path"
    # Before anything is opened: a link among the members would lead out of the folder, a FIFO never end.
    stranger = runs.stranger(notes.root) if is_folder and runs.is_run(notes.root) else None
    if stranger:
        notes.add(None, "run.members", False, stranger, "regular files and folders", "nothing in it was read")
        return "run folder"
    notes.collect()
    if any(f.kind == "json" for f in notes.files):
        need_schemas()
    # Every file by itself first: checks across files use only what is sound alone, so one fault is told once.
    for file in notes.files:
        if file.kind:
            _check_alone(notes, file, program)
    if is_folder:
        return _check_folder(notes, program)
    if not notes.checks:
        notes.add(notes.files[0].name, "file.kind", False, "none of these kinds",
                  ".etdump, .pte, .json, .csv and the like", "there is nothing to check in a file of this kind")
    return "file"


def validate(path: str, program: str, need_schemas: Callable[[], None]) -> dict[str, Any]:
    """etprof.validate/1. What is wrong with PATH is in it, not an error. NEED_SCHEMAS is called before a document is
    held against its schema."""
    notes = Notes(path)
    what = _check(notes, program, need_schemas)
    return {"schema": "etprof.validate/1", "ok": notes.failed == 0, "what": what, "failed": notes.failed,
            "checks": notes.checks}
