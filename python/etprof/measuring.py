# SPDX-License-Identifier: Apache-2.0
"""`etprof.ab`: a session from a model to a run folder, with progress, in a terminal or a notebook."""
from __future__ import annotations

import ctypes as c
import dataclasses
import math
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, Callable

from etprof import errors, made
from etprof import library as lib
from etprof.answers import Path
from etprof.runs import Analysis
from etprof.runs import open as open_run


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a session is: BLOCK from 1; 0 outside blocks. REMAINING_S is None while it is unknown.

    >>> etprof.ab("x.pte", progress=lambda progress: print(progress.block, progress.remaining_s))
    """

    stage: str
    arm: str
    launch_kind: str
    block: int
    blocks: int
    launch: int
    launches: int
    elapsed_s: float
    remaining_s: float | None

    def __str__(self) -> str:
        where = f"block {self.block}/{self.blocks}" if self.blocks else self.stage
        left = "" if self.remaining_s is None else f", {math.ceil(self.remaining_s)} s left"
        return f"{where}  {self.arm} {self.launch_kind}{left}"


class _Line:
    """One line on standard error that is written over."""

    width = 0

    def __call__(self, progress: Progress) -> None:
        text = str(progress)
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def end(self) -> None:
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)


class _Session:
    """A measurement on a thread of its own, so that Ctrl-C and a notebook's stop reach this one."""

    def __init__(self, options: lib.MeasurementOptions) -> None:
        self.latest: Progress | None = None
        self.messages: list[str] = []
        self.problem: BaseException | None = None
        self.ended = threading.Event()
        self.ended.set()
        self.handle = c.c_void_p()
        # The callbacks live as long as the session: the library keeps no reference that Python counts.
        self.callbacks = lib.MeasurementCallbacks(progress=lib.ON_PROGRESS(self._progress),
                                                  message=lib.ON_MESSAGE(self._message))
        lib.call("etp_measurement_create", c.byref(options), c.byref(self.callbacks), c.byref(self.handle))

    def _progress(self, _: Any, told: Any) -> None:
        p = told.contents
        left = p.remaining_s if math.isfinite(p.remaining_s) else None
        self.latest = Progress(str(p.stage), str(p.arm), str(p.launch_kind), p.block, p.blocks, p.launch, p.launches,
                               p.elapsed_s, left)

    def _message(self, _: Any, text: lib.Str) -> None:
        self.messages.append(str(text))

    def _run(self) -> None:
        try:
            lib.call("etp_measurement_run", self.handle)
        except BaseException as e: # noqa: B036 - raised again on the caller's thread
            self.problem = e
        finally:
            self.ended.set()

    def run(self, show: Callable[[Progress], None] | None) -> lib.MeasurementSummary:
        """Measures. Whatever stops the waiting ends the session first; what is whole stays in its folder."""
        worker = threading.Thread(target=self._run, name="etprof")
        shown = None
        self.ended.clear()
        try:
            worker.start()
            while not self.ended.wait(0.1):
                if show and self.latest is not shown and self.latest is not None:
                    shown = self.latest
                    show(shown)
        finally:
            if worker.ident is None: # no thread could be had
                self.ended.set()
            self.end()
        if self.problem:
            raise self.problem
        return self.about()

    def end(self) -> None:
        """Waits until nothing is measured, however often Ctrl-C is pressed. The thread cannot tell: before Python 3.13
        a join that is interrupted takes it for ended."""
        while not self.ended.is_set():
            try:
                lib.function("etp_measurement_cancel")(self.handle)
                self.ended.wait()
            except KeyboardInterrupt:
                pass # a launch that is being ended takes its moment

    def about(self) -> lib.MeasurementSummary:
        result = lib.MeasurementSummary()
        lib.call("etp_measurement_about", self.handle, c.byref(result))
        return result

    def close(self) -> None:
        self.end()
        lib.function("etp_measurement_destroy")(self.handle)


def _surroundings() -> dict[str, Any]:
    """What the command takes from the environment."""
    names = {"search_path": "PATH", "qemu": "ETPROF_QEMU", "ssh_config": "ETPROF_SSH_CONFIG",
             "android_serial": "ANDROID_SERIAL"}
    found = {member: os.environ.get(name) for member, name in names.items()}
    return {"state_dir": made.state_dir() or None, **{k: v for k, v in found.items() if v}}


def _measure(options: lib.MeasurementOptions, progress: bool | Callable[[Progress], None]) -> Analysis:
    line = _Line()
    show = line if progress is True else progress or None
    if show and not callable(show):
        raise errors.WrongType(f"progress={progress!r} is neither True, False nor a function")
    session = _Session(options)
    try:
        try:
            result = session.run(show)
        finally:
            line.end()
    except KeyboardInterrupt:
        session.end()
        folder = str(session.about().folder)
        go_on = f"; etprof.resume({folder!r}) goes on" if folder else ""
        raise errors.Interrupted(f"interrupted; what was measured is whole{go_on}", folder or None) from None
    finally:
        folder = str(session.about().folder)
        session.close()
    if result.launches_lost:
        print("\n".join(session.messages), file=sys.stderr)
    answer = open_run(folder)
    answer.renew()
    return answer


def ab(*models: Path, levels: Sequence[str] = (), threads: Sequence[int] = (), baseline: str | None = None,
       device: str | None = None, runner: Path | None = None, out: Path | None = None, blocks: int = 0,
       precision: float = 0, budget: float = 0, warmup: int = 0, iterations: int = 0, seed: int = 0,
       timeout: float = 0, method: str | None = None, inputs: str | None = None, data: Path | None = None,
       cpus: str | None = None, trace: bool = True, kernels: bool = False, price: bool = False,
       progress: bool | Callable[[Progress], None] = True) -> Analysis:
    """Measures models at CPU-feature levels, block by block, and opens the run folder. Words mean what the options of
    `etprof ab` mean (docs/options.md); PRECISION is relative (0.01), times are seconds. PROGRESS: True shows a line,
    a function is called with each Progress. Ctrl-C ends the session; `etprof.resume` goes on with it.

    >>> run = etprof.ab("x.pte", levels=["avx2", "avx512"], precision=0.01)
    >>> run.comparisons[0].speedup, run.comparisons[0].verdict
    """
    if not isinstance(threads, Sequence):
        raise errors.WrongType(f"threads={threads!r} is not a list of whole numbers")
    counts = (c.c_uint32 * len(threads))(*(lib.number("threads", c.c_uint32, n) for n in threads)) if threads else None
    return _measure(lib.MeasurementOptions(
        models=lib.words(models), n_models=len(models), levels=lib.words(levels), n_levels=len(levels), threads=counts,
        n_threads=len(threads), baseline=baseline, device=device,
        runner=runner or os.environ.get("ETPROF_RUNNER") or None, folder=out,
        exact_folder=out is not None, no_trace=not trace, kernels=kernels, cold_loads=price,
        blocks=blocks, budget_s=budget, precision=precision, warmup=warmup, iterations=iterations, seed=seed,
        timeout_s=timeout, method=method, inputs=inputs, data=data, cpus=cpus, **_surroundings()), progress)


def resume(folder: Path, *, device: str | None = None, runner: Path | None = None, trust: bool = False,
           progress: bool | Callable[[Progress], None] = True) -> Analysis:
    """Goes on with an interrupted session, same plan and seed.

    >>> etprof.resume("out_x/runs/linux")
    """
    return _measure(lib.MeasurementOptions(
        resume=folder, device=device, trust=trust, runner=runner or os.environ.get("ETPROF_RUNNER") or None,
        **_surroundings()), progress)
