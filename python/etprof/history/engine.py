# SPDX-License-Identifier: Apache-2.0
"""The tables that questions are asked of, `sessions`, `arms`, `comparisons` and `errors`: of run folders in DuckDB, of
a lake in DuckDB or Spark. What people typed is bound to a query, and never a part of its text."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Union

from etprof import __version__
from etprof.history import folders
from etprof.history.folders import Folder, Unread

SQL = Path(__file__).resolve().parent / "sql"
Rows = list[dict[str, Any]]
_BATCH, _BATCH_BYTES = 200, 32 << 20 # folders whose documents are held at once

# What is taken of the documents; all else in them is passed over, and what has another type is unknown.
_MANIFEST = {"state": "VARCHAR", "generated_at": "VARCHAR", "blocks_done": "BIGINT", "tool": {"version": "VARCHAR"},
             "executorch": {"version": "VARCHAR"}, "models": [{"stem": "VARCHAR", "sha256": "VARCHAR"}],
             "device": {"spec": "VARCHAR", "emulated": "BOOLEAN", "facts": {"cpu": "VARCHAR"}},
             "plan": {"baseline": "BIGINT", "arms": [{"name": "VARCHAR", "model": "BIGINT", "threads": "BIGINT",
                                                      "runner_sha256": "VARCHAR"}]}}
_ANSWER = {"arms": [{"name": "VARCHAR", "level": "VARCHAR", "launches": "BIGINT", "median_ns": "BIGINT"}],
           "comparisons": [{"baseline": "VARCHAR", "candidate": "VARCHAR", "withheld": "VARCHAR",
                            "speedup": {"estimate": "DOUBLE", "lo": "DOUBLE", "hi": "DOUBLE"}}]}
_REPORT = {"schema": "VARCHAR", "tool": {"version": "VARCHAR"}, "grade": "VARCHAR", **_ANSWER,
           "phases": [{"name": "VARCHAR", "kind": "VARCHAR", "tokens": "BIGINT", "depth": "BIGINT",
                       "document": _ANSWER}]}
# A report of this version, with the baseline that the session has; a manifest that says what rows need.
_FITS = """r.schema = 'etprof.ab/1' AND r.tool.version = $version AND len(r.arms) > 0 AND len(m.plan.arms) > 0
  AND m.state IS NOT NULL AND m.generated_at IS NOT NULL AND m.device.emulated IS NOT NULL
  AND len(list_filter(m.plan.arms, lambda a: a.name IS NULL OR a.threads IS NULL
                                             OR m.models[a.model + 1].stem IS NULL)) = 0
  AND (len(r.comparisons) = 0 OR r.comparisons[1].baseline = m.plan.arms[m.plan.baseline + 1].name)"""
# With the names of the fleet's columns, so that a lake is asked by the same queries.
_TABLES = """
CREATE TABLE sessions (run VARCHAR, run_id VARCHAR, kind VARCHAR, generated_at VARCHAR, device VARCHAR, cpu VARCHAR,
  emulated BOOLEAN, build VARCHAR, executorch VARCHAR, tool_version VARCHAR, state VARCHAR, grade VARCHAR, arms BIGINT,
  blocks BIGINT);
CREATE TABLE arms (run_id VARCHAR, experiment VARCHAR, level VARCHAR, model VARCHAR, model_sha256 VARCHAR,
  threads BIGINT, phase_name VARCHAR, phase_kind VARCHAR, phase_tokens BIGINT, phase_depth BIGINT, launches BIGINT,
  median_ns BIGINT);
CREATE TABLE comparisons (run_id VARCHAR, baseline VARCHAR, experiment VARCHAR, phase_name VARCHAR, phase_kind VARCHAR,
  phase_depth BIGINT, speedup DOUBLE, lo DOUBLE, hi DOUBLE, withheld VARCHAR);
CREATE TABLE errors (run VARCHAR, message VARCHAR, at_byte BIGINT);
"""


_ERRORS = "SELECT run, message, at_byte FROM errors ORDER BY run, message"


def query(name: str) -> str:
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    return text if name in ("sessions", "arms", "comparisons", "left_out") else \
        f"WITH chosen AS ({(SQL / 'chosen.sql').read_text(encoding='utf-8')})\n{text}"


def _duckdb() -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_external_access = false") # nothing of a document reaches a file
    connection.execute("SET lock_configuration = true")
    return connection


class Folders:
    """The sessions of run folders, in memory."""

    def __init__(self, places: list[str]) -> None:
        self._connection = _duckdb()
        self._connection.execute(_TABLES)
        self._known: set[str] = set()
        self.anew = self.copies = 0
        batches = _batches(folders.find(places))
        with ThreadPoolExecutor(1) as reader: # of files, while DuckDB parses
            coming = reader.submit(next, batches, None)
            while batch := coming.result():
                coming = reader.submit(next, batches, None)
                self._take(batch)

    def _take(self, batch: list[Folder | Unread]) -> None:
        fresh = [one for one in batch if isinstance(one, Unread) or self._is_new(one.run_id)]
        stale = self._put([one for one in fresh if isinstance(one, Folder)])
        again = [one for one in (folders.read(run, anew=True) for run in stale) if one is not None]
        for run in self._put([one for one in again if isinstance(one, Folder)]):
            again.append(Unread(run, "manifest and answer of this folder do not fit together", None))
        unread = [one for one in (*fresh, *again) if isinstance(one, Unread)]
        if unread:
            self._connection.executemany("INSERT INTO errors VALUES (?, ?, ?)", [list(one) for one in unread])
        self.anew += sum(isinstance(one, Folder) and one.anew for one in (*fresh, *again))

    def _is_new(self, run_id: str) -> bool:
        """A folder that was copied or is named twice is one session."""
        new = run_id not in self._known
        self._known.add(run_id)
        self.copies += not new
        return new

    def _put(self, found: list[Folder]) -> list[str]:
        """The rows of FOUND. What comes back has no rows: its report is of another version of this program, of another
        baseline than the session's own, or not what it should be."""
        if not found:
            return []
        c = self._connection
        c.execute("CREATE OR REPLACE TEMP TABLE documents AS SELECT run, run_id, "
                  f"TRY(json_transform(decode(manifest), '{json.dumps(_MANIFEST)}')) AS m, "
                  f"TRY(json_transform(decode(report), '{json.dumps(_REPORT)}')) AS r "
                  "FROM (SELECT unnest($run::VARCHAR[]) AS run, unnest($id::VARCHAR[]) AS run_id, "
                  "unnest($manifest::BLOB[]) AS manifest, unnest($report::BLOB[]) AS report)",
                  {"run": [f.run for f in found], "id": [f.run_id for f in found],
                   "manifest": [f.manifest for f in found], "report": [f.report for f in found]})
        stale = [run for run, in c.execute(f"DELETE FROM documents WHERE NOT coalesce({_FITS}, false) "
                                           "RETURNING run", {"version": __version__}).fetchall()]
        for table in ("sessions", "arms", "comparisons"):
            c.execute(query(table))
        return stale

    def ask(self, name: str, bound: dict[str, str | None]) -> Rows:
        return rows_of(self._connection.execute(re.sub(r":(\w)", r"$\1", query(name)), bound or None))

    def errors(self) -> Rows:
        return rows_of(self._connection.execute(_ERRORS))

    def close(self) -> None:
        self._connection.close()


class DuckLake:
    """A lake's tables, in DuckDB."""

    anew = copies = 0

    def __init__(self, root: Path) -> None:
        from etprof.fleet import duck

        self._connection = duck.engine().connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        duck.views(self._connection, root)

    ask, errors, close = Folders.ask, Folders.errors, Folders.close


class SparkLake:
    """And in Spark."""

    anew = copies = 0

    def __init__(self, root: Path) -> None:
        from etprof.fleet import spark

        self._session = spark.session("local[*]")
        spark.views(self._session, root)

    def ask(self, name: str, bound: dict[str, str | None]) -> Rows:
        return [row.asDict() for row in self._session.sql(query(name), bound).collect()]

    def errors(self) -> Rows:
        return [row.asDict() for row in self._session.sql(_ERRORS).collect()]

    def close(self) -> None:
        self._session.stop()


Source = Union[Folders, DuckLake, SparkLake]


def rows_of(answer: Any) -> Rows:
    names = [d[0] for d in answer.description]
    return [dict(zip(names, row)) for row in answer.fetchall()]


def _batches(found: Iterator[Folder | Unread]) -> Iterator[list[Folder | Unread]]:
    batch: list[Folder | Unread] = []
    held = 0
    for one in found:
        held += len(one.report) + len(one.manifest) if isinstance(one, Folder) else 0
        batch.append(one)
        if len(batch) == _BATCH or held > _BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
