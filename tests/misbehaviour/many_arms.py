# SPDX-License-Identifier: Apache-2.0
"""Sessions with 1 to 1,024 arms, and dumps by the hundred, through every verb that reads them and every format: nothing
crashes, and no arm is left out of a table without a word.

usage: many_arms.py ETPROF FAKE_RUNNER [ARMS,ARMS,… | dumps=ARMS]"""
import json
import pathlib
import resource
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
GIVEN = sys.argv[3] if len(sys.argv) > 3 else "1,2,16,17,64,65,1024"
COUNTS = [int(n) for n in GIVEN.split(",") if n.isdigit()]
FORMATS = ("text", "json", "html", "md", "csv")
ROOFS = run_folders.DATA / "roofs"


def call(directory, *args, codes=(0, 1, 3)):
    done = execute(ETPROF, *args, cwd=directory)
    expect(done.returncode in codes, *args, f"exit {done.returncode}: {done.stderr[-600:]}")
    return done


def told(done, arms, what):
    text = done.stdout
    missing = [a for a in arms if a not in text]
    expect(not missing, what, f"{len(missing)} of {len(arms)} arms are not there: {missing[:3]}")


def folder(directory, n):
    run_folders.make(directory / "run", n, dumps=n <= 65)
    arms = [f"arm{k}" for k in range(n)]
    forms = FORMATS if n <= 65 else ("text", "json", "csv")
    for form in forms:
        codes = (0, 1, 3) if form != "csv" or n <= 65 else (2,)  # without dumps there is no table of operators
        done = call(directory, "analyze", "run", "--full", "--format", form, codes=codes)
        told(done, arms if form != "csv" or n <= 65 else [], f"analyze of {n} arms as {form}")
    call(directory, "analyze", "--full", "--renew", "run", "--format", "text")
    for verb in ("verify", "validate", "stats", "kernels", "gate"):
        extra = ["noise_floor<=1"] if verb == "gate" else []
        call(directory, verb, "run", *extra, codes=(0, 1, 2, 3))
    call(directory, "whatif", "run", "drop X", codes=(0, 1, 2, 3, 4))
    call(directory, "explain", "F1", "run", codes=(0, 1, 2, 3))
    for to in ("parquet", "speedscope", "folded", "chrome"):
        call(directory, "convert", "run", "--to", to, "-o", f"out-{to}", codes=(0, 2, 3, 4))


def table_has(directory, n):
    """Where the operators' times are written every arm has one."""
    done = call(directory, "analyze", "run", "--format", "csv")
    words = set(done.stdout.replace("\n", ",").split(","))  # a column of each, or a row where there are many
    found = {k for k in range(n) if {f"arm{k}", f"arm{k}_ns"} & words}
    expect(len(found) == n, f"operators of {n} arms as CSV", f"{n - len(found)} arms are missing")


def dumps(directory, n):
    names = []
    for k in range(n):
        names.append(f"d{k}.etdump")
        shutil.copy(run_folders.DATA / "mixed_xnnpack_fp32.etdump", directory / names[-1])
    for form in FORMATS if n <= 65 else ("text", "json"):
        done = call(directory, "analyze", *names, "--full", "--format", form, codes=(0, 1, 2, 3) if n > 512
                    else (0, 1, 3))
        if done.returncode == 2:
            expect("at most" in done.stderr or "more than" in done.stderr, "too many dumps", done.stderr)
        else:
            told(done, [f"d{k}" for k in range(n)], f"analyze of {n} dumps as {form}")


def with_roofs(directory, n):
    run_folders.make(directory / "run", n, dumps=n <= 65)
    document = ROOFS / "round.json"
    shutil.copy(document, directory / "run" / "roofs.json")
    for form in FORMATS:
        call(directory, "analyze", "run", "--full", "--format", form)


def session(directory, n):
    """As it was found: 4 levels and 5 thread counts are 20 arms."""
    fake_sessions.model(directory / "model.pte")
    threads = ",".join(str(t) for t in range(1, n // 2 + 1))
    call(directory, "ab", "model.pte", "--levels", "sme2,neon", "--threads", threads, "--blocks", "2", "--iterations",
         "3", "--warmup", "1", "--out", "run", "--runner", FAKE, "--quiet")
    for verb in ("analyze", "verify", "validate"):
        call(directory, verb, "run")
    for form in FORMATS[:-1]:  # without traces there is no table of operators
        call(directory, "analyze", "run", "--format", form)


def with_dumps(directory, n):
    """A dump of each arm. The cost is that of the arms, not of their square: what five verbs may use is bounded, at
    about four times what they do (quadratic lists of files took 60 times as much)."""
    run_folders.make(directory / "run", n, blocks=1)
    arms = [f"arm{k}" for k in range(n)]
    told(call(directory, "analyze", "run", "--full", "--format", "json"), arms, f"analyze of {n} arms with dumps")
    table_has(directory, n)
    call(directory, "analyze", "--full", "--renew", "run", "--format", "json")
    listed = {f["path"] for f in json.loads((directory / "run/derived.json").read_text())["files"]}
    missing = [a for a in arms if not any(p.startswith(f"{a}/") and p.endswith("_exec_ops_stats.csv") for p in listed)]
    expect(not missing, f"derived files of {n} arms", f"{len(missing)} arms have none: {missing[:3]}")
    call(directory, "verify", "run", codes=(0,))
    call(directory, "validate", "run", codes=(0,))
    for to in ("parquet", "chrome"):
        call(directory, "convert", "run", "--to", to, "-o", f"out-{to}", codes=(0,))
    call(directory, "explain", "op1", "run", codes=(0, 2, 3))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    expect(seconds < n / 1024 * 120 + 10, f"{n} arms with dumps", f"the verbs took {seconds:.0f} s of CPU time")
    print(f"{n} arms with dumps: {seconds:.1f} s of CPU time")


def main():
    if GIVEN.startswith("dumps="):
        tmp = new_folder()
        with_dumps(tmp, int(GIVEN[6:]))
    for n in COUNTS:
        for part in (folder, dumps):
            tmp = new_folder()
            part(tmp, n)
            if part is folder and n <= 65:
                table_has(tmp, n)
    for n in (c for c in COUNTS if c in (16, 17)):
        tmp = new_folder()
        with_roofs(tmp, n)
    for n in (20, 64):
        if len(sys.argv) <= 3:
            tmp = new_folder()
            session(tmp, n)
    finish()


main()
