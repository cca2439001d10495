# SPDX-License-Identifier: Apache-2.0
"""A verb at work: what it prints within bounds, its progress, its end. It is a child in a session of its own, without
a shell; when its time is over or nobody waits for it any more it is interrupted as by Ctrl-C (whole blocks stay,
devices are set back), and what still runs after that is killed with its children."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
from collections.abc import Awaitable, Callable, Sequence

import anyio
from anyio.abc import ByteReceiveStream, Process

OUTPUT_BYTES, LOG_BYTES, LINE_BYTES = 64 << 20, 4000, 4000
GRACE_S = 8.0  # from asking it to end to ending it
PROGRESS = re.compile(rb"progress (\d{1,9}) (\d{1,9}) (.*)")  # src/cli/measure.c

Told = Callable[[int, int, str], Awaitable[None]]  # done, of how many, words


@dataclasses.dataclass
class Done:
    code: int = 0  # 128 + N after signal N
    out: bytes = b""
    log: str = ""
    overran: bool = False  # it was ended because its time was over
    too_long: bool = False  # it was ended because it printed more than OUTPUT_BYTES


class _Run:
    def __init__(self, process: Process, told: Told) -> None:
        self._process, self._told, self._steps = process, told, -1
        self.done, self._log = Done(), bytearray()

    async def read_out(self, stream: ByteReceiveStream) -> None:
        found = bytearray()
        async for part in stream:
            found += part
            if len(found) > OUTPUT_BYTES:
                self.done.too_long = True
                await end(self._process)
                return
        self.done.out = bytes(found)

    async def read_log(self, stream: ByteReceiveStream) -> None:
        """Progress goes to the client; of the rest the beginning is kept: an error is a line or two."""
        line = bytearray()
        async for part in stream:
            *whole, last = (bytes(line) + part).split(b"\n")
            for text in whole:
                await self._line(text)
            line[:] = last[:LINE_BYTES]
        await self._line(bytes(line))
        self.done.log = self._log.decode("utf-8", "replace").strip()

    async def _line(self, line: bytes) -> None:
        progress = PROGRESS.fullmatch(line)
        if progress is None:
            if line and len(self._log) + len(line) < LOG_BYTES:
                self._log += line + b"\n"
        elif int(progress[1]) > self._steps:  # it may only grow
            self._steps, total = int(progress[1]), int(progress[2])
            # Blocks come in place of lost ones: the total is never told below what is done.
            await self._told(self._steps, max(total, self._steps), progress[3].decode("utf-8", "replace").strip())


async def _drain(stream: ByteReceiveStream | None) -> None:
    """A child that is asked to end may have to print something first."""
    if stream:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
            while True:
                await stream.receive()


def _signal(process: Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def end(process: Process) -> None:
    """Asks PROCESS to end, with its children, and sees to it that it does."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            _signal(process, signal.SIGINT)
            with anyio.move_on_after(GRACE_S):
                async with anyio.create_task_group() as readers:
                    readers.start_soon(_drain, process.stdout)
                    readers.start_soon(_drain, process.stderr)
                    while process.returncode is None:
                        await anyio.sleep(0.02)
                    readers.cancel_scope.cancel()
            _signal(process, signal.SIGKILL)
            await process.wait()


async def run(words: Sequence[str], folder: str, seconds: float, told: Told) -> Done:
    """Starts WORDS and waits for their end, for at most SECONDS."""
    # Progress as lines; no escape sequences in what a model reads.
    environment = {**os.environ, "ETPROF_PROGRESS": "lines", "NO_COLOR": "1"}
    process = await anyio.open_process(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       cwd=folder, env=environment, start_new_session=True)
    work = _Run(process, told)
    try:
        with anyio.move_on_after(seconds) as limit:
            async with anyio.create_task_group() as readers:
                assert process.stdout and process.stderr
                readers.start_soon(work.read_out, process.stdout)
                readers.start_soon(work.read_log, process.stderr)
            await process.wait()
        work.done.overran = limit.cancelled_caught
    finally:
        await end(process)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    code = process.returncode or 0
    work.done.code = code if code >= 0 else 128 - code
    return work.done
