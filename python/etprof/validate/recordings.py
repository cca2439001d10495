# SPDX-License-Identifier: Apache-2.0
"""Recordings and models, read by the program's own readers: what passes here opens there."""
from __future__ import annotations

import json
import subprocess
from typing import Any

from etprof.errors import EnvironmentProblem
from etprof.validate.notes import PACKED, File, Notes

KINDS = {  # by inspect's name of it: what a file is, and the ends of names that promise it
    "pte": ("an ExecuTorch program", (".pte",)), "bpte": ("a bundled program", (".bpte",)),
    "ptd": ("a flat tensor file", (".ptd",)), "etrecord": ("an ETRecord", (".etrecord",)),
    "etdump": ("an ETDump", (".etdump", ".etdp", ".etdump" + PACKED)),
}
_MAGIC = ((4, b"ET12", "pte"), (4, b"BP08", "bpte"), (4, b"FT01", "ptd"), (4, b"ED00", "etdump"),
          (8, b"ED00", "etdump"), (0, b"PK\x03\x04", "etrecord"))
_SECONDS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def ask(program: str, *words: str) -> tuple[int, dict[str, Any] | None, str]:
    """The exit code of a verb and its document, else what it says."""
    done = subprocess.run([program, *words, "--format", "json", "--quiet"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode < 0:
        raise EnvironmentProblem(f"etprof {words[0]} ended by signal {-done.returncode}")
    if done.stdout:
        return done.returncode, json.loads(done.stdout), ""
    return done.returncode, None, done.stderr.decode("utf-8", "replace").strip().removeprefix(f"etprof {words[0]}: ")


def operand(path: str) -> str:
    """PATH as a word that no option can be taken for."""
    return f"./{path}" if path.startswith("-") else path


def _kind(path: str, document: dict[str, Any] | None) -> str | None:
    """What a file is, whatever its name says; None when its first bytes do not tell."""
    if document:
        return str(document["kind"])
    with open(path, "rb") as file:
        head = file.read(12)
    return next((kind for at, magic, kind in _MAGIC if head[at:at + 4] == magic), None)


def _time(ns: float) -> str:
    for unit, size in _SECONDS:
        if ns >= size * 0.99995:
            value = ns / size
            return f"{value:.{3 if value < 9.9995 else 2 if value < 99.995 else 1}f} {unit}"
    return f"{ns:.0f} ns"


def check(notes: Notes, file: File, size: int, program: str) -> None:
    if file.kind == "dump" and size == 0:
        notes.add(file.name, "dump.empty", False, "0 bytes", "an ETDump",
                  "the runner wrote nothing: it ended before its first inference, or was built without the event "
                  "tracer; measure again")
        return
    path = operand(file.path)
    _, document, words = ask(program, "inspect", path)
    words = words.removeprefix(f"{path}: ")
    should, end = next((kind, end) for kind, (_, ends) in KINDS.items() for end in ends if file.name.endswith(end))
    found = _kind(file.path, document)
    if found and found != should:
        # Readers of ours go by the bytes, so they would find it sound; those of ExecuTorch refuse it.
        is_archive = found == "etrecord" and document is None  # any zip archive could be a record
        what = "a zip archive" if is_archive else KINDS[found][0]
        notes.add(file.name, "file.name", False, f"{what}, named {end}", KINDS[should][0],
                  "give it the name of what it is, or bring the file that is meant")
    elif file.kind == "dump":
        _check_dump(notes, file, document, words)
    else:
        _check_model(notes, file, document, words)


def _check_dump(notes: Notes, file: File, document: dict[str, Any] | None, words: str) -> None:
    if document is None:
        notes.add(file.name, "dump.readable", False, words, "an ETDump that parses",
                  "the file is cut off, damaged or no ETDump: copy it again from where it was written, or measure "
                  "again")
        return
    file.execute_ns = [ns for block in document["blocks"] for ns in block["execute_ns"]]
    damaged = [d for d in document["damaged"] if not d["crosses"]]
    if damaged:
        first = damaged[0]
        claims = "ends before it starts" if first["ns"] is None else f"claims {_time(first['ns'])}"
        notes.add(file.name, "dump.clock", False, f"{len(damaged)} executions with a damaged clock; in run "
                  f"{first['run']} {first['name']} {claims}",
                  "events that fit into what they are part of",
                  "the clock jumped while it was recorded: measure again; 'etprof ops' leaves these executions out")
    file.readable = bool(file.execute_ns)
    notes.add(file.name, "dump" if file.readable else "dump.execute", file.readable,
              f"{len(file.execute_ns)} executions", "executions with a Method::execute",
              "none is sound: measure again" if damaged else
              "no inference finished while it was recorded: read the .log beside it, measure again")


def _check_model(notes: Notes, file: File, document: dict[str, Any] | None, words: str) -> None:
    notes.add(file.name, "model" if document else "model.readable", bool(document), words or "parses",
              "a model file that parses", "the file is cut off, damaged or of another kind: export or copy it again")
    problem = document.get("test_problem") if document else None
    if problem:
        notes.add(file.name, "model.tests", False, problem, "as much data as its shape has",
                  "ExecuTorch goes by the shape and would read other memory: bundle the test cases again")
