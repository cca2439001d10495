# SPDX-License-Identifier: Apache-2.0
# The real loop: a model is exported, measured, and its fixes are applied and measured, all on this machine.
import json
import os
import shutil
import sys
import unittest

from support import NEEDS_TORCH, ROOT, ExportCase, command

ETPROF = ROOT / "build/release/bin/etprof"
BUNDLES = ROOT / "build/bundle"
BLOCKS = ("--blocks", "6", "--iterations", "10", "--quiet")


@NEEDS_TORCH
@unittest.skipUnless(ETPROF.exists() and BUNDLES.is_dir(), "no etprof and runner in build/: cmake --preset release")
class Loop(ExportCase):
    def etprof(self, *words, code=0):
        own = {"ETPROF_PYTHON": sys.executable, "ETPROF_NO_WAIT": "1",
               "XDG_STATE_HOME": str(self.folder / "state"), "PYTHONPATH": ""}
        done = command(*words, cwd=self.folder, env=own, python=str(ETPROF), timeout=900)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code, ), done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def exported(self):
        self.etprof("export", "toy_cnn", "--quiet", "--no-install")
        return "out_toy_cnn/artifacts/toy_cnn_xnnpack_fp32.pte"

    def test_all_fixes(self):
        """Verdicts are the machine's, which others use; programs, records and figures have to agree."""
        program = self.exported()
        done = self.etprof("fix", program, "--all", "--no-install", "--format", "json", *BLOCKS, code=(0, 1, 3))
        found = json.loads(done.stdout)
        self.assertTrue(found["again"]["same_bytes"], found["again"])
        changes = [step["change"] for step in found["steps"]]
        self.assertIn(["--apply", "channels-last"], changes)
        self.assertIn(["--dtype", "int8"], changes)
        kept = []
        for step in found["steps"]:
            self.assertIsNotNone(step["program"], step["why"])
            entry = json.loads((self.folder / found["folder"] / step["folder"] / "export.json").read_text())
            self.assertEqual(entry["artifacts"][0]["state"], "ok")
            self.assertEqual(entry["artifacts"][0]["sha256"], step["program"]["sha256"])
            run = json.loads((self.folder / found["folder"] / step["run"] / "manifest.json").read_text())
            self.assertEqual([m["sha256"] for m in run["models"]], [step["of"], step["program"]["sha256"]])
            self.assertEqual(step["kept"], step["measured"]["verdict"] == "faster")
            gain = step["measured"]["gain_ns"]
            if gain["estimate"] is not None:
                self.assertTrue(gain["lo"] <= gain["estimate"] <= gain["hi"], gain)
            kept += [step["change"]] if step["kept"] else []
        self.assertEqual(done.returncode == 0, bool(kept))
        if ["--dtype", "int8"] in kept:
            self.assertLess(found["total"]["after_ns"], found["total"]["before_ns"])

    def test_source_of_a_folder(self):
        """A class of a file that is named relative to the working directory."""
        self.model_file("""
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = nn.Sequential(nn.Conv2d(8, 8, 3), nn.LayerNorm([8, 14, 14]), nn.Conv2d(8, 8, 3))

                def forward(self, x):
                    return self.body(x)

            class Model:
                def get_eager_model(self):
                    return Net().eval()

                def get_example_inputs(self):
                    return (torch.rand(1, 8, 16, 16), )
        """, "net.py")
        self.etprof("export", "net.py:Model", "--quiet", "--no-install")
        artifacts = self.folder / "out_net_Model/artifacts"
        program = next(artifacts.glob("*.pte"))
        self.etprof("ab", os.path.relpath(program, self.folder), "--levels", "best", *BLOCKS)
        done = self.etprof("fix", "out_net_Model", "--no-install", "--format", "json", *BLOCKS, code=(0, 1, 3))
        found = json.loads(done.stdout)
        step = found["steps"][0]
        self.assertEqual(step["command"][:3], ["etprof", "export", "net.py:Model"])
        self.assertIsNotNone(step["measured"], step["why"])
        # What did not tell is gone on with, with the program that is there: a new session has to export.
        shutil.rmtree(self.folder / found["folder"])
        os.rename(self.folder / "net.py", self.folder / "moved.py")
        done = self.etprof("fix", "out_net_Model", "--no-install", *BLOCKS, code=1)
        self.assertIn("not exported: ", done.stdout)
        self.assertIn("net.py", done.stdout)


if __name__ == "__main__":
    unittest.main()
