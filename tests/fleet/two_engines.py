# SPDX-License-Identifier: Apache-2.0
"""2,000 dumps and 240 sessions, most with recordings of operators, through DuckDB and through Spark: the same rows,
every cell of them.
usage: two_engines.py SOURCE_DIR BUILD_DIR"""
import json
import os
import pathlib
import subprocess
import sys

import duckdb

TREE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path.insert(0, str(TREE / "tests/tools"))
from checks import expect, finish, new_folder

LIBRARY = next(p for p in BUILD.glob("libetprof.*") if p.suffix in (".0", ".dylib"))
ENV = {**os.environ, "PYTHONPATH": str(TREE / "python"), "ETPROF_LIBRARY": str(LIBRARY)}

tmp = new_folder()
subprocess.run([sys.executable, TREE / "bench/fleet/make.py", tmp / "nights", "--models", "10", "--devices", "20",
                "--nights", "10", "--sessions", "40", "--recorded", "2", "--build", BUILD,
                TREE / "tests/data/mixed_xnnpack_fp32.etdump", TREE / "tests/data/linear_portable_fp32.etdump"],
               check=True)
truth = json.loads((tmp / "nights/truth.json").read_text())
for engine in ("duckdb", "spark"):
    subprocess.run([sys.executable, "-m", "etprof.fleet", tmp / "nights", "--out", tmp / engine, "--engine", engine,
                    "--partition", "day,device"], check=True, env=ENV)
ask = duckdb.connect()
for table in ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors"):
    there = [e for e in ("duckdb", "spark") if (tmp / e / table).exists()]
    expect(len(there) == 2, table, "only by", there)
    if len(there) != 2:
        continue
    one, other = (f"(select * exclude (commit) from read_parquet('{tmp}/{e}/{table}/**/*.parquet', "
                  "hive_partitioning = true, hive_types_autocast = false))" for e in there)
    n = ask.execute(f"select (select count(*) from {one}), (select count(*) from {other})").fetchone()
    columns = ", ".join(f'"{c[0]}"' for c in ask.execute(f"describe {one}").fetchall())
    for a, b in ((one, other), (other, one)):
        left = ask.execute(f"select count(*) from (select {columns} from {a} except all select {columns} from {b})")
        expect(left.fetchone() == (0,), table, "rows of one engine alone")
    expect(n[0] == n[1] > 0, table, n)
    print(f"{table}: {n[0]:,} rows")
got = ask.execute(f"select count(*) from read_parquet('{tmp}/duckdb/sessions/**/*.parquet')").fetchone()[0]
expect(got == truth["dumps"] - truth["corrupt"] + truth["sessions"] + truth["recorded_sessions"], "sessions", got,
       truth["dumps"])
finish()
