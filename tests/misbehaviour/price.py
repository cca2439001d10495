# SPDX-License-Identifier: Apache-2.0
"""etprof ab --price: what a fake runner is told to say of loading and memory comes out in the table, in report.json and
on the first screen, with intervals worked out here from environment.jsonl; the size on disk is that of stat.

usage: price.py ETPROF FAKE_RUNNER"""
import csv
import math
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
T975 = {8: 2.36462}  # Student's t, 97.5 %, printed table, by number of blocks
ON, OFF = "linux_sme2_on", "linux_sme2_off"


def etprof(tmp, *words):
    return execute(ETPROF, *words, cwd=tmp)


def session(tmp, directives, *extra, blocks=8):
    fake_sessions.model(tmp / "model.pte", *fake_sessions.BASE, *directives)
    words = fake_sessions.words(blocks=blocks, warmup=2)
    return etprof(tmp, "ab", "model.pte", *(w for w in words if w != "--quiet"), "--runner", FAKE, *extra)


def priced(tmp, form="csv"):
    return etprof(tmp, "analyze", "run", "--price", "--format", form).stdout


def rows(text):
    """{what: [cells]} of a CSV table, as this script reads it."""
    return {line.split(",")[0]: line.split(",")[1:] for line in text.splitlines()[1:]}


def csv_rows(tmp, table):
    """A table of --price as Python's own reader takes it from the file that -o writes."""
    ended(etprof(tmp, "analyze", "run", "--price", "--table", table, "-o", "table.csv"), 0)
    with (tmp / "table.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def launches(tmp):
    return run_folders.environment(tmp / "run", type="launch")


def planted(tmp):
    name = "planted"
    done = session(tmp, ["memory sme2 50000000 42000000 8000000", "memory neon 20000000 12000000 8000000",
                         "load sme2 14000000"], "--price")
    expect(done.returncode == 0, name, (done.returncode, done.stderr[-400:]))
    for what in ("steady inference", "first inference", "loading", "peak memory", "dirty memory", "clean memory",
                 "size on disk"):
        expect(what in done.stdout, name, (what, done.stdout))
    timed = [line for line in launches(tmp) if line["kind"] == "timed"]
    expect(len(timed) >= 16 and all(line["clean_bytes"] == 8000000 for line in timed), name, timed[:1])
    others = [line for line in launches(tmp) if line["kind"] != "timed"]
    expect(others and not any("dirty_bytes" in line for line in others), name, "asked outside timed launches")
    report = run_folders.report(tmp / "run")
    arms = {arm["name"]: arm for arm in report["arms"]}
    comparison = report["comparisons"][0]
    expect(arms[ON]["dirty_bytes"] == 42000000 and arms[OFF]["dirty_bytes"] == 12000000, name, arms)
    size = (tmp / "model.pte").stat().st_size
    expect(all(arm["disk_bytes"] == size for arm in report["arms"]), name, (size, arms[ON]["disk_bytes"]))
    for arm, dirty in ((ON, 42000000), (OFF, 12000000)):
        rows_of = arms[arm]["memory"]
        expect(sum(rows_of.values()) == dirty + 8000000 and rows_of["packed"] == dirty // 2, name, rows_of)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in ("XNNPACK at load 6.00 MB 21.00 MB +15.00 MB", "code 8.00 MB 8.00 MB +0.00 MB",
                 "resident 20.00 MB 50.00 MB +30.00 MB"):
        expect(line in lines, name, (line, done.stdout))
    held = {row["holder"]: (int(row[OFF]), int(row[ON])) for row in csv_rows(tmp, "memory")}
    expect(held.pop("resident") == (20000000, 50000000) == tuple(map(sum, zip(*held.values()))), name, held)
    by = {}
    for line in timed:
        by.setdefault(line["block"], {})[line["experiment"]] = line
    for key in ("dirty", "clean"):
        logs = [math.log(b[OFF][key + "_bytes"] / b[ON][key + "_bytes"]) for b in by.values()]
        half = comparison["speedup"]["widening"] * T975[len(logs)] * statistics.stdev(logs) / len(logs) ** 0.5
        wanted = [math.exp(statistics.mean(logs) + x) for x in (0, -half, half)]
        found = [comparison[key][k] for k in ("estimate", "lo", "hi")]
        expect(all(abs(a / b - 1) < 1e-5 for a, b in zip(found, wanted)), name, (key, found, wanted))
    found = [comparison[key]["verdict"] for key in ("dirty", "clean")]
    expect(found == ["slower", "same"], name, found)
    table = rows(priced(tmp))
    dirty = table["dirty memory"]
    expect(dirty[:3] == ["bytes", "12000000", "42000000"] and dirty[-1] == "more", name, table)
    expect(table["clean memory"][-1] == "same" and table["size on disk"][-1] == "same", name, table)
    for rule, code in (("peak_memory linux_sme2_on <= 40MB", 1), ("peak_memory linux_sme2_off <= 20 MB", 0),
                       ("dirty_memory linux_sme2_on <= 43000 kB", 0), ("clean_memory <= 7.5 MiB", 1),
                       ("load linux_sme2_on <= 13ms", 1), ("load <= 50ms", 0), (f"disk <= {size} B", 0)):
        ended(etprof(tmp, "gate", "run", rule), code)
    screen = re.sub(r"\s+", " ", etprof(tmp, "analyze", "run").stdout)
    expect("loading: SME2 costs 2× as much" in screen and "7.000 ms → 14.00 ms" in screen, name, screen)
    expect("peak memory: SME2 costs 2.5× as much" in screen and screen.count("--price") == 2, name, screen)


def stages():
    """Readings of a launch of their own: a table for each arm, whose columns add up, that of the peak to the peak."""
    name = "stages"
    tmp = new_folder()
    done = session(tmp, ["memory * 50000000 12000000 8000000", "stages sme2 3000000 9000000 50000",
                         "stages neon 3000000 4000000 50000", "part * packing 1 1 3000000 7000 0",
                         "part * first 0 0 0 7000 0"], "--price", blocks=2)
    expect(done.returncode == 0, name, (done.returncode, done.stderr[-400:]))
    told = [line for line in launches(tmp) if line["kind"] == "memory"]
    expect([line["block"] for line in told] == [1, 1] and not any("memory_load" in line for line in launches(tmp)
                                                                 if line["kind"] != "memory"), name, told)
    for number, weights in (("", 9000000), ("-2", 4000000)):
        held = {row["holder"]: [int(row[k]) for k in ("load", "first", "steady", "peak")]
                for row in csv_rows(tmp, "stages" + number)}
        whole = held.pop("resident")
        expect(whole == [1000 + weights, 2064 + weights, 20000000, 1000 + 3000000 + weights + 50000], name, whole)
        expect(whole == [sum(column) for column in zip(*held.values())], name, held)
        expect(held["packed weights"] == [3000000] * 4 and held["between readings"] == [0, 0, 0, 50000], name, held)
        expect(held["XNNPACK at load, else"][0] == weights - 3000000, name, held)
    report = run_folders.report(tmp / "run")
    arms = {arm["name"]: arm for arm in report["arms"]}
    expect(arms[ON]["memory_load"]["packed"] == 9000000 and arms[OFF]["memory_first"]["kept"] == 64, name, arms)
    expect(arms[ON]["memory_peak"]["peak_bytes"] == 12051000, name, arms[ON]["memory_peak"])
    for form in ("text", "md", "html"):
        text = priced(tmp, form)
        for words in ("stage by stage: most while it was loaded", "mutable buffers (KV cache)", "12.05 MB"):
            expect(words in text, name, (form, words, text[-1500:]))
    old = [{**line, "memory": {k: v for k, v in line["memory"].items() if k not in ("kept", "copies")}}
           if "memory" in line else line for line in run_folders.environment(tmp / "run")]  # as it was written before
    run_folders.write_lines(tmp / "run", [line for line in old if line.get("kind") != "memory"])
    text = priced(tmp, "text")
    expect("XNNPACK at load" in text and "mutable buffers" not in text and "stage by stage" not in text, name,
           "what an older folder does not tell", text)
    tmp = new_folder()  # a runner without such a kind is not asked for it
    done = session(tmp, ["memory * 50000000 12000000 8000000"], "--price", blocks=2)
    expect(done.returncode == 0 and not any(line["kind"] == "memory" for line in launches(tmp)), name, done.stderr)
    report = run_folders.report(tmp / "run")
    expect(not any("memory_load" in arm for arm in report["arms"]) and "stage by stage" not in done.stdout, name,
           "what is not known is no 0")


PARTS = (("process", 0, 0, 0, 9_000_000, 300), ("runner", 0, 0, 0, 200_000, 16), ("mapping", 0, 0, 0, 50_000, 0),
         ("verification", 0, 0, 0, 30_000, 5), ("graph", 1, 0, 0, 100_001, 9), ("packing", 1, 1, 3_584, 7_000, 0),
         ("packing", 1, 2, 520_128, 6_000_000, 0), ("creation", 1, 0, 0, 400_000, 260),
         ("method", 0, 0, 0, 250_000, 38), ("inputs", 0, 0, 0, 70_000, 27), ("first", 0, 0, 0, 2_000_000, 164))


def loading():
    """The parts that the fake tells come out row by row, and add up."""
    name = "loading"
    tmp = new_folder()
    told = [f"part {'*' if w != 'packing' else 'neon'} {w} {d} {o} {b} {n} {f}" for w, d, o, b, n, f in PARTS]
    told += [f"part sme2 packing {d} {o} {2 * b} {3 * n} {f}" for w, d, o, b, n, f in PARTS if w == "packing"]
    ended(session(tmp, told, "--price", blocks=6), 0)
    report = run_folders.report(tmp / "run")
    arms = {arm["name"]: arm["loading"] for arm in report["arms"]}
    whole = sum(p[4] for p in PARTS)
    packing = sum(p[4] for p in PARTS if p[0] == "packing")
    for arm, times in ((OFF, 1), (ON, 3)):
        found = arms[arm]
        expect(found["whole_ns"] == whole + (times - 1) * packing, name, (arm, found["whole_ns"], whole))
        expect(found["whole_ns"] == sum(p["ns"] for p in found["parts"]), name, "parts add up")
        expect(found["packing_ns"] == times * packing, name, found)
    expect(arms[OFF]["packed_bytes"] == 523_712 and arms[ON]["packed_bytes"] == 2 * 523_712, name, arms)
    expect([p["what"] for p in arms[OFF]["parts"]] == [p[0] for p in PARTS], name, arms[OFF]["parts"])
    asked = [line for line in launches(tmp) if "loading" in line]
    expect(len(asked) == 2 and all(line["kind"] == "traced" and line["block"] == 1 for line in asked), name, asked)
    lines = csv_rows(tmp, "loading")  # CSV has one table, whole numbers in it
    told = {row["part"]: int(row[OFF]) for row in lines if row[OFF]}
    expect(told.pop("to the end of the first inference") == whole == sum(told.values()), name, told)
    expect([int(row[ON + "_bytes"]) for row in csv_rows(tmp, "packing")][:1] == [2 * 520_128], name, "packing")
    lacks = etprof(tmp, "analyze", "run", "--price", "--table", "nonsense", "--format", "csv")
    expect(lacks.returncode == 2 and "no table named 'nonsense'" in lacks.stderr, name, lacks.stderr)
    for form in ("text", "md", "html"):
        text = priced(tmp, form)
        for words in ("process and libraries", "the rest of delegates", "to the end of the first inference",
                      "Packed weights, the largest first", "together", "delegate 1, number 2"):
            expect(words in text, name, (form, words, text[-1500:]))
    tmp = new_folder()
    done = session(tmp, ["part * mapping 0 0 0 5000 1", "part * first 0 0 0 7000 0"], "--price", blocks=2)
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    told = {line[0].strip(): [c.strip() for c in line[1:] if c.strip()] for line in lines}
    expect(told.get("process and libraries", [""])[:2] == ["not known here"] * 2, name, "of another machine", told)
    expect(told.get("packing", [""])[:2] == ["–"] * 2, name, "nothing was packed", told)
    expect("12" in told.get("to the end of the first inference", [""])[0], name, "5 and 7 µs", told)
    tmp = new_folder()
    ended(session(tmp, ["part * nonsense 0 0 0 5 0"], blocks=2), 6, says='not a part of loading: "nonsense"')
    tmp = new_folder()
    ended(session(tmp, ["part * first 0 0 0 18446744073709551615 0"], blocks=2), 6, says="not a part of loading")


def workspaces(tmp):
    """How many workspaces XNNPACK's delegates share, of each arm where they differ."""
    name = "workspaces"
    told = [f"part {arm} creation {d} 0 0 1000 0 {w}" for arm, given in (("neon", (1, 1, 2)), ("sme2", (1, 2, 3)))
            for d, w in enumerate(given, 1)]
    session(tmp, [*told, "part * first 0 0 0 7000 0"], "--price", blocks=2)
    arms = run_folders.report(tmp / "run")["arms"]
    found = {arm["name"]: (arm["loading"]["delegates"], arm["loading"]["workspaces"]) for arm in arms}
    expect(found == {OFF: (3, 2), ON: (3, 3)}, name, found)
    text = " ".join(priced(tmp, "text").split())
    expect("NEON: XNNPACK's 3 delegates compute in 2 workspaces that they share" in text, name, text[-1500:])
    expect("SME2: XNNPACK's 3 delegates compute in a workspace each" in text, name, text[-1500:])


def nothing_to_say(tmp):
    name = "alike"
    done = session(tmp, [])
    expect(done.returncode == 0 and "--price" not in done.stdout, name, done.stdout)
    table = rows(priced(tmp))
    expect(table["dirty memory"][:3] == ["bytes", "", ""] and table["loading"][0] == "ns", name, table)
    expect("not known here" in priced(tmp, "text"), name, "on the screen")
    report = run_folders.report(tmp / "run")
    expect(all(arm["dirty_bytes"] is None for arm in report["arms"]), name, report["arms"])
    expect("memory" not in report["arms"][0], name, report["arms"][0])
    expect("loading" not in report["arms"][0], name, report["arms"][0])
    expect(report["comparisons"][0]["dirty"] is None, name, report["comparisons"][0]["dirty"])


def withheld(tmp):
    name = "withheld"
    session(tmp, ["memory sme2 50000000 42000000 8000000", "memory neon 20000000 12000000 8000000",
                  "on sme2 * * other_output"])
    table = rows(priced(tmp))
    expect(table["dirty memory"] == ["bytes", "12000000", "42000000", "", "", "", "withheld"], name, table)
    expect("--price" not in etprof(tmp, "analyze", "run").stdout, name, "a remark on figures that are withheld")


def wide():
    """Ten and a hundred times in turn: no estimate within a factor of two, but at least the near end."""
    name = "wide"
    turns = [f"load neon {100_000_000 if n % 2 else 10_000_000} {n}" for n in range(1, 15)]
    tmp = new_folder()
    ended(session(tmp, [*turns, "load sme2 1000000"], "--price"), 0)
    comparison = run_folders.report(tmp / "run")["comparisons"][0]
    logs = [math.log(ns / 1e6) for _, ns in sorted((line["block"], line["load_ns"]) for line in launches(tmp)
                                                   if line["kind"] == "timed" and line["experiment"] == OFF)]
    expect({round(x, 3) for x in logs} == {2.303, 4.605}, name, logs)
    half = comparison["speedup"]["widening"] * T975[8] * statistics.stdev(logs) / 8 ** 0.5
    ends = [math.exp(statistics.mean(logs) + x) for x in (-half, half)]
    load = comparison["load"]
    expect(load["estimate"] is None and load["verdict"] == "faster", name, load)
    expect(all(abs(load[k] / w - 1) < 1e-5 for k, w in zip(("lo", "hi"), ends)), name, (load, ends))
    words = f"faster, at least {ends[0]:.3g}×"
    for how in ("--price", "--full"):
        text = etprof(tmp, "analyze", "run", how, "--format", "md").stdout
        expect(words in text, name, (how, words, text[-2000:]))
    expect(rows(priced(tmp))["loading"][3] == "", name,
           "an estimate all the same")
    tmp = new_folder()  # the same the other way round: what it costs is on the first screen
    done = session(tmp, [*(t.replace("neon", "sme2") for t in turns), "load neon 1000000"])
    load = run_folders.report(tmp / "run")["comparisons"][0]["load"]
    expect(f"loading: SME2 costs at least {1 / load['hi']:.3g}× as much" in re.sub(r"\s+", " ", done.stdout), name,
           (load, done.stdout))
    turns = [t.replace("10000000 ", "100000 ") for t in turns]  # a hundred times more and ten times less
    tmp = new_folder()
    done = session(tmp, [*turns, "load sme2 1000000"], "--price")
    load = run_folders.report(tmp / "run")["comparisons"][0]["load"]
    expect(load["lo"] < 1 < load["hi"] and load["verdict"] == "unknown" and "at least" not in done.stdout, name,
           (load, done.stdout))


def cold():
    """Launches of their own, with --price alone: their load is a row, nothing else is of them."""
    name = "cold"
    tmp = new_folder()
    told = ["cold neon 40000000 0", "cold sme2 80000000 0"]
    done = session(tmp, told, "--price")
    kinds = [line["kind"] for line in launches(tmp)]
    expect(done.returncode == 0 and kinds.count("cold") == 16, name, (done.stderr[-300:], kinds))
    report = run_folders.report(tmp / "run")
    arms = {arm["name"]: arm for arm in report["arms"]}
    expect(arms[OFF]["cold_load_ns"] == 40000000 and arms[ON]["cold_load_ns"] == 80000000, name, arms)
    expect(all(a["load_ns"] == 7000000 and a["launches"] == 8 and "cached_bytes" not in a for a in arms.values()),
           name, arms)
    found = report["comparisons"][0]["cold_load"]
    expect(abs(found["estimate"] - 0.5) < 1e-6 and found["verdict"] == "slower" and found["blocks"] == 8, name,
           found)
    numbers = {str(line["launch"]) for line in launches(tmp) if line["kind"] == "cold"}
    samples = run_folders.samples(tmp / "run")
    expect(samples and not numbers & {row["launch"] for row in samples}, name, "iterations among the samples")
    ended(etprof(tmp, "gate", "run", "cold_load linux_sme2_on <= 50ms", "load <= 50ms"), 1, says="80.00 ms")
    expect(etprof(tmp, "verify", "run").returncode == 0, name, "verify")
    tmp = new_folder()
    done = session(tmp, ["cold * 9000000 4096", "cold sme2 8000000 0"], "--price", blocks=6)
    table = rows(priced(tmp))["loading"]
    said = re.sub(r"\s+", " ", done.stdout)
    expect("stays cached" in said and "4.10 kB of an arm's files could not be dropped" in said, name, done.stdout)
    arms = {a["name"]: a for a in run_folders.report(tmp / "run")["arms"]}
    expect(arms[OFF]["cold_load_ns"] is None and arms[OFF]["cached_bytes"] == 4096, name, arms[OFF])
    expect(arms[ON]["cold_load_ns"] == 8000000, name, (arms[ON], table))
    tmp = new_folder()
    session(tmp, [], blocks=2)
    expect(all(line["kind"] != "cold" for line in launches(tmp)), name, "unasked")
    expect("not measured" in priced(tmp, "text"), name, "without --price")


def few(tmp):
    session(tmp, ["memory * 50000000 42000000 8000000"], blocks=4)
    ended(etprof(tmp, "gate", "run", "dirty_memory <= 1 GB", "disk <= 1 MB"), 3, says="4 of at least 6 launches")


in_folders(planted, few, workspaces, nothing_to_say, withheld)
stages()
loading()
wide()
cold()
finish()
