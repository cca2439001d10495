# SPDX-License-Identifier: Apache-2.0
"""Rows as Parquet in the folders of a lake: "day=2026-11-21/device=pixel9/part-000001.parquet". What a folder's
name says is not a column of its files, as Hive, DuckDB and Spark have it."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from etprof import errors
from etprof.parquet import writer

_OTHERS = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^]")  # what a path or a name=value cannot hold


def _folder(key: str, value: str | None) -> str:
    if value is None:
        return f"{key}=__HIVE_DEFAULT_PARTITION__"  # Hive's word, which other engines took over
    return f"{key}={_OTHERS.sub(lambda found: f'%{ord(found[0]):02X}', value)}"


def _runs(batch: Any, keys: Sequence[str]) -> Iterator[tuple[tuple[str | None, ...], int, int]]:
    """What the columns KEYS say, from which row on and for how many. Rows of a source follow each other and say the
    same, so this takes time by changes, not by rows."""
    import pyarrow.compute as pc

    encoded = [pc.run_end_encode(batch.column(key)) for key in keys]
    ends = [column.run_ends.to_pylist() for column in encoded]
    values = [column.values.to_pylist() for column in encoded]
    at, start = [0] * len(keys), 0
    while start < batch.num_rows:
        end = min((ends[k][at[k]] for k in range(len(keys))), default=batch.num_rows)
        yield tuple(values[k][at[k]] for k in range(len(keys))), start, end - start
        at = [i + (ends[k][i] == end) for k, i in enumerate(at)]
        start = end


def merge(files: Sequence[os.PathLike[str]], folder: str | os.PathLike[str]) -> None:
    """The rows of FILES as one in FOLDER. A column that only later ones have is empty in the others' rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.ParquetFile(file).read() for file in files]
    whole = pa.concat_tables(tables, promote_options="default")
    os.makedirs(folder)
    with open(os.path.join(folder, "part-000000.parquet"), "wb") as file, writer(file, whole.schema) as out:
        out.write_table(whole)


def write(rows: Any, root: str | os.PathLike[str], keys: Sequence[str], name: str) -> None:
    """ROWS, a pyarrow.Table, as ROOT/<key>=<value>/…/NAME."""
    import pyarrow as pa

    missing = next((key for key in keys if rows.schema.get_field_index(key) < 0
                    or not pa.types.is_string(rows.schema.field(key).type)), None)
    if missing:
        raise errors.UsageError(f"{os.path.basename(root)} has no column {missing} to make folders of")
    places: dict[tuple[str | None, ...], list[Any]] = {}
    schema = pa.schema([field for field in rows.schema if field.name not in keys])
    for batch in rows.to_batches():
        kept = batch.select(schema.names)
        for values, start, n in _runs(batch, keys):
            places.setdefault(values, []).append(kept.slice(start, n))
    for values, parts in places.items():
        folder = os.path.join(root, *map(_folder, keys, values))
        os.makedirs(folder, exist_ok=True)
        # Into memory first: pyarrow writes a file in a hundred small pieces, which takes as long again.
        content = pa.BufferOutputStream()
        with writer(content, schema) as out:
            out.write_table(pa.Table.from_batches(parts, schema))
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content.getvalue())
