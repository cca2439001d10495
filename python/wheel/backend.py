# SPDX-License-Identifier: Apache-2.0
"""What pip asks of this tree (PEP 517): an sdist of it, and a wheel for this machine, with the program and the runner,
linked with the system's libraries. Wheels for others are made by scripts/wheel.

usage: backend.py FOLDER    writes the sdist there and prints its path: the same commit gives the same bytes"""
import gzip
import io
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile

import pack

ROOT = pack.ROOT
TRIPLES = {("Linux", "x86_64"): "x86_64-linux-gnu", ("Linux", "aarch64"): "aarch64-linux-gnu",
           ("Darwin", "arm64"): "arm64-macos"}
LISTED = "PKG-INFO" # is in an sdist alone


def native():
    here = platform.system(), platform.machine()
    return TRIPLES.get(here) or pack.die(f"no runner for {' '.join(here)}: ExecuTorch publishes no SDK for it")


def get_requires_for_build_wheel(config_settings=None): # pylint: disable=unused-argument
    lines = (ROOT / "scripts/requirements/build.in").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None): # pylint: disable=unused-argument
    triple = native()
    strip = [f"-DCMAKE_{kind}_LINKER_FLAGS=-s" for kind in ("EXE", "SHARED") if triple.endswith("-gnu")]
    build = ROOT / "build/wheel/native"
    # The runner's scripts ask python3 for pip: this one has it.
    env = {**os.environ, "PATH": os.pathsep.join([os.environ["PATH"], os.path.dirname(sys.executable)])}
    with tempfile.TemporaryDirectory() as folder:
        for words in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                       "-DETPROF_TESTS=OFF", "-DETPROF_WERROR=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", *strip],
                      ["cmake", "--build", build], [ROOT / "scripts/build-runner", triple],
                      ["cmake", "--install", build, "--prefix", folder]):
            done = subprocess.run(words, env=env, stdout=sys.stderr, check=False)
            if done.returncode != 0:
                pack.die(f"{pathlib.Path(words[0]).name} failed, as said above; see docs/install.md")
        version, summary = pack.project()
        machine = platform.machine()
        tag = f"py3-none-linux_{machine}" if triple.endswith("-gnu") else f"py3-none-macosx_14_0_{machine}"
        name = f"etprof-{version}-{tag}.whl"
        files = pack.contents(pathlib.Path(folder), triple, tag, version, summary)
        pack.write(pathlib.Path(wheel_directory, name), *files)
    return name


def sources():
    """Paths of the tree's files: those of the commit, or of the sdist that this is."""
    if (ROOT / LISTED).exists():
        return sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file() and p.name != LISTED)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.decode()
    return sorted(name for name in listed.split("\0") if (ROOT / name).is_file())


def build_sdist(sdist_directory, config_settings=None): # pylint: disable=unused-argument
    version, summary = pack.project()
    top = f"etprof-{version}"
    about = pack.metadata(version, summary, native()).encode()
    rows = [(name, (ROOT / name).read_bytes(), os.access(ROOT / name, os.X_OK)) for name in sources()]
    out = pathlib.Path(sdist_directory, f"{top}.tar.gz")
    with open(out, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data, runs in [*rows, (LISTED, about, False)]:
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode = len(data), 0o755 if runs else 0o644
            tar.addfile(entry, io.BytesIO(data))
    return out.name


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(pathlib.Path(sys.argv[1], build_sdist(sys.argv[1])))
