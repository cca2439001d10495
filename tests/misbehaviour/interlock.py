# SPDX-License-Identifier: Apache-2.0
"""Whose outputs differ loses its speedup, and nobody else.

usage: interlock.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def etprof(root, *words):
    return execute(ETPROF, *words, cwd=root)


def program(root, name, *script):
    text = "\n".join(["base sme2 1000000", "base sme1 2000000", "base neon 3000000", *script, ""])
    (root / name).write_bytes(b"\x10\0\0\0ET12" + text.encode())


def session(root, *words):
    done = etprof(root, "ab", *words, "--blocks", "6", "--iterations", "8", "--warmup", "3", "--quiet", "--out", "run",
                  "--runner", FAKE)
    expect(done.returncode in (0, 1), root.name, done.stderr)
    return json.loads((root / "run" / "report.json").read_text())


def withheld(report):
    return {c["candidate"]: c["withheld"] for c in report["comparisons"]}


def make(tmp, name):
    root = pathlib.Path(tmp) / name
    root.mkdir()
    return root


with tempfile.TemporaryDirectory() as tmp:
    root = make(tmp, "one arm of three")
    program(root, "m.pte", "on sme1 * * other_output")
    report = session(root, "m.pte", "--levels", "sme2,sme1,neon")
    found = withheld(report)
    expect(sorted(found.values(), key=str) == ["outputs_differ", None]
           or sorted(map(str, found.values())) == ["None", "outputs_differ"], root.name, found)
    expect(all((why is not None) == ("sme1" in arm) for arm, why in found.items()), root.name, found)
    expect(report["correctness"]["ok"] is False, root.name, report["correctness"])
    expect(report["comparisons"][[c["withheld"] for c in report["comparisons"]].index(None)]["speedup"]["estimate"],
           root.name, "no ratio")
    stats = json.loads(etprof(root, "stats", "run", "--format", "json").stdout)
    expect({c["candidate"]: c["withheld"] for c in stats["comparisons"]} == found, root.name,
           "stats withholds something else")

    root = make(tmp, "the baseline")
    program(root, "m.pte", "on neon * * other_output")
    found = withheld(session(root, "m.pte", "--levels", "sme2,sme1,neon"))
    expect(set(found.values()) == {"outputs_differ"}, root.name, found)

    # The arms of a second program are held against each other, not against those of the first.
    root = make(tmp, "second program")
    program(root, "a.pte")
    program(root, "b.pte", "on sme2 * * other_output")
    report = session(root, "a.pte", "b.pte", "--levels", "sme2,neon")
    found = withheld(report)
    expect(len(found) == 3 and all((why == "outputs_differ") == arm.startswith("b_") for arm, why in found.items()),
           root.name, found)
    expect(any("outputs of b at NEON against those of b at SME2" in f["text"] for f in report["findings"]), root.name,
           [f["text"] for f in report["findings"]])

    # NaN on both sides: a warning, and no claim that anything agrees.
    root = make(tmp, "NaN")
    program(root, "m.pte")
    session(root, "m.pte", "--levels", "sme2,neon")
    for output in (root / "run").glob("*/outputs/output-0.bin"):
        output.write_bytes(b"\0\0\xc0\x7f" * 2)
    report = json.loads(etprof(root, "analyze", "run", "--format", "json").stdout)
    expect(report["correctness"]["ok"] is None and report["correctness"]["cosine"] is None, root.name,
           report["correctness"])
    expect(any("2 of 2 elements are NaN" in f["text"] for f in report["findings"]), root.name, report["findings"])
    for output in (root / "run").glob("*/outputs/output-0.bin"):
        output.write_bytes(b"\0\0\xc0\x7f\0\0\x80\x3f")
    report = json.loads(etprof(root, "analyze", "run", "--format", "json").stdout)
    expect(report["correctness"]["ok"] is True and report["correctness"]["cosine"] == 1, root.name,
           report["correctness"])
    expect(any("1 of 2 elements are NaN" in f["text"] for f in report["findings"]), root.name, report["findings"])
    next((root / "run").glob("*/outputs/output-0.bin")).write_bytes(b"\0\0\x80\x3f\0\0\x80\x3f")
    report = json.loads(etprof(root, "analyze", "run", "--format", "json").stdout)
    expect(report["comparisons"][0]["withheld"] == "outputs_differ", root.name, report["comparisons"][0])
    said = " ".join(etprof(root, "analyze", "run").stdout.split())
    levels = ",".join(next(a["level"] for a in report["arms"] if a["name"] == report["comparisons"][0][side])
                      for side in ("candidate", "baseline"))
    expect(f"m.pte --levels {levels} --numerics" in said, root.name, said)

    # A name that is no text could not be found again in the manifest.
    root = make(tmp, "name")
    program(root, "m.pte")
    shutil.copy(root / "m.pte", bytes(root) + b"/m\xff.pte")
    done = subprocess.run([ETPROF, "ab", b"m\xff.pte", "--runner", FAKE, "--out", "run"], cwd=root,
                          capture_output=True, timeout=600, check=False)
    expect(done.returncode == 2 and b"rename it" in done.stderr and not (root / "run").exists(), root.name, done)
finish("as documented")
