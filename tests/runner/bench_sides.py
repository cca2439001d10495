# SPDX-License-Identifier: Apache-2.0
"""Is what bench/runner compares comparable? The bare loop and the runner must load the same files: a copy of a
library lies in other pages of memory, which alone makes an execution up to 1.2 % longer or shorter. And the interval
must hold what it promises where some launches are disturbed."""
import filecmp
import math
import os
import pathlib
import platform
import random
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "bench" / "runner")]
import paired
from checks import execute, skip

LISTED = re.compile(r"(\S+) => (/\S+)")


def files(listing):
    return {name: (os.stat(path).st_dev, os.stat(path).st_ino) for name, path in LISTED.findall(listing)}


class Sides(unittest.TestCase):
    def test_both_load_the_same_files(self):
        bundle, build = paired.builds()
        with tempfile.NamedTemporaryFile("r") as listing:
            # The loader lists what it would load instead of starting the loop, as paired.bare starts it.
            listed = ["sh", "-c", 'LD_TRACE_LOADED_OBJECTS=1 "$@" >%s; echo 1' % listing.name, "sh"]
            paired.bare(bundle, build, ["-", "-", "0", "1"], None, listed)
            bare = files(listing.read())
        words = [os.path.join(bundle, "ld-linux-x86-64.so.2"), "--library-path", bundle, "--list",
                 os.path.join(bundle, "etprof-runner")]
        ours = files(execute(*words, check=True).stdout)
        both = set(bare) & set(ours)
        self.assertGreaterEqual(len([name for name in both if name.startswith("libexecutorch")]), 3)
        if not filecmp.cmp(paired.LOADER, os.path.join(bundle, "ld-linux-x86-64.so.2"), shallow=False):
            both = {name for name in both if name.startswith("libexecutorch")}  # it takes its own C library
        for name in both:
            self.assertEqual(bare[name], ours[name], name)


class Interval(unittest.TestCase):
    def test_students_t(self):
        for df, published in ((5, 2.571), (6, 2.447), (9, 2.262), (11, 2.201), (19, 2.093), (29, 2.045), (119, 1.980)):
            self.assertAlmostEqual(paired.t95(df), published, delta=0.0035, msg=df)

    def covers(self, n, disturbed):
        rng, hits, widths, trials = random.Random(1), 0, [], 2000
        for _ in range(trials):
            logs = [rng.gauss(0.003, 0.01) + (rng.random() < disturbed and rng.choice((-0.5, 0.5))) for _ in range(n)]
            _, lo, hi = paired.ratio(logs)
            hits += math.log(lo) <= 0.003 <= math.log(hi)
            widths.append(math.log(hi / lo))
        return hits / trials, sorted(widths)[trials // 2]

    def test_it_covers_what_it_promises(self):
        for n in (paired.FEWEST, 30, 100):
            self.assertGreater(self.covers(n, 0)[0], 0.925, n)  # of 2000 trials

    def test_disturbed_launches_hardly_widen_it(self):
        quiet, (hits, busy) = self.covers(60, 0)[1], self.covers(60, 0.08)
        self.assertGreater(hits, 0.925)
        self.assertLess(busy, 1.3 * quiet)


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("the bare loop is compared on x86-64 Linux only")
    unittest.main()
