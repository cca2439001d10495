# SPDX-License-Identifier: Apache-2.0
"""The job on one machine: threads of the library read and write; DuckDB asks."""
from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet.lake import parts
from etprof.fleet.reading import TABLES, Rows, ids_of, schema_of


def engine() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401  (rows come through it)
    except ImportError as e:
        raise errors.EnvironmentProblem(f"{e.name} is missing: pip install 'etprof[fleet]'") from e
    return duckdb


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Duck:
    def __init__(self, workers: int) -> None:
        self._duckdb = engine()
        self.workers = workers

    def ids(self, chunks: Sequence[Sequence[str]]) -> list[list[str]]:
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(ids_of, chunks))

    def write(self, chunks: Sequence[Sequence[str]], staged: Path, partition: tuple[str, ...]) -> Counter[str]:
        """The rows of all CHUNKS as Parquet below STAGED. The library reads and writes a chunk by itself, without
        Python's lock: DuckDB's own writer took as long as all else together."""
        counted: Counter[str] = Counter()

        def one(numbered: tuple[int, Sequence[str]]) -> Counter[str]:
            number, paths = numbered
            with tempfile.TemporaryDirectory(prefix="etprof-fleet-") as scratch, Rows(paths, scratch) as rows:
                rows.write(staged, partition, f"part-{number:06d}.parquet")
                return Counter({table: n for table in TABLES if (n := rows.count(table))})

        for table in TABLES:
            (staged / table).mkdir()
        with ThreadPoolExecutor(self.workers) as pool:
            for found in pool.map(one, enumerate(chunks)):
                counted += found
        for table in TABLES:
            if not counted[table]:
                (staged / table).rmdir()
        return counted

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


def rows(connection: Any, query: str) -> Iterator[dict[str, Any]]:
    answer = connection.execute(query)
    names = [d[0] for d in answer.description]
    for row in answer.fetchall():
        yield dict(zip(names, row))
