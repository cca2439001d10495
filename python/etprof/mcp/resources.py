# SPDX-License-Identifier: Apache-2.0
"""What can be read besides calling tools: the run folders below the allowed folders."""
from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import quote, unquote

from etprof.mcp.places import Places
from etprof.mcp.refused import Refused
from etprof.runfolders import is_run

RUN_URI = "etprof://run"
MOST_RUNS, MOST_ENTRIES = 100, 1000
DEPTH = 3  # below a root, out_MODEL/runs/PLATFORM is three levels away


def _runs(folder: str, depth: int) -> Iterator[str]:
    """Links are not followed, and hidden folders are passed over."""
    if is_run(folder):
        yield folder
    if depth == 0:
        return
    try:
        with os.scandir(folder) as listed:
            entries = sorted((entry for entry, _ in zip(listed, range(MOST_ENTRIES))), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _runs(entry.path, depth - 1)


def run_folders(places: Places) -> list[str]:
    """Each once: roots may overlap."""
    found: dict[str, None] = {}
    for root in places.roots:
        for folder in _runs(root, DEPTH):
            found[folder] = None
            if len(found) == MOST_RUNS:
                return list(found)
    return list(found)


def uri_of(folder: str) -> str:
    return RUN_URI + quote(os.fsencode(folder))  # a name may be no text


def folder_of(uri: str, places: Places) -> str:
    """The folder comes from the client: it is judged as a path of a tool is."""
    path = unquote(uri.removeprefix(RUN_URI), errors="surrogateescape")
    if not uri.startswith(f"{RUN_URI}/") or "\0" in path:
        raise Refused(f"no resource {uri:.200}; resources are {RUN_URI}/FOLDER, by an absolute path")
    return places.existing(path)
