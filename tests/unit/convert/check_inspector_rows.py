# SPDX-License-Identifier: Apache-2.0
"""Holds Inspector's rows as etprof makes them against those of ExecuTorch's Inspector: TSV byte by byte, JSON value by
value; with and without ETRecords and debug buffers. Usage: check_inspector_rows.py TOOL SOURCE_DIR"""
import gzip
import json
import os
import pathlib
import subprocess
import sys


def equal(a, b):
    """As ==, but 1 is not True and keys keep their order."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def run(tool, kind, dump, record):
    command = [tool, kind, dump]
    buffer = dump.with_name(dump.name + ".debug.bin")
    if buffer.is_file():
        command += ["--buffer", buffer]
    if record:
        command += ["--etrecord", record]
    return subprocess.run(command, check=True, capture_output=True).stdout


def tables(root):
    """(dump, record or None, expected file)"""
    data = root / "tests/data"
    for tsv in sorted(data.glob("*.etdump*.tsv")):
        dump = data / (tsv.name.split(".etdump")[0] + ".etdump")
        record = data / "mixed_xnnpack_fp32.etrecord" if ".etrecord." in tsv.name else None
        yield dump, record, tsv
    corpus = pathlib.Path(os.environ.get("ETPROF_CORPUS") or root / "../shared/corpus")
    if not corpus.is_dir():
        print("skipped: the reference corpus is not there (set ETPROF_CORPUS); fixtures of the tree only")
        return
    for path in sorted((corpus / "inspector").iterdir()):
        stem, _, rest = path.name.partition(".etdump.")
        if rest.removesuffix(".gz") not in ("json", "tsv", "etrecord.json", "etrecord.tsv"):
            continue
        record = corpus / "models" / (stem.split(".")[0] + ".etrecord") if rest.startswith("etrecord") else None
        yield corpus / "dumps" / (stem + ".etdump"), record, path


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    count = {"tsv": 0, "json": 0}
    rows = failures = 0
    for dump, record, path in tables(root):
        if record and not record.is_file():
            print(f"skipped: {path.name}: its record is not in the corpus")
            continue
        kind = "tsv" if path.name.endswith(".tsv") else "json"
        got = run(tool, kind, dump, record)
        count[kind] += 1
        if kind == "tsv":
            if got != path.read_bytes():
                failures += 1
                print(f"{path.name}: differs")
            continue
        want = json.loads((gzip.open(path) if path.suffix == ".gz" else open(path, "rb")).read())
        got = json.loads(got)
        rows += len(want)
        bad = [i for i, (w, g) in enumerate(zip(want, got)) if not equal(w, g)]
        if bad or len(want) != len(got):
            failures += 1
            print(f"{path.name}: {len(want)} rows expected, {len(got)} found, {len(bad)} differ")
            for i in bad[:1]:
                print("\n".join(f"  {k}: expected {want[i][k]!r}, found {got[i].get(k)!r}"[:400]
                                for k in want[i] if not equal(want[i][k], got[i].get(k))))
    print(f"{count['tsv']} TSV and {count['json']} JSON tables, {rows} rows, {failures} tables differ")
    return 1 if failures or count["tsv"] == 0 else 0


sys.exit(main())
