# SPDX-License-Identifier: Apache-2.0
"""`etprof convert --to parquet`: rows of run folders, from the library's Arrow stream, as a file of Parquet. Batch by
batch: memory does not grow with the rows."""
from __future__ import annotations

import argparse
import os
import sys
from typing import IO, Any

from etprof import extras, runfolders
from etprof import library as lib
from etprof.errors import EnvironmentProblem, EtprofError, NoSuchFile, UsageError
from etprof.shown import safe
from etprof.tables import Table
from etprof.whole import opened

TABLES = ("operators", "samples", "launches")  # in the order of etp_run_table


class _Counted:
    """A pipe as pyarrow writes to it: it asks where it is."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._at, self.closed = file, 0, False

    def write(self, data: Any) -> int:
        self._at += self._file.write(data)
        return self._at

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self.closed = True


def writer(out: Any, schema: Any, compression: str = "zstd") -> Any:
    """Texts repeat and get a dictionary; columns of numbers are shorter without one."""
    import pyarrow.parquet as pq

    texts = [field.name for field in schema if field.type == "string"]
    return pq.ParquetWriter(out, schema, compression=compression, store_schema=False, use_dictionary=texts)


def _write(table: Table, output: str | None, compression: str) -> int:
    batches, rows = table.batches(), 0
    schema = next(batches)
    with opened(output) as file, writer(_Counted(file), schema, compression) as out:
        for batch in batches:
            out.write_batch(batch)
            rows += batch.num_rows
    return rows


def _work(argv: list[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m etprof.parquet", allow_abbrev=False)
    p.add_argument("--table", choices=TABLES, default=TABLES[0])
    p.add_argument("--uncompressed", action="store_true")
    p.add_argument("-q", "--quiet", action="store_true")
    p.add_argument("-o", "--output")
    p.add_argument("folders", nargs="+")
    o = p.parse_args(argv)
    extras.need("parquet", ("pyarrow",), argv)
    folders = [folder.rstrip("/") or "/" for folder in o.folders]
    stranger = next((f for f in folders if not runfolders.is_run(f)), None)
    if stranger and not os.path.exists(stranger):
        raise NoSuchFile(f"cannot open {stranger}: No such file or directory")
    if stranger:
        raise UsageError(f"{stranger} is not a run folder (no manifest.json of etprof in it)")

    def opener(out: Any) -> None:
        lib.call("etp_tables_stream", TABLES.index(o.table), lib.words(folders), len(folders), out)

    try:
        rows = _write(Table(o.table, opener), o.output, "none" if o.uncompressed else "zstd")
    except EtprofError: # of the folders, in words of its own
        raise
    except OSError as problem:
        raise EnvironmentProblem(f"writing {o.output or 'standard output'}: {problem.strerror or problem}") from problem
    if not o.quiet:
        print(f"{o.table}: {rows} rows of {len(folders)} folder{'' if len(folders) == 1 else 's'}", file=sys.stderr)
    return 0


def main(argv: list[str]) -> int:
    try:
        return _work(argv)
    except EtprofError as problem:
        print(safe(f"etprof convert: {problem}"), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried again at the end
        return problem.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
