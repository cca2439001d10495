# SPDX-License-Identifier: Apache-2.0
"""libetprof by ctypes: finding it, its structs and functions, its errors as exceptions."""
from __future__ import annotations

import ctypes as c
import errno
import functools
import math
import operator
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from etprof import __version__, errors, system

NO_OFFSET = 2**64 - 1
UNKNOWN_NS = -(2**63)
TEXT, JSON, CSV, MD, HTML, SVG = range(6)
FORMATS = {"text": TEXT, "json": JSON, "csv": CSV, "md": MD, "html": HTML, "svg": SVG}
# In the order of etp_status; the library's words go with them.
_EXCEPTIONS: list[type[errors.EtprofError]] = [
    errors.EtprofError, errors.CheckFailed, errors.UsageError, errors.NotEnoughData, errors.BadInput, errors.BadInput,
    errors.FileProblem, errors.EnvironmentProblem, errors.EnvironmentProblem, errors.EnvironmentProblem,
    errors.RunFailed, errors.Interrupted, errors.EtprofError,
]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("os_errno", c.c_int), ("offset", c.c_uint64), ("msg", c.c_char * 480)]


class Buffer(c.Structure):
    _fields_ = [("ptr", c.POINTER(c.c_char)), ("len", c.c_size_t), ("owner", c.c_void_p)]


class Str(c.Structure):
    _fields_ = [("ptr", c.c_void_p), ("len", c.c_size_t)]

    def __str__(self) -> str:
        return c.string_at(self.ptr, self.len).decode(errors="replace") if self.len else ""


def path(value: str | bytes | os.PathLike[Any] | None) -> bytes | None:
    """A text or path as the library takes it."""
    if value is None:
        return None
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise errors.WrongType(f"{value!r} is neither a text nor a path")
    found = os.fsencode(value)
    if b"\0" in found:
        raise errors.UsageError(f"{value!r}: a text ends at its \\0")
    return found


def number(name: str, kind: Any, value: Any) -> Any:
    """VALUE, if KIND holds it: ctypes cuts a whole number that is too large and says of no argument which it is."""
    real, most = kind is c.c_double, 2 ** (8 * c.sizeof(kind)) - 1
    try:
        found = math.fsum([value]) if real else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise errors.WrongType(f"{name}={value!r} is not a {'number' if real else 'whole number'}") from None
    if real and not 0 <= found < math.inf:
        raise errors.UsageError(f"{name}={value!r} is not a number from 0 on")
    if not real and not 0 <= found <= most:
        raise errors.UsageError(f"{name}={value!r} is not a whole number from 0 to {most}")
    return found


class Sized(c.Structure):
    """A struct that begins with its size. Its members are checked: they are arguments of somebody's program."""

    def __init__(self, **members: Any) -> None:
        kinds = dict(self._fields_) # type: ignore[arg-type]
        for name, value in members.items():
            if kinds[name] is c.c_char_p:
                members[name] = path(value)
            elif kinds[name] in (c.c_uint32, c.c_uint64, c.c_double):
                members[name] = number(name.removesuffix("_s"), kinds[name], value) # in seconds, as all times
            elif kinds[name] is c.c_bool and value not in (True, False):
                raise errors.WrongType(f"{name}={value!r} is neither True nor False")
        super().__init__(**members)
        self.struct_size = c.sizeof(self)


class AnalysisOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("baseline", c.c_char_p), ("margin", c.c_double), ("program", c.c_char_p),
                ("record", c.c_char_p), ("roofs", c.c_char_p), ("names", c.c_char_p * 2)]


class Output(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("format", c.c_int), ("width", c.c_uint32), ("color", c.c_bool),
                ("ascii", c.c_bool), ("brief", c.c_bool), ("proof", c.c_bool),
                ("title", c.c_char_p), ("select", c.c_char_p)]


class Question(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("paths", c.POINTER(c.c_char_p)),
                ("n_paths", c.c_size_t), ("changes", c.POINTER(c.c_char_p)), ("n_changes", c.c_size_t),
                ("program", c.c_char_p), ("record", c.c_char_p), ("buffer", c.c_char_p), ("recording", c.c_char_p),
                ("other", c.c_char_p), ("roofs", c.c_char_p), ("baseline", c.c_char_p), ("margin", c.c_double),
                ("tree", c.c_bool), ("tensor", c.c_bool), ("phase", c.c_char_p), ("source_unit", c.c_char_p),
                ("delegate_unit", c.c_char_p)]


class Summary(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("title", Str), ("folder", Str), ("state", Str), ("grade", Str),
                ("grade_reason", Str), ("baseline", c.c_uint32), ("arms", c.c_uint32), ("comparisons", c.c_uint32),
                ("operators", c.c_uint32), ("findings", c.c_uint32), ("bare", c.c_bool), ("emulated", c.c_bool),
                ("outputs", c.c_int8), ("launch_lost", c.c_bool)]


class ArmResult(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", Str), ("measured", Str), ("level", Str), ("model", Str),
                ("proof", Str), ("threads", c.c_uint32), ("launches", c.c_uint64), ("samples", c.c_uint64),
                ("median_ns", c.c_int64), ("lo_ns", c.c_double), ("hi_ns", c.c_double), ("traced_ns", c.c_int64),
                ("load_ns", c.c_int64), ("first_ns", c.c_int64), ("peak_rss_bytes", c.c_int64),
                ("dirty_bytes", c.c_int64), ("clean_bytes", c.c_int64), ("disk_bytes", c.c_int64)]


class ComparisonResult(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("baseline", c.c_uint32), ("candidate", c.c_uint32),
                ("speedup", c.c_double), ("lo", c.c_double), ("hi", c.c_double), ("verdict", c.c_int),
                ("verdict_text", Str), ("withheld", Str), ("withheld_text", Str), ("method", Str),
                ("blocks", c.c_uint32), ("margin", c.c_double), ("noise_floor", c.c_double)]


class FindingResult(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("id", Str), ("kind", Str), ("severity", Str), ("text", Str)]


class MeasurementOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("models", c.POINTER(c.c_char_p)), ("n_models", c.c_size_t),
                ("levels", c.POINTER(c.c_char_p)), ("n_levels", c.c_size_t), ("threads", c.POINTER(c.c_uint32)),
                ("n_threads", c.c_size_t), ("baseline", c.c_char_p), ("device", c.c_char_p), ("runner", c.c_char_p),
                ("folder", c.c_char_p), ("exact_folder", c.c_bool), ("no_trace", c.c_bool), ("kernels", c.c_bool),
                ("blocks", c.c_uint32), ("budget_s", c.c_double), ("precision", c.c_double),
                ("warmup", c.c_uint64), ("iterations", c.c_uint64), ("seed", c.c_uint64), ("timeout_s", c.c_double),
                ("method", c.c_char_p), ("inputs", c.c_char_p), ("data", c.c_char_p), ("cpus", c.c_char_p),
                ("work_dir", c.c_char_p), ("state_dir", c.c_char_p), ("search_path", c.c_char_p), ("qemu", c.c_char_p),
                ("ssh_config", c.c_char_p), ("android_serial", c.c_char_p), ("resume", c.c_char_p),
                ("trust", c.c_bool), ("cold_loads", c.c_bool)]


class MeasurementProgress(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("stage", Str), ("arm", Str), ("launch_kind", Str), ("block", c.c_uint32),
                ("blocks", c.c_uint32), ("launch", c.c_uint32), ("launches", c.c_uint32), ("elapsed_s", c.c_double),
                ("remaining_s", c.c_double)]


ON_PROGRESS = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(MeasurementProgress))
ON_MESSAGE = c.CFUNCTYPE(None, c.c_void_p, Str)


class MeasurementCallbacks(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("ctx", c.c_void_p), ("progress", ON_PROGRESS), ("message", ON_MESSAGE)]


class MeasurementSummary(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("folder", Str), ("stopped", Str), ("cancelled", c.c_bool),
                ("restored", c.c_bool), ("blocks", c.c_uint32), ("blocks_lost", c.c_uint32), ("launches", c.c_uint32),
                ("launches_lost", c.c_uint32), ("wall_ns", c.c_uint64)]


class InspectorColumns(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("n_rows", c.c_size_t), ("n_times", c.c_size_t),
                ("statistics", c.c_void_p), ("first", c.c_void_p), ("raw_ms", c.c_void_p), ("start", c.c_void_p),
                ("others", c.c_void_p), ("others_len", c.c_size_t), ("memory", Buffer)]


_HANDLE, _INDEX = c.c_void_p, c.c_uint32
# What each function takes before its etp_error; all return an etp_status. Handles that are made are void **.
_FUNCTIONS: dict[str, list[Any]] = {
    "etp_analysis_open_run": [c.c_char_p, c.POINTER(AnalysisOptions), c.POINTER(_HANDLE)],
    "etp_analysis_open_dumps": [c.POINTER(c.c_char_p), c.c_size_t, c.POINTER(AnalysisOptions), c.POINTER(_HANDLE)],
    "etp_analysis_compare": [c.c_char_p, c.c_char_p, c.POINTER(AnalysisOptions), c.POINTER(_HANDLE)],
    "etp_analysis_about": [_HANDLE, c.POINTER(Summary)],
    "etp_analysis_arm": [_HANDLE, _INDEX, c.POINTER(ArmResult)],
    "etp_analysis_comparison": [_HANDLE, _INDEX, c.POINTER(ComparisonResult)],
    "etp_analysis_finding": [_HANDLE, _INDEX, c.POINTER(FindingResult)],
    "etp_analysis_text": [_HANDLE, c.POINTER(Output), c.POINTER(Buffer)],
    "etp_analysis_renew_folder": [_HANDLE],
    "etp_analysis_table": [_HANDLE, c.c_char_p, c.c_void_p],
    "etp_analysis_table_name": [_HANDLE, c.c_size_t, c.POINTER(Buffer)],
    "etp_reply_open": [c.POINTER(Question), c.POINTER(_HANDLE)],
    "etp_reply_text": [_HANDLE, c.POINTER(Output), c.POINTER(Buffer)],
    "etp_reply_columns": [_HANDLE, c.POINTER(InspectorColumns)],
    "etp_reply_table": [_HANDLE, c.c_char_p, c.c_void_p],
    "etp_reply_table_name": [_HANDLE, c.c_size_t, c.POINTER(Buffer)],
    "etp_tables_stream": [c.c_int, c.POINTER(c.c_char_p), c.c_size_t, c.c_void_p],
    "etp_fleet_id": [c.c_char_p, c.c_char_p],
    "etp_fleet_read": [c.POINTER(c.c_char_p), c.c_size_t, c.POINTER(_HANDLE)],
    "etp_fleet_read_new": [c.POINTER(c.c_char_p), c.c_size_t, _HANDLE, c.POINTER(_HANDLE)],
    "etp_fleet_known_new": [c.POINTER(_HANDLE)],
    "etp_fleet_known_add": [_HANDLE, c.c_char_p, c.POINTER(c.c_bool)],
    "etp_fleet_stream": [_HANDLE, c.c_int, c.c_void_p],
    "etp_change_points": [c.POINTER(c.c_double), c.c_size_t, c.c_double, c.c_double, c.c_void_p, c.c_void_p,
                          c.c_void_p],
    "etp_measurement_create": [c.POINTER(MeasurementOptions), c.POINTER(MeasurementCallbacks), c.POINTER(_HANDLE)],
    "etp_measurement_run": [_HANDLE],
    "etp_measurement_about": [_HANDLE, c.POINTER(MeasurementSummary)],
}
_ENDS = {"etp_analysis_close": _HANDLE, "etp_reply_close": _HANDLE, "etp_fleet_close": _HANDLE,
         "etp_fleet_known_close": _HANDLE, "etp_measurement_destroy": _HANDLE, "etp_measurement_cancel": _HANDLE,
         "etp_buffer_dispose": c.POINTER(Buffer)}


def _tree() -> Path:
    """The wheel's."""
    return Path(system.TREE) / "lib"


def _places() -> Iterator[Path]:
    """Where the library may be: named, in the wheel, beside an installed package, in a source tree."""
    named = os.environ.get("ETPROF_LIBRARY")
    if named:
        yield Path(named)
        return
    here = Path(__file__).resolve().parent
    minor = __version__.rpartition(".")[0]
    file = f"libetprof.{minor}.dylib" if sys.platform == "darwin" else f"libetprof.so.{minor}"
    yield from (_tree() / name for name in ("libetprof.so", "libetprof.dylib"))
    prefix = here.parents[3] if len(here.parents) > 3 else here
    for folder in ("lib", "lib64"):
        yield prefix / folder / file
        yield from sorted((prefix / folder).glob(f"*-linux-gnu/{file}"))
    yield here.parents[1] / "build/release" / file


@functools.cache
def library() -> Any:
    """The library, of this package's version and no other."""
    found = [place for place in _places() if place.exists()]
    if not found:
        raise errors.EnvironmentProblem(
            "libetprof is not beside this package; install etprof with pip, or name the library in ETPROF_LIBRARY")
    why = system.hindrance() if found[0].parent == _tree() else None
    if why:
        raise errors.EnvironmentProblem(f"this package {why}")
    try:
        lib = c.CDLL(str(found[0]))
        lib.etp_version.restype = c.c_char_p
        lib.etp_fleet_source_id.restype, lib.etp_fleet_source_id.argtypes = c.c_char_p, [_HANDLE, c.c_size_t]
        lib.etp_fleet_rows.restype, lib.etp_fleet_rows.argtypes = c.c_uint64, [_HANDLE, c.c_int]
        version = lib.etp_version().decode()
    except (OSError, AttributeError) as e:
        raise errors.EnvironmentProblem(f"{found[0]} cannot be loaded: {e}") from e
    if version != __version__:
        raise errors.EnvironmentProblem(
            f"{found[0]} is version {version} and this package {__version__}; install the wheel anew")
    return lib


@functools.cache
def function(name: str) -> Any:
    """One of the library's, with the types of what it takes and gives."""
    found = getattr(library(), name)
    if name in _FUNCTIONS:
        found.argtypes, found.restype = [*_FUNCTIONS[name], c.POINTER(Error)], c.c_int
    else:
        found.argtypes, found.restype = [_ENDS[name]], None
    return found


def failure(err: Error) -> errors.EtprofError:
    """What the library said, as an exception: its words, the byte where the file is damaged."""
    text = err.msg.decode(errors="replace")
    at = None if err.offset == NO_OFFSET or not err.offset else int(err.offset)
    kind = _EXCEPTIONS[err.status] if 0 < err.status < len(_EXCEPTIONS) else errors.EtprofError
    if issubclass(errors.NoSuchFile, kind) and err.os_errno == errno.ENOENT:
        kind = errors.NoSuchFile
    problem = kind(text if at is None else f"{text} (at byte {at})")
    problem.byte = at
    if isinstance(problem, OSError) and err.os_errno:
        problem.errno = err.os_errno # its words stay those of the library
    return problem


def call(name: str, *arguments: Any) -> None:
    err = Error(offset=NO_OFFSET)
    if function(name)(*arguments, c.byref(err)) != 0:
        raise failure(err)


def words(values: Any) -> Any:
    """A C array of texts; None for none."""
    if isinstance(values, (str, bytes, os.PathLike)):
        raise errors.WrongType(f"{values!r} is one text; a list of them is taken: [{values!r}]")
    listed = [path(v) for v in values]
    return (c.c_char_p * len(listed))(*listed) if listed else None


def take(name: str, *arguments: Any) -> str:
    """Calls what makes an etp_buffer, its last argument."""
    text = Buffer()
    call(name, *arguments, c.byref(text))
    try:
        return c.string_at(text.ptr, text.len).decode() if text.len else ""
    finally:
        function("etp_buffer_dispose")(c.byref(text))


def output(format: str, **members: Any) -> Output:
    if format not in FORMATS:
        raise errors.UsageError(f"no format '{format}': there are {', '.join(FORMATS)}")
    return Output(format=FORMATS[format], **members)
