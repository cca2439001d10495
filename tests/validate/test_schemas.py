# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the tree, applied by an independent validator: real documents fit, and for damaged
ones `etprof validate FILE` says what it says. usage: test_schemas.py ETPROF; 77 = no Python jsonschema"""
import copy
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, in_python_with, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
SCHEMAS = ROOT / "schemas"
MUTATIONS = 6  # per document
BAD_VALUES = (None, -1, "text", 1.5, [], {}, True, "")

in_python_with("jsonschema")
try:
    import jsonschema
    import referencing
except ImportError:
    skip("no Python package jsonschema")


def places(j, path=()):
    yield path
    items = j.items() if isinstance(j, dict) else enumerate(j[:2]) if isinstance(j, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def keywords(schema):
    if isinstance(schema, bool):
        return set()
    inner = [*schema.get("properties", {}).values(), *schema.get("oneOf", []), *schema.get("allOf", []),
             *schema.get("$defs", {}).values(), schema.get("items", True),
             schema.get("additionalProperties", True)]
    return set(schema).union(*map(keywords, inner))


def damaged(j, rng):
    j = copy.deepcopy(j)
    path = rng.choice([p for p in places(j) if p and p != ("schema",)])
    at = j
    for key in path[:-1]:
        at = at[key]
    if isinstance(at, dict) and rng.random() < 0.5:
        del at[path[-1]]
    else:
        at[path[-1]] = rng.choice(BAD_VALUES)
    return j, path


def schema_ok(path):
    done = subprocess.run([ETPROF, "validate", str(path), "--format", "json"], capture_output=True, text=True,
                          timeout=600, check=False)
    return not any(c["ok"] is False and c["id"].startswith("schema.") for c in json.loads(done.stdout)["checks"])


def main(tmp):
    schemas = {p.name.split(".")[0]: json.loads(p.read_text()) for p in SCHEMAS.glob("*.schema.json")}
    registry = referencing.Registry().with_resources(  # a $ref names a file beside the schema
        (f"{name}.schema.json", referencing.Resource.from_contents(schema)) for name, schema in schemas.items())
    known = set("$schema $ref $defs title description type enum const required properties additionalProperties items "
                "oneOf allOf minimum maximum exclusiveMinimum minItems maxItems minLength maxLength".split())
    for name, schema in schemas.items():
        expect(keywords(schema) <= known,
               f"{name} uses {keywords(schema) - known}: the validator in C does not know them")
        jsonschema.Draft202012Validator.check_schema(schema)
    run = tmp / "run"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", run)
    subprocess.run([ETPROF, "report", "run", "--quiet"], cwd=tmp, check=True, capture_output=True)
    dump = next(run.glob("*/*_t1.etdump"))
    printed = {"ops": ["ops", dump], "inspect": ["inspect", dump], "ab": ["analyze", *run.glob("*/*_t1.etdump")],
               "combined": ["report", run, ROOT / "tests/data"],
               "roofs": ["roofs", "--threads", "1", "--seconds", "0.1"],
               "validate": ["validate", run], "doctor": ["doctor"],
               "gate": ["gate", run, "noise <= 50 %"],
               "kit": ["analyze", ROOT / "tests/data/kit/flat"],
               "latency": ["stats", *sorted((ROOT / "tests/data").glob("kit_*_timeline.csv"))],
               "kernel_log": ["kernels", ROOT / "tests/data/kit/on_xnntrace.log"],
               "stats": ["stats", ROOT / "tests/data/samples.csv"]}
    files = {"run": "manifest.json", "metrics": "metrics.json", "derived": "derived.json", "ab": "report.json",
             "analysis_summary": "analysis_summary.json", "pipeline_summary": "*_pipeline_summary.json",
             "robust_stats": "*/*_robust_stats.json", "outputs": "*/outputs/outputs.json"}
    documents = [(name, next(run.glob(pattern)).name, json.loads(next(run.glob(pattern)).read_text()))
                 for name, pattern in files.items()]
    for name, words in printed.items():
        done = subprocess.run([ETPROF, *map(str, words), "--format", "json"], capture_output=True, text=True,
                              cwd=tmp, timeout=600, check=False)
        if name == "stats" and not done.stdout:
            continue
        documents.append((name, "printed.json", json.loads(done.stdout)))
    done = subprocess.run([ETPROF, "analyze", ROOT / "tests/data/mixed_xnnpack_fp32.etdump", "--pte",
                           ROOT / "tests/data/mixed_xnnpack_fp32.pte", "--roofs", ROOT / "tests/data/roofs/round.json",
                           "--format", "json"], capture_output=True, text=True, timeout=600, check=True)
    documents.append(("ab", "below_roofs.json", json.loads(done.stdout)))
    expect(any("roof" in op for op in documents[-1][2]["operators"]), "no operator stands below a roof")
    for path in sorted((ROOT / "model_profiling/configs/examples").glob("*.json")):
        documents.append(("config", path.name, json.loads(path.read_text())))
    rng, refused = random.Random(1), 0
    for name, file, j in documents:
        validator = jsonschema.Draft202012Validator(schemas[name], registry=registry)
        errors = [f"{list(e.path)}: {e.message[:200]}" for e in validator.iter_errors(j)]
        expect(not errors, f"{file} fits {name}: {errors}")
        for _ in range(MUTATIONS):
            bad, path = damaged(j, rng)
            (tmp / file).write_text(json.dumps(bad))
            ours, theirs = schema_ok(tmp / file), validator.is_valid(bad)
            refused += not theirs
            expect(ours == theirs, f"{name} damaged at {path}: etprof says {ours}, jsonschema {theirs}")
    file, bad = next((file, copy.deepcopy(j)) for name, file, j in documents if name == "pipeline_summary")
    del bad["comparisons"][0]["verdict"]  # of another document's schema
    (tmp / file).write_text(json.dumps(bad))
    expect(not schema_ok(tmp / file), f"{file} with a comparison that lacks its verdict is accepted")
    print(f"{len(documents)} documents, {len(documents) * MUTATIONS} damaged ones, {refused} of them refused")
    expect(refused > 20, "too few of the damaged documents are refused")
    return 0


with tempfile.TemporaryDirectory() as tmp:
    main(pathlib.Path(tmp))
finish()
