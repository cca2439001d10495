# SPDX-License-Identifier: Apache-2.0
"""Makes bundles of two published releases of ExecuTorch, both of one kind: etprof's C++ runner, built against the SDK
that both wheels carry, or the Python runtime of both wheels (runner.py). A release whose wheel asks for another torch
than the Python here has, and one that exports, gets an environment of its own. Standard library only."""
from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from etprof import bootstrap, packages, restart, system
from etprof.errors import EnvironmentProblem, UsageError
from etprof.runfolders import read_json, sha256
from etprof.verbs import program

OLDEST = (1, 0)
VERSION = re.compile(r"\d{1,4}\.\d{1,4}(\.\d{1,4})?")
TREE = Path(restart.ROOT).parent
PACKAGES = "packages.json"  # of an environment: what pip took, name, version and sha256
BINARIES = ("extension/pybindings", "kernels/quantized", "lib", "backends/qualcomm")  # what a launch can load


def versions(text: str) -> list[str]:
    """The two that A,B names."""
    found = text.split(",")
    wrong = next((v for v in found if not VERSION.fullmatch(v)), None)
    if wrong is not None or len(found) != 2:
        what = f"'{wrong}' does not name a version" if wrong is not None else f"'{text}' is not two versions"
        raise UsageError(f"--executorch: {what}; two releases of ExecuTorch are named like 1.4.1,1.5.1")
    if found[0] == found[1]:
        raise UsageError(f"--executorch: {found[0]} is named twice; name two releases, the baseline first")
    old = next((v for v in found if numbers(v) < OLDEST), None)
    if old:
        raise UsageError(f"--executorch: {old} is older than {'.'.join(map(str, OLDEST))}, the first release whose "
                         "Python runtime can be measured")
    return found


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def place() -> Path:
    """Where releases are kept: what the source tree downloads, or the user's data."""
    if os.environ.get("ETPROF_CACHE"):
        return Path(os.environ["ETPROF_CACHE"]).absolute() / "releases"
    if (TREE / "scripts/sdk").is_file():
        return TREE / ".cache/releases"
    return bootstrap.own_environment().parent / "releases"


def built(wanted: list[str]) -> list[str] | None:
    """Bundles of etprof's C++ runner, where this is a source tree, a compiler is there and both wheels have the SDK."""
    script = TREE / "scripts/build-runner"
    if not script.is_file():
        return None
    folders = {}
    for version in sorted(wanted, key=numbers):  # an old one tells at once that it has none
        done = subprocess.run([script, "native", "--executorch", version], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != 0:
            return None
        folders[version] = done.stdout.strip()
    return [folders[v] for v in wanted]


def interpreter() -> str:
    """A Python with torch, which the Python runtimes of releases are linked against: one for both."""
    active = os.environ.get("VIRTUAL_ENV", "")
    places = [Path(active)] if os.path.isabs(active) else []
    for python in (sys.executable, *(str(bootstrap.venv_python(p)) for p in (*places, bootstrap.own_environment()))):
        if not bootstrap.lacking(python, ("torch", "numpy")):
            return python
    raise EnvironmentProblem(
        "--executorch: no Python with torch and numpy was found, and releases run in one. 'etprof export toy_cnn "
        f"--install' makes one in {bootstrap.own_environment()} ({bootstrap.NEEDS}), or name one with ETPROF_PYTHON")


def torch_of(release: Path) -> str:
    """The torch that the wheel unpacked in RELEASE was built with, as "2.9"; "": with none of its objects. Wheels name
    it as the least that they take, but newer ones lay their objects out otherwise in memory."""
    text = "".join(path.read_text(encoding="utf-8") for path in release.glob("executorch-*.dist-info/METADATA"))
    found = re.search(r"^Requires-Dist: torch\b(?!ao)[^;\n]*?[>=~]= *(\d+\.\d+)", text, re.M)
    return found[1] if found else ""


def installed(python: str, package: str) -> str:
    """The version of PACKAGE that PYTHON has, without what follows a plus; "": none."""
    done = subprocess.run([python, "-I", "-c", "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))",
                           package], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout.strip().split("+")[0] if done.returncode == 0 else ""


def hash_of(taken: dict) -> str | None:
    """The SHA-256 of a file in a report of pip: "hash" alone before pip 23.1."""
    archive = taken["download_info"].get("archive_info", {})
    return archive.get("hashes", {}).get("sha256") or archive.get("hash", "").removeprefix("sha256=") or None


def environment_of(version: str) -> Path:
    return place() / f"{version}-environment"


def has_environment(version: str) -> bool:
    folder = environment_of(version)
    return (folder / PACKAGES).is_file() and installed(str(bootstrap.venv_python(folder)), "executorch") == version


def environment(base: str, version: str, torch: str) -> str:
    """The interpreter of an environment that BASE makes for VERSION, with everything that its wheel asks for. No lock
    file can know releases that are still to come, so PACKAGES keeps what pip took, with its hashes."""
    folder = environment_of(version)
    python = str(bootstrap.venv_python(folder))
    if has_environment(version):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    wanted = f"torch=={torch}.*" if torch else "torch"
    index = os.environ.get("ETPROF_TORCH_INDEX")
    parts = [[*packages.place_options(index), wanted]] if index else []
    parts.append([f"executorch=={version}", wanted, "numpy"])
    reports = [folder / f"report{i}.json" for i in range(len(parts))]
    steps = [[base, "-I", "-m", "venv", str(folder)]]
    steps += [packages.pip(python, "install", "--report", str(report), "--quiet", "--disable-pip-version-check", *part)
              for report, part in zip(reports, parts)]
    for step in steps:
        done = subprocess.run(step, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise EnvironmentProblem(
                f"--executorch {version}: it takes an environment of its own with {wanted}, which cannot be made in "
                f"{folder}: {packages.last_error(done.stderr + done.stdout)}")
    taken = [{"name": p["metadata"]["name"], "version": p["metadata"]["version"], "sha256": hash_of(p)}
             for report in reports for p in read_json(report)["install"]]
    (folder / PACKAGES).write_text(json.dumps(taken, indent=1) + "\n")
    return python


def launcher(triple: str) -> Path:
    """etprof-launch of the program's own bundle: it tells which CPU this is."""
    exe = Path(program()).resolve()
    places = [folder / triple / "etprof-launch" for folder in
              (exe.parents[1] / "libexec/etprof", exe.parents[2] / "bundle")]
    found = next((path for path in places if os.access(path, os.X_OK)), None)
    if not found:
        raise EnvironmentProblem(f"--executorch: no etprof-launch in {places[0].parent}: build the runner with "
                                 "scripts/build-runner native")
    return found


def download(python: str, version: str, folder: Path) -> dict[str, object]:
    """Unpacks the wheel for PYTHON into FOLDER, which is new; what it was."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        command = packages.pip(python, "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                               "--only-binary", ":all:", "--dest", work, f"executorch=={version}")
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        wheels = list(Path(work).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise EnvironmentProblem(
                f"--executorch {version}: pip has no wheel of it for {python}: {packages.last_error(done.stderr)}; "
                f"'{python} -m pip index versions executorch' lists what is published")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(folder)
        return {"file": wheels[0].name, "sha256": sha256(wheels[0])}


def binaries(release: Path) -> list[Path]:
    return sorted(path for part in BINARIES for path in (release / "executorch" / part).glob("**/*")
                  if path.is_file() and (path.suffix in (".so", ".dylib") or ".so." in path.name))


def has_tracer(release: Path) -> bool:
    """Whether the runtime records: wheels before 1.5 were built without event tracer."""
    return any(b"Method::execute\0" in path.read_bytes() for path in binaries(release))


def entry(bundle: Path, path: Path) -> dict[str, object]:
    return {"path": str(path.relative_to(bundle)), "sha256": sha256(path), "bytes": path.stat().st_size}


def is_whole(bundle: Path, python: str) -> bool:
    """Whether what was unpacked there is still what it was, for this interpreter."""
    try:
        document = read_json(bundle / "bundle.json")
        return document["made_by"] == python and os.access(document["start"][0], os.X_OK) and all(
            sha256(bundle / f["path"]) == f["sha256"] for f in document["files"])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return False


def make_bundle(python: str, version: str, triple: str) -> Path:
    """The bundle whose runner is RUNNER.PY with the release VERSION."""
    tag = subprocess.run([python, "-I", "-c", "import sys; print(sys.implementation.cache_tag)"], text=True,
                         capture_output=True).stdout.strip()
    bundle = place() / f"{version}-{tag}-{triple}"
    mine = {"runner.py": Path(__file__).with_name("runner.py"), "etprof-launch": launcher(triple)}
    if is_whole(bundle, python) and all(sha256(bundle / n) == sha256(p) for n, p in mine.items()):
        return bundle
    place().mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{bundle.name}.", dir=place()))
    try:
        wheel = download(python, version, work / ".release")
        for name, path in mine.items():
            shutil.copy(path, work / name)
        text = (work / ".release/executorch/version.py").read_text()
        sha = re.search(r"^git_version\b[^=\n]*=\s*['\"]([0-9a-f]+)", text, re.M)
        torch = torch_of(work / ".release")
        fits = torch in ("", ".".join(installed(python, "torch").split(".")[:2]))
        start = [python if fits else environment(python, version, torch), "-I", "./runner.py"]
        if not fits:
            mine[PACKAGES] = environment_of(version) / PACKAGES
            shutil.copy(mine[PACKAGES], work)
        files = [entry(work, path) for path in (*(work / n for n in mine), *binaries(work / ".release"))]
        document = {"schema": "etprof.bundle/1", "triple": triple, "made_by": python,
                    "executorch": {"version": version, "sha": sha[1] if sha else ""}, "wheel": wheel, "python": True,
                    "torch": installed(start[0], "torch"),
                    "tracer": has_tracer(work / ".release"), "start": start, "direct": start, "env": {},
                    "bytes": sum(int(str(f["bytes"])) for f in files), "files": files}
        (work / "bundle.json").write_text(json.dumps(document, indent=1) + "\n")
        work.chmod(0o755)
        shutil.rmtree(bundle, ignore_errors=True)
        work.rename(bundle)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return bundle


def stem_of(source: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", Path(source).stem).strip("_") or "model"


def exported(version: str, source: str, folder: Path) -> str:
    """The program that the exporter of VERSION makes of SOURCE, what `etprof export` takes, in FOLDER."""
    python = interpreter()
    if installed(python, "executorch") != version:
        if not has_environment(version):
            with tempfile.TemporaryDirectory() as work:  # its wheel says which torch
                download(python, version, Path(work) / "release")
                environment(python, version, torch_of(Path(work) / "release"))
        python = str(bootstrap.venv_python(environment_of(version)))
    path = os.pathsep.join((str(Path(python).parent), os.environ.get("PATH", "")))  # its flatc
    # Passes before partitioning are of some releases alone.
    command = [python, "-I", str(Path(restart.ROOT) / "etprof/start.py"), "export", source, "--quiet", "--no-install",
               "--no-transforms", "--outdir", str(folder), "--name", f"{stem_of(source)}_exporter{version}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, "PATH": path})
    programs = list(folder.glob("*.pte"))
    if done.returncode != 0 or len(programs) != 1:
        raise EnvironmentProblem(f"ExecuTorch {version} made no program of {source}: "
                                 f"{packages.last_error(done.stderr + done.stdout)}")
    return str(programs[0])


def prepare(text: str, source: str | None = None) -> list[str]:
    """The folders of two bundles for the versions A,B of TEXT, and the programs that both exporters make of SOURCE."""
    wanted = versions(text)
    programs = []
    if source:
        out = Path(f"out_{stem_of(source)}", "releases").absolute()
        programs = [exported(version, source, out / version) for version in wanted]
    triple = next((t for t, here in system.SYSTEMS.items() if here == (platform.system(), platform.machine())), None)
    made = built(wanted) if triple else None
    if made:
        return made + programs
    if platform.system() != "Linux" or not triple:
        raise EnvironmentProblem("--executorch: the Python runtimes of releases are measured on Linux, arm64 or x86-64")
    python = interpreter()
    return [str(make_bundle(python, version, triple)) for version in wanted] + programs
