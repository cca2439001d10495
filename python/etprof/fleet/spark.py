# SPDX-License-Identifier: Apache-2.0
"""The job on Spark: its workers read, its writers write."""
from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet.lake import parts
from etprof.fleet.reading import TABLES, ids_of, rows_of, schema_of


def session(master: str) -> Any:
    """A Spark session; one sentence when Java or a package is missing."""
    try:
        import pandas  # noqa: F401  (mapInArrow asks for it)
        import pyarrow  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise errors.EnvironmentProblem(f"{e.name} is missing: pip install 'etprof[fleet]'") from e
    home = os.environ.get("JAVA_HOME")
    if not (os.access(os.path.join(home, "bin/java"), os.X_OK) if home else shutil.which("java")):
        raise errors.EnvironmentProblem("Spark needs Java 17 or newer, and there is no java here: install it with "
                                        "'apt-get install default-jre-headless', or take --engine duckdb")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    beside = str(Path(__file__).resolve().parents[2])
    found = (SparkSession.builder.master(master).appName("etprof fleet")
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.memory", os.environ.get("ETPROF_FLEET_MEMORY", "2g"))
             .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([beside, *filter(None, [
                 os.environ.get("PYTHONPATH")])]))
             .config("spark.sql.session.timeZone", "UTC")
             .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
             .config("spark.sql.parquet.compression.codec", "zstd")
             .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
             .config("spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
             .getOrCreate())
    found.sparkContext.setLogLevel("ERROR")
    return found


def _types() -> dict[str, Any]:
    from pyspark.sql.pandas.types import from_arrow_schema

    return {table: from_arrow_schema(schema_of(table)) for table in TABLES}


def _read(batches: Iterator[Any]) -> Iterator[Any]:
    """In a worker: paths in, rows of all tables out, each in the column of its table."""
    import pyarrow as pa

    kinds = {table: pa.struct(list(schema_of(table))) for table in TABLES}
    for batch in batches:
        for paths in batch.column(0).to_pylist():
            for table, rows in rows_of(paths):
                for part in rows.to_batches():
                    n = part.num_rows
                    yield pa.RecordBatch.from_arrays(
                        [pa.repeat(table, n),
                         *(pa.StructArray.from_arrays(part.columns, fields=list(kind)) if name == table else
                           pa.nulls(n, kind) for name, kind in kinds.items())],
                        names=["etprof_table", *TABLES])


def _identify(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_arrays(
            [batch.column(0), pa.array([ids_of(paths) for paths in batch.column(1).to_pylist()],
                                       pa.list_(pa.string()))], names=["number", "ids"])


class Spark:
    def __init__(self, workers: int, master: str | None = None) -> None:
        self.workers = workers
        self._spark = session(master or f"local[{workers}]")

    def ids(self, chunks: Sequence[Sequence[str]]) -> list[list[str]]:
        if not chunks:
            return []
        asked = self._spark.createDataFrame(list(enumerate(map(list, chunks))), "number long, paths array<string>")
        asked = asked.repartition(min(len(chunks), self.workers * 4))
        rows = asked.mapInArrow(_identify, "number long, ids array<string>").collect()
        return [list(row.ids) for row in sorted(rows, key=lambda r: r.number)]

    def write(self, chunks: Sequence[Sequence[str]], staged: Path, partition: tuple[str, ...]) -> Counter[str]:
        from pyspark import StorageLevel
        from pyspark.sql.types import StringType, StructField, StructType

        types = _types()
        union = StructType([StructField("etprof_table", StringType()), *(
            StructField(table, kind) for table, kind in types.items())])
        # A chunk is a partition: a worker holds the rows of one.
        paths = self._spark.sparkContext.parallelize([(list(c),) for c in chunks], max(1, len(chunks)))
        read = self._spark.createDataFrame(paths, "paths array<string>").mapInArrow(_read, union)
        read = read.persist(StorageLevel.DISK_ONLY) # read once, written once a table
        counted: Counter[str] = Counter({r.etprof_table: r["count"] for r in
                                         read.groupBy("etprof_table").count().collect()})
        for table in TABLES:
            if counted[table]:
                rows = read.where(read.etprof_table == table).select(f"{table}.*")
                keys = [p for p in partition if p in rows.columns]
                rows.write.partitionBy(*keys).parquet(f"file://{staged / table}")
        read.unpersist()
        for crc in staged.rglob(".*.crc"):
            crc.unlink()
        return counted

    def close(self) -> None:
        self._spark.stop()


def views(spark: Any, root: Path) -> None:
    """The tables of a lake under their names; one without rows has its columns all the same."""
    for table, kind in _types().items():
        folders = [f"file://{part}" for part in parts(root, table)] # not as_uri: Hadoop takes % as it is
        if folders:
            found = spark.read.option("basePath", f"file://{root / table}").parquet(*folders).select(*kind.names)
        else:
            found = spark.createDataFrame([], kind)
        found.createOrReplaceTempView(table)
