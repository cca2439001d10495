# SPDX-License-Identifier: Apache-2.0
"""Every verb's --format json: the document names its schema, the schema is in the tree, is one itself, knows every key
of the document, and `etprof validate` finds that it fits, but no longer when a key is taken away. A verb, or a document
in the sources, that this file does not know fails. usage: test_printed.py ETPROF FAKE_RUNNER; 77 = no jsonschema"""
import copy
import json
import pathlib
import platform
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, new_folder, skip, validating

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
SCHEMAS = {p.name.split(".")[0]: json.loads(p.read_text())
           for p in (ROOT / "python/etprof/schemas").glob("*.schema.json")}
DATA = ROOT / "tests/data"
BUNDLE = ROOT / "build/bundle" / f"{platform.machine()}-linux-gnu"
# No document on standard output, or one of others: Python's (tests/python looks at what export writes, tests/history at
# history's, tests/fix at fix's), of other viewers, of a protocol (tests/mcp).
SILENT = {"export", "fix", "help", "history", "convert", "mcp"}
# In the journal of --prepare: nothing that a user is given as a document.
INSIDE = {"prepare"}
CODES = {0, 1, 3}  # complete, no, unknown: with a document in any case

validate = validating(ETPROF)
try:
    import jsonschema
except ImportError:
    skip("no Python package jsonschema")
failures, seen, verbs = [], {}, set()


def check(ok, what):
    if not ok:
        failures.append(what)
    return ok


def whole(schema):
    """With the parts of another schema that it names."""
    if "$ref" in schema:
        name, _, path = schema["$ref"].partition(".schema.json")
        schema = SCHEMAS[name]
        for key in path.split("/")[1:]:
            schema = schema[key]
    for part in map(whole, schema.get("allOf", [])):
        schema = {**schema, "properties": {**part["properties"], **schema.get("properties", {})}}
    return schema


def unknown_keys(schema, value, at=""):
    """Keys that the schema says nothing of: what is not described is not checked. A document in a document has its
    own."""
    if (
        at
        and isinstance(value, dict)
        and "schema" in value
        or not isinstance(schema, dict)
        or schema.get("type") == "object"
        and not {"properties", "additionalProperties"} & set(schema)
    ):
        return
    schema = whole(schema)
    for option in schema.get("oneOf", []):
        yield from unknown_keys(option, value, at)
    if isinstance(value, list):
        for item in value:
            yield from unknown_keys(schema.get("items", {}), item, at + "[]")
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        others = schema.get("additionalProperties")
        for key, inner in value.items():
            rule = schema.get("properties", {}).get(key, others)
            if rule is None:
                yield f"{at}.{key}"
            else:
                yield from unknown_keys(rule, inner, f"{at}.{key}")


def places(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def without(document, path):
    document = copy.deepcopy(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return document


def taken_over(schema, value, path=()):
    """Places of members that a part of another schema describes."""
    parts = [whole(part)["properties"] for part in schema.get("allOf", [])]
    schema = whole(schema)
    if isinstance(value, list) and value:
        yield from taken_over(schema.get("items", {}), value[0], (*path, 0))
    for key, inner in value.items() if isinstance(value, dict) else ():
        if any(key in part for part in parts):
            yield (*path, key)
        if isinstance(schema.get("properties", {}).get(key), dict):
            yield from taken_over(schema["properties"][key], inner, (*path, key))


def is_required(schema, document, path):
    for i, key in enumerate(path):
        schema = whole(schema)
        for option in schema.get("oneOf", []):
            if key in option.get("properties", {}):
                schema = option
        if i == len(path) - 1:
            return key in schema.get("required", [])
        schema = schema.get("items", {}) if isinstance(key, int) else schema.get("properties", {}).get(
            key, schema.get("additionalProperties", {}))
        if not isinstance(schema, dict):
            return False
    return False


def member(document, path):
    for key in path:
        document = document[key]
    return document


def is_closed(schema, document, path):
    """Whether the names of the keys there are the writer's: neither data nor those of a document in the document."""
    for key in path:
        schema = whole(schema)
        schema = schema.get("items", {}) if isinstance(key, int) else schema.get("properties", {}).get(
            key, schema.get("additionalProperties", {}))
        document = document[key]
        if not isinstance(schema, dict) or "schema" in document:
            return False
    schema = whole(schema)
    return "properties" in schema and not isinstance(schema.get("additionalProperties", False), dict)


def replaced(document, path, value):
    document = copy.deepcopy(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return document


def validated(path):
    return [(c["id"], c["ok"], c["found"]) for c in validate(path)["checks"] if c["id"].startswith("schema")]


def judge(tmp, label, document):
    own = document.get("schema")
    name = own[len("etprof."):-2] if isinstance(own, str) and re.fullmatch(r"etprof\.[a-z_]+/1", own) else None
    if not check(name,
                 f"{label}: names no schema: {own}") or not check(name in SCHEMAS,
                                                                  f"{label}: there is no {name}.schema.json"):
        return
    first = name not in seen
    if first:
        jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
        check(SCHEMAS[name]["$id"] == f"https://etprof.invalid/schemas/{name}.schema.json", f"{name}: $id")
    seen.setdefault(name, []).append(label)
    schema, path = SCHEMAS[name], tmp / "document.json"
    path.write_text(json.dumps(document))
    said = validated(path)
    for inner in document.get("runs", []) if name == "combined" else []:
        judge(tmp, f"{label}: {inner['run']}", inner["answer"])
    path.write_text(json.dumps(document))
    check(said == [("schema", True, "fits")], f"{label}: etprof validate: {said}")
    stray = sorted(set(unknown_keys(schema, document)))
    check(not stray, f"{label}: {name}.schema.json does not know {stray}")
    required = [p for p in places(document) if is_required(schema, document, p)] if first else []
    check(not first or len(required) > 1, f"{name}.schema.json requires nothing")
    for gone in required[:: max(1, len(required) // 12)]:
        path.write_text(json.dumps(without(document, gone)))
        check(all(not ok for _, ok, _ in validated(path)), f"{name}: without {gone} it still fits")
    objects = [(), *(p for p in places(document) if isinstance(member(document, p), dict) and
                     is_closed(schema, document, p))] if first else []
    for at in objects[:: max(1, len(objects) // 12)]:
        path.write_text(json.dumps(replaced(document, (*at, "surprise"), 1)))
        said = validated(path)
        check([i for i, _, _ in said] == ["schema.unknown_key"] and "surprise: " in said[0][2],
              f"{name}: with one more key in {at}: {said}")
    parts = [*taken_over(schema, document)] if first else []
    for at in parts:
        path.write_text(json.dumps(replaced(document, at, "a text")))
        check(all(not ok for _, ok, _ in validated(path)), f"{name}: with a text as {at} it still fits")


def printed(tmp, *words, codes=CODES):
    """Calls a verb; its document is judged."""
    words = [str(w) for w in words]
    verbs.add(words[0])
    done = execute(ETPROF, *words, "--format", "json", "--quiet", cwd=tmp)
    label = " ".join(w.replace(str(tmp), "").replace(str(ROOT), "") for w in words)
    if not check(done.returncode in codes and done.stdout, f"{label}: exit {done.returncode}: {done.stderr[-400:]}"):
        return
    judge(tmp, label, json.loads(done.stdout))


def in_page(tmp, *operands):
    """What the page's script computes from is a document, too."""
    page = execute(ETPROF, "analyze", *operands, "--format", "html", cwd=tmp, check=True).stdout
    found = re.findall(r'<script type="application/json" id="whatif-data">(.*?)</script>', page, re.S)
    if check(len(found) == 1, f"{operands}: {len(found)} documents in the page"):
        judge(tmp, f"page of {operands[0].name}", json.loads(found[0]))


def sessions(tmp):
    """What measures, with a runner that plays its part; what reads such folders."""
    (tmp / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\nnoise 4\n" + b"\n" * 40)
    counts = ("--runner", FAKE, "--blocks", "6", "--iterations", "4", "--warmup", "1")
    levels = ("--levels", "sme2,neon")
    printed(tmp, "ab", "model.pte", *levels, *counts, "--seed", "1", "--out", "run")
    printed(tmp, "ab", "model.pte", *levels, "--threads", "1,2", *counts, "--seed", "2", "--out", "cells")
    config = {"model": "model.pte", "output_root": "from_config", "blocks": 1,
              "experiments": [{"name": n, "level": n, "runs": 2, "warmup": 1} for n in ("sme2", "neon")]}
    (tmp / "config.json").write_text(json.dumps(config))
    printed(tmp, "run", "config.json", "--runner", FAKE)
    printed(tmp, "rerun", "run", "--runner", FAKE)
    for name in ("one.pte", "copy.pte"): # the fake counts its launches beside the model
        shutil.copy(DATA / "linear_xnnpack_fp32.pte", tmp / name)
    printed(tmp, "ab", "one.pte", "copy.pte", "--numerics", "--levels", "sme2", "--runner", FAKE)
    printed(tmp, "replay", DATA / "linear_xnnpack_fp32.pte", "0:0", "--no-measure")
    printed(tmp, "replay", DATA / "linear_xnnpack_fp32.pte", "0:0", "--no-measure", "--sweep", "M=1,2")
    for verb in ("analyze", "verify", "validate", "stats"):
        printed(tmp, verb, "run")
    for verb in ("analyze", "verify"):
        printed(tmp, verb, "cells")
    printed(tmp, "analyze", "run", "cells")
    printed(tmp, "compare", "emulated:linux_sme2_off", "emulated:linux_sme2_on")
    printed(tmp, "gate", "run", "noise <= 50 %")
    printed(tmp, "gate", "--list")
    two_builds(tmp)


def two_builds(tmp):
    for name in ("a", "b"):
        (tmp / name).mkdir()
        document = {"schema": "etprof.bundle/1", "triple": f"{platform.machine()}-linux-gnu",
                    "executorch": {"version": name, "sha": ""}, "start": [FAKE], "direct": [FAKE], "env": {},
                    "bytes": 0, "files": []}
        (tmp / name / "bundle.json").write_text(json.dumps(document))
    shutil.copy(tmp / "model.pte", tmp / "model2.pte")
    printed(tmp, "ab", "model.pte", "model2.pte", "--runner-a", "a", "--runner-b", "b", "--levels", "sme2", "--blocks",
            "6", "--iterations", "4", "--warmup", "1", "--seed", "1", "--out", "builds")
    for verb in ("analyze", "validate", "verify"):
        printed(tmp, verb, "builds")


def fixtures(tmp):
    mixed = DATA / "mixed_xnnpack_fp32.etdump"
    model = ("--pte", DATA / "mixed_xnnpack_fp32.pte")
    roofs = ("--roofs-file", DATA / "roofs/round.json")
    run = tmp / "emulated"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", run)
    for verb in ("analyze", "verify", "validate"):
        printed(tmp, verb, run)
    printed(tmp, "analyze", mixed, *model, *roofs)
    printed(tmp, "analyze", DATA / "kit/flat")
    in_page(tmp, mixed, *model, *roofs)
    in_page(tmp, mixed, DATA / "fixes/border_layout.etdump")
    printed(tmp, "ops", mixed, *model)
    printed(tmp, "compare", mixed, DATA / "mixed_xnnpack_fp32_load.etdump", *model)
    printed(tmp, "explain", "op2", mixed, *model, *roofs)
    printed(tmp, "explain", "N1", mixed)
    printed(tmp, "whatif", mixed, "drop gemm")
    printed(tmp, "whatif", mixed, *model, "cumsum* at-roof", *roofs)
    for file in ("linear_xnnpack_fp32.pte", "mixed_xnnpack_fp32.etdump", "mixed_xnnpack_fp32.etrecord",
                 "linear_xnnpack_fp32.bpte",
                 "linear_external.ptd"):
        printed(tmp, "inspect", DATA / file)
    printed(tmp, "inspect", DATA / "linear_xnnpack_fp32.pte", "--diff", DATA / "linear_portable_fp32.pte")
    printed(tmp, "inspect", mixed, "--tensor")
    printed(tmp, "kernels", DATA / "programs/small.dylib", DATA / "programs/small.elf")
    printed(tmp, "kernels", DATA / "kit/on_xnntrace.log")
    printed(tmp, "stats", DATA / "samples.csv")
    printed(tmp, "stats", *sorted(DATA.glob("kit_*_timeline.csv")))


def machine(tmp):
    printed(tmp, "doctor", "levels")
    printed(tmp, "doctor", "--runner", tmp / "none")
    printed(tmp, "validate", "setup", codes={0, 1, 5})
    printed(tmp, "doctor", "devices")
    printed(tmp, "doctor", "devices", "restore")
    printed(tmp, "roofs", "--threads", "1", "--seconds", "0.1", codes={0, 1, 5})
    printed(tmp, "skills")
    printed(tmp, "skills", "run", "01,06", "--dry-run")
    done = execute(ETPROF, "export", "--list", "--format", "json", cwd=tmp)
    judge(tmp, "models", json.loads(done.stdout) if done.stdout else {"schema": f"nothing: {done.stderr[-300:]}"})
    if (BUNDLE / "bundle.json").exists():
        judge(tmp, "bundle.json", json.loads((BUNDLE / "bundle.json").read_text()))
        printed(tmp, "ab", ROOT / "examples/models/toy_cnn_xnnpack_fp32.pte", "--kernels", "always", "--blocks", "1",
                "--iterations", "40",
                "--warmup", "1", "--out", "sampled", codes={0, 1, 6})
        printed(tmp, "kernels", "sampled")
    else:
        print(f"without a runner bundle in {BUNDLE.relative_to(ROOT)}: no sampled kernels")


def complete():
    known = re.findall(r"^  ([a-z-]+)  ", execute(ETPROF, "help", "--all", check=True).stdout,
                       re.M)
    check(len(known) > 20, f"help --all lists {known}")
    check(set(known) - SILENT == verbs,
          f"verbs without a case here, or no verbs: {sorted((set(known) - SILENT) ^ verbs)}")
    written = set()
    for folder in ("src", "python", "scripts", "runner"):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix in (".c", ".h", ".cpp", ".py", ".in", "") and "pycache" not in str(file):
                written |= set(re.findall(r'"etprof\.([a-z_]+)/1', file.read_text(errors="replace")))
    check(len(written) > 25, f"the sources name {sorted(written)}")
    check(written - INSIDE <= set(SCHEMAS), f"documents without a schema: {sorted(written - INSIDE - set(SCHEMAS))}")


where = new_folder()
fixtures(where)
sessions(where)
machine(where)
complete()
print(f"{sum(map(len, seen.values()))} documents of {len(seen)} schemas")
print("\n".join(failures))
sys.exit(1 if failures else 0)
