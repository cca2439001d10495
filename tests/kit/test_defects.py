# SPDX-License-Identifier: Apache-2.0
"""D1 to D40: every defect of Arm's kit (docs/from-the-kit.md), and that etprof does not have it. One method
per defect, or a line in ELSEWHERE that names the test, or in CANNOT with the reason; test_table holds
this file and the page together. One short session serves all that need a measurement.
usage: test_defects.py ETPROF; 77 = the methods that measure were skipped, no runner is built."""
import csv
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kit_writer as kit

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA, MODELS = ROOT / "tests/data", ROOT / "examples/models"
ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ELSEWHERE = {  # defect: (test, a text in the file that holds it)
    "D4": ("seeds.defects", "tests/seeds/test_defects.py", "d4_threads_are_kept_apart"),
    "D8": ("seeds.lines", "tests/seeds/test_lines.py", "LINES"),
    "D15": ("kit.tools", "tests/kit/test_tools.py", "test_D15_"),
    "D23": ("seeds.commands", "tests/seeds/test_commands.py", "mobilenet_fp16_trace.json"),
    "D27": ("misbehaviour", "tests/misbehaviour/CMakeLists.txt", "misbehaviour"),
    "D28": ("seeds.defects", "tests/seeds/test_defects.py", "d28_only_leaves_the_earlier_run_alone"),
    "D32": ("seeds.defects", "tests/seeds/test_defects.py", "d32_a_trace_of_the_same_name_is_evidence"),
    "D36": ("kit.tools", "tests/kit/test_tools.py", "test_D36_"),
}
QUICK = ("--blocks", "2", "--iterations", "10", "--warmup", "3", "--seed", "1")
CANNOT = {
    "D24": "needs PyTorch: tests/python/run 'test_precision*'",
    "D25": "needs PyTorch: tests/python/run 'test_precision*'",
}


def run(*words, cwd=None, env=None, code=None):
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=600,
                          check=False,
                          stdin=subprocess.DEVNULL)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def rows(path):
    with path.open(newline="") as f:
        return list(csv.DictReader(f))


class Case(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = pathlib.Path(tmp.name)

    def table(self, name, events):
        e = kit.Experiment("m", name, 1, [(n, b, t, "Execute") for n, b, t in events])
        kit.write_experiment(self.dir, e)
        return self.dir / f"{e.stem}_exec_all_runs_timeline.csv"


class OfFiles(Case):
    def test_D2_baseline_over_candidate(self):
        off, on = (self.table(f"sme2_{x}", [("Method::execute", "portable", [ms] * 3)])
                   for x, ms in (("off", 8.0), ("on", 2.0)))
        doc = json.loads(run(ETPROF, "stats", off, on, "--format", "json", code=0).stdout)
        self.assertEqual(doc["comparison"]["speedup"]["median_based"], 4.0)
        run(ETPROF, "compare", off, on, "--out", self.dir / "t", code=0)
        means = [(r["experiment"], float(r["avg_ms"])) for p in (self.dir / "t").glob("*_e2e_latency.csv")
                 for r in rows(p)]
        self.assertEqual([ms for _, ms in means], [8.0, 2.0], "the first is the baseline, under its own name")
        self.assertIn("off", means[0][0])

    def test_D6_categories_of_names(self):
        want = {"Convert (NC, F32, QD8) #1": "Data Movement", "Resize Bilinear (NHWC, F32) #2": "Other",
                "native_call_upsample_bilinear2d.vec_out": "Other", "native_call_addmm.out": "GEMM",
                "native_call_mm.out": "GEMM", "native_call_bmm.out": "GEMM", "native_call_baddbmm.out": "GEMM",
                "Max Pooling (NHWC, F32) #3": "Other", "ArgMax Pooling (NHWC, F32) #4": "Other",
                "Deconvolution (NHWC, F32) Subconv2D #5": "CONV", "Subtract (ND, F32) #6": "Elementwise",
                "HardSwish (NC, F32) #7": "Elementwise", "Copy Sign (ND, F32) #8": "Elementwise",
                "Square Root (NC, F32) #9": "Elementwise", "Depth To Space (NCHW, X32) #10": "Data Movement",
                "Slice (ND, X32) #11": "Data Movement", "native_call_native_layer_norm.out": "Elementwise",
                "native_call_hardswish.out": "Elementwise", "native_call_cat.out": "Data Movement",
                "Batch Matrix Multiply (NC, F32) #12": "GEMM", "Fully Connected (NC, F32) #13": "GEMM"}
        events = [(n, "portable" if n.startswith("native") else "delegated", [0.5]) for n in want]
        table = self.table("x", [*events, ("DELEGATE_CALL", "portable", [7.0]),
                                 ("Method::execute", "portable", [20.0])])
        run(ETPROF, "analyze", table, "--out", self.dir / "t", code=0)
        found = {r["operator"]: r["five"] for p in (self.dir / "t").glob("*_operator_details.csv") for r in rows(p)}
        self.assertEqual(found, want)

    def samples(self, name, values):
        path = self.dir / name
        lines = [f"{arm},{block},{i},{round(ns)}" for arm, block, i, ns in values]
        path.write_text("experiment,block,iteration,duration_ns\n" + "\n".join(lines) + "\n")
        return json.loads(run(ETPROF, "stats", path, "--baseline", "off", "--format", "json", code=0).stdout)

    def test_D9_noise_and_drift_are_no_speedup(self):
        claims = 0
        for seed in range(20):  # no difference; 2 % of noise, 5 % of drift over the session
            r = random.Random(seed)
            claims += self.samples("s.csv", [(arm, b, i, 1e7 * (1 + 0.05 * b / 10) * (1 + 0.02 * r.gauss(0, 1)))
                                             for b in range(1, 11) for arm in r.sample(["on", "off"], 2)
                                             for i in range(10)])["verdict"] in ("faster", "slower")
        self.assertLessEqual(claims, 2)  # the kit: half of them

    def test_D10_nothing_is_deleted_as_an_outlier(self):
        values = [(arm, b, i, 1e7 * (1 + 0.001 * ((i * 7 + b) % 5)) * (3 if i == 5 else 1))
                  for b in range(1, 9) for arm in ("on", "off") for i in range(10)]
        doc = self.samples("s.csv", values)
        self.assertEqual([a["iterations"] for a in doc["arms"]], [80, 80])
        self.assertEqual([a["warmup_dropped"] for a in doc["arms"]], [0, 0])

    def test_D16_two_delegates_two_operators(self):
        table = self.table("x", [(kit.CONV, "delegated", [9.0]), ("DELEGATE_CALL", "portable", [9.1]),
                                 (kit.CONV, "delegated", [1.0]), ("DELEGATE_CALL", "portable", [1.1]),
                                 ("Method::execute", "portable", [10.5])])
        run(ETPROF, "analyze", table, "--out", self.dir / "t", code=0)
        found = [float(r["avg_ms"]) for p in (self.dir / "t").glob("*_operator_details.csv") for r in rows(p)]
        self.assertEqual(found, [9.0, 1.0])

    def test_D19_settings_are_not_called_frequency_control(self):
        pages = [p for d in ("docs", "agent_skill_ml_profiling", "agentic-kits") for p in (ROOT / d).rglob("*.md")]
        self.assertGreater(len(pages), 20)
        for page in pages:
            for line in page.read_text().splitlines():
                claim = re.search(r"(removes?|lifts?) (all )?(CPU )?frequency (caps|limits)", line, re.I)
                self.assertFalse(claim and "not" not in line, f"{page.name}: {line}")

    def test_D20_no_ratio_without_both_sides(self):
        off = self.table("off", [("Clamp (NC) #1", "delegated", [0.1]), ("DELEGATE_CALL", "portable", [0.2]),
                                 ("Method::execute", "portable", [1.0])])
        on = self.table("on", [(kit.CONV, "delegated", [0.1]), ("DELEGATE_CALL", "portable", [0.2]),
                               ("Method::execute", "portable", [1.0])])
        run(ETPROF, "compare", off, on, "--out", self.dir / "t", code=0)
        speedups = [r["speedup"] for p in (self.dir / "t").glob("*_comparison.csv") for r in rows(p)]
        self.assertEqual(speedups, ["", ""])

    def test_D21_models_of_shipped_configs_exist(self):
        known = {p.parent.name for p in (ROOT / "model_profiling/models").glob("*/model.json")}
        configs = list((ROOT / "model_profiling/configs/examples").glob("*.json"))
        self.assertGreaterEqual(len(configs), 6)
        for path in configs:
            model = pathlib.Path(json.loads(path.read_text())["model"]).name.split("_xnnpack")[0]
            self.assertIn(model, known, path.name)

    def test_D22_a_runner_that_does_not_start_is_no_run(self):
        out = self.dir / "out"
        done = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp32.pte", "--runner", "/bin/false", "--out", out)
        self.assertIn(done.returncode, (5, 6))
        self.assertFalse(list(self.dir.rglob("*_pipeline_summary.json")))

    def test_D26_an_unreadable_number_is_an_error(self):
        table = self.table("x", [("Method::execute", "portable", [10.0, 11.0])])
        table.write_text(table.read_text().replace(",11.0,", ",eleven,"))
        for words in (("analyze", table), ("stats", table), ("compare", table, table)):
            done = run(ETPROF, *words)
            self.assertEqual(done.returncode, 4, words)
            self.assertIn("eleven", done.stderr)

    def fake_adb(self, devices):
        path = self.dir / "bin/adb"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\necho \"$@\" >> {self.dir}/calls\n[ \"$1\" = devices ] && "
                        f"printf 'List of devices attached\\n{devices}\\n'\nexit 1\n")
        path.chmod(0o755)
        return {**os.environ, "PATH": f"{path.parent}:/usr/bin:/bin", "ANDROID_SERIAL": ""}

    def test_D29_a_device_is_named_never_guessed(self):
        env = self.fake_adb("one\\tdevice\\ntwo\\tdevice")
        done = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp32.pte", "--device", "adb", cwd=self.dir, env=env)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"2 adb devices.* one .*two")
        self.assertEqual(set((self.dir / "calls").read_text().split("\n")) - {""}, {"devices"},
                         "nothing was sent to either")
        done = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp32.pte", "--device", "adb:two", cwd=self.dir, env=env)
        self.assertNotEqual(done.returncode, 0)
        said = [c for c in (self.dir / "calls").read_text().splitlines() if " shell " in c or " push " in c]
        self.assertTrue(said)
        self.assertFalse([c for c in said if not c.startswith("-s two ")], said)

    def test_D30_the_devices_log_is_left_alone(self):
        for path in (ROOT / "src/device").glob("*.c"):
            self.assertNotIn("logcat", path.read_text(), path.name)

    def test_D31_from_any_folder_with_any_python(self):
        env = {"PATH": "/usr/bin:/bin", "ETPROF": ETPROF, "HOME": str(self.dir)}
        tool = ROOT / "model_profiling/tools/xnntrace_to_kernels.py"
        run(sys.executable, tool, "--xnntrace", DATA / "kit/on_xnntrace.log", "--out", "k.csv", cwd=self.dir, env=env,
            code=0)
        self.assertEqual(len(rows(self.dir / "k.csv")), 6)

    def test_D35_json_is_json(self):
        def refuse(word):
            raise ValueError(word)
        table = self.table("x", [("Method::execute", "portable", [7])])
        for words in (("stats", table), ("analyze", table), ("compare", table, table), ("analyze", self.dir)):
            json.loads(run(ETPROF, *words, "--format", "json", code=0).stdout, parse_constant=refuse)

    def test_D37_nothing_of_a_config_reaches_a_shell(self):
        mark = self.dir / "mark"
        for key, value in (("cpu_affinity", f"1; touch {mark}"), ("name", f"x_on$(touch {mark})")):
            experiment = {"name": "x_on", "threads": [1], key: value}
            config = self.dir / "c.json"
            config.write_text(json.dumps({"model": str(MODELS / "toy_cnn_xnnpack_fp32.pte"),
                                          "output_root": str(self.dir / "o"),
                                          "blocks": 1, "experiments": [experiment, {"name": "x_off", "threads": [1]}]}))
            done = run(ETPROF, "run", config, cwd=self.dir)
            self.assertIn(done.returncode, (0, 2, 4, 5), done.stderr)
            self.assertFalse(mark.exists(), key)

    def test_D39_builds_are_parallel(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        self.assertTrue(all(p.get("generator") == "Ninja" or p.get("inherits") for p in presets), presets)
        self.assertIn("Ninja", (ROOT / "scripts/build-runner").read_text())


class OfASession(Case):
    """toy_cnn in float16 through a short session: two levels, two blocks."""
    out = None

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.quick = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp16.pte", *QUICK, "--out", "run", cwd=cls.work.name)
        if "no runner for" in cls.quick.stdout + cls.quick.stderr:
            raise unittest.SkipTest("no runner for this machine is built (scripts/build-runner native)")
        cls.out = pathlib.Path(cls.work.name) / "run"
        cls.report = json.loads((cls.out / "report.json").read_text())
        cls.manifest = json.loads((cls.out / "manifest.json").read_text())
        cls.baseline = cls.report["comparisons"][0]["baseline"]

    def test_D1_totals_are_one_inference_of_the_baseline(self):
        doc = json.loads((self.out / "analysis_summary.json").read_text())
        arm = next(e for e in doc["experiments"] if e["experiment"] == self.baseline)
        self.assertEqual(doc["category_totals_of"], self.baseline)
        self.assertIn("Convolution", doc["category_totals_ms"])
        self.assertEqual(sum(arm["categories_ns"].values()) + arm["boundary_ns"] + arm["framework_ns"]
                         + arm["unexplained_ns"],
                         arm["execute_ns"])
        self.assertAlmostEqual(sum(doc["category_totals_ms"].values()), sum(arm["categories_ns"].values()) / 1e6, 9)

    def test_speedups_of_categories_are_the_answers(self):
        answer = {c["category"]: c["speedup"][0] for c in self.report["categories"]}
        told = rows(next(self.out.glob("*_comparison.csv")))
        table = {r["category"]: float(r["speedup"]) if r["speedup"] else None for r in told}
        self.assertEqual(set(answer), set(table))
        arms = {c["category"]: c["arms"] for c in self.report["categories"]}
        for row in told:  # one population for all columns
            self.assertEqual(row["average"], "mean of the executions around the median")
            for name, part in arms[row["category"]].items():
                self.assertEqual((int(row[f"{name}_ns"]), float(row[f"{name}_ms"])), (part["ns"], part["ns"] / 1e6))
                self.assertAlmostEqual(float(row[f"{name}_pct"]), 100 * part["share"], 3)
        for category, speedup in answer.items():
            said = table[category]
            self.assertEqual(speedup is None, said is None, category)
            self.assertTrue(speedup is None or abs(said / speedup - 1) < 1e-5, (category, speedup, said))

    def test_D3_the_quick_test_succeeds(self):
        self.assertEqual(self.quick.returncode, 0, self.quick.stdout)
        run(ETPROF, "validate", self.out, code=0)
        run(ETPROF, "verify", self.out, code=0)

    def copy(self):
        shutil.copytree(self.out, self.dir / "copy")
        return self.dir / "copy"

    def test_D5_no_dump_of_another_day(self):
        copy = self.copy()
        first, second = sorted(copy.glob("*/*_t1.etdump"))
        shutil.copy(first, second)
        done = run(ETPROF, "verify", copy)
        self.assertEqual(done.returncode, 1)
        self.assertIn("altered", done.stdout)
        stale = self.dir / "taken"
        stale.mkdir()
        shutil.copy(first, stale / "toy_cnn_xnnpack_fp16_linux_avx2_t1.etdump")
        before = list(stale.iterdir())
        done = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp16.pte", *QUICK, "--out", stale, cwd=self.dir)
        self.assertEqual(list(stale.iterdir()), before, "a taken folder is left as it is")

    def test_D7_the_analysis_is_there(self):
        for name in ("analysis_summary.json", "metrics.json", "manifest.json", "report.md", "report.html",
                     "report.json",
                     "toy_cnn_category_summary.csv", "toy_cnn_operator_details.csv", "toy_cnn_comparison.csv",
                     "toy_cnn_xnnpack_fp16_pipeline_summary.json", "toy_cnn_xnnpack_fp16_pipeline_summary.md"):
            self.assertGreater((self.out / name).stat().st_size, 50, name)

    def test_D9_arms_are_interleaved(self):
        order = [r["experiment"] for r in rows(self.out / "samples.csv") if r["phase"] == "timed"]
        blocks = {r["block"] for r in rows(self.out / "samples.csv") if r["phase"] == "timed"}
        changes = sum(a != b for a, b in zip(order, order[1:]))
        self.assertGreaterEqual(changes, len(blocks), "not all of one arm, then all of the other")

    def test_D11_one_binary(self):
        shas = {a["runner_sha256"] for a in self.report["arms"]}
        self.assertEqual(len(shas), 1)
        self.assertNotIn(None, shas)

    def test_D12_a_level_that_is_not_there_is_refused(self):
        done = run(ETPROF, "doctor", "levels", "--format", "json", code=0)
        absent = [x["name"] for x in json.loads(done.stdout)["levels"] if not x["available"]]
        for arm in self.report["arms"]:
            self.assertTrue(any(e["kind"] == "mask" for e in arm["proof"]["evidence"]), arm["proof"])
        wanted = "sme2" if os.uname().machine == "x86_64" else (absent or [None])[0]
        if wanted:
            done = run(ETPROF, "ab", MODELS / "toy_cnn_xnnpack_fp16.pte", "--levels", wanted, "--out", self.dir / "o")
            self.assertIn(done.returncode, (2, 5))
            self.assertIn(wanted, done.stderr)

    def test_D13_latencies_are_of_untraced_launches(self):
        timed = [r for r in rows(self.out / "samples.csv") if r["phase"] == "timed"]
        traced = {(r["experiment"], r["launch"]) for r in rows(self.out / "samples.csv") if r["phase"] == "traced"}
        self.assertTrue(traced and timed)
        self.assertFalse(traced & {(r["experiment"], r["launch"]) for r in timed}, "launches of their own")
        for arm in self.report["arms"]:
            ns = [int(r["duration_ns"]) for r in timed if r["experiment"] == arm["name"]]
            self.assertTrue(min(ns) <= arm["median_ns"] <= max(ns), arm["name"])
        for r in json.loads((self.out / "metrics.json").read_text())["results"]:
            ns = [int(x["duration_ns"]) / 1e6 for x in timed if x["experiment"] == r["experiment"]]
            self.assertEqual([round(v, 6) for v in r["metrics"]["latency_ms"]], [round(v, 6) for v in ns])

    def test_D14_the_measured_process_is_warm(self):
        by_launch = {}
        for r in rows(self.out / "samples.csv"):
            by_launch.setdefault((r["experiment"], r["block"], r["launch"]), []).append(r["phase"])
        timed = [p for p in by_launch.values() if "timed" in p]
        self.assertTrue(timed)
        for phases in timed:
            self.assertEqual(phases[:3], ["warmup"] * 3)

    def test_D17_the_whole_is_one_inference(self):
        for path in self.out.glob("*/*_exec_all_runs_timeline.csv"):
            self.assertEqual({float(r["pct_total"]) for r in rows(path) if r["name"] == "Method::execute"}, {100.0})

    def test_D18_the_device_is_described(self):
        device = self.manifest["device"]
        self.assertEqual(device["spec"], "local")
        self.assertIn(os.uname().machine.split("_")[0], json.dumps(device))

    def test_D33_what_ran_is_recorded(self):
        self.assertRegex(self.manifest["executorch"]["sha"], r"^[0-9a-f]{40}$")
        self.assertIsInstance(self.manifest["plan"]["seed"], int)
        self.assertTrue(all(re.fullmatch(r"[0-9a-f]{64}", f["sha256"]) for f in self.manifest["files"]))

    def test_D34_validation_can_fail(self):
        for spoil in (lambda c: next(c.glob("*/*.etdump")).write_bytes(b""),
                      lambda c: (c / "metrics.json").write_text("not json"),
                      lambda c: (c / "manifest.json").write_text('{"model": 1, "results": []}'),
                      lambda c: (c / "samples.csv").unlink()):
            copy = self.copy()
            spoil(copy)
            done = run(ETPROF, "validate", copy)
            self.assertIn(done.returncode, (1, 4), done.stdout)
            shutil.rmtree(copy)

    def test_D38_the_report_is_called_after_its_model(self):
        text = (self.out / "report.md").read_text()
        self.assertTrue(text.startswith("# toy_cnn_xnnpack_fp16"), text[:60])
        self.assertTrue(text.endswith("\n"))
        self.assertNotIn("EdgeTAM", text)

    def test_D40_this_host_is_measured_as_what_it_is(self):
        self.assertEqual(self.manifest["device"]["platform"], {"Linux": "linux", "Darwin": "mac"}[os.uname().sysname])
        mine = "x86_64" if os.uname().machine == "x86_64" else "aarch64"
        self.assertTrue(self.manifest["device"]["isa"].startswith(mine), self.manifest["device"]["isa"][:20])

    def test_three_commands_and_no_edited_file(self):
        """The kit's pages take about 12 commands and a config edited by hand from a model to a first report."""
        (self.dir / "bin").mkdir()
        path = self.dir / "bin/etprof"  # stands in for the exporter, which tests/python runs
        path.write_text(
            f"#!/bin/bash\n[ \"$1\" = export ] || exec {ETPROF} \"$@\"\n"
            f"mkdir -p out_toy_cnn/artifacts && cp {MODELS}/toy_cnn_xnnpack_fp16.pte out_toy_cnn/artifacts\n"
        )
        path.chmod(0o755)
        commands = re.search(r"<!-- three commands -->\n```\n(.*?)```", (ROOT / "docs/from-the-kit.md").read_text(),
                             re.S)
        lines = [x for x in commands[1].splitlines() if x and not x.startswith("#")]
        self.assertLessEqual(len(lines), 3)
        env = {**os.environ, "PATH": f"{path.parent}:{os.environ['PATH']}"}
        for line in lines:
            run("bash", "-c", line.replace("etprof ab", "etprof ab --blocks 1"), cwd=self.dir, env=env, code=0)
        for name in ("report.html", "report.md", "latency_comparison.svg", "operator_breakdown_stacked.svg"):
            self.assertTrue(list(self.dir.glob(f"out_toy_cnn/runs/*/{name}")), name)



class Table(unittest.TestCase):
    def test_table(self):
        """Every defect has its test or its reason, and the page names it."""
        here = {m.split("_")[1] for c in (OfFiles, OfASession) for m in dir(c) if m.startswith("test_D")}
        known = here | set(ELSEWHERE) | set(CANNOT)
        self.assertEqual(known, {f"D{i}" for i in range(1, 41)})
        for defect, (_, path, text) in ELSEWHERE.items():
            self.assertIn(text, (ROOT / path).read_text(), defect)
        lines = (ROOT / "docs/from-the-kit.md").read_text().splitlines()
        page = {m[1]: line for line in lines if (m := re.match(r"\| (D\d+) \|", line))}
        self.assertEqual(set(page), known)
        for line in page.values():
            self.assertEqual(line.count(" | "), 2, line)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
