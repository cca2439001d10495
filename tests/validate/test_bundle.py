# SPDX-License-Identifier: Apache-2.0
"""Tensors of a bundled program (.bpte) whose data are not those of their shape: ExecuTorch's loader takes the shape's
word and reads beyond them, so `validate` refuses the file and `inspect` says it. What is where in the fixture flatc
says. usage: test_bundle.py ETPROF"""
import gzip
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import ended, execute, expect, finish, new_folder  # noqa: E402

ETPROF = sys.argv[1]
FIXTURE = ROOT / "tests/data/linear_xnnpack_fp32.bpte"
BYTES = FIXTURE.read_bytes()
CASE = json.loads(gzip.open(f"{FIXTURE}.json.gz").read())["method_test_suites"][0]["test_cases"][0]
INPUT, OUTPUT = CASE["inputs"][0]["val"], CASE["expected_outputs"][0]["val"]


PROGRAM = bytes(json.loads(gzip.open(f"{FIXTURE}.json.gz").read())["program"])


def patched(was, now):
    """A vector, with its length before it, changed where it stands beside the program (which has such vectors, too)."""
    outside = BYTES.replace(PROGRAM, bytes(len(PROGRAM)))
    assert outside.count(was) == 1 and len(was) == len(now), outside.count(was)
    at = outside.index(was)
    return BYTES[:at] + now + BYTES[at + len(was):]


def data(tensor, length):
    content = bytes(tensor["data"])
    return patched(struct.pack("<I", len(content)) + content, struct.pack("<I", length) + content)


def sizes(tensor, *values):
    was = struct.pack(f"<I{len(tensor['sizes'])}i", len(tensor["sizes"]), *tensor["sizes"])
    return patched(was, struct.pack(f"<I{len(values)}i", len(values), *values))


def told(tmp, name, content, problem):
    path = tmp / "m.bpte"
    path.write_bytes(content)

    def ask(*words):
        return execute(ETPROF, *words, path, "--quiet")
    validated = ask("validate", "--format", "json")
    failed = [(c["id"], c["found"]) for c in json.loads(validated.stdout)["checks"] if not c["ok"]]
    expect(failed == ([("model.tests", problem)] if problem else []), f"{name}: validate: {failed}")
    expect(validated.returncode == (1 if problem else 0), f"{name}: validate ends with {validated.returncode}")
    inspected = ended(ask("inspect", "--format", "json"), 0)
    expect(json.loads(inspected.stdout).get("test_problem") == problem, f"{name}: inspect: {inspected.stdout[:300]}")
    shown = " ".join(ask("inspect").stdout.split())
    expect(f"problem: {problem}" in shown if problem else "problem:" not in shown, f"{name}: inspect: {shown[:300]}")


expect((INPUT["sizes"], len(INPUT["data"]), OUTPUT["sizes"], len(OUTPUT["data"])) == ([2, 4], 32, [2, 3], 24),
       f"another fixture: {CASE}")
IN = "method forward, case 0, input 0: "
tmp = new_folder()
told(tmp, "as it is", BYTES, None)
told(tmp, "a value less", data(INPUT, 28), IN + "28 bytes of data, 2×4 float32 has 32")
told(tmp, "a byte more", data(INPUT, 33), IN + "33 bytes of data, 2×4 float32 has 32")
told(tmp, "no data", data(INPUT, 0), IN + "0 bytes of data, 2×4 float32 has 32")
told(tmp, "an expected output", data(OUTPUT, 20),
     "method forward, case 0, expected output 0: 20 bytes of data, 2×3 float32 has 24")
told(tmp, "a longer shape", sizes(INPUT, 3, 4), IN + "32 bytes of data, 3×4 float32 has 48")
told(tmp, "an impossible shape", sizes(INPUT, -2, 4), IN + "a dimension of -2 elements")
told(tmp, "a shape beyond all bounds", sizes(INPUT, 2**31 - 1, 2**31 - 1),
     IN + "no memory holds 2147483647×2147483647 float32")
finish()
