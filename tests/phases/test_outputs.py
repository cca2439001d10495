# SPDX-License-Identifier: Apache-2.0
"""Outputs that are of one phase: stats, convert and analyze with --phase, and the Python package's stats. What
they say follows from the times that were chosen for each phase; arms of two phases are never held against each other.

usage: test_outputs.py ETPROF SOURCE [LIBRARY]"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF, SOURCE, LIBRARY = [*sys.argv[1:], ""][:3]
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}
# as it is asked for, the phase, the end of its arms' names, how much faster
ASKED = [(None, "prefill 16", "prefill16", 3.0), ("prefill", "prefill 16", "prefill16", 3.0),
         ("decode@0", "decode @0", "decode0", 2.0), ("decode @32", "decode @32", "decode32", 1.25)]


def ask(*words, code=0):
    done = ended(execute(ETPROF, *words), code)
    return done.stdout, done.stderr


def phase_words(asked):
    return ["--phase", asked] if asked else []


def statistics(run, asked, name, end, ratio):
    said = json.loads(ask("stats", run, *phase_words(asked), "--format", "json")[0])
    word = name.replace(" ", "")
    expect(said.get("phase") == word, name, "stats say their phase", said.get("phase"))
    found = [(c["baseline"], c["candidate"], c["speedup"]["estimate"]) for c in said["comparisons"]]
    expect(found == [(f"linux_sse_{end}", f"linux_avx2_{end}", ratio)], name, "stats compare its arms alone", found)
    medians = {a["name"]: a["median_ns"] for a in said["arms"]}
    expect(medians == {f"linux_{level}_{end}": ns for level, ns in TIMES[name].items()}, name, "its times", medians)


def views(run, asked, name, end):
    for kind in ("chrome", "speedscope"):
        text = ask("convert", run, "--to", kind, "-q", *phase_words(asked))[0]
        expect(f"linux_avx2_{end}" in text, name, kind, "shows its arms", text[:200])
        for other in {e for _, _, e, _ in ASKED} - {end}:
            expect(f"_{other}\"" not in text and f"_{other}<" not in text, name, kind, "and no others", other)


def analysis(run, asked, name, end, ratio):
    table, said = ask("analyze", run, "--format", "csv", *phase_words(asked))
    columns = next(csv.reader(io.StringIO(table)))
    expect([c for c in columns if c.startswith("linux_")] == [f"linux_sse_{end}_ns", f"linux_avx2_{end}_ns"], name,
           "operators of its arms", columns)
    expect(("the table is of prefill 16" in said and "decode@32" in said) == (asked is None), name,
           "a table of one phase says so where nobody asked for it", said)
    if asked:
        d = json.loads(ask("analyze", run, "--format", "json", *phase_words(asked))[0])
        expect(d["phase"] == name and not d.get("phases"), name, "is a document of its own", str(d.get("phases"))[:80])
        found = [c["speedup"]["estimate"] for c in d["comparisons"]]
        expect(found == [ratio], name, "its speedup", found)
        # A command goes on in the next line where the folder's name is long.
        text = " ".join(ask("analyze", run, *phase_words(asked))[0].replace("\\\n", " ").split())
        expect(text.count("faster than SSE") == 1 and f"{name}: AVX2 is {ratio:.2f}× faster" in text, name, "alone",
               text[:300])
        own = f" --phase {end.replace('decode', 'decode@')}" if name != "prefill 16" else ""
        for command in (f"etprof analyze {run}{own} --full ", f"etprof explain N1 {run}{own} "):
            expect(command in text + " " and ("--phase" in text) == bool(own), name, "a command about it names it",
                   command, text[-200:])


def pictures(run):
    """Each phase has its pictures; times of no other are in one."""
    subprocess.run([ETPROF, "analyze", "--full", "--renew", run], stdout=subprocess.DEVNULL, check=True)
    said = {"": ("3.000 ms", "1.000 ms"), "decode0_": ("1.000 ms", "0.500 ms"), "decode32_": ("1.000 ms", "0.800 ms")}
    for prefix, times in said.items():
        path = run / f"{prefix}latency_comparison.svg"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for one in sorted({t for both in said.values() for t in both}):
            expect((f">{one}<" in text) == (one in times), path.name, "has its own times", one)
        expect((run / f"{prefix}operator_breakdown_stacked.svg").exists(), prefix, "has its breakdown")


def refused(run, plain):
    for words in (["stats", run], ["convert", run, "--to", "chrome"], ["analyze", run]):
        said = ask(*words, "--phase", "decode", code=2)[1]
        expect("several are of this kind" in said and "decode@0, decode@32" in said, words, "names what there is", said)
    arms = [f"{run}:linux_avx2_{end}" for end in ("prefill16", "decode0", "decode32")]
    for a, b in ((0, 1), (1, 2)):
        said = ask("compare", arms[a], arms[b], code=2)[1]
        expect("do different work" in said and said.count(" phase '") == 1, "two phases", said)
    ask("compare", f"{run}:linux_sse_decode0", arms[1])
    for words in (["stats", plain], ["convert", plain, "--to", "chrome"], ["analyze", plain]):
        said = ask(*words, "--phase", "decode", code=2)[1]
        expect("nothing here was measured in phases" in said, words, "has none", said)
    table = shutil.copy(run / "samples.csv", run.parent / "table.csv")
    said = ask("stats", table, "--phase", "decode@0", code=2)[1]
    expect("says no phases" in said, "a bare table", said)
    said = ask("convert", run, "--to", "parquet", "--phase", "decode@0", code=2)[1]
    expect("writes what is in the folders" in said, "rows of all phases", said)


def package(run):
    """The Python package asks the library the same."""
    program = ("import sys, etprof; s = etprof.stats(sys.argv[1], phase=sys.argv[2]).comparisons; "
               "print(len(s), s[0].candidate, f\"{s[0].speedup:g}\")")
    for asked, _, end, ratio in ASKED[1:] if LIBRARY else ():
        done = execute(sys.executable, "-c", program, run, asked,
                       env={**os.environ, "PYTHONPATH": f"{SOURCE}/python", "ETPROF_LIBRARY": LIBRARY})
        expect(done.stdout.split() == ["1", f"linux_avx2_{end}", f"{ratio:g}"], asked, done.stdout, done.stderr[-300:])


place = new_folder()
session = phase_folders.make(place / "run", lambda p, level, t, m: TIMES[p][level])
without = phase_folders.make(place / "plain", lambda p, level, t, m: TIMES["decode @0"][level], phases=())
for chosen in ASKED:
    statistics(session, *chosen)
    views(session, *chosen[:3])
    analysis(session, *chosen)
pictures(session)
refused(session, without)
package(session)
finish("each output about one phase")
