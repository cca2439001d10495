# SPDX-License-Identifier: Apache-2.0
"""Rules of docs/statistics.md that several of these tests need, written down once more; without numpy and scipy they
are skipped."""
import importlib.util
import math

from checks import in_python_with, skip

in_python_with("numpy", "scipy")
for name in ("numpy", "scipy"):
    if not importlib.util.find_spec(name):
        skip(f"no Python package {name}")
import numpy as np


def warmup(x):
    """Iterations to drop. All splits by hand, the spread of each by numpy."""
    n = len(x)
    if n < 8:
        return 0
    cost = [(np.abs(x[:w] - np.median(x[:w])).sum() if w else 0) + np.abs(x[w:] - np.median(x[w:])).sum()
            for w in range(n // 2 + 1)]
    w = next(i for i in range(len(cost)) if cost[i] <= min(cost) + 1e-12 * cost[0])
    if w == 0:
        return 0
    mad = np.median(np.abs(x[w:] - np.median(x[w:])))
    return w if np.median(x[:w]) - np.median(x[w:]) > max(0.02, 3 * 1.4826 * mad / math.sqrt(w)) else 0
