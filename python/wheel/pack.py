# SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree of etprof as a wheel and prints its path: the same tree gives the same bytes.

usage: pack.py PREFIX FOLDER --triple TRIPLE --glibc VERSION --macos VERSION"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The first moment that a zip file can name: when a wheel was made is none of its content.
MADE = (1980, 1, 1, 0, 0, 0)
# Of the installed tree, by what its paths begin with. Headers and what links programs stay with the packages for
# developers; pages and completions are where a shell looks for them only below a prefix.
TAKEN = ("bin/", "share/etprof/", "share/doc/etprof/LICENSE", "share/doc/etprof/copyright",
         "share/doc/etprof/README.md", "share/doc/etprof/CHANGELOG.md")
PACKAGE = "share/etprof/python/" # is in the wheel as what Python imports, and the program finds it there
# What the wheel's extras add.
EXTRAS = ("export", "fleet", "mcp", "parquet", "spark", "validate")
# Of everything in it: etprof, KleidiAI, flatcc and FlatBuffers; ExecuTorch, XNNPACK, libzip, zstd and Capstone; cpuinfo
# and pthreadpool; jansson, FP16 and FXdiv; zlib; LLVM's tables in Capstone; the C library; GCC's libraries.
LICENSES = ("Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "MIT", "Zlib", "NCSA", "LGPL-2.1-or-later",
            "GPL-3.0-or-later WITH GCC-exception-3.1")
CLASSIFIERS = ("Development Status :: 4 - Beta", "Environment :: Console", "Intended Audience :: Developers",
               "Programming Language :: C", "Programming Language :: Python :: 3",
               *(f"Programming Language :: Python :: 3.{minor}" for minor in (9, 10, 11, 12, 13)),
               "Topic :: Scientific/Engineering :: Artificial Intelligence", "Topic :: Software Development",
               "Topic :: System :: Benchmark", "Typing :: Typed")
SYSTEM = {"x86_64-linux-gnu": "POSIX :: Linux", "aarch64-linux-gnu": "POSIX :: Linux", "arm64-macos": "MacOS"}
# Below the project's place, as GitHub lays them out.
URLS = (("Homepage", ""), ("Source", ""), ("Changelog", "/blob/HEAD/CHANGELOG.md"), ("Issues", "/issues"))
# Said where pip and people look.
NOT_RUN = {"arm64-macos": "The programs in this wheel were compiled and linked for macOS on another system. Nobody has "
                          "run them yet."}


def die(why):
    sys.exit(f"pack: {why}")


def project():
    """Version and description, from where the program has them."""
    header = (ROOT / "include/etprof/version.h").read_text(encoding="utf-8")
    version, summary = re.search(r'define ETP_VERSION "([0-9.]+)"', header), said_of_project("DESCRIPTION")
    return (version[1], summary) if version and summary else die("no version or no description")


def said_of_project(word):
    """What CMake's project() has for WORD; None where it does not have it."""
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(rf'^project\([^)]*\b{word} "([^"]+)"', build, re.M)
    return found and found[1]


def requirements(purpose):
    """What the extra PURPOSE adds: the lines that the lock file is made from."""
    lines = (ROOT / f"python/etprof/requirements/{purpose}.in").read_text(encoding="utf-8").splitlines()
    found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not found:
        die(f"{purpose}.in requires nothing")
    # On Linux a bare torch is the build with CUDA, gigabytes that exporting never uses. The CPU build has a name of its
    # own; where pip is told of no index that has it, it installs nothing.
    return [each for line in found for each in ([f"{line}+cpu ; sys_platform == 'linux'",
                                                 f"{line} ; sys_platform != 'linux'"]
                                                if line.startswith("torch==") else [line])]


def platform(triple, glibc, macos):
    """Pip's name of the system."""
    machine = triple.split("-")[0]
    if triple.endswith("-macos"):
        return f"macosx_{macos.replace('.', '_')}_{machine}"
    return f"manylinux_{glibc.replace('.', '_')}_{machine}"


def texts_of_licenses():
    """{name in dist-info/licenses: path}"""
    texts = {f"licenses/{text.name}": text for text in sorted((ROOT / "cmake/licenses").iterdir())}
    return {"LICENSE": ROOT / "LICENSE", "copyright": ROOT / "cmake/copyright", **texts}


def metadata(version, summary, triple):
    head = ["Metadata-Version: 2.4", "Name: etprof", f"Version: {version}",
            f"Summary: {summary}{' (never run on this system)' if triple in NOT_RUN else ''}",
            "Author: the etprof authors", "Keywords: executorch,profiler,benchmark,xnnpack,sme2,pytorch",
            f"License-Expression: {' AND '.join(LICENSES)}", *(f"License-File: {name}" for name in texts_of_licenses()),
            *(f"Classifier: {words}" for words in CLASSIFIERS), f"Classifier: Operating System :: {SYSTEM[triple]}",
            "Requires-Python: >=3.9"]
    home = said_of_project("HOMEPAGE_URL") # none before the project has a place: docs/install.md
    head += [f"Project-URL: {what}, {home}{path}" for what, path in URLS] if home else []
    for purpose in EXTRAS:
        head += [f"Provides-Extra: {purpose}"]
        for line in requirements(purpose):
            what, _, where = line.partition(" ; ")
            head.append(f"Requires-Dist: {what} ; " + f"{where} and " * bool(where) + f'extra == "{purpose}"')
    head += ["Description-Content-Type: text/markdown"]
    note = f"**{NOT_RUN[triple]}**\n\n" if triple in NOT_RUN else ""
    return "\n".join(head) + "\n\n" + note + (ROOT / "README.md").read_text(encoding="utf-8")


def tree(prefix, triple):
    """(path in the package, bytes, executable) of what the program needs."""
    bundle = f"libexec/etprof/{triple}/"
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix).as_posix()
        taken = name.startswith((*TAKEN, bundle)) and not name.startswith(PACKAGE)
        if taken and path.is_file() and not path.is_symlink():
            yield f"etprof/tree/{name}", path.read_bytes(), os.access(path, os.X_OK)
    library = "lib/libetprof.dylib" if triple.endswith("-macos") else "lib/libetprof.so"
    yield f"etprof/tree/{library}", (prefix / library).read_bytes(), True # a link, which wheels cannot hold


def contents(prefix, triple, tag, version, summary):
    """Every file of the wheel but RECORD."""
    files = {name: (data, runs) for name, data, runs in tree(prefix, triple)}
    for needed in ("bin/etprof", "bin/etprof-launch", f"libexec/etprof/{triple}/bundle.json",
                   f"libexec/etprof/{triple}/etprof-runner", "share/etprof/models/toy_cnn_xnnpack_fp32.pte"):
        if f"etprof/tree/{needed}" not in files:
            die(f"{prefix} has no {needed}")
    for path in sorted((ROOT / "python/etprof").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(ROOT / "python").as_posix()] = (path.read_bytes(), False)
    info = f"etprof-{version}.dist-info"
    texts = {"METADATA": metadata(version, summary, triple),
             "entry_points.txt": "[console_scripts]\netprof = etprof.command:command\n",
             "WHEEL": f"Wheel-Version: 1.0\nGenerator: etprof\nRoot-Is-Purelib: false\nTag: {tag}\n",
             **{f"licenses/{name}": path.read_text(encoding="utf-8") for name, path in texts_of_licenses().items()}}
    for name, text in texts.items():
        files[f"{info}/{name}"] = (text.encode(), False)
    return files, info


def record(files, info):
    """RECORD: each file with its hash and length, itself without."""
    lines = []
    for name in sorted(files):
        data = files[name][0]
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def write(path, files, info):
    """RECORD comes last, as the format recommends."""
    rows = [(name, *files[name]) for name in sorted(files)] + [(f"{info}/RECORD", record(files, info).encode(), False)]
    handle, work = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out, zipfile.ZipFile(out, "w") as wheel:
            for name, data, runs in rows:
                entry = zipfile.ZipInfo(name, MADE)
                entry.create_system = 3 # Unix, which has modes
                entry.external_attr = (0o100755 if runs else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                wheel.writestr(entry, data, compresslevel=9)
        os.chmod(work, 0o644)
        os.replace(work, path)
    except BaseException:
        os.unlink(work)
        raise


def main():
    options = argparse.ArgumentParser(usage="pack.py PREFIX FOLDER --triple TRIPLE --glibc VERSION --macos VERSION")
    options.add_argument("prefix", type=pathlib.Path)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--triple", required=True)
    options.add_argument("--glibc", required=True)
    options.add_argument("--macos", required=True)
    given = options.parse_args()
    version, summary = project()
    tag = f"py3-none-{platform(given.triple, given.glibc, given.macos)}"
    files, info = contents(given.prefix, given.triple, tag, version, summary)
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / f"etprof-{version}-{tag}.whl"
    write(path, files, info)
    print(path)


if __name__ == "__main__":
    main()
