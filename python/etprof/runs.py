# SPDX-License-Identifier: Apache-2.0
"""Run folders, recordings and comparisons, opened: `etprof.open`, `etprof.dumps`, `etprof.compare`."""
from __future__ import annotations

import ctypes as c
import dataclasses
import functools
import math
from typing import Any, Callable, TypeVar

from etprof import errors
from etprof import library as lib
from etprof.answers import Answer, Path
from etprof.fixes import Fix
from etprof.replies import WhatIf, whatif
from etprof.runfolders import newest_below
from etprof.tables import Table

_RUN_TABLES = ("operators", "samples", "launches")
R = TypeVar("R")


@dataclasses.dataclass(frozen=True)
class Arm:
    """What was measured at one level. Unknown is None."""

    name: str
    measured: str
    level: str
    model: str
    proof: str
    threads: int
    launches: int
    samples: int
    median_ns: int | None
    lo_ns: float | None
    hi_ns: float | None
    traced_ns: int | None
    load_ns: int | None
    first_ns: int | None
    peak_rss_bytes: int | None
    dirty_bytes: int | None
    clean_bytes: int | None
    disk_bytes: int | None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """An arm against its baseline: speedup is the baseline's time ÷ the candidate's, with its 95 % interval."""

    baseline: int
    candidate: int
    speedup: float | None
    lo: float | None
    hi: float | None
    verdict: str
    withheld: str
    withheld_text: str
    method: str
    blocks: int
    margin: float | None
    noise_floor: float | None


@dataclasses.dataclass(frozen=True)
class Finding:
    id: str
    kind: str
    severity: str
    text: str


@dataclasses.dataclass(frozen=True)
class Summary:
    title: str
    folder: str
    state: str
    grade: str
    grade_reason: str
    baseline: int
    bare: bool
    emulated: bool
    outputs: bool | None
    launch_lost: bool


def _plain(value: Any) -> Any:
    if isinstance(value, lib.Str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value == lib.UNKNOWN_NS else value


def _typed(kind: Callable[..., R], struct: Any, **others: Any) -> R:
    """The members that a dataclass names, from a struct of the library."""
    names = [f.name for f in dataclasses.fields(kind) if f.name not in others] # type: ignore[arg-type]
    return kind(**{name: _plain(getattr(struct, name)) for name in names}, **others)


def _stream(name: str, folder: str, out: Any) -> None:
    lib.call("etp_tables_stream", _RUN_TABLES.index(name), lib.words([folder]), 1, out)


def _speedup(found: Comparison) -> str:
    if found.speedup is None:
        return f"withheld, {found.withheld or 'no whole block'}"
    interval = "" if found.lo is None else f" [{found.lo:.2f}, {found.hi:.2f}]"
    return f"{found.speedup:.2f}×{interval}, {found.verdict}"


def _milliseconds(ns: int | None) -> str:
    return "without a time" if ns is None else f"{ns / 1e6:.3f} ms"


class Analysis(Answer):
    """A run folder, recordings, or two sides of a comparison.

    >>> run = etprof.open("out_x/runs/linux")
    >>> run["linux_avx2"].median_ns, run.comparisons[0].verdict
    """

    _text, _close = "etp_analysis_text", "etp_analysis_close"
    _table, _table_name = "etp_analysis_table", "etp_analysis_table_name"

    def __init__(self, handle: c.c_void_p, again: Callable[[], Answer]) -> None:
        super().__init__(handle, again)
        about = lib.Summary()
        lib.call("etp_analysis_about", handle, c.byref(about))
        self._counts = (about.arms, about.comparisons, about.findings)
        outputs = None if about.outputs < 0 else bool(about.outputs)
        self.summary: Summary = _typed(Summary, about, outputs=outputs)

    def _each(self, function: str, struct: Any, n: int) -> list[Any]:
        found = [struct() for _ in range(n)]
        for i, item in enumerate(found):
            lib.call(function, self._handle, i, c.byref(item))
        return found

    @property
    def arms(self) -> list[Arm]:
        return [_typed(Arm, a) for a in self._each("etp_analysis_arm", lib.ArmResult, self._counts[0])]

    @property
    def comparisons(self) -> list[Comparison]:
        found = self._each("etp_analysis_comparison", lib.ComparisonResult, self._counts[1])
        return [_typed(Comparison, x, verdict=str(x.verdict_text)) for x in found]

    @property
    def findings(self) -> list[Finding]:
        return [_typed(Finding, f) for f in self._each("etp_analysis_finding", lib.FindingResult, self._counts[2])]

    @property
    def fixes(self) -> list[Fix]:
        """What is worth changing, in the order of the answer; `apply()` does it and measures it."""
        def one(f: dict[str, Any]) -> Fix:
            gain = {f"{key}_ns": f["gain_ns"][key] for key in ("lo", "expected", "hi")}
            return Fix(**{k: f[k] for k in ("id", "kind", "text", "share", "command", "advice")}, **gain,
                       folder=self.summary.folder)

        return [one(f) for f in self.document["next_fixes"]]

    def whatif(self, *changes: str) -> WhatIf:
        """An inference of this run folder with changes: whatif("N1"), whatif("drop transpose*")."""
        return whatif(self.summary.folder, *changes)

    @property
    def operators(self) -> Table:
        """The operators with their times in every arm."""
        return self.table("operators")

    @property
    def samples(self) -> Table:
        """Every iteration of the run folder (docs/tables.md)."""
        return self.rows("samples")

    @property
    def launches(self) -> Table:
        """Every process of the run folder."""
        return self.rows("launches")

    def __getitem__(self, arm: str) -> Arm:
        """The arm of that name."""
        arms = {a.name: a for a in self.arms}
        if arm not in arms:
            raise KeyError(f"no arm '{arm}'; there are {', '.join(arms)}{errors.suggest(arm, arms)}")
        return arms[arm]

    def rows(self, name: str) -> Table:
        """A table of the run folder in the long form of docs/tables.md: operators, samples or launches."""
        if name not in _RUN_TABLES:
            raise errors.UsageError(f"a run folder has no table '{name}'; it has {', '.join(_RUN_TABLES)}"
                                    f"{errors.suggest(name, _RUN_TABLES)}")
        return Table(name, functools.partial(_stream, name, self.summary.folder), self)

    def renew(self) -> None:
        """Writes the reports into the run folder again."""
        lib.call("etp_analysis_renew_folder", self._handle)

    def __repr__(self) -> str:
        if not self._handle:
            return f"<etprof.Analysis {self.summary.title}, closed>"
        arms = self.arms
        found = [f"{arms[x.candidate].measured} against {arms[x.baseline].measured} {_speedup(x)}"
                 for x in self.comparisons]
        found = found or [f"{arm.measured} {_milliseconds(arm.median_ns or arm.traced_ns)}" for arm in arms]
        return f"<etprof.Analysis {self.summary.title}: {'; '.join(found) or 'nothing measured'}>"


def _options(baseline: str | None, margin: float, pte: Path | None, etrecord: Path | None,
             roofs: Path | None) -> lib.AnalysisOptions:
    return lib.AnalysisOptions(baseline=baseline, margin=margin, program=pte, record=etrecord, roofs=roofs)


def open(folder: Path, *, baseline: str | None = None, margin: float = 0, roofs: Path | None = None) -> Analysis:
    """A run folder, or the newest one below a folder.

    >>> etprof.open("out_x").comparisons[0].speedup
    """
    folder = newest_below(lib.path(folder) or "")
    handle, how = c.c_void_p(), _options(baseline, margin, None, None, roofs)
    lib.call("etp_analysis_open_run", lib.path(folder), c.byref(how), c.byref(handle))
    return Analysis(handle, functools.partial(open, folder, baseline=baseline, margin=margin, roofs=roofs))


def dumps(*paths: Path, baseline: str | None = None, margin: float = 0, pte: Path | None = None,
          etrecord: Path | None = None) -> Analysis:
    """Recordings of any runner, one arm each.

    >>> etprof.dumps("a.etdump", "b.etdump", pte="x.pte").operators.to_pandas()
    """
    handle, how = c.c_void_p(), _options(baseline, margin, pte, etrecord, None)
    lib.call("etp_analysis_open_dumps", lib.words(paths), len(paths), c.byref(how), c.byref(handle))
    return Analysis(handle, functools.partial(dumps, *paths, baseline=baseline, margin=margin, pte=pte,
                                              etrecord=etrecord))


def compare(a: Path, b: Path, *, pte: Path | None = None, etrecord: Path | None = None, margin: float = 0,
            names: tuple[str | None, str | None] = (None, None)) -> Analysis:
    """Two sides, the first being the baseline: recordings, timelines, or run folders ("DIR:ARM").

    >>> print(etprof.compare("before.etdump", "after.etdump"))
    """
    handle, how = c.c_void_p(), _options(None, margin, pte, etrecord, None)
    how.names[0], how.names[1] = lib.path(names[0]), lib.path(names[1])
    lib.call("etp_analysis_compare", lib.path(a), lib.path(b), c.byref(how), c.byref(handle))
    return Analysis(handle, functools.partial(compare, a, b, pte=pte, etrecord=etrecord, margin=margin, names=names))
