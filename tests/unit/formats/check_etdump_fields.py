# SPDX-License-Identifier: Apache-2.0
"""Holds every field that etprof reads from an ETDump against flatc's JSON of the same file.
Usage: check_etdump_fields.py TOOL SOURCE_DIR"""
import gzip
import json
import os
import pathlib
import subprocess
import sys

SCALAR_TYPES = {"BYTE": 0, "CHAR": 1, "SHORT": 2, "INT": 3, "LONG": 4, "HALF": 5, "FLOAT": 6, "DOUBLE": 7, "BOOL": 11,
                "BITS16": 22, "UINT16": 27}
VALUE_TYPES = ["Null", "Int", "Bool", "Float", "Double", "Tensor", "TensorList", "String"]


def tensor(t):
    return {"scalar_type": SCALAR_TYPES[t["scalar_type"]], "sizes": t.get("sizes", []), "strides": t.get("strides", []),
            "offset": t["offset"]}


def value(v):
    out = {"type": VALUE_TYPES.index(v["val"]), "is_output": v.get("output", {}).get("bool_val", False)}
    if v["val"] == "Int":
        out["int"] = v["int_value"]["int_val"]
    elif v["val"] == "Bool":
        out["bool"] = v["bool_value"]["bool_val"]
    elif v["val"] in ("Float", "Double"):
        inner = v[v["val"].lower() + "_value"]
        # flatc prints six decimals or bare inf and nan, which JSON numbers cannot hold: ours are null.
        number = inner[v["val"].lower() + "_val"]
        out["double"] = None if isinstance(number, str) else number
    elif v["val"] == "Tensor":
        out["tensor"] = tensor(v["tensor"])
    elif v["val"] == "TensorList":
        out["tensors"] = [tensor(t) for t in v["tensor_list"].get("tensors", [])]
    return out


def event(e):
    (part, fields), = e.items()
    out = {"kind": part.split("_")[0], **fields}
    if "debug_entry" in out:
        out["value"] = value(out.pop("debug_entry"))
    return out


def expected(document):
    return {"version": document["version"],
            "run_data": [{**({"name": r["name"]} if "name" in r else {}),
                          "bundled_input_index": r["bundled_input_index"],
                          "allocators": [a["name"] for a in r.get("allocators", [])],
                          "events": [event(e) for e in r.get("events", [])]} for r in document["run_data"]]}


def load(path):
    text = gzip.open(path, "rt").read()
    for bare in ("inf", "-inf", "nan", "-nan"):
        text = text.replace(f'_val": {bare}', f'_val": "{bare}"')
    return json.loads(text)


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    pairs = [(p, p.with_name(p.name + ".json.gz")) for p in sorted((root / "tests/data").glob("*.etdump"))]
    corpus = pathlib.Path(os.environ.get("ETPROF_CORPUS") or root / "../shared/corpus")
    if corpus.is_dir():
        pairs += [(corpus / "dumps" / p.name.removesuffix(".flatc.json.gz"), p)
                  for p in sorted((corpus / "inspector").glob("*.flatc.json.gz"))]
    else:
        print("skipped: the reference corpus is not there (set ETPROF_CORPUS); fixtures of the tree only")
    events = failures = 0
    for dump, reference in pairs:
        want = expected(load(reference))
        got = json.loads(subprocess.run([tool, dump], check=True, capture_output=True).stdout)
        events += sum(len(r["events"]) for r in want["run_data"])
        if got != want:
            failures += 1
            for w, g in zip(want["run_data"], got["run_data"]):
                for a, b in zip(w.pop("events"), g.pop("events")):
                    if a != b:
                        print(f"{dump.name}:\n  expected {a}\n  found    {b}")
                        break
                if w != g:
                    print(f"{dump.name}: expected run {w}, found {g}")
    print(f"{len(pairs)} dumps, {events} events compared, {failures} differ")
    return 1 if failures or events == 0 else 0


sys.exit(main())
