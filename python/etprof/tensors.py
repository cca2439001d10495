# SPDX-License-Identifier: Apache-2.0
"""Tensors that a recording logged. Their elements are read from the debug buffer when they are asked for."""
from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from etprof import errors

_SHOWN = 64 # elements of a larger one are its "head"
_CODES = {"torch.uint8": "B", "torch.int8": "b", "torch.int16": "h", "torch.int32": "i", "torch.int64": "q",
          "torch.float16": "e", "torch.float32": "f", "torch.float64": "d", "torch.bool": "?", "torch.uint16": "H"}


class Buffer:
    """An open debug buffer: it can be read when its name is gone."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError as e:
            raise errors.EnvironmentProblem(f"{self.path}: {e.strerror}") from e

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def read(self, at: int, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = os.pread(self._file, size - len(found), at + len(found))
            if not part:
                raise errors.BadInput(f"{self.path} is shorter than it was: no {size} bytes at byte {at}")
            found += part
        return found


class Tensor(Mapping[str, Any]):
    """dtype, shape, sum, and data or, above 64 elements, the first of them as head; numpy() has all."""

    def __init__(self, dtype: str, shape: list[int], at: int | None, buffer: Buffer | None) -> None:
        self.dtype, self.shape = dtype, tuple(shape)
        self._at, self._buffer = at, buffer

    @property
    def _n(self) -> int:
        return math.prod(self.shape)

    def _read(self, n: int) -> bytes | None:
        """The first N elements; None: they were not kept, and are zeros as the official one has it."""
        if self._at is None or self._buffer is None or n == 0:
            return None
        return self._buffer.read(self._at, n * struct.calcsize("=" + _CODES[self.dtype]))

    def _elements(self, n: int) -> list[Any]:
        code = _CODES[self.dtype]
        read = self._read(n)
        return [struct.unpack("=" + code, bytes(8)[:struct.calcsize("=" + code)])[0]] * n if read is None else [
            *struct.unpack(f"<{n}{code}", read)]

    def sum(self) -> float:
        elements = self._elements(self._n) if self._at is not None else []
        try:
            return math.fsum(elements)
        except (OverflowError, ValueError): # infinities
            return float(sum(elements))

    def numpy(self) -> Any:
        """A numpy array of all elements."""
        import numpy

        code = "<f2" if self.dtype == "torch.float16" else "<" + _CODES[self.dtype]
        read = self._read(self._n)
        flat = numpy.zeros(self._n, code) if read is None else numpy.frombuffer(bytearray(read), code)
        return flat.reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __getitem__(self, key: str) -> Any:
        if key == "dtype":
            return self.dtype
        if key == "shape":
            return list(self.shape)
        if key == "sum":
            return _number(self.sum())
        if key == ("head" if self._n > _SHOWN else "data"):
            return [_number(v) for v in self._elements(min(self._n, _SHOWN))]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(("dtype", "shape", "sum", "head" if self._n > _SHOWN else "data"))

    def __len__(self) -> int:
        return 4

    def __repr__(self) -> str:
        return f"<etprof tensor {self.dtype} {list(self.shape)}>"


def _number(value: Any) -> Any:
    """As JSON has it: the words nan, inf and -inf."""
    return value if math.isfinite(value) else str(value)


def shown(value: Any, buffer: Buffer | None) -> Any:
    """A logged value of the library with its tensors in it."""
    if isinstance(value, list):
        return [shown(v, buffer) for v in value]
    if isinstance(value, dict):
        found = value["tensor"]
        return {"tensor": Tensor(found["dtype"], found["shape"], found["at"], buffer)}
    return value


def plain(value: Any) -> Any:
    """The same without them: as `--format inspector` writes it."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    return {"tensor": dict(value["tensor"])} if isinstance(value, dict) else value
