# SPDX-License-Identifier: Apache-2.0
"""etprof ab --kernels always on this machine: four levels of one int8 model must be told apart by the code
that ran, and arms under a wrong name must be contradicted."""
import csv
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, plain_session, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
BUNDLE = ROOT / "build/bundle/x86_64-linux-gnu"
MODELS = ROOT / "examples/models"
LEVELS = ["vnni", "avx512", "avx2", "sse"]
# What each level's XNNPACK code may need at most, best first.
ORDER = ["avx512-vnni", "avx512", "avx-vnni", "avx2", "sse", "scalar"]
BEST = {"vnni": "avx512-vnni", "avx512": "avx512", "avx2": "avx2", "sse": "sse"}
# Functions whose symbols name the operator they belong to, in the two libraries that have some.
SYMBOLS = {"layer_norm": "native_layer_norm", "repeat_tensor": "expand_copy", "igemm": "Convolution",
           "_gemm_": ("Fully Connected", "Batch Matrix Multiply")}


def etprof(*args, cwd):
    return execute(ETPROF, *args, cwd=cwd)


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.run_dir = pathlib.Path(cls.dir.name) / "int8"
        r = etprof("ab", MODELS / "image_encoder_xnnpack_int8.pte", "--runner", BUNDLE, "--levels", ",".join(LEVELS),
                   "--blocks", "1", "--no-trace", "--iterations", "20", "--warmup", "5", "--kernels", "always",
                   "--out", cls.run_dir, "-q", cwd=cls.dir.name)
        assert r.returncode == 0, r.stderr + r.stdout

    def kernels(self, folder):
        r = etprof("kernels", folder, "--format", "json", cwd=self.dir.name)
        return r.returncode, {a["name"]: a for a in json.loads(r.stdout)["arms"]}

    def test_levels_are_told_apart(self):
        code, arms = self.kernels(self.run_dir)
        self.assertEqual(code, 0)
        for level in LEVELS:
            a = arms["linux_" + level]
            self.assertIs(a["proof"]["ok"], True, (level, a["proof"]))
            self.assertGreater(a["evidence_samples"], 30)
            for isa in ORDER[:ORDER.index(BEST[level])]:
                # As documented: one or two samples are no evidence (a window without bounds may reach
                # into the next function).
                seen = round(a["evidence_isa"].get(isa, 0) * a["evidence_samples"])
                self.assertLess(seen, 3, (level, a["evidence_isa"]))
            self.assertGreater(a["evidence_isa"][BEST[level]], 0.2, (level, a["evidence_isa"]))
            self.assertAlmostEqual(sum(a["isa"].values()), 1, places=4)
            self.assertEqual(sum(k["samples"] for k in a["kernels"]) <= a["samples"], True)
            self.assertGreater(a["joined"], 0.9 * a["in_iterations"])

    def test_wrong_names_are_contradicted(self):
        for was, claimed in [("vnni", "avx512"), ("avx512", "avx2"), ("avx2", "sse"), ("avx2", "avx512"),
                             ("sse", "avx2")]:
            folder = pathlib.Path(self.dir.name) / "planted"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.run_dir, folder)
            manifest = json.loads((folder / "manifest.json").read_text())
            for arm in manifest["plan"]["arms"]:
                arm["level"] = claimed if arm["level"] == was else arm["level"]
            (folder / "manifest.json").write_text(json.dumps(manifest))
            code, arms = self.kernels(folder)
            self.assertEqual(code, 6, (was, claimed))
            self.assertIs(arms["linux_" + was]["proof"]["ok"], False, (was, claimed))

    def test_the_answer_carries_the_evidence(self):
        r = etprof("analyze", self.run_dir, "--format", "json", cwd=self.dir.name)
        for arm in json.loads(r.stdout)["arms"]:
            self.assertEqual([e["kind"] for e in arm["proof"]["evidence"]].count("samples"), 1)

    def test_sampled_iterations_are_no_latency(self):
        with open(self.run_dir / "samples.csv") as f:
            rows = list(csv.DictReader(f))
        sampled = {r["launch"] for r in rows if r["phase"] == "sampled"}
        timed = {r["launch"] for r in rows if r["phase"] == "timed"}
        self.assertEqual(len(sampled), len(LEVELS))
        self.assertFalse(sampled & timed)
        before = etprof("analyze", self.run_dir, "--format", "json", cwd=self.dir.name).stdout
        launches = {a["name"]: a["launches"] for a in json.loads(before)["arms"]}
        self.assertEqual(set(launches.values()), {1})

    def test_files_as_the_kit_has_them(self):
        head = "model_id,kernel_name,category,count,dtype,xnn_op,variant,ukernel_shape,arch_chain,has_sme,has_sme2"
        for level in LEVELS:
            files = list((self.run_dir / ("linux_" + level)).glob("*_kernels.csv"))
            self.assertEqual(len(files), 1)
            with open(files[0]) as f:
                rows = list(csv.DictReader(f))
            self.assertEqual(files[0].read_text().splitlines()[0][:len(head)], head)
            self.assertTrue(all(int(r["count"]) > 0 and r["has_sme2"] == "0" for r in rows))
            unnamed = [r for r in rows if re.search(r"\+0x[0-9a-f]+\]$", r["kernel_name"]) and r["category"]
                       and "xnnpack" in r["module"]]
            views = "".join((self.run_dir / name).read_text() for name in ("kernel_view.md", "report.md"))
            self.assertTrue(unnamed[0]["kernel_name"] in views if unnamed else True, unnamed[:1])
            self.assertTrue(all(r["xnn_op"] == r["category"] for r in unnamed), unnamed[:2])
        self.assertIn("Kernel Name", (self.run_dir / "kernel_view.md").read_text())
        rows = [{x for x in (self.run_dir / name).read_text().splitlines() if x.startswith("| `")}
                for name in ("kernel_view.md", "kernel_view_gemm.md")]
        self.assertTrue(rows[1] and rows[1] < rows[0])

    def test_operators_hold_the_functions_that_name_them(self):
        """The join by time against symbols, which know nothing of time."""
        folder = pathlib.Path(self.dir.name) / "fp16"
        done = plain_session(ETPROF, MODELS / "image_encoder_xnnpack_fp16.pte", folder, ("linux_vnni", "linux_avx2"),
                             "--runner", BUNDLE, "--blocks", 1, "--kernels", "always", runs=20, warmup=5)
        self.assertEqual(done.returncode, 0, done.stderr)
        right = wrong = 0
        for file in folder.glob("*/*.samples"):
            with open(str(file)[:-len(".samples")] + ".code") as f:
                code = [(r["module"], int(r["start"], 16), int(r["end"], 16), r["symbol"]) for r in csv.DictReader(f)]
            with open(file) as f:
                for r in csv.DictReader(f):
                    if r["sure"] != "1" or not r["module"]:
                        continue
                    at = int(r["address"], 16)
                    symbol = next((s for m, b, e, s in code if m == r["module"] and b <= at < e), "")
                    wanted = next((v for k, v in SYMBOLS.items() if k in symbol), None)
                    if wanted:
                        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
                        hit = any(w in r["operator"] for w in wanted)
                        right, wrong = right + hit, wrong + (not hit)
        self.assertGreater(right, 100)
        self.assertLessEqual(wrong, 0.02 * right)

    def test_lost_code_is_said(self):
        folder = pathlib.Path(self.dir.name) / "damaged"
        shutil.copytree(self.run_dir, folder)
        next((folder / "linux_avx2").glob("*.code*")).write_text("nonsense\n")
        r = etprof("kernels", folder, cwd=self.dir.name)
        self.assertEqual(r.returncode, 4)
        self.assertIn("linux_avx2", r.stderr)

    def test_sampling_is_what_every_verb_does_by_itself(self):
        """ab and run sample where that takes little, without being asked; --kernels never keeps them from it."""
        model, top = MODELS / "toy_cnn_xnnpack_fp32.pte", pathlib.Path(self.dir.name)
        config = top / "config.json"
        config.write_text(json.dumps({"model": str(model), "output_root": str(top / "by_run"), "blocks": 1,
                                      "experiments": [{"name": n, "level": n, "runs": 5, "warmup": 1}
                                                      for n in ("sse", "avx2")]}))
        for words in ([], ["--kernels", "never"]):
            for verb in ("ab", "run"):
                out = top / f"by_{verb}"
                shutil.rmtree(out, ignore_errors=True)
                given = [config] if verb == "run" else [model, "--levels", "sse,avx2", "--blocks", "1", "--iterations",
                                                        "5", "--warmup", "1", "--out", out]
                r = etprof(verb, *given, "--runner", BUNDLE, "--prepare", "none", "-q", *words, cwd=top)
                self.assertEqual(r.returncode, 0, r.stderr)
                manifest = json.loads(next(out.rglob("manifest.json")).read_text())
                self.assertEqual(manifest["plan"]["asked"]["sampling"], not words, (verb, words))

    def test_emulation_is_refused(self):
        r = etprof("ab", MODELS / "toy_cnn_xnnpack_fp32.pte", "--device", "qemu", "--kernels", "always",
                   cwd=self.dir.name)
        self.assertEqual(r.returncode, 5)
        if "no qemu" not in r.stderr and "no runner" not in r.stderr:
            self.assertIn("emulation", r.stderr)


if __name__ == "__main__":
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        skip("no /proc/cpuinfo: the levels of this machine are not known here")
    if "avx512_vnni" not in flags:
        skip("this CPU has no AVX-512 VNNI, so the four levels cannot all run")
    if not (BUNDLE / "etprof-runner").exists():
        skip("no runner bundle: scripts/build-runner x86_64-linux-gnu")
    if ETPROF is None:
        skip("usage: test_kernels.py ETPROF")
    unittest.main(argv=sys.argv[:1])
