# SPDX-License-Identifier: Apache-2.0
"""Sources in an object store, read by the connectors of Spark: s3a://, gs://, abfs://, hdfs:// and what else its
Hadoop knows. A worker puts the files of a chunk below a folder of its own, as their addresses say, and reads them
there; rows and messages name the addresses."""
from __future__ import annotations

import itertools
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from etprof import errors
from etprof.fleet.reading import Known, Part, write_part
from etprof.fleet.sources import ENDS, Source

_MOST_BYTES = (1 << 31) - 1 # of a file that Spark hands over


def _listed(spark: Any, place: str) -> Iterator[Source]:
    """All files below PLACE."""
    from py4j.protocol import Py4JJavaError

    try:
        path = spark._jvm.org.apache.hadoop.fs.Path(place)
        files = path.getFileSystem(spark._jsc.hadoopConfiguration()).listFiles(path, True)
        while files.hasNext():
            file = files.next()
            yield Source(file.getPath().toString(), file.getLen(), file.getModificationTime() * 1_000_000)
    except Py4JJavaError as e:
        why = str(e.java_exception.toString()).splitlines()[0]
        raise errors.EnvironmentProblem(f"{place}: Spark cannot list it: {why} (docs/fleet.md says which connector it "
                                        "takes, and how Spark is told)") from e


def _above(path: str) -> Iterator[str]:
    """The folders that PATH is in, the topmost first."""
    for slash in re.finditer("/", path):
        yield path[:slash.start()]


def sorted_out(files: Iterable[Source]) -> dict[Source, list[Source]]:
    """Run folders and dumps among FILES, each with the files that it is made of, in the order of their paths."""
    listed = sorted(files)
    manifests = {f.path.rpartition("/")[0]: f for f in listed if f.path.endswith("/manifest.json")}
    runs: dict[str, list[Source]] = defaultdict(list)
    found: dict[Source, list[Source]] = {}
    for file in listed:
        run = next((folder for folder in _above(file.path) if folder in manifests), None)
        if run is not None:
            runs[run].append(file) # its dumps are the run's
        elif file.path.endswith(ENDS):
            found[file] = [file]
    for folder, inside in runs.items():
        whole = Source(folder, sum(f.size for f in inside), manifests[folder].modified_ns)
        found[whole] = inside
    return dict(sorted(found.items()))


def find(spark: Any, places: Sequence[str]) -> dict[Source, list[Source]]:
    return sorted_out({file for place in sorted(set(places)) for file in _listed(spark, place)})


def _below(folder: str, path: str) -> str | None:
    """Where PATH lies below FOLDER, so that the address itself leads there; None of one that leads elsewhere."""
    parts = [part for part in path.split("/") if part]
    return None if ".." in parts or "\0" in path else os.path.join(folder, *parts)


def read_part(files: Iterable[Any], paths: Sequence[str], known: Known | None, staged: str, keys: Sequence[str],
              number: int) -> Part:
    """FILES (path, content) as the sources PATHS, in a worker."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="etprof-fleet-") as folder:
        for path, content in files:
            place = _below(folder, path)
            if place:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "wb") as out:
                    out.write(content)
        os.chdir(folder)
        try:
            return write_part(paths, known, staged, keys, number)
        finally:
            os.chdir(here)


def loaded(session: Any, files: Sequence[Source]) -> Any:
    """FILES as (path, content), in one part. To Spark a path is a pattern and day=… a column, unless it is told
    (escaped, a pattern with a colon is refused by Hadoop all the same), and an empty file is none."""
    told = {"recursiveFileLookup": "true", "__globPaths__": "false"}
    full = [f.path for f in files if 0 < f.size <= _MOST_BYTES]
    empty = [(f.path, b"") for f in files if f.size == 0]
    if not full:
        return session.sparkContext.parallelize(empty, 1)
    rows = session.read.format("binaryFile").options(**told).load(full).select("path", "content").coalesce(1).rdd
    return rows.mapPartitions(lambda some: itertools.chain(empty, some))
