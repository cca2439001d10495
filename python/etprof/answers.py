# SPDX-License-Identifier: Apache-2.0
"""What the library answers: a handle with a document, reports and tables. It imports little, since the Inspector's
first row waits for it."""
from __future__ import annotations

import ctypes as c
import functools
import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union

from etprof import errors
from etprof import library as lib

if TYPE_CHECKING:
    from etprof.tables import Table

Path = Union[str, "os.PathLike[str]"]
A = TypeVar("A", bound="Answer")
OPS, INSPECT, STATS, WHATIF, INSPECTOR = range(5)


class Answer:
    """What the library answered: a document, reports, tables. `with` ends it early; pickled it is its question, which
    is asked again of the same files."""

    _text = _table = _table_name = _close = ""

    def __init__(self, handle: c.c_void_p, again: Callable[[], Answer]) -> None:
        self._handle, self._again = handle, again

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, ()

    def close(self) -> None:
        """What is asked of it later is an error. Its tables and texts that are there already stay."""
        if getattr(self, "_handle", None):
            lib.function(self._close)(self._handle)
            self._handle = c.c_void_p()

    def __del__(self) -> None:
        self.close()

    def __enter__(self: A) -> A:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._handle:
            return f"<etprof.{type(self).__name__}, closed>"
        return f"<etprof.{type(self).__name__} {self.document['schema']}: {', '.join(self.tables) or 'no tables'}>"

    def report(self, format: str = "text", *, table: str | None = None, brief: bool = False, width: int = 0) -> str:
        """The report as text, md, html, json, csv (of TABLE) or svg (of the chart TABLE)."""
        how = lib.output(format, brief=brief, width=width, select=table)
        return lib.take(self._text, self._handle, c.byref(how))

    @property
    def document(self) -> dict[str, Any]:
        """The whole answer, as `--format json` gives it."""
        if not hasattr(self, "_document"):
            self._document = json.loads(self.report("json"))
        return self._document # type: ignore[no-any-return]

    @property
    def tables(self) -> list[str]:
        """Ids of the report's tables."""
        found: list[str] = []
        while True:
            name = lib.take(self._table_name, self._handle, len(found))
            if not name:
                return found
            found.append(name)

    def table(self, name: str | None = None) -> Table:
        """One of them; None: the main one."""
        from etprof.tables import Table

        if name is not None and name not in self.tables:
            raise errors.UsageError(f"this answer has no table named '{name}'; it has {', '.join(self.tables)}"
                                    f"{errors.suggest(name, self.tables)}")

        return Table(name or "main", functools.partial(self._stream, name.encode() if name else None), self)

    def _stream(self, name: bytes | None, out: Any) -> None:
        lib.call(self._table, self._handle, name, out)

    def __str__(self) -> str:
        return self.report(brief=True)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.report(brief=True, width=100))}</pre>"


class Reply(Answer):
    """The answer to KIND, asked of PATHS. Texts are paths or words; None leaves one out."""

    _text, _close = "etp_reply_text", "etp_reply_close"
    _table, _table_name = "etp_reply_table", "etp_reply_table_name"

    def __init__(self, kind: int, paths: Sequence[Path], changes: Sequence[str] = (), **members: Any) -> None:
        super().__init__(_ask(kind, paths, changes, **members),
                         functools.partial(type(self), kind, paths, changes, **members))


def _ask(kind: int, paths: Sequence[Path], changes: Sequence[str], **members: Any) -> c.c_void_p:
    handle = c.c_void_p()
    question = lib.Question(kind=kind, paths=lib.words(paths), n_paths=len(paths), changes=lib.words(changes),
                            n_changes=len(changes), **members)
    lib.call("etp_reply_open", c.byref(question), c.byref(handle))
    return handle
