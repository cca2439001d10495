# SPDX-License-Identifier: Apache-2.0
"""Rows of sources from the C library, as Arrow."""
from __future__ import annotations

import ctypes as c
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from etprof import library as lib
from etprof.tables import Table

# In the order of etp_fleet_table.
TABLES = ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors")


class Rows:
    """What a list of sources holds, one Arrow table a name. Each source was read once."""

    def __init__(self, paths: Sequence[str], scratch: str) -> None:
        self._handle = c.c_void_p()
        lib.call("etp_fleet_read", lib.words(paths), len(paths), lib.path(scratch), c.byref(self._handle))

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        lib.function("etp_fleet_close")(self._handle)

    def write(self, root: Path, keys: Sequence[str], name: str) -> None:
        """All rows as ROOT/<table>/<key>=<value>/…/NAME."""
        lib.call("etp_fleet_write", self._handle, lib.path(root), lib.words(keys), len(keys), lib.path(name))

    def count(self, table: str) -> int:
        return int(lib.library().etp_fleet_rows(self._handle, TABLES.index(table)))

    def take(self, table: str) -> Any:
        """The rows of TABLE as a pyarrow.Table, without a copy; a second time there are none."""
        import pyarrow

        def opener(out: Any) -> None:
            lib.call("etp_fleet_stream", self._handle, TABLES.index(table), out)

        return pyarrow.table(Table(table, opener, self))


def rows_of(paths: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """(table, its rows) of PATHS, without tables that have none."""
    with tempfile.TemporaryDirectory(prefix="etprof-fleet-") as scratch, Rows(paths, scratch) as rows:
        for table in TABLES:
            found = rows.take(table)
            if found.num_rows:
                yield table, found


def schema_of(table: str) -> Any:
    with Rows([], "") as rows:
        return rows.take(table).schema


def ids_of(paths: Sequence[str]) -> list[str]:
    """What each is known by under any name: SHA-256 of its manifest, or of the dump; "" where that cannot be read."""
    found = []
    hash = c.create_string_buffer(65)
    with tempfile.TemporaryDirectory(prefix="etprof-fleet-") as scratch:
        for path in paths:
            err = lib.Error(offset=lib.NO_OFFSET)
            status = lib.function("etp_fleet_id")(lib.path(path), lib.path(scratch), hash, c.byref(err))
            found.append(hash.value.decode() if status == 0 else "")
    return found
