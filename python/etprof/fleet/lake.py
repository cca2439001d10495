# SPDX-License-Identifier: Apache-2.0
"""The lake: a folder of Parquet, a commit at a time.

    LAKE/<table>/commit=000001/day=2026-11-21/device=pixel9/….parquet
    LAKE/_etprof/lake.json, commits/000001.json, sources/000001.parquet
    LAKE/_staging/000002/…      of a job at work

A job writes below _staging. When all of it is there it writes commit.json: from then on the commit counts, and the
next job finishes it. Before, what a killed job left is removed. A table's part of a commit appears by one rename. A
commit may take the place of others, which count no more from the moment that it does.
"""
from __future__ import annotations

import array
import ctypes
import fcntl
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from etprof import errors
from etprof.fleet.reading import TABLES
from etprof.fleet.sources import Source, local
from etprof.fleet.writing import merge

FORMAT = 1
PARTITIONS = ("day", "device", "model")
DEFAULT = PARTITIONS[:2]  # a file for each model of each device of each day holds next to nothing


def _write(path: Path, content: dict[str, Any]) -> None:
    beside = path.with_suffix(".tmp")
    with open(beside, "w", encoding="utf-8") as out:
        json.dump(content, out, indent=1)
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, path)


def _sync(folder: Path) -> None:
    """What is below FOLDER is on the disk when this returns. Where the C library has syncfs(2), by one call: a file and
    a folder at a time took a tenth of the whole job, for there is one of each in every partition."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs:
        fd = os.open(folder, os.O_RDONLY)
        try:
            if syncfs(fd) != 0: # what a disk refused since the folder was opened and before
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
        finally:
            os.close(fd)
        return
    for at, _, files in os.walk(folder):
        for name in [*files, "."]:
            _sync_one(Path(at, name))


def _sync_one(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def seen_as(path: str, size: int, modified_ns: int) -> bytes:
    """A short name of a source as it lay there; memory holds one for each of a lake's."""
    return hashlib.blake2b(b"%d %d %s" % (size, modified_ns, os.fsencode(path)), digest_size=16).digest()


def _sources(own: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    for file in sorted((own / "sources").glob("*.parquet")):
        with pq.ParquetFile(file) as parquet:
            yield from parquet.iter_batches(1 << 14)


def ids_of(own: Path) -> Iterator[str]:
    """Of all sources in the lake whose folder for itself is OWN."""
    for batch in _sources(own):
        yield from filter(None, batch.column("id").to_pylist())


def _texts(words: Sequence[str]) -> Any:
    """WORDS as a column. pyarrow.array() would load pandas to see that it is none: as long as 3,000 dumps take."""
    import pyarrow as pa

    encoded = [word.encode("utf-8", "replace") for word in words]
    ends = array.array("i", itertools.accumulate(map(len, encoded), initial=0))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def _numbers(values: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array.array("q", values))])


class SourceList:
    """The list of a commit's sources, written as they come."""

    def __init__(self, staged: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema([("path", pa.string()), ("size", pa.int64()), ("modified_ns", pa.int64()),
                                  ("id", pa.string())])
        self._out = pq.ParquetWriter(staged / "sources.parquet", self._schema)

    def add(self, sources: Sequence[tuple[Source, str]]) -> None:
        """With their ids; "" of a damaged one: a sound copy may have the same."""
        import pyarrow as pa

        columns = [_texts([s.path for s, _ in sources]), _numbers([s.size for s, _ in sources]),
                   _numbers([s.modified_ns for s, _ in sources]), _texts([i for _, i in sources])]
        self._out.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._out.close()


class Lake:
    """Open for one job; others are refused meanwhile."""

    def __init__(self, place: str, partition: tuple[str, ...] | None = None) -> None:
        self.root = Path(local(place)).absolute()
        self._wanted = partition

    def __enter__(self) -> Lake:
        self.own = self.root / "_etprof"
        try:
            for folder in ("commits", "sources"):
                (self.own / folder).mkdir(parents=True, exist_ok=True)
            self._lock = open(self.own / "lock", "w")
        except OSError as e:
            raise errors.EnvironmentProblem(f"{self.root}: {e.strerror}") from e
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            self._lock.close()
            raise errors.EnvironmentProblem(f"{self.root}: another job writes into it; wait until it has ended") from e
        self.partition = self._settle()
        self._recover()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._lock.close()

    def _settle(self) -> tuple[str, ...]:
        about = self.own / "lake.json"
        if not about.exists():
            partition = self._wanted or DEFAULT
            _write(about, {"format": FORMAT, "partition": list(partition)})
            return partition
        try:
            said = json.loads(about.read_text(encoding="utf-8"))
            written, partition = int(said["format"]), tuple(said["partition"])
            if not isinstance(said["partition"], list) or not all(isinstance(column, str) for column in partition):
                raise TypeError("the partition is not a list of columns")
        except (ValueError, TypeError, LookupError) as e:
            raise errors.BadInput(f"{about}: not what a lake keeps there, a format and a partition ({e}); put back a "
                                  "copy of it, or take another --out") from e
        if written != FORMAT:
            raise errors.BadInput(f"{about}: format {written}, this package writes {FORMAT}; install a newer one")
        if self._wanted not in (None, partition):
            raise errors.UsageError(f"{self.root} is partitioned by {', '.join(partition)}; a lake keeps what it began "
                                    "with: take another --out")
        return partition

    def _recover(self) -> None:
        staging = self.root / "_staging"
        for left in sorted(staging.iterdir()) if staging.exists() else []:
            if (left / "commit.json").exists():
                self._publish(left)
            else:
                shutil.rmtree(left)

    def commits(self) -> list[str]:
        return sorted(p.stem for p in (self.own / "commits").glob("*.json"))

    def seen(self) -> set[bytes]:
        """Digests of path, size and time of all sources that were read."""
        return {seen_as(*row) for batch in _sources(self.own)
                for row in zip(*(batch.column(name).to_pylist() for name in ("path", "size", "modified_ns")))}

    def stage(self) -> Path:
        taken = self.commits()
        folder = self.root / "_staging" / f"{int(taken[-1]) + 1 if taken else 1:06d}"
        folder.mkdir(parents=True)
        return folder

    def commit(self, staged: Path, about: dict[str, Any]) -> None:
        """Everything below STAGED counts from now on, and the sources in its list are known."""
        _sync(staged)
        _write(staged / "commit.json", about)
        self._publish(staged)

    def _publish(self, staged: Path) -> None:
        name = staged.name
        for table in TABLES:
            if (staged / table).exists():
                (self.root / table).mkdir(exist_ok=True)
                os.rename(staged / table, self.root / table / f"commit={name}")
                _sync_one(self.root / table)
        if (staged / "sources.parquet").exists():
            os.replace(staged / "sources.parquet", self.own / "sources" / f"{name}.parquet")
        shutil.copyfile(staged / "commit.json", self.own / "commits" / f"{name}.tmp")
        os.replace(self.own / "commits" / f"{name}.tmp", self.own / "commits" / f"{name}.json")
        _sync_one(self.own / "commits")
        for old in _replaced(staged / "commit.json"):
            for table in TABLES:
                shutil.rmtree(self.root / table / f"commit={old}", ignore_errors=True)
            (self.own / "commits" / f"{old}.json").unlink(missing_ok=True)
        shutil.rmtree(staged)

    def compact(self) -> tuple[int, int]:
        """All commits as one that takes their place, with one file in each folder of a table. How many files there were
        and are. Rows stay in the order of the commits."""
        commits = _standing(self.own)
        folders: dict[str, dict[str, list[Path]]] = {table: {} for table in TABLES}
        for table, places in folders.items():
            for commit in (self.root / table / f"commit={name}" for name in commits):
                for file in sorted(commit.rglob("*.parquet")):
                    places.setdefault(str(file.parent.relative_to(commit)), []).append(file)
        before = sum(len(files) for places in folders.values() for files in places.values())
        after = sum(map(len, folders.values()))
        if after < before:
            staged = self.stage()
            for table, places in folders.items():
                for place, files in places.items():
                    merge(files, staged / table / place)
            self.commit(staged, {"replaces": commits})
        return before, after


def _replaced(commit: Path) -> list[str]:
    return list(json.loads(commit.read_text(encoding="utf-8")).get("replaces", ()))


def _standing(own: Path) -> list[str]:
    """The commits that count: neither replaced nor without a file, as one that a job was killed at."""
    files = sorted((own / "commits").glob("*.json"))
    gone = {old for file in files for old in _replaced(file)}
    return [file.stem for file in files if file.stem not in gone]


def parts(root: Path, table: str) -> list[Path]:
    """The folders of TABLE that count."""
    return [p for p in (root / table / f"commit={name}" for name in _standing(root / "_etprof")) if p.is_dir()]
