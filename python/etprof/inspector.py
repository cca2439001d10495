# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Inspector with the same face and the same tables, its losses included (docs/library.md): notebooks move
by changing one import. `etprof.ops` has what it loses."""
from __future__ import annotations

import ctypes as c
import functools
import itertools
import json
import os
from typing import Any, NamedTuple

from etprof import errors
from etprof import library as lib
from etprof.answers import INSPECTOR, Path, Reply

_UNIT = " (ms)"
_STATISTICS = ("p10", "p50", "p90", "avg", "min", "max")
_AFTER = ("op_types", "delegate_debug_identifier", "stack_traces", "module_hierarchy", "is_delegated_op",
          "delegate_backend_name", "debug_data")
_PARSER = "delegate_debug_metadata needs a parser in Python: use the official Inspector"
_OFFICIAL = {"get_exported_program": "get_exported_program()", "calculate_numeric_gap": 'calculate_numeric_gap("MSE")',
             "get_op_list": "get_op_list(…)", "write_tensorboard_artifact": "write_tensorboard_artifact(…)"}
_HIDDEN = ["raw", "delegate_debug_identifier", "stack_traces", "module_hierarchy", "debug_data"]  # when printed
_LONG = 5  # op types, from which on the data frame has a text of them
# Cells of a column that the library leaves out because it says nothing in any row.
_EMPTY: dict[str, type] = {"op_types": list, "stack_traces": dict, "module_hierarchy": dict, "debug_data": list,
                           "is_delegated_op": bool, "delegate_debug_identifier": type(None),
                           "delegate_backend_name": type(None)}


class _Columns(NamedTuple):
    n: int
    statistics: bytes # six columns of doubles, NaN where there are no times
    complete: bool    # every row has times
    cells: dict[str, list[Any]]
    blocks: list[int] # of each row


@functools.lru_cache(maxsize=2)
def _labels(include_units: bool) -> Any:
    """The frame's columns, and where in it the statistics and the booleans are, and the rest that is not text."""
    import numpy
    import pandas

    unit = _UNIT if include_units else ""
    names = ["event_block_name", "event_name", "raw", *(s + unit for s in _STATISTICS), *_AFTER, "start_time"]
    return pandas.Index(names), [numpy.array([i]) for i in range(len(names))], numpy.arange(3, 9)


@functools.lru_cache(maxsize=1)
def _makers() -> Any:
    """How pandas makes a frame of whole blocks, None before pandas 3; and the type that it gives to text."""
    import pandas

    try:
        from pandas.api.internals import create_dataframe_from_blocks as make
    except ImportError:
        return None, None
    return make, pandas.Series(["text"]).dtype


def _kind(name: str, cells: list[Any]) -> Any:
    """The type of a column's cells as pandas has it for the official frame: object for what is mixed."""
    if name not in ("event_block_name", "event_name", "delegate_debug_identifier", "delegate_backend_name"):
        return bool if name == "is_delegated_op" else object
    kinds = set(map(type, cells))
    return kinds.pop() if kinds in ({str}, {int}) else object


class Inspector:
    """Inspector(etdump_path=…, etrecord=…, debug_buffer_path=…): files in, tables out.

    >>> Inspector(etdump_path="x.etdump", etrecord="x.etrecord").to_dataframe()
    """

    def __init__(self, etdump_path: Path | None = None, etrecord: Path | None = None, *,
                 debug_buffer_path: Path | None = None, **others: Any) -> None:
        if etdump_path is None:
            raise errors.UsageError("Inspector needs etdump_path; etdump_data is not taken: write it to a file")
        if etrecord is not None and not isinstance(etrecord, (str, bytes, os.PathLike)):
            raise errors.UsageError("Inspector takes the path of an ETRecord: etrecord.save(path)")
        for name in others:
            raise errors.UsageError(f"Inspector of etprof has no {name}: times are nanoseconds, shown as ms")
        self._buffer_path = debug_buffer_path
        self._files = {"etdump_path": etdump_path, "etrecord": etrecord, "debug_buffer_path": debug_buffer_path}
        self._reply = Reply(INSPECTOR, [etdump_path], record=etrecord, buffer=debug_buffer_path)
        self._path = etdump_path

    def _columns(self, whole: bool = False) -> _Columns:
        """What the library has, in one call. WHOLE: all op types; else as the data frame has them."""
        found = lib.InspectorColumns()
        lib.call("etp_reply_columns", self._reply._handle, c.byref(found))
        try:
            n, times = found.n_rows, found.n_times
            words: dict[str, list[Any]] = json.loads(c.string_at(found.others, found.others_len))
            first = (c.c_uint64 * (n + 1)).from_address(found.first)[:]
            ms = (c.c_double * times).from_address(found.raw_ms)[:]
            ticks = (c.c_uint64 * times).from_address(found.start)[:]
            statistics = c.string_at(found.statistics, 48 * n)
        finally:
            lib.function("etp_buffer_dispose")(c.byref(found.memory))
        ends = list(zip(first, itertools.islice(first, 1, None)))
        complete = all(a < b for a, b in ends)
        cells: dict[str, list[Any]] = {"event_block_name": words["event_block_name"],
                                       "event_name": words["event_name"],
                                       "raw": [ms[a:b] if a < b else None for a, b in ends]}
        for name in _AFTER:
            cells[name] = words[name] if name in words else [_EMPTY[name]() for _ in range(n)]
        if "op_types" in words and not whole:
            cells["op_types"] = [types if len(types) < _LONG else
                                 f"['{types[0]}', '{types[1]}' ... '{types[-1]}'] ({len(types)} total)"
                                 for types in cells["op_types"]]
        if "module_hierarchy" in words: # of each operator {path: (name, type)}; JSON has no pairs
            for operators in cells["module_hierarchy"]:
                for paths in operators.values():
                    for path, module in paths.items():
                        paths[path] = tuple(module)
        if "debug_data" in words:
            from etprof import tensors

            buffer = None if self._buffer_path is None else tensors.Buffer(self._buffer_path)
            cells["debug_data"] = tensors.shown(words["debug_data"], buffer)
        cells["start_time"] = [ticks[a:b] if a < b else None for a, b in ends]
        return _Columns(n, statistics, complete, cells, words["event_block"])

    def __repr__(self) -> str:
        return f"<etprof.Inspector {self._path}>"

    def __getattr__(self, name: str) -> Any:
        """What needs PyTorch the official one answers, of the same files; where it is not installed the official call
        is named."""
        if name not in _OFFICIAL:
            raise AttributeError(f"'Inspector' object has no attribute '{name}'")
        try:
            from executorch.devtools import Inspector as Official
        except ImportError:
            raise AttributeError(f"etprof's Inspector has no {name} without PyTorch and ExecuTorch: "
                                 f"executorch.devtools.Inspector(etdump_path=…, etrecord=…).{_OFFICIAL[name]}"
                                 ) from None
        return getattr(Official(**{key: path and os.fsdecode(path) for key, path in self._files.items()}), name)

    @property
    def event_blocks(self) -> list[Any]:
        """The events of each block, as the official one has them (etprof.blocks)."""
        from etprof.blocks import event_blocks

        found = self._columns(whole=True)
        return event_blocks(self._rows(found), found.blocks)

    def find_total_for_module(self, module_name: str) -> float:
        """Milliseconds on average in operators that a module whose path has MODULE_NAME in it made, as the official one
        adds them: what runs in a delegate counts once for each of its events."""
        return sum((event.perf_data.avg for block in self.event_blocks for event in block.events
                   if event.name != "OPERATOR_CALL" and event.perf_data is not None and
                   any(module_name in path for paths in event.module_hierarchy.values() for path in paths or ())), 0.0)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the data frame, missing values None."""
        return self._rows(self._columns())

    def _rows(self, found: _Columns) -> list[dict[str, Any]]:
        if any(found.cells["debug_data"]):
            from etprof import tensors

            found.cells["debug_data"] = tensors.plain(found.cells["debug_data"])
        numbers = [None if v != v else v for v in memoryview(found.statistics).cast("d")] if found.n else []
        names = list(found.cells)
        columns = list(found.cells.values())
        columns[3:3] = [numbers[i * found.n:(i + 1) * found.n] for i in range(len(_STATISTICS))]
        names[3:3] = [s + _UNIT for s in _STATISTICS]
        return [dict(zip(names, cells)) for cells in zip(*columns)]

    def to_dataframe(self, include_units: bool = True, include_delegate_debug_data: bool = False) -> Any:
        """What the official one gives (a pandas.DataFrame). A logged tensor is a mapping (dtype, shape, sum,
        data) that reads its elements when they are asked for; its numpy() has all."""
        import numpy
        import pandas

        if include_delegate_debug_data:
            raise errors.UsageError(_PARSER)
        found = self._columns()
        labels, places, numbers = _labels(include_units)
        n = found.n
        statistics: Any = numpy.frombuffer(found.statistics).reshape(len(_STATISTICS), n)
        if found.complete:
            statistics = statistics.copy() # a frame can be written to
        else: # as the official one has it: objects, None for what is not there
            statistics = statistics.astype(object)
            statistics[statistics != statistics] = None
        make, text = _makers()
        blocks: list[tuple[Any, Any]] = [(statistics, numbers)]
        others: list[list[Any]] = []
        where: list[int] = []
        for i, (name, cells) in enumerate(found.cells.items()):
            place = i if i < 3 else i + len(_STATISTICS)
            kind = _kind(name, cells)
            if kind is object:
                others.append(cells)
                where.append(place)
            elif kind is str and make and not isinstance(text, numpy.dtype):
                blocks.append((pandas.array(cells, dtype=text), places[place]))
            else:
                blocks.append((numpy.array([cells], dtype=kind), places[place]))
        rest = numpy.empty((len(others), n), dtype=object)
        for i, cells in enumerate(others):
            rest[i][:] = cells
        blocks.append((rest, numpy.array(where)))
        if make:
            return make(blocks, pandas.RangeIndex(n), labels)
        columns = {place: block[i] if block.ndim == 2 else block
                   for block, at in blocks for i, place in enumerate(at)}
        frame = pandas.DataFrame({i: columns[i] for i in range(len(labels))})
        frame.columns = labels
        return frame

    def print_data_tabular(self, file: Any = None, include_units: bool = True,
                           include_delegate_debug_data: bool = False) -> None:
        """Prints what the official one prints of the data frame, to FILE or standard output: with a grid where the
        package tabulate is there, which the official one needs."""
        frame = self.to_dataframe(include_units, include_delegate_debug_data).drop(columns=_HIDDEN)
        frame = frame[~frame["event_name"].str.contains("OPERATOR_CALL")].reset_index(drop=True)
        try:
            from tabulate import tabulate

            text = tabulate(frame, headers="keys", tablefmt="fancy_grid")
        except ImportError:
            text = frame.to_string()
        print(text, file=file)

    def save_data_to_tsv(self, file: Any, include_units: bool = True,
                         include_delegate_debug_data: bool = False) -> None:
        """Writes the official table to an open FILE or to a path."""
        if include_delegate_debug_data:
            raise errors.UsageError(_PARSER)
        if not include_units:
            raise errors.UsageError("the table has its units; to_dataframe(include_units=False).to_csv has none")
        if hasattr(file, "write"):
            file.write(self._reply.report("text"))
        else:
            with open(file, "w", encoding="utf-8") as out:
                out.write(self._reply.report("text"))
