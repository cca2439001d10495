# SPDX-License-Identifier: Apache-2.0
"""Roofs from their measurement to what is said of operators: kept in the run folder, the same anywhere, and
recomputed here from the document alone.

usage: ab_roofs.py ETPROF SOURCE_DIR"""
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
from checks import execute, skip

WORDS = {"overhead-bound", "above-roof", "compute-bound", "memory-bound", "below-bandwidth", "inefficient"}
ETPROF, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
BUNDLE = ROOT / "build" / "bundle" / "x86_64-linux-gnu"
MODEL = ROOT / "examples" / "models" / "toy_cnn_xnnpack_fp32.pte"


def run(cwd, *args, status=0):
    done = execute(ETPROF, *args, cwd=cwd, env={**os.environ, "ETPROF_RUNNER": str(BUNDLE)})
    assert done.returncode == status, (args, done.returncode, done.stdout[-2000:], done.stderr)
    return done


def ab(cwd, out, *more):
    return run(cwd, "ab", MODEL, "--levels", "avx2,sse", "--blocks", "2", "--iterations", "5", "--warmup", "1",
               "--seed", "1", "--out", out, "--format", "json", *more)


def nothing_known(folder):
    """Nothing is known: nothing is invented, and the report says how to get it."""
    bare = json.loads(ab(folder, "none").stdout)
    assert not (folder / "none" / "roofs.json").exists()
    assert all("roof" not in op for op in bare["operators"])
    said = run(folder, "analyze", "none", "--full").stdout
    assert "roofs: none; 'etprof roofs' measures them for the next session" in said, said
    run(folder, "whatif", "none", "* at-roof", status=2)


def measured(tmp):
    """The answer of a session in TMP/run that took the roofs from the cache without being asked, and the roofs."""
    for _ in range(6):
        said = run(tmp, "roofs", "--threads", "1,2", "--seconds", "1").stdout
        if "not kept" not in said:
            break
        assert not list(tmp.glob(".etprof/roofs/*")), "roofs of a busy machine were kept"
    else:
        skip("other programs disturbed every measurement of the roofs: " + said)
    answer = json.loads(ab(tmp, "run", "--threads", "1,2").stdout)
    roofs = (tmp / "run" / "roofs.json").read_bytes()
    manifest = json.loads((tmp / "run" / "manifest.json").read_text())
    listed = {f["path"]: f["sha256"] for f in manifest["files"]}
    assert listed["roofs.json"] == hashlib.sha256(roofs).hexdigest()
    return answer, roofs


def recomputed(answer, roofs):
    """Each operator's place below its roof, from the rates alone; how many convolutions there were."""
    rates = {(r["threads"], r["isa"]): r["best"] for r in json.loads(roofs)["roofs"] if r["what"] == "fma_f32"}
    arms = {a["name"]: a for a in answer["arms"]}
    convolutions = 0
    for op in answer["operators"]:
        for name, place in op["roof"].items():
            if place["verdict"] is None:
                assert place["missing"] and place["roof_ns"] is None, place
                continue
            assert place["verdict"] in WORDS, place
            assert abs(place["roof_ns"] - max(place["compute_ns"], place["memory_ns"])) <= 1, place
            ratio = place["roof_ns"] / op["ns"][name]
            assert abs(place["efficiency"] - ratio) <= 1e-5 * max(1, ratio) + 1 / op["ns"][name], (place, op["ns"])
            if op["category"] == "Convolution" and op["macs"]:
                allowed = {"avx2": ("sse", "avx2"), "sse": ("sse",)}[arms[name]["level"]]
                assert place["isa"] in allowed, (place, arms[name])
                rate = rates[arms[name]["threads"], place["isa"]]
                assert rate == max(rates[arms[name]["threads"], isa] for isa in allowed)
                products = 2 * op["macs"] / rate * 1e9
                assert products <= place["compute_ns"] + 1, (products, place)
                convolutions += 1
    assert convolutions >= 4, convolutions
    return convolutions


def shown(folder, answer):
    """The same figures in the report's table, whatever its format: Markdown's columns by their titles."""
    table = [[cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
             for line in (folder / "report.md").read_text().splitlines() if line.startswith("|")]
    head = next(row for row in table if "of roof" in row)
    rows = {row[0]: row for row in table[table.index(head) + 2:] if len(row) == len(head)}
    candidate = answer["comparisons"][0]["candidate"]
    seen = 0
    for op in answer["operators"]:
        place = op["roof"].get(candidate)
        if op["id"] in rows and place["verdict"]:
            row = dict(zip(head, rows[op["id"]]))
            unit, roof = next((k.split("(")[1], v) for k, v in row.items() if k.startswith("roof ("))
            step = {"ns)": 1, "µs)": 1e3, "ms)": 1e6}[unit]
            decimals = len(roof.partition(".")[2])  # as many as the column's figures need
            off = abs(float(roof.replace(",", "")) * step - place["roof_ns"])
            assert off <= 0.51 * 10 ** -decimals * step, (row, place)
            assert row["why"] == (op["why"] or "–"), (row, place)
            assert abs(float(row["of roof"].rstrip(" %")) - 100 * place["efficiency"]) <= 0.051, (row, place)
            seen += 1
    assert seen >= 2, (head, rows)
    heads = [c["title"] for b in pages.section((folder / "report.html").read_text(), "operators")
             for c in b.get("columns", [])]
    assert "of roof" in heads, ("no roofs on the page", heads)


def what_if(tmp, answer):
    """What if, by plain addition of what the document says."""
    arms = {a["name"]: a for a in answer["arms"]}
    what = json.loads(run(tmp, "whatif", "run", "conv* at-roof", "--format", "json").stdout)
    arm, speedup = what["arm"], what["speedup"]

    def above(name):
        return sum(max(0, op["ns"][name] - op["roof"][name]["roof_ns"]) for op in answer["operators"]
                   if op["category"] == "Convolution" and op["roof"].get(arm, {}).get("verdict"))
    touched = what["steps"][0]["operators"]
    assert abs(what["steps"][0]["gain_ns"] - above(arm)) <= touched + 1, (what, above(arm))
    assert speedup["blocks"] == 2 and speedup["lo"] <= speedup["estimate"] <= speedup["hi"]
    assert "roofs" in what["method"]
    other = [a for a in arms.values()
             if a["level"] == arms[arm]["level"] and a["threads"] != arms[arm]["threads"]][0]
    asked = execute(ETPROF, "whatif", "run", f"threads {other['threads']}", "--format", "json", cwd=tmp)
    if asked.returncode == 3 and "is withheld: " in asked.stderr:
        print("left out: other threads in whatif:", asked.stderr.strip())
        return
    assert asked.returncode == 0, asked
    threads = json.loads(asked.stdout)
    assert threads["now_ns"] == what["now_ns"] and threads["then_ns"] == other["traced_ns"], (threads, other)
    run(tmp, "whatif", "run", "threads 3", status=2)
    # Together, in any order: the other arm's times, its roofs, without one operator.
    name = other["name"]
    gone = next(op for op in answer["operators"] if op["category"] != "Convolution" and op["ns"].get(name))
    left = other["traced_ns"] - gone["ns"][name] - above(name)
    changes = [f"drop {gone['id']}", "conv* at-roof", f"threads {other['threads']}"]
    for order in (changes, changes[::-1]):
        both = json.loads(run(tmp, "whatif", "run", *order, "--format", "json").stdout)
        assert abs(both["then_ns"] - left) <= touched + 2 and both["now_ns"] == what["now_ns"], (both, left)
        assert sum(step["gain_ns"] for step in both["steps"]) == both["now_ns"] - both["then_ns"], both


def elsewhere_too(tmp, folder, roofs):
    """The folder says the same elsewhere, and notices when somebody else's roofs are put into it."""
    shutil.copytree(tmp / "run", folder / "run")
    run(folder, "verify", "run")
    (folder / "run" / "roofs.json").write_bytes(roofs.replace(b'"device": "local"', b'"device": "other"'))
    run(folder, "verify", "run", status=1)
    (folder / "run" / "roofs.json").write_text("{")
    run(folder, "analyze", "run", status=4)


def main():
    if os.uname().machine != "x86_64" or not (BUNDLE / "bundle.json").exists():
        skip("no native runner bundle (scripts/build-runner native)")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        tmp, elsewhere = pathlib.Path(one), pathlib.Path(two)
        nothing_known(elsewhere)
        answer, roofs = measured(tmp)
        convolutions = recomputed(answer, roofs)
        shown(tmp / "run", answer)
        what_if(tmp, answer)
        elsewhere_too(tmp, elsewhere, roofs)
        print(f"{convolutions} convolutions below their roofs; what-if, verify and a copy elsewhere agree")


main()
