# SPDX-License-Identifier: Apache-2.0
"""Tables as Arrow C streams, which pandas, Polars, DuckDB and pyarrow take over without a copy."""
from __future__ import annotations

import ctypes as c
import errno
from collections.abc import Callable, Iterator
from typing import Any, overload

from etprof import errors


class ArrowSchema(c.Structure):
    pass


class ArrowArray(c.Structure):
    pass


class ArrowStream(c.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(ArrowSchema))), ("dictionary", c.c_void_p),
    ("release", c.CFUNCTYPE(None, c.POINTER(ArrowSchema))), ("private_data", c.c_void_p)]
ArrowArray._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64),
    ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(ArrowArray))),
    ("dictionary", c.c_void_p), ("release", c.CFUNCTYPE(None, c.POINTER(ArrowArray))), ("private_data", c.c_void_p)]
ArrowStream._fields_ = [
    ("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(ArrowStream), c.POINTER(ArrowSchema))),
    ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(ArrowStream), c.POINTER(ArrowArray))),
    ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(ArrowStream))),
    ("release", c.CFUNCTYPE(None, c.POINTER(ArrowStream))), ("private_data", c.c_void_p)]

_NAME = b"arrow_array_stream"
_DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)
_new = c.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, _DESTRUCTOR]
_pointer = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", c.pythonapi))
_handed: dict[int, ArrowStream] = {} # until their capsules go


def _end(capsule: int) -> None:
    stream = _handed.pop(_pointer(capsule, _NAME), None)
    if stream is not None and stream.release: # else the consumer moved it
        stream.release(c.byref(stream))


_END = _DESTRUCTOR(_end)


def _cells(kind: bytes, array: ArrowArray) -> list[Any]:
    n = array.length
    present = c.cast(array.buffers[0], c.POINTER(c.c_uint8)) if array.buffers[0] else None
    if kind == b"u":
        offsets = c.cast(array.buffers[1], c.POINTER(c.c_int32))
        text = c.string_at(array.buffers[2], offsets[n]) if n else b""
        values: list[Any] = [text[offsets[i]:offsets[i + 1]].decode() for i in range(n)]
    elif kind == b"b":
        bits = c.cast(array.buffers[1], c.POINTER(c.c_uint8))
        values = [bool(bits[i // 8] >> i % 8 & 1) for i in range(n)]
    else: # 64 bits: a number, or microseconds since 1970
        values = c.cast(array.buffers[1], c.POINTER(c.c_double if kind == b"g" else c.c_int64))[:n]
    return values if present is None else [v if present[i // 8] >> i % 8 & 1 else None for i, v in enumerate(values)]


class Table:
    """Rows of an answer. Hand it to pandas, Polars, DuckDB or pyarrow as it is, or ask for columns or rows.

    >>> table = etprof.ops("x.etdump").operators
    >>> table[0]["name"], table["mean_ns"], polars.DataFrame(table)
    """

    def __init__(self, name: str, opener: Callable[[Any], None], owner: object = None) -> None:
        self.name = name
        self._open, self._owner = opener, owner # the owner keeps the handle alive

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A PyCapsule with a struct ArrowArrayStream, as the Arrow PyCapsule interface has it."""
        stream = ArrowStream()
        self._open(c.byref(stream))
        _handed[c.addressof(stream)] = stream
        return _new(c.addressof(stream), _NAME, _END)

    def columns(self) -> dict[str, list[Any]]:
        """All of it as Python's own values; a missing one is None."""
        stream, schema = ArrowStream(), ArrowSchema()
        self._open(c.byref(stream))
        try:
            self._check(stream, stream.get_schema(c.byref(stream), c.byref(schema)))
            kinds = [schema.children[i].contents.format for i in range(schema.n_children)]
            found: dict[str, list[Any]] = {schema.children[i].contents.name.decode(): []
                                           for i in range(schema.n_children)}
            schema.release(c.byref(schema))
            while True:
                rows = ArrowArray()
                self._check(stream, stream.get_next(c.byref(stream), c.byref(rows)))
                if not rows.release:
                    return found
                for i, column in enumerate(found.values()):
                    column += _cells(kinds[i], rows.children[i].contents)
                rows.release(c.byref(rows))
        finally:
            stream.release(c.byref(stream))

    def batches(self) -> Iterator[Any]:
        """First the pyarrow.Schema, then one pyarrow.RecordBatch after the other, without a copy."""
        import pyarrow

        stream, schema = ArrowStream(), ArrowSchema()
        self._open(c.byref(stream))
        try:
            self._check(stream, stream.get_schema(c.byref(stream), c.byref(schema)))
            columns = pyarrow.Schema._import_from_c(c.addressof(schema))
            yield columns
            while True:
                rows = ArrowArray()
                self._check(stream, stream.get_next(c.byref(stream), c.byref(rows)))
                if not rows.release:
                    return
                yield pyarrow.RecordBatch._import_from_c(c.addressof(rows), columns)
        finally:
            stream.release(c.byref(stream))

    def _check(self, stream: ArrowStream, code: int) -> None:
        if code != 0:
            said = stream.get_last_error(c.byref(stream))
            kind = errors.BadInput if code == errno.EINVAL else errors.EnvironmentProblem
            raise kind(said.decode(errors="replace") if said else f"table {self.name}: error {code}")

    def rows(self) -> list[dict[str, Any]]:
        columns = self.columns()
        return [dict(zip(columns, cells)) for cells in zip(*columns.values())]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(next(iter(self.columns().values()), []))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_arrow(self) -> Any:
        """A pyarrow.Table, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def _repr_html_(self) -> str:
        from html import escape

        columns = self.columns()
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        rows = list(zip(*columns.values()))
        body = "".join("<tr>" + "".join(f"<td>{'' if v is None else escape(str(v))}</td>" for v in row) + "</tr>"
                       for row in rows[:50])
        more = f"<p>{len(rows) - 50} more rows</p>" if len(rows) > 50 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, key: str | int | slice) -> list[Any] | dict[str, Any]:
        """The column of that name, the row at that place, or rows."""
        columns = self.columns()
        if not isinstance(key, str):
            return [dict(zip(columns, cells)) for cells in zip(*columns.values())][key]
        if key not in columns:
            raise KeyError(f"no column '{key}'; there are {', '.join(columns)}{errors.suggest(key, columns)}")
        return columns[key]

    def __repr__(self) -> str:
        columns = self.columns()
        return f"<etprof.Table {self.name}: {len(self)} rows of {', '.join(columns)}>"
