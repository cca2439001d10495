# SPDX-License-Identifier: Apache-2.0
"""Which system the programs beside this package are for, and why they cannot run here: asked before one of them is
started or loaded, because what a linker or a kernel says then names no reason."""
from __future__ import annotations

import os
import platform
import sys

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree")
GLIBC = (2, 28)
MACOS = (14, 0)
SYSTEMS = {"x86_64-linux-gnu": ("Linux", "x86_64"), "aarch64-linux-gnu": ("Linux", "aarch64"),
           "arm64-macos": ("Darwin", "arm64")}
_BUILD = "build etprof there (docs/install.md)"


def triple() -> str | None:
    """What the tree beside this package is for; None without one, as in a source tree."""
    try:
        return next(iter(sorted(os.listdir(os.path.join(TREE, "libexec", "etprof")))), None)
    except OSError:
        return None


def _glibc() -> tuple[int, ...] | None:
    """The version of the C library that Python runs with; None where it is another C library."""
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
        return tuple(int(part) for part in version.split(".")[:2]) if name == "glibc" else None
    except (AttributeError, OSError, ValueError):
        return None


def _old(name: str, wanted: tuple[int, ...], found: tuple[int, ...] | None, other: str) -> str | None:
    need = f"needs {name} {'.'.join(map(str, wanted))} or newer; this system has"
    if found is None:
        return f"{need} {other}: {_BUILD}"
    return f"{need} {'.'.join(map(str, found))}: {_BUILD}" if found < wanted else None


def _macos() -> tuple[int, ...] | None:
    try:
        return tuple(int(part) for part in platform.mac_ver()[0].split(".")[:2])
    except ValueError:
        return None


def hindrance() -> str | None:
    """Why the tree's programs and library cannot run here, as the end of a sentence that begins with the package; None
    when nothing is known against it."""
    here, made_for = (platform.system(), platform.machine()), SYSTEMS.get(triple() or "")
    if made_for is None:
        return None
    if here != made_for:
        return (f"is for {made_for[1]} {made_for[0]}; this is {here[1]} {here[0]}: "
                "install the package again with pip on this machine")
    if sys.maxsize < 2**32:
        return "needs a Python of 64 bits; this is one of 32 bits"
    if here[0] == "Darwin":
        return _old("macOS", MACOS, _macos(), "a version that it does not tell")
    return _old("glibc", GLIBC, _glibc(), "another C library")
