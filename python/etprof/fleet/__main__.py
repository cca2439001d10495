# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet SOURCE… --out LAKE: the rows of every run folder, pack and dump below SOURCE into LAKE."""
from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from typing import Any

from etprof import errors
from etprof.fleet.lake import PARTITIONS, Lake
from etprof.fleet.sources import Source, chunks, find


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m etprof.fleet", description="Writes the rows of every run folder, pack and dump below SOURCE as "
        "tables of Parquet (docs/fleet.md). What LAKE holds already is left out; what is damaged becomes a row of the "
        "table errors.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="a folder of them, or one of them")
    parser.add_argument("--out", metavar="LAKE", required=True, help="folder of the tables; made when it is not there")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="default: one per CPU")
    parser.add_argument("--master", metavar="URL", help="Spark's; default: local[N]")
    parser.add_argument("--partition", metavar="KEYS", type=lambda t: tuple(t.split(",")),
                        help="folders of a new lake, default day,device,model; day,device where models are many and "
                        "rows of each few")
    found = parser.parse_args(words)
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


def new_ones(found: list[Source], lake: Lake, engine: Any, workers: int,
             damaged: set[str]) -> list[tuple[Source, str]]:
    """Those that the lake has not, with their ids: the same content counts once, under whatever name. Copies of what
    turned out DAMAGED are all taken where the id is of the whole file: each is an error of its own."""
    ids, by_stat = lake.known()
    unseen = [s for s in found if (s.path, s.size, s.modified_ns) not in by_stat]
    parts = chunks(unseen, workers)
    hashes = [i for part in engine.ids(parts) for i in part]
    new: list[tuple[Source, str]] = []
    for source, hash in zip(unseen, hashes):
        if hash not in ids:
            new.append((source, hash))
            if hash and not (hash in damaged and source.is_dump):
                ids.add(hash)
    return new


def job(asked: argparse.Namespace) -> int:
    begun = time.monotonic()
    found = find(asked.sources)
    engine = engine_of(asked)
    counted: Counter[str] = Counter()
    taken, again = 0, True
    damaged: set[str] = set()
    try:
        with Lake(asked.out, asked.partition) as lake:
            while again: # until no copy of a damaged one is left
                new = new_ones(found, lake, engine, asked.workers, damaged)
                again = False
                if new:
                    staged = lake.stage()
                    rows = engine.write(chunks([s for s, _ in new], asked.workers), staged, lake.partition)
                    told = lake.commit(staged, new, {"engine": asked.engine, "sources": len(new), "rows": dict(rows)})
                    again = bool(told)
                    damaged |= told
                    counted += rows
                    taken += len(new)
    finally:
        engine.close()
    said = ", ".join(f"{n:,} {table}" for table, n in counted.items()) or "nothing new"
    print(f"{len(found):,} sources, {taken:,} new, {time.monotonic() - begun:.1f} s: {said}")
    if counted["errors"]:
        print(f"{counted['errors']:,} could not be read: the table errors says why")
    return 0


def main() -> int:
    try:
        return job(parse())
    except errors.EtprofError as problem:
        print(f"etprof fleet: {problem}", file=sys.stderr)
        return problem.exit_code


if __name__ == "__main__":
    sys.exit(main())
