# SPDX-License-Identifier: Apache-2.0
"""The kit's small tools, by etprof: kernel logs (`kernels LOG`) and statistics of timelines (`stats
TIMELINE.csv`). Expected parts of names and statistics are written or computed here, not by etprof.
usage: test_tools.py ETPROF"""
import csv
import io
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ON, OFF = DATA / "kit/on_xnntrace.log", DATA / "kit/off_xnntrace.log"
# D36: what the kit's parser gets wrong. name: dtype, operation, variant, shape, architecture, sme, sme2
NAMES = {
    "xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__neoni8mm":
        ("qd8_f32_qc8w", "gemm", "minmax", "4x16c8", "neoni8mm", False, False),
    "xnn_qs8_qc8w_igemm_minmax_fp32_ukernel_4x16c8__neoni8mm":
        ("qs8_qc8w", "igemm", "minmax_fp32", "4x16c8", "neoni8mm", False, False),
    "xnn_pqs8_qc8w_gemm_minmax_ukernel_32x32c4__neonsme2":
        ("pqs8_qc8w", "gemm", "minmax", "32x32c4", "neonsme2", True, True),
    "xnn_pf16_f16_igemm_minmax_fp16_ukernel_32x32c2__neonsme2":
        ("pf16_f16", "igemm", "minmax_fp16", "32x32c2", "neonsme2", True, True),
    "xnn_x32_transposec_ukernel__4x4_aarch64_neon_tbl128":
        ("x32", "transposec", "", "4x4", "aarch64_neon_tbl128", False, False),
}
KIT_COLUMNS = ["model_id", "kernel_name", "category", "count", "dtype", "xnn_op", "variant", "ukernel_shape",
               "arch_chain", "has_sme", "has_sme2"]


def etprof(*words, cwd=None):
    return subprocess.run([ETPROF, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=600,
                          check=False)


class Kernels(unittest.TestCase):
    def test_D36_names_of_several_types(self):
        done = etprof("kernels", ON, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {k["kernel_name"]: k for k in json.loads(done.stdout)["logs"][0]["kernels"]}
        for name, parts in NAMES.items():
            k = found[name]
            self.assertEqual((k["dtype"], k["xnn_op"], k["variant"], k["ukernel_shape"], k["arch_chain"],
                              k["has_sme"], k["has_sme2"]), parts, name)

    def test_table_has_the_kits_columns_and_counts_lines(self):
        done = etprof("kernels", ON, "--format", "csv", "--model-id", "toy")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(list(rows[0]), KIT_COLUMNS)
        self.assertEqual(len(rows), 6)
        self.assertEqual((rows[0]["count"], rows[0]["kernel_name"][:8], rows[0]["model_id"]),
                         ("2", "xnn_qd8_", "toy"))
        self.assertEqual({r["category"] for r in rows}, {"gemm", "igemm", "transpose"})
        self.assertEqual({r["has_sme2"] for r in rows}, {"0", "1"})

    def test_D23_the_view_says_which_is_where_without_a_filter(self):
        done = etprof("kernels", ON, OFF, "--name1", "SME2-On", "--name2", "SME2-Off", "--format", "csv")
        rows = {r["kernel"]: r for r in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(len(rows), 7)
        self.assertEqual(sum("Present" in r["first"] for r in rows.values()), 6)
        self.assertEqual(sum("Present" in r["second"] for r in rows.values()), 3)
        self.assertIn("Present", rows["xnn_f32_dwconv_minmax_ukernel_9p8c__neonfma"]["second"])
        self.assertEqual(rows["xnn_pf16_f16_igemm_minmax_fp16_ukernel_32x32c2__neonsme2"]["architecture"], "SME2")
        done = etprof("kernels", ON, OFF, "--filter", "dwconv", "--format", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_a_table_of_what_ran_says_so(self):
        """Its code tells the instruction set, whatever the run was called; it is no list of what was registered."""
        head = ("model_id,kernel_name,category,count,dtype,xnn_op,variant,ukernel_shape,arch_chain,has_sme,has_sme2,"
                "isa,share\n")
        with tempfile.TemporaryDirectory() as tmp:
            on, off = (pathlib.Path(tmp) / f"{x}_kernels.csv" for x in ("on", "off"))
            on.write_text(head + "m,AVX2 kernel of Convolution [libxnnpack.so+0x10],igemm,90,,,,,,0,0,avx2,0.9\n")
            off.write_text(head + "m,xnn_f32_gemm_minmax_ukernel_4x8__sse_dup,gemm,80,f32,gemm,,,sse,0,0,sse,0.8\n")
            view = etprof("kernels", on, off, "--name1", "SME2-On", "--name2", "SME2-Off", "--format", "md").stdout
            self.assertIn("Which kernels ran", view)
            self.assertIn("SME2-On (AVX2) | SME2-Off (SSE)", view)
            self.assertNotIn("registered", view)
            self.assertIn("[libxnnpack.so+0x10]` | ✅ Present | ❌ Absent | AVX2 | XNNPACK Delegated", view)
            again = etprof("kernels", on, "--format", "csv").stdout
            self.assertEqual(again, on.read_text())
            # One function is one row, whichever operator it mostly ran for.
            same = pathlib.Path(tmp) / "same_kernels.csv"
            same.write_text(on.read_text().replace("AVX2 kernel of Convolution", "AVX2 kernel of Mean"))
            both = etprof("kernels", on, same, "--format", "csv").stdout.splitlines()
            self.assertEqual([line.count("Present") for line in both[1:]], [2], both)
            mixed = etprof("kernels", on, OFF)
            self.assertEqual((mixed.returncode, "what was registered" in mixed.stderr), (2, True), mixed.stderr)

    def test_a_table_of_kernels_is_read_back(self):
        with tempfile.TemporaryDirectory() as tmp:
            table = pathlib.Path(tmp) / "toy_kernels.csv"
            table.write_text(etprof("kernels", ON, "--format", "csv").stdout)
            direct, again = (etprof("kernels", x, OFF, "--format", "csv").stdout for x in (ON, table))
        self.assertEqual(direct, again)

    def test_bad_input(self):
        with tempfile.TemporaryDirectory() as tmp:
            tmp = pathlib.Path(tmp)
            cases = {
                b"": (4, "no line"), b"Using gemm microkernel 'cut": (4, "no line"),
                b"Using gemm microkernel 'a\nb'": (4, "no line"), b"\xff\x00Using  microkernel 'x'": (4, "no line"),
                b"model_id,kernel_name,count\n": (4, "category"),
                b"model_id,kernel_name,category,count\na,b,c,many\n": (4, "line 2"),
                b"model_id,kernel_name,category,count\na,b\n": (4, "too few"),
                b"model_id,kernel_name,category,count\n": (0, ""),
            }
            for i, (content, (code, words)) in enumerate(cases.items()):
                path = tmp / f"{i}.log"
                path.write_bytes(content)
                done = etprof("kernels", path)
                self.assertEqual(done.returncode, code, (content, done.stderr))
                self.assertIn(words, done.stderr)
            self.assertEqual(etprof("kernels", tmp, "--filter", "x").returncode, 2)
            self.assertEqual(etprof("kernels", ON, tmp / "none.log").returncode, 5)


HEAD = "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,block\n"


def timeline(path, latencies_ms, extra=""):
    lines = [f"m,Method::execute,Method::execute,portable,0.0,0.0,{ms!r},50.0,0,{run},Execute\n"
             for run, ms in enumerate(latencies_ms)]
    path.write_text(HEAD + "".join(lines) + extra)
    return path


class Stats(unittest.TestCase):
    A = [12.0, 10.04, 10.01, 10.03, 10.02, 10.05, 10.0, 10.08, 10.06, 10.07]
    B = [5.0, 5.02, 5.01, 5.04]

    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.tmp.name)

    def tearDown(self):
        self.tmp.cleanup()

    def test_statistics_are_those_of_numpy(self):
        done = etprof("stats", timeline(self.dir / "a_timeline.csv", self.A), "--format", "json", "--out",
                      self.dir / "o")
        self.assertEqual(done.returncode, 0, done.stderr)
        s = json.loads(done.stdout)["latencies"][0]
        self.assertEqual(json.loads((self.dir / "o/a_timeline_robust_stats.json").read_text()), s)
        self.assertEqual(s["count"], 10)
        self.assertAlmostEqual(s["median_ms"], statistics.median(self.A), 9)
        self.assertAlmostEqual(s["mean_ms"], statistics.fmean(self.A), 6)
        self.assertAlmostEqual(s["std_dev_ms"], statistics.stdev(self.A), 5)
        q = statistics.quantiles(self.A, n=4, method="inclusive")
        self.assertAlmostEqual(s["percentiles"]["p75"], q[2], 6)
        self.assertAlmostEqual(s["outliers"]["bounds"]["upper"], q[2] + 1.5 * (q[2] - q[0]), 6)
        self.assertEqual(s["outliers"]["values"], [12.0])
        self.assertAlmostEqual(s["robust_stats"]["median_ms"], statistics.median(self.A[1:]), 9)
        self.assertAlmostEqual(s["trimmed_mean_10_ms"], statistics.fmean(sorted(self.A)[1:-1]), 6)
        self.assertEqual(s["latencies_ms"], self.A)

    def test_comparison_is_first_over_second_without_a_verdict(self):
        done = etprof("stats", timeline(self.dir / "off_timeline.csv", self.A),
                      timeline(self.dir / "on_timeline.csv", self.B),
                      "--name1", "off", "--name2", "on", "--format", "json", "--out", self.dir)
        c = json.loads(done.stdout)["comparison"]
        want = statistics.median(self.A[1:]) / statistics.median(self.B)
        self.assertAlmostEqual(c["speedup"]["median_based"], want, 4)
        self.assertIn("no verdict", c["speedup"]["description"])
        self.assertEqual((c["config1"]["name"], c["config2"]["name"]), ("off", "on"))
        path = self.dir / "off_timeline_vs_on_timeline_robust_comparison.json"
        self.assertEqual(json.loads(path.read_text()), c)

    def test_D15_executions_of_one_run_index_are_not_added_up(self):
        extra = "m,Method::execute,Method::execute,portable,0.0,0.0,10.0,50.0,9,0,Execute\n"
        done = etprof("stats", timeline(self.dir / "t.csv", [10.0] * 9, extra), "--format", "json")
        self.assertEqual(json.loads(done.stdout)["latencies"][0]["latencies_ms"], [10.0] * 10)
        self.assertIn("9 runs instead of 10", etprof("stats", self.dir / "t.csv").stdout)

    def test_D20_equal_and_zero_medians_are_no_speedup(self):
        a, zero = timeline(self.dir / "a.csv", [3.0] * 4), timeline(self.dir / "z.csv", [0.0] * 4)
        same = json.loads(etprof("stats", a, a, "--format", "json").stdout)["comparison"]
        self.assertEqual(same["speedup"]["description"], "the medians are equal")
        none = json.loads(etprof("stats", a, zero, "--format", "json").stdout)["comparison"]
        self.assertIsNone(none["speedup"]["median_based"])

    def test_D35_one_run_and_whole_numbers_are_valid_json(self):
        path = self.dir / "one.csv"
        path.write_text(HEAD + "m,Method::execute,Method::execute,portable,0,0,7,50,0,0,Execute\n")
        done = etprof("stats", path, "--format", "json")

        def refuse(word):
            raise ValueError(word)
        s = json.loads(done.stdout, parse_constant=refuse)["latencies"][0]
        self.assertEqual((s["median_ms"], s["std_dev_ms"]), (7, None))

    def test_D37_long_names_fit_a_file_name(self):
        a, b = (timeline(self.dir / (c * 180 + ".csv"), self.B) for c in "ab")
        done = etprof("stats", a, b, "--out", self.dir / "o")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.dir / "o").iterdir())), 3)

    def test_bad_input(self):
        cases = {
            HEAD: (3, "no Method::execute"),
            HEAD + "m,Method::execute,t,portable,0,0,ten,1,0,0,Execute\n": (4, "duration_ms"),
            HEAD + "m,Method::execute,t,portable,0,0,-1,1,0,0,Execute\n": (4, "duration_ms"),
            HEAD + "m,Method::execute,t,portable,0,0,nan,1,0,0,Execute\n": (4, "duration_ms"),
            HEAD + "m,Method::execute,t,portable,0,0,1,1,0,x,Execute\n": (4, "run_index"),
            HEAD + "m,Method::execute,t,portable\n": (4, "cells"),
            "name,duration_ms\n": (4, ""),
        }
        for i, (content, (code, words)) in enumerate(cases.items()):
            path = self.dir / f"{i}.csv"
            path.write_text(content)
            done = etprof("stats", path)
            self.assertEqual(done.returncode, code, (content, done.stderr))
            self.assertIn(words, done.stderr)
        good = timeline(self.dir / "good.csv", self.B)
        self.assertEqual(etprof("stats", good, "--baseline", "x").returncode, 2)
        self.assertEqual(etprof("stats", DATA / "samples.csv", good).returncode, 2)
        self.assertEqual(etprof("stats", good, self.dir / "none.csv").returncode, 5)


unittest.main()
