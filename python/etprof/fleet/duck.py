# SPDX-License-Identifier: Apache-2.0
"""The job on one machine: threads of the library read and write; DuckDB asks."""
from __future__ import annotations

import importlib.util
import os
import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from etprof import extras
from etprof.fleet.lake import Lake, parts
from etprof.fleet.reading import TABLES, Known, Part, schema_of, write_part
from etprof.fleet.sources import Source


def engine() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401  (rows come through it)
    except ImportError as e:
        raise extras.missing("fleet", str(e.name)) from e
    return duckdb


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Duck:
    def __init__(self, workers: int) -> None:
        for needed in ("duckdb", "pyarrow"): # the report asks it; loading it here would take longer than 1,000 dumps
            if importlib.util.find_spec(needed) is None:
                raise extras.missing("fleet", needed)
        self.workers = workers

    def write(self, chunks: Iterator[list[Source]], lake: Lake, staged: Path,
              known: Known) -> Iterator[tuple[list[Source], Part]]:
        """Each of CHUNKS and what became of it, in their order. The library reads and writes one by itself, without
        Python's lock: DuckDB's own writer took as long as all else together."""
        waiting: deque[tuple[list[Source], Future[Part]]] = deque()
        with ThreadPoolExecutor(self.workers) as pool:
            for number, chunk in enumerate(chunks):
                waiting.append((chunk, pool.submit(write_part, [s.path for s in chunk], known, staged, lake.partition,
                                                   number)))
                if len(waiting) > self.workers: # one more than are at work, and no list of all
                    oldest, part = waiting.popleft()
                    yield oldest, part.result()
            for oldest, part in waiting:
                yield oldest, part.result()

    def write_again(self, chunk: list[Source], lake: Lake, staged: Path, number: int) -> Part:
        """CHUNK once more, whether or not the lake has what it holds."""
        return write_part([s.path for s in chunk], None, staged, lake.partition, number)

    def close(self) -> None:
        pass


def views(connection: Any, root: Path) -> None:
    """The tables of a lake under their names; one without rows has its columns all the same."""
    for table in TABLES:
        columns = schema_of(table)
        found = ", ".join(quoted(f"{part}/**/*.parquet") for part in parts(root, table))
        if found:
            names = ", ".join(columns.names)
            connection.execute(f"CREATE VIEW {table} AS SELECT {names} FROM read_parquet([{found}], "
                               "hive_partitioning = true, hive_types_autocast = false)")
        else:
            connection.register(table, columns.empty_table())


@contextmanager
def asking(root: Path) -> Iterator[Any]:
    """A connection to the tables of a lake. It groups in memory that does not grow with the lake (of 200,000
    recordings' operators that took 3.7 GB); what goes beyond lies on disk meanwhile, not where somebody works."""
    with tempfile.TemporaryDirectory(prefix="etprof-fleet-") as beyond:
        most = f"{1024 + 256 * (os.cpu_count() or 1)}MB"
        with engine().connect(config={"memory_limit": most, "temp_directory": beyond}) as connection:
            # A lake has thousands of files, and each of some 14 questions would read where their columns are.
            connection.execute("LOAD parquet; SET parquet_metadata_cache = true")
            views(connection, root)
            yield connection


def rows(connection: Any, query: str) -> Iterator[dict[str, Any]]:
    answer = connection.execute(query)
    names = [d[0] for d in answer.description]
    for row in answer.fetchall():
        yield dict(zip(names, row))
