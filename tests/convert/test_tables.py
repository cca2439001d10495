# SPDX-License-Identifier: Apache-2.0
"""Tables as pyarrow, pandas and DuckDB see them, from the file and through the C stream. Skipped (77) where a reader is
not there; ETPROF_TESTS_PYTHON names a Python that has them. usage: test_tables.py ETPROF LIBETPROF"""
import ctypes
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import made
from checks import execute, expect, finish, in_python_with, new_folder, skip

in_python_with("duckdb", "pyarrow")
try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as e:
    skip(f"{e}; pip install pyarrow duckdb, and ETPROF_TESTS_PYTHON=that python")

ETPROF, LIBRARY = sys.argv[1:3]
TABLES = {"operators": 0, "samples": 1, "launches": 2}  # enum etp_run_table


def convert(out, which, *folders):
    execute(ETPROF, "convert", *folders, "--to", "parquet", "--table", which, "-o", out, check=True, text=False)
    return pq.ParquetFile(out)


def asked(question):
    return duckdb.connect().execute(question).fetchall()


def same(arrow, rows, what):
    rows = list(rows)
    expect(arrow.num_rows == len(rows), f"{what}: {arrow.num_rows} rows, {len(rows)} expected")
    for name in rows[0]:
        column = arrow.column(name)
        if pa.types.is_timestamp(column.type):
            expect(str(column.type) == "timestamp[us, tz=UTC]", what, column.type)
            column = column.cast(pa.int64())
        expect(column.to_pylist() == [r[name] for r in rows], f"{what}: {name}")


def stream(lib, which, folders):
    """The table through the C stream."""
    names = (ctypes.c_char_p * len(folders))(*(os.fsencode(f) for f in folders))
    out = ctypes.create_string_buffer(40) # struct ArrowArrayStream
    status = lib.etp_tables_stream(TABLES[which], names, ctypes.c_size_t(len(folders)), out, None)
    expect(status == 0, "etp_tables_stream", status)
    return pa.RecordBatchReader._import_from_c(ctypes.addressof(out))


def main(tmp):
    lib = ctypes.CDLL(LIBRARY)
    run, many = made.make(tmp / "run"), made.make(tmp / "many", blocks=2, iterations=20000)
    example = tmp / "example"
    subprocess.run(["cp", "-r", made.EXAMPLE, example], check=True)
    execute(ETPROF, "analyze", "--full", "--renew", example, check=True, text=False)
    for which, folders, rows in (("samples", [run, many], [*made.samples(run), *made.samples(many)]),
                                 ("launches", [run, many], [*made.launches(run), *made.launches(many)]),
                                 ("operators", [example], list(made.operators(example)))):
        file = convert(tmp / f"{which}.parquet", which, *folders)
        table = file.read()
        table.validate(full=True)
        same(table, rows, f"{which} by pyarrow")
        expect(asked(f"select count(*) from '{tmp}/{which}.parquet'") == [(len(rows),)], f"{which} by DuckDB")
        with stream(lib, which, folders) as reader:
            streamed = reader.read_all()
        streamed.validate(full=True)
        expect(streamed.replace_schema_metadata(None).equals(table.replace_schema_metadata(None)),
               f"{which}: the stream is the file")
    wanted = sum(r["duration_ns"] for r in made.samples(many) if r["phase"] == "timed")
    found = asked(f"select sum(duration_ns) from '{tmp}/samples.parquet' where phase = 'timed' and run = '{many}' and "
                  "block between 1 and 2")
    expect(found == [(wanted,)], "a sum by DuckDB", found, wanted)
    column = stream(lib, "samples", [many]).read_next_batch().column("experiment") # outlives batch and stream
    expect(column[0].as_py() == made.ARMS[0] and len(column) == 65536, "a column alone", len(column))
    try:
        stream(lib, "samples", [run, tmp / "nowhere"]).read_all()
        expect(False, "a stream of a folder that is not there ended well")
    except (OSError, pa.ArrowException) as e:
        expect(f"cannot open {tmp / 'nowhere'}: No such file or directory" in str(e), "the words of a failure", e)


folder = new_folder()
main(folder)
finish("pyarrow and DuckDB see what the raw files hold")
