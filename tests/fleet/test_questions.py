# SPDX-License-Identifier: Apache-2.0
"""Each question of a fleet over a few rows whose answer is worked out by hand: the SQL as it is, over tables with the
columns that the library gives. usage: test_questions.py SOURCE_DIR BUILD_DIR"""
import itertools
import math
import os
import pathlib
import random
import sys

TREE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path[:0] = [str(TREE / "tests/tools"), str(TREE / "python")]
import engines
from checks import expect, finish, new_folder

engines.need("duckdb")
os.environ["ETPROF_LIBRARY"] = str(next(p for p in BUILD.glob("libetprof.*") if p.suffix in (".0", ".dylib")))
import duckdb
from etprof.fleet import duck, lately, questions, report
from etprof.fleet.reading import TABLES, schema_of

RUNS = itertools.count()


class Lake:
    """Tables in memory."""

    def __init__(self):
        self._db = duckdb.connect()
        for table in TABLES:
            empty = schema_of(table).empty_table() # noqa: F841 (DuckDB finds it by its name)
            self._db.execute(f"CREATE TABLE {table} AS SELECT * FROM empty")

    def put(self, table, **row):
        row = {"run_id": f"r{next(RUNS)}", "emulated": False, **row}
        if table == "errors":
            del row["run_id"], row["emulated"]
        self._db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                         list(row.values()))

    def ask(self, query):
        return list(duck.rows(self._db, query))


def near(value, wanted):
    return value is not None and math.isclose(value, wanted, rel_tol=1e-6)


def slowest():
    lake = Lake()
    for run, model, ns, emulated in (("a", "m1", 10, 0), ("a", "m1", 20, 0), ("b", "m1", 50, 0), ("c", "m2", 5, 0),
                                     ("d", "m2", 9000, 1)):
        lake.put("operators", run=run, model=model, names="conv", category="GEMM", experiment="x", ns=ns,
                 emulated=bool(emulated))
    lake.put("operators", run="a", model="m1", names="add", category="Add", experiment="x", ns=44)
    # m1: (10 + 20) and 50 in an execution each, 40 in the mean; m2: 5.
    told = [tuple(int(v) if isinstance(v, float) else v for v in row.values())
            for row in lake.ask(questions.query("slowest"))]
    expect(told == [("conv", "GEMM", 2, 4, 45, 40), ("add", "Add", 1, 1, 44, 44)], "slowest operators", told)


def fixes():
    lake = Lake()
    for run, model, device, when, kind, gain in (
            ("old", "m1", "d1", "2026-01-01", "run", 70), ("new", "m1", "d1", "2026-01-02", "run", 30),
            ("late", "m1", "d1", "2026-01-03", "dump", None), ("two", "m1", "d2", "2026-01-01", "run", 4),
            ("other", "m2", "d1", "2026-01-01", "run", 500)):
        place = {"run_id": run, "model": model, "device": device}
        lake.put("sessions", kind=kind, generated_at=when, **place)
        lake.put("operators", **place)
        if gain:
            lake.put("fixes", kind="other" if gain == 500 else "copies", recipe="r", gain_ns=gain, gain_lo_ns=gain - 1,
                     gain_hi_ns=gain + 1, text=run, **place)
    told = [(r["kind"], r["models"], r["devices"], r["gain_ns"], r["gain_lo_ns"], r["gain_hi_ns"])
            for r in lake.ask(questions.query("fixes"))]
    expect(told == [("other", 1, 1, 500, 499, 501), ("copies", 1, 2, 34, 32, 36)], "fixes", told)


def speedups():
    lake = Lake()

    def compare(run, **row):
        place = {"run_id": run, "run": run, "day": "2026-01-01"}
        lake.put("comparisons", **{"level": "sme2", "baseline_level": "neon", "model": "m", "threads": 1, "blocks": 6,
                                   "confidence": 0.95, "experiment": "x", "baseline": "base", **place, **row})
        lake.put("arms", experiment="base", level="neon", model="m", threads=1, **place)

    for device, speedup, withheld, emulated in (("d1", 1.2, None, False), ("d1", 1.5, None, False),
                                                ("d1", 9.0, "too few blocks", False), ("d1", 9.0, None, True),
                                                ("d2", 2.0, None, False)):
        compare(f"{device} {speedup} {emulated}", device=device, speedup=speedup, lo=speedup / 1.01, hi=speedup * 1.01,
                withheld=withheld, emulated=emulated)
    for ln, width in ((0.0, 0.01), (0.001, 0.03)): # as near to each other as their own errors let expect
        compare(str(ln), device="d3", speedup=math.exp(ln), lo=math.exp(ln - width), hi=math.exp(ln + width))
    # Of other cells: another model, another number of threads, and nothing but the program.
    for other in ({"model": "int8"}, {"threads": 2}, {"level": "neon"}):
        compare(str(other), device="d2", speedup=9.0, lo=8.9, hi=9.1, **other)
    told = questions.speedups(lake.ask)
    expect([(r["device"], r["sessions"]) for r in told] == [("d1", 2), ("d2", 1), ("d3", 2)], "which count", told)
    expect(near(told[0]["speedup"], math.sqrt(1.2 * 1.5)) and near(told[1]["speedup"], 2.0), "geometric mean", told)
    expect(abs(math.log(told[2]["speedup"]) - 0.0001) < 1e-9, "the narrow one counts nine times", told[2])
    # Between two sessions is most of the spread: Student's t of one degree of freedom on half their distance.
    half = 12.706204736 * abs(math.log(1.5 / 1.2)) / 2
    expect(abs(math.log(told[0]["hi"] / told[0]["speedup"]) - half) < 1e-4, "its interval", told[0], half)


def devices():
    lake = Lake()
    for name, celsius, status, cap, noise in (
            ("hot", [60] * 20, 0, 1.0, 0.010), ("glitch", [40] * 19 + [90], 0, 1.0, 0.010),
            ("warm", [41] * 20, 1, 0.96, 0.010), ("said", [40] * 20, 2, 1.0, 0.010),
            ("capped", [40] * 20, 0, 0.94, 0.010), ("noisy", [40] * 20, 0, 1.0, 0.030),
            ("a", [40] * 20, 0, 1.0, 0.011), ("b", [40] * 20, None, None, 0.012), ("c", [40] * 20, 0, 1.0, 0.010),
            ("d", [40] * 20, 0, 1.0, 0.010)):
        for i, c in enumerate(celsius):
            bad = i < 5 # a quarter of the sessions
            lake.put("sessions", device=name, temperature_c=c, noise=noise,
                     thermal_status=status if bad or status is None else 0,
                     clock_cap_share=cap if bad or cap is None else 1.0)
    told = {r["device"]: r["apart"] for r in questions.devices(lake.ask, [])}
    expect(told == {"hot": ["hot"], "said": ["throttled"], "capped": ["throttled"],
                    "noisy": ["noisy in its sessions"]}, "devices apart", told)


def engagement():
    lake = Lake()
    for model, night, states in (
            ("falls", 0, "eeen"), ("falls", 1, "eeen"), ("falls", 2, "eenn"), ("rises", 0, "en"), ("rises", 1, "ee"),
            ("unknown", 0, "ee"), ("unknown", 1, "e?"), ("slower", 0, "een"), ("slower", 1, "een")):
        for i, state in enumerate(states):
            lake.put("operators", model=model, device="d", level="sme2", build=f"b{night}", day=f"2026-01-0{night + 1}",
                     engaged={"e": "engaged", "n": "not engaged", "?": "unknown"}[state], run=f"{model}{night}",
                     ns=900 if model == "slower" and night and state == "n" else 100 + i)
    told = [(r["model"], r["first_bad_build"], r["since"], r["operators_before"], r["operators_after"])
            for r in questions.engagement(lake.ask)]
    expect(told == [("falls", "b2", "2026-01-03", 0.75, 0.5)], "engagement fell", told)


def night_of(n):
    return f"2026-01-{n + 1:02d}"


def put_times(lake, model, on, factor, nights=30, **row):
    """FACTOR(device, night) of 1 ms on each device of ON, each with half a percent of noise."""
    rng = random.Random(model)
    for device in on:
        for n in range(nights):
            ns = 1e6 * (1 + device % 3) * factor(device, n) * math.exp(rng.gauss(0, 0.005))
            lake.put("arms", **{"model": model, "device": f"d{device}", "experiment": "x", "day": night_of(n),
                                "build": f"b{n}", "median_ns": ns, **row})


def regressions():
    lake, all_of = Lake(), range(9)
    aging = {3: 1.2, 4: 1.21} # from night 15 on, with every model
    own = {d: aging.get(d, 1.0) for d in all_of}

    def both(step):
        return lambda d, n: (own[d] if n >= 15 else 1) * step(d, n)

    put_times(lake, "slower", all_of, both(lambda d, n: 1.1 if n >= 10 else 1))
    put_times(lake, "faster", all_of, both(lambda d, n: 0.9 if n >= 10 else 1))
    put_times(lake, "drifts", all_of, both(lambda d, n: 1 + 0.006 * n))
    put_times(lake, "drifts_and_steps", all_of, both(lambda d, n: (1 + 0.006 * n) * (1.1 if n >= 10 else 1)))
    put_times(lake, "on_one", all_of, both(lambda d, n: 1.3 if d == 0 and n >= 10 else 1))
    put_times(lake, "on_aging", (3, 4), both(lambda d, n: 1)) # all its devices are slower, and so are their others
    put_times(lake, "emulated", all_of, lambda d, n: 2 if n >= 10 else 1, emulated=True)
    put_times(lake, "few", all_of, lambda d, n: 2 if n >= 3 else 1, nights=5)
    for i in range(8):
        put_times(lake, f"quiet{i}", all_of, both(lambda d, n: 1))
    for n in range(30): # recorded until night 14, timed from then on
        for device in all_of:
            how = {"traced_ns": 1e6 + n} if n < 15 else {"median_ns": 2e6 + n}
            lake.put("arms", model="mixed", device=f"d{device}", experiment="x", day=night_of(n), build=f"b{n}", **how)
    series = questions.series_and_devices(lake.ask)[0]
    expect({s.key[0] for s in series} >= {"slower", "mixed"}, "series")
    expect({s.key[0] for s in series}.isdisjoint({"emulated", "few"}), "what counts", [s.key for s in series])
    told = questions.regressions(series)
    expect([(r["model"], r["since"], r["first_bad_build"], r["last_good_build"], r["devices"]) for r in told] ==
           [(model, night_of(10), "b10", "b9", 9) for model in ("drifts_and_steps", "slower")], "regressions", told)
    expect(told and told[-1]["lo"] < 0.1 < told[-1]["hi"] and told[-1]["hi"] - told[-1]["lo"] < 0.02, "how much", told)
    expect(questions.regressions(series, night_of(10)) == told, "since that night")
    expect(questions.regressions(series, night_of(11)) == [], "since a later one")


def noisy_device():
    """A device of forty times the noise moves a night's mean hardly: alike, it would by a ninth of what it does."""
    lake, rng = Lake(), random.Random(5)
    off = [rng.gauss(0, 0.2) for _ in range(30)]
    put_times(lake, "m", range(9), lambda d, n: math.exp(off[n]) if d == 8 else 1)
    _, values = questions.series_and_devices(lake.ask)[0][0].nights()
    mean = sum(values) / len(values)
    scatter = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    expect(scatter < 0.005, "nights with a noisy device", scatter) # 0.005 / sqrt(8) is 0.0018, 0.2 / 9 is 0.022


def newest():
    """The morning after: what the last night or the last two say, whose devices say it, who was silent."""
    lake, all_of = Lake(), range(9)
    put_times(lake, "since_last", all_of, lambda d, n: 1.1 if n >= 29 else 1)
    put_times(lake, "since_two", all_of, lambda d, n: 1.06 if n >= 28 else 1)
    put_times(lake, "since_long", all_of, lambda d, n: 1.1 if n >= 12 else 1) # as slow as it has been: no news
    put_times(lake, "on_one", all_of, lambda d, n: 1.3 if d == 2 and n >= 29 else 1) # a single night of one device
    put_times(lake, "grows", all_of, lambda d, n: 1 + 0.006 * n)
    put_times(lake, "gone", all_of, lambda d, n: 1, nights=28) # not there last night
    for i in range(6):
        put_times(lake, f"quiet{i}", all_of, lambda d, n: 1)
    put_times(lake, "late", [11], lambda d, n: 1, nights=29) # a device that sent nothing last night
    put_times(lake, "old", [12], lambda d, n: 1, nights=20) # one that has been away for longer
    series = questions.series_and_devices(lake.ask)[0]
    told = lately.last_night(series)
    expect((told["day"], told["builds"], told["silent"]) == (night_of(29), ["b29"], ["d11"]), "which night", told)
    expect(told["judged"] == 11, "series of that night", told["judged"])
    rows = {r["model"]: r for r in told["slower"]}
    expect([(r["model"], r["since"], r["first_bad_build"], r["last_good_build"], r["devices"], len(r["on"]))
            for r in told["slower"]] == [("since_last", night_of(29), "b29", "b28", 9, 9),
                                         ("since_two", night_of(28), "b28", "b27", 9, 9)], "slower", told["slower"])
    expect(rows["since_last"]["lo"] < 0.1 < rows["since_last"]["hi"] and rows["since_last"]["hi"] < 0.11, rows)
    expect(0.005 <= told["least"] < 0.02, "what would have been told", told["least"])
    shape = {n["day"]: n["ratio"] for n in rows["since_last"]["nights"]}
    expect(len(shape) == 30 and abs(shape[night_of(29)] - 1.1) < 0.01, "its nights", shape)


def some_devices():
    """A model slower on a kind of device is no regression of it on all; a device slower with all models none at all."""
    lake, all_of = Lake(), range(9)
    put_times(lake, "on_two", all_of, lambda d, n: 1.1 if d in (3, 7) and n >= 20 else 1)
    put_times(lake, "on_all", all_of, lambda d, n: 1.1 if n >= 20 else 1)
    put_times(lake, "drifts_on_one", all_of, lambda d, n: 1 + 0.006 * n if d == 5 else 1)
    put_times(lake, "faster_on_one", all_of, lambda d, n: 0.9 if d == 5 and n >= 20 else 1)
    put_times(lake, "three_devices", (0, 1, 2), lambda d, n: 1.1 if d > 1 and n >= 20 else 1) # too few
    for i in range(9):
        put_times(lake, f"ages{i}", all_of, lambda d, n: 1.2 if d == 8 and n >= 9 else 1)
    series, alone = questions.series_and_devices(lake.ask)
    told = lately.on_some(series)
    expect([(r["model"], r["since"], r["first_bad_build"], r["last_good_build"], sorted(x["device"] for x in r["on"]))
            for r in told] == [("on_two", night_of(20), "b20", "b19", ["d3", "d7"])], "on some devices", told)
    expect(told and abs(told[0]["slower"] - 0.1) < 0.01, "by how much", told)
    expect(lately.on_some(series, night_of(21)) == [], "since a later night")
    whole = lately.whole_devices(alone)
    expect([(r["device"], r["since"]) for r in whole] == [("d8", night_of(9))] and abs(whole[0]["slower"] - 0.2) < 0.01,
           "a device with all models", whole)
    expect([r["model"] for r in questions.regressions(series)] == ["on_all"], "on all", questions.regressions(series))
    on = questions.regressions(series)[0]["on"]
    expect(sorted(r["device"] for r in on) == [f"d{d}" for d in all_of], "its devices", on)


def answered():
    """What people read first: whether, on which devices, since which build; names of others break neither page nor
    terminal."""
    lake, all_of = Lake(), range(9)
    put_times(lake, "<b>new\x1b[2J", all_of, lambda d, n: 1.1 if n >= 29 else 1, build="<i>")
    put_times(lake, "old", all_of, lambda d, n: 1.2 if n >= 9 else 1)
    put_times(lake, "two", all_of, lambda d, n: 1.2 if n >= 9 and d in (4, 5) else 1)
    for i in range(6):
        put_times(lake, f"quiet{i}", all_of, lambda d, n: 1)
    lake.put("errors", run="a", kind="dump", status="corrupt", message="torn", device="d")
    found = questions.everything(lake.ask)
    told = report.text(found, 20)
    lines = told.splitlines()
    expect(lines[0] == f"Last night ({night_of(29)}, build <i>, b29): 1 of 9 series (a model, its arm, threads) "
           "slower.", "the first line", lines[:3])
    expect(lines[1].startswith("  <b>new?[2J, x: ") and "since build <i> of " + night_of(29) in lines[1] and
           "on 9 devices together (shows alone on 9 of 9; most on d" in lines[1], "which", lines[1])
    expect(lines[2] == "1 slower for three nights or more." and "old, x: 2" in lines[3] and "build b9 of" in lines[3],
           "from before", lines[2:4])
    expect(lines[4] == "1 slower on some devices alone." and lines[5].startswith("  two, x: ") and
           lines[5].endswith(("on d4, d5", "on d5, d4")), "on some", lines[4:6])
    expect(lines[6] == "1 source could not be read." and not lines[7], "what could not be read", lines[6:8])
    shown = report.page(found, 20)
    expect("<b>" not in shown and "<i>" not in shown and "&lt;b&gt;new" in shown, "names in the page")
    expect(shown.index("Last night (") < shown.index("<table") and shown.count("<polyline") == 2, "answer and pictures")
    quiet = Lake()
    put_times(quiet, "m", all_of, lambda d, n: 1)
    first = report.text(questions.everything(quiet.ask), 20).splitlines()[0]
    expect(first.startswith(f"Last night ({night_of(29)}, build b29): none of 1 series") and
           "would have shown" in first,
           "a quiet night", first)
    first = report.text(questions.everything(Lake().ask), 20).splitlines()[0]
    expect(first.startswith("Last night cannot be judged"), "an empty lake", first)


def unreadable():
    lake = Lake()
    for run, message in (("b", "a torn one"), ("a", "no dump"), ("c", "zeros")):
        lake.put("errors", run=run, kind="dump", status="corrupt", message=message, device="d")
    told = [tuple(r.values()) for r in lake.ask(questions.query("errors"))]
    expect(told == [("dump", "corrupt", "d", 3, "no dump", "a")], "errors", told)


def bounded():
    """A question takes no more memory on a machine that has more; what goes beyond lies in no folder of somebody's
    work."""
    folder = new_folder()
    with duck.asking(pathlib.Path(folder)) as connection:
        beyond, most = connection.execute("SELECT current_setting('temp_directory'), "
                                          "current_setting('memory_limit')").fetchone()
        expect(os.path.isabs(beyond) and os.path.isdir(beyond), "a folder for what goes beyond", beyond)
        size, unit = most.split()
        gib = float(size) / {"MiB": 1024, "GiB": 1}[unit]
        expect(gib <= 1 + (os.cpu_count() or 1) / 4, "memory of a question", most)
    expect(not os.path.exists(beyond), "it stays", beyond)


for question in (slowest, fixes, speedups, devices, engagement, regressions, noisy_device, newest, some_devices,
                 answered, unreadable, bounded):
    question()
finish()
