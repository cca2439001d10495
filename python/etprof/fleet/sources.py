# SPDX-License-Identifier: Apache-2.0
"""Which run folders and dumps are below a folder."""
from __future__ import annotations

import itertools
import os
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from etprof import errors

ENDS = (".etdump", ".etdp")
_MOST_BYTES, _MOST_SOURCES = 64 << 20, 2000 # of a chunk: what a worker holds in memory at once


class Source(NamedTuple):
    path: str
    size: int # of what makes most of its rows
    modified_ns: int


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
    with os.scandir(folder) as listed: # in the order of whole paths
        entries = sorted((e.name + "/" if e.is_dir(follow_symlinks=False) else e.name) for e in listed)
    if "manifest.json" in entries:
        yield _of_run(folder)
        return # its dumps are the run's
    inside = os.open(folder, os.O_RDONLY) # the way to the folder is not looked up again for each file
    try:
        for name in entries:
            if name[-1] == "/":
                yield from _below(f"{folder}/{name[:-1]}")
            elif name.endswith(ENDS):
                path = f"{folder}/{name}"
                try:
                    found = os.stat(name, dir_fd=inside)
                    yield Source(path, found.st_size, found.st_mtime_ns)
                except OSError: # a link to nowhere: the reader says what is wrong with it
                    yield Source(path, 0, 0)
    finally:
        os.close(inside)


def is_far(place: str) -> bool:
    """Whether PLACE is an address that no path of this machine is."""
    scheme, separator, _ = place.partition("://")
    return bool(separator) and scheme != "file"


def is_lake(place: str | os.PathLike[str]) -> bool:
    """Whether the folder PLACE is a lake that has rows."""
    return os.path.isdir(os.path.join(place, "_etprof/commits"))


def local(place: str) -> str:
    """PLACE as a path of this machine; file:// is one."""
    if is_far(place):
        raise errors.UsageError(f"{place}: a lake is a folder here that every worker sees; mount the bucket "
                                "(docs/fleet.md)")
    return urllib.parse.unquote(urllib.parse.urlsplit(place).path) if "://" in place else place


def find(places: Sequence[str]) -> Iterator[Source]:
    """In the order of their paths, so that what is alike comes to one worker; one after the other, so that memory does
    not grow with their number."""
    roots = sorted({p.rstrip("/") or "/" for p in map(local, places)})
    for root in roots:
        if not os.path.exists(root):
            raise errors.EnvironmentProblem(f"{root} is not there")
    return _find([r for r in roots if not any(r != other and r.startswith(other.rstrip("/") + "/") for other in roots)])


def _find(roots: Sequence[str]) -> Iterator[Source]:
    for root in roots:
        if os.path.isdir(root):
            yield from _below(root)
        else:
            yield _of_file(root)


def chunks(sources: Iterable[Source], workers: int) -> Iterator[list[Source]]:
    """Parts of SOURCES that a worker reads at once: not too large, and of few sources some for each worker."""
    rest = iter(sources)
    first = list(itertools.islice(rest, _MOST_SOURCES * workers * 4))
    most = max(1, min(_MOST_SOURCES, -(-len(first) // (workers * 4))))
    chunk: list[Source] = []
    held = 0
    for source in itertools.chain(first, rest):
        if chunk and (held + source.size > _MOST_BYTES or len(chunk) >= most):
            yield chunk
            chunk, held = [], 0
        chunk.append(source)
        held += source.size
    if chunk:
        yield chunk
