# SPDX-License-Identifier: Apache-2.0
"""etprof stats FOLDER says what the session's own report says: same blocks, same intervals, same things withheld.

usage: stats_folder.py ETPROF FAKE_RUNNER"""
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def etprof(root, *words):
    return execute(ETPROF, *words, cwd=root)


def session(root, script, *words):
    fake_sessions.model(root / "model.pte", *fake_sessions.BASE, "noise 30", *script)
    done = etprof(root, "ab", "model.pte", "--levels", "sme2,neon", "--iterations", "8", "--warmup", "3", "--seed",
                  "7", "--quiet", "--out", "run", "--runner", FAKE, *words)
    expect(done.returncode in (0, 1), "session", done.stderr)
    return run_folders.report(root / "run")["comparisons"][0]


def stats(root):
    done = ended(etprof(root, "stats", "run", "--format", "json"), 0)
    return json.loads(done.stdout)["comparisons"][0]


def same(name, root, report):
    found = stats(root)
    for key in ("estimate", "lo", "hi", "blocks", "widening"):
        expect(found["speedup"][key] == report["speedup"][key], name,
               f"{key}: {found['speedup'][key]}, the report says {report['speedup'][key]}")
    for key in ("verdict", "withheld", "sign_flip_p", "noise_floor", "margin"):
        expect(found[key] == report[key], name, f"{key}: {found[key]}, the report says {report[key]}")


def by_hand(run, widening):
    """t interval of the blocks' log ratios, whose launches have eight iterations and no warm-up among them."""
    launches = {}
    for row in run_folders.samples(run, "timed"):
        launches.setdefault((row["block"], "off" in row["experiment"]), []).append(int(row["duration_ns"]))
    value = {launch: statistics.median(map(math.log, times)) for launch, times in launches.items()}
    ratios = [value[block, True] - value[block, False] for block, off in value if off]
    half = widening * T_8 * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return {"lo": math.exp(statistics.mean(ratios) - half), "hi": math.exp(statistics.mean(ratios) + half)}


def on_a_machine(root, guest):
    """The same session, told by a machine that is a virtual one or is not."""
    device = run_folders.manifest(root / "run")["device"]
    device["facts"]["virtual_machine"] = "yes" if guest else "no"
    run_folders.alter(root / "run", device=device)
    return stats(root)["speedup"]


T_8 = 2.3646242510  # 97.5 %, 7 degrees of freedom
tmp = new_folder()
for name, script, words, check in (
        ("fixed blocks", [], ["--blocks", "8"], lambda c: c["speedup"]["blocks"] == 8),
        ("stopped by precision", [], ["--precision", "5%"], lambda c: c["speedup"]["widening"] > 1),
        ("outputs differ", ["on neon * * other_output"], ["--blocks", "6"],
         lambda c: c["withheld"] == "outputs_differ")):
    root = tmp / name.replace(" ", "_")
    root.mkdir()
    report = session(root, script, *words)
    expect(check(report), name, report)
    same(name, root, report)

root = tmp / "fixed_blocks"
for guest, widening in ((True, 1 + 1.5 / 8), (False, 1)):
    found = on_a_machine(root, guest)
    expect(math.isclose(found["widening"], widening), "virtual machine", f"{guest}: {found}")
    for end, expected in by_hand(root / "run", widening).items():
        expect(math.isclose(found[end], expected, rel_tol=2e-5), "virtual machine", f"{guest}: {found}, {expected}")

# A block that was written and never committed: analyze leaves it out, and so does stats. Its last row may be torn.
report = json.loads(etprof(root, "analyze", "run", "--format", "json").stdout)["comparisons"][0]
manifest = run_folders.manifest(root / "run")
manifest.update(state="running")
(root / "run" / "manifest.json").write_text(json.dumps(manifest))
arms = [a["name"] for a in manifest["plan"]["arms"]]
with open(root / "run" / "samples.csv", "a", encoding="ascii") as f:
    for i in range(8):
        for n, arm in enumerate(arms):
            f.write(f"{arm},9,{90 + n},{i},timed,1,5000000\n")
same("never committed", root, report)
with open(root / "run" / "samples.csv", "a", encoding="ascii") as f:
    f.write(f"{arms[0]},9,90,8,ti")
same("torn", root, report)
finish("as the sessions' own reports")
