# SPDX-License-Identifier: Apache-2.0
"""The job on Spark: its workers read, its writers write."""
from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from etprof import errors, extras
from etprof.fleet import far
from etprof.fleet.lake import Lake, ids_of, parts
from etprof.fleet.reading import TABLES, Known, Part, schema_of, write_part
from etprof.fleet.sources import Source

# Where the library does what there is to do, Java only starts: half of its processor time was its second compiler.
_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def _conf(master: str, java: str = "") -> Any:
    """How Spark is started; one sentence when Java or a package is missing. JAVA: options of a Java on this machine."""
    try:
        import pyarrow  # noqa: F401  (rows come through it)
        from pyspark import SparkConf
    except ImportError as e:
        raise extras.missing("spark", str(e.name)) from e
    home = os.environ.get("JAVA_HOME")
    if not (os.access(os.path.join(home, "bin/java"), os.X_OK) if home else shutil.which("java")):
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "there is no java here"
        raise errors.EnvironmentProblem(f"Spark needs Java 17 or newer, and {where}: install it with 'apt-get install "
                                        "default-jre-headless', or take --engine duckdb")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    beside = str(Path(__file__).resolve().parents[2])
    conf = SparkConf().setMaster(master).setAppName("etprof fleet")
    if java: # else those of spark-defaults.conf
        conf.set("spark.driver.extraJavaOptions", java)
    return conf.setAll({
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": os.environ.get("ETPROF_FLEET_MEMORY", "2g"),
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([beside, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "spark.sql.files.ignoreMissingFiles": "true", # one that went meanwhile is an error of its own
        "spark.sql.session.timeZone": "UTC", "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    }.items())


def session(master: str) -> Any:
    """A Spark session, for questions."""
    conf = _conf(master)
    from pyspark.sql import SparkSession

    found = SparkSession.builder.config(conf=conf).getOrCreate()
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
        conf = _conf(master) if master else _conf(f"local[{workers}]", _BRIEF)
        from pyspark import SparkContext

        self._spark = SparkContext.getOrCreate(conf)
        self._spark.setLogLevel("ERROR")
        self._files: dict[Source, list[Source]] = {} # what far sources are made of

    def find(self, places: list[str]) -> Iterator[Source]:
        """What is below addresses that Spark's connectors read."""
        self._files = far.find(self._spark, places)
        return iter(self._files)

    def write(self, chunks: Iterator[list[Source]], lake: Lake, staged: Path,
              known: Known) -> Iterator[tuple[list[Source], Part]]:
        """Each of CHUNKS and what became of it, in their order. A task reads a chunk and writes its files by the
        library: rows that go through Spark to be written take several times as long. What a task is told and tells is
        a list, no DataFrame: to plan one, Java loads as much again as to start."""
        del known # a worker has one of its own
        listed = list(chunks)
        if not listed:
            return
        own, keys, where = str(lake.own), list(lake.partition), str(staged)
        commit = max(lake.commits(), default="")

        def work(chunk: tuple[int, list[str]]) -> tuple[int, list[str | None], dict[str, int]]:
            number, paths = chunk
            part = write_part(paths, _known(own, commit), where, keys, number)
            return number, part.ids, part.rows

        # A worker holds the rows of one chunk at a time, and Python's own part of a task takes as long as 400 dumps:
        # some chunks a task, and some tasks a core.
        asked = [(n, [s.path for s in chunk]) for n, chunk in enumerate(listed) if self._files.keys().isdisjoint(chunk)]
        found = []
        if asked:
            tasks = min(len(asked), 4 * self._spark.defaultParallelism)
            found = self._spark.parallelize(asked, tasks).map(work).collect()
        with ThreadPoolExecutor(self._spark.defaultParallelism) as pool:
            found += pool.map(lambda n: self._fetch(n, listed[n], own, commit, where, keys),
                              set(range(len(listed))) - {n for n, _ in asked})
        for number, ids, rows in sorted(found, key=lambda row: row[0]):
            yield listed[number], Part(ids, rows)

    def write_again(self, chunk: list[Source], lake: Lake, staged: Path, number: int) -> Part:
        """CHUNK once more, whether or not the lake has what it holds."""
        where, keys = str(staged), list(lake.partition)
        if self._files.keys().isdisjoint(chunk):
            return write_part([s.path for s in chunk], None, where, keys, number)
        return Part(*self._fetch(number, chunk, None, "", where, keys)[1:])

    def _fetch(self, number: int, chunk: list[Source], own: str | None, commit: str, where: str,
               keys: list[str]) -> tuple[int, list[str | None], dict[str, int]]:
        """A chunk with far sources: a job of Spark's with one task, which is handed their files. Without OWN, also what
        the lake has is read."""
        from pyspark.sql import SparkSession

        paths = [s.path for s in chunk]

        def work(files: Iterator[Any]) -> Iterator[tuple[list[str | None], dict[str, int]]]:
            known = _known(own, commit) if own is not None else None
            part = far.read_part(files, paths, known, where, keys, number)
            yield part.ids, part.rows

        files = far.loaded(SparkSession(self._spark), [file for s in chunk for file in self._files.get(s, ())])
        return number, *files.mapPartitions(work).collect()[0]

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
