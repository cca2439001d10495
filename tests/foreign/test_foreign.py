# SPDX-License-Identifier: Apache-2.0
"""etprof ab with runners of others: the test runners of build.py, real ExecuTorch libraries.

Expected operator names are ExecuTorch's: a dynamic linear is QDU8 with VNNI and QD8 without. A CPU without VNNI has
two levels that names cannot tell apart, avx2 and sse; there the questions about names are left out.

usage: test_foreign.py ETPROF"""
import csv
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import build

ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(build.ROOT)
RUNNERS = ROOT / "build" / "foreign" / "x86_64-linux-gnu"
VARIANTS = ["stock", "untraced", "old", "silent", "limited", "other", "portable", "slower", "beside"]


VNNI = "avx512_vnni" in pathlib.Path("/proc/cpuinfo").read_text()
ON, OFF = ("vnni", "avx2") if VNNI else ("avx2", "sse")
ON_ARM, OFF_ARM = f"linux_{ON}", f"linux_{OFF}"
ONE = ("--runner", str(RUNNERS / "stock"), "--levels", "best")  # as it is, whatever this CPU has
TWO = ("--runner-a", str(RUNNERS / "stock"), "--runner-b", str(RUNNERS / "limited"), "--levels", f"{ON},{OFF}")


class Foreign(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.dir = pathlib.Path(self.tmp.name)
        (self.dir / "linear.pte").write_bytes(build.selftest_model("linear"))

    def ab(self, *words, fault=None, blocks=6, more=()):
        shutil.rmtree(self.dir / "run", ignore_errors=True)
        env = {**os.environ, **({"STOCK_FAULT": fault} if fault else {}), **dict(more)}
        done = execute(ETPROF, "ab", "linear.pte", "--blocks", blocks, "--iterations", "12", "--warmup", "3", "--out",
                       "run", "--format", "json", *words, cwd=self.dir, env=env)
        self.answer = json.loads(done.stdout) if done.stdout.startswith("{") else None
        self.stderr = done.stderr
        return done.returncode

    def names(self, arm):
        return " ".join(n for op in self.answer["operators"] for n in op["names"].get(arm, []))

    def notes(self):
        return {n["id"] for n in json.loads((self.dir / "run" / "manifest.json").read_text()).get("notes", [])}

    def proofs(self):
        return {a["name"]: a["proof"]["ok"] for a in self.answer["arms"]}

    def test_two_builds_at_two_levels(self):
        self.assertEqual(self.ab(*TWO), 0, self.stderr)
        if VNNI:
            self.assertIn("QDU8", self.names(ON_ARM))
        self.assertIn("QD8", self.names(OFF_ARM))
        self.assertNotIn("QDU8", self.names(OFF_ARM))
        self.assertIsNot(self.proofs()[ON_ARM], False)
        self.assertIs(self.proofs()[OFF_ARM], True)
        for arm in self.answer["arms"]:
            mask = [e["text"] for e in arm["proof"]["evidence"] if e["kind"] == "mask"][0]
            self.assertEqual(mask, "nothing was hidden: this build itself is said to be at the level")
            self.assertIs(arm["proof"]["by_table"], True)
            self.assertIn("no names learned", arm["proof"]["note"])
        self.assertEqual(self.answer["grade"], "C") # two builds differ in more than the level
        self.said()
        self.assertTrue(self.answer["correctness"]["ok"])
        self.assertLessEqual({"runner_always_traces", "runner_builds_differ"}, self.notes())
        c = self.answer["comparisons"][0]  # which build is faster is the CPU's affair
        self.assertEqual((c["baseline"], c["candidate"]), (OFF_ARM, ON_ARM))

    def said(self):
        """What nothing hid and nothing can prove is shown as said, in every form and file."""
        self.assertEqual({a["name"]: a["level"] for a in self.answer["arms"]},
                         {ON_ARM: f"said:{ON}", OFF_ARM: f"said:{OFF}"})
        with open(self.dir / "run" / "samples.csv", encoding="utf-8") as f:
            self.assertEqual({r["level"] for r in csv.DictReader(f)}, {f"said:{ON}", f"said:{OFF}"})
        word = {"vnni": "VNNI", "avx2": "AVX2", "sse": "SSE"}
        for words in (["analyze", "run"], ["analyze", "run", "-f", "md"], ["analyze", "run", "--full"],
                      ["stats", "run"], ["stats", "run/samples.csv", "--full"], ["gate", "run", "speedup >= 0"]):
            text = self.etprof(*words)
            known = re.sub(r"said:\w+|linux_\w+|--levels \S+|\w+ names?\b|without VNNI|VNNI would|"
                           rf"on (VNNI|{word[ON]})\b", "", text)
            bare = re.findall(rf".{{0,30}}\b(?:{ON}|{OFF}|{word[ON]}|{word[OFF]})\b(?! \(said).{{0,20}}", known)
            self.assertEqual(bare, [], (words, text))
            self.assertNotIn("set by mask", text)
            self.assertNotIn("confirmed;", text)
        for path in (self.dir / "run").rglob("*.csv"):
            with path.open(encoding="utf-8") as f:
                levels = {r["level"] for r in csv.DictReader(f) if r.get("level")}
            self.assertLessEqual(levels, {f"said:{ON}", f"said:{OFF}"}, path)

    def etprof(self, *words):
        return execute(ETPROF, *words, cwd=self.dir, env={**os.environ, "COLUMNS": "400"}).stdout

    def test_one_build_at_its_own_level(self):
        self.assertEqual(self.ab(*ONE, blocks=1), 0, self.stderr)
        self.assertEqual([a["name"] for a in self.answer["arms"]], ["linux_best"])

    def test_price(self):
        """What others' runners do not tell is said to be so, nowhere 0; no launch is counted on that is not made."""
        self.assertEqual(self.ab(*ONE, "--price", blocks=2, more={"ETPROF_PROGRESS": "lines"}), 0, self.stderr)
        counts = {int(n) for n in re.findall(r"^progress \d+ (\d+) block [1-9]", self.stderr, re.M)}
        self.assertEqual(counts, {2 * 2})  # timed and traced, none with a cold page cache
        arm, = self.answer["arms"]
        self.assertTrue(all(arm[k] > 0 for k in ("median_ns", "load_ns", "first_ns", "peak_rss_bytes")), arm)
        self.assertEqual([arm[k] for k in ("cold_load_ns", "dirty_bytes", "clean_bytes")], [None] * 3)
        self.assertTrue("memory" not in arm and "loading" not in arm, arm)
        text = self.etprof("analyze", "run", "--price")
        for row in ("loading, cold page cache", "dirty memory", "clean memory"):
            self.assertRegex(text, rf"{row} .*not told by its runner")
        self.assertIn("Only etprof's own runner tells what holds the memory", text)
        self.assertNotIn("drop the program", text)
        self.assertEqual(re.findall(r" 0(?:\.0)? (?:ns|B|MB)", text), [], text)

    def test_a_level_cannot_be_set(self):
        """Neither of one binary at two levels, nor of one file that is named twice, nor of two builds at another."""
        stock = str(RUNNERS / "stock")
        for words in (("--runner", stock), ("--runner", stock, "--levels", f"{ON},{OFF}"),
                      ("--runner", stock, "--levels", OFF),
                      ("--runner-a", stock, "--runner-b", str(RUNNERS / "limited"), "--levels", OFF)):
            with self.subTest(words=words):
                self.assertEqual(self.ab(*words), 4, self.stderr)
                self.assertIn("on x86-64 a program asks the CPU itself", self.stderr)
                self.assertIn("etprof ab MODEL --runner-a OFF --runner-b ON --levels OFF,ON", self.stderr)
                self.assertFalse((self.dir / "run" / "manifest.json").exists())
        copy = shutil.copy(stock, self.dir / "copy")
        for off in (stock, copy):
            with self.subTest(off=off):
                words = ("--runner-a", str(off), "--runner-b", stock, "--levels", f"{OFF},{ON}")
                self.assertEqual(self.ab(*words), 4, self.stderr)
                self.assertIn("--runner-a and --runner-b name the same build: ", self.stderr)
                self.assertNotIn("etprof ab MODEL", self.stderr)

    def test_a_script_in_front(self):
        script = self.dir / "front"
        script.write_text("#!/bin/sh\n# model_path num_executions etdump_path cpu_threads inputs output_file\n"
                          "exec '%s' \"$@\"\n" % (RUNNERS / "stock"))
        script.chmod(0o755)
        self.assertEqual(self.ab("--runner", str(script), "--levels", "best", blocks=1), 0, self.stderr)
        self.assertIn("QD", self.names("linux_best"))

    @unittest.skipUnless(VNNI, "names could not tell levels apart")
    def test_two_builds_of_which_neither_is_off(self):
        status = self.ab("--runner-a", str(RUNNERS / "stock"), "--runner-b", str(RUNNERS / "other"), "--levels",
                         f"{ON},{OFF}")
        self.assertEqual(status, 6, self.stderr)
        self.assertEqual(self.answer["comparisons"][0]["withheld"], "proof_failed")
        self.assertEqual(self.answer["grade"], "C")
        self.assertIn("runner_builds_differ", self.notes())
        hashes = {a["runner_sha256"] for a in self.answer["arms"]}
        self.assertEqual(len(hashes), 2)

    def test_a_library_beside_a_build_belongs_to_it(self):
        """One executable in two folders; a library beside the second is another file, then a further one is there that
        nobody needs."""
        libraries = sorted(pathlib.Path(build.sdk("x86_64-linux-gnu"), "lib").glob("libexecutorch*.so"))
        for side in "ab":
            (self.dir / side).mkdir()
            shutil.copy(RUNNERS / "beside", self.dir / side / "runner")
            for library in libraries:
                (self.dir / side / library.name).symlink_to(library)
        seen = []
        for step in ("equal", "changed", "unneeded"):
            changed = self.dir / "b" / "libexecutorch_backend_xnnpack.so"
            if step == "changed":
                content = changed.read_bytes()
                changed.unlink()
                changed.write_bytes(content + b"\0") # the loader does not see it
            if step == "unneeded":
                (self.dir / "b" / "libother.so").write_bytes(content)
            done = execute(ETPROF, "ab", "linear.pte", "--runner-a", "a/runner", "--runner-b", "b/runner", "--blocks",
                           "1", "--iterations", "2", "--warmup", "1", "--out", step, "--quiet", cwd=self.dir)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            manifest = json.loads((self.dir / step / "manifest.json").read_text())
            seen.append((manifest["plan"]["builds"][0]["sha256"], manifest["plan"]["builds"][1]["sha256"]))
            self.assertEqual(step == "equal", "builds_same" in {n["id"] for n in manifest.get("notes", [])}, step)
            self.assertIn("of its own", manifest["plan"]["builds"][0]["text"])
        self.assertEqual(seen[0][0], seen[0][1])
        self.assertEqual(seen[1][0], seen[0][0])
        self.assertNotEqual(seen[1][1], seen[0][1])
        self.assertEqual(seen[2], seen[1])

    def two_builds(self, out):
        done = execute(ETPROF, "ab", "linear.pte", "conv.pte", "--runner-a", RUNNERS / "stock", "--runner-b",
                       RUNNERS / "slower", "--blocks", "8", "--iterations", "40", "--warmup", "5", "--out", out,
                       "--format", "json", "--quiet", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        manifest = json.loads((self.dir / out / "manifest.json").read_text())
        self.assertEqual([pathlib.Path(b["path"]).name for b in manifest["plan"]["builds"]], ["stock", "slower"])
        self.assertEqual(execute(ETPROF, "verify", self.dir / out, text=False).returncode, 0)
        model = {a["name"]: a["model"] for a in answer["arms"]}
        within = [c for c in (*answer["comparisons"], *answer["within"])
                  if model[c["baseline"]] == model[c["candidate"]]]
        return [{"verdict": c["verdict"], "estimate": c["speedup"]["estimate"]} for c in within]

    def test_an_arm_is_held_against_itself(self):
        """One build's outputs are other bytes at every launch: not deterministic, and no difference of the builds."""
        noisy = self.dir / "noisy"
        noisy.write_text(f"""#!{sys.executable}
import glob, os, subprocess, sys
done = subprocess.run(["{RUNNERS / 'stock'}", *sys.argv[1:]])
for word in sys.argv[1:]:
    flag, _, path = word.partition("output_file=")
    for name in glob.glob(path + "*") if path else []:
        with open(name, "r+b") as f:
            f.write(os.urandom(os.path.getsize(name)))
sys.exit(done.returncode)
""")
        noisy.chmod(0o755)
        for runner, random in ((RUNNERS / "slower", None), (noisy, True)):
            self.ab("--runner-a", str(runner), "--runner-b", str(RUNNERS / "stock"), *TWO[4:], blocks=2)
            self.assertEqual(self.answer["correctness"].get("not_deterministic") or None, random, self.answer)
            self.assertNotIn("outputs_differ", {f["kind"] for f in self.answer["findings"]})

    def test_two_builds_over_models(self):
        """B takes 20 % longer for every execution: A is 1 / 1.2 of it, on each model. These are real
        times: where other programs take the CPUs a session may not be able to tell, but it never says the opposite, and
        one of five tells."""
        (self.dir / "conv.pte").write_bytes(build.selftest_model("conv"))
        withheld = True
        for attempt in range(5):
            rows = self.two_builds(f"builds{attempt}")
            self.assertLessEqual({row["verdict"] for row in rows}, {"slower", "unknown"}, rows)
            if len(rows) == 2 and all(row["verdict"] == "slower" and 0.7 < row["estimate"] < 0.95 for row in rows):
                return
            withheld = withheld and any(row["estimate"] is None for row in rows)
        if withheld:
            self.skipTest("a ratio of each session was withheld: other programs take the CPUs")
        self.fail(rows)

    def one(self, variant, *words, **how):
        return self.ab("--runner", str(RUNNERS / variant), "--levels", "best", *words, **how)

    def test_without_tracer(self):
        self.assertEqual(self.one("untraced"), 0, self.stderr)
        self.assertEqual(self.proofs(), {"linux_best": None})
        self.assertIn("runner_no_tracer", self.notes())
        self.assertEqual(self.answer["operators"], [])

    def test_one_build_of_two_without_tracer(self):
        self.assertEqual(self.ab("--runner-a", str(RUNNERS / "untraced"), *TWO[2:]), 0, self.stderr)
        self.assertEqual(set(self.proofs().values()), {None})
        self.assertIn("runner_tracers_differ", self.notes())
        self.assertEqual(self.answer["operators"], [])

    def test_a_recording_without_operators_proves_nothing(self):
        self.assertEqual(self.ab(*ONE, fault="emptydump", blocks=1), 0, self.stderr)
        self.assertEqual(set(self.proofs().values()), {None})
        self.assertIn("no_execution", {f["kind"] for f in self.answer["findings"]})

    def test_an_old_release(self):
        self.assertEqual(self.one("old", blocks=1), 0, self.stderr)
        self.assertIn("runner_mean_only", self.notes())
        self.assertEqual(self.one("old", "--threads", "2"), 4)
        self.assertIn("cpu_threads", self.stderr)

    def test_refused_before_anything_is_measured(self):
        for words, status, text in ((["--runner", str(RUNNERS / "silent")], 5, "EXECUTORCH_ENABLE_LOGGING"),
                                    (["--runner", str(RUNNERS / "stock"), "--kernels", "always"], 4, "--kernels"),
                                    (["--runner", str(RUNNERS / "stock"), "--inputs", "random:3"], 2, "random"),
                                    (["--runner", "a", "--runner-a", "b", "--runner-b", "c"], 2, "leave out --runner"),
                                    (["--runner-a", "/bin/true", "--runner-b", "/bin/false", *TWO[4:]], 5,
                                     "executor_runner"),
                                    (["--runner-a", "/bin", "--runner-b", "/bin", *TWO[4:]], 2, "two executor_runners"),
                                    (["--runner-a", "nothing", "--runner-b", "nothing"], 5, "does not exist")):
            with self.subTest(words=words):
                self.assertEqual(self.ab(*words), status, self.stderr)
                self.assertIn(text, self.stderr)
                self.assertFalse((self.dir / "run" / "manifest.json").exists())

    def test_misbehaviour_costs_the_block_and_is_told(self):
        for fault, text in (("crash", "signal 11"), ("garbage", "no timing line"), ("threads", "ignores its flags"),
                            ("executions", "ignores its flags"), ("nodump", "trace is missing")):
            with self.subTest(fault):
                self.assertEqual(self.ab(*ONE, fault=fault, blocks=1), 6)
                self.assertIn(text, self.stderr)
        self.assertEqual(self.ab(*ONE, "--timeout", "0.3", fault="hang", blocks=1), 6)
        self.assertIn("no output for", self.stderr)
        self.assertEqual(self.ab(*ONE, "--timeout", "0.3", fault="drip", blocks=1), 6)
        self.assertIn("its output did not end within", self.stderr)

    def test_the_launcher_of_the_bundle(self):
        """Beside the program there is none: what starts the runner lies in the bundle, and is what is watched."""
        (self.dir / "bin").mkdir()
        program = shutil.copy(ETPROF, self.dir / "bin" / "etprof")
        bundle = next(p for p in ROOT.glob("build/bundle/*/etprof-launch") if p.parent.name == RUNNERS.name).parent
        env = {**os.environ, "ETPROF_RUNNER": str(bundle)}
        done = execute(program, "ab", "linear.pte", *ONE, "--blocks", "1", "--iterations", "3", "--warmup", "1",
                       "--out", "run", "--quiet", cwd=self.dir, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_talk_around_the_lines_does_no_harm(self):
        for fault in ("longlog", "latin1"):
            with self.subTest(fault):
                self.assertEqual(self.ab(*ONE, fault=fault, blocks=1), 0, self.stderr)

    def test_missing_libraries_show_the_loader_s_words(self):
        data = (RUNNERS / "stock").read_bytes().replace(b"libexecutorch_etdump.so", b"libexecutorch_nothere.so"[:23])
        broken = self.dir / "broken"
        broken.write_bytes(data)
        broken.chmod(0o755)
        self.assertEqual(self.ab("--runner", str(broken), "--levels", "best", blocks=1), 6)
        self.assertIn("cannot open shared object file", self.stderr)

    def test_a_program_for_another_processor(self):
        data = bytearray((RUNNERS / "stock").read_bytes())
        data[18:20] = (183).to_bytes(2, "little") # ELF's e_machine: AArch64
        foreign = self.dir / "foreign"
        foreign.write_bytes(data)
        foreign.chmod(0o755)
        self.assertEqual(self.ab("--runner", str(foreign)), 5)
        self.assertIn("is a program for aarch64, the device is x86_64", self.stderr)
        self.assertFalse((self.dir / "run" / "manifest.json").exists())

    def test_without_the_backend_of_the_model(self):
        self.assertEqual(self.one("portable", blocks=1), 6)
        self.assertIn("Loading of method failed", self.stderr) # the runner's words

    def test_what_two_files_show_to_differ(self):
        """Compiler and recorded flags, as another tool chain would have written them."""
        other = self.dir / "other"
        for name, text in (("comment", "clang version 18.0.1 (Android)\0"), ("flags", "-march=armv9-a -O3\0")):
            (self.dir / name).write_text(text)
        done = execute("objcopy", "--remove-section=.comment", "--remove-section=.GCC.command.line", "--add-section",
                       ".comment=comment", "--add-section", ".GCC.command.line=flags", RUNNERS / "other", other,
                       cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ab("--runner-a", str(RUNNERS / "stock"), "--runner-b", str(other), *TWO[4:], blocks=1)
        text = next(n["text"] for n in json.loads((self.dir / "run" / "manifest.json").read_text())["notes"]
                    if n["id"] == "runner_builds_differ")
        self.assertRegex(text, r"compiler: GCC: \(.* against clang version 18.0.1 \(Android\)")
        self.assertIn("flags: unknown against -march=armv9-a -O3", text)

    def test_config_with_the_kits_runner_paths(self):
        """Two files are two builds; one file at two levels cannot be had here."""
        config = {"model": "linear.pte", "output_root": "run", "blocks": 6,
                  "experiments": [{"name": f"linux_{level}", "runner_path": str(RUNNERS / "stock"), "runs": 12,
                                   "warmup": 3} for level in (ON, OFF)]}
        for off, status in (("stock", 4), ("limited", 0)):
            shutil.rmtree(self.dir / "run", ignore_errors=True)
            config["experiments"][1]["runner_path"] = str(RUNNERS / off)
            (self.dir / "c.json").write_text(json.dumps(config))
            done = execute(ETPROF, "run", "c.json", "--format", "json", cwd=self.dir)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(json.loads(done.stdout)["grade"], "C")

    def test_repeated_from_its_folder(self):
        self.assertEqual(self.ab(*ONE, blocks=1), 0, self.stderr)
        done = execute(ETPROF, "rerun", "run", cwd=self.dir)
        self.assertNotIn("does not speak", done.stderr)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr) # whether it agrees is not the question here
        again = json.loads((self.dir / "run.2" / "manifest.json").read_text())
        self.assertEqual(again["plan"]["arms"][0]["runner"], os.path.realpath(RUNNERS / "stock"))

    def test_the_manifest_names_the_runner(self):
        self.assertEqual(self.ab(*ONE, blocks=1), 0, self.stderr)
        manifest = json.loads((self.dir / "run" / "manifest.json").read_text())
        arm = manifest["plan"]["arms"][0]
        self.assertEqual(arm["runner"], os.path.realpath(RUNNERS / "stock"))
        self.assertIn("event tracer", arm["build"])


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("written for Linux on x86-64")
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        skip("this CPU has no AVX2, and so one level")
    try:
        build.build("x86_64-linux-gnu", str(RUNNERS), VARIANTS)
    except build.Missing as reason:
        skip(reason)
    unittest.main()
