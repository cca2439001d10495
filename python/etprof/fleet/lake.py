# SPDX-License-Identifier: Apache-2.0
"""The lake: a folder of Parquet, a commit at a time.

    LAKE/<table>/commit=000001/day=2026-11-21/device=pixel9/model=mv2/….parquet
    LAKE/_etprof/lake.json, commits/000001.json, sources/000001.parquet
    LAKE/_staging/000002/…      of a job at work

A job writes below _staging. When all of it is there it writes commit.json: from then on the commit counts, and whoever
comes next finishes it. Before, what a killed job left is removed. A table's part of a commit appears by one rename.
"""
from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any

from etprof import errors
from etprof.fleet.reading import TABLES
from etprof.fleet.sources import Source, local

FORMAT = 1
PARTITIONS = ("day", "device", "model")


def _write(path: Path, content: dict[str, Any]) -> None:
    beside = path.with_suffix(".tmp")
    with open(beside, "w", encoding="utf-8") as out:
        json.dump(content, out, indent=1)
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, path)


def _sync(folder: Path) -> None:
    """What is below FOLDER is on the disk when this returns."""
    for at, _, files in os.walk(folder):
        for name in [*files, "."]:
            _sync_one(Path(at, name))


def _sync_one(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Lake:
    """Open for one job; others are refused meanwhile."""

    def __init__(self, place: str, partition: tuple[str, ...] | None = None) -> None:
        self.root = Path(local(place)).absolute()
        self._wanted = partition

    def __enter__(self) -> Lake:
        self._own = self.root / "_etprof"
        try:
            for folder in ("commits", "sources"):
                (self._own / folder).mkdir(parents=True, exist_ok=True)
            self._lock = open(self._own / "lock", "w")
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
        about = self._own / "lake.json"
        if not about.exists():
            partition = self._wanted or PARTITIONS
            _write(about, {"format": FORMAT, "partition": list(partition)})
            return partition
        said = json.loads(about.read_text(encoding="utf-8"))
        if said["format"] != FORMAT:
            raise errors.BadInput(f"{about}: format {said['format']}, this package writes {FORMAT}; "
                                  "install a newer one")
        partition = tuple(said["partition"])
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
        return sorted(p.stem for p in (self._own / "commits").glob("*.json"))

    def known(self) -> tuple[set[str], dict[tuple[str, int, int], str]]:
        """The ids of all sources in the lake, and the id of each by path, size and time."""
        import pyarrow.parquet as pq

        ids: set[str] = set()
        by_stat: dict[tuple[str, int, int], str] = {}
        for file in sorted((self._own / "sources").glob("*.parquet")):
            rows = pq.read_table(file).to_pydict()
            ids.update(i for i in rows["id"] if i)
            by_stat.update(zip(zip(rows["path"], rows["size"], rows["modified_ns"]), rows["id"]))
        return ids, by_stat

    def stage(self) -> Path:
        taken = self.commits()
        folder = self.root / "_staging" / f"{int(taken[-1]) + 1 if taken else 1:06d}"
        folder.mkdir(parents=True)
        return folder

    def commit(self, staged: Path, sources: list[tuple[Source, str]], about: dict[str, Any]) -> set[str]:
        """Everything below STAGED counts from now on, and SOURCES with their ids are known. The id of a damaged one
        is not: it is its manifest's, and a sound copy has the same. Gives the ids of the damaged."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        damaged: set[str] = set()
        for file in sorted((staged / "errors").rglob("*.parquet")):
            damaged.update(pq.ParquetFile(file).read(["run"]).column("run").to_pylist())
        damaged_ids = {i for s, i in sources if s.path in damaged and i}
        sources = [(s, "" if s.path in damaged else i) for s, i in sources]
        pq.write_table(pa.table({
            "path": pa.array([s.path for s, _ in sources], pa.string()),
            "size": pa.array([s.size for s, _ in sources], pa.int64()),
            "modified_ns": pa.array([s.modified_ns for s, _ in sources], pa.int64()),
            "id": pa.array([i for _, i in sources], pa.string())}), staged / "sources.parquet")
        _sync(staged)
        _write(staged / "commit.json", about)
        self._publish(staged)
        return damaged_ids

    def _publish(self, staged: Path) -> None:
        name = staged.name
        for table in TABLES:
            if (staged / table).exists():
                (self.root / table).mkdir(exist_ok=True)
                os.rename(staged / table, self.root / table / f"commit={name}")
                _sync_one(self.root / table)
        if (staged / "sources.parquet").exists():
            os.replace(staged / "sources.parquet", self._own / "sources" / f"{name}.parquet")
        shutil.copyfile(staged / "commit.json", self._own / "commits" / f"{name}.tmp")
        os.replace(self._own / "commits" / f"{name}.tmp", self._own / "commits" / f"{name}.json")
        _sync_one(self._own / "commits")
        shutil.rmtree(staged)


def parts(root: Path, table: str) -> list[Path]:
    """The folders of TABLE that count: one that a job was killed at has no commit yet."""
    named = sorted(p.stem for p in (root / "_etprof/commits").glob("*.json"))
    return [p for p in (root / table / f"commit={name}" for name in named) if p.is_dir()]
