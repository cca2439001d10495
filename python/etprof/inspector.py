# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Inspector with the same face and the same tables, its losses included (docs/python.md): notebooks move
by changing one import. `etprof.ops` has what it loses."""
from __future__ import annotations

import json
from typing import Any

from etprof import errors
from etprof.replies import INSPECTOR, Reply, ask
from etprof.runs import Path

_UNITS = (" (ms)", "")


class Inspector:
    """Inspector(etdump_path=…, etrecord=…, debug_buffer_path=…): files in, tables out."""

    def __init__(self, etdump_path: Path | None = None, etrecord: Path | None = None, *,
                 debug_buffer_path: Path | None = None, **others: Any) -> None:
        if etdump_path is None:
            raise errors.UsageError("Inspector needs etdump_path; etdump_data is not taken: write it to a file")
        if etrecord is not None and not isinstance(etrecord, str) and not hasattr(etrecord, "__fspath__"):
            raise errors.UsageError("Inspector takes the path of an ETRecord: etrecord.save(path)")
        for name in others:
            raise errors.UsageError(f"Inspector of etprof has no {name}: times are nanoseconds, shown as ms")
        self._reply = Reply(ask(INSPECTOR, [etdump_path], record=etrecord, buffer=debug_buffer_path))

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the data frame, missing values None."""
        return json.loads(self._reply.report("json")) # type: ignore[no-any-return]

    def to_dataframe(self, include_units: bool = True, include_delegate_debug_data: bool = False) -> Any:
        """What the official one gives (a pandas.DataFrame). A logged tensor is a dict: dtype, shape, sum, data."""
        import pandas

        if include_delegate_debug_data:
            raise errors.UsageError("delegate_debug_metadata needs a parser in Python: use the official Inspector")
        frame = pandas.DataFrame(self.rows())
        return frame if include_units else frame.rename(columns=lambda name: name.replace(*_UNITS))

    def print_data_tabular(self, include_units: bool = True, include_delegate_debug_data: bool = False) -> None:
        """Prints the data frame; in a notebook to_dataframe() shows it."""
        print(self.to_dataframe(include_units, include_delegate_debug_data).to_string())

    def save_data_to_tsv(self, file: Any, include_units: bool = True) -> None:
        """Writes the official table to an open FILE or to a path."""
        if not include_units:
            raise errors.UsageError("the table has its units; to_dataframe(include_units=False).to_csv has none")
        if hasattr(file, "write"):
            file.write(self._reply.report("text"))
        else:
            with open(file, "w", encoding="utf-8") as out:
                out.write(self._reply.report("text"))
