# SPDX-License-Identifier: Apache-2.0
"""The job on one machine: threads that read, and DuckDB, which writes."""
from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet.lake import parts
from etprof.fleet.reading import TABLES, ids_of, rows_of, schema_of


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
        """The rows of all CHUNKS as Parquet below STAGED."""
        counted: Counter[str] = Counter()
        whole = self._duckdb.connect()
        whole.execute(f"SET threads = {self.workers}")
        whole.execute("SET partitioned_write_max_open_files = 100")
        own = threading.local()

        def one(numbered: tuple[int, Sequence[str]]) -> Counter[str]:
            number, paths = numbered
            if not hasattr(own, "cursor"):
                own.cursor = whole.cursor()
            found: Counter[str] = Counter()
            for table, rows in rows_of(paths):
                keys = ", ".join(p for p in partition if p in rows.schema.names)
                own.cursor.register("rows_of_chunk", rows)
                own.cursor.execute(
                    f"COPY (SELECT * FROM rows_of_chunk) TO {quoted(str(staged / table))} (FORMAT parquet, "
                    f"COMPRESSION zstd, PARTITION_BY ({keys}), OVERWRITE_OR_IGNORE, "
                    f"FILENAME_PATTERN {quoted(f'part-{number:06d}-{{i}}')})")
                own.cursor.unregister("rows_of_chunk")
                found[table] += rows.num_rows
            return found

        for table in TABLES:
            (staged / table).mkdir()
        with ThreadPoolExecutor(self.workers) as pool:
            for found in pool.map(one, enumerate(chunks)):
                counted += found
        whole.close()
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
