# SPDX-License-Identifier: Apache-2.0
# What may be installed for an export: the packages of the lock files beside this, one version each,
# every file checked against its hash, whatever index or folder it comes from. And the one question
# that this may take: which build of torch. Standard library only.
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import EnvironmentProblem, UsageError
from .shown import safe

LOCKS = Path(__file__).resolve().parent / "requirements"
ENTRY = re.compile(r"^[A-Za-z0-9].*?(?=^\S|\Z)", re.M | re.S)
# Built from source, for want of a wheel; with the setuptools of the lock file, not one of the day.
FROM_SOURCE = "antlr4-python3-runtime"
TORCH_CPU = "0.2 GB to fetch, 0.7 GB on disk"
TORCH_DEFAULT = "2.7 GB to fetch, 4.7 GB on disk"
# What some models need beside the exporter's own: module -> packages that go together.
EXTRAS = {
    "torchvision": ("torchvision", "pillow"),
    "timm": ("timm", "safetensors", "huggingface-hub", "torchvision", "pillow"),
    "hydra": ("hydra-core", "omegaconf", "antlr4-python3-runtime"),
    "omegaconf": ("omegaconf", "antlr4-python3-runtime"),
    "PIL": ("pillow",),
    "transformers": (
        "transformers", "safetensors", "huggingface-hub", "typer", "annotated-doc", "pydantic",
        "pydantic-core", "rich", "shellingham", "annotated-types", "markdown-it-py", "pygments",
        "typing-inspection", "mdurl"),
}


class NoSuchBuild(EnvironmentProblem):
    """pip knows no file of these packages for this machine."""


def say(text):
    print(safe(f"etprof export: {text}"), file=sys.stderr, flush=True)


def last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # the last line of a conflict is its title and an address; the one before it says what conflicts
    errors = [line for line in lines if line.startswith("ERROR") and "ResolutionImpossible" not in line]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")


def pip(python: str, *words) -> list[str]:
    """The start of a command line of pip, which must not import from the working directory."""
    return [python, "-I", "-m", "pip", *words]


def entries(*names) -> dict[str, list[str]]:
    """Package -> its lines in the lock files NAMES, one for each range of Pythons or systems."""
    found: dict[str, list[str]] = {}
    for name in names:
        for entry in ENTRY.findall((LOCKS / f"{name}.txt").read_text(encoding="utf-8")):
            found.setdefault(entry.split("==", 1)[0], []).append(entry)
    return found


def install(python: str, texts, options=()) -> None:
    """Has pip install what TEXTS, lines of lock files, pin; nothing besides."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "lock.txt"
        lock.write_text("".join(texts), encoding="utf-8")
        command = [*pip(python, "install", "--quiet", "--disable-pip-version-check"), "--require-hashes",
                   "--no-deps", "--no-build-isolation", "--only-binary", ":all:", "--no-binary", FROM_SOURCE,
                   *options, "-r", str(lock)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        kind = NoSuchBuild if "No matching distribution" in done.stderr else EnvironmentProblem
        raise kind("pip failed: " + last_error(done.stderr))


def whole(name: str) -> list[str]:
    return [line for lines in entries(name).values() for line in lines]


def place_options(place: str) -> list[str]:
    """pip's options for an index or a folder that takes the place of those of its configuration."""
    if re.match(r"[a-z]+://", place):
        return ["--index-url", place]
    if not Path(place).is_dir():
        raise UsageError(f"{place} is neither the address of an index (https://…) nor a folder")
    return ["--no-index", "--find-links", place]


def wheel_folder(wheel_dir) -> list[str]:
    if not wheel_dir:
        return []
    if not Path(wheel_dir).is_dir():
        raise UsageError(f"--wheel-dir {wheel_dir}: no such folder")
    return ["--find-links", str(wheel_dir)]


def somebody_is_there() -> bool:
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


def answered(question: str) -> str:
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def ask() -> str:
    """The one question about builds. Returns "default" or where CPU builds are; a no ends the export."""
    choices = (
        f"the default build brings CUDA, which exporting never uses ({TORCH_DEFAULT}); "
        f"PyTorch's CPU build ({TORCH_CPU}) is in an index of its own, whose address stands on PyTorch's "
        "page \"Get Started\" under \"CPU\""
    )
    if not somebody_is_there():
        raise EnvironmentProblem(
            "pip's configuration here offers no CPU build of torch, and nobody can be asked: "
            f"{choices}. Name that index or a folder with its files, ETPROF_TORCH_INDEX=ADDRESS, "
            "or accept the default build with --allow-cuda")
    say(f"torch: {choices}")
    answer = answered("Take the default build? [y/N, or the address of the index, or a folder]")
    if answer.lower() in ("y", "yes"):
        return "default"
    if answer.lower() in ("", "n", "no"):
        raise EnvironmentProblem(
            "nothing was installed; ETPROF_TORCH_INDEX=ADDRESS or --allow-cuda answers the question")
    return answer


def install_torch(python: str, options, allow_cuda: bool) -> None:
    """torch without CUDA where pip's configuration or ETPROF_TORCH_INDEX has it; else what the user
    says. A Mac's only build has none. SETUPTOOLS comes with it: what is built later needs it."""
    tools = entries("export")["setuptools"]
    if sys.platform != "linux":
        install(python, [*whole("torch-default"), *tools], options)
        return
    install(python, tools, options)
    named = os.environ.get("ETPROF_TORCH_INDEX")
    if named:
        install(python, whole("torch-cpu"), [*options, *place_options(named)])
        return
    try:
        install(python, whole("torch-cpu"), options)
        return
    except NoSuchBuild:
        answer = "default" if allow_cuda else ask()
    if answer == "default":
        say(f"installing torch with CUDA ({TORCH_DEFAULT})")
        install(python, whole("torch-default"), options)
    else:
        install(python, whole("torch-cpu"), [*options, *place_options(answer)])


def install_exporter(python: str, pip_args=(), wheel_dir=None, allow_cuda=False) -> None:
    """Everything that exporting needs, into the environment of PYTHON."""
    options = [*pip_args, *wheel_folder(wheel_dir)]
    install_torch(python, options, allow_cuda)
    say("installing executorch, torchao and what they need")
    install(python, whole("export"), options)


def packages_for(modules) -> list[str]:
    """The packages that MODULES come from; a module that no lock file knows under its own name."""
    return list(dict.fromkeys(p for m in modules for p in EXTRAS.get(m, (m,))))


def pinned_for(modules) -> list[str]:
    """The same with their versions, to be shown; those that no lock file knows as they are."""
    known = entries("export", "models")
    return [known[n][-1].split(maxsplit=1)[0] if n in known else n for n in packages_for(modules)]


def install_for_model(python: str, modules, pip_args=(), wheel_dir=None) -> None:
    """What a model imports besides, from the lock files alone."""
    known = entries("export", "models")
    names = packages_for(modules)
    unknown = [n for n in names if n not in known]
    if unknown:
        raise EnvironmentProblem(
            f"the model needs {', '.join(unknown)}, of which no version is pinned here; install what "
            f"you trust yourself: {python} -m pip install --no-deps {' '.join(unknown)}")
    install(python, [line for n in names for line in known[n]], [*pip_args, *wheel_folder(wheel_dir)])
