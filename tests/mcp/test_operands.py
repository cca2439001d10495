# SPDX-License-Identifier: Apache-2.0
"""The words of a verb that arguments become, and documents that become smaller; without a server. usage:
test_operands.py"""
import json
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python"),
                str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
from checks import expect, finish
from etprof.mcp.fitting import fit, parts_of, text_of
from etprof.mcp.operands import input_schema, words_of
from etprof.mcp.places import Places
from etprof.mcp.refused import Refused
from etprof.mcp.tools import TOOLS


def words(tool, **arguments):
    return words_of(TOOLS[tool].operands, arguments, PLACES)


def told():
    real = PLACES.folder
    for found, expected in (
            (words("export", model="llama3.2-1B", dtype="fp16", outdir="made"),
             ["llama3.2-1B", "--dtype", "fp16", "--outdir", f"{real}/made"]),
            (words("export", model="image_encoder", dtype="int8", apply=["fold-expand", "layer-norm"]),
             ["image_encoder", "--dtype", "int8", "--apply", "fold-expand", "--apply", "layer-norm"]),
            (words("export", model="llm:stories15M", group_size="channel"),
             ["llm:stories15M", "--group-size", "channel"]),
            (words("measure", models=["m.pte"], levels=["sme2", "neon"], threads=[1, 4], blocks=6, precision=0.5,
                   device="ssh:me@board", prefill=[64], kernels="always", data=None,
                   packed_cache=["off", "warm"], price=True),
             [f"{real}/m.pte", "--levels", "sme2", "--levels", "neon", "--threads", "1", "--threads", "4", "--device",
              "ssh:me@board", "--blocks", "6", "--precision", "0.5", "--prefill", "64", "--kernels", "always",
              "--packed-cache", "off", "--packed-cache", "warm", "--price"]),
            (words("measure", models=["m.pte"], kernels="never"), [f"{real}/m.pte", "--kernels", "never"]),
            (words("verify_claim", run="run", claims=["decode@256.op3.ns <= 0.2ms",
                                                          'category("Data movement").share <= 0.3']),
             [f"{real}/run", "decode@256.op3.ns <= 0.2ms", 'category("Data movement").share <= 0.3']),
            (words("whatif", run="run", changes=["Convolution* at-roof", "threads 4", "fix N1"], phase="decode@256"),
             [f"{real}/run", "Convolution* at-roof", "threads 4", "fix N1", "--phase", "decode@256"])):
        expect(found == expected, found, expected)


def held_by_schema():
    """What the schema of a tool refuses is refused, and what it says is plain JSON."""
    try:
        import jsonschema
    except ImportError:
        print("without jsonschema")
        return
    for tool in TOOLS.values():
        for schema in (input_schema(tool.takes), tool.output_schema()):
            jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema)))
    export = input_schema(TOOLS["export"].takes)
    for name in ("own.py", "config.json", "hf:config.json", "a/b", "-x", ""):
        expect(not jsonschema.Draft202012Validator(export).is_valid({"model": name}), name, "fits the schema")
    expect(jsonschema.Draft202012Validator(export).is_valid({"model": "hf:bert.tiny"}), "a name")


def small():
    document = {"schema": "etprof.x/1", "grade": "A",
                "rows": [{"id": f"op{i}", "names": ["é" * 9] * 3} for i in range(500)],
                "deep": {f"k{i}": {"text": "x" * 90} for i in range(300)}, "few": [1, 2, 3]}
    for limit in (40000, 12000, 3000, 300, 60):
        found, left_out = fit(document, limit)
        expect(len(text_of(found)) <= limit and json.loads(text_of(found)) == found, limit, len(text_of(found)))
        kept = len(found.get("rows", []))
        expect(kept + left_out.get("rows", 0) == 500, limit, "rows are counted", kept, left_out)
        expect(found.get("rows", []) == document["rows"][:kept] or "rows[].names" in left_out, limit, "the first ones")
    expect(fit(document, 10**6) == (document, {}), "what fits stays")
    expect(parts_of(document, ["few[1:]", "grade"]) == {"schema": "etprof.x/1", "few": [2, 3], "grade": "A"})
    for part in ("none", "grade[0:1]"):
        try:
            parts_of(document, [part])
            expect(False, part, "is no part")
        except Refused:
            pass


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("m.pte").write_bytes(b"")
    pathlib.Path("run").mkdir()
    PLACES = Places([], folder)
    told()
    held_by_schema()
    small()
    os.chdir("/")
finish("words and documents")
