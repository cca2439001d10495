# SPDX-License-Identifier: Apache-2.0
"""What `etprof ops`, `inspect`, `stats` and `whatif` answer."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from etprof import library as lib
from etprof.answers import INSPECT, OPS, STATS, WHATIF, Path, Reply
from etprof.runfolders import newest_below
from etprof.tables import Table


@dataclasses.dataclass(frozen=True)
class OperatorTime:
    """One operator of a recording, over its executions."""

    name: str
    instruction: int | None
    category: str
    share: float | None
    p50_ns: int | None
    mean_ns: int | None
    p90_ns: int | None
    max_ns: int | None
    calls: int | None
    delegated: str


class Ops(Reply):
    @property
    def operators(self) -> Table:
        return self.table("operators")

    @property
    def times(self) -> list[OperatorTime]:
        """The rows of `operators`, typed."""
        names = [f.name for f in dataclasses.fields(OperatorTime)]
        return [OperatorTime(**{name: row[name] for name in names}) for row in self.operators]


@dataclasses.dataclass(frozen=True)
class SampleComparison:
    baseline: str
    candidate: str
    speedup: float | None
    lo: float | None
    hi: float | None
    verdict: str
    withheld: str | None


class Stats(Reply):
    @property
    def comparisons(self) -> list[SampleComparison]:
        return [SampleComparison(x["baseline"], x["candidate"], x["speedup"]["estimate"], x["speedup"]["lo"],
                                 x["speedup"]["hi"], x["verdict"], x["withheld"]) for x in self.document["comparisons"]]


class WhatIf(Reply):
    def __repr__(self) -> str:
        if not self._handle:
            return super().__repr__()
        found = self.document
        changes = ", ".join(step["expression"] for step in found["steps"]) or "no change"
        now, then = found["now_ns"], found["then_ns"]
        ends = [found["least_ns"], found["most_ns"]] if then is None else [then]
        factor, unit = (1e6, "ms") if now >= 1e6 else (1e3, "µs")
        after = "not known" if None in ends else " to ".join(f"{end / factor:.3f}" for end in ends)
        return f"<etprof.WhatIf {found['arm']}, {changes}: {now / factor:.3f} → {after} {unit}, traced>"


def ops(dump: Path, *, pte: Path | None = None, etrecord: Path | None = None, source_unit: str | None = None,
        delegate_unit: str | None = None) -> Ops:
    """The operators of a recording with their times. Units of its ticks: "us", "cycles:168e6"; None: nanoseconds, and
    a delegate's own clock has no known unit.

    >>> for time in etprof.ops("x.etdump", pte="x.pte").times:
    ...     print(time.name, time.mean_ns)
    """
    return Ops(OPS, [dump], program=pte, record=etrecord, source_unit=source_unit, delegate_unit=delegate_unit)


def inspect(file: Path, *, etrecord: Path | None = None, etdump: Path | None = None, diff: Path | None = None,
            tree: bool = False, tensor: bool = False, debug_buffer: Path | None = None, source_unit: str | None = None,
            delegate_unit: str | None = None) -> Reply:
    """What is in a model or recording, and what makes it big. Units: as of `ops`.

    >>> etprof.inspect("x.pte").document["weights"]["bytes"]
    """
    return Reply(INSPECT, [file], record=etrecord, recording=etdump, other=diff, tree=tree, tensor=tensor,
                 buffer=debug_buffer, source_unit=source_unit, delegate_unit=delegate_unit)


def stats(samples: Path, *, baseline: str | None = None, margin: float = 0, phase: str | None = None) -> Stats:
    """The paired statistics of a CSV of samples or of a run folder. PHASE: of a session of several, "decode@256"; else
    the first.

    >>> etprof.stats("samples.csv").comparisons[0].speedup
    """
    return Stats(STATS, [samples], baseline=baseline, margin=margin, phase=phase)


def whatif(source: Path | Sequence[Path], *changes: str, baseline: str | None = None,
           pte: Path | None = None, roofs: Path | None = None, phase: str | None = None, source_unit: str | None = None,
           delegate_unit: str | None = None) -> WhatIf:
    """An inference with some operators changed: whatif("run/", "drop transpose*", "scale conv* 2"). PHASE: of a session
    of several, "decode@256"; else the first. Units: as of `ops`.

    >>> print(etprof.whatif("out_x/runs/linux", "drop transpose*", "threads 4"))
    """
    one = None if isinstance(source, (list, tuple)) else lib.path(source)  # type: ignore[arg-type]
    paths = list(source) if one is None else [newest_below(one)]  # type: ignore[arg-type]
    return WhatIf(WHATIF, paths, changes, baseline=baseline, program=pte, roofs=roofs, phase=phase,
                 source_unit=source_unit, delegate_unit=delegate_unit)
