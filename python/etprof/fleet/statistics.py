# SPDX-License-Identifier: Apache-2.0
"""The library's statistics (<etprof/stats.h>) over rows that an engine has grouped."""
from __future__ import annotations

import ctypes as c
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from etprof import library as lib

CONFIDENCE = 0.95


class _Effects(c.Structure):
    _fields_ = [("estimate", c.c_double), ("lo", c.c_double), ("hi", c.c_double), ("tau2", c.c_double)]


class _Change(c.Structure):
    _fields_ = [("at", c.c_size_t), ("before", c.c_double), ("after", c.c_double), ("p", c.c_double)]


class _Moments(c.Structure):
    _fields_ = [("n", c.c_uint64), ("mean", c.c_double), ("m2", c.c_double)]


class Effects(NamedTuple):
    estimate: float # NAN where the data cannot give it
    lo: float
    hi: float
    between: float # standard deviation between the measurements beyond their own errors


class Change(NamedTuple):
    at: int
    before: float
    after: float
    p: float


_ARENA = c.c_byte * 256 # zeroed is empty; larger than struct etp_arena


@functools.cache
def _functions() -> Any:
    found = lib.library()
    doubles = c.POINTER(c.c_double)
    found.etp_random_effects.restype = _Effects
    found.etp_random_effects.argtypes = [doubles, doubles, c.c_size_t, c.c_double]
    for name in ("etp_median", "etp_mad"):
        getattr(found, name).restype = c.c_double
        getattr(found, name).argtypes = [doubles, c.c_size_t]
    found.etp_t_quantile.restype = c.c_double
    found.etp_t_quantile.argtypes = [c.c_double, c.c_double]
    found.etp_t_cdf.restype = c.c_double
    found.etp_t_cdf.argtypes = [c.c_double, c.c_double]
    found.etp_moments_add.argtypes = [c.POINTER(_Moments), c.c_double]
    found.etp_moments_add.restype = None
    found.etp_moments_sd.argtypes = [c.POINTER(_Moments)]
    found.etp_moments_sd.restype = c.c_double
    found.etp_arena_dispose.argtypes = [c.c_void_p]
    found.etp_arena_dispose.restype = None
    return found


def _array(values: Sequence[float]) -> Any:
    return (c.c_double * len(values))(*values)


def random_effects(values: Sequence[float], variances: Sequence[float]) -> Effects:
    e = _functions().etp_random_effects(_array(values), _array(variances), len(values), CONFIDENCE)
    return Effects(e.estimate, e.lo, e.hi, math.sqrt(e.tau2) if e.tau2 >= 0 else math.nan)


def median(values: Sequence[float]) -> float:
    return float(_functions().etp_median(_array(values), len(values)))


def spread(values: Sequence[float]) -> float:
    """A standard deviation that outliers do not move."""
    return 1.4826 * float(_functions().etp_mad(_array(values), len(values)))


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    m = _Moments()
    for value in values:
        _functions().etp_moments_add(c.byref(m), value)
    return m.mean, float(_functions().etp_moments_sd(c.byref(m)))


def t_above(t: float, freedom: float) -> float:
    """The chance that Student's t lies above T."""
    return float(_functions().etp_t_cdf(-t, freedom))


def t_quantile(p: float, freedom: float) -> float:
    return float(_functions().etp_t_quantile(p, freedom))


def own_variance(lo: float, hi: float, confidence: float, blocks: int) -> float:
    """Of a ratio's ln, from the t interval that its session gives it."""
    t = _functions().etp_t_quantile(0.5 + confidence / 2, float(max(blocks - 1, 1)))
    return float(((math.log(hi) - math.log(lo)) / (2 * t)) ** 2)


def changes(values: Sequence[float], max_p: float, min_rel: float) -> list[Change]:
    arena, n = _ARENA(), c.c_size_t()
    found = c.POINTER(_Change)()
    try:
        lib.call("etp_change_points", _array(values), len(values), max_p, min_rel, arena, c.byref(found), c.byref(n))
        return [Change(found[i].at, found[i].before, found[i].after, found[i].p) for i in range(n.value)]
    finally:
        _functions().etp_arena_dispose(arena)
