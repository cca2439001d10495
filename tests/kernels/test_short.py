# SPDX-License-Identifier: Apache-2.0
"""bench/kernels/short: its intervals against the tables of exact Poisson limits (Garwood 1936), its counts by hand.

usage: test_short.py"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench" / "kernels" / "short"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("short", str(PROGRAM))
short = importlib.util.module_from_spec(importlib.util.spec_from_loader("short", loader))
loader.exec_module(short)


class Short(unittest.TestCase):
    def test_intervals(self):
        for k, lo, hi in ((0, 0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.390), (100, 81.364, 121.627)):
            found = short.interval(k)
            self.assertAlmostEqual(found[0], lo, delta=0.001 + lo / 10000)
            self.assertAlmostEqual(found[1], hi, delta=0.001 + hi / 10000)

    def test_counts(self):
        with tempfile.TemporaryDirectory() as tmp:
            (pathlib.Path(tmp) / "arm").mkdir()
            (pathlib.Path(tmp) / "arm" / "P.samples").write_text(
                "iteration,chain,instruction,operator,sure\n"
                "0,0,1,Add #1,1\n0,0,1,Add #1,0\n0,0,2,Add #1,1\n0,,,,\n,,,,\n")  # the last: in no inference
            counts, total = short.samples_of(pathlib.Path(tmp), "arm")
        self.assertEqual(total, 4)
        self.assertEqual(dict(counts), {("Add #1", 0, 1): [2, 1], ("Add #1", 0, 2): [1, 1]})
        answer = {"operators": [{"category": "Elementwise", "delegated": True, "ns": {"arm": 700}, "chain": 0,
                                 "instruction": i, "names": {"arm": ["Add #1"]}} for i in (1, 2, 3)]}
        self.assertEqual(dict(short.categories_of(answer, "arm", counts)), {"Elementwise": [2100, 3000, 3, 2]})


if __name__ == "__main__":
    unittest.main()
