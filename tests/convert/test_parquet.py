# SPDX-License-Identifier: Apache-2.0
"""The Parquet files of `etprof convert` against values computed here from the raw files; and what the command does with
damage. Skipped (77) without pyarrow. usage: test_parquet.py ETPROF"""
import io
import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import made
import phase_folders
from checks import ended, execute, expect, finish, in_python_with, new_folder, skip

in_python_with("pyarrow")
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as e:
    skip(f"{e}; pip install pyarrow, and ETPROF_TESTS_PYTHON=that python")

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
ODD = ('linux_sme2_on', 'ärm "q", x', 'linux_sme2_off')


def convert(*words, **more):
    return execute(ETPROF, "convert", *map(os.fspath, words), "--to", "parquet", **more, text=False)


def read(content):
    """(schema, columns, the file); times of the calendar as microseconds."""
    file = pq.ParquetFile(io.BytesIO(content))
    rows = file.read()
    columns = {name: (c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c).to_pylist()
               for name, c in zip(rows.column_names, rows.columns)}
    return file.schema_arrow, columns, file.metadata


def codecs(metadata):
    return {metadata.row_group(g).column(c).compression for g in range(metadata.num_row_groups)
            for c in range(metadata.num_columns)}


def table(folders, which, *words):
    done = ended(convert(*folders, "--table", which, *words), 0)
    return read(done.stdout)


def same(columns, rows, what):
    rows = list(rows)
    n = len(columns["run"])
    expect(n == len(rows), f"{what}: {n} rows, {len(rows)} expected")
    for name in rows[0]:
        found, wanted = columns[name], [r[name] for r in rows]
        bad = next((i for i in range(min(n, len(rows))) if found[i] != wanted[i]), None)
        expect(bad is None, f"{what}: {name}[{bad}]", bad is not None and (found[bad], wanted[bad]))


def test_tables(tmp):
    first, second = made.make(tmp / "a b", names=ODD, beyond=1), made.make(tmp / "second", blocks=1)
    for plain in ([], ["--uncompressed"]):
        schema, columns, footer = table([first, second], "samples", *plain)
        same(columns, [*made.samples(first), *made.samples(second)], f"samples {plain}")
        expect(codecs(footer) == {"UNCOMPRESSED" if plain else "ZSTD"}, "codec of", plain, codecs(footer))
    for name, kind in (("duration_ns", "int64 not null"), ("level", "string"), ("emulated", "bool not null"),
                       ("generated_at", "timestamp[us, tz=UTC]")):
        found = schema.field(name)
        expect(f"{found.type}{'' if found.nullable else ' not null'}" == kind, name, found)
    same(table([first, second], "launches")[1], [*made.launches(first), *made.launches(second)], "launches")


def test_operators(tmp):
    """They are those of the analysis, whatever report.json says."""
    run = tmp / "run"
    shutil.copytree(made.EXAMPLE, run)
    without = table([run], "operators")[1]
    execute(ETPROF, "analyze", "--full", "--renew", run, check=True, text=False)
    same(without, made.operators(run), "operators")
    (run / "report.json").write_text("{}")
    expect(table([run], "operators")[1] == without, "operators beside a report of somebody else")


def test_phases(tmp):
    """Every row says of which phase it is, and operators of later phases are there too."""
    run = phase_folders.make(tmp / "run", lambda p, level, t, m: (3 if p == "prefill 16" else 1) * 100000, blocks=2)
    execute(ETPROF, "analyze", "--full", "--renew", run, check=True, text=False)
    for which, rows in (("samples", made.samples(run)), ("operators", made.operators(run))):
        columns = table([run], which)[1]
        same(columns, rows, f"{which} of phases")
        expect(which == "samples" or any(columns["speedup"]), "operators with a speedup")
        found = set(zip(*(columns[f"phase_{x}"] for x in ("name", "kind", "tokens", "depth"))))
        expect(found == {("prefill 16", "prefill", 16, 0), ("decode @0", "decode", 1, 0),
                         ("decode @32", "decode", 1, 32)}, which, "of every phase", found)


def test_many(tmp):
    """More rows than a row group holds: each is written before the next is read."""
    run = made.make(tmp / "many", blocks=3, iterations=25000)
    _, columns, footer = table([run], "samples")
    same(columns, made.samples(run), "many samples")
    groups = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
    expect(groups == [65536] * 3 + [225000 - 3 * 65536], "row groups", groups)


def test_no_rows(tmp):
    run = made.make(tmp / "empty", blocks=0)
    for which in ("samples", "launches"):
        schema, columns, footer = table([run], which)
        expect(footer.num_rows == 0 and len(schema) > 15, f"no {which}", footer)


def test_names(tmp):
    """A folder whose name is no UTF-8 is text all the same: U+FFFD stands for the byte."""
    odd = os.fsencode(tmp) + b"/n\xffm"
    made.make(tmp / "plain", blocks=1)
    os.rename(tmp / "plain", odd)
    done = ended(convert(odd, "--table", "samples"), 0)
    _, columns, _ = read(done.stdout)
    expect(set(columns["run"]) == {f"{tmp}/n\N{REPLACEMENT CHARACTER}m"}, "its text", set(columns["run"]))


def test_damage(tmp):
    out = tmp / "out.parquet"
    for name, at, content in (("samples.csv", 300, b"\xff\x00,,\n"), ("samples.csv", 0, b"a,b\n1,2\n"),
                              ("samples.csv", 0, b""), ("manifest.json", 1, b"{{"), ("environment.jsonl", 7, b"}")):
        run = tmp / f"damaged-{name}-{at}-{len(content)}"
        made.make(run)
        raw = (run / name).read_bytes()
        (run / name).write_bytes(raw[:at] + content + (raw[at + len(content):] if at else b""))
        done = convert(run, "--table", "launches" if name.startswith("env") else "samples", "-o", out)
        expect(done.returncode == 4 and name.encode() in done.stderr, f"damaged {name}", done.returncode, done.stderr)
        expect(not out.exists(), f"damaged {name}: a file was left")
    run = made.make(tmp / "gone")
    (run / "samples.csv").unlink()
    ended(convert(run, "--table", "samples", "-o", out), 5, says=b"samples.csv")
    run = made.make(tmp / "far")
    text = (run / "samples.csv").read_text().replace(",warmup,1000000000,", f",warmup,{2**63},", 1)
    (run / "samples.csv").write_text(text)
    ended(convert(run, "--table", "samples", "-o", out), 4, says=b"2^63")
    expect(not out.exists(), "a file was left")


def test_disk(tmp):
    run = made.make(tmp / "disk", blocks=1, iterations=70000)
    out = tmp / "full.parquet"
    out.write_text("what was there")
    # restore_signals: SIGXFSZ stays ignored, so that the write fails as on a full disk.
    done = convert(run, "--table", "samples", "-o", out, restore_signals=False,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    expect(done.returncode == 5 and b"full.parquet" in done.stderr, "no space", done.returncode, done.stderr)
    expect(out.read_text() == "what was there" and not list(tmp.glob("full.parquet?*")), "the old file stays")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([ETPROF, "convert", run, "--to", "parquet", "--table", "samples"], stdout=full,
                              stderr=subprocess.PIPE, timeout=300, check=False)
    expect(done.returncode == 5, "standard output is full", done.returncode, done.stderr)
    expect(done.stderr.count(b"standard output") == 1, "said once", done.stderr)


folder = new_folder()
for test in (test_tables, test_operators, test_phases, test_many, test_no_rows, test_names,
             test_damage, test_disk):
    path = folder / test.__name__
    path.mkdir()
    test(path)
finish("tables in Parquet hold what the raw files hold")
