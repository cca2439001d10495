# SPDX-License-Identifier: Apache-2.0
"""test_belong.py ETPROF TREE: files that do not belong together are refused, by every verb that takes two of them."""
import json
import os
import pathlib
import sys
import tempfile
import zipfile

import dumps
import etdump

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish  # noqa: E402

ETPROF, TREE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
DATA, TMP = TREE / "tests/data", pathlib.Path(tempfile.mkdtemp())
CORPUS = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared/corpus"))


def run(*words):
    done = execute(ETPROF, *words, cwd=TMP)
    return done.returncode, done.stdout, done.stderr


def refused(words, *said):
    code, out, err = run(*words)
    expect(code == 2 and not out and all(s in err for s in said), "not refused:", *words, code, out[:300], err)


def accepted(words):
    code, out, err = run(*words)
    expect(code == 0, "refused:", *words, err)
    return out


def recordings(dump, program):
    """Every verb that takes a recording and a program."""
    yield ("ops", dump, "--pte", program)
    yield ("analyze", dump, "--pte", program)
    yield ("compare", dump, dump, "--pte", program)
    yield ("inspect", program, "--etdump", dump)
    yield ("convert", dump, "--to", "chrome", "--pte", program)
    yield ("whatif", dump, "--pte", program, "drop *")


def records(dump, program, record):
    """Every verb that takes a record, and a recording or a program."""
    yield ("ops", dump, "--pte", program, "--etrecord", record)
    yield ("analyze", dump, "--pte", program, "--etrecord", record)
    yield ("inspect", program, "--etrecord", record)
    yield ("ops", dump, "--format", "inspector", "--etrecord", record)
    yield ("convert", dump, "--to", "chrome", "--pte", program, "--etrecord", record)


def edited(record, change):
    """RECORD with its edge graph changed."""
    out = TMP / "edited.etrecord"
    with zipfile.ZipFile(record) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("edge_dialect") and not name.endswith(("_state_dict", "_constants", "_example_inputs")):
                graph = json.loads(data)
                change(graph["graph_module"]["graph"])
                data = json.dumps(graph).encode()
            new.writestr(name, data)
    return out


def never_sure(dump, program, record, thin):
    """Names and calls never prove a program, and none has sizes: that is said, and where they are few."""
    words = ("ops", dump, "--pte", program, "--etrecord", record, "--format")
    sure = [o["confidence"] for o in json.loads(accepted((*words, "json")))["operators"] if o["source"]]
    expect(sure and all(0.9 < c < (0.99 if thin else 1) for c in sure), "confidence", dump, sure)
    few, sizes = "another program with the same", "holds no sizes"
    out = accepted((*words, "md")).replace("\n", " ")
    expect(sizes in out and (few in out) == thin, "thin", dump)
    rows = [o for o in json.loads(accepted((*words, "json")))["operators"] if o["node_type"]]
    said = [o.get("doubt", "") for o in rows]
    expect(rows and all(sizes in s and (few in s) == thin for s in said), "thin: rows", dump, rows[:1])
    drawn = json.loads(accepted(("convert", dump, "--to", "chrome", "--pte", program)))["traceEvents"]
    args = [e["args"] for e in drawn if "node" in e.get("args", {})]
    said = [a.get("doubt", "") for a in args]
    expect(args and all(sizes in s and (few in s) == thin for s in said), "thin: chrome", dump, args[:1])


def small():
    mixed, linear = DATA / "mixed_xnnpack_fp32.etdump", DATA / "linear_xnnpack_fp32.pte"
    for words in recordings(mixed, linear):
        refused(words, "is not a recording of this program", "was recorded")
    for words in recordings(mixed, DATA / "mixed_xnnpack_fp32.pte"):
        accepted(words)
    # One operator of any size, or none: what cannot be decided is said.
    for name, inside in (("one", [etdump.delegate("Fully Connected (NC, F32) GEMM #1", 2000, 60_000)]), ("none", [])):
        few = TMP / f"{name}.etdump"
        etdump.write(few, dumps.executions([*inside, etdump.call("DELEGATE_CALL", 1000, 70_000)], 74_000))
        for words in (("ops", few, "--pte", linear, "--format", "md"),
                      ("analyze", few, "--pte", linear, "--format", "md"),
                      ("convert", few, "--to", "chrome", "--pte", linear),
                      *([("inspect", linear, "--etdump", few, "--format", "md")] if inside else [])):
            code, out, err = run(*words)
            said = (out + err).replace("\n", " ")
            expect(code == 0 and "recording holds no sizes" in said, name, *words, said[:900])
    record, program = DATA / "mixed_xnnpack_fp32.etrecord", DATA / "mixed_xnnpack_fp32.pte"
    for words in records(DATA / "linear_xnnpack_fp32.etdump", linear, record):
        refused(words, "the record is of another program")
    for words in records(mixed, program, record):
        accepted(words)
    never_sure(mixed, program, record, thin=True)

    def wider(graph, of=""):  # each operator gives twice as much
        for node in graph["nodes"]:
            sizes = graph["tensor_values"][node["outputs"][0]["as_tensor"]["name"]]["sizes"]
            sizes[-1]["as_int"] *= 2 if of in node["target"] else 1
    refused(("inspect", program, "--etrecord", edited(record, wider)), "of another size")
    for kernel, code in (("cumsum", 2), ("none such", 0)):  # a kernel that no delegate has
        found, _, err = run("inspect", program, "--etrecord", edited(record, lambda g, k=kernel: wider(g, k)))
        expect(found == code and (code == 0 or "aten.cumsum" in err), "kernel's size", kernel, found, err)


def large():
    """Two precisions of one model: another precision's types on a row, or its source line, would look right."""
    for model, level in (("toy_cnn", "x86_full"), ("mobilenet_v3_small", "x86_sse"), ("vit_tiny", "arm64_sme2")):
        for ran, other in (("fp32", "int8"), ("int8", "fp32")):
            dump = CORPUS / f"dumps/{model}_xnnpack_{ran}.{level}.etdump"
            accepted(("ops", dump, "--pte", CORPUS / f"models/{model}_xnnpack_{ran}.pte"))
            refused(("ops", dump, "--pte", CORPUS / f"models/{model}_xnnpack_{other}.pte"), "operators fit")
    dump = CORPUS / "dumps/vit_tiny_xnnpack_fp32.x86_full.etdump"
    program, record = CORPUS / "models/vit_tiny_xnnpack_fp32.pte", CORPUS / "models/vit_tiny_xnnpack_fp32.etrecord"
    refused(("ops", dump, "--format", "inspector", "--etrecord", CORPUS / "models/toy_cnn_xnnpack_fp32.etrecord"),
            "the record is of another program")
    # Without the program the types that the names tell are held against those of the record.
    for model in ("toy_cnn_xnnpack", "mlp_xnnpack", "vit_tiny_xnnpack"):
        for dump_of in sorted((CORPUS / "dumps").glob(f"{model}_*.etdump")):
            for kept in sorted((CORPUS / "models").glob(f"{model}_*.etrecord")):
                ran, other = (p.name.removeprefix(f"{model}_").split(".")[0].split("_")[0] for p in (dump_of, kept))
                words = ("ops", dump_of, "--format", "inspector", "--etrecord", kept)
                if ran == other and dump_of.name.startswith(f"{kept.stem}."):
                    accepted(words)
                elif ran != other and "methodonly" not in dump_of.name:
                    refused(words, "the record is of another program")
    never_sure(dump, program, record, thin=False)
    for ran, other in (("external", "dynshape"), ("dynshape", "external")):  # three linears each
        other = CORPUS / f"models/mlp_xnnpack_fp32_{other}"
        never_sure(CORPUS / f"dumps/mlp_xnnpack_fp32_{ran}.x86_full.etdump", f"{other}.pte", f"{other}.etrecord",
                   thin=True)
    refused(("inspect", CORPUS / "models/toy_cnn_xnnpack_fp32.pte", "--etrecord",
             CORPUS / "models/toy_cnn_xnnpack_fp16.etrecord"), "the record is of another program", "size or type")
    whole = json.loads(accepted(("ops", dump, "--pte", program, "--etrecord", record, "--format", "json")))

    def one(graph):
        linear = [n for n in graph["nodes"] if n["target"].endswith("aten.linear.default")]
        linear[3]["target"] = linear[3]["target"].replace("linear", "convolution")
    part = edited(record, one)
    out = accepted(("ops", dump, "--pte", program, "--etrecord", part))
    expect("the record agrees with the program in" in out, "between is told", out[:1500])
    told = json.loads(accepted(("ops", dump, "--pte", program, "--etrecord", part, "--format", "json")))
    sure = [(a["confidence"], b["confidence"]) for a, b in zip(whole["operators"], told["operators"]) if b["source"]]
    expect(sure and all(b < a for a, b in sure), "between: as sure as before", sure[:5])


def swapped():
    """The layers of toy_cnn in its own order, and with its depthwise convolution before the other one."""
    full, channels = "Convolution (NHWC, F32) IGEMM #%d", "Convolution (NHWC, F32) DWConv #%d"
    for layers, fits in (((full % 1, full % 2, channels % 1), True), ((full % 1, channels % 1, full % 2), False),
                         ((channels % 1, full % 1, full % 2), False)):
        names = ("Transpose (ND, X32) #1", *layers, "Fully Connected (NC, F32) GEMM #1", "Transpose (ND, X32) #2")
        inside = [etdump.delegate(n, 2000 + i * 9000, 11_000 + i * 9000) for i, n in enumerate(names)]
        inside += [etdump.call("DELEGATE_CALL", 1000, 60_000), etdump.call("native_call_mean.out", 62_000, 70_000, 1),
                   etdump.call("OPERATOR_CALL", 61_000, 71_000, 1),
                   etdump.delegate("Fully Connected (NC, F32) GEMM #1", 73_000, 80_000, 2),
                   etdump.call("DELEGATE_CALL", 72_000, 81_000, 2)]
        etdump.write(TMP / "swapped.etdump", dumps.executions(inside, 90_000))
        words = ("ops", TMP / "swapped.etdump", "--pte", CORPUS / "models/toy_cnn_xnnpack_fp32.pte")
        if fits:
            accepted(words)
        else:
            refused(words, "operators fit")
    for dump in sorted((CORPUS / "dumps").glob("*.etdump")):
        program = CORPUS / f"models/{dump.name.split('.')[0]}.pte"
        if program.is_file():
            accepted(("ops", dump, "--pte", program))


def weights():
    """Data files hold all that a program keeps outside, in one file or in several."""
    program, whole = DATA / "linear_portable_fp32_external.pte", DATA / "linear_external.ptd"
    renamed, other = TMP / "renamed.ptd", ("--runner", str(TMP / "absent/runner"))
    renamed.write_bytes(whole.read_bytes().replace(b"fc.weight", b"fx.weight"))
    for data in ((), ("--data", renamed)):
        code, _, err = run("ab", program, *data, *other)
        expect(code == 2 and "fc.weight" in err and "fc.bias" not in err or not data, "missing", data, code, err)
    for data in (("--data", renamed, "--data", whole), ("--data", f"{renamed},{whole}")):
        code, _, err = run("ab", program, *data, *other)
        expect(code == 5 and "absent/runner" in err and "nothing that" not in err, "both files", data, code, err)
    code, _, err = run("ab", program, "--data", whole, "--data", renamed, "--data", whole, *other)
    expect(code == 2 and "linear_external.ptd is given twice" in err, "given twice", code, err)
    code, _, err = run("ab", DATA / "linear_portable_fp32.pte", "--data", whole, *other)
    said = "linear_external.ptd has no tensor that the program reads from such a file"
    expect(code == 5 and said in err, "unneeded", err)


def bounds():
    """A batch of 1 to 16: what follows from the largest says so, in every form."""
    words = ("ops", CORPUS / "dumps/mlp_xnnpack_fp32_dynshape.x86_full.etdump", "--pte",
             CORPUS / "models/mlp_xnnpack_fp32_dynshape.pte", "--format")
    doc = json.loads(accepted((*words, "json")))
    found = [(o["macs"], o.get("bound"), o["inputs"][0].get("upper_bound")) for o in doc["operators"]]
    expect(found == [(16 * 64 * 128, True, True), (16 * 128 * 128, True, True), (16 * 128 * 32, True, True)], found)
    expect(doc["totals"].get("bound") is True, "totals", doc["totals"])
    expect("MACs and bytes are at most these" in accepted((*words, "text")), "text")
    expect(accepted((*words, "csv")).count(",at most\n") == 3, "csv")
    model = CORPUS / "models/mlp_xnnpack_fp32_dynshape.pte"
    doc = json.loads(accepted(("inspect", model, "--format", "json")))
    part, (linear,) = doc["delegates"][0], doc["operators"]
    expect(part.get("bound") is True and linear.get("bound") is True and all(n.get("bound") for n in part["nodes"]),
           "inspect", part, linear)
    rows = accepted(("inspect", model, "--format", "csv"))
    expect("FullyConnected,yes,3,458752,154752,at most" in rows, "inspect: csv", rows)
    text = accepted(("inspect", model))
    expect(text.count("at most") >= 5, "inspect: text", text)
    chrome = accepted(("convert", CORPUS / "dumps/mlp_xnnpack_fp32_dynshape.x86_full.etdump", "--pte", model, "--to",
                       "chrome"))
    args = [e["args"] for e in json.loads(chrome)["traceEvents"] if "macs" in e.get("args", {})]
    expect(args and all(a.get("sizes") == "at most" for a in args), "convert", args[:2])
    still = json.loads(accepted(("ops", DATA / "mixed_xnnpack_fp32.etdump", "--pte", DATA / "mixed_xnnpack_fp32.pte",
                                 "--format", "json")))
    expect(not any("bound" in o for o in [*still["operators"], still["totals"]]), "sizes that do not change")


small()
weights()
if (CORPUS / "dumps").is_dir():
    large()
    swapped()
    bounds()
finish("files that do not belong together are refused")
