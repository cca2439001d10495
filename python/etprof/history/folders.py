# SPDX-License-Identifier: Apache-2.0
"""Run folders as two texts each: the manifest, and the answer that the folder's report.json holds."""
from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from etprof.errors import BadInput, EnvironmentProblem, EtprofError

DEPTH = 4 # folders below a place that are looked into
MOST_BYTES = 64 << 20 # of a document, as the C readers have it


class Folder(NamedTuple):
    run: str
    run_id: str # SHA-256 of the manifest
    manifest: bytes
    report: bytes # etprof.ab/1
    anew: bool # the library made it just now


class Unread(NamedTuple):
    """A row of `errors`."""

    run: str
    message: str
    at_byte: int | None


def find(places: Sequence[str]) -> Iterator[Folder | Unread]:
    """The run folders in PLACES, read. Nothing is looked for inside one; links and hidden folders are left aside, since
    a link may lead back up."""
    for place in places:
        if not os.path.isdir(place):
            raise EnvironmentProblem(f"{place} is not a folder: give folders that hold run folders, a lake, or one CSV "
                                     "file")
        yield from _below(place, DEPTH)


def _below(folder: str, depth: int) -> Iterator[Folder | Unread]:
    found = read(folder)
    if found is not None:
        yield found
    if found is not None or depth == 0:
        return
    try:
        with os.scandir(folder) as listed:
            inner = sorted(e.path for e in listed if e.name[0] != "." and e.is_dir(follow_symlinks=False))
    except OSError as e:
        raise EnvironmentProblem(f"{folder}: {e.strerror}") from e
    for one in inner:
        yield from _below(one, depth - 1)


def _bytes(path: str) -> bytes:
    """Of a regular file; a link could lead out of the folder, a FIFO never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e
    with open(fd, "rb", buffering=0) as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise BadInput(f"{path} is not a regular file")
        if found.st_size > MOST_BYTES:
            raise BadInput(f"{path} has {found.st_size} bytes, {MOST_BYTES} at most")
        return file.read()


def _entry(derived: Any, name: str) -> dict[str, Any]:
    return next((f for f in derived["files"] if f["path"] == name), {})


def _written(run: str, run_id: str) -> bytes | None:
    """The report.json that etprof made of this very manifest; None: it is missing, or derived.json says
    otherwise."""
    try:
        derived = json.loads(_bytes(f"{run}/derived.json"))
        wanted = _entry(derived, "report.json").get("sha256")
        if derived["manifest_sha256"] != run_id or wanted is None:
            return None
        content = _bytes(f"{run}/report.json")
        return content if hashlib.sha256(content).hexdigest() == wanted else None
    except (BadInput, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def read(run: str, anew: bool = False) -> Folder | Unread | None:
    """None: no run folder. ANEW: by the library from the raw files, whatever report.json there is."""
    path = f"{run}/manifest.json"
    if not os.path.lexists(path):
        return None
    try:
        manifest = _bytes(path)
        if b'"etprof.run/' not in manifest:
            if os.path.lexists(f"{run}/environment.jsonl") or os.path.lexists(f"{run}/samples.csv"):
                raise BadInput(f"{path} is not the manifest of a run")
            return None # other programs have files of that name too
        run_id = hashlib.sha256(manifest).hexdigest()
        report = None if anew else _written(run, run_id)
        if report is None:
            from etprof import runs

            report = runs.open(run).report("json").encode()
            anew = True
        return Folder(run, run_id, manifest, report, anew)
    except EtprofError as problem:
        return Unread(run, str(problem), problem.byte)
