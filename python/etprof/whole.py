# SPDX-License-Identifier: Apache-2.0
"""Files that are there when they are whole, and not before."""
from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def opened(output: str | None) -> Iterator[IO[bytes]]:
    """A regular file gets its name when it is whole. A FIFO or a device is written to directly."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if os.path.exists(output) and not stat.S_ISREG(os.stat(output).st_mode):
        with open(output, "wb") as file:
            yield file
        return
    unfinished = f"{output}.{os.getpid()}"
    try:
        with open(unfinished, "wb") as file:
            yield file
        os.replace(unfinished, output)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
