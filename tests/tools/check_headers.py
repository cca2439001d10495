# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone, as C17 and as C++17, without a warning; a C++ program links and calls the
library. usage: check_headers.py SOURCE_DIR LIBRARY [FLAG...]; 77 = no C++ compiler"""
import os
import pathlib
import shutil
import sys
import tempfile

from checks import execute, expect, finish

ROOT, LIBRARY = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", f"-I{ROOT / 'include'}", *sys.argv[3:]]
PROGRAM = """#include <cstdio>
#include <etprof/pte.h>
#include <etprof/trace.h>
int main()
{
    const uint8_t bytes[] = {1, 2, 3};
    etp_error err{};
    etp_trace *trace = nullptr;
    etp_status st = etp_trace_open(etp_bytes{bytes, sizeof bytes, 0}, nullptr, &trace, &err);
    std::printf("%s|%.*s", etp_status_text(st), ETP_STR_ARG(etp_str_trim(ETP_STR(" x "), " ")));
    return st == ETP_CORRUPT ? 0 : 1;
}
"""


def compiled(compiler, standard, source, *words):
    done = execute(compiler, f"-std={standard}", *FLAGS, source, *words)
    expect(done.returncode == 0, f"{source.name} as {standard}", done.stderr)
    return done.returncode == 0


def alone(tmp, compiler, standard, ending):
    for header in sorted((ROOT / "include/etprof").glob("*.h")):
        source = tmp / f"{header.stem}{ending}"
        source.write_text(f"#include <etprof/{header.name}>\n#include <etprof/{header.name}>\nint nothing_else;\n")
        compiled(compiler, standard, source, "-fsyntax-only")


cc, cxx = (shutil.which(os.environ.get(v, name)) for v, name in (("CC", "cc"), ("CXX", "c++")))
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    alone(folder, cc, "c17", ".c")
    if cxx:
        alone(folder, cxx, "c++17", ".cpp")
        (folder / "program.cc").write_text(PROGRAM)
        if compiled(cxx, "c++17", folder / "program.cc", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o",
                    folder / "program"):
            done = execute(folder / "program")
            expect(done.returncode == 0 and done.stdout == "broken file|x", "the C++ program", done.stdout, done.stderr)
if not cxx:
    print("skipped: no C++ compiler; as C17 alone")
finish("every header alone in C17 and C++17; a C++ program on the library", code=0 if cxx else 77)
