# SPDX-License-Identifier: Apache-2.0
# Files made by the exporter are read by `etprof inspect`, which counts for itself, and measured by
# `etprof ab`, fed with the inputs that lie beside the program.
import json
import os
import subprocess
import unittest

from support import NEEDS_TORCH, ROOT, ExportCase

ETPROF = os.environ.get("ETPROF") or str(ROOT / "build" / "release" / "bin" / "etprof")


@NEEDS_TORCH
@unittest.skipUnless(os.access(ETPROF, os.X_OK), f"no etprof program at {ETPROF}; set ETPROF")
class ReadBack(ExportCase):
    def etprof(self, *argv):
        done = subprocess.run([ETPROF, *map(str, argv)], text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_inspect_counts_the_same(self):
        for source, options in (("image_encoder", ("--dtype", "int8")),
                                ("image_encoder", ("--dtype", "fp16")),
                                ("edgetam_like", ()),
                                ("toy_cnn", ("--inline-delegates",)),
                                ("toy_cnn", ("--dtype", "int4"))):
            entry = self.exported(source, *options).entry
            seen = self.etprof("inspect", self.out / entry["file"], "--format", "json")
            summary = entry["delegation"]
            self.assertEqual(len(seen["delegates"]), summary["partitions"])
            self.assertEqual(seen["methods"][0]["macs"], summary["macs"])
            self.assertEqual(seen["methods"][0]["instructions"]["kernel"],
                             summary["nodes_undelegated"])
            self.assertEqual([i["shape"] for i in seen["methods"][0]["inputs"]],
                             [i["shape"] for i in entry["methods"][0]["inputs"]])

    def test_ab_measures_with_the_saved_inputs(self):
        entry = self.exported("toy_cnn", "--dtype", "int8").entry
        pte = self.out / entry["file"]
        answer = self.etprof(
            "ab", pte, "--blocks", "2", "--iterations", "5", "--format", "json", "--quiet",
            "--inputs", f"{pte}.inputs/forward/0.bin", "--out", self.folder / "run")
        self.assertGreaterEqual(len(answer["arms"]), 2)
        self.assertTrue(all(arm["median_ns"] > 0 for arm in answer["arms"]))
        self.assertTrue(answer["correctness"]["ok"])


if __name__ == "__main__":
    unittest.main()
