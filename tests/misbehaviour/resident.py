# SPDX-License-Identifier: Apache-2.0
"""etprof ab --resident, cold against warm, the tracer's effect: planted effects must come out, with the intervals
worked out here from samples.csv and environment.jsonl. The runner is tests/fakes/fake_runner.c.

usage: resident.py ETPROF FAKE_RUNNER"""
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
T975 = {6: 2.57058, 8: 2.36462}  # Student's t, 97.5 %, printed tables, by number of blocks


def ab(directory, *words, verb="ab"):
    return subprocess.run([ETPROF, verb, *words, "--runner", FAKE], cwd=directory, capture_output=True, text=True,
                          timeout=600, check=False)


def session(tmp, directives, *extra, blocks=8):
    (pathlib.Path(tmp) / "model.pte").write_bytes(
        b"\x10\0\0\0ET12" + "\n".join(("base sme2 1000000", "base neon 3000000", *directives)).encode() + b"\n")
    return ab(tmp, "model.pte", "--levels", "sme2,neon", "--blocks", str(blocks), "--iterations", "8", "--warmup", "2",
              "--seed", "7", "--resident", "--out", "run", "--full", *extra)


def report(tmp):
    return json.loads((pathlib.Path(tmp) / "run" / "report.json").read_text())


def rows(tmp, phase):
    """{block: {experiment: [duration, …]}}"""
    out = {}
    with open(pathlib.Path(tmp) / "run" / "samples.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["phase"] == phase:
                out.setdefault(int(r["block"]), {}).setdefault(r["experiment"], []).append(int(r["duration_ns"]))
    return out


def launches(tmp, kind):
    lines = [json.loads(line) for line in (pathlib.Path(tmp) / "run" / "environment.jsonl").read_text().splitlines()]
    return [line for line in lines if line["type"] == "launch" and line["kind"] == kind]


def interval(logs, widening=1):
    mean, half = statistics.mean(logs), widening * T975[len(logs)] * statistics.stdev(logs) / len(logs) ** 0.5
    return [math.exp(v) for v in (mean, mean - half, mean + half)]


def near(found, wanted):
    return all(abs(found[k] / w - 1) < 1e-5 for k, w in zip(("estimate", "lo", "hi"), wanted))


ON, OFF = "linux_sme2_on", "linux_sme2_off"


def case(name, directives, agrees, finding):
    with tempfile.TemporaryDirectory() as tmp:
        done = session(tmp, directives)
        expect(done.returncode == 0, name, (done.returncode, done.stderr[-400:]))
        turns, timed = rows(tmp, "resident"), rows(tmp, "timed")
        expect(sorted(turns) == list(range(1, 9)) and all(len(v) == 8 for b in turns.values() for v in b.values()),
               name, turns)
        c = report(tmp)["comparisons"][0]
        r = c["resident"]
        logs = [statistics.median(math.log(x / y) for x, y in zip(b[OFF], b[ON])) for b in turns.values()]
        alone = [statistics.median(map(math.log, b[OFF])) - statistics.median(map(math.log, b[ON]))
                 for b in timed.values()]
        expect(r["blocks"] == 8 and r["rounds"] == 64 and near(r, interval(logs)), name, (r, interval(logs)))
        change = interval([x - y for x, y in zip(logs, alone)])
        expect(near(r["to_launches"], change), name, (r, change))
        expect(r["agrees"] is agrees, name, r)
        found = [f for f in report(tmp)["findings"] if f["kind"] == "resident_differs"]
        expect(len(found) == finding, name, found)
        expect(("differs" if agrees is False else "agrees" if agrees else "unknown") in
               [line for line in done.stdout.splitlines() if line.startswith("taking turns")][0], name, done.stdout)


def order_of_turns():
    """One inference each, the order of the block and its reverse by turns, after each has warmed up alone."""
    name = "order of turns"
    with tempfile.TemporaryDirectory() as tmp:
        session(tmp, ["turns"])
        plan = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())["plan"]
        seen = (pathlib.Path(tmp) / "model.pte.turns").read_text().split()
        # 3 rounds settle (forward, back, forward), then 8 that count begin forward again.
        wanted = [w for order in plan["order"] for w in rounds([plan["arms"][a]["level"] for a in order])]
        expect(seen == wanted, name, (seen[:40], wanted[:40]))


def rounds(levels):
    out = []
    for n in (3, 8):
        for r in range(n):
            out += levels if r % 2 == 0 else levels[::-1]
    return out


def lost():
    """Starts of neon in block 1: timed, control, then the one that takes turns. The fake calls them all timed."""
    name = "a resident runner crashes"
    with tempfile.TemporaryDirectory() as tmp:
        done = session(tmp, ["on neon timed 3 crash"])
        m = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())
        expect(done.returncode == 6, name, done.returncode)
        lost = [(loss["kind"], loss["block"], loss["reason"]) for loss in m["lost"]]
        expect(lost == [("resident", 1, "crash")], name, m["lost"])
        turns = rows(tmp, "resident")
        expect(1 not in turns and sorted(turns) == list(range(2, 9)), name, "half a pair was kept")
        expect(sorted(rows(tmp, "timed")) == list(range(1, 9)), name, "the block's launches were lost, too")
        expect(len(launches(tmp, "resident")) == 14, name, len(launches(tmp, "resident")))


def given_up():
    name = "never side by side"
    with tempfile.TemporaryDirectory() as tmp:
        done = session(tmp, ["on * * * no_turns"])
        m = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())
        expect(done.returncode == 6 and len(m["lost"]) == 2, name, (done.returncode, m["lost"]))
        expect("resident_given_up" in [n["id"] for n in m["notes"]], name, m["notes"])
        c = report(tmp)["comparisons"][0]
        expect(c["resident"] is None and abs(c["speedup"]["estimate"] - 3) < 1e-5, name, c)


def resumed():
    name = "resumed with resident pairs"
    with tempfile.TemporaryDirectory() as tmp:
        session(tmp, ["on neon timed 10 hang"], "--timeout", "2")
        path = pathlib.Path(tmp) / "run" / "manifest.json"
        m = json.loads(path.read_text())
        expect(m["plan"]["asked"]["resident"] is True, name, m["plan"]["asked"])
        refused = ab(tmp, "--resume", "run", "--resident")
        expect(refused.returncode == 2 and "leave out --resident" in refused.stderr, name, refused.stderr)


def refused():
    for name, words, wanted in (
            ("one arm", ("model.pte", "--levels", "sme2", "--resident"), "there is one arm only"),
            ("no comparison of emulated times", ("model.pte", "--device", "qemu", "--resident"), "")):
        with tempfile.TemporaryDirectory() as tmp:
            (pathlib.Path(tmp) / "model.pte").write_bytes(b"\x10\0\0\0ET12" + b"\n" * 60)
            done = ab(tmp, *words)
            expect(done.returncode in (2, 5) and wanted in done.stderr, name, (done.returncode, done.stderr))


def pairs(name, tmp):
    """Each speedup of a sweep says what `ab` says of two arms, from its own two cells; the report has a part on
    each."""
    turns = rows(tmp, "resident")
    sweep = json.loads((pathlib.Path(tmp) / "run" / "sweep.json").read_text())
    cells = {(c["level"], c["threads"]): c["experiment"] for c in sweep["cells"]}
    by = {}
    for line in launches(tmp, "timed"):
        by.setdefault(line["block"], {})[line["experiment"]] = line
    expect([x["threads"] for x in sweep["speedups"]] == [1, 2], name, sweep["speedups"])
    page = (pathlib.Path(tmp) / "run" / "report.md").read_text()
    for x, ratio in zip(sweep["speedups"], (3, 2.5)):
        off, on = cells["neon", x["threads"]], cells["sme2", x["threads"]]
        logs = [statistics.median(math.log(a / b) for a, b in zip(t[off], t[on])) for t in turns.values()]
        expect(near(x["resident"], interval(logs)) and abs(x["resident"]["estimate"] / ratio - 1) < 0.01, name,
               x["resident"])
        wanted = interval([math.log(b[off]["load_ns"] / b[on]["load_ns"]) for b in by.values()])
        expect(near(x["load"], wanted), name, (x["load"], wanted))
        expect({c["id"] for c in x["ruled_out"] + x["not_ruled_out"]} >= {"thermal", "drift", "threads"}, name,
               x["ruled_out"])
        title = f"{x['threads']} thread{'s' if x['threads'] > 1 else ''}: SME2 against NEON"
        part = page.split(f"## {title}\n")
        expect(len(part) == 2 and f"{x['threads']} in every arm" in part[1].split("\n## ")[0], name, title)


def other_verbs():
    """A sweep's cells take turns all at once; a config asks with a key, and the option of `run` with a word."""
    with tempfile.TemporaryDirectory() as tmp:
        name = "a sweep with turns"
        model = pathlib.Path(tmp) / "model.pte"
        model.write_bytes(b"\x10\0\0\0ET12"
                          + b"base sme2 1000000\nbase neon 3000000\nbase sme2 800000 2\nbase neon 2000000 2\n"
                          b"load sme2 9000000\nnoise 4\n" + b"\n" * 20)
        done = ab(tmp, "model.pte", "--levels", "sme2,neon", "--threads", "1,2", "--blocks", "6", "--iterations", "4",
                  "--warmup",
                  "1", "--resident", "--seed", "1", "--out", "run", verb="sweep")
        expect(done.returncode == 0, name, (done.returncode, done.stderr[-400:]))
        turns = rows(tmp, "resident")
        expect(sorted(turns) == list(range(1, 7)) and all(len(b) == 4 and all(len(v) == 4 for v in b.values())
                                                          for b in turns.values()), name, turns)
        pairs(name, tmp)
        again = ab(tmp, "--resume", "run", "--resident", verb="sweep")
        expect(again.returncode == 2 and "leave out --resident" in again.stderr, name, again.stderr)
        for name, key, words, wanted in (("the key", {"resident": True}, (), True),
                                         ("the word", {}, ("--resident",), True),
                                         ("said no", {"resident": False}, (), False), ("not said", {}, (), False)):
            out = pathlib.Path(tmp) / name.replace(" ", "_")
            config = {"model": str(model), "output_root": str(out), "blocks": 1, **key,
                      "experiments": [{"name": f"x_{level}", "level": level, "runs": 4, "warmup": 1}
                                      for level in ("sme2", "neon")]}
            (pathlib.Path(tmp) / "config.json").write_text(json.dumps(config))
            done = ab(tmp, "config.json", *words, verb="run")
            expect(done.returncode == 0, name, (done.returncode, done.stderr[-400:]))
            kept = (out / "samples.csv").read_text().count(",resident,")
            expect(kept == (8 if wanted else 0), name, kept)


def states():
    """Load, first inference, memory, tracer: what the fake says, launch by launch."""
    name = "cold, warm, traced"
    with tempfile.TemporaryDirectory() as tmp:
        session(tmp, ["warm sme2 1 400", "warm neon 1 200", "load sme2 9000000", "on sme2 traced * slower", "noise 20"])
        r = report(tmp)
        c = r["comparisons"][0]
        by = {}
        for line in launches(tmp, "timed"):
            by.setdefault(line["block"], {})[line["experiment"]] = line
        for key, field in (("load", "load_ns"), ("first", "first_ns"), ("peak_rss", "peak_rss_bytes")):
            wanted = interval([math.log(b[OFF][field] / b[ON][field]) for b in by.values()], c["speedup"]["widening"])
            expect(near(c[key], wanted), name, (key, c[key], wanted))
        expect(abs(c["load"]["estimate"] - 7 / 9) < 1e-5 and c["load"]["verdict"] == "slower", name, c["load"])
        expect(c["peak_rss"]["verdict"] == "same", name, c["peak_rss"])
        timed, traced = rows(tmp, "timed"), rows(tmp, "traced")
        for arm in r["arms"]:
            value = {b: statistics.median(map(math.log, v[arm["name"]])) for b, v in timed.items()}
            seen = interval([statistics.median(map(math.log, v[arm["name"]])) - value[b] for b, v in traced.items()])
            expect(near(arm["observer"], seen), name, (arm["observer"], seen))
            cold = interval([math.log(by[b][arm["name"]]["first_ns"]) - value[b] for b in value])
            expect(near(arm["cold"], cold), name, (arm["cold"], cold))
        slow = [a for a in r["arms"] if a["name"] == ON][0]
        expect(1.35 < slow["observer"]["estimate"] < 1.45 and 3.9 < slow["cold"]["estimate"] < 4.1, name, slow)
        headline = interval([statistics.median(map(math.log, b[OFF])) - statistics.median(map(math.log, b[ON]))
                             for b in timed.values()], c["speedup"]["widening"])
        expect(near(c["speedup"], headline), name, "the headline is not of the untraced launches")
    with tempfile.TemporaryDirectory() as tmp:  # two blocks that differ much: nothing is known within a factor of two
        session(tmp, ["warm sme2 1 400", "on sme2 timed 1 slower"], blocks=2)
        r = report(tmp)
        for found in (r["comparisons"][0]["first"], *(a["cold"] for a in r["arms"])):
            wide = found["hi"] > 2 * found["lo"]
            expect(wide == (found["estimate"] is None), name, found)
            expect(not wide or found.get("verdict", "unknown") == "unknown", name, found)
        expect(r["comparisons"][0]["first"]["estimate"] is None, name, r["comparisons"][0]["first"])


case("turns agree", ["noise 4"], True, 0)
case("turns differ", ["noise 4", "on sme2 timed * turns_slower"], False, 1)
case("turns cannot tell", ["noise 200"], None, 0)
order_of_turns()
lost()
given_up()
resumed()
refused()
other_verbs()
states()
finish("all as planted")
