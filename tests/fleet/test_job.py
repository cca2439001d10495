# SPDX-License-Identifier: Apache-2.0
"""python -m etprof.fleet: what it writes, a second run, a killed one, damaged sources; with Spark: the same rows as
DuckDB's, to the last digit. usage: test_job.py SOURCE_DIR BUILD_DIR duckdb|spark"""
import fcntl
import os
import pathlib
import shutil
import struct
import sys
import traceback

TREE, BUILD, ENGINE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
sys.path[:0] = [str(TREE / "tests/tools"), str(TREE / "python")]
import engines
import sources
from checks import ended, execute, expect, finish, new_folder

engines.need(ENGINE)
import duckdb
from etprof.errors import UsageError
from etprof.fleet import writing

ETPROF, LIBRARY = BUILD / "bin/etprof", next(p for p in BUILD.glob("libetprof.*") if p.suffix in (".0", ".dylib"))
ENV = {**os.environ, "PYTHONPATH": str(TREE / "python"), "ETPROF_LIBRARY": str(LIBRARY), "TZ": "Pacific/Chatham"}
ROOT_RUN = TREE / "examples/runs/image_encoder_int8_qemu"
TABLES = ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors")


def job(*words, code=0, before=""):
    """Runs the job; BEFORE: Python that its process begins with."""
    start = ["-c", f"{before}\nimport sys\nfrom etprof.fleet.__main__ import main\nsys.exit(main())"] if before else \
        ["-m", "etprof.fleet"]
    done = ended(execute(sys.executable, *start, *words, env=ENV), code)
    return done


def ask(lake, question, **tables):
    """An answer of DuckDB over the lake's files, read without any code of ours."""
    connection = duckdb.connect()
    for table in TABLES:
        if (lake / table).exists():
            connection.execute(f"create view {table} as select * exclude (commit) from read_parquet("
                               f"'{lake}/{table}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)")
    return connection.execute(question).fetchall()


def all_rows(lake):
    """{table: its rows, sorted as text}; how and when they were written plays no part."""
    found = {}
    for table in TABLES:
        if (lake / table).exists():
            columns = sorted(c[0] for c in ask(lake, f"describe {table}"))
            quoted = ", ".join(f'epoch_us("{c}")' if c == "generated_at" else f'"{c}"' for c in columns)
            found[table] = sorted(map(repr, ask(lake, f"select {quoted} from {table}")))
    return found


def check_dumps(lake, source):
    for name, device in sources.DUMPS.items():
        where = f"run like '%/{name}.etdump'"
        told = ask(lake, f"select kind, day, device, build, model, arms from sessions where {where}")
        expect(told == [("dump", "2026-11-20", device, "abc", name, 1)], name, told)
        found = sorted(ask(lake, f"select names, ns from operators where {where}"))
        expect(found == sources.operators(name) and found, name, found, sources.operators(name))
        rows = ask(lake, f"select start_ns, duration_ns from samples where {where} order by iteration")
        expect(rows == sources.executions(name) and rows, name, rows, sources.executions(name))
        expect(ask(lake, f"select distinct phase, level, experiment from samples where {where}") ==
               [("traced", "avx2", name)], name, "its samples")


def check_runs(lake, source):
    report = sources.comparisons(ETPROF, source / "sessions/one")
    told = ask(lake, "select run, kind, day, device from sessions where kind <> 'dump' order by day")
    expect(told == [(f"{source}/sessions/one", "run", "2026-11-21", "qemu"),
                    (f"{source}/sessions/other", "run", "2026-11-22", "qemu")], told)
    for kind in ("one", "other"):
        found = ask(lake, f"select experiment, speedup, lo, hi, verdict from comparisons where run like '%/{kind}'")
        expect(len(found) == len(report), kind, "comparisons", found)
        for name, speedup, lo, hi, verdict in found:
            e = report[name]["speedup"]
            expect((speedup, lo, hi, verdict) == (e["estimate"], e["lo"], e["hi"], report[name]["verdict"]), kind, name,
                   (speedup, lo, hi, verdict), e)
        lines = len((source / "sessions/one/samples.csv").read_text().splitlines()) - 1
        n = ask(lake, f"select count(*) from samples where run like '%/{kind}'")
        expect(n == [(lines,)], kind, "samples", n, lines)


def check_errors(lake, damaged):
    rows = ask(lake, "select run, kind, status, message, device, day from errors")
    expect({r[0] for r in rows} == damaged and len(rows) == len(damaged), "errors", sorted(rows), sorted(damaged))
    expect(all(r[3] for r in rows), "a message each", rows)
    expect({(r[4], r[5]) for r in rows} == {("pixel9", "2026-11-20")}, "where they are from", rows)
    for table in TABLES[:-1]:
        if (lake / table).exists():
            n = ask(lake, f"select count(*) from {table} where run like '%/damaged/%'")
            expect(n == [(0,)], table, "has rows of what is damaged", n)


def check_again(tmp, lake, source):
    """A second run adds what is new and nothing else; the same content under another name is nothing new."""
    before, n = all_rows(lake), len(list((lake / "_etprof/commits").iterdir()))
    said = job(source, "--out", lake, "--engine", ENGINE).stdout
    expect("nothing new" in said, "a second run", said)
    more = source / "more"
    more.mkdir()
    shutil.copytree(source / "sessions/one", more / "twin")
    said = job(source, "--out", lake, "--engine", ENGINE).stdout
    expect("nothing new" in said and all_rows(lake) == before, "a twin", said)
    expect(len(list((lake / "_etprof/commits").iterdir())) == n, "an empty commit")
    dump, start = (sources.DATA / "mixed_xnnpack_fp32.etdump").read_bytes(), struct.Struct("<Q")
    began = start.pack(sources.executions("mixed_xnnpack_fp32")[0][0])
    expect(dump.count(began) == 1, "where the first execution's start is")
    (more / "late.etdump").write_bytes(dump.replace(began, start.pack(start.unpack(began)[0] - 1)))
    job(source, "--out", lake, "--engine", ENGINE)
    after = all_rows(lake)
    for table in TABLES:
        added = [r for r in after.get(table, []) if r not in set(before.get(table, []))]
        wanted = {"sessions": 1, "arms": 1, "operators": 3, "samples": 3}.get(table, 0)
        expect(len(added) == wanted and len(after.get(table, [])) == len(before.get(table, [])) + wanted,
               "one more", table, added)


def check_copies(tmp):
    """Copies that several workers read at the same time: the first in the order of paths counts, every time. Damaged
    ones are an error each; a name like a dump's may be a folder's."""
    source = tmp / "copies"
    dump = (sources.DATA / "mixed_xnnpack_fp32.etdump").read_bytes()
    for i in range(12):
        (source / f"device=d{i:02d}").mkdir(parents=True)
        (source / f"device=d{i:02d}/x.etdump").write_bytes(dump if i > 0 else dump[:900])
        (source / f"device=d{i:02d}/y.etdump").write_bytes(dump[:900])
    shutil.copytree(ROOT_RUN, source / "run.etdump")
    for words in ((), ("--workers", 1)):
        lake = tmp / f"copies-{len(words)}"
        said = job(source, "--out", lake, "--engine", ENGINE, "--partition", "day,device,model",
                   *(words or ("--workers", 4))).stdout
        expect("25 sources, 15 new" in said, words, said)
        told = ask(lake, "select device, kind from sessions order by kind")
        expect(told == [("d01", "dump"), ("qemu", "run")], words, "one copy", told)
        expect(ask(lake, "select count(*) from errors") == [(13,)], words, "damaged copies")
        names = sorted(p.parent.name for p in lake.glob("operators/**/device=d*/*.parquet"))
        expect(names == [] or {p.parent.parent.name for p in lake.glob("samples/**/device=d*/model=x/*.parquet")} ==
               {"device=d01"}, words, "folders of copies that were taken back", names)
    expect("nothing new" in job(source, "--out", lake, "--engine", ENGINE).stdout, "copies again")


def check_folders(tmp):
    """Folders as Hive names them; what neither a path nor a name=value can hold is written %XX."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table({"day": ["a%2:b", "a%2:b", None, "x"], "n": [1, 2, 3, 4], "device": ["d", "d", "d", None]})
    writing.write(rows, tmp / "folders", ("day", "device"), "x.parquet")
    null = "__HIVE_DEFAULT_PARTITION__"
    wanted = {"day=a%252%3Ab/device=d": [1, 2], f"day={null}/device=d": [3], f"day=x/device={null}": [4]}
    found = {str(p.parent.relative_to(tmp / "folders")): pq.ParquetFile(p).read().to_pydict()
             for p in (tmp / "folders").rglob("*.parquet")}
    expect(found == {folder: {"n": n} for folder, n in wanted.items()}, "folders", found)
    try:
        writing.write(rows, tmp / "folders", ("colour",), "x.parquet")
        expect(False, "a column that is not there")
    except UsageError as e:
        expect("colour" in str(e), "a column that is not there", e)


def killed_at(step, words):
    """Runs the job in a process that ends at its STEP-th change of a folder; True: it came to its end before."""
    child = os.fork()
    if child == 0:
        left = [step]

        def counted(real):
            def act(*given, **named):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return real(*given, **named)
            return act

        os.rename, os.replace, os.mkdir = map(counted, (os.rename, os.replace, os.mkdir))
        shutil.rmtree = counted(shutil.rmtree)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            from etprof.fleet.__main__ import parse
            from etprof.fleet.__main__ import work as run

            os._exit(run(parse([str(w) for w in words])))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    expect(code in (0, 9), "killed at", step, code)
    return code == 0


def check_killed(tmp):
    """Killed at every step that moves something: no reader sees a part, and the next run makes it whole."""
    source = tmp / "few"
    for name in ("linear_portable_fp32", "mixed_xnnpack_fp32"):
        (source / f"device={name}").mkdir(parents=True)
        shutil.copy(sources.DATA / f"{name}.etdump", source / f"device={name}")
    (source / "bad.etdump").write_bytes(b"x")
    job(source, "--out", tmp / "whole")
    whole = all_rows(tmp / "whole")
    step = 1
    while True:
        lake = tmp / "killed"
        shutil.rmtree(lake, ignore_errors=True)
        if killed_at(step, [source, "--out", lake]):
            break
        seen = seen_by_readers(lake)
        expect(seen in ({}, {k: len(v) for k, v in whole.items()}), "a part is seen after a kill", step, seen)
        killed_at(1 << 30, [source, "--out", lake])
        expect(all_rows(lake) == whole, "made whole after a kill", step)
        expect(not list((lake / "_staging").iterdir()), "nothing is left over", step)
        step += 1
    expect(step > 15, "kills", step)


def seen_by_readers(lake):
    from etprof.fleet import duck

    connection = duckdb.connect()
    duck.views(connection, lake)
    counts = {t: connection.execute(f"select count(*) from {t}").fetchone()[0] for t in TABLES}
    return {t: n for t, n in counts.items() if n}


MANY = """import atexit, sys
import etprof.fleet.sources as sources
sources._MOST_SOURCES = 50
def peak():
    with open("/proc/self/status") as f:
        print("peak", next(line.split()[1] for line in f if line.startswith("VmHWM:")), file=sys.stderr)
atexit.register(peak)"""


def check_compacted(tmp):
    """Jobs one by one, then one file in each folder: the same rows, and nothing comes in twice. Killed at any step that
    changes a folder, readers have all rows once."""
    source, lake = tmp / "of-three", tmp / "compacted"
    dump, start = (sources.DATA / "mixed_xnnpack_fp32.etdump").read_bytes(), struct.Struct("<Q")
    began = start.pack(sources.executions("mixed_xnnpack_fp32")[0][0])
    for night in range(2):
        for n in range(4):
            place = source / f"day=2026-11-20/device=d{n % 2}/model=m{n // 2}"
            place.mkdir(parents=True, exist_ok=True)
            moved = start.pack(start.unpack(began)[0] - 8 * night - n)
            (place / f"{night}.etdump").write_bytes(dump.replace(began, moved))
        expect("4 new" in job(source, "--out", lake).stdout, "a night")
    expect([*lake.glob("samples/*/day=*/device=*/*")] and not [*lake.glob("**/model=*")], "folders of a new lake")
    rows, seen, step = all_rows(lake), seen_by_readers(lake), 1
    while True:
        copy = tmp / "compacted-copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(lake, copy)
        ended = killed_at(step, ["--compact", "--out", copy])
        expect(seen_by_readers(copy) == seen, "readers after a kill", step, seen_by_readers(copy))
        expect("nothing new" in job(source, "--out", copy, "--compact").stdout, "what is there comes in again", step)
        expect(all_rows(copy) == rows, "rows after a compaction", step)
        left = {t: len([*copy.glob(f"{t}/**/*.parquet")]) for t in rows}
        expect(set(left.values()) == {2} and not [*copy.glob("_staging/*")], "files after a compaction", step, left)
        if ended:
            break
        step += 1
    expect(step > 15, "steps of a compaction", step)
    said = job("--compact", "--out", tmp / "nowhere", code=2).stderr
    expect("is not a lake" in said and not (tmp / "nowhere").exists(), said)


def check_memory(tmp):
    """Ten times as many dumps, in chunks of one size, take the memory of few: nothing of a chunk outlives it."""
    if not pathlib.Path("/proc/self/status").exists():
        return
    dump, start = (sources.DATA / "mixed_xnnpack_fp32.etdump").read_bytes(), struct.Struct("<Q")
    began = start.pack(sources.executions("mixed_xnnpack_fp32")[0][0])
    peak = {}
    for n in (200, 2000):
        place = tmp / f"many/{n}/day=2026-11-20/device=d"
        place.mkdir(parents=True)
        for i in range(n):
            (place / f"{i}.etdump").write_bytes(dump.replace(began, start.pack(start.unpack(began)[0] - i)))
        done = job(place.parents[1], "--out", tmp / f"many-{n}", "--workers", 1, "--partition", "day", before=MANY)
        expect(f"{n:,} new" in done.stdout, n, done.stdout)
        peak[n] = int(done.stderr.split()[-1])
    print(f"peak memory: {peak[200]} KB of 200 dumps, {peak[2000]} of 2,000")
    expect(peak[2000] < 1.12 * peak[200], "memory grows with the number of dumps", peak)


def check_refused(tmp, source):
    said = job(tmp / "absent", "--out", tmp / "none", code=5).stderr
    expect("is not there" in said, "no source", said)
    said = job("s3a://bucket/nights", "--out", tmp / "none", code=2).stderr
    expect("s3a" in said, "a bucket", said)
    lake = tmp / "busy"
    (lake / "_etprof").mkdir(parents=True)
    with open(lake / "_etprof/lock", "w", encoding="ascii") as lock: # as a job at work holds it
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = job(source, "--out", lake, code=5).stderr
        expect("another job writes into it" in said and not list(lake.glob("[a-z]*")), "a second job", said)
    lake = tmp / "newer"
    (lake / "_etprof").mkdir(parents=True)
    (lake / "_etprof/lake.json").write_text('{"format": 99, "partition": ["day"]}')
    expect("99" in job(source, "--out", lake, code=4).stderr, "a newer lake")
    for text in ("", "[]", "{}", '{"format": "x", "partition": []}', '{"format": 1, "partition": "day"}'):
        (lake / "_etprof/lake.json").write_text(text)
        said = job(source, "--out", lake, code=4).stderr
        expect("lake.json: not what a lake keeps there" in said, "a damaged lake", text, said)
    said = job(source, "--out", tmp / "none", "--engine", "spark", code=5,
               before="import os\nos.environ['PATH'] = ''\nos.environ.pop('JAVA_HOME', None)").stderr
    expect("apt-get install default-jre-headless" in said or " -m pip install 'pyspark>=4,<5'" in said, "no Java", said)


# A bucket without a network: Hadoop's own table of mounts answers to the scheme.
BUCKET = """spark.hadoop.fs.s3a.impl org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme
spark.hadoop.fs.viewfs.overload.scheme.target.file.impl org.apache.hadoop.fs.LocalFileSystem
spark.hadoop.fs.viewfs.mounttable.bucket.link./nights file://{}
"""


def check_far(tmp, source, whole):
    """The same rows from a bucket, whose address is where they are from; a second run reads nothing again."""
    (source / "bench/day=2026-11-20/device=pixel9/damaged/nowhere.etdump").unlink() # no bucket has links
    strange = source / "bench/day=2026-11-20/device=pixel9/{a,b}*?[1] \\ %20.etdump" # to Spark a path is a pattern
    strange.write_bytes(b"torn")
    conf = tmp / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(BUCKET.format(source))
    ENV["SPARK_CONF_DIR"] = str(conf)
    lake, near = tmp / "far", tmp / "near"
    words = ("s3a://bucket/nights", "--out", lake, "--engine", "spark", "--partition", "day,device")
    said = job(*words).stdout
    job(source, "--out", near, "--engine", "duckdb", "--partition", "day,device")
    rows, wanted = all_rows(lake), all_rows(near)
    for table in TABLES:
        told = sorted(row.replace("s3a://bucket/nights/", f"{source}/") for row in rows.get(table, []))
        expect(told == sorted(wanted.get(table, [])) and (told or table not in whole), table, "of a bucket differs",
               told[:2], wanted.get(table, [])[:2])
    runs = ask(lake, "select run from sessions union select run from errors")
    expect(all(run.startswith("s3a://bucket/nights/") for (run,) in runs), "their addresses", runs)
    expect("nothing new" in job(*words).stdout, "a second run of a bucket", said)
    (source / "sessions/one/samples.csv").unlink() # what is known by path, size and time is not read again
    (source / "new.etdump").write_bytes(b"torn too")
    expect("1 new" in job(*words).stdout, "one more in a bucket")
    said = job("s3a://bucket/none", "--out", lake, "--engine", "spark", code=5).stderr
    expect("s3a://bucket/none: Spark cannot list it" in said, "a bucket's folder that is not there", said)
    said = job("nosuch://bucket/x", "--out", lake, "--engine", "spark", code=5).stderr
    expect("nosuch" in said and "docs/fleet.md" in said, "a connector that is not there", said)


def main(tmp):
    os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
    source, lake = tmp / "nights", tmp / "lake"
    damaged = sources.make(source, ETPROF)
    said = job(source, "--out", lake, "--engine", ENGINE).stdout
    expect(f"{len(damaged)} could not be read" in said, "what it says", said)
    check_dumps(lake, source)
    check_runs(lake, source)
    check_errors(lake, damaged)
    whole = all_rows(lake)
    if ENGINE == "spark":
        job(source, "--out", tmp / "other", "--engine", "duckdb")
        other = all_rows(tmp / "other")
        for table in TABLES:
            expect(whole.get(table) == other.get(table), table, "differs between the engines",
                   whole.get(table, [])[:2], other.get(table, [])[:2])
    else:
        check_copies(tmp)
        check_folders(tmp)
        check_killed(tmp)
        check_compacted(tmp)
        check_memory(tmp)
        check_refused(tmp, source)
    check_again(tmp, lake, source)
    if ENGINE == "spark":
        check_far(tmp, source, whole)


folder = new_folder()
main(folder)
finish()
