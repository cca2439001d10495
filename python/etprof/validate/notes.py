# SPDX-License-Identifier: Apache-2.0
"""What a run of `validate` knows: the files of a folder, what was found about them, how a figure is written."""
from __future__ import annotations

import bisect
import dataclasses
import math
import os
import stat
from typing import Any

from etprof.errors import BadInput

MOST_FILES, MOST_DEPTH = 100_000, 6  # far above any run folder: for a folder that was named by mistake (a home)
MOST_FOUND = 500  # characters: a table that lost its line breaks is one cell of megabytes
PACKED = ".zst"
NAN = math.nan

# End of the name, whether it is the whole name, kind of file, document (its schema). The first that fits counts.
KINDS = (
    ("manifest.json", True, "json", "run"), ("metrics.json", True, "json", "metrics"),
    ("analysis_summary.json", True, "json", "analysis_summary"), ("derived.json", True, "json", "derived"),
    ("report.json", True, "json", "ab"), ("export.json", True, "json", "export"),
    ("outputs.json", True, "json", "outputs"), ("_pipeline_summary.json", False, "json", "pipeline_summary"),
    ("_robust_stats.json", False, "json", "robust_stats"),
    ("_robust_comparison.json", False, "json", "robust_comparison"), (".json", False, "json", None),
    ("environment.jsonl", True, "lines", None), (".csv", False, "csv", None), (".etdump", False, "dump", None),
    (".etdump" + PACKED, False, "dump", None), (".etdp", False, "dump", None), (".pte", False, "model", None),
    (".bpte", False, "model", None), (".ptd", False, "model", None), (".etrecord", False, "model", None),
)


@dataclasses.dataclass
class File:
    name: str  # relative to the folder
    path: str
    kind: str | None = None  # None: pictures, logs, pages, which are only counted
    schema: str | None = None  # of JSON: its name
    json: dict[str, Any] | None = None  # a document that fits its schema
    # Method::execute in file order, of a dump or a timeline. They link tables and dumps.
    execute_ns: list[int] = dataclasses.field(default_factory=list)
    readable: bool = False  # dump, CSV: everything asked about the file alone was fine


def shown(text: str) -> str:
    """TEXT as UTF-8 can write it: names of files need not be, and JSON has halves of characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Notes:
    """The files of ROOT, a folder or a file, and the checks by file, then as checked."""

    def __init__(self, root: str) -> None:
        self.root, self.checks = root, list[dict[str, Any]]()
        self.files: list[File] = []
        self._keys: list[bytes] = []

    def add(self, file: str | None, name: str, ok: bool, found: str, expected: str, fix: str | None = None) -> None:
        """Writes one check down. FIX is for one that failed."""
        self.checks.append({"id": name, "file": None if file is None else shown(file), "ok": ok, "required": True,
                            "found": shown(found)[:MOST_FOUND], "expected": shown(expected),
                            "fix": None if ok or fix is None else shown(fix)})

    @property
    def failed(self) -> int:
        return sum(not c["ok"] for c in self.checks)

    def find(self, name: str) -> File | None:
        key = os.fsencode(name)
        at = bisect.bisect_left(self._keys, key)
        return self.files[at] if at < len(self._keys) and self._keys[at] == key else None

    def collect(self) -> None:
        """Links to files are looked through, those to folders lead out, or round in a circle."""
        if os.path.isdir(self.root):
            self._collect(self.root, "", 0)
        else:
            self._take(os.path.basename(self.root), self.root)
        self.files.sort(key=lambda f: os.fsencode(f.name))
        self._keys = [os.fsencode(f.name) for f in self.files]

    def _collect(self, path: str, prefix: str, depth: int) -> None:
        try:
            entries = list(os.scandir(path))
        except OSError as problem:
            raise BadInput(f"{path}: {problem.strerror}") from problem
        for entry in entries:
            if not entry.is_dir():
                self._take(prefix + entry.name, entry.path)
            elif not entry.is_symlink() and depth < MOST_DEPTH and not entry.name.startswith("."):
                self._collect(entry.path, f"{prefix}{entry.name}/", depth + 1)

    def _take(self, name: str, path: str) -> None:
        if len(self.files) >= MOST_FILES:
            raise BadInput(f"{self.root} holds more than {MOST_FILES} files; name one of its folders")
        file, base = File(name, path), os.path.basename(name)
        for end, whole, kind, schema in KINDS:
            if base == end if whole else base.endswith(end):
                file.kind, file.schema = kind, schema
                break
        self.files.append(file)


def is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def number(value: Any, *keys: str) -> float:
    """The number at KEYS in VALUE, else NAN."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else NAN


def text(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def entries(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def digits(value: float, count: int) -> str:
    """COUNT significant digits, at most nine behind the point, without zeros at the end."""
    size = abs(value)
    sign = "−" if value < 0 else ""
    if math.isnan(value):
        return "unknown"
    if size >= 1e15:
        return f"{sign}> 999999999999999"
    if 0 < size < 0.5e-9:
        return f"{sign}< 0.000000001"
    before = math.floor(math.log10(size)) + 1 if size else 1
    written = f"{size:.{min(max(count - before, 0), 9)}f}"
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return written if written == "0" else sign + written


def close(a: float, b: float) -> bool:
    """Equal but for the last digits of decimal writing."""
    return abs(a - b) <= 1e-9 + 2e-6 * max(abs(a), abs(b))


def agree(a: float, b: float) -> bool:
    """Both unknown is agreement."""
    return (math.isnan(a) and math.isnan(b)) or close(a, b)
