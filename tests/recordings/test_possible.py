# SPDX-License-Identifier: Apache-2.0
"""test_possible.py ETPROF TREE: no figure that is told of a recording is impossible, whoever wrote the recording.

Over the recordings of dumps.py, of tests/data and, where it is, of the reference corpus, in each form: nothing is
negative (but differences), above its whole, or not a number."""
import concurrent.futures
import csv
import io
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile

import dumps
import etdump

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish  # noqa: E402

ETPROF, TREE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
TMP = pathlib.Path(tempfile.mkdtemp())
DIFFERENCE = re.compile(r"delta|lo_ns|hi_ns|tracer|chain|instruction|session_block|sign|lo$|hi$|p$|effect|floor|node")
# A ledger's last rows lead from one kind of mean to another: their sign is their meaning.
TIES = {"tracer", "unexplained"}


def run(*words):
    done = execute(ETPROF, *words, cwd=TMP, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout, done.stderr


def walk(value, at, found):
    if isinstance(value, dict):
        if value.get("kind") in TIES:
            return
        for key, inner in value.items():
            walk(inner, f"{at}.{key}", found)
    elif isinstance(value, list):
        for inner in value:
            walk(inner, at, found)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        last = at.rsplit(".", 1)[-1]
        if value < 0 and not DIFFERENCE.search(last):
            found.append(f"{at} = {value}")
        if last.endswith("share") and value > 1:
            found.append(f"{at} = {value}")


def of_json(text):
    found = []
    walk(json.loads(text, parse_constant=lambda word: found.append(word)), "", found)
    return found


def of_csv(text):
    found = []
    for row in csv.DictReader(io.StringIO(text)):
        for key, cell in row.items():
            if key and re.search(r"nan|inf", str(cell)) and re.fullmatch(r"-?(nan|inf)", str(cell)):
                found.append(f"{key} = {cell}")
            elif key and re.fullmatch(r"-[0-9.e+]+", str(cell)) and not DIFFERENCE.search(key):
                found.append(f"{key} = {cell}")
            elif key and "share" in key and re.fullmatch(r"[0-9.e+-]+", str(cell)) and float(cell) > 1.0000001:
                found.append(f"{key} = {cell}")
    return found


def of_text(text, differences):
    found = [f"{m.group(0)} in: {line.strip()}" for line in text.splitlines()
             for m in re.finditer(r"(?<![\w.])-?nan(?!\w)|(?<![\w.])inf(?=[ ×%])|(\d+(?:\.\d+)?) %", line)
             if m.group(1) is None or float(m.group(1)) > 100.05]
    if not differences:
        found += [line.strip() for line in text.splitlines()
                  if not re.match(r"\s*N\d+ ", line) and "−1" not in line and
                  re.search(r"(?<![\w.–)])[−-]\d+(\.\d+)?( |$)(?!CPU)", line)]
    return [f for f in found if "confidence" not in f and "adds" not in f]


READERS = {"json": of_json, "csv": of_csv}


def look(words, form, differences=False):
    code, out, err = run(*words, *(["--format", form] if form else []))
    said = " ".join(map(str, words))
    found = [] if code in (0, 1, 2, 3, 4) else [f"ends with {code}: {err}"]
    if code == 0 and out.strip():
        found += READERS[form](out) if form in READERS else of_text(out, differences)
    return [f"{said} --format {form}: {f}" for f in found[:5]]


def commands(path):
    yield from ((("ops", path), form) for form in (None, "json", "csv"))
    yield from ((("analyze", path), form) for form in (None, "json"))
    yield ("analyze", path, "--full"), None
    yield ("inspect", path), None
    yield ("gate", path, "share Other <= 100 %"), None
    for to in ("folded", "speedscope"):
        yield ("convert", path, "--to", to), None


def main():
    made = [pathlib.Path(etdump.write(TMP / f"{name}.etdump", make())) for name, make in dumps.ALL.items()]
    corpus = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared/corpus"))
    paths = [*made, *sorted((TREE / "tests/data").rglob("*.etdump")), *sorted((corpus / "dumps").glob("*.etdump"))]
    jobs = [(words, form, False) for path in paths for words, form in commands(path)]
    for a, b in itertools.pairwise(made):
        jobs += [(("compare", a, b), form, True) for form in (None, "json")]
        jobs.append((("compare", a, b, "--full"), None, True))
    jobs += [(("compare", a, a), "json", True) for a in made]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for problems in pool.map(lambda job: look(*job), jobs):
            for problem in problems:
                expect(False, problem)
    finish(f"{len(jobs)} answers about {len(paths)} recordings hold possible figures alone")


main()
