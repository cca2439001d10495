# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet.report on sessions with known truth: the planted regression and no other, speedups against a
second computation, the bad devices, the fall of engagement, what fixes are worth; with Spark: every SQL file says the
same as in DuckDB.
usage: test_report.py SOURCE_DIR BUILD_DIR duckdb|spark"""
import html.parser
import json
import math
import os
import pathlib
import random
import shutil
import sys

TREE, BUILD, ENGINE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
sys.path[:0] = [str(TREE / "tests/tools"), str(TREE / "python"), str(TREE / "bench/fleet")]
import engines
import make
from checks import ended, execute, expect, finish, new_folder

engines.need(ENGINE)
import duckdb

LIBRARY = next(p for p in BUILD.glob("libetprof.*") if p.suffix in (".0", ".dylib"))
os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
ENV = {**os.environ, "PYTHONPATH": str(TREE / "python")}
NIGHTS, BAD_NIGHT, SLOWER = 12, 7, 1.10


def fleet(folder):
    """Three models on five devices, each night: model0 is slower from a night on, device4 is noisy and hot, device3
    throttled."""
    rng = random.Random(3)
    base = json.loads((make.RUN / "manifest.json").read_text())
    for d in range(5):
        device = {"name": f"device{d}", "noise": 0.2 if d == 4 else 0.01, "bad": {3: "throttled", 4: "hot"}.get(d)}
        for night in range(NIGHTS):
            for m in range(3):
                device["speed"] = (1 + d) * (SLOWER if m == 0 and night >= BAD_NIGHT else 1)
                make.make_session(folder / f"day={make.day(night)}/device={device['name']}/build=b{night}/s{m}", base,
                                  device, night, f"model{m}", rng)
    recorded(folder, base, rng)


# Sessions with recordings: (model, night, kind of recording, hour).
RECORDED = (("falls", 0, "engaged", 1), ("falls", 1, "fallen", 1), # its kernels for SME2 run no more
            ("stays", 0, "engaged", 1), ("stays", 1, "engaged", 1),
            ("mended", 0, "broadcast", 1), ("mended", 1, "islands", 1), # the fix was made: nothing is left of its worth
            ("open", 0, "reshape_chain", 1), ("open", 1, "reshape_chain", 1), ("open", 1, "reshape_chain", 2),
            ("both", 1, "broadcast", 1))


def recorded_place(folder, model, night, hour):
    return folder / f"day={make.day(night)}/device=other/build=b{night}/{model}-{hour}"


def recorded(folder, base, rng):
    device = {"name": "other", "noise": 0.01, "bad": None, "speed": 1}
    for model, night, kind, hour in RECORDED:
        place = recorded_place(folder, model, night, hour)
        make.make_session(place, base, device, night, model, rng)
        make.record(place, kind)
        manifest = place / "manifest.json"
        m = json.loads(manifest.read_text())
        m["generated_at"] = f"{make.day(night)}T0{hour}:00:00Z"
        manifest.write_text(json.dumps(m))
    # A dump of a later night says nothing of fixes, and hides none.
    late = folder / f"day={make.day(2)}/device=other/build=b2"
    late.mkdir(parents=True, exist_ok=True)
    (late / "torn.etdump").write_bytes(b"torn")
    shutil.copy(make.FIXES / "reshape_chain.etdump", late / "open.etdump")


def check_recorded(folder, found):
    fell = [(r["model"], r["device"], r["level"], r["first_bad_build"], r["operators_before"], r["operators_after"])
            for r in found["engagement_fell"]]
    expect(fell == [("falls", "other", "sme2", "b1", 1, 0)], "engagement fell", fell)
    worth = {}
    for model, night, hour in (("falls", 1, 1), ("stays", 1, 1), ("mended", 1, 1), ("open", 1, 2), ("both", 1, 1)):
        done = execute(BUILD / "bin/etprof", "analyze", recorded_place(folder, model, night, hour), "--format", "json",
                       text=False)
        for fix in json.loads(done.stdout)["next_fixes"]:
            if fix["gain_ns"]["expected"] is not None:
                ns, models = worth.get((fix["kind"], fix["recipe"]), (0, set()))
                worth[fix["kind"], fix["recipe"]] = ns + fix["gain_ns"]["expected"], models | {model}
    told = {(r["kind"], r["recipe"]): (r["gain_ns"], r["models"]) for r in found["fixes"]}
    expect(told == {k: (ns, len(models)) for k, (ns, models) in worth.items()}, "fixes", told, worth)
    order = [r["gain_ns"] for r in found["fixes"]]
    expect(order == sorted(order, reverse=True), "the order of fixes", order)
    expect({("broadcast_copies", 2), ("reshape_chain", 1)} <= {(k[0], n) for k, (_, n) in told.items()}, told)
    names = [r["operator"] for r in found["slowest_operators"]]
    expect(len(set(names)) == len(names) > 5, "operators", names)


def run(module, *words, code=0):
    done = ended(execute(sys.executable, "-m", module, *words, env=ENV), code)
    return done.stdout


T_5 = 2.570581836 # Student's t, two-sided 95 %, 5 degrees of freedom


def paule_mandel(rows):
    """Another computation: by iteration over tau², not by halving; t of 6 blocks behind each interval."""
    y = [math.log(r[0]) for r in rows]
    v = [((math.log(r[2]) - math.log(r[1])) / (2 * T_5)) ** 2 for r in rows]
    tau2 = 0.0
    for _ in range(10000):
        w = [1 / (x + tau2) for x in v]
        mean = sum(a * b for a, b in zip(w, y)) / sum(w)
        q = sum(a * (b - mean) ** 2 for a, b in zip(w, y))
        slope = sum(a * a * (b - mean) ** 2 for a, b in zip(w, y))
        tau2 = max(0.0, tau2 + (q - (len(y) - 1)) / slope)
    return mean, sum(w)


def check_speedups(lake, found):
    rows = duckdb.connect().execute(
        f"select device, speedup, lo, hi, blocks, confidence from read_parquet('{lake}/comparisons/**/*.parquet', "
        "hive_partitioning = true) where level = 'sme2' and withheld is null and lo > 0 and device <> 'other'"
    ).fetchall()
    expect({r[4:] for r in rows} == {(6, 0.95)}, "blocks and confidence of the sessions", {r[4:] for r in rows})
    expect(len(found) == 5, "a row a device", found)
    for row in found:
        mine = [r[1:4] for r in rows if r[0] == row["device"]]
        mean, weight = paule_mandel(mine)
        expect(abs(math.log(row["speedup"]) - mean) < 1e-6, row["device"], row["speedup"], math.exp(mean))
        if len(mine) == 36:
            half = 2.030107928 / math.sqrt(weight) # t of 35 degrees of freedom
            expect(abs(math.log(row["hi"]) - mean - half) < 1e-6, row["device"], row["hi"], math.exp(mean + half))
        expect(row["lo"] < make.TRUE_SPEEDUP["sme2"] * 1.03 and row["hi"] > make.TRUE_SPEEDUP["sme2"] * 0.97, row)
        expect(row["sessions"] == len(mine) and row["models"] == 3, row)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells = []

    def handle_data(self, data):
        self.cells.append(data.strip())


def check_engines(lake):
    """Each SQL file as it is, in both."""
    from etprof.fleet import duck, spark

    session = spark.session("local[2]")
    connection = duckdb.connect()
    spark.views(session, lake)
    duck.views(connection, lake)
    for file in sorted((TREE / "python/etprof/fleet/sql").glob("*.sql")):
        text = file.read_text()
        one = list(duck.rows(connection, text))
        other = [row.asDict() for row in session.sql(text).collect()]
        expect(len(one) == len(other), file.name, len(one), len(other))
        for a, b in zip(one, other):
            same = list(a) == list(b) and all(
                math.isclose(x, b[k], rel_tol=1e-12) if isinstance(x, float) else x == b[k] for k, x in a.items())
            expect(same, file.name, a, b)
    session.stop()


tmp = new_folder()
fleet(tmp / "nights")
run("etprof.fleet", tmp / "nights", "--out", tmp / "lake", "--partition", "day,device")
found = json.loads(run("etprof.fleet.report", tmp / "lake", "--format", "json", "--engine", ENGINE))
expect(found["rows"]["sessions"] == 180 + len(RECORDED) + 1 and found["rows"]["errors"] == 1, found["rows"])
expect([(r["sources"], r["run"]) for r in found["errors"]] ==
       [(1, f"{tmp}/nights/day={make.day(2)}/device=other/build=b2/torn.etdump")], "errors", found["errors"])
planted = {(r["model"], r["first_bad_build"], r["last_good_build"], r["since"]) for r in found["regressions"]}
expect(planted == {("model0", f"b{BAD_NIGHT}", f"b{BAD_NIGHT - 1}", make.day(BAD_NIGHT))}, found["regressions"])
for r in found["regressions"]:
    # Of some intervals of 95 % each, most hold it; all are near.
    expect(r["lo"] - 0.002 < SLOWER - 1 < r["hi"] + 0.002 and r["devices"] == 5 and r["hi"] - r["lo"] < 0.15, r)
check_speedups(tmp / "lake", [r for r in found["speedups"] if r["device"] != "other"])
apart = {r["device"]: sorted(r["apart"]) for r in found["devices_apart"]}
expect(apart == {"device3": ["throttled"], "device4": ["hot", "noisy"]}, found["devices_apart"])
check_recorded(tmp / "nights", found)
late = json.loads(run("etprof.fleet.report", tmp / "lake", "--format", "json", "--since", make.day(BAD_NIGHT + 1)))
expect(late["regressions"] == [], "since a later day", late["regressions"])
if ENGINE == "spark":
    check_engines(tmp / "lake")
else:
    said = run("etprof.fleet.report", tmp / "lake")
    since = f"since build b{BAD_NIGHT} of {make.day(BAD_NIGHT)}, on 5 devices together"
    row = next((line for line in said.splitlines() if line.startswith("  model0, neon, 1 thread: 1")), "")
    expect(since in row, said)
    expect(said.startswith(f"Last night ({make.day(NIGHTS - 1)}, build b{NIGHTS - 1}): none of "), said[:200])
    expect("device=other/build=b2/torn.etdump" in said, "which file is damaged", said)
    page = Page()
    page.feed(run("etprof.fleet.report", tmp / "lake", "--format", "html"))
    expect("model0, neon, 1 thread" in page.cells and "b7" in page.cells, page.cells[:40])
    for name in ("falls", "throttled", "reshape_chain"):
        expect(name in page.cells and name in said, name, "is in the page and in the terminal", said)
    run("etprof.fleet.report", tmp / "nights", code=5)
    for wrong in ("yesterday", "2026-9-1", "14.11.2026"):
        run("etprof.fleet.report", tmp / "lake", "--since", wrong, code=2)
    run("etprof.fleet.report", tmp / "lake", "-o", tmp / "none/x.html", code=5)
finish()
