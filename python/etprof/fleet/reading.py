# SPDX-License-Identifier: Apache-2.0
"""Rows of sources from the C library, as Arrow."""
from __future__ import annotations

import ctypes as c
import dataclasses
import functools
import os
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from etprof import library as lib
from etprof.fleet import writing
from etprof.tables import Table

# In the order of etp_fleet_table.
TABLES = ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors")


class Known:
    """Ids that a lake has. Threads may read with it while another adds."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self.handle = c.c_void_p()
        lib.call("etp_fleet_known_new", c.byref(self.handle))
        weakref.finalize(self, lib.function("etp_fleet_known_close"), self.handle)
        self._new, self._error = c.c_bool(), lib.Error(offset=lib.NO_OFFSET)
        self._add = lib.function("etp_fleet_known_add")
        for one in ids:
            self.add(one)

    def add(self, one: str) -> bool:
        """Whether it was not there. Called for every source, so nothing is looked up or made anew here."""
        if self._add(self.handle, one.encode(), c.byref(self._new), c.byref(self._error)) != 0:
            raise lib.failure(self._error)
        return self._new.value


class Rows:
    """What a list of sources holds, one Arrow table a name. Each source was read once; with KNOWN those that it has,
    and copies of one, are left out."""

    def __init__(self, paths: Sequence[str], known: Known | None = None) -> None:
        self._handle, self._n = c.c_void_p(), len(paths)
        listed = lib.words(paths)
        if known is None:
            lib.call("etp_fleet_read", listed, len(paths), c.byref(self._handle))
        else:
            lib.call("etp_fleet_read_new", listed, len(paths), known.handle, c.byref(self._handle))

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        lib.function("etp_fleet_close")(self._handle)

    def ids(self) -> list[str | None]:
        """Of each source: SHA-256 of its manifest, or of the dump; "" where it has an error; None where it was left
        out."""
        of = lib.library().etp_fleet_source_id
        found = (of(self._handle, i) for i in range(self._n))
        return [one if one is None else one.decode() for one in found]

    def count(self, table: str) -> int:
        return int(lib.library().etp_fleet_rows(self._handle, TABLES.index(table)))

    def take(self, table: str) -> Any:
        """The rows of TABLE as a pyarrow.Table, without a copy; a second time there are none."""
        import pyarrow

        def opener(out: Any) -> None:
            lib.call("etp_fleet_stream", self._handle, TABLES.index(table), out)

        return pyarrow.table(Table(table, opener, self))


@dataclasses.dataclass
class Part:
    """What became of a chunk of sources."""

    ids: list[str | None] # as Rows.ids
    rows: dict[str, int] # by table


def write_part(paths: Sequence[str], known: Known | None, staged: str | os.PathLike[str], keys: Sequence[str],
               number: int) -> Part:
    """The rows of PATHS as the NUMBER-th files of Parquet below STAGED."""
    counts: dict[str, int] = {}
    with Rows(paths, known) as rows:
        for table in TABLES:
            if rows.count(table):
                taken = rows.take(table)
                counts[table] = taken.num_rows
                writing.write(taken, os.path.join(staged, table), keys, part_name(number))
        part = Part(rows.ids(), counts)
    _give_back()
    return part


@functools.cache
def _trim() -> Any:
    """glibc's, where that is the C library."""
    return getattr(c.CDLL(None), "malloc_trim", None)


def _give_back() -> None:
    """What the rows of one chunk took goes back to the system: the next ones touch other pages of it, and the job
    would grow with the number of its sources, up to twice what a chunk takes."""
    trim = _trim()
    if trim:
        trim(0)


def part_name(number: int) -> str:
    return f"part-{number:06d}.parquet"


def schema_of(table: str) -> Any:
    with Rows([]) as rows:
        return rows.take(table).schema
