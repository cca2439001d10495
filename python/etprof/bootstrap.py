# SPDX-License-Identifier: Apache-2.0
# Where torch, executorch and torchao come from: this interpreter, a named one, or an environment of
# our own, which is made on first use; what single models need beside them goes there too.
# Standard library only. `python -m etprof.bootstrap` does just the set-up.
from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import packages, restart
from .errors import EnvironmentProblem, EtprofError
from .packages import pinned_for, say

PACKAGES = ("torch==2.13.0", "executorch==1.5.1", "torchao==0.18.0")
MODULES = ("torch", "executorch", "torchao")
NEEDS = "about 1.6 GB of disk and one to several minutes"
# `python -c` begins in the working directory, where a file may be called like a module.
HERE_IS_NOTHING = "import sys; sys.path = [p for p in sys.path if p]\n"
PROBE = HERE_IS_NOTHING + (
    "import importlib.util as u\n"
    "sys.exit(0 if sys.version_info >= (3, 10) and all(u.find_spec(m) for m in %r) else 3)" % (MODULES,)
)
LOOK = HERE_IS_NOTHING + (
    "import importlib.util as u\n"
    "print(*[m for m in sys.argv[1:] if not u.find_spec(m)])"
)


def have_packages() -> bool:
    """Whether this interpreter can export."""
    return all(importlib.util.find_spec(module) is not None for module in MODULES)


def clean_environment() -> dict:
    path = restart.clean_path(os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": path}


def interpreter_ready(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", PROBE], stdin=subprocess.DEVNULL, env=clean_environment(),
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError as error:
        raise EnvironmentProblem(f"--python {python}: {error.strerror}") from error


def lacking(python: str, modules) -> list[str]:
    """Which of MODULES that interpreter has not; all of them when it cannot be asked."""
    modules = list(dict.fromkeys(modules))
    try:
        done = subprocess.run([python, "-c", LOOK, *modules], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, env=clean_environment())
    except OSError:
        return modules
    return done.stdout.split() if done.returncode == 0 else modules


def venv_python(folder: Path) -> Path:
    return folder / "bin" / "python"


def own_environment() -> Path:
    """The folder of our own environment: ETPROF_VENV, .venv of the source tree that this is, or the
    user's data. Never one of the working directory, which may be anybody's."""
    named = os.environ.get("ETPROF_VENV")
    if named:
        return Path(named).absolute()
    tree = Path(restart.ROOT).parent
    if (tree / "scripts" / "setup.sh").is_file():
        return tree / ".venv"
    data = os.environ.get("XDG_DATA_HOME", "")
    home = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    return home / "etprof" / "venv"


def is_own(python: str) -> bool:
    """Whether that interpreter is of our own environment, so that we may install into it."""
    return Path(python).parent.absolute() == venv_python(own_environment()).parent


def agreed(folder: Path) -> bool:
    """Whether somebody at a terminal wants them in FOLDER."""
    if not packages.somebody_is_there():
        return False
    say(f"PyTorch and ExecuTorch are missing here; {', '.join(PACKAGES)} would go into {folder} ({NEEDS})")
    return packages.answered("Install them? [y/N]").lower() in ("y", "yes")


def not_installed() -> str:
    return ("PyTorch and ExecuTorch are missing here and nothing was installed. They would go into "
            f"{own_environment()} ({NEEDS}); etprof export MODEL --install does it")


def make_venv(folder: Path, pip_args=(), wheel_dir=None, allow_cuda=False) -> Path:
    """Creates FOLDER with the packages, or completes it. Returns its interpreter."""
    python = venv_python(folder)
    if python.exists() and interpreter_ready(str(python)):
        return python
    say(f"first use: {', '.join(PACKAGES)} go into {folder} ({NEEDS})")
    if not python.exists():
        done = subprocess.run([sys.executable, "-I", "-m", "venv", str(folder)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise EnvironmentProblem(
                f"cannot make {folder}: {packages.last_error(done.stdout + done.stderr)}; "
                "on Debian: apt-get install python3-venv")
    packages.install_exporter(str(python), pip_args, wheel_dir, allow_cuda)
    if not interpreter_ready(str(python)):
        raise EnvironmentProblem(f"{python} still cannot import {', '.join(MODULES)}")
    return python


def add_packages(python: str, modules, pip_args=(), wheel_dir=None) -> None:
    """Installs what a model needs into our own environment, having said what."""
    say(f"first use: {', '.join(pinned_for(modules))} go into {Path(python).parents[1]}")
    packages.install_for_model(python, modules, pip_args, wheel_dir)
    still = lacking(python, modules)
    if still:
        raise EnvironmentProblem(f"{python} still cannot import {', '.join(still)}")


def present_python(named=None) -> str | None:
    """The interpreter that an export would use, when it is there already."""
    if named:
        # As a shell would find it, but never by a relative entry of PATH.
        path = shutil.which(named, path=restart.clean_path(os.environ.get("PATH", "")))
        return path if path and interpreter_ready(path) else None
    if have_packages():
        return sys.executable
    active = os.environ.get("VIRTUAL_ENV", "")
    places = [Path(active)] if os.path.isabs(active) else []
    for folder in (*places, own_environment()):
        python = venv_python(folder)
        if python.exists() and interpreter_ready(str(python)):
            return str(python)
    return None


def with_packages(script, missing=EtprofError) -> None:
    """Goes on with SCRIPT in an interpreter that has the packages, where this one has not. MISSING is
    raised when there is none: SystemExit where the message alone is to be read."""
    if have_packages():
        return
    python = present_python()
    if not python:
        raise missing("no interpreter here has the executorch package; any `etprof export` makes one")
    os.execv(python, [python, os.path.abspath(script), *sys.argv[1:]])


def find_python(options) -> str:
    """The interpreter to export with: --python, this one, the active environment, our own (made if
    need be)."""
    python = present_python(options.python)
    if python:
        return python
    if options.python:
        if os.sep in options.python and not os.path.exists(options.python):
            raise EnvironmentProblem(f"--python {options.python}: no such file")
        raise EnvironmentProblem(
            f"--python {options.python} lacks {', '.join(MODULES)} or is older than Python 3.10: "
            f"{options.python} -m pip install {' '.join(PACKAGES)}")
    if interpreter_in(Path(".venv")):
        say("the .venv of this folder is not used unless named: --python .venv/bin/python")
    if options.no_install or not (options.install or options.allow_cuda or agreed(own_environment())):
        raise EnvironmentProblem(not_installed())
    return str(make_venv(own_environment(), options.pip_arg, options.wheel_dir, options.allow_cuda))


def interpreter_in(folder: Path) -> bool:
    """Whether FOLDER, which is not ours, holds an environment; nothing of it is started."""
    return venv_python(folder).exists() and folder.absolute() != own_environment()


def without_python_option(argv: list[str]) -> list[str]:
    kept, skip = [], False
    for word in argv:
        if skip:
            skip = False
        elif word == "--python":
            skip = True
        elif not word.startswith("--python="):
            kept.append(word)
    return kept


def run_elsewhere(argv: list[str], options) -> int:
    """Replaces this process by the same export in an interpreter that can run it."""
    python = find_python(options)
    try:
        restart.again(python, "export", without_python_option(argv))
    except OSError as error:
        raise EnvironmentProblem(f"cannot start {python}: {error.strerror}") from error


def main(argv) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m etprof.bootstrap", description="Makes an environment that can export.")
    parser.add_argument("--venv", type=Path, default=own_environment())
    parser.add_argument("--pip-arg", action="append", default=[])
    parser.add_argument("--wheel-dir")
    parser.add_argument("--allow-cuda", action="store_true")
    parser.add_argument("--ask", action="store_true", help="install only what somebody at a terminal agrees to")
    options = parser.parse_args(argv)
    try:
        if options.ask and not present_python(str(venv_python(options.venv))) and not agreed(options.venv):
            say(not_installed())
            return 0
        print(make_venv(options.venv, options.pip_arg, options.wheel_dir, options.allow_cuda))
        return 0
    except EtprofError as error:
        say(str(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
