# SPDX-License-Identifier: Apache-2.0
"""Cold, warm, traced: the intervals of a session's report computed again from its raw files with numpy and
scipy.

usage: session.py ETPROF FAKE_RUNNER [FOLDER...]      FOLDER: finished sessions to check beside the made one
Skips (77) where python3 has no scipy."""
import csv
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder
from rules import np, warmup
from scipy import stats as sp

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
checked = 0


def near(name, found, wanted):
    global checked
    checked += 1
    expect(found is not None and math.isfinite(wanted) and abs(found - wanted) <= 5.01e-6 * abs(wanted) + 1e-12,
           f"{name}: found {found}, wanted {wanted}")


def check_ratio(name, found, logs, guest=False):
    """GUEST: on a virtual machine the interval is wider by 1 + 1.5/blocks. Beyond a factor of two there is no
    estimate."""
    logs = np.array(logs)
    if found is None:
        expect(len(logs) == 0, f"{name}: not there, {len(logs)} blocks have it")
        return
    half = sp.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    half *= 1 + 1.5 / len(logs) if guest else 1
    if math.exp(2 * half) > 2:
        expect(found["estimate"] is None, f"{name}: an estimate beside ±{half}")
    else:
        near(f"{name}, estimate", found["estimate"], math.exp(logs.mean()))
    near(f"{name}, lo", found["lo"], math.exp(logs.mean() - half))
    near(f"{name}, hi", found["hi"], math.exp(logs.mean() + half))
    expect(found["blocks"] == len(logs), f"{name}: {found['blocks']} blocks, {len(logs)} in the raw files")


def check(folder):
    done = execute(ETPROF, "analyze", folder, "--format", "json")
    expect(done.returncode in (0, 1), f"{folder}: exit {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    launches = [json.loads(line) for line in (folder / "environment.jsonl").read_text().splitlines()]
    timed = {(line["experiment"], line["block"]): line for line in launches
             if line["type"] == "launch" and line["kind"] == "timed"}
    guest = json.loads((folder / "manifest.json").read_text())["device"]["facts"].get("virtual_machine") == "yes"
    rows = {}
    with open(folder / "samples.csv", newline="", encoding="ascii") as f:
        for r in csv.DictReader(f):
            rows.setdefault((r["experiment"], int(r["block"]), r["phase"]),
                            []).append((int(r["iteration"]), int(r["duration_ns"])))
    ln = {key: np.log([ns for _, ns in sorted(v)]) for key, v in rows.items() if key[2] != "warmup"}
    value = {(e, b): np.median(x[warmup(x):]) for (e, b, phase), x in ln.items() if phase == "timed"}
    blocks = sorted({b for _, b in timed})
    for c in report["comparisons"]:
        base, cand = c["baseline"], c["candidate"]
        for key, field in (("load", "load_ns"), ("first", "first_ns"), ("peak_rss", "peak_rss_bytes")):
            check_ratio(f"{folder.name}, {cand}, {key}", c[key],
                        [math.log(timed[base, b][field] / timed[cand, b][field]) for b in blocks], guest)
    for arm in report["arms"]:
        name = arm["name"]
        check_ratio(f"{folder.name}, {name}, cold", arm["cold"],
                    [math.log(timed[name, b]["first_ns"]) - value[name, b] for b in blocks])
        check_ratio(f"{folder.name}, {name}, observer", arm["observer"],
                    [np.median(ln[name, b, "traced"]) - value[name, b] for b in blocks if (name, b, "traced") in ln])
        mine = np.array([value[name, b] for b in blocks])
        half = sp.t.ppf(0.975, len(mine) - 1) * mine.std(ddof=1) / math.sqrt(len(mine))
        for key, wanted in (("lo", mine.mean() - half), ("hi", mine.mean() + half)):
            expect(abs(arm["interval_ns"][key] - math.exp(wanted)) <= 0.51, f"{name}, {key}: {arm['interval_ns']}")
        for key in ("load_ns", "first_ns", "peak_rss_bytes"):
            expect(abs(arm[key] - np.median([timed[name, b][key] for b in blocks])) <= 0.5,
                   f"{folder.name}, {name}, {key}: {arm[key]}")
    # What surrounded the blocks.
    environment = report["environment"]
    manifest = json.loads((folder / "manifest.json").read_text())
    expect(environment["unreadable"] == manifest["unreadable"], f"unreadable: {environment['unreadable']}")
    raw = [line for line in launches if line["type"] == "block"]
    expect([b["block"] for b in environment["blocks"]] == [b["block"] for b in raw], "blocks of the environment")
    threads = {a["name"]: a["threads"] for a in manifest["plan"]["arms"]}
    for found, block in zip(environment["blocks"], raw):
        start, end = block["start"], block["end"]
        mine = [line for line in launches if line["type"] == "launch" and line["block"] == block["block"]]
        near("load1", found["load1"], (start["load1"] + end["load1"]) / 2)
        near("cpus_busy", found["cpus_busy"],
             (end["cpu_busy_ms"] - start["cpu_busy_ms"]) / (end["time_ns"] - start["time_ns"]) * 1e6)
        expect(found["memory_free_bytes"] == min(start["memory_free_bytes"], end["memory_free_bytes"]),
               f"memory: {found}")
        for key, field in (("interrupted", "involuntary_switches"), ("minor_faults", "minor_faults"),
                           ("major_faults", "major_faults"), ("migrations", "migrations")):
            expect(found[key] == sum(line[field] for line in mine), f"{key}: {found[key]}")
        near("waited", found["waited"],
             sum(line["wait_ns"] for line in mine)
             / sum(line["wall_ns"] * threads[line["experiment"]] for line in mine))
    # Shares of the traced times, on the scale of the untraced headline.
    for op in report["operators"]:
        for arm in report["arms"]:
            ns, scaled = op["ns"].get(arm["name"]), (op.get("untraced_ns") or {}).get(arm["name"])
            if ns and scaled is not None:
                expect(abs(scaled - ns * arm["median_ns"] / arm["traced_ns"]) <= 0.51,
                       f"{folder.name}, {op['id']}: {ns} traced, {scaled} scaled")


tmp = new_folder()
(tmp / "model.pte").write_bytes(
    b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\nload sme2 7000000\nload neon 5000000\nwarm sme2 4 150\n"
    b"noise 40\ndrift 9000\n"
)
subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "8", "--iterations", "12",
                "--warmup", "3", "--seed", "7",
                "--quiet", "--out", "run", "--runner", FAKE], cwd=tmp, check=False,
               stdout=subprocess.DEVNULL)
check(tmp / "run")
for path in sys.argv[3:]:
    check(pathlib.Path(path))
expect(checked >= 25, f"only {checked} figures were there")
finish(f"{checked} figures as numpy and scipy have them")
