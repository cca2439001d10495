# SPDX-License-Identifier: Apache-2.0
"""test_memory.py SHORT_ETPROF SHORT_LIBRARY SOURCE_DIR [--all] [VERB...]: out of memory, wherever it happens, is the
error.

SHORT_ETPROF is the program with an arena whose every object is a call of realloc that can be made to fail
(shortage.c), SHORT_LIBRARY a program of the public library with the same arena (library.c: VERB is "library"). Each
verb runs once with enough memory, then with its Nth allocation failing, alone and with all after it. Each time it
ends with status 5 and says that memory ran out, prints nothing else, and what it leaves are whole files: those of
before, or those of a run with enough memory. Or it gives the very answer of before, where what could not be had was
not needed. Under the sanitizers this is also the test that nothing leaks then. N are some, spread over the whole run,
and the first of each function that asks for memory and did not in a command before; with --all they are all."""
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile

import failing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders  # noqa: E402
import run_folders  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402

PROGRAM, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TREE = pathlib.Path(sys.argv[3]).resolve()
WORDS = sys.argv[4:]
ALL = "--all" in WORDS
ONLY = [w for w in WORDS if w != "--all"]
DATA = TREE / "tests/data"
POINTS = 6  # of one command, beside the first of each function; with --all every one
DUMP, PROGRAM_FILE = DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32.pte"
RECORD = DATA / "mixed_xnnpack_fp32.etrecord"
KIT = [DATA / f"kit_{side}_exec_all_runs_timeline.csv" for side in ("off", "on")]

COMMANDS = [
    ["analyze", DUMP], ["analyze", DUMP, "--format", "json"], ["analyze", DUMP, "--format", "csv"],
    ["analyze", "RUN"], ["analyze", "RUN", "--format", "json"], ["analyze", "RUN", "--format", "md", "--full"],
    ["compare", *KIT, "--full"], ["compare", DUMP, DUMP, "--pte", PROGRAM_FILE, "--name1", "a", "--name2", "b",
                                  "--format", "json"],
    ["ops", DUMP], ["ops", DUMP, "--pte", PROGRAM_FILE, "--etrecord", RECORD, "--format", "json"],
    ["ops", DUMP, "--format", "inspector"],
    ["inspect", PROGRAM_FILE, "--tree"], ["inspect", PROGRAM_FILE, "--format", "json"],
    ["inspect", RECORD], ["inspect", DATA / "linear_external.ptd"], ["inspect", DATA / "linear_xnnpack_fp32.bpte"],
    ["inspect", DUMP], ["inspect", PROGRAM_FILE, "--etdump", DUMP],
    ["inspect", PROGRAM_FILE, "--diff", DATA / "linear_xnnpack_fp32.bpte"],
    ["kernels", DATA / "kit/on_xnntrace.log", DATA / "kit/on_xnntrace.log"], ["stats", *KIT, "--out", "made"],
    ["explain", "N1", DUMP], ["whatif", DUMP, "drop *"],
    ["gate", DUMP, "share GEMM >= 10 %"],
    ["stats", DATA / "samples.csv"], ["stats", DATA / "samples_unpaired.csv", "--format", "json"],
    ["verify", "RUN"], ["analyze", "RUN", "--format", "md"], ["kernels", DATA / "kit/on_xnntrace.log"],
    ["convert", DUMP, "--to", "chrome", "-o", "made"],
    ["convert", DUMP, "--to", "speedscope", "-o", "made"], ["convert", DUMP, "--to", "folded", "-o", "made"],
    ["doctor", "levels"], ["doctor", "devices"], ["gate", "--list"], ["gate", "RUN", "--save", "night"],
    # Folders of several arms, of phases; those of Arm's kit.
    ["analyze", "PHASES", "--format", "json"], ["analyze", "CELLS"], ["analyze", "CELLS", "--format", "csv"],
    ["analyze", DATA / "kit/flat"], ["analyze", "RUN", "--out", "made"], ["analyze", DUMP, "--out", "made"],
    ["analyze", "RUN", "--full", "--renew"], ["analyze", "PHASES", "--renew", "--format", "html"],
    ["analyze", "CELLS", "--renew", "--format", "json"], ["analyze", "RUN", "PHASES", "--format", "md"],
    ["analyze", "RUN", "--format", "github"],
    ["explain", "N1", "RUN"], ["explain", "RUN"], ["explain", "op1", "RUN"], ["whatif", "RUN", "drop *", "threads 2"],
    ["gate", "RUN", "speedup >= 1", "noise <= 1 %"], ["gate", "RUN", "speedup >= 1", "--format", "md"],
    ["gate", "PHASES", "decode.speedup >= 1"],
    ["gate", "RUN", "op1.ns <= 5 ms", 'category("GEMM").share >= 10 %'], ["stats", "RUN", "--format", "json"],
    ["verify", "PHASES", "--format", "json"],
    ["compare", "RUN:arm0", "RUN:arm1"], ["compare", KIT[0], DUMP],
    ["convert", "RUN", "--to", "chrome", "-o", "made"],
    ["convert", DUMP, DUMP, "--to", "folded", "-o", "made"],
    ["library", "analysis", "RUN"], ["library", "analysis", "CELLS"], ["library", "dumps", DUMP],
    ["library", "tables", "RUN"], ["library", "ops", DUMP], ["library", "inspect", PROGRAM_FILE],
    ["library", "inspector", DUMP], ["library", "stats", DATA / "samples.csv"], ["library", "whatif", DUMP],
]
FOLDERS = ("RUN", "PHASES", "CELLS")


def make_folders(scratch):
    run_folders.make(scratch / "run", 2)
    run_folders.make(scratch / "cells", 4, blocks=2)
    phase_folders.make(scratch / "phases", lambda phase, level, *_: 1000000 + 1000 * len(phase + level), blocks=2)


def placed(word):
    """WORD with the name of a folder in it as the folder's path."""
    name, colon, rest = str(word).partition(":")
    return f"../{name.lower()}{colon}{rest}" if name in FOLDERS else str(word)


def files_of(root, folders):
    return {str(p.relative_to(root)): p.read_bytes() for folder in folders if (root / folder).exists()
            for p in sorted((root / folder).rglob("*")) if p.is_file()}


def folders_of(command):
    return sorted({name.lower() for name in (str(a).partition(":")[0] for a in command) if name in FOLDERS})


def run(scratch, command, fail_at=None, once=False, callers=None):
    """(exit status, stdout, stderr, files in the working directory, allocations)."""
    work = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    here = work / "here"
    here.mkdir()
    program, command = (LIBRARY, command[1:]) if command[0] == "library" else (PROGRAM, command)
    for name in folders_of(command):
        shutil.copytree(scratch / name, work / name)
    arguments = [placed(a) for a in command]
    status, out, error, count, _ = failing.run(program, arguments, here, work, fail_at, once, callers)
    (work / "count").unlink(missing_ok=True)
    files = files_of(work, ["here", *folders_of(command)])
    shutil.rmtree(work)
    return status, out, error, files, count


def check(scratch, command, whole, before, at, once):
    got = run(scratch, command, at, once)
    what = f"{' '.join(map(str, command))}: allocation {at}{' alone' if once else ''} of {whole[4]} fails"
    if got[:4] == whole[:4]:
        return
    expect(got[0] == 5 and b"out of memory" in got[2], what, f"status {got[0]}",
           "other output" if got[1] != whole[1] else "", got[2][-1500:].decode(errors="replace"))
    expect(got[1] == b"", what, "something was printed", got[1][:200])
    odd = [name for name in got[3] if got[3][name] not in (before.get(name), whole[3].get(name))]
    expect(not odd and set(before) <= set(got[3]), what, "left behind", odd)


def main():
    scratch = new_folder()
    make_folders(scratch)
    tried = allocations = 0
    callers = scratch / "callers"
    functions = {program: failing.functions_of(program) for program in (PROGRAM, LIBRARY)}
    seen = {PROGRAM: set(), LIBRARY: set()}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command in COMMANDS:
            if ONLY and command[0] not in ONLY:
                continue
            whole = run(scratch, command, callers=callers)
            program = LIBRARY if command[0] == "library" else PROGRAM
            expect(whole[0] in (0, 1, 3), *command, "does not run with enough memory", whole[0], whole[2])
            expect(whole[4] > 0, *command, "its allocations are not seen")
            before = files_of(scratch, folders_of(command))
            at_most = whole[4] if ALL else POINTS
            asked = failing.who_asked(callers, functions[program])
            expect(len(asked) == whole[4], *command, "who asked is not known of each allocation")
            ats = failing.first_of_each(asked, seen[program]) | set(failing.points(whole[4], at_most))
            tries = [(at, once) for at in sorted(ats) for once in (True, False)]
            list(pool.map(lambda t, c=command, w=whole, b=before: check(scratch, c, w, b, *t), tries))
            tried += len(tries)
            allocations += whole[4]
    # Where callers cannot be told there are one or two.
    expect(ONLY or all(len(of) > 10 for of in seen.values()), "functions that asked", *map(len, seen.values()))
    finish(f"{len(COMMANDS)} commands of {allocations} allocations, for {len(seen[PROGRAM]) + len(seen[LIBRARY])} "
           f"functions: {tried} failures end as they should")


main()
