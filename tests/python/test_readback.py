# SPDX-License-Identifier: Apache-2.0
# Files made by the exporter are read by `etprof inspect`, which counts for itself, and measured by
# `etprof ab`, fed with the inputs that lie beside the program.
import json
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from support import NEEDS_TORCH, ROOT, ExportCase

ETPROF = os.environ.get("ETPROF") or str(ROOT / "build" / "release" / "bin" / "etprof")

TWO_METHODS = Path(os.environ.get("ETPROF_CORPUS") or ROOT.parent / "shared/corpus", "models/two_methods_xnnpack_fp32")


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

    def test_what_loses_most_stays_in_float(self):
        """The table's own command is carried out: what it measures is what PyTorch says of the mixed program."""
        path = self.model_file("""
            class M(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.wide, self.narrow = nn.Linear(64, 64), nn.Linear(64, 8)
                    nn.init.constant_(self.wide.weight[0], 0.5)  # a channel that spoils the range of all others

                def forward(self, x):
                    return self.narrow(torch.tanh(self.wide(x)))

            class Spoilt:
                def get_eager_model(self):
                    with torch.no_grad():
                        return M()
                def get_example_inputs(self):
                    return (torch.randn(16, 64),)
        """)
        made = {d: self.out / self.exported(f"{path}:Spoilt", "--dtype", d).entry["file"] for d in ("fp32", "int8")}
        table = self.etprof("ab", made["fp32"], made["int8"], "--numerics", "--no-trace", "--format", "json", "--quiet")
        self.assertEqual([r["module"] for r in table["rows"]], ["wide", "narrow"])
        first = table["keep"][0]
        self.assertEqual(first["module"], "wide")
        export, measure = table["command"].split(" && ")
        name = "model_Spoilt_keep1_xnnpack_int8.pte"
        self.assertIn(f"{self.out}/{name}", measure)
        entry = self.exported(*export.split()[2:]).entry
        self.assertEqual(entry["file"], name)
        mixed = self.etprof(*measure.split()[1:], "--no-trace", "--format", "json", "--quiet")
        self.assertEqual([r["weights"] for r in mixed["rows"]], ["float32", "qcint8"])
        self.assertIsNone(mixed["rows"][0]["snr_db"], "as in fp32, to the bit")
        self.assertGreater(mixed["snr_db"], table["snr_db"] + 3)

    def test_operators_are_held_against_pytorch(self):
        path = self.model_file("""
            class M(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
                    self.second, self.last = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 4)
                    self.norm.running_mean += 0.5
                    self.norm.running_var *= 3.0

                def forward(self, x):
                    a = torch.relu(self.norm(self.first(x)))
                    return self.last((torch.relu(self.second(a)) + a).mean((2, 3)))

            class Norms:
                def get_eager_model(self):
                    return M().eval()
                def get_example_inputs(self):
                    return (torch.randn(1, 3, 8, 8),)
        """)
        for dtype, least in (("fp32", 100), ("int8", 35)):  # dB: float32's own, two steps of int8
            pte = self.out / self.exported(f"{path}:Norms", "--dtype", dtype).entry["file"]
            asked = ("ab", pte, "--numerics", "--reference", "eager", "--no-trace", "--format", "json", "--quiet")
            table = self.etprof(*asked)
            self.assertTrue(table["eager"])
            self.assertEqual([r["module"] for r in table["rows"]], ["first", "second", "last"])
            for row in table["rows"]:
                self.assertIsNone(row["why"])
                self.assertTrue(row["snr_db"] is None or row["snr_db"] > least, row)
            self.assertTrue(table["snr_db"] is None or table["snr_db"] > least, table["snr_db"])
            if dtype == "fp32":  # a weight of the second convolution, changed in the program alone
                weights = self.weights_of(path)
                data = pte.read_bytes()
                self.assertEqual(data.count(weights), 1)
                pte.write_bytes(data.replace(weights, struct.pack("<f", 9.0) + weights[4:]))
                first, second, last = self.etprof(*asked)["rows"]
                self.assertGreater(first["snr_db"], least)
                self.assertGreater(second["operands_db"], least)
                self.assertLess(second["snr_db"], 20)

    @unittest.skipUnless(TWO_METHODS.with_suffix(".pte").is_file(), "no reference corpus")
    def test_each_of_several_methods_has_its_graph(self):
        """The record has the graphs of both; PyTorch's own sums in float32 differ by no more than its precision."""
        pte = self.folder / "two.pte"
        shutil.copy(TWO_METHODS.with_suffix(".pte"), pte)
        shutil.copy(TWO_METHODS.with_suffix(".etrecord"), f"{pte}.etrecord")
        for method, tokens in (("decode", 1), ("prefill", 32)):
            file = self.folder / f"{method}.bin"
            file.write_bytes(struct.pack(f"<{tokens}q", *range(tokens)))
            table = self.etprof("ab", pte, "--method", method, "--inputs", file, "--numerics", "--reference", "eager",
                                "--no-trace", "--format", "json", "--quiet")
            self.assertGreater(table["snr_db"], 100, method)
            self.assertEqual({r["module"] for r in table["rows"]} & {"l.0.qkv", "head"}, {"l.0.qkv", "head"})

    @staticmethod
    def weights_of(path):
        """The first weights of `second` as XNNPACK's payload holds them: all channels of a pixel together."""
        import importlib.util

        import torch

        spec = importlib.util.spec_from_file_location("norms", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        torch.manual_seed(0)
        weight = module.Norms().get_eager_model().second.weight.detach()
        return weight.permute(0, 2, 3, 1).contiguous()[0].numpy().tobytes()


if __name__ == "__main__":
    unittest.main()
