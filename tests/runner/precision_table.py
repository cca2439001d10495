# SPDX-License-Identifier: Apache-2.0
"""Two precisions of one model: the SNR of every layer is PyTorch's (tests/data/precision), a planted fault is the first
to stay, other programs are refused: precision_table.py ETPROF SOURCE"""
import hashlib
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = pathlib.Path(SOURCE, "tests", "data")
OURS = DATA / "precision"
LAYERS = ("relu", "relu_1", "relu_2", "linear")
CLOSE_DB = 0.1  # XNNPACK may round an element the other way


def run(*words):
    return execute(ETPROF, "ab", *words, "--numerics", "--quiet")


def ask(*words):
    done = run(*words, "--format", "json", "--blocks", "2", "--iterations", "5")
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def compared(name, *words):
    return ask(OURS / "layers_fp32.pte", OURS / f"layers_{name}.pte", "--inputs", OURS / "input.bin", *words)


def close(found, wanted):
    return found is wanted is None or None not in (found, wanted) and abs(found - wanted) < CLOSE_DB


def check_against_torch():
    told = json.loads((OURS / "expected.json").read_text())
    for name, layers in told.items():
        code, answer, said = compared(name)
        if code == 5 and "no runner" in said:
            skip(said.strip())
        expect(code == 0 and answer["schema"] == "etprof.precision/1", name, answer, said)
        expect(answer["multiplying"] == 4 and answer["unpaired"] == 0, name, "every layer has a partner", answer)
        expect(len(answer["rows"]) == 4, name, "rows", answer["rows"])
        for row, layer in zip(answer["rows"], LAYERS):
            expect(close(row["snr_db"], layers[layer]), name, layer, row, layers[layer])
            expect(row["why"] is None and row["elements"] > 0, name, row)
        expect(close(answer["snr_db"], layers["linear"]), name, "the whole", answer["snr_db"])
        # Two of the whole, two of each layer and of the sum, four with times.
        expect(answer["launches"] == 2 + 2 * 5 + 4, name, "launches", answer["launches"])
        expect(answer["untimed"] is None and answer["baseline_ns"] > 0 and answer["candidate_ns"] > 0, name, answer)
        expect(answer["command"] is None and "export.json" in (answer["no_command"] or ""), name, answer)
        if name == "int8":
            check_losses(answer["rows"], layers)


def check_losses(rows, layers):
    first, second, third, last = rows
    expect(first["exact_operands"] and first["operands_db"] is None and first["loss_db"] is None, "first", first)
    expect(close(second["operands_db"], layers["relu"]), "second takes the first's", second)
    expect(close(second["loss_db"], layers["relu"] - layers["relu_1"]), "second's loss", second)
    expect(close(last["operands_db"], layers["relu_2"]), "last takes the third's, reshaped", last)
    expect(third["operands_db"] is not None and not third["exact_operands"], "third takes a sum", third)
    expect(0 < sum(r["share"] for r in rows) <= 1.000001, "shares", [r["share"] for r in rows])


def check_fault(tmp):
    """Weights of the second convolution with the other sign: nothing before is blamed, and it is the first to stay."""
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("faults", os.path.join(SOURCE, "bench", "cut", "faults.py"))
    faults = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faults)
    data = bytearray((OURS / "layers_int8.pte").read_bytes())
    (at, size), *_ = next(f for f in faults.Program(bytearray(data)).faults if f[3] == (0, 3))
    expect(size == 8 * 3 * 3 * 8, "its weights are", size, "bytes")
    data[at:at + size] = bytes((256 - b) % 256 if b != 128 else 127 for b in data[at:at + size])
    copy = pathlib.Path(tmp, "fault.pte")
    copy.write_bytes(data)
    code, answer, said = ask(OURS / "layers_fp32.pte", copy, "--inputs", OURS / "input.bin", "--no-trace")
    told = json.loads((OURS / "expected.json").read_text())["int8"]
    expect(code == 0 and close(answer["rows"][0]["snr_db"], told["relu"]), "before the fault", answer, said)
    expect(answer["rows"][1]["snr_db"] < 5, "at the fault", answer["rows"][1])
    expect(answer["keep"][0]["name"] == "node 2 (Conv2d) of delegate 0" and answer["keep"][0]["share"] > 0.8, "stays",
           answer["keep"])
    expect(answer["untimed"] and answer["baseline_ns"] is None and answer["launches"] == 12, "--no-trace", answer)


def check_others(tmp):
    same = pathlib.Path(tmp, "same.pte")
    same.write_bytes((OURS / "layers_int8.pte").read_bytes())
    code, answer, said = ask(OURS / "layers_int8.pte", same)
    expect(code == 0 and answer["schema"] == "etprof.numerics/1" and answer["verdict"] == "agree", "copy", answer, said)
    code, answer, said = ask(OURS / "layers_int8.pte", DATA / "fixes" / "recurrent.pte")
    expect(code == 2 and "not the same operators: one has" in said and "that multiply 0 are the same" in said,
           "another program", said)
    code, answer, said = ask(OURS / "layers_fp32.pte", OURS / "layers_fp16.pte")
    expect(code == 0 and [r["dtype"] for r in answer["rows"]] == ["float16"] * 4, "fp16", answer, said)
    expect(answer["command"] is None and "--keep-float" in (answer["no_command"] or ""), "fp16 has no command", answer)
    expect(all(40 < r["snr_db"] < 90 for r in answer["rows"]), "fp16: eleven bits", answer["rows"])
    code, answer, said = ask(OURS / "layers_fp32.pte", "--reference", "eager")
    expect(code == 2 and "layers_fp32.pte.etrecord of this program" in said and "etprof export MODEL" in said,
           "no record", said)
    code, answer, said = ask(OURS / "layers_fp32.pte", "--reference", "lazy")
    expect(code == 2 and "--reference takes 'eager'" in said, "another reference", said)
    for form, wanted in (("text", "Keep the operators"), ("md", "| `node 1 (Conv2d) of delegate 0` |"),
                         ("csv", "place,operator,module,"), ("html", "<html")):
        ended(run(OURS / "layers_fp32.pte", OURS / "layers_int8.pte", "--no-trace", "--format", form), 0, says=wanted)


def check_made(tmp):
    """How a program was made is found by its bytes, whatever it is called; then the modules are what is missing."""
    program = pathlib.Path(tmp, "renamed_xnnpack_int8.pte")
    program.write_bytes((OURS / "layers_int8.pte").read_bytes())
    entry = {"file": program.name, "model": {"name": "layers"}, "command": ["etprof", "export", "layers"]}
    for digest, part in ((hashlib.sha256(program.read_bytes()).hexdigest(), ".etrecord"), ("0" * 64, "export.json")):
        pathlib.Path(tmp, "export.json").write_text(json.dumps({"artifacts": [{**entry, "sha256": digest}]}))
        code, answer, said = ask(OURS / "layers_fp32.pte", program, "--no-trace")
        expect(code == 0 and f"no {part} beside" in answer["no_command"], digest, answer, said)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)  # where .etprof lies
        check_against_torch()
        check_fault(tmp)
        check_others(tmp)
        check_made(tmp)
        expect(not pathlib.Path(tmp, "out_layers_fp32").exists(), "no run folder", "is made")
    finish()


main()
