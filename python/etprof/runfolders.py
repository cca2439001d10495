# SPDX-License-Identifier: Apache-2.0
"""Which folder is a run, and which run of a model is the newest? By their manifests alone."""
from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from etprof.errors import UsageError

MANIFEST_BYTES = 64 << 20


def read_json(path: str | os.PathLike[str]) -> Any:
    """Of a file that may be anybody's. ValueError: it is no regular file (a FIFO never ends), too large or too deep."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MANIFEST_BYTES:
            raise ValueError("it is no regular file or too large")
        try:
            return json.loads(file.read().decode("utf-8"))
        except RecursionError:
            raise ValueError("its JSON is nested too deeply") from None


def is_run(folder: str) -> bool:
    """Whether FOLDER holds the manifest of a run, readable or not."""
    path = Path(folder, "manifest.json")
    try:
        return path.is_file() and path.stat().st_size <= MANIFEST_BYTES and b'"etprof.run/' in path.read_bytes()
    except OSError:
        return False


def default_folder(pte: str, platform: str) -> str:
    """Where `ab` puts the runs of PTE: beside artifacts/ in out_<model>, else in a new out_<model>."""
    parts = pte.split("/")
    for i, part in enumerate(parts[:-1]):
        if part.startswith("out_"):
            return "/".join([*parts[:i + 1], "runs", platform])
    stem = parts[-1].removesuffix(".pte")
    return f"out_{re.split('_(?:xnnpack|portable)_', stem, maxsplit=1)[0] or stem}/runs/{platform}"


@dataclasses.dataclass(frozen=True, order=True)
class _Run:
    """Ordered by age. Sessions of the same second: the number that a taken name got is the later one's."""

    generated_at: str
    number: int
    folder: str
    models: tuple[tuple[str, str], ...]  # path, SHA-256


def _read_run(folder: str, number: int) -> _Run | None:
    """None: it is not a run folder, or not readable."""
    path = Path(folder, "manifest.json")
    try:
        if path.is_symlink():
            return None
        found = read_json(path)
        if not found["schema"].startswith("etprof.run/"):
            return None
        models = tuple((str(m["path"]), str(m["sha256"])) for m in found["models"])
        return _Run(str(found["generated_at"]), number, folder, models)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _runs_called(name: str) -> list[_Run]:
    """The runs in the folder NAME and in those that its later runs got (NAME.2, NAME.3), newest first."""
    parent, last = os.path.split(name)
    found = []
    for entry in os.scandir(parent) if os.path.isdir(parent) else ():
        suffix = entry.name[len(last):]
        if entry.name.startswith(last) and re.fullmatch(r"(\.\d+)*", suffix) and entry.is_dir(follow_symlinks=False):
            found.append(_read_run(entry.path, int(suffix.rpartition(".")[2] or 1)))
    return sorted((run for run in found if run), reverse=True)


def newest_below(folder: str | bytes | os.PathLike[str]) -> str:
    """FOLDER, where it is a run or has none; else the newest run in it and in its runs/, as for out_<model>."""
    top = os.fsdecode(folder)
    if is_run(top):
        return top
    found = []
    for place in (top, os.path.join(top, "runs")):
        for entry in os.scandir(place) if os.path.isdir(place) else ():
            number = re.search(r"\.(\d+)$", entry.name)
            if entry.is_dir(follow_symlinks=False):
                found.append(_read_run(entry.path, int(number[1]) if number else 1))
    runs = [run for run in found if run]
    return max(runs).folder if runs else top


def sha256(path: str | os.PathLike[str]) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def newest_run(pte: str, platform: str) -> str:
    """The newest of the runs of PTE's default name that is of this very file. The hash decides and not the name:
    another model may have been exported to the same path meanwhile."""
    name = default_folder(pte, platform)
    if not os.path.isfile(pte):
        raise UsageError(f"{pte} is not there: export it first")
    wanted, runs = sha256(pte), _runs_called(name)
    for run in runs:
        if any(found == wanted for _, found in run.models):
            return run.folder
    if not runs:
        raise UsageError(f"no run of {pte} is there ({name}): measure it first")
    other = runs[0].models[0][0] if runs[0].models else "another model"
    raise UsageError(f"no run of {pte} is there: {runs[0].folder} is of {other} (another SHA-256): measure it first")
