# SPDX-License-Identifier: Apache-2.0
"""What Python programs expect of any package: exceptions of the kinds they catch, wrong names that fail at once, reprs,
`with`, indexing, pickling, help with an example. usage: test_habits.py SOURCE_DIR LIBETPROF FAKE_RUNNER"""
import ast
import errno
import importlib.util
import inspect
import io
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

SOURCE, LIBRARY, RUNNER = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "python"))
os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
sys.dont_write_bytecode = True
import etprof
from etprof import errors

DATA, RUN = SOURCE / "tests/data", SOURCE / "examples/runs/image_encoder_int8_qemu"
MODEL = DATA / "mixed_xnnpack_fp32.pte"
DUMP, RECORD = DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32.etrecord"


class Exceptions(unittest.TestCase):
    def test_files(self):
        with self.assertRaises(FileNotFoundError) as caught:
            etprof.ops("/nowhere/x.etdump")
        self.assertEqual((caught.exception.errno, caught.exception.exit_code), (errno.ENOENT, 5))
        self.assertEqual(str(caught.exception), "cannot open /nowhere/x.etdump: No such file or directory")
        with self.assertRaises(OSError) as caught:
            etprof.ops("x" * 5000)
        self.assertEqual(caught.exception.errno, errno.ENAMETOOLONG)
        self.assertNotIsInstance(caught.exception, FileNotFoundError)
        for missing in (lambda: etprof.open("/nowhere"), lambda: etprof.resume("/nowhere"),
                        lambda: etprof.stats("/nowhere"), lambda: etprof.dumps("/nowhere"),
                        lambda: etprof.whatif("/nowhere", "drop *"), lambda: etprof.compare("/nowhere", DUMP),
                        lambda: etprof.inspect("/nowhere"), lambda: etprof.ops(DUMP, pte="/nowhere"),
                        lambda: etprof.ops(DUMP, etrecord="/nowhere"), lambda: etprof.open(RUN, roofs="/nowhere"),
                        lambda: etprof.Inspector("/nowhere"), lambda: etprof.ab("/nowhere", progress=False),
                        lambda: etprof.ab(MODEL, runner="/nowhere", progress=False),
                        lambda: etprof.ab(MODEL, runner=RUNNER, inputs="/nowhere", progress=False),
                        lambda: etprof.ab(MODEL, runner=RUNNER, data="/nowhere", progress=False)):
            with self.assertRaises(FileNotFoundError) as caught:
                missing()
            self.assertIsInstance(caught.exception, errors.EtprofError)
            self.assertEqual((caught.exception.errno, caught.exception.exit_code), (errno.ENOENT, 5))
            self.assertIn("/nowhere", str(caught.exception))

    def test_words_and_broken_files(self):
        for wrong in (lambda: etprof.ops(DUMP).report("pdf"), lambda: etprof.ops(DATA / "samples.csv"),
                      lambda: etprof.open(DATA)):
            self.assertRaises(ValueError, wrong)

    def test_numbers(self):
        """C would measure 4,294,967,295 blocks where −1 is asked for, and the default where 2^32 are."""
        counts = {"blocks": 2**32 - 1, "warmup": 2**64 - 1, "iterations": 2**64 - 1, "seed": 2**64 - 1}
        for name, most in counts.items():
            for value in (-1, most + 1, 10**400):
                said = rf"^{name}={value} is not a whole number from 0 to {most}$"
                with self.assertRaisesRegex(errors.UsageError, said):
                    etprof.ab(MODEL, **{name: value})
        with self.assertRaisesRegex(errors.UsageError, r"^threads=-1 is not a whole number"):
            etprof.ab(MODEL, threads=[1, -1])
        with self.assertRaisesRegex(errors.UsageError, r"^width=-1 is not a whole number"):
            etprof.open(RUN).report(width=-1)
        for name in ("precision", "budget", "timeout"):
            for value in (-0.5, float("nan"), float("inf")):
                with self.assertRaisesRegex(errors.UsageError, rf"^{name}={value} is not a number from 0 on$"):
                    etprof.ab(MODEL, **{name: value})
        for ask in (lambda margin: etprof.open(RUN, margin=margin), lambda margin: etprof.dumps(DUMP, margin=margin),
                    lambda margin: etprof.stats(DATA / "samples.csv", margin=margin),
                    lambda margin: etprof.compare(DUMP, DUMP, margin=margin, names=("a", "b"))):
            for value in (-1, float("nan")):
                with self.assertRaisesRegex(errors.UsageError, rf"^margin={value} is not a number from 0 on$"):
                    ask(value)

    def test_wrong_types(self):
        for ask, said in ((lambda: etprof.ab(MODEL, blocks="2"), "blocks='2' is not a whole number"),
                          (lambda: etprof.ab(MODEL, iterations=2.5), "iterations=2.5 is not a whole number"),
                          (lambda: etprof.ab(MODEL, precision="0.01"), "precision='0.01' is not a number"),
                          (lambda: etprof.ab(MODEL, budget=None), "budget=None is not a number"),
                          (lambda: etprof.ab(MODEL, threads=4), "threads=4 is not a list of whole numbers"),
                          (lambda: etprof.ab(MODEL, threads="4"), "threads='4' is not a whole number"),
                          (lambda: etprof.ab(MODEL, levels="avx2"), "'avx2' is one text; a list of them is taken"),
                          (lambda: etprof.ab(MODEL, progress=1), "progress=1 is neither True, False nor a function"),
                          (lambda: etprof.ab([MODEL]), "neither a text nor a path"),
                          (lambda: etprof.stats(DATA / "samples.csv", margin="0.1"), "margin='0.1' is not a number"),
                          (lambda: etprof.ops(7), "7 is neither a text nor a path"),
                          (lambda: etprof.ops(DUMP, pte=7), "7 is neither a text nor a path"),
                          (lambda: etprof.open(7), "7 is neither a text nor a path"),
                          (lambda: etprof.resume(7), "7 is neither a text nor a path"),
                          (lambda: etprof.inspect(DUMP, tree=2), "tree=2 is neither True nor False"),
                          (lambda: etprof.ops(DUMP).report(table=7), "7 is neither a text nor a path")):
            with self.assertRaises(TypeError) as caught:
                ask()
            self.assertIsInstance(caught.exception, errors.UsageError)
            self.assertIn(said, str(caught.exception))

    def test_paths_of_every_kind(self):
        for kind in (str, pathlib.Path, os.fsencode):
            self.assertEqual(len(etprof.ops(kind(DUMP)).operators), 3)
            self.assertEqual(etprof.open(kind(RUN)).summary.folder, str(RUN))
            self.assertEqual(len(etprof.Inspector(kind(DUMP), kind(RECORD)).rows()), 7)
        with self.assertRaisesRegex(ValueError, r"a text ends at its \\0"):
            etprof.ops(f"{DUMP}\0.txt")

    def test_they_are_pickled(self):
        for kind in vars(errors).values():
            if isinstance(kind, type) and issubclass(kind, errors.EtprofError):
                problem = kind("words", ["a"]) if kind is errors.MissingPackage else kind("words")
                problem.byte = 7
                again = pickle.loads(pickle.dumps(problem))
                self.assertEqual((type(again), str(again), again.byte, getattr(again, "modules", None)),
                                 (kind, "words", 7, getattr(problem, "modules", None)))


class Names(unittest.TestCase):
    def test_a_wrong_one_fails_at_once(self):
        with self.assertRaisesRegex(ValueError, "no table named 'operator'; it has .*operators.* did you mean"):
            etprof.ops(DUMP).table("operator")
        with self.assertRaisesRegex(errors.UsageError, "no table 'sample'; it has operators, samples, launches; did"):
            etprof.open(RUN).rows("sample")
        with self.assertRaisesRegex(KeyError, "no column 'mean'; there are name, .*mean_ns"):
            etprof.ops(DUMP).operators["mean"]
        with self.assertRaisesRegex(KeyError, "no arm 'linux_sme3'; there are .*did you mean"):
            etprof.open(RUN)["linux_sme3"]

    def test_times_of_arms_say_their_unit(self):
        run = etprof.open(RUN)
        names = {arm.name for arm in run.arms}
        for name in ("operators", "categories"):
            found = [column for column in run.table(name).columns() if column.removesuffix("_ns") in names]
            self.assertEqual(sorted(found), sorted(f"{arm}_ns" for arm in names), name)

    def test_indexing(self):
        table, run = etprof.ops(DUMP).operators, etprof.open(RUN)
        rows = table.rows()
        self.assertEqual((table[0], table[-1], table[1:]), (rows[0], rows[-1], rows[1:]))
        self.assertEqual(table["name"], [row["name"] for row in rows])
        self.assertRaises(IndexError, lambda: table[3])
        self.assertEqual([run[arm.name] for arm in run.arms], run.arms)


class Objects(unittest.TestCase):
    def answers(self):
        return (etprof.ops(DUMP), etprof.inspect(DUMP, etrecord=RECORD), etprof.stats(DATA / "samples.csv"),
                etprof.whatif([DUMP, DUMP], "drop *cumsum*"), etprof.open(RUN), etprof.dumps(DUMP),
                etprof.compare(DUMP, DUMP, names=("first", "second")))

    def test_reprs(self):
        for answer in (*self.answers(), etprof.ops(DUMP).operators, etprof.Inspector(etdump_path=DUMP)):
            self.assertRegex(repr(answer), r"^<etprof\.(?!.* at 0x).+>$")
        self.assertIn("3 rows of name, instruction", repr(etprof.ops(DUMP).operators))
        self.assertIn(", drop *cumsum*: 3.178 → ", repr(etprof.whatif(DUMP, "drop *cumsum*"))) # 3178 ticks of 1 ns

    def test_with_ends_them(self):
        for answer in self.answers():
            with answer as same:
                self.assertIs(same, answer)
                table = same.table(same.tables[0])
            self.assertIn("closed", repr(answer))
            self.assertRaises(errors.UsageError, answer.report)
            self.assertRaises(errors.UsageError, table.rows)
            answer.close()

    def test_pickled_they_are_asked_again(self):
        for answer in self.answers():
            again = pickle.loads(pickle.dumps(answer))
            self.assertEqual((type(again), again.document), (type(answer), answer.document))
            table = answer.table(answer.tables[0])
            self.assertEqual(pickle.loads(pickle.dumps(table)).rows(), table.rows())
        run = etprof.open(RUN)
        self.assertEqual(pickle.loads(pickle.dumps(run.samples)).rows(), run.samples.rows())
        self.assertEqual(pickle.loads(pickle.dumps(run.arms)), run.arms)

    def test_pickled_they_reach_another_process(self):
        code = "import pickle, sys; print(len(pickle.load(sys.stdin.buffer)))"
        done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(etprof.ops(DUMP).operators), check=True,
                              stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual(done.stdout, b"3\n")


class Help(unittest.TestCase):
    def test_every_name_has_an_example(self):
        for name in (None, *etprof.__all__):
            text = inspect.getdoc(getattr(etprof, name) if name else etprof)
            lines = re.findall(r"^(?:>>>|\.\.\.) (.*)$", text, re.M)
            self.assertTrue(lines, name)
            ast.parse("\n".join(lines))
            if name not in ("Analysis", "Fix", "Fixed", "Table", "Progress"): # nobody makes one
                self.assertTrue(any((name or "ab") in line for line in lines), name)


class Inspector(unittest.TestCase):
    def test_modules_are_tuples(self):
        """As the official frame has them; JSON, in which they come from the library, knows lists alone."""
        seen = [module for row in etprof.Inspector(etdump_path=DUMP, etrecord=RECORD).rows()
                for paths in row["module_hierarchy"].values() for module in paths.values()]
        self.assertTrue(seen)
        self.assertEqual({(type(module), len(module)) for module in seen}, {(tuple, 2)})

    def test_event_blocks(self):
        inspector = etprof.Inspector(etdump_path=DUMP, etrecord=RECORD)
        block, = inspector.event_blocks
        self.assertEqual([e.name for e in block.events], [row["event_name"] for row in inspector.rows()])
        kernel = next(e for e in block.events if e.name == "native_call_cumsum.out")
        # ExecuTorch's Inspector: mixed_xnnpack_fp32.etdump.tsv
        times = kernel.perf_data
        self.assertEqual((times.avg, times.max, len(times.raw)), (0.000227, 0.000511, 3))
        paths = {path for paths in kernel.module_hierarchy.values() for path in paths}
        self.assertTrue(paths)
        self.assertGreaterEqual(inspector.find_total_for_module(max(paths)), kernel.perf_data.avg)
        self.assertEqual(inspector.find_total_for_module("no such module"), 0.0)

    def test_the_table_that_is_printed(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        out = io.StringIO()
        etprof.Inspector(etdump_path=DUMP, etrecord=RECORD).print_data_tabular(out, False)
        self.assertIn("native_call_cumsum.out", out.getvalue())
        for word in ("OPERATOR_CALL", "stack_traces", "raw", "(ms)"):
            self.assertNotIn(word, out.getvalue())

    @unittest.skipIf(importlib.util.find_spec("executorch"), "tests/python/test_inspector.py asks the official one")
    def test_what_is_missing_names_the_official_call(self):
        inspector = etprof.Inspector(etdump_path=DUMP)
        for name in ("get_exported_program", "calculate_numeric_gap"):
            with self.assertRaisesRegex(AttributeError, rf"executorch\.devtools\.Inspector\(.*\)\.{name}\("):
                getattr(inspector, name)
        self.assertFalse(hasattr(inspector, "nothing"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
