# SPDX-License-Identifier: Apache-2.0
"""The job on Spark: its workers read, its writers write."""
from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet.lake import Lake, ids_of, parts
from etprof.fleet.reading import TABLES, Known, Part, schema_of, write_part
from etprof.fleet.sources import Source

# Where the library does what there is to do, Java only starts: half of its processor time was its second compiler.
_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def session(master: str, java: str = "") -> Any:
    """A Spark session; one sentence when Java or a package is missing. JAVA: options of a Java on this machine."""
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
    builder = SparkSession.builder.master(master).appName("etprof fleet")
    if java: # else those of spark-defaults.conf
        builder = builder.config("spark.driver.extraJavaOptions", java)
    found = (builder
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


@functools.lru_cache(maxsize=1)
def _known(own: str, commit: str) -> Known:
    """In a worker, once a job: what the lake has."""
    del commit # another state of the lake is another argument
    return Known(ids_of(Path(own)))


class Spark:
    def __init__(self, workers: int, master: str | None = None) -> None:
        self.workers = workers
        self._spark = session(master) if master else session(f"local[{workers}]", _BRIEF)

    def write(self, chunks: Iterator[list[Source]], lake: Lake, staged: Path,
              known: Known) -> Iterator[tuple[list[Source], Part]]:
        """Each of CHUNKS and what became of it, in their order. A task reads a chunk and writes its files by the
        library: rows that go through Spark to be written take several times as long."""
        del known # a worker has one of its own
        listed = list(chunks)
        if not listed:
            return
        own, keys, where = str(lake.own), list(lake.partition), str(staged)
        commit = max(lake.commits(), default="")

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                for number, paths in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                    part = write_part(paths, _known(own, commit), where, keys, number)
                    yield pa.RecordBatch.from_arrays(
                        [pa.array([number], pa.int64()), pa.array([part.ids], pa.list_(pa.string())),
                         pa.array([list(part.rows)], pa.list_(pa.string())),
                         pa.array([list(part.rows.values())], pa.list_(pa.int64()))],
                        names=["number", "ids", "tables", "counts"])

        # A chunk is a partition: a worker holds the rows of one.
        asked = self._spark.sparkContext.parallelize(
            [(n, [s.path for s in chunk]) for n, chunk in enumerate(listed)], len(listed))
        done = self._spark.createDataFrame(asked, "number long, paths array<string>").mapInArrow(
            work, "number long, ids array<string>, tables array<string>, counts array<long>").collect()
        for row in sorted(done, key=lambda r: r.number):
            yield listed[row.number], Part(list(row.ids), dict(zip(row.tables, row.counts)))

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
