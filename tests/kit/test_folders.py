# SPDX-License-Identifier: Apache-2.0
"""`etprof analyze DIR` and `report DIR` of folders that Arm's kit left: its medians exactly, models and thread
counts apart, and every defect that shows in files found where it was planted, and only there.
usage: test_folders.py ETPROF"""
import gzip
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import kit_writer as kit

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ALWAYS = {"D6", "D7", "D9", "D13", "D17"}  # of every flat pair that its pipeline leaves


def etprof(*words):
    return subprocess.run([ETPROF, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)


class Folder(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.tmp.name) / "runs"
        self.dir.mkdir()

    def tearDown(self):
        self.tmp.cleanup()

    def analyze(self, verb="analyze", code=0):
        done = etprof(verb, self.dir, "--format", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        self.doc = json.loads(done.stdout)
        self.assertEqual(self.doc["schema"], "etprof.kit/1")
        self.found = {}
        for d in self.doc["differences"]:
            self.found.setdefault(d["defect"], []).append(d)
        return self.doc

    def pair(self, model="toy", threads=1, on=4.0, off=1.0, platform="mac", **more):
        return [kit.standard(model, f"{platform}_sme2_{x}", threads, f, **more) for x, f in (("on", on), ("off", off))]

    def write(self, experiments, model="toy"):
        for e in experiments:
            kit.write_experiment(self.dir, e)
        kit.write_summary(self.dir, model, experiments)

    def exactly(self, experiments):
        """The kit's medians, to the last bit, under the right names."""
        units = {(u["model"], u["experiment"], u["threads"]): u for u in self.doc["experiments"]}
        self.assertEqual(len(units), len(experiments))
        for e in experiments:
            u = units[e.model, e.name, e.threads]
            self.assertEqual(u["kit"]["median_ms"], statistics.median(e.latencies()), e.stem)
            self.assertIs(u["kit"]["reproduced"], True, e.stem)
        return units


class Layouts(Folder):
    def test_flat_as_the_pipeline_leaves_it(self):
        pair = self.pair(noise=0.013)
        self.write(pair)
        for verb in ("analyze", "report"):
            self.analyze(verb)
            self.exactly(pair)
            self.assertEqual(set(self.found), ALWAYS)
        c, = self.doc["comparisons"]
        want = statistics.median(pair[1].latencies()) / statistics.median(pair[0].latencies())
        self.assertAlmostEqual(c["traced_medians"], want, 4)
        self.assertEqual((c["baseline"], c["candidate"], c["verdict"]), (pair[1].stem, pair[0].stem, "unknown"))

    def test_nested_with_legacy_names(self):
        pair = self.pair()
        for e in pair:
            kit.write_experiment(self.dir / e.name, e, infix="")
        self.analyze()
        self.exactly(pair)
        self.assertEqual(len(self.doc["comparisons"]), 1)

    def test_several_models_and_thread_counts_stay_apart(self):
        all_of = [e for m in ("toy", "toy_zoo") for t in (1, 4) for e in self.pair(m, t, on=4.0 + t, off=1.0 + t / 8)]
        for model in ("toy", "toy_zoo"):
            self.write([e for e in all_of if e.model == model], model)
        self.analyze()
        self.exactly(all_of)
        self.assertEqual({(c["model"], c["threads"]) for c in self.doc["comparisons"]},
                         {("toy", 1), ("toy", 4), ("toy_zoo", 1), ("toy_zoo", 4)})

    def test_each_pair_has_its_part(self):
        """What `compare` says of the two tables stands in the part of their pair, and in no other."""
        pairs = {t: self.pair("toy", t, on=4.0 + t, off=9.0 + t) for t in (1, 4)}
        self.write([e for p in pairs.values() for e in p])
        whole = etprof("report", self.dir, "--format", "md").stdout
        for t, (on, off) in pairs.items():
            title = f"## toy, {t} thread{'s' if t > 1 else ''}: mac_sme2 on against off\n"
            self.assertEqual(whole.count(title), 1, whole[:2000])
            part = whole.split(title)[1].split("\n## ")[0]
            tables = [self.dir / f"{e.stem}_exec_all_runs_timeline.csv" for e in (off, on)]
            alone = etprof("compare", *tables, "--name1", "mac_sme2_off", "--name2", "mac_sme2_on", "--full",
                           "--format", "md").stdout
            rows = [line for line in alone.splitlines() if line.startswith("|") and "Convolution" in line]
            self.assertGreater(len(rows), 1, alone)
            for row in rows:
                self.assertIn(row, part)
            others = whole.replace(part, "")
            self.assertTrue(any(row not in others for row in rows), rows)
        brief = etprof("analyze", self.dir).stdout
        self.assertNotIn("mac_sme2 on against off", brief)
        self.assertIn("mac_sme2 on against off", etprof("analyze", self.dir, "--full").stdout)

    def test_real_dump_beside_its_table(self):
        """The table as the official Inspector's rules give it, from flatc's text of the dump."""
        doc = json.loads(gzip.open(DATA / "mixed_xnnpack_fp32.etdump.json.gz").read())
        runs = [r for r in doc["run_data"] if r["name"] == "Execute"]
        events = []
        for i, first in enumerate(runs[0]["events"]):
            times = []
            for r in runs:
                p = r["events"][i]["profile_event"]
                delegated = p.get("delegate_debug_id_int", -1) != -1 or p.get("delegate_debug_id_str")
                times.append(p["end_time"] / 1e6 - p["start_time"] / 1e6 if delegated else
                             (p["end_time"] - p["start_time"]) / 1e6)
            p = first["profile_event"]
            delegated = p.get("delegate_debug_id_int", -1) != -1 or p.get("delegate_debug_id_str")
            events.append((p.get("delegate_debug_id_str") or p["name"], "delegated" if delegated else "portable",
                           times, "Execute"))
        pair = [kit.Experiment("mixed", f"mac_sme2_{x}", 1, events) for x in ("on", "off")]
        self.write(pair, "mixed")
        shutil.copy(DATA / "mixed_xnnpack_fp32.etdump", self.dir / f"{pair[0].stem}.etdump")
        self.analyze()
        units = self.exactly(pair)
        unit = units["mixed", "mac_sme2_on", 1]
        self.assertEqual(unit["dump"], f"{pair[0].stem}.etdump")
        self.assertAlmostEqual(unit["median_ns"], statistics.median(pair[0].latencies()) * 1e6, 3)
        self.assertNotIn("D5", self.found)

    def test_table_speaks_for_a_dump_that_cannot_be_read(self):
        """What `compare` is given is what there are figures of: the two tables, not a dump that it would refuse."""
        on, off = self.pair()
        self.write([on, off])
        real = (DATA / "mixed_xnnpack_fp32.etdump").read_bytes()
        tables = " ".join(str(self.dir / f"{e.stem}_exec_all_runs_timeline.csv") for e in (off, on))
        for content in (b"", b"not a recording", real[:len(real) // 2]):
            (self.dir / f"{on.stem}.etdump").write_bytes(content)
            md = etprof("analyze", self.dir, "--full", "--format", "md").stdout
            self.assertIn("## toy, 1 thread: mac_sme2 on against off\n", md, content[:20])
            self.assertNotIn("not explained here", md, content[:20])
            self.assertIn(f"etprof compare {tables}\n", md, content[:20])
            self.assertIn("not used: ", md)

    def test_kernel_logs_become_the_view(self):
        pair = self.pair()
        self.write(pair)
        for e, log in zip(pair, ("on", "off")):
            shutil.copy(DATA / f"kit/{log}_xnntrace.log", self.dir / f"{e.stem}_xnntrace.log")
        kernels = self.analyze()["kernels"]
        self.assertEqual([len(kernels[x]["registered"]) for x in ("on", "off")], [6, 3])
        self.assertIn("xnn_pf16_f16_igemm_minmax_fp16_ukernel_32x32c2__neonsme2", kernels["on"]["registered"])
        text = etprof("analyze", self.dir, "--format", "md").stdout
        line, = [x for x in text.splitlines() if "neonsme2" in x and "igemm" in x]
        self.assertTrue("Present" in line and "Absent" in line and "SME2" in line, line)
        (self.dir / f"{pair[1].stem}_xnntrace.log").write_text("a runner without log lines\n")
        self.assertIsNone(self.analyze()["kernels"])

    def test_one_side_only_and_unknown_names(self):
        e = kit.standard("toy", "quiet", 2, 1.0)
        self.write([e])
        self.analyze()
        self.exactly([e])
        self.assertEqual(self.doc["comparisons"], [])


class Differences(Folder):
    def one(self, defect, **holds):
        entries = self.found.get(defect)
        self.assertTrue(entries, f"{defect} not found: {sorted(self.found)}")
        for key, words in holds.items():
            self.assertIn(words, " | ".join(e[key] for e in entries))

    def test_D1_meaningless_totals(self):
        pair = self.pair()
        self.write(pair)
        total = kit.write_analysis_summary(self.dir, pair)
        self.analyze()
        self.one("D1", kit=f"Other {total:.3f} ms", etprof="mac_sme2_off: CONV 8.099 ms, GEMM 6.307 ms")
        self.assertNotIn("D7", self.found)

    def test_D2_labels_backwards(self):
        on, off = self.pair()
        self.write([on, off])
        kit.write_comparison(self.dir, on, off, "SME2-Off", "SME2-On")
        self.analyze()
        self.one("D2", kit="'SME2-Off'", etprof=on.stem)
        kit.write_comparison(self.dir, on, off, "SME2-On", "SME2-Off")
        self.analyze()
        self.assertNotIn("D2", self.found)

    def test_D4_threads_mixed(self):
        """10 and 30 ms on one thread, 3 and 9 on four: 1.11x slower, says the kit."""
        def flat(name, threads, ms):
            return kit.Experiment("toy", name, threads, [("Method::execute", "portable", [ms] * 10, "Execute")])
        all_of = [flat("mac_sme2_on", 1, 10.0), flat("mac_sme2_on", 4, 3.0), flat("mac_sme2_off", 1, 30.0),
                  flat("mac_sme2_off", 4, 9.0)]
        self.write(all_of)
        self.analyze()
        self.one("D4", kit="from 0.90 to 10.00", etprof="1 thread: 3.00; toy, 4 threads: 3.00")
        kit.write_report(self.dir, 9 / 10)
        self.analyze()
        self.one("D4", kit="SME2 shows 1.11x slowdown")

    def test_D5_stale_dumps(self):
        pair = self.pair()
        self.write(pair)
        for e in pair:
            shutil.copy(DATA / "mixed_xnnpack_fp32.etdump", self.dir / f"{e.stem}.etdump")
        self.analyze()
        self.one("D5", etprof="byte for byte")

    def test_D6_substrings(self):
        self.write(self.pair())
        self.analyze()
        self.one("D6", kit="Convert (NC, F32, F16) #2 is CONV", etprof="it is Data Movement", why="0.510 ms")

    def test_D7_D9_D13_D17_of_every_folder(self):
        pair = self.pair(on=1.0 / 1.02, off=1.0)
        self.write(pair)
        self.analyze()
        self.one("D9", kit="slowdown", etprof="unknown")
        self.one("D13", etprof="tracer")
        e = pair[0]
        share = statistics.fmean(r[7] for r in e.rows() if r[1] == "Method::execute")
        self.one("D17", kit=f"{share:.1f} %")

    def test_D10_outliers_and_D14_cold_first_run(self):
        e = kit.Experiment("toy", "mac_sme2_on", 1, [("Method::execute", "portable",
                           [12.0, 10.0, 10.02, 10.04, 10.06, 10.08, 10.01, 10.03, 10.05, 10.07], "Execute")])
        self.write([e])
        self.analyze()
        self.one("D10", kit="deletes 1 of 10 runs")
        self.one("D14", kit="mean 10.236 ms", etprof="10.040 ms is usual")

    def test_D15_one_execution_took_another_path(self):
        e = kit.Experiment("toy", "mac_sme2_on", 1, [
            ("Method::execute", "portable", [10.0] * 9, "Execute"),
            ("native_call_add.out", "portable", [1.0], "Execute"), ("Method::execute", "portable", [10.0], "Execute")])
        self.assertEqual(e.latencies(), [20.0] + [10.0] * 8)
        self.write([e])
        self.analyze()
        self.exactly([e])
        self.one("D15", kit="9 runs", etprof="10 runs, median 10.000000 ms")

    def test_D16_operators_of_two_delegates(self):
        e = kit.Experiment("toy", "mac_sme2_on", 1, [
            (kit.CONV, "delegated", [9.0], "Execute"), ("DELEGATE_CALL", "portable", [9.1], "Execute"),
            (kit.CONV, "delegated", [1.0], "Execute"), ("DELEGATE_CALL", "portable", [1.1], "Execute"),
            ("Method::execute", "portable", [10.5], "Execute")])
        self.write([e])
        self.analyze()
        self.one("D16", kit="one operator of 10.000 ms", etprof="2 operators, the first 9.000 ms")

    def test_D20_speedup_of_nothing(self):
        on, off = self.pair()
        off.events.insert(1, ("Clamp (NC) #9", "delegated", [0.1] * 10, "Execute"))
        self.write([on, off])
        kit.write_comparison(self.dir, on, off, "on", "off")
        self.analyze()
        self.one("D20", kit="speedup 0 in 1 categories")

    def test_D22_failed_but_ok_and_D32_modes_collide(self):
        pair = self.pair()
        self.write(pair)
        path = self.dir / "toy_pipeline_summary.json"
        doc = json.loads(path.read_text())
        doc["runs"].append({**doc["runs"][0], "mode": "xnntrace"})
        doc["runs"].append({**doc["runs"][0], "experiment": "mac_sme2_extra"})
        path.write_text(json.dumps(doc))
        self.analyze()
        self.one("D22", kit="mac_sme2_extra: status ok")
        self.one("D32", kit="mac_sme2_on twice, as timing and xnntrace")

    def test_D28_only_rewrote_the_summary(self):
        on, off = self.pair()
        self.write([on, off])
        kit.write_summary(self.dir, "toy", [off])
        self.analyze()
        self.one("D28", kit="without mac_sme2_on")

    def test_D34_empty_dump_and_manifest(self):
        pair = self.pair()
        self.write(pair)
        (self.dir / f"{pair[0].stem}.etdump").write_bytes(b"")
        (self.dir / "manifest.json").write_text('{"model": 1, "results": []}')
        self.analyze()
        self.one("D34", etprof="it is empty")
        self.one("D34", etprof="it has no results")

    def test_D35_nan_and_cut_files(self):
        e = kit.standard("toy", "mac_sme2_on", 1, 1.0, runs=1)
        self.write([e])
        self.analyze()
        self.exactly([e])
        self.one("D35", kit="NaN")
        (self.dir / "metrics.json").write_text('{"results": [')
        self.analyze()
        self.one("D35", etprof="not readable")

    def test_D36_kernel_names(self):
        e = kit.standard("toy", "mac_sme2_on", 1, 1.0)
        self.write([e])
        name = "xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__neoni8mm"
        (self.dir / f"{e.stem}_kernels.csv").write_text(
            "model_id,kernel_name,category,count,dtype,xnn_op,variant,ukernel_shape,arch_chain,has_sme,has_sme2\n"
            f"m,{name},gemm,1,qd8,f32,qc8w,4x16c8,neoni8mm,0,0\n"
            "m,xnn_f32_gemm_minmax_ukernel_4x8__neonfma,gemm,1,f32,gemm,minmax,4x8,neonfma,0,0\n")
        self.analyze()
        self.one("D36", kit="operation 'f32'", etprof="operation 'gemm' of types qd8_f32_qc8w", why="1 names")

    def test_D18_D38_reports(self):
        pair = self.pair(platform="android")
        self.write(pair)
        kit.write_report(self.dir, 2.5)
        self.analyze()
        self.one("D18", kit="the computer that wrote it")
        self.one("D38", kit="model Unknown", etprof="toy")


class Hostile(Folder):
    def test_broken_tables_are_said_and_the_rest_is_read(self):
        on, off = self.pair()
        self.write([on, off])
        path = self.dir / f"{on.stem}_exec_all_runs_timeline.csv"
        path.write_text(path.read_text().replace("Execute\n", "Execute\nx,y\n", 1))
        self.analyze()
        units = {u["experiment"]: u for u in self.doc["experiments"]}
        self.assertIn("cells", units["mac_sme2_on"]["problem"])
        self.assertEqual(units["mac_sme2_off"]["kit"]["median_ms"], statistics.median(off.latencies()))

    def test_a_figure_that_its_table_does_not_give(self):
        on, off = self.pair()
        self.write([on, off])
        path = self.dir / f"{on.stem}_exec_all_runs_timeline_robust_stats.json"
        path.write_text(path.read_text().replace('"median_ms": ', '"median_ms": 1', 1))
        self.analyze()
        units = {u["experiment"]: u for u in self.doc["experiments"]}
        self.assertIs(units["mac_sme2_on"]["kit"]["reproduced"], False)
        self.assertIn("its own table gives", " ".join(etprof("analyze", self.dir).stdout.split()))

    def test_garbage_does_no_harm(self):
        for name in ("a_exec_all_runs_timeline.csv", "b_pipeline_summary.json", "c_kernels.csv",
                     "analysis_summary.json",
                     "d_comparison.csv", "e_robust_comparison.json", "report.md", "_t1.etdump",
                     "x_t99999999999.etdump"):
            for content in (b"", b"\xff\x00\x80" * 100, b"{" * 5000, b'"' * 999, b"model_id,name\n", b"[]", b"NaN"):
                (self.dir / name).write_bytes(content)
                done = etprof("analyze", self.dir)
                self.assertIn(done.returncode, (0, 2, 4), (name, content[:9], done.stderr))

    def test_what_etprof_wrote_is_no_kit_folder(self):
        done = etprof("analyze", DATA / "mixed_xnnpack_fp32.etdump", "--out", self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.copy(DATA / "mixed_xnnpack_fp32.etdump", self.dir)
        done = etprof("analyze", self.dir, "--format", "json")
        self.assertEqual(json.loads(done.stdout)["schema"], "etprof.ab/1")

    def test_only_a_summary(self):
        kit.write_summary(self.dir, "toy", self.pair())
        done = etprof("analyze", self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither a dump nor a timeline", done.stderr)


class Shown(Folder):
    """How the folder is shown to people: short, dated, a colour for each category, nothing twice."""

    def setUp(self):
        super().setUp()
        self.dir = DATA / "kit/flat"

    def test_each_defect_once_and_counted(self):
        self.analyze()
        text = etprof("report", self.dir).stdout
        said = text[text.index("Where the kit's conclusions differ"):]
        lines = re.findall(r"^(D\d+) ", said, re.M)
        self.assertEqual(lines, sorted(self.found, key=lambda d: int(d[1:])))
        for one, rest in zip(lines, re.split(r"^D\d+ +", said, flags=re.M)[1:]):
            count = re.search(r"\(and (\d+) more like it\)", " ".join(rest.split()))
            self.assertEqual(int(count.group(1)) + 1 if count else 1, len(self.found[one]), one)

    def test_its_date_and_short_names(self):
        page = etprof("analyze", self.dir, "--format", "html").stdout
        for text in (page, etprof("analyze", self.dir).stdout):
            self.assertIn("written 2026-01-27", text)
        names = re.findall(r'<li><a href="#pair-\d">(.*?)</a>', page)
        self.assertEqual(names, [f"toy, {n}: android_sme2 on against off" for n in ("1 thread", "4 threads")])

    def test_one_colour_for_a_category(self):
        page = etprof("analyze", self.dir, "--format", "html").stdout
        groups, categories = ({}, {})
        for name, colour in re.findall(r'<title>([^<,]*), [^<]*</title>\s*<rect [^>]*class="seg f(\d+)"', page):
            groups.setdefault(name, set()).add(colour)
        for colour, name in re.findall(r'<td class="?k(\d+)"?>([^<]*)', page):
            categories.setdefault(name, set()).add(colour)
        self.assertTrue(all(len(c) == 1 for c in [*groups.values(), *categories.values()]), (groups, categories))
        self.assertEqual(groups["CONV"], categories["Convolution"])
        self.assertEqual(groups["GEMM"], categories["GEMM"])
        self.assertEqual((groups["Data Movement"], groups["Other"]), ({"3"}, {"19"}))  # as in a session's pictures


unittest.main()
