# SPDX-License-Identifier: Apache-2.0
"""`etprof analyze DIR` of folders that Arm's kit left: its medians exactly, models and thread
counts apart.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import kit_writer as kit  # noqa: E402
import pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())


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
        for verb in ("analyze",):
            self.analyze(verb)
            self.exactly(pair)
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

    def test_timelines_of_whole_inferences_have_no_groups(self):
        """Three columns say how long inferences took and not of what: no picture of nothing, and the printed command
        compares what there is."""
        for name, times in (("on", (11.3, 11.1, 11.2)), ("off", (12.3, 12.1, 12.2))):
            folder = self.dir / f"mac/mac_sme2_{name}"
            folder.mkdir(parents=True)
            rows = "".join(f"{i},Method::execute,{t}\n" for i, t in enumerate(times))
            table = folder / f"mac_sme2_{name}_t1_exec_all_runs_timeline.csv"
            table.write_text("run_index,name,duration_ms\n" + rows)
        said = etprof("analyze", self.dir).stdout
        self.assertNotIn("0 ns", said)
        self.assertIn("12.20", said)
        command = re.search(r"etprof (compare \S+ \S+)", said)[1].split()
        self.assertIn("1.09×", etprof(*command).stdout)

    def test_each_pair_has_its_part(self):
        """What `compare` says of the two tables stands in the part of their pair, and in no other."""
        pairs = {t: self.pair("toy", t, on=4.0 + t, off=9.0 + t) for t in (1, 4)}
        self.write([e for p in pairs.values() for e in p])
        whole = etprof("analyze", self.dir, "--format", "md").stdout
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

    def test_stale_dumps(self):
        """Both experiments have one dump of another day: it is neither's, which its table and the other dump tell."""
        pair = self.pair(runs=3)  # as many as the dump has
        self.write(pair)
        for e in pair:
            shutil.copy(DATA / "mixed_xnnpack_fp32.etdump", self.dir / f"{e.stem}.etdump")
        said = " ".join(etprof("analyze", self.dir).stdout.split())
        self.assertIn(f"{pair[0].stem} and {pair[1].stem} have the same recording", said)
        for e in pair:
            ours = f"{e.stem}: median {statistics.median(e.latencies()):.9g}"[:-3]
            self.assertIn(ours, said)
            self.assertIn("ms by the dump beside it", said)

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

    def test_its_date_and_short_names(self):
        page = etprof("analyze", self.dir, "--format", "html").stdout
        for text in (page, etprof("analyze", self.dir).stdout):
            self.assertIn("written 2026-01-27", text)
        names = [b["text"] for b in pages.blocks(page) if b.get("part")]
        self.assertEqual(names, [f"toy, {n}: android_sme2 on against off" for n in ("1 thread", "4 threads")])

    def test_one_colour_for_a_category(self):
        page = etprof("analyze", self.dir, "--format", "html").stdout
        groups, categories = ({}, {})
        for name, colour in re.findall(r'<title>([^<,]*), [^<]*</title>\s*<rect [^>]*class="seg f(\d+)"', page):
            groups.setdefault(name, set()).add(colour)
        cells = [c for b in pages.blocks(page) for r in b.get("rows", []) for c in r["cells"]]
        for cell in (c for c in cells if isinstance(c, list) and len(c) > 3):
            categories.setdefault(cell[0], set()).add(str(cell[3]))
        self.assertTrue(all(len(c) == 1 for c in [*groups.values(), *categories.values()]), (groups, categories))
        self.assertEqual(groups["CONV"], categories["Convolution"])
        self.assertEqual(groups["GEMM"], categories["GEMM"])
        self.assertEqual((groups["Data Movement"], groups["Other"]), ({"3"}, {"19"}))  # as in a session's pictures


unittest.main()
