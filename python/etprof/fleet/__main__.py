# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet SOURCE… --out LAKE: the rows of every run folder and dump below SOURCE into LAKE."""
from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from etprof import errors
from etprof.fleet.lake import PARTITIONS, Lake, SourceList, ids_of, seen_as
from etprof.fleet.reading import TABLES, Known, Part, part_name
from etprof.fleet.sources import Source, chunks, find, is_far, local


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m etprof.fleet", description="Writes the rows of every run folder and dump below SOURCE as "
        "tables of Parquet (docs/fleet.md). What LAKE holds already is left out; what is damaged becomes a row of the "
        "table errors.")
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help="a folder of them, or one of them; with "
                        "Spark also s3a://, gs://, abfs:// and hdfs://")
    parser.add_argument("--out", metavar="LAKE", required=True, help="folder of the tables; made when it is not there")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="default: one per CPU")
    parser.add_argument("--master", metavar="URL", help="Spark's; default: local[N]")
    parser.add_argument("--partition", metavar="KEYS", type=lambda t: tuple(t.split(",")),
                        help="folders of a new lake, default day,device; day,device,model where rows of each are many")
    parser.add_argument("--compact", action="store_true", help="afterwards one file in each folder of a table, for all "
                        "jobs so far; without SOURCE that alone")
    found = parser.parse_args(words)
    if not found.sources and not found.compact:
        parser.error("no SOURCE")
    if found.workers < 1:
        parser.error("--workers is 1 or more")
    if found.partition and found.partition != PARTITIONS[:len(found.partition)]:
        parser.error("--partition is day, day,device or day,device,model")
    return found


def engine_of(asked: argparse.Namespace) -> Any:
    if asked.engine == "spark":
        from etprof.fleet.spark import Spark

        return Spark(asked.workers, asked.master)
    from etprof.fleet.duck import Duck

    return Duck(asked.workers)


class Job:
    """What is below the sources and not in the lake, into it."""

    def __init__(self, lake: Lake, engine: Any, workers: int) -> None:
        self._lake, self._engine, self._workers = lake, engine, workers
        self.found = self.taken = 0
        self.rows: Counter[str] = Counter()

    def _unseen(self, sources: Iterator[Source]) -> Iterator[Source]:
        seen = self._lake.seen()
        for source in sources:
            self.found += 1
            if not seen or seen_as(*source) not in seen:
                yield source

    def run(self, sources: Iterator[Source], engine: str) -> None:
        known = Known(ids_of(self._lake.own))
        parts = chunks(self._unseen(sources), self._workers)
        staged = self._lake.stage()
        listed = SourceList(staged)
        for number, (chunk, part) in enumerate(self._engine.write(parts, self._lake, staged, known)):
            taken = self._take(chunk, part, number, staged, known)
            listed.add(taken)
            self.taken += len(taken)
        listed.close()
        if self.taken:
            self._lake.commit(staged, {"engine": engine, "sources": self.taken, "rows": dict(self.rows)})
        else:
            shutil.rmtree(staged)

    def _take(self, chunk: list[Source], part: Part, number: int, staged: Path,
              known: Known) -> list[tuple[Source, str]]:
        """The sources of CHUNK that came in. The same content counts once, under whatever name: where workers read
        copies at the same time, the first in the order of paths stays, and the other chunk is written again."""
        taken = [(s, i) for s, i in zip(chunk, part.ids) if i is not None]
        kept = [(s, i) for s, i in taken if not i or known.add(i)]
        if len(kept) < len(taken):
            for file in staged.rglob(part_name(number)):
                file.unlink()
            part = self._engine.write_again([s for s, _ in kept], self._lake, staged, number)
        self.rows.update(part.rows)
        return kept


def compact(asked: argparse.Namespace) -> int:
    if not os.path.isfile(os.path.join(local(asked.out), "_etprof", "lake.json")):
        raise errors.UsageError(f"{asked.out} is not a lake")
    with Lake(asked.out, asked.partition) as lake:
        before, after = lake.compact()
    print(f"{before:,} files are {after:,} now")
    return 0


def job(asked: argparse.Namespace) -> int:
    begun = time.monotonic()
    far = [place for place in asked.sources if is_far(place)]
    if far and asked.engine != "spark":
        raise errors.UsageError(f"{far[0]}: only Spark's connectors read it: --engine spark, or mount the bucket and "
                                "give the mount's folder (docs/fleet.md)")
    near = find([place for place in asked.sources if place not in far])
    engine = engine_of(asked)
    try:
        sources = itertools.chain(near, engine.find(far)) if far else near
        with Lake(asked.out, asked.partition) as lake:
            work = Job(lake, engine, asked.workers)
            work.run(sources, asked.engine)
    finally:
        engine.close()
    said = ", ".join(f"{n:,} {table}" for table in TABLES if (n := work.rows[table])) or "nothing new"
    print(f"{work.found:,} sources, {work.taken:,} new, {time.monotonic() - begun:.1f} s: {said}")
    if work.rows["errors"]:
        print(f"{work.rows['errors']:,} could not be read: the table errors says why")
    return 0


def work(asked: argparse.Namespace) -> int:
    code = job(asked) if asked.sources else 0
    return compact(asked) if asked.compact and code == 0 else code


def main() -> int:
    # pyarrow loads numpy, whose threads for matrices wait by turning round: 3 % of the job, for nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return work(parse())
    except errors.EtprofError as problem:
        print(f"etprof fleet: {problem}", file=sys.stderr)
        return problem.exit_code


if __name__ == "__main__":
    sys.exit(main())
