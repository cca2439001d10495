# SPDX-License-Identifier: Apache-2.0
"""What the Python package makes of published releases (etprof.releases), from a folder of wheels that are made here:
bundles with the wheel's hash, made once, made anew where a file is not what it was; and what it says when it cannot.

usage: release_bundles.py SOURCE_DIR"""
import base64
import hashlib
import json
import os
import pathlib
import platform
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, new_folder, skip

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PYTHON = os.environ.get("ETPROF_TESTS_PYTHON") or sys.executable
TRIPLE = f"{platform.machine()}-linux-gnu"
if platform.system() != "Linux":
    skip("releases are measured in Python on Linux alone")
if execute(PYTHON, "-m", "pip", "--version", text=False).returncode != 0:
    skip("this Python has no pip")


def wheel(folder, version, requires=""):
    binary = f"binary of {version}" + "Method::execute\0" * (version == "1.2.0")
    return packed(folder, "executorch", version, requires, {
        "executorch/version.py": f"__version__ = '{version}+cpu'\ngit_version = 'abc123'\n",
        "executorch/extension/pybindings/_portable_lib.so": binary})


def packed(folder, name, version, requires, files):
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {**files,
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().strip("=")
        record += f"{name},sha256={digest},{len(text)}\n"
    with zipfile.ZipFile(path, "w") as z:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            z.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def asked(text, **environment):
    return execute(PYTHON, "-I", SOURCE / "python/etprof/start.py", "releases", text, env={**BASE, **environment})


def sha(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def made():
    done = ended(asked("1.1.0,1.2.0"), 0)
    folders = [pathlib.Path(line) for line in done.stdout.splitlines()]
    expect(len(folders) == 2 and [f.name.split("-")[0] for f in folders] == ["1.1.0", "1.2.0"], "made", folders)
    for folder, version in zip(folders, HASHES):
        document = json.loads((folder / "bundle.json").read_text())
        expect(document["wheel"]["sha256"] == HASHES[version], version, document["wheel"])
        expect(document["executorch"] == {"version": version, "sha": "abc123"}, version, document["executorch"])
        expect(document["python"] is True and document["tracer"] is (version == "1.2.0"), version, document)
        expect(document["start"] == [PYTHON, "-I", "./runner.py"], version, document)
        listed = {f["path"]: f["sha256"] for f in document["files"]}
        expect(".release/executorch/extension/pybindings/_portable_lib.so" in listed, version, listed)
        expect(all(sha(folder / path) == found for path, found in listed.items()), version, listed)
        expect(sha(folder / "runner.py") == sha(SOURCE / "python/etprof/releases/runner.py"), version, "runner.py")
    return folders


def made_once(folders):
    offline = {"PIP_FIND_LINKS": ""}
    again = asked("1.2.0,1.1.0", **offline)
    expect(again.stdout.splitlines() == [str(f) for f in reversed(folders)], "again", again.stdout, again.stderr)
    (folders[0] / ".release/executorch/extension/pybindings/_portable_lib.so").write_text("another")
    ended(asked("1.1.0,1.2.0", **offline), 5, says="1.1.0")
    expect(asked("1.1.0,1.2.0").returncode == 0, "altered")
    text = (folders[0] / ".release/executorch/extension/pybindings/_portable_lib.so").read_text()
    expect(text == "binary of 1.1.0", "made anew", text)


def environments():
    """A release whose wheel asks for another torch gets it, in an environment that is made once."""
    for offline in ({}, {"PIP_FIND_LINKS": ""}):
        done = ended(asked("1.0.0,1.2.0", **offline), 0)
    old, new = (json.loads((pathlib.Path(line) / "bundle.json").read_text()) for line in done.stdout.splitlines())
    python = TMP / "cache/releases/1.0.0-environment/bin/python"
    expect(old["start"][0] == str(python) and old["torch"] == "2.9.1", "its own", old)
    expect(new["start"][0] == PYTHON, "the shared one", new["start"])
    listed = execute(python, "-m", "pip", "list", "--format", "json", check=True).stdout
    versions = {p["name"]: p["version"] for p in json.loads(listed)}
    expect(versions["torch"] == "2.9.1" and versions["executorch"] == "1.0.0", "installed", versions)
    folder = pathlib.Path(done.stdout.splitlines()[0])
    kept = {p["name"]: p["sha256"] for p in json.loads((folder / "packages.json").read_text())}
    expect(kept["torch"] == TORCH and "packages.json" in {f["path"] for f in old["files"]}, "what pip took", kept)
    done = asked("1.0.1,1.2.0")
    words = "takes an environment of its own with torch==2.20.*"
    expect(done.returncode == 5 and words in done.stderr, "no torch of it", done.returncode, done.stderr)
    expect(not list((TMP / "cache/releases").glob("1.0.1*")), "left behind", os.listdir(TMP / "cache/releases"))


def refused():
    for text, code, words in (
        ("1.4.1", 2, "two releases of ExecuTorch are named like 1.4.1,1.5.1"),
        ("1.4.1,1.5.1,1.5.0", 2, "not two versions"),
        ("1.4.1,1.4.1", 2, "named twice"),
        ("1.4.1,main", 2, "'main' does not name a version"),
        ("1.4.1,1.5.1 --index-url=x", 2, "does not name a version"),
        ("0.7.0,1.5.1", 2, "0.7.0 is older than 1.0"),
        ("1.1.0,1.9.0", 5, "--executorch 1.9.0: pip has no wheel of it"),
    ):
        ended(asked(text), code, says=words)
    done = asked("1.1.0,1.2.0", PYTHONPATH="", VIRTUAL_ENV="", ETPROF_VENV=str(TMP / "none"))
    has = execute(PYTHON, "-I", "-c", "import importlib.util as u; print(u.find_spec('torch') is not None)",
                  check=True).stdout.strip() == "True"
    expect(has or (done.returncode == 5 and "etprof export toy_cnn --install" in done.stderr), "no torch", done.stderr)


TMP = new_folder()
HASHES = {}
for folder in ("wheels", "packages/torch", "packages/numpy", f"tree/libexec/etprof/{TRIPLE}", "tree/bin"):
    (TMP / folder).mkdir(parents=True)
for package in ("torch", "numpy"):
    (TMP / "packages" / package / "__init__.py").write_text("")
for version in ("1.1.0", "1.2.0"):
    HASHES[version] = wheel(TMP / "wheels", version)
asks = "Requires-Dist: torch<2.10.0,>=2.9.0\nRequires-Dist: torchao==0.14.0; extra == 'x'\n"
wheel(TMP / "wheels", "1.0.0", asks)
wheel(TMP / "wheels", "1.0.1", "Requires-Dist: torch>=2.20.0a0\n")
TORCH = ""
for name, version in (("torch", "2.9.1"), ("torch", "2.13.0"), ("numpy", "2.4.0")):
    made_of = packed(TMP / "wheels", name, version, "", {f"{name}/__init__.py": ""})
    TORCH = made_of if version == "2.9.1" else TORCH
for program in ("tree/bin/etprof", f"tree/libexec/etprof/{TRIPLE}/etprof-launch"):
    (TMP / program).write_text("#!/bin/sh\n")
    (TMP / program).chmod(0o755)
BASE = {**os.environ, "ETPROF": str(TMP / "tree/bin/etprof"), "ETPROF_CACHE": str(TMP / "cache"),
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(TMP / "wheels"), "PYTHONPATH": str(TMP / "packages"),
        "PIP_CONFIG_FILE": os.devnull}
made_once(made())
environments()
refused()
finish("all as expected")
