# SPDX-License-Identifier: Apache-2.0
"""The Python package over the C library: every function, its errors, tables through the Arrow C stream, the Inspector's
face. Parts that want pandas, pyarrow, Polars or a runner say so when these are not there.
usage: test_package.py SOURCE_DIR LIBETPROF"""
import ast
import ctypes
import dataclasses
import gzip
import importlib.util
import json
import math
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

SOURCE, LIBRARY = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/tools")]
from checks import execute, in_python_with

in_python_with("pandas", "pyarrow", "polars", "duckdb")
os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
sys.dont_write_bytecode = True
from struct import pack

import etprof
from etprof import errors, measuring, runs

DATA, RUN = SOURCE / "tests/data", SOURCE / "examples/runs/image_encoder_int8_qemu"
DUMP, FIXED = DATA / "mixed_xnnpack_fp32.etdump", DATA / "fixes/broadcast.etdump"
MODEL = SOURCE / "examples/models/toy_cnn_xnnpack_fp32.pte"
RUNNER = next(SOURCE.glob(f"build/bundle/{platform.machine()}-linux-gnu"), None)
if RUNNER:
    os.environ["ETPROF_RUNNER"] = str(RUNNER)


def has(module):
    return importlib.util.find_spec(module) is not None


class Importing(unittest.TestCase):
    def test_it_loads_nothing(self):
        code = ("import sys, etprof; print(sorted(m for m in sys.modules if m.split('.')[0] in "
                "('ctypes', 'numpy', 'pandas', 'torch')))")
        done = execute(sys.executable, "-c", code, check=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual(done.stdout, "[]\n")

    def test_the_inspector_loads_little(self):
        """Its first row waits for what is imported."""
        code = ("import sys; from etprof import Inspector; Inspector(etdump_path=sys.argv[1]).rows(); "
                "print(sorted(m for m in sys.modules if m.split('.')[0] in ('etprof', 'html', 'dataclasses')))")
        done = execute(sys.executable, "-c", code, DUMP, check=True,
                       env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual(done.stdout, str(["etprof", *(f"etprof.{m}" for m in (
            "answers", "errors", "inspector", "library", "system"))]) + "\n")

    def test_every_name_is_there(self):
        for name in etprof.__all__:
            self.assertTrue(hasattr(etprof, name), name)
            self.assertIn(name, dir(etprof))
        self.assertRaises(AttributeError, lambda: etprof.nothing)

    def test_the_version_is_the_library_s(self):
        text = (SOURCE / "include/etprof/version.h").read_text()
        self.assertIn(f'ETP_VERSION "{etprof.__version__}"', text)

    def test_the_folder_is_no_second_package(self):
        """Installed by pip as it lies, it would be an etprof without the program."""
        for name in ("pyproject.toml", "setup.py", "setup.cfg"):
            self.assertFalse((SOURCE / "python" / name).exists(), name)

    def test_another_library_is_refused(self):
        code = ("import etprof\netprof.__version__ = '9.9.9'\nfrom etprof import errors\ntry:\n    etprof.ops('x')\n"
                "except errors.EnvironmentProblem as e:\n    print(e)")
        done = execute(sys.executable, "-c", code, check=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertIn(f"is version {etprof.__version__} and this package 9.9.9", done.stdout)

    def test_a_missing_or_broken_library_says_a_sentence(self):
        for place, says in (("/nowhere/libetprof.so", "not beside this package"), (str(DUMP), "cannot be loaded")):
            code = "import etprof\ntry:\n    etprof.ops('x')\nexcept Exception as e:\n    print(type(e).__name__, e)"
            done = execute(sys.executable, "-c", code, check=True,
                           env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "ETPROF_LIBRARY": place})
            self.assertIn("EnvironmentProblem", done.stdout)
            self.assertIn(says, done.stdout)

    def test_structs_are_those_of_the_headers(self):
        """Offsets and sizes as a C compiler has them."""
        from etprof import library as lib

        names = {lib.Error: "etp_error", lib.Buffer: "etp_buffer", lib.AnalysisOptions: "etp_analysis_options",
                 lib.Output: "etp_analysis_output", lib.Question: "etp_question", lib.Summary: "etp_analysis_summary",
                 lib.ArmResult: "etp_arm_result", lib.ComparisonResult: "etp_comparison_result",
                 lib.FindingResult: "etp_finding_result", lib.MeasurementOptions: "etp_measurement_options",
                 lib.MeasurementProgress: "etp_measurement_progress",
                 lib.MeasurementCallbacks: "etp_measurement_callbacks",
                 lib.MeasurementSummary: "etp_measurement_summary",
                 lib.InspectorColumns: "etp_inspector_columns"}
        lines = []
        for struct, name in names.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            lines += [f'printf("%zu\\n", offsetof({name}, {field}));' for field, _ in struct._fields_]
        program = "#include <etprof/etprof.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "offsets.c")
            source.write_text(program)
            subprocess.run([os.environ.get("CC", "cc"), "-std=c17", f"-I{SOURCE / 'include'}", source, "-o",
                            f"{folder}/offsets"], check=True)
            expected = execute(f"{folder}/offsets", check=True).stdout.split()
        found = []
        for struct in names:
            found.append(ctypes.sizeof(struct))
            found += [getattr(struct, field).offset for field, _ in struct._fields_]
        self.assertEqual(found, [int(n) for n in expected])


class Files(unittest.TestCase):
    def test_operators(self):
        found = etprof.ops(DUMP)
        # ExecuTorch's Inspector: mixed_xnnpack_fp32.etdump.tsv
        kernel = next(t for t in found.times if t.name == "native_call_cumsum.out")
        self.assertEqual((kernel.mean_ns, kernel.max_ns, kernel.calls), (227, 511, 3))
        slow = next(t for t in etprof.ops(DUMP, source_unit="us").times if t.name == "native_call_cumsum.out")
        self.assertEqual((slow.mean_ns, slow.max_ns, slow.calls), (227_000, 511_000, 3))
        self.assertEqual(found.document["schema"], "etprof.ops/1")
        self.assertIn("operators", found.tables)
        self.assertEqual(len(found.operators), 3)
        self.assertIn("cumsum", str(found))
        self.assertIn("cumsum", found.report("csv", table="operators"))

    def test_inspect(self):
        model = etprof.inspect(MODEL)
        self.assertEqual(model.document["schema"], "etprof.inspect/1")
        self.assertEqual(model.document["size"], MODEL.stat().st_size)
        tree = etprof.inspect(MODEL, tree=True).report()
        self.assertNotEqual(tree, model.report())
        self.assertIn("schema", etprof.inspect(MODEL, diff=MODEL).document)

    def test_stats(self):
        found = etprof.stats(DATA / "samples.csv")
        only, = found.comparisons
        self.assertEqual((only.baseline, only.verdict), ("demo_sme2_off", "faster"))
        self.assertTrue(only.lo < only.speedup < only.hi)

    def test_whatif(self):
        with self.assertRaisesRegex(errors.EtprofError, "emulator cannot be recomputed"):
            etprof.whatif(RUN, "drop transpose*")
        with self.assertRaisesRegex(errors.UsageError, "a change is missing"):
            etprof.whatif([DUMP, DUMP])
        found = etprof.whatif([DUMP, DUMP], "drop *cumsum*")
        self.assertEqual(found.document["schema"], "etprof.whatif/1")

    def test_fixes(self):
        """They are those of the document, and whatif takes them by their names."""
        run = etprof.dumps(FIXED, pte=FIXED.with_suffix(".pte"))
        told = run.document["next_fixes"]
        self.assertEqual([(f.id, f.text, f.lo_ns, f.expected_ns, f.hi_ns, f.command) for f in run.fixes],
                         [(f["id"], f["text"], *(f["gain_ns"][k] for k in ("lo", "expected", "hi")), f["command"])
                          for f in told])
        found = etprof.whatif(FIXED, "N1", pte=FIXED.with_suffix(".pte")).document
        self.assertEqual(found["steps"][0]["gain_ns"], told[0]["gain_ns"]["expected"])
        with self.assertRaisesRegex(errors.UsageError, "not a run folder's"):
            run.fixes[0].apply()

    def test_the_newest_run_below_a_folder(self):
        with tempfile.TemporaryDirectory() as top:
            runs = pathlib.Path(top, "out_x", "runs")
            for name, time in (("linux", "2026-01-02T00:00:00Z"), ("linux.2", "2026-01-03T00:00:00Z"),
                               ("linux.3", "2026-01-03T00:00:00Z"), ("mac", "2026-01-01T00:00:00Z")):
                shutil.copytree(RUN, runs / name)
                manifest = json.loads((runs / name / "manifest.json").read_text())
                (runs / name / "manifest.json").write_text(json.dumps({**manifest, "generated_at": time}))
            for folder in (runs.parent, runs, str(runs)):
                self.assertEqual(etprof.open(folder).summary.folder, str(runs / "linux.3"))
            self.assertEqual(etprof.open(runs / "mac").summary.folder, str(runs / "mac"))
            self.assertRaises(errors.EtprofError, lambda: etprof.open(top))

    def test_compare(self):
        found = etprof.compare(DUMP, DUMP, names=("first", "second"))
        self.assertEqual([a.name for a in found.arms], ["first", "second"])
        only, = found.comparisons
        self.assertEqual((only.baseline, only.candidate, only.method), (0, 1, "traced-means"))
        self.assertTrue(math.isclose(only.speedup, 1))
        self.assertTrue(found.summary.bare)

    def test_a_run_folder(self):
        found = etprof.open(RUN)
        manifest = json.loads((RUN / "manifest.json").read_text())
        self.assertEqual({a.name for a in found.arms}, {e["name"] for e in manifest["plan"]["arms"]})
        self.assertTrue(all(c.withheld == "emulated" and c.speedup is None for c in found.comparisons))
        self.assertEqual([f.text for f in found.findings], [f["text"] for f in found.document["findings"]])
        self.assertEqual(len(found.operators), len(found.document["operators"]))
        timed = sum(1 for line in (RUN / "samples.csv").read_text().splitlines()[1:] if line)
        self.assertEqual(len(found.samples), timed)
        self.assertIn("<pre>", found._repr_html_())
        self.assertIn("</html>", found.report("html"))
        self.assertTrue(dataclasses.is_dataclass(found.arms[0]))

    def test_tables_outlive_what_they_are_of(self):
        table = etprof.ops(DUMP).operators
        self.assertEqual(len(table.rows()), 3)

    def test_errors_have_the_words_of_the_command(self):
        with self.assertRaisesRegex(errors.EnvironmentProblem, "no such file"):
            etprof.ops(DATA / "no such file")
        with self.assertRaises(errors.BadInput):
            etprof.ops(DATA / "samples.csv")
        with self.assertRaisesRegex(errors.UsageError, "not a run folder"):
            etprof.open(DATA)
        with self.assertRaisesRegex(errors.UsageError, "no table named 'nothing'"):
            etprof.ops(DUMP).table("nothing").rows()
        with self.assertRaisesRegex(errors.UsageError, "no format 'pdf'"):
            etprof.ops(DUMP).report("pdf")
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder, "cut.etdump")
            cut.write_bytes(DUMP.read_bytes()[:600])
            with self.assertRaises(errors.BadInput) as caught:
                etprof.ops(cut)
            self.assertIn("cut.etdump", str(caught.exception))
            if caught.exception.byte is not None:
                self.assertIn(f"at byte {caught.exception.byte}", str(caught.exception))

    def test_many_threads_read_one(self):
        found, texts = etprof.open(RUN), []
        threads = [threading.Thread(target=lambda: texts.append(found.report())) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(set(texts)), 1)


class Watched:
    """A table whose stream notes where the values of each column lie when it hands them over."""

    def __init__(self, table):
        self.table, self.seen, self.keep = table, {}, []

    def __arrow_c_stream__(self, requested_schema=None):
        from etprof import tables

        before = set(tables._handed)
        capsule = self.table.__arrow_c_stream__(requested_schema)
        stream = tables._handed[(set(tables._handed) - before).pop()]
        function, names = stream.get_next, list(self.table.columns())
        original = type(function)(ctypes.cast(function, ctypes.c_void_p).value)

        def get_next(which, array):
            code = original(which, array)
            if code == 0 and array.contents.release:
                for i, name in enumerate(names):
                    self.seen.setdefault(name, set()).add(array.contents.children[i].contents.buffers[1])
            return code

        stream.get_next = type(function)(get_next)
        self.keep += [stream.get_next, original]
        return capsule


class Arrow(unittest.TestCase):
    def test_pyarrow_and_our_own_reading_agree(self):
        if not has("pyarrow"):
            self.skipTest("no pyarrow")
        import pyarrow as pa

        run = etprof.open(RUN)
        tables = [run.operators, run.samples, run.launches, *(run.table(t) for t in run.tables),
                  etprof.ops(DUMP).operators]
        self.assertGreater(len(tables), 6)
        for table in tables:
            arrow = pa.table(table)
            arrow.validate(full=True)
            own = table.columns()
            self.assertEqual(arrow.column_names, list(own))
            for name, cells in own.items():
                column = arrow.column(name)
                if pa.types.is_timestamp(column.type):
                    column = column.cast(pa.int64())
                self.assertEqual(column.to_pylist(), cells, name)

    def test_a_stream_that_nobody_reads_is_released(self):
        table = etprof.ops(DUMP).operators
        for _ in range(100):
            table.__arrow_c_stream__()
        from etprof import tables

        self.assertEqual(tables._handed, {})

    def test_polars(self):
        if not has("polars"):
            self.skipTest("no polars")
        import polars

        for table in (etprof.ops(DUMP).operators, etprof.open(RUN).operators, etprof.open(RUN).samples):
            taken = Watched(table)
            frame = polars.DataFrame(taken)
            self.assertEqual(frame.columns, list(table.columns()))
            self.same_values(table, {name: frame[name].to_list() for name in frame.columns})
            # from_arrow makes a series of structs of what is no pyarrow table, or the frame (older Polars)
            whole = polars.from_arrow(table)
            whole = whole.struct.unnest() if isinstance(whole, polars.Series) else whole
            self.assertTrue(whole.equals(frame))
            numbers = [n for n in frame.columns if frame[n].dtype in (polars.Int64, polars.Float64)]
            self.assertGreater(len(numbers), 1)
            for name in numbers:
                if has("pyarrow"): # which shows where its memory is
                    self.assertIn(frame[name].to_arrow().buffers()[1].address, taken.seen[name], name)

    def same_values(self, table, columns):
        """Where both are numbers, texts or booleans; moments are of another type."""
        for name, cells in table.columns().items():
            if not any(hasattr(v, "year") for v in columns[name]):
                self.assertEqual(columns[name], cells, name)

    def test_pyarrow_takes_the_memory_as_it_is(self):
        if not has("pyarrow"):
            self.skipTest("no pyarrow")
        import pyarrow as pa

        for table in (etprof.ops(DUMP).operators, etprof.open(RUN).samples):
            taken = Watched(table)
            arrow = pa.table(taken)
            for name in arrow.column_names:
                for chunk in arrow.column(name).chunks:
                    self.assertIn(chunk.buffers()[1].address, taken.seen[name], name)
            copy = pa.array(table.columns()["mean_ns" if "mean_ns" in arrow.column_names else "duration_ns"])
            self.assertFalse(any(copy.buffers()[1].address in places for places in taken.seen.values()))

    def test_duckdb(self):
        if not has("duckdb") or not has("pyarrow"):
            self.skipTest("no duckdb" if not has("duckdb") else "no pyarrow, which DuckDB reads streams with")
        import duckdb

        run = etprof.open(RUN)
        for table in (etprof.ops(DUMP).operators, run.operators, run.samples):
            columns = table.columns()
            ours = table
            found = duckdb.sql("select * from ours").fetchall() # the variable, by its stream
            self.same_values(table, {n: [row[i] for row in found] for i, n in enumerate(columns)})
            self.assertEqual(len(found), len(ours))
        samples = run.samples
        medians = dict(duckdb.sql("select experiment, median(duration_ns) from samples group by 1").fetchall())
        by_hand = {}
        for row in samples.rows():
            by_hand.setdefault(row["experiment"], []).append(row["duration_ns"])
        self.assertEqual(medians, {k: statistics.median(v) for k, v in by_hand.items()})

    def test_duckdb_scans_the_stream_and_keeps_nothing_of_it(self):
        """It asks for batches of ours, and what it gives lies in its own memory: the copy is DuckDB's."""
        if not has("duckdb") or not has("pyarrow"):
            self.skipTest("no duckdb" if not has("duckdb") else "no pyarrow, which DuckDB reads streams with")
        import duckdb
        from etprof import tables

        before = len(tables._handed)
        watched = Watched(etprof.open(RUN).samples)
        found = duckdb.sql("select duration_ns from watched").to_arrow_table()
        self.assertEqual(found.column(0).to_pylist(), watched.table.columns()["duration_ns"])
        places = watched.seen["duration_ns"]
        self.assertTrue(places)
        self.assertTrue(all(chunk.buffers()[1].address not in places for chunk in found.column(0).chunks))
        self.assertEqual(len(tables._handed), before)

    def test_duckdb_pulls_batches_as_it_needs_them(self):
        """50 MB in batches that are made when they are asked for: one row takes one batch, the sum of all takes each
        once, and not even a quarter of them lay in memory together."""
        if not has("duckdb") or not has("pyarrow"):
            self.skipTest("no duckdb" if not has("duckdb") else "no pyarrow, which DuckDB reads streams with")
        code = """
import ctypes, duckdb, pyarrow
from etprof.tables import Table
n, pulled = 65536, 0
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
def batches(count):
    global pulled
    for i in range(count):
        pulled += 1
        yield pyarrow.record_batch([pyarrow.array(range(i * n, (i + 1) * n), pyarrow.int64())], names=["x"])
def asked(count, query):
    global pulled
    pulled = 0
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("x", pyarrow.int64())]), batches(count))
    ours = Table("made", lambda out: reader._export_to_c(ctypes.cast(out, ctypes.c_void_p).value))
    return duckdb.sql(query).fetchall()[0][0]
duckdb.sql("set enable_progress_bar = false")  # which comes after two seconds, between the figures
asked(4, "select sum(x) from ours")
before = peak()
print(asked(100, "select x from ours limit 1"), pulled, asked(100, "select sum(x) from ours"), pulled, peak() - before)
"""
        done = execute(sys.executable, "-c", code, check=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        one, few, total, all_of_them, kb = map(int, done.stdout.split())
        n = 100 * 65536
        self.assertEqual((one, total, all_of_them), (0, n * (n - 1) // 2, 100))
        self.assertLess(few, 10)
        self.assertLess(kb, n * 8 // 1024 // 4)

    def test_pandas(self):
        if not has("pandas"):
            self.skipTest("no pandas")
        self.assertEqual(len(etprof.open(RUN).operators.to_pandas()), etprof.open(RUN).document["operators"].__len__())


def plain(value):
    """A value of a data frame as JSON has it."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (list, tuple)): # JSON has no tuples; test_inspector.py asks for them
        return [plain(v) for v in value]
    if isinstance(value, dict) and set(value) == {"tensor"}:
        return {"tensor": dict(value["tensor"])}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


class Inspector(unittest.TestCase):
    def test_the_table_of_the_official_one(self):
        for record in (None, DATA / "mixed_xnnpack_fp32.etrecord"):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder, "x.tsv")
                etprof.Inspector(etdump_path=DUMP, etrecord=record).save_data_to_tsv(out)
                official = DATA / f"mixed_xnnpack_fp32.etdump{'.etrecord' if record else ''}.tsv"
                self.assertEqual(out.read_text(), official.read_text())

    def test_what_it_does_not_take_is_said(self):
        with self.assertRaisesRegex(errors.UsageError, "delegate_time_scale_converter"):
            etprof.Inspector(etdump_path=DUMP, delegate_time_scale_converter=print)
        with self.assertRaisesRegex(errors.UsageError, "needs etdump_path"):
            etprof.Inspector()

    def test_the_data_frame(self):
        if not has("pandas"):
            self.skipTest("no pandas")
        frame = etprof.Inspector(etdump_path=str(DUMP)).to_dataframe()
        row = frame[frame.event_name == "native_call_cumsum.out"].iloc[0]
        self.assertEqual(row["avg (ms)"], 0.000227)
        self.assertIn("avg", etprof.Inspector(etdump_path=DUMP).to_dataframe(include_units=False).columns)

    def test_rows_and_types_are_the_official_ones(self):
        """Against the table of ExecuTorch 1.5.1's Inspector, and the types of its frame's columns under pandas 3:
        objects where a cell may be None, text where none is; times are floats, whole numbers too."""
        if not has("pandas"):
            self.skipTest("no pandas")
        import pandas

        text = pandas.Series(["x"]).dtype
        for table in sorted(DATA.glob("*.etdump*.tsv")):
            record = DATA / "mixed_xnnpack_fp32.etrecord" if ".etrecord." in table.name else None
            inspector = etprof.Inspector(etdump_path=DATA / (table.name.partition(".etdump")[0] + ".etdump"),
                                         etrecord=record)
            frame = inspector.to_dataframe()
            shown = frame[~frame.event_name.str.contains("OPERATOR_CALL")].reset_index(drop=True)
            official = pandas.read_csv(table, sep="\t", keep_default_na=False, na_values=[""])
            for name in ("event_block_name", "event_name", "is_delegated_op",
                         *(f"{s} (ms)" for s in ("p10", "p50", "p90", "avg", "min", "max"))):
                self.assertEqual(list(shown[name]), list(official[name]), f"{table.name}: {name}")
            self.assertEqual([str(v) for v in shown.start_time], list(official.start_time), table.name)
            kinds = {name: str(frame[name].dtype) for name in frame}
            self.assertEqual({n for n, k in kinds.items() if k == "float64"},
                             {f"{s} (ms)" for s in ("p10", "p50", "p90", "avg", "min", "max")})
            self.assertEqual({n for n, k in kinds.items() if k == "bool"}, {"is_delegated_op"})
            self.assertEqual((frame["event_name"].dtype, frame["event_block_name"].dtype), (text, text))
            check_frame(self, frame, inspector.rows(), table.name)

    def test_a_frame_can_be_written_to(self):
        if not has("pandas"):
            self.skipTest("no pandas")
        frame = etprof.Inspector(etdump_path=DUMP).to_dataframe()
        frame.loc[0, "avg (ms)"] = 7.5
        frame.loc[0, "event_name"] = "other"
        frame["twice"] = frame["avg (ms)"] * 2
        frame.at[0, "raw"].append(1.0)
        again = etprof.Inspector(etdump_path=DUMP).to_dataframe()
        self.assertEqual(frame.iloc[0]["twice"], 15)
        self.assertEqual((again.iloc[0]["avg (ms)"], len(again.iloc[0]["raw"])), (0, 3))
        self.assertEqual(len(frame.sort_values("avg (ms)").groupby("event_name")["twice"].sum()), 6)
        self.assertTrue(all(a is not b for a, b in zip(again["op_types"], again["op_types"][1:])))

    def test_elements_of_a_tensor_are_read_when_asked_for(self):
        """Against Python's own array and struct: every type, a name that is gone, a file that was cut meanwhile."""
        from etprof import tensors

        values = {"torch.uint8": [0, 255], "torch.int8": [-128, 127], "torch.int16": [-2, 300],
                  "torch.bool": [True, False],
                  "torch.int32": [-(2**31), 7], "torch.int64": [2**62 + 1, -1], "torch.uint16": [65535, 1],
                  "torch.float16": [0.5, -2.0], "torch.float32": [0.25, math.inf], "torch.float64": [1e300, -1.5]}
        self.assertEqual(set(values), set(tensors._CODES))
        codes = dict(zip(values, ("<2B", "<2b", "<2h", "<2?", "<2i", "<2q", "<2H", "<2e", "<2f", "<2d")))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "debug.bin")
            data = {dtype: pack(codes[dtype], *v) for dtype, v in values.items()}
            file.write_bytes(b"".join(b"\1" * 16 + d for d in data.values()))
            buffer, at, found = tensors.Buffer(file), 0, {}
            for dtype, d in data.items():
                found[dtype] = tensors.Tensor(dtype, [2, 1], at + 16, buffer)
                at += 16 + len(d)
            with mock.patch.object(os, "pread", side_effect=AssertionError("read")):
                self.assertEqual((found["torch.int8"].shape, repr(found["torch.int8"])),
                                 ((2, 1), "<etprof tensor torch.int8 [2, 1]>"))
            file.rename(file.with_name("other name"))
            for dtype, v in values.items():
                shown = dict(found[dtype])
                self.assertEqual(shown["data"], ["inf" if x == math.inf else x for x in v], dtype)
                self.assertEqual(shown["sum"], "inf" if math.inf in v else float(sum(v)), dtype)
                self.assertEqual((shown["dtype"], shown["shape"]), (dtype, [2, 1]))
                if has("numpy"):
                    self.assertEqual(found[dtype].numpy().tolist(), [[x] for x in v], dtype)
            os.truncate(file.with_name("other name"), at - 1)
            with self.assertRaisesRegex(errors.BadInput, "shorter than it was: no 16 bytes at byte"):
                found["torch.float64"].sum()
            many = tensors.Tensor("torch.float32", [13, 5], None, None)
            self.assertEqual((many["head"], many.sum()), ([0.0] * 64, 0.0))
            self.assertRaises(KeyError, lambda: many["data"])
            with self.assertRaisesRegex(errors.EnvironmentProblem, "no such"):
                tensors.Buffer(pathlib.Path(folder, "no such"))

    def test_an_older_pandas_makes_the_same(self):
        """Without the function of pandas 3 that takes blocks as they are."""
        if not has("pandas"):
            self.skipTest("no pandas")
        from etprof import inspector as module

        whole = etprof.Inspector(etdump_path=DUMP).to_dataframe()
        with mock.patch.object(module, "_makers", lambda: (None, None)):
            older = etprof.Inspector(etdump_path=DUMP).to_dataframe()
        self.assertEqual(list(older.columns), list(whole.columns))
        for name in whole:
            self.assertEqual([plain(v) for v in older[name]], [plain(v) for v in whole[name]], name)

    def test_the_corpus(self):
        corpus = os.environ.get("ETPROF_CORPUS") or str(SOURCE / "../shared/corpus")
        if not pathlib.Path(corpus).is_dir() or not has("pandas"):
            self.skipTest("no pandas" if not has("pandas") else "no reference corpus (ETPROF_CORPUS)")
        seen = check_corpus(self, pathlib.Path(corpus))
        self.assertGreater(seen, 100)


def check_frame(test, frame, rows, name):
    found = [{k: plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
    test.assertEqual(list(frame.columns), list(rows[0]), name)
    test.assertEqual(found, [{k: plain(v) for k, v in row.items()} for row in rows], name)
    for column in frame:
        cells = list(frame[column])
        if any(v is None for v in (row[column] for row in rows)):
            test.assertEqual(frame[column].dtype, object, f"{name}: {column}")
            test.assertEqual([v is None for v in cells], [row[column] is None for row in rows], f"{name}: {column}")
    test.assertTrue(all(type(v) is float for raw in frame["raw"] for v in raw or []), name)
    test.assertTrue(all(type(v) is int for start in frame["start_time"] for v in start or []), name)


def check_corpus(test, corpus):
    """Every data frame against what the official Inspector said. How many there were."""
    seen, spent = 0, 0.0
    for expected in sorted((corpus / "inspector").glob("*.json*")):
        name = expected.name.partition(".json")[0]
        if "flatc" in expected.name:
            continue
        record = None
        if name.endswith(".etrecord"):
            name = name.removesuffix(".etrecord")
            record = corpus / "models" / f"{name.split('.')[0]}.etrecord"
        buffer = corpus / "dumps" / f"{name}.debug.bin"
        rows = json.loads(gzip.decompress(expected.read_bytes()) if expected.suffix == ".gz"
                          else expected.read_text())
        began = time.perf_counter()
        with mock.patch.object(os, "pread", side_effect=AssertionError("elements were read")):
            frame = etprof.Inspector(etdump_path=corpus / "dumps" / name, etrecord=record,
                                     debug_buffer_path=buffer if buffer.exists() else None).to_dataframe()
        spent += time.perf_counter() - began
        check_frame(test, frame, rows, expected.name)
        seen += 1
    print(f"{seen} data frames in {spent:.2f} s", flush=True)
    return seen


@unittest.skipUnless(RUNNER, "no runner bundle (scripts/build-runner native)")
class Measuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="etprof-package-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_a_session(self):
        told = []
        found = etprof.ab(MODEL, blocks=2, iterations=5, warmup=2, out="run", price=True, progress=told.append)
        self.assertEqual(found.summary.state, "finished")
        for arm in found.document["arms"]: # a folder in memory cannot be dropped from it
            self.assertTrue(arm["cold_load_ns"] or arm["cached_bytes"], arm)
        self.assertTrue(pathlib.Path("run/report.html").is_file())
        self.assertTrue(any(p.blocks == 2 for p in told))
        self.assertIn("block", " ".join(map(str, told)))
        self.assertEqual(len(found.operators), len(found.document["operators"]))

    def test_stopped_it_can_go_on(self):
        def stop(progress):
            if progress.block == 2:
                raise KeyboardInterrupt

        with self.assertRaises(errors.Interrupted) as caught:
            etprof.ab(MODEL, blocks=3, iterations=5, warmup=2, out="run", progress=stop)
        self.assertIn("etprof.resume", str(caught.exception))
        folder = caught.exception.folder
        self.assertEqual(etprof.open(folder).summary.state, "interrupted")
        found = etprof.resume(folder, progress=False)
        self.assertEqual(found.summary.state, "finished")
        manifest = json.loads(pathlib.Path(folder, "manifest.json").read_text())
        self.assertEqual(manifest["plan"]["blocks"], 3)
        self.assertIn(manifest["blocks_done"], (3, 4)) # a block that was cut short is kept, and one more measured

    def test_its_memory_goes_when_it_has_ended(self):
        """Ctrl-C again and again, while it waits and while the launch is being ended: real signals, since an
        interrupted join of Python 3.12 takes the thread for ended."""
        from etprof import library as lib

        finished, at_destroy, pressed, call, function = threading.Event(), [], [], lib.call, lib.function

        def watched_call(name, *arguments):
            try:
                call(name, *arguments)
            finally:
                if name == "etp_measurement_run":
                    end = time.monotonic() + 60
                    while len(pressed) < 5 and time.monotonic() < end:  # the last ones come while it is ended
                        time.sleep(0.01)
                    time.sleep(0.1)
                    finished.set()

        def watched_function(name):
            if name == "etp_measurement_destroy":
                at_destroy.append(finished.is_set())
            return function(name)

        def press(*_):
            pressed.append(1)
            if len(pressed) == 5:
                signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

        def first(progress):
            if not pressed and signal.getitimer(signal.ITIMER_REAL)[0] == 0:
                signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, press))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        with mock.patch.object(lib, "call", watched_call), mock.patch.object(lib, "function", watched_function), \
                self.assertRaises(errors.Interrupted) as caught:
            etprof.ab(MODEL, blocks=40, iterations=20, warmup=2, out="run", progress=first)
        self.assertEqual((len(pressed), at_destroy), (5, [True]))
        self.assertEqual(etprof.open(caught.exception.folder).summary.state, "interrupted")

    def test_wrong_words(self):
        with self.assertRaisesRegex(errors.UsageError, "no model"):
            etprof.ab()
        with self.assertRaises(errors.EtprofError):
            etprof.ab("no such.pte", progress=False)
        from etprof import library as lib

        with self.assertRaisesRegex(errors.UsageError, "its own plan"):
            measuring._measure(lib.MeasurementOptions(resume=b"run", blocks=3), False)


class Notebook(unittest.TestCase):
    def test_it_runs(self):
        if not all(has(m) for m in ("nbconvert", "ipykernel", "pandas")):
            self.skipTest("no nbconvert, ipykernel or pandas")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SOURCE / "examples", f"{folder}/examples")
            out = pathlib.Path(folder, "examples/done.ipynb")
            done = execute(sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", out,
                           f"{folder}/examples/etprof.ipynb",
                           env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "HOME": folder})
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = json.loads(out.read_text())["cells"]
        outputs = [o for cell in shown for o in cell.get("outputs", [])]
        self.assertTrue(any("<pre>" in "".join(o.get("data", {}).get("text/html", "")) for o in outputs))
        self.assertIn("emulat", json.dumps(outputs))


    @unittest.skipUnless(RUNNER, "no runner bundle (scripts/build-runner native)")
    def test_its_stop_button(self):
        """Jupyter interrupts the kernel's whole group of processes; the next cell goes on with the session."""
        if not all(has(m) for m in ("jupyter_client", "ipykernel")):
            self.skipTest("no jupyter_client or ipykernel")
        from jupyter_client.manager import start_new_kernel

        with tempfile.TemporaryDirectory() as folder:
            manager, client = start_new_kernel(cwd=folder, env={**os.environ, "PYTHONPATH": str(SOURCE / "python"),
                                                                "HOME": folder})
            try:
                shown = []

                def heard(message):
                    shown.append(message["content"].get("text", ""))
                    if "block " in shown[-1] and not pressed:
                        pressed.append(manager.interrupt_kernel())

                def cell(code):
                    return client.execute_interactive(code, output_hook=heard, timeout=120)["content"]

                pressed = []
                stopped = cell(f"import etprof\nrun = etprof.ab({str(MODEL)!r}, blocks=6, iterations=20, out='run')")
                self.assertEqual((stopped["status"], stopped.get("ename")), ("error", "Interrupted"), shown)
                self.assertIn("etprof.resume('run')", stopped["evalue"])
                went_on = cell("run = etprof.resume('run', progress=False)\nprint(run.summary.state, len(run.arms))")
                self.assertEqual(went_on["status"], "ok", went_on)
                self.assertTrue(any(text.startswith("finished ") for text in shown), shown[-3:])
            finally:
                client.stop_channels()
                manager.shutdown_kernel(now=True)


class OldPythons(unittest.TestCase):
    """The wheel is for every Python from 3.9 on."""

    FILES = sorted((SOURCE / "python/etprof").rglob("*.py"))

    def test_syntax(self):
        self.assertGreater(len(self.FILES), 40)
        for file in self.FILES:
            ast.parse(file.read_text(), file.name, feature_version=(3, 9))
        self.assertRaises(SyntaxError, ast.parse, "match 1:\n    case 1:\n        pass\n", feature_version=(3, 9))

    def test_interpreters_that_are_here(self):
        """Imports and asks with each; the package and its start, without the parts that need other packages."""
        found = {}
        places = [*(pathlib.Path(p) for p in os.environ.get("PATH", "").split(os.pathsep)),
                  *pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob("versions/*/bin")]
        for minor in range(9, 16):
            for place in places:
                python = place / f"python3.{minor}"
                if minor not in found and python.is_file() and subprocess.run(
                        [python, "-c", "import sys, ctypes; sys.exit(sys.version_info[1] != int(sys.argv[1]))",
                         str(minor)], capture_output=True, check=False).returncode == 0:
                    found[minor] = python
        if not set(found) - {sys.version_info[1]}:
            self.skipTest("no other Python 3.9 to 3.15 here")
        code = ("import sys, etprof; from etprof import command, fleet, measuring, start, tensors; "
                "print(len(etprof.ops(sys.argv[1]).times), len(etprof.open(sys.argv[2]).arms) > 1, "
                "len(etprof.Inspector(etdump_path=sys.argv[1]).rows()) > 3)")
        print("Python 3." + ", 3.".join(map(str, sorted(found))), flush=True)
        for python in found.values():
            done = execute(python, "-c", code, DUMP, RUN,
                           env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual((done.stdout, done.stderr), ("3 True True\n", ""), python)


class Types(unittest.TestCase):
    def test_hints_are_complete(self):
        if not has("mypy"):
            self.skipTest("no mypy")
        files = [SOURCE / f"python/etprof/{name}.py" for name in
                 ("__init__", "library", "tables", "runs", "replies", "measuring", "inspector", "runfolders", "extras",
                  "parquet")]
        files += [file for folder in ("mcp", "skills", "validate")
                  for file in (SOURCE / "python/etprof" / folder).glob("*.py")]
        with tempfile.TemporaryDirectory() as cache:
            done = execute(sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                           "--follow-imports=silent", "--cache-dir", cache, *files, cwd=SOURCE / "python")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue((SOURCE / "python/etprof/py.typed").is_file())
        self.assertTrue(runs.Analysis.__doc__)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1)
    for test, reason in program.result.skipped:
        print(f"skipped: {test}: {reason}")
    sys.exit(0 if program.result.wasSuccessful() else 1)
