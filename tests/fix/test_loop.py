# SPDX-License-Identifier: Apache-2.0
"""etprof fix, with planted durations: what is predicted and measured, what is kept and undone, what exporting again
brings. The exporter is planted, as PyTorch is not here; tests/python/test_fix.py has the real one.

usage: test_loop.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, validating
from planted import ETPROF, ROOT, Planted


def planted_at(ns):
    return f"base neon {ns}\nnoise 2\n"


def near(found, ns, what):
    gain = found["gain_ns"]
    ok = gain["estimate"] is not None and abs(gain["estimate"] - ns) < 8000
    expect(ok and gain["lo"] <= gain["estimate"] <= gain["hi"], what, "gain", ns, found)


def document(done, what, code):
    expect(done.returncode == code, what, "exit code", done.returncode, done.stderr)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def one_fix(folder):
    """The first fix; another export of the old recipe makes the same program."""
    p = Planted(folder)
    p.exports(layer_norm=planted_at(800000), int8=planted_at(500000))
    run = p.measured()
    found = document(p.fix(run, "--format", "json"), "one fix", 0)
    expect(p.exported() == [["planted", "--name", "planted_again"], ["planted", "--apply", "layer-norm"]], p.exported())
    step = found["steps"][0]
    expect(len(found["steps"]) == 1 and step["fix"] == "N1" and step["change"] == ["--apply", "layer-norm"], step)
    expect(step["kept"] and step["measured"]["verdict"] == "faster" and step["itself"] is None, step)
    near(step["measured"], 200000, "one fix")
    told = json.loads((p.folder / run / "report.json").read_text())["next_fixes"][0]
    expect(step["predicted_ns"] == told["gain_ns"] and step["text"] == told["text"], "what was predicted", step)
    expect(found["again"]["same_bytes"] and found["again"]["measured"] is None, found["again"])
    expect(found["total"] == step["measured"] and found["best"] == step["program"], found["total"])
    kept = p.folder / "out_planted/fixes/fix.json"
    expect(json.loads(kept.read_text()) == found, "fix.json is what was printed")
    validate = validating(ETPROF)
    expect(validate(kept)["failed"] == 0, "fix.json as its schema says", validate(kept))
    kept.write_text(kept.read_text().replace('"gain_ns"', '"gains"', 1))
    expect(validate(kept)["failed"] > 0, "fix.json without its gain")
    said = p.run("explain", "N1", run).stdout
    expect(f"etprof fix {run} N1" in said and "native_call_native_layer_norm.out" in said, "explain N1", said)
    text = ended(p.fix(run), 0)
    lines = text.stdout.splitlines()
    expect(any(line.startswith("     predicted at most −") and ", measured −200 µs [" in line and
               line.endswith("], faster") for line in lines), text.stdout)
    expect("     kept: etprof export planted --apply layer-norm" in lines, text.stdout)
    expect((p.folder / "out_planted/fixes.2/fix.json").exists(), "a second session has a folder of its own")


def told_apart(folder):
    """An exporter of today makes another program of the old recipe: half of the gain is its."""
    p = Planted(folder)
    p.exports(plain=planted_at(900000), layer_norm=planted_at(800000))
    found = document(p.fix(p.measured(), "--format", "json"), "told apart", 0)
    step = found["steps"][0]
    expect(not found["again"]["same_bytes"] and step["kept"], found["again"])
    near(step["measured"], 200000, "old against new")
    near(found["again"]["measured"], 100000, "old against the export without the fix")
    near(step["itself"], 100000, "the fix by itself")
    shown = p.fix("out_planted/runs/linux").stdout
    for words in ("exporting again without the fix", "the fix by itself"):
        expect(re.search(rf"^     {words}: −\d+\.?\d* µs \[.*\], faster$", shown, re.M), words, shown)


def only_again(folder):
    """All of the gain is the exporter's: the fix is undone, and the export without it is the best program."""
    p = Planted(folder)
    p.exports(plain=planted_at(700000), layer_norm=planted_at(710000))
    p.told(accept_unproven=True)
    found = document(p.fix(p.measured(), "--format", "json"), "only again", 1)
    expect(all(words[-1] == "--accept-unproven" for words in p.exported()) and p.exported(), "as it was", p.exported())
    expect(not found["steps"][0]["kept"] and found["steps"][0]["measured"]["verdict"] == "faster", found["steps"])
    expect(found["best"] == found["again"]["program"] and found["total"] == found["again"]["measured"], found["best"])


def loses(folder):
    p = Planted(folder)
    p.exports(layer_norm=planted_at(1200000))
    run = p.measured()
    ended(p.fix(run), 1, says=("measured +200 µs [", "     undone: ", "Best     the program as it was"))
    ended(p.fix(run, blocks=2), 3, says=("unknown (2 of at least 6 blocks)", "the same command on a quiet machine"))
    exported = p.exported()
    found = document(p.fix(run, "--format", "json"), "what was unsure is measured anew", 1)
    expect(found["steps"][0]["run"] == "1-layer-norm/run.2" and found["unsure"] == ["1-layer-norm/run"] and
           found["steps"][0]["measured"]["verdict"] == "slower", found["steps"])
    expect(p.exported() == exported and found["folder"].endswith("fixes.2"), "its programs stay", found["folder"])
    p.exports(layer_norm=p.data[8:].decode())
    ended(p.fix(run), 1, says="the export makes the same program")


def all_of_them(folder):
    p = Planted(folder)
    p.exports(layer_norm=planted_at(800000), layer_norm__int8=planted_at(400000), int8=planted_at(650000))
    run = p.measured()
    found = document(p.fix(run, "--all", "--format", "json"), "all", 0)
    steps = found["steps"]
    expect([s["change"][1] for s in steps] == ["layer-norm", "int8"] and all(s["kept"] for s in steps), steps)
    expect(steps[1]["command"] == ["etprof", "export", "planted", "--apply", "layer-norm", "--dtype", "int8"],
           steps[1]["command"])
    expect(steps[1]["of"] == steps[0]["program"]["sha256"] and steps[1]["told_by"].endswith("1-layer-norm/run"), steps)
    near(steps[0]["measured"], 200000, "the first")
    near(steps[1]["measured"], 400000, "the second, on top of the first")
    near(found["total"], 600000, "both, against the program as it was")
    expect(found["best"] == steps[1]["program"], found["best"])
    p.exports(layer_norm__int8=planted_at(900000))
    found = document(p.fix(run, "--all", "--format", "json"), "one is undone", 0)
    expect([s["kept"] for s in found["steps"]] == [True, False], found["steps"])
    expect(found["best"] == found["steps"][0]["program"], found["best"])
    p.exports(layer_norm=[1, "the program does not agree with eager PyTorch"])
    found = document(p.fix(run, "--all", "--format", "json"), "one is not exported", 0)
    expect(found["steps"][0]["program"] is None and "does not agree" in found["steps"][0]["why"], found["steps"][0])
    expect([s["kept"] for s in found["steps"]] == [False, True] and found["steps"][1]["command"][3:] ==
           ["--dtype", "int8"], found["steps"])
    p.exports(int8__layer_norm=planted_at(500000))
    found = document(p.fix(run, "N2", "N1", "--format", "json"), "in the order of the names", 0)
    expect([(s["fix"], s["kept"]) for s in found["steps"]] == [("N2", True), ("N1", True)], found["steps"])
    near(found["steps"][1]["measured"], 150000, "the second of two that were named")


def from_python(folder):
    """open(…).fixes[0].apply() is the command, and errors are exceptions with its words."""
    p = Planted(folder)
    p.exports(layer_norm=planted_at(800000), int8=[1, "the program does not agree with eager PyTorch"])
    p.measured()
    library = str(pathlib.Path(ETPROF).resolve().parents[1] / "libetprof.so")
    environment = {**p.environment, "PYTHONPATH": str(ROOT / "python"), "ETPROF": ETPROF, "ETPROF_LIBRARY": library}
    done = ended(execute(sys.executable, "-c", PYTHON, cwd=p.folder, env=environment), 0)
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    kept = json.loads((p.folder / "out_planted/fixes/fix.json").read_text())
    step = kept["steps"][0]
    expect(found.get("gain") == [step["measured"]["gain_ns"][k] for k in ("estimate", "lo", "hi")] and
           found["kept"] and found["program"] == step["program"]["path"], found)
    near(step["measured"], 200000, "from Python")
    expect(found.get("repr", "").startswith("<etprof.Fixed N1 predicted at most −") and
           found["repr"].endswith("], faster>"), found)
    expect(found.get("failed") == [False, None, None], "an export that failed", found)
    expect(found.get("error") == ["BadInput", True], "a program that is gone", found)


PYTHON = """
import etprof, etprof.errors, json, os
run = etprof.open("out_planted")
how = dict(blocks=6, iterations=4, progress=False)
one = run.fixes[0].apply(**how)
two = run.fixes[1].apply(**how)
session = etprof.open(one.run_folder)
assert session.comparisons[0].verdict == "faster", repr(session)
os.unlink("out_planted/artifacts/planted_xnnpack_fp32.pte")
try:
    run.fixes[0].apply(**how)
except etprof.errors.EtprofError as e:
    error = [type(e).__name__, "is not there any more" in str(e)]
print(json.dumps({"gain": [one.gain_ns, one.lo_ns, one.hi_ns], "kept": one.kept, "program": one.program,
                  "repr": repr(one), "failed": [two.kept, two.gain_ns, two.program], "error": error}))
"""


def forms():
    """By hand: gains as changes of the latency, and options of a command that are given anew."""
    sys.path.insert(0, str(ROOT / "python"))
    from etprof.fix import loop, words

    for middle, lo, hi, wanted in ((12.4e6, 9.7e6, 13.9e6, "−12.4 ms [9.70, 13.9]"),
                                   (-3.1e6, -5.2e6, -1e6, "+3.10 ms [1.00, 5.20]"),
                                   (1e5, -2e5, 3e5, "−100 µs [−300, +200]"), (174, 0, 1761, "−174 ns [0, 1761]"),
                                   (None, 0, 166859, "at most −167 µs"), (2.5e9, None, None, "−2.50 s")):
        found = words.change({"expected": middle, "lo": lo, "hi": hi}, "expected")
        expect(found == wanted, "a gain", wanted, found)
    command = ["etprof", "export", "m", "--dtype", "fp16", "--apply", "keep-dims", "--name", "n"]
    found = loop.changed(command, [("--dtype", "int8"), ("--apply", "layer-norm")])
    expect(found == ["etprof", "export", "m", "--apply", "keep-dims", "--name", "n", "--dtype", "int8", "--apply",
                     "layer-norm"], "options given anew", found)
    found = loop.renamed(command, "out_n/artifacts/n_xnnpack_fp16.pte")
    expect(found == [*command[:7], "--name", "n_again"], "another name", found)


def main():
    forms()
    for case in (one_fix, told_apart, only_again, loses, all_of_them, from_python):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
    finish()


main()
