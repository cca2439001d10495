# SPDX-License-Identifier: Apache-2.0
"""Which run folders, packs and dumps are below a folder."""
from __future__ import annotations

import dataclasses
import os
import urllib.parse
from collections.abc import Iterator, Sequence

from etprof import errors

_MOST_BYTES, _MOST_SOURCES = 64 << 20, 2000 # of a chunk: what a worker holds in memory at once


@dataclasses.dataclass(frozen=True)
class Source:
    path: str
    size: int # of what makes most of its rows
    modified_ns: int

    @property
    def is_dump(self) -> bool:
        return self.path.endswith((".etdump", ".etdp"))


def _of_file(path: str) -> Source:
    found = os.stat(path)
    return Source(path, found.st_size, found.st_mtime_ns)


def _of_run(path: str) -> Source:
    manifest = os.stat(os.path.join(path, "manifest.json"))
    try:
        size = os.stat(os.path.join(path, "samples.csv")).st_size
    except OSError:
        size = 0
    return Source(path, manifest.st_size + size, manifest.st_mtime_ns)


def _below(folder: str) -> Iterator[Source]:
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda e: e.name)
    if any(e.name == "manifest.json" for e in entries):
        yield _of_run(folder)
        return # its dumps are the run's
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        elif entry.name.endswith((".etdump", ".etdp", ".tar.zst")):
            try:
                yield _of_file(entry.path)
            except OSError: # a link to nowhere: the reader says what is wrong with it
                yield Source(entry.path, 0, 0)


def local(place: str) -> str:
    """PLACE as a path of this machine; file:// is one."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        return place
    if scheme == "file":
        return urllib.parse.unquote(urllib.parse.urlsplit(place).path)
    raise errors.UsageError(
        f"{place}: sources and lakes are folders of this machine here; mount the bucket, or copy the night's files "
        f"(docs/fleet.md says how {scheme}:// goes with Spark's connectors, which nobody has tried)")


def find(places: Sequence[str]) -> list[Source]:
    """In the order of their paths, so that what is alike comes to one worker."""
    found: list[Source] = []
    for place in map(local, places):
        if os.path.isdir(place):
            found += _below(place.rstrip("/") or "/")
        elif os.path.exists(place):
            found.append(_of_file(place))
        else:
            raise errors.EnvironmentProblem(f"{place} is not there")
    return sorted(set(found), key=lambda s: s.path)


def chunks(sources: Sequence[Source], workers: int) -> list[list[str]]:
    """Parts of SOURCES that a worker reads at once: not too large, and some for each worker."""
    most = max(1, min(_MOST_SOURCES, -(-len(sources) // (workers * 4))))
    found: list[list[str]] = []
    held = 0
    for source in sources:
        if not found or held + source.size > _MOST_BYTES or len(found[-1]) >= most:
            found.append([])
            held = 0
        found[-1].append(source.path)
        held += source.size
    return found
