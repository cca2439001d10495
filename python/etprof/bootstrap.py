# SPDX-License-Identifier: Apache-2.0
# Where torch, executorch and torchao come from: this interpreter, a named one, or .venv, which is
# made on first use. Standard library only. `python -m etprof.bootstrap` does just the set-up.
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import EnvironmentProblem, EtprofError, UsageError

PACKAGES = ("torch==2.13.0", "executorch==1.5.1", "torchao==0.18.0")
MODULES = ("torch", "executorch", "torchao")
NEEDS = "about 1.6 GB of disk and one to several minutes"
PROBE = (
    "import importlib.util as u, sys; "
    "sys.exit(0 if sys.version_info >= (3, 10) and all(u.find_spec(m) for m in %r) else 3)" % (MODULES,)
)


def have_packages() -> bool:
    """Whether this interpreter can export."""
    return all(importlib.util.find_spec(module) is not None for module in MODULES)


def interpreter_ready(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", PROBE], stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError as error:
        raise EnvironmentProblem(f"--python {python}: {error.strerror}") from error


def venv_python(folder: Path) -> Path:
    return folder / "bin" / "python"


def pip_options(pip_args, wheel_dir) -> list[str]:
    """pip's own configuration applies; these only add to it."""
    options = list(pip_args)
    index = os.environ.get("ETPROF_TORCH_INDEX")
    if index:
        options += ["--extra-index-url", index]
    if wheel_dir:
        if not Path(wheel_dir).is_dir():
            raise UsageError(f"--wheel-dir {wheel_dir}: no such folder")
        options += ["--find-links", str(wheel_dir)]
    return options


def dry_run(python: str, options: list[str]) -> dict:
    """pip's own report of what it would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--report", str(report),
                   *options, *PACKAGES]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise EnvironmentProblem("pip cannot find the packages: " + last_error(done.stderr))
        try:
            return json.loads(report.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise EnvironmentProblem(
                f"pip wrote no readable report ({error}); it needs pip 22.2 or newer") from error


def last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")


def planned(report: dict) -> list[tuple[str, str]]:
    """(name, version) of everything the report would install."""
    entries = [entry["metadata"] for entry in report.get("install", [])]
    return sorted((m["name"].lower(), m["version"]) for m in entries)


def refuse_cuda(packages: list[tuple[str, str]]):
    """A CUDA build of torch is gigabytes of libraries that exporting never uses."""
    cuda = [name for name, version in packages
            if name.startswith(("nvidia-", "nvidia_", "triton", "cuda-")) or "+cu" in version]
    if cuda:
        raise EnvironmentProblem(
            f"pip would install a CUDA build of torch ({len(cuda)} packages, {cuda[0]} first); name "
            "an index or folder with CPU builds: ETPROF_TORCH_INDEX=URL, --pip-arg=--index-url=URL "
            "or --wheel-dir DIR; --allow-cuda accepts it"
        )


def say(text):
    print(f"etprof export: {text}", file=sys.stderr, flush=True)


def make_venv(folder: Path, pip_args=(), wheel_dir=None, allow_cuda=False) -> Path:
    """Creates FOLDER with the packages, or completes it. Returns its interpreter."""
    python = venv_python(folder)
    if python.exists() and interpreter_ready(str(python)):
        return python
    options = pip_options(pip_args, wheel_dir)
    say(f"first use: {', '.join(PACKAGES)} go into {folder} ({NEEDS})")
    if not python.exists():
        done = subprocess.run([sys.executable, "-m", "venv", str(folder)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise EnvironmentProblem(
                f"cannot make {folder}: {last_error(done.stdout + done.stderr)}; "
                "on Debian: apt-get install python3-venv")
    packages = planned(dry_run(str(python), options))
    if not allow_cuda:
        refuse_cuda(packages)
    say(f"installing {len(packages)} packages")
    done = subprocess.run([str(python), "-m", "pip", "install", "--quiet", *options, *PACKAGES],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise EnvironmentProblem("pip failed: " + last_error(done.stderr))
    if not interpreter_ready(str(python)):
        raise EnvironmentProblem(f"{python} still cannot import {', '.join(MODULES)}")
    return python


def find_python(options) -> str:
    """The interpreter to export with: --python, the active environment, ./.venv (made if need be)."""
    if options.python:
        if not interpreter_ready(options.python):
            raise EnvironmentProblem(
                f"--python {options.python} lacks {', '.join(MODULES)} or is older than Python 3.10: "
                f"{options.python} -m pip install {' '.join(PACKAGES)}")
        return options.python
    active = os.environ.get("VIRTUAL_ENV")
    if active and interpreter_ready(str(venv_python(Path(active)))):
        return str(venv_python(Path(active)))
    return str(make_venv(Path(".venv"), options.pip_arg, options.wheel_dir, options.allow_cuda))


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


def run_elsewhere(module: str, argv: list[str], options) -> int:
    """Replaces this process by the same command in an interpreter that can run it."""
    python = find_python(options)
    package_root = str(Path(__file__).resolve().parents[1])
    environment = dict(os.environ)
    paths = [package_root, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p for p in paths if p))
    sys.stdout.flush()
    sys.stderr.flush()
    command = [python, "-m", module, *without_python_option(argv)]
    try:
        os.execve(python, command, environment)
    except OSError as error:
        raise EnvironmentProblem(f"cannot start {python}: {error.strerror}") from error


def main(argv) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m etprof.bootstrap", description="Makes an environment that can export.")
    parser.add_argument("--venv", type=Path, default=Path(".venv"))
    parser.add_argument("--pip-arg", action="append", default=[])
    parser.add_argument("--wheel-dir")
    parser.add_argument("--allow-cuda", action="store_true")
    options = parser.parse_args(argv)
    try:
        print(make_venv(options.venv, options.pip_arg, options.wheel_dir, options.allow_cuda))
        return 0
    except EtprofError as error:
        say(str(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
