# SPDX-License-Identifier: Apache-2.0
"""Cycles, clock and waiting: what a runner counts must come out in `ab`, `stats`, the reports and the folder, with the
factors worked out here from samples.csv and environment.jsonl; and where nothing is counted, why. The runner is
tests/fakes/fake_runner.c.

usage: counters.py ETPROF FAKE_RUNNER"""
import json
import math
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
T975 = {4: 3.18245, 7: 2.44691, 8: 2.36462}  # Student's t, 97.5 %, printed tables, by number of blocks
ON, OFF = "linux_sme2_on", "linux_sme2_off"


def etprof(tmp, *words, **env):
    return execute(ETPROF, *words, cwd=tmp, env={**os.environ, **env})


def session(tmp, directives, levels="sme2,neon", **env):
    fake_sessions.model(tmp / "model.pte", *directives)
    return etprof(tmp, "ab", "model.pte", "--levels", levels, "--blocks", "8", "--iterations", "9", "--warmup",
                  "2", "--seed", "7", "--no-trace", "--runner", FAKE, "--out", "run", "--full", **env)


def counted(tmp):
    return [line for line in run_folders.environment(tmp / "run") if "counted" in line]


def values(tmp):
    """{block: {experiment: {"ns", "cpu_ns", "cycles", …: ln of the launch's median over its timed iterations}}}"""
    timed, out = {}, {}
    for r in run_folders.samples(tmp / "run", "timed"):
        timed.setdefault(int(r["launch"]), []).append((int(r["iteration"]), int(r["duration_ns"])))
    for line in run_folders.environment(tmp / "run", type="launch", kind="timed"):
        if line["launch"] not in timed:
            continue
        at = out.setdefault(line["block"], {}).setdefault(line["experiment"], {})
        at["ns"] = statistics.median(math.log(ns) for _, ns in timed[line["launch"]])
        for key in ("cpu_ns", "cycles", "instructions", "cache_misses"):
            column = line.get("counted", {}).get(key)
            kept = [column[i] for i, _ in timed[line["launch"]] if column[i]] if column else []
            if 20 * len(kept) >= len(timed[line["launch"]]):
                at[key] = statistics.median(map(math.log, kept))
    return out


def interval(logs, manifest):
    """That of the speedup and its factors, which is wider on a virtual machine."""
    widening = 1 + 1.5 / len(logs) if manifest["device"]["facts"].get("virtual_machine") == "yes" else 1
    mean, half = statistics.mean(logs), widening * T975[len(logs)] * statistics.stdev(logs) / len(logs) ** 0.5
    return [math.exp(v) for v in (mean, mean - half, mean + half)]


def near(found, wanted):
    return found is not None and all(abs(found[k] / w - 1) < 2e-5 for k, w in zip(("estimate", "lo", "hi"), wanted))


def factors(by_block):
    """Logs of each factor over the blocks that have it; above 0 the candidate is faster."""
    out = {k: [] for k in ("speedup", "cycles", "clock", "busy", "instructions", "per_cycle")}
    for b in by_block.values():
        x, y = b.get(OFF, {}), b.get(ON, {})
        if not all(k in s for s in (x, y) for k in ("ns", "cpu_ns", "cycles")):
            continue
        out["speedup"].append(x["ns"] - y["ns"])
        out["cycles"].append(x["cycles"] - y["cycles"])
        out["clock"].append(y["cycles"] - y["cpu_ns"] - x["cycles"] + x["cpu_ns"])
        out["busy"].append(y["cpu_ns"] - y["ns"] - x["cpu_ns"] + x["ns"])
        if "instructions" in x and "instructions" in y:
            out["instructions"].append(x["instructions"] - y["instructions"])
            out["per_cycle"].append(y["instructions"] - y["cycles"] - x["instructions"] + x["cycles"])
    return out


BASE = ["base sme2 1000000", "base neon 3000000", "noise 10"]
# 8.97 M cycles in 2.99 ms of 3: 3 GHz; 2.6 M in 0.99 ms of 1: 2.6263 GHz.
COUNTS = ["counts sme2 2600000 990000 5000000 2000", "counts neon 8970000 2990000 9000000 1000"]


def planted(tmp):
    name = "planted"
    done = ended(session(tmp, BASE + COUNTS, FAKE_COUNTERS="yes"), 0)
    report = run_folders.report(tmp / "run")
    c = report["comparisons"][0]["counters"]
    logs, device = factors(values(tmp)), run_folders.manifest(tmp / "run")
    expect(c["blocks"] == 8, name, c)
    for key, found in logs.items():
        wanted = interval(found, device)
        expect(near(c[key], wanted), name, (key, c[key], wanted))
    expect(abs(c["cycles"]["estimate"] * c["clock"]["estimate"] * c["busy"]["estimate"] /
               report["comparisons"][0]["speedup"]["estimate"] - 1) < 1e-5, name,
           "the factors do not give the headline")
    # By hand: 2.6/0.99 GHz against 3; 0.99 against 2.99/3 CPUs; 9 M instructions against 5.
    expect(abs(c["clock"]["estimate"] - 2.6 / 0.99 / 3) < 1e-5 and c["clock"]["verdict"] == "slower", name,
           c["clock"])
    expect(abs(c["busy"]["estimate"] - 0.99 / (2.99 / 3)) < 1e-5, name, c["busy"])
    expect(c["instructions"]["estimate"] == 1.8, name, c["instructions"])
    arms = {a["name"]: a["counters"] for a in report["arms"]}
    expect(abs(arms[OFF]["clock_ghz"] - 3) < 1e-5 and abs(arms[ON]["clock_ghz"] - 2.62626) < 1e-5, name, arms)
    expect(arms[ON]["cache_misses"] == 2000 and arms[ON]["cache"] == "fake-misses", name, arms)
    expect(abs(arms[ON]["busy"] - 0.99) < 1e-5 and arms[ON]["events"] == "hardware", name, arms)
    kinds = {f["kind"]: f["text"] for f in report["findings"]}
    expect("the clock takes 12.5 %" in kinds["clock_effect"] and "waits" not in kinds, name, kinds)
    expect("clock is cycles ÷ CPU time" in done.stdout.replace("\n", " ") and "= cycles" in done.stdout, name,
           "not in the text")
    for file in ("report.html", "report.md"):
        expect("Cycles and clock" in (tmp / "run" / file).read_text(), name, file)
    expect("cycle counters" not in device["unreadable"], name, device["unreadable"])
    # 3.000× [2.99, 3.01] reaches over a margin of 200 %: that is why it is unknown, not noise.
    for verb in (["analyze", "run", "--full"], ["stats", "run"]):
        told = etprof(tmp, *verb, "--margin", "200%", COLUMNS="200").stdout
        expect(re.search(r"^speedup .* 8 +unknown: at margin$", told, re.M), name, (verb, told[-2500:]))
    stats = json.loads(etprof(tmp, "stats", "run", "--format", "json").stdout)
    expect(stats["counters"] == c and stats["comparisons"][0]["counters"] == c, name, stats["counters"])
    expect([a["counters"] for a in stats["arms"]] == [a["counters"] for a in report["arms"]], name, stats["arms"])
    expect("= cycles" in etprof(tmp, "stats", "run").stdout, name, "stats has no section")
    (tmp / "stats.json").write_text(json.dumps(stats))
    for words in (("verify", "run"), ("validate", "run"), ("validate", "stats.json")):
        ended(etprof(tmp, *words), 0)


def some_missing(tmp):
    """A launch whose timed iterations were not counted costs its block; others stay. One in twenty would do."""
    name = "some missing"
    # starts of sme2: the pilot, then one a block; of these the 3rd counts its first iteration, a warm-up, alone
    session(tmp, BASE + COUNTS + ["on sme2 timed 3 uncounted"])
    report = run_folders.report(tmp / "run")
    by_block = values(tmp)
    logs = factors(by_block)
    c = report["comparisons"][0]["counters"]
    expect(len(logs["cycles"]) == 7 and c["blocks"] == 7, name, (len(logs["cycles"]), c))
    device = run_folders.manifest(tmp / "run")
    expect(all(near(c[key], interval(logs[key], device)) for key in ("cycles", "speedup")), name, c)
    expect(report["comparisons"][0]["speedup"]["blocks"] == 8, name, "the headline lost a block")
    expect(any(None in line["counted"]["cycles"] for line in counted(tmp)), name, "nothing was missing")


def shared(tmp):
    name = "shared with others"
    done = session(tmp, BASE + COUNTS + ["on sme2 timed * shared"])
    expect("was extrapolated" in done.stdout.replace("\n", " "), name, done.stdout[-600:])
    expect(sum(line["counted"]["scaled"] for line in counted(tmp)) > 0, name, "not written down")


def one_arm(tmp):
    """Counted in one arm alone (another runner, a lost privilege): nothing is compared."""
    name = "one arm"
    done = session(tmp, BASE + COUNTS[:1])
    report = run_folders.report(tmp / "run")
    expect(done.returncode == 0 and report["comparisons"][0]["counters"] is None, name, report["comparisons"])
    arms = {a["name"]: a["counters"] for a in report["arms"]}
    expect(arms[OFF] is None and arms[ON]["blocks"] == 8, name, arms)
    expect("no breakdown: no comparison" in done.stdout.replace("\n", " "), name, done.stdout[-900:])


def refused(tmp):
    name = "refused"
    done = session(tmp, BASE, FAKE_COUNTERS="denied")
    said = done.stdout.replace("\n", " ")
    expect("not counted: the fake was told to refuse; what would allow it: tell it otherwise" in said, name,
           done.stdout[-900:])
    manifest, report = run_folders.manifest(tmp / "run"), run_folders.report(tmp / "run")
    expect("cycle counters" in manifest["unreadable"], name, manifest["unreadable"])
    expect(manifest["device"]["facts"]["counters"] == "none: the fake was told to refuse", name, manifest["device"])
    expect(report["comparisons"][0]["counters"] is None and all(a["counters"] is None for a in report["arms"]),
           name, "counters out of nothing")
    expect(all("cycles" not in line["counted"] for line in counted(tmp)), name, "counts in the folder")
    checks = {c["id"]: c for c in json.loads(
        etprof(tmp, "doctor", "--runner", FAKE, "--format", "json", FAKE_COUNTERS="denied").stdout)["checks"]}
    expect(checks["counters"]["ok"] is None and checks["counters"]["fix"] == "tell it otherwise", name,
           checks["counters"])
    expect("told to refuse" in checks["counters"]["found"], name, checks["counters"])


def silent(tmp):
    """It says that it can, and then does not."""
    name = "counts nothing"
    done = session(tmp, BASE, FAKE_COUNTERS="yes")
    expect("the runner can count, but no launch was counted" in done.stdout.replace("\n", " "), name,
           done.stdout[-900:])
    expect(run_folders.report(tmp / "run")["comparisons"][0]["counters"] is None, name, "counters out of nothing")


def older_runner(tmp):
    """One that has never heard of counters: as before, and that is said."""
    name = "older runner"
    done = session(tmp, BASE)
    manifest = run_folders.manifest(tmp / "run")
    expect(done.returncode == 0 and "cycle counters" in manifest["unreadable"], name, manifest["unreadable"])
    expect("counters" not in manifest["device"]["facts"] and "Cycles and clock" not in done.stdout, name,
           done.stdout[-600:])


def too_much(tmp):
    name = "counts beyond belief"
    done = session(tmp, BASE + ["counts * 9300000000000000000 1 1 1"])
    expect(done.returncode != 0 and "counted more than can be" in done.stderr, name, (done.returncode, done.stderr))


def contended():
    """An arm that other programs keep from the CPU has no ratio, in any form; below the limit it has one."""
    name = "contended"
    for neon, sme2, withheld in ((0, 0, None), (40, 0, "contended"), (30, 30, "contended"), (0, 3, "contended")):
        tmp = new_folder()
        done = session(tmp, BASE + ["waits neon %d" % neon, "waits sme2 %d" % sme2])
        c = run_folders.report(tmp / "run")["comparisons"][0]
        at = (name, neon, sme2)
        expect(c["withheld"] == withheld and (c["speedup"]["estimate"] is None) == bool(withheld), at, c)
        arms = {a["name"]: a for a in run_folders.report(tmp / "run")["arms"]}
        expect(abs(arms[OFF]["waited_share"] - neon / 100) < 1e-3, at, arms[OFF])
        expect((c["verdict"] == "unknown") == bool(withheld), at, c["verdict"])
        gate = etprof(tmp, "gate", "run", "speedup >= 1.1", "latency %s <= 1 s" % OFF)
        expect(gate.returncode == (3 if withheld else 0), at, (gate.returncode, gate.stdout, gate.stderr))
        # Waiting only lengthens: a limit that is kept with it is kept without.
        for limit, code in (("1 s", 0), ("1 us", 3 if neon >= 6 else 1)):
            ended(etprof(tmp, "gate", "run", "latency %s <= %s" % (OFF, limit)), code, of=at)
        quiet = etprof(tmp, "gate", "run", "noise <= 90 %")  # of the baseline alone
        expect(quiet.returncode == (3 if withheld else 0), (at, "noise"), (quiet.returncode, quiet.stdout))
        lines_ = [line for line in done.stderr.splitlines() if re.match(r"block +\d+/8 ", line)]
        expect(lines_ and all(("no ratio yet: an arm waits for a CPU" if withheld else "sme2 ") in line and
                              ("×" in line) != bool(withheld) for line in lines_), at, lines_)
        if withheld:
            expect("other programs had the CPU" in done.stdout and "faster" not in done.stdout, at,
                   done.stdout[:900])
            expect("etprof rerun run" in gate.stderr + gate.stdout, at, gate.stdout)
        same = etprof(tmp, "gate", "run", "--against", "run", "--margin", "50%")
        expect(same.returncode == (3 if max(neon, sme2) >= 30 else 0), (at, "against"),
               (same.returncode, same.stdout))


def contended_between():
    """The inferences that were asked had the CPU, the launch around them had not: the ratio stands, but other programs
    are not ruled out."""
    name = "contended between"
    for share, state in ((0.75, "suspect"), (0.01, None)):
        tmp = new_folder()
        session(tmp, BASE)
        run_folders.contend(tmp / "run", OFF, share)
        answer = json.loads(etprof(tmp, "analyze", "run", "--format", "json").stdout)
        expect(answer["comparisons"][0]["withheld"] is None, (name, share), answer["comparisons"][0])
        cause = [c for c in answer["ruled_out"] + answer["not_ruled_out"] if c["id"] == "contention"][0]
        expect(cause.get("state") == state and ("up to 75 % of their time" in cause["text"]) == (share == 0.75),
               (name, share), cause)


def contended_alone():
    """One arm that waited is told so in every form; one that hardly did is not."""
    name = "contended alone"
    for share in (40, 1):
        tmp = new_folder()
        done = session(tmp, [*BASE, "waits neon %d" % share], levels="neon")
        report, said = run_folders.report(tmp / "run"), "other programs had the CPU for 40 % of the time"
        found = [f["text"] for f in report["findings"] if said in f["text"]]
        expect(len(found) == (share == 40), (name, share), report["findings"])
        for form in ("text", "md", "html"):
            text = " ".join(etprof(tmp, "analyze", "run", "--format", form, "--full").stdout.split())
            expect((said in text) == (share == 40), (name, share, form), done.stdout[:600])


in_folders(planted, some_missing, shared, one_arm, refused, silent, older_runner, too_much)
contended()
contended_between()
contended_alone()
finish("all as planted")
