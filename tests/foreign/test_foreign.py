# SPDX-License-Identifier: Apache-2.0
"""etprof ab with runners of others: the test runners of build.py, real ExecuTorch libraries.

Expected operator names are ExecuTorch's: a dynamic linear is QDU8 with VNNI and QD8 without.

usage: test_foreign.py ETPROF"""
import ctypes
import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import build

ETPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(build.ROOT)
RUNNERS = ROOT / "build" / "foreign" / "x86_64-linux-gnu"
VARIANTS = ["stock", "untraced", "old", "silent", "cheat", "other", "portable", "slower", "beside"]


def has_vnni():
    return "avx512_vnni" in pathlib.Path("/proc/cpuinfo").read_text()


def refuse_32_bit_calls():
    """A seccomp filter as containers have one, for this process and its children."""
    rows = ((0x20, 0, 0, 4), (0x15, 1, 0, 0xC000003E), (6, 0, 0, 0x00050001), (6, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


class Foreign(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.dir = pathlib.Path(self.tmp.name)
        (self.dir / "linear.pte").write_bytes(build.selftest_model("linear"))

    def ab(self, *words, fault=None, levels="vnni,avx2", blocks=6, before=None):
        shutil.rmtree(self.dir / "run", ignore_errors=True)
        env = {**os.environ, **({"STOCK_FAULT": fault} if fault else {})}
        done = subprocess.run([ETPROF, "ab", "linear.pte", "--levels", levels, "--blocks", str(blocks),
                               "--iterations", "12", "--warmup", "3", "--out", "run", "--format", "json", *words],
                              cwd=self.dir, env=env, capture_output=True, text=True, timeout=600,
                              preexec_fn=before)
        self.answer = json.loads(done.stdout) if done.stdout.startswith("{") else None
        self.stderr = done.stderr
        return done.returncode

    def names(self, arm):
        return " ".join(n for op in self.answer["operators"] for n in op["names"].get(arm, []))

    def notes(self):
        return {n["id"] for n in json.loads((self.dir / "run" / "manifest.json").read_text()).get("notes", [])}

    def proofs(self):
        return {a["name"]: a["proof"]["ok"] for a in self.answer["arms"]}

    def test_one_binary_at_two_levels(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock")), 0, self.stderr)
        self.assertIn("QDU8", self.names("linux_vnni"))
        self.assertNotIn("QDU8", self.names("linux_avx2"))
        self.assertEqual(self.proofs(), {"linux_vnni": True, "linux_avx2": True})
        self.assertEqual(self.told(), ("avx512", "vnni"))
        # The SDK's kernels_optimized asks for the sizes of caches; XNNPACK asks cpuinfo, which lies elsewhere.
        for arm in self.answer["arms"]:
            mask = [e["text"] for e in arm["proof"]["evidence"] if e["kind"] == "mask"][0]
            self.assertRegex(mask,
                             r"asked for CPU features at least \d+ times in every launch; \d+ that choose no kernels")
            self.assertNotIn("could not be reached", mask)
        self.assertEqual(self.answer["grade"], "A")
        self.assertTrue(self.answer["correctness"]["ok"])
        self.assertIn("runner_always_traces", self.notes())

    def told(self):
        """The levels at which this build was asked for its names; what it says of them is checked."""
        names = {n["level"]: n["names"].split("; ")
                 for n in json.loads((self.dir / "run" / "manifest.json").read_text())["selftest"]["names"]}
        for arm in self.answer["arms"]:
            self.assertIs(arm["proof"]["by_table"], not names)
            self.assertEqual("no names learned" in (arm["proof"]["note"] or ""), not names)
        # XNNPACK of the SDK, read off recordings: with VNNI a dynamic linear is QDU8, without QD8.
        for level, list_ in names.items():
            dynamic = [n for n in list_ if n.startswith("Fully Connected") and "QD" in n]
            self.assertTrue(dynamic, list_)
            self.assertEqual(any("QDU8, F32, QC8W" in n for n in dynamic), level == "vnni", dynamic)
            self.assertEqual(len(list_), len(set(list_)))
            self.assertTrue(any(n.startswith("Convolution (NHWC, F32") for n in list_), list_)
        return tuple(sorted(names))

    def test_a_script_in_front_is_asked(self):
        script = self.dir / "front"
        script.write_text("#!/bin/sh\n# model_path num_executions etdump_path cpu_threads inputs output_file\n"
                          "exec '%s' \"$@\"\n" % (RUNNERS / "stock"))
        script.chmod(0o755)
        self.assertEqual(self.ab("--runner", str(script), blocks=1), 0, self.stderr)
        self.assertEqual(self.told(), ("avx512", "vnni"))

    def test_who_cannot_be_asked_is_judged_by_the_table(self):
        # No recording, no XNNPACK, and names that are those of VNNI at every level: nothing is learned.
        for variant, status in (("untraced", 0), ("cheat", 6)):
            self.assertEqual(self.ab("--runner", str(RUNNERS / variant), blocks=1), status, self.stderr)
            self.assertEqual(json.loads((self.dir / "run" / "manifest.json").read_text())["selftest"]["names"], [])
        for arm in self.answer["arms"]:
            self.assertIs(arm["proof"]["by_table"], True)
            self.assertIn("no names learned", arm["proof"]["note"])

    def test_stops_under_a_filter_are_told(self):
        for before in (None, refuse_32_bit_calls):
            self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), blocks=1, before=before), 0, self.stderr)
            lines = [json.loads(line) for line in (self.dir / "run" / "environment.jsonl").read_text().splitlines()]
            looks = {line.get("asks_looks", 0) > 0 for line in lines if line["type"] == "launch"}
            texts = [e["text"] for a in self.answer["arms"] for e in a["proof"]["evidence"] if e["kind"] == "mask"]
            self.assertEqual(self.proofs(), {"linux_vnni": True, "linux_avx2": True})
            if before:
                self.assertIn(True, looks)
            told = any("threads were stopped" in text for text in texts)
            self.assertEqual(told, True in looks, texts)

    def test_every_level(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), levels="vnni,avx512,avx2,sse", blocks=1), 0)
        for level in ("avx512", "avx2", "sse"):
            self.assertNotIn("QDU8", self.names("linux_" + level))
        self.assertNotIn(False, self.proofs().values())

    def test_a_runner_that_ignores_the_level_is_caught(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "cheat")), 6, self.stderr)
        self.assertIs(self.proofs()["linux_avx2"], False)
        self.assertEqual(self.answer["comparisons"][0]["withheld"], "proof_failed")
        self.assertIsNone(self.answer["comparisons"][0]["speedup"]["estimate"])

    def test_two_builds_of_which_neither_is_off(self):
        status = self.ab("--runner-on", str(RUNNERS / "stock"), "--runner-off", str(RUNNERS / "other"))
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
            done = subprocess.run([ETPROF, "ab", "linear.pte", "--runner-a", "a/runner", "--runner-b", "b/runner",
                                   "--levels", "avx2", "--blocks", "1", "--iterations", "2", "--warmup", "1", "--out",
                                   step, "--quiet"], cwd=self.dir, capture_output=True, text=True, timeout=600,
                                  check=False)
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
        done = subprocess.run([ETPROF, "ab", "linear.pte", "conv.pte", "--runner-a", RUNNERS / "stock", "--runner-b",
                               RUNNERS / "slower", "--levels", "avx2", "--blocks", "8", "--iterations", "40",
                               "--warmup", "5", "--out", out, "--format", "json", "--quiet"], cwd=self.dir,
                              capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["schema"], "etprof.builds/1")
        self.assertEqual([pathlib.Path(answer[side]["path"]).name for side in ("a", "b")], ["stock", "slower"])
        self.assertGreater(answer["operators_compared"], 0)
        self.assertEqual(subprocess.run([ETPROF, "verify", self.dir / out], capture_output=True,
                                        check=False).returncode, 0)
        return [*answer["models"], answer["mean"]]

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
            self.ab("--runner-on", str(runner), "--runner-off", str(RUNNERS / "stock"), levels="avx2,sse", blocks=2)
            self.assertEqual(self.answer["correctness"].get("not_deterministic") or None, random, self.answer)
            self.assertNotIn("outputs_differ", {f["kind"] for f in self.answer["findings"]})

    def test_two_builds_over_models(self):
        """B takes 20 % longer for every execution: A is 1 / 1.2 of it, on each model and in the mean. These are real
        times: where other programs take the CPUs a session may not be able to tell, but it never says the opposite, and
        one of five tells."""
        (self.dir / "conv.pte").write_bytes(build.selftest_model("conv"))
        for attempt in range(5):
            rows = self.two_builds(f"builds{attempt}")
            self.assertLessEqual({row["verdict"] for row in rows}, {"slower", "unknown"}, rows)
            if all(row["verdict"] == "slower" and 0.7 < row["estimate"] < 0.95 for row in rows):
                return
        self.fail(rows)

    def test_without_tracer(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "untraced")), 0, self.stderr)
        self.assertEqual(self.answer["grade"], "B")
        self.assertEqual(self.proofs(), {"linux_vnni": None, "linux_avx2": None})
        self.assertIn("runner_no_tracer", self.notes())
        self.assertEqual(self.answer["operators"], [])

    def test_a_recording_without_operators_proves_nothing(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), fault="emptydump", blocks=1), 0, self.stderr)
        self.assertEqual(self.answer["grade"], "B")
        self.assertEqual(set(self.proofs().values()), {None})
        self.assertIn("no_execution", {f["kind"] for f in self.answer["findings"]})

    def test_an_old_release(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "old"), blocks=1), 0, self.stderr)
        self.assertIn("runner_mean_only", self.notes())
        self.assertEqual(self.ab("--runner", str(RUNNERS / "old"), "--threads", "2"), 4)
        self.assertIn("cpu_threads", self.stderr)

    def test_refused_before_anything_is_measured(self):
        for words, status, text in ((["--runner", str(RUNNERS / "silent")], 5, "EXECUTORCH_ENABLE_LOGGING"),
                                    (["--runner", str(RUNNERS / "stock"), "--kernels"], 4, "--kernels"),
                                    (["--runner", str(RUNNERS / "stock"), "--inputs", "random:3"], 2, "random"),
                                    (["--runner-on", str(RUNNERS / "stock")], 2, "go together"),
                                    (["--runner", "a", "--runner-on", "b", "--runner-off", "c"], 2, "not all three"),
                                    (["--runner-on", "/bin/true", "--runner-off", "/bin/false"], 5, "executor_runner"),
                                    (["--runner-on", "nothing", "--runner-off", "nothing"], 5, "does not exist")):
            with self.subTest(words=words):
                self.assertEqual(self.ab(*words), status, self.stderr)
                self.assertIn(text, self.stderr)
                self.assertFalse((self.dir / "run" / "manifest.json").exists())

    def test_misbehaviour_costs_the_block_and_is_told(self):
        for fault, text in (("crash", "signal 11"), ("garbage", "no timing line"), ("threads", "ignores its flags"),
                            ("executions", "ignores its flags"), ("nodump", "trace is missing")):
            with self.subTest(fault):
                self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), fault=fault, blocks=1), 6)
                self.assertIn(text, self.stderr)
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), "--timeout", "0.3", fault="hang", blocks=1), 6)
        self.assertIn("no word for", self.stderr)

    def test_talk_around_the_lines_does_no_harm(self):
        for fault in ("longlog", "latin1"):
            with self.subTest(fault):
                self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), fault=fault, blocks=1), 0, self.stderr)

    def test_missing_libraries_show_the_loader_s_words(self):
        data = (RUNNERS / "stock").read_bytes().replace(b"libexecutorch_etdump.so", b"libexecutorch_nothere.so"[:23])
        broken = self.dir / "broken"
        broken.write_bytes(data)
        broken.chmod(0o755)
        self.assertEqual(self.ab("--runner", str(broken), blocks=1), 6)
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
        self.assertEqual(self.ab("--runner", str(RUNNERS / "portable"), blocks=1), 6)
        self.assertIn("Loading of method failed", self.stderr) # the runner's words

    def test_what_two_files_show_to_differ(self):
        """Compiler and recorded flags, as another tool chain would have written them."""
        other = self.dir / "other"
        for name, text in (("comment", "clang version 18.0.1 (Android)\0"), ("flags", "-march=armv9-a -O3\0")):
            (self.dir / name).write_text(text)
        done = subprocess.run(["objcopy", "--remove-section=.comment", "--remove-section=.GCC.command.line",
                               "--add-section", ".comment=comment", "--add-section", ".GCC.command.line=flags",
                               str(RUNNERS / "other"), str(other)], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ab("--runner-on", str(RUNNERS / "stock"), "--runner-off", str(other), blocks=1)
        text = next(n["text"] for n in json.loads((self.dir / "run" / "manifest.json").read_text())["notes"]
                    if n["id"] == "runner_builds_differ")
        self.assertRegex(text, r"compiler: GCC: \(.* against clang version 18.0.1 \(Android\)")
        self.assertIn("flags: unknown against -march=armv9-a -O3", text)

    def test_config_with_the_kits_runner_paths(self):
        config = {"model": "linear.pte", "output_root": "run", "blocks": 6,
                  "experiments": [{"name": "linux_sme2_" + w, "runner_path": str(RUNNERS / "stock"), "runs": 12,
                                   "warmup": 3} for w in ("on", "off")]}
        for off, status, grade in (("stock", 0, "A"), ("other", 6, "C")):
            shutil.rmtree(self.dir / "run", ignore_errors=True)
            config["experiments"][1]["runner_path"] = str(RUNNERS / off)
            (self.dir / "c.json").write_text(json.dumps(config))
            done = subprocess.run([ETPROF, "run", "c.json", "--format", "json"], cwd=self.dir, capture_output=True,
                                  text=True, timeout=600)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(json.loads(done.stdout)["grade"], grade)

    def test_repeated_from_its_folder(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), blocks=1), 0, self.stderr)
        done = subprocess.run([ETPROF, "rerun", "run"], cwd=self.dir, capture_output=True, text=True, timeout=600)
        self.assertNotIn("does not speak", done.stderr)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr) # whether it agrees is not the question here
        again = json.loads((self.dir / "run.2" / "manifest.json").read_text())
        self.assertEqual(again["plan"]["arms"][0]["runner"], os.path.realpath(RUNNERS / "stock"))

    def test_the_manifest_names_the_runner(self):
        self.assertEqual(self.ab("--runner", str(RUNNERS / "stock"), blocks=1), 0, self.stderr)
        manifest = json.loads((self.dir / "run" / "manifest.json").read_text())
        arm = manifest["plan"]["arms"][0]
        self.assertEqual(arm["runner"], os.path.realpath(RUNNERS / "stock"))
        self.assertIn("event tracer", arm["build"])


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("written for Linux on x86-64")
    if not has_vnni():
        skip("this CPU has no AVX-512 VNNI, names could not tell levels apart")
    try:
        build.build("x86_64-linux-gnu", str(RUNNERS), VARIANTS)
    except build.Missing as reason:
        skip(reason)
    unittest.main()
