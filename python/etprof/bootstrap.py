# SPDX-License-Identifier: Apache-2.0
# Where torch, executorch and torchao come from: this interpreter, a named one, or an environment of
# our own, which is made on first use; what single models need beside them goes there too.
# Standard library only. `python -m etprof.bootstrap` does just the set-up.
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import start
from .errors import EnvironmentProblem, EtprofError, UsageError

PACKAGES = ("torch==2.13.0", "executorch==1.5.1", "torchao==0.18.0")
MODULES = ("torch", "executorch", "torchao")
NEEDS = "about 1.6 GB of disk and one to several minutes"
# What some models need beside those: module -> all that goes with it into an environment that has
# PACKAGES. pip gets them without their dependencies: it would replace a CPU build of torch.
TORCHVISION = ("torchvision==0.28.0", "pillow==13.0.0")
EXTRAS = {
    "torchvision": TORCHVISION,
    "timm": ("timm==1.0.31", "safetensors==0.8.0", "huggingface_hub==2.4.0", *TORCHVISION),
    "hydra": ("hydra-core==1.3.8", "omegaconf==2.3.1", "antlr4-python3-runtime==4.9.3"),
    "omegaconf": ("omegaconf==2.3.1", "antlr4-python3-runtime==4.9.3"),
    "transformers": (
        "transformers==5.23.0", "safetensors==0.8.0", "huggingface_hub==2.4.0", "typer==0.29.2",
        "annotated-doc==0.0.7", "pydantic==2.14.3", "pydantic_core==2.50.4", "rich==15.0.0",
        "shellingham==1.5.4", "annotated-types==0.8.0", "markdown-it-py==4.3.0",
        "Pygments==2.21.0", "typing-inspection==0.4.5", "mdurl==0.1.2"),
}
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
    path = start.clean_path(os.environ.get("PYTHONPATH", ""))
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
    tree = Path(start.ROOT).parent
    if (tree / "scripts" / "setup.sh").is_file():
        return tree / ".venv"
    data = os.environ.get("XDG_DATA_HOME", "")
    home = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    return home / "etprof" / "venv"


def is_own(python: str) -> bool:
    """Whether that interpreter is of our own environment, so that we may install into it."""
    return Path(python).parent.absolute() == venv_python(own_environment()).parent


def pip(python: str, *words) -> list[str]:
    """The start of a command line of pip, which must not import from the working directory."""
    return [python, "-I", "-m", "pip", *words]


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
        command = [*pip(python, "install", "--quiet", "--dry-run", "--report", str(report)),
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
        done = subprocess.run([sys.executable, "-I", "-m", "venv", str(folder)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise EnvironmentProblem(
                f"cannot make {folder}: {last_error(done.stdout + done.stderr)}; "
                "on Debian: apt-get install python3-venv")
    packages = planned(dry_run(str(python), options))
    if not allow_cuda:
        refuse_cuda(packages)
    say(f"installing {len(packages)} packages")
    install(str(python), [*options, *PACKAGES])
    if not interpreter_ready(str(python)):
        raise EnvironmentProblem(f"{python} still cannot import {', '.join(MODULES)}")
    return python


def install(python: str, words: list[str]) -> None:
    done = subprocess.run([*pip(python, "install", "--quiet"), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise EnvironmentProblem("pip failed: " + last_error(done.stderr))


def packages_for(modules) -> list[str]:
    """What to install for MODULES, those that have names of their own on an index."""
    return list(dict.fromkeys(p for m in modules for p in EXTRAS.get(m, (m,))))


def add_packages(python: str, modules, pip_args=(), wheel_dir=None) -> None:
    """Installs what a model needs into our own environment, having said what."""
    packages = packages_for(modules)
    say(f"first use: {', '.join(packages)} go into {Path(python).parents[1]}")
    install(python, [*pip_options(pip_args, wheel_dir), "--no-deps", *packages])
    still = lacking(python, modules)
    if still:
        raise EnvironmentProblem(f"{python} still cannot import {', '.join(still)}")


def present_python(named=None) -> str | None:
    """The interpreter that an export would use, when it is there already."""
    if named:
        # As a shell would find it, but never by a relative entry of PATH.
        path = shutil.which(named, path=start.clean_path(os.environ.get("PATH", "")))
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
        start.again(python, "export", without_python_option(argv))
    except OSError as error:
        raise EnvironmentProblem(f"cannot start {python}: {error.strerror}") from error


def main(argv) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m etprof.bootstrap", description="Makes an environment that can export.")
    parser.add_argument("--venv", type=Path, default=own_environment())
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
