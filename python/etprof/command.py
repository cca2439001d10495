# SPDX-License-Identifier: Apache-2.0
"""The command of the wheel: becomes the program beside this file, or says why it cannot."""
import os
import platform
import sys

GLIBC = (2, 28)
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree", "bin", "etprof")


def _glibc():
    """The version of the C library that Python runs with; None where it is another C library."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        major, minor = version.split(".")[:2]
        return (int(major), int(minor)) if name == "glibc" else None
    except (AttributeError, OSError, ValueError):
        return None


def _hindrance():
    """Why the program cannot run here, as the end of a sentence; None when nothing is known against it."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        return f"is for x86_64 Linux; this is {machine} {system}: install the package again with pip on this machine"
    found, wanted = _glibc(), ".".join(map(str, GLIBC))
    if found is None:
        return f"needs glibc {wanted} or newer; this system has another C library: build etprof there (docs/install.md)"
    if found < GLIBC:
        have = ".".join(map(str, found))
        return f"needs glibc {wanted} or newer; this system has {have}: build etprof there (docs/install.md)"
    return None


def command():
    """The entry point `etprof`."""
    why = _hindrance()
    if why is None:
        # `export` and `models` run Python: this one, with what pip installed beside this package.
        os.environ.setdefault("ETPROF_PYTHON", sys.executable)
        try:
            os.execv(PROGRAM, ["etprof", *sys.argv[1:]])
        except OSError as e:
            why = f"cannot start {PROGRAM}: {e.strerror}; install it again: pip install --force-reinstall etprof"
    print(f"etprof: this package {why}", file=sys.stderr)
    return 5
