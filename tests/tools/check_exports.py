# SPDX-License-Identifier: Apache-2.0
"""The shared library exports the functions and objects that the public headers declare, and nothing else.
usage: check_exports.py INCLUDE_DIR LIBRARY; 77 = no nm here"""
import os
import pathlib
import re
import shutil
import sys

from checks import execute, expect, finish, skip

HEADERS, LIBRARY = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
SANITIZER = re.compile(r"^(__asan_|__odr_asan|__ubsan_|__sanitizer_|__tsan_)")


def exported():
    """Names that a program can link to, by the library's own dynamic symbol table."""
    darwin = sys.platform == "darwin"
    words = ["-gU"] if darwin else ["-D", "--defined-only", "--format=posix"]
    text = execute("nm", *words, LIBRARY, check=True).stdout
    if darwin:
        return {line.split()[-1].removeprefix("_") for line in text.splitlines() if line}
    return {line.split()[0].split("@")[0] for line in text.splitlines() if line and not SANITIZER.match(line)}


def preprocessed(header):
    """The lines of HEADER as a compiler sees them, without those of what it includes."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    text = execute(compiler, "-std=c17", "-E", f"-I{HEADERS}", "-include", "etprof/error.h", "-x", "c", header,
                   check=True).stdout
    ours, lines = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = os.path.realpath(marker.group(1)) == str(header)
        elif ours:
            lines.append(line)
    return "\n".join(lines)


def top_level(text):
    """Declarations of TEXT: what stands outside braces, each up to its semicolon or body."""
    depth, at, found = 0, 0, []
    for i, c in enumerate(text):
        if c == "{":
            found += [text[at:i]] if depth == 0 else []
            depth += 1
        elif c == "}":
            depth, at = depth - 1, i + 1
        elif c == ";" and depth == 0:
            found.append(text[at:i])
            at = i + 1
    return found


def declared(header):
    """Functions and objects with external linkage that HEADER declares."""
    names = set()
    for one in top_level(preprocessed(header)):
        one = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", one)
        one = " ".join(one.split())
        if not one or one.startswith(("typedef", "static", "struct ArrowSchema {", "enum", "extern \"C\"")):
            continue
        function = re.match(r"[\w\s*]*?\b(etp_\w+)\s*\(", one)
        thing = re.match(r"extern .*?\b(\w+)(?:\[[^\]]*\])?$", one)
        if function or thing:
            names.add((function or thing).group(1))
    return names


if not shutil.which("nm"):
    skip("no nm")
where = {}
for path in sorted((HEADERS / "etprof").glob("*.h")):
    for name in declared(path):
        expect(name not in where, f"{name} is declared in {path.name} and in {where.get(name)}")
        where[name] = path.name
symbols = exported()
expect(len(where) > 100 and "etp_trace_open" in where, "declarations found in the headers", len(where))
for name in sorted(set(where) - symbols):
    expect(False, f"{where[name]} declares {name}, which the library does not export")
for name in sorted(symbols - set(where)):
    expect(False, f"the library exports {name}, which no public header declares")
finish(f"{len(symbols)} names, each declared in a public header")
