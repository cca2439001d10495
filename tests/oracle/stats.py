# SPDX-License-Identifier: Apache-2.0
"""Every figure of `etprof stats` computed again with numpy and scipy, on seeded tables of many shapes.

usage: stats.py ETPROF [CSV...]      CSV: tables to check beside the made ones (a session's samples.csv)
Skips (77) where python3 has no scipy."""
import csv
import io
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute
from rules import np, warmup
from scipy import stats as sp

ETPROF = sys.argv[1]
MARGIN = 0.01
FAILURES = []
CHECKED = {}


def near(name, what, found, wanted, rel=5.01e-6, absolute=1e-12):
    """Documents round ratios to six digits."""
    CHECKED[what] = CHECKED.get(what, 0) + 1
    if found is None:
        good = wanted is None or not math.isfinite(wanted)
    else:
        good = wanted is not None and math.isfinite(wanted) and abs(found - wanted) <= rel * abs(wanted) + absolute
    if not good:
        FAILURES.append(name)
        print(f"{name}: {what}: found {found}, wanted {wanted}")


# ---- the methods, written down once more from docs/statistics.md --------------------------------

def all_signs(k):
    """One row per sign pattern."""
    return 1 - 2 * (np.arange(2 ** k)[:, None] >> np.arange(k) & 1)


def sign_flip(r):
    sums = np.abs(all_signs(len(r)) @ np.array(r))
    return (sums >= sums[0] - 1e-9 * np.abs(r).sum()).mean()


def wilcoxon(r):
    """Exact, ties and zeros included: every sign pattern of the mid-ranks."""
    r = np.array([v for v in r if v != 0])
    if len(r) == 0:
        return math.nan
    ranks = sp.rankdata(np.abs(r))
    seen = abs(ranks @ np.sign(r))
    return (np.abs(all_signs(len(r)) @ ranks) >= seen - 1e-9).mean()


def mann_kendall(t, y):
    """Exact without ties, else the corrected normal approximation."""
    n = len(y)
    s = sum(np.sign(y[j] - y[i]) for i in range(n) for j in range(i + 1, n))
    if len(set(y)) == n:
        return sp.kendalltau(t, y, method="exact").pvalue
    ties = [c for c in np.unique(y, return_counts=True)[1] if c > 1]
    variance = (n * (n - 1) * (2 * n + 5) - sum(c * (c - 1) * (2 * c + 5) for c in ties)) / 18
    return 1.0 if s == 0 or variance <= 0 else 2 * sp.norm.sf((abs(s) - 1) / math.sqrt(variance))


def quantile_ranks(n, q, tail=0.025):
    """Ranks (from 0) of the binomial order-statistic interval, or None where n is too small."""
    if sp.binom.cdf(0, n, q) > tail or sp.binom.sf(n - 1, n, q) > tail:
        return None
    lo = max(k for k in range(n) if sp.binom.cdf(k, n, q) <= tail)
    hi = min(k for k in range(n) if sp.binom.sf(k, n, q) <= tail)
    return lo, hi


CONTROL = {"reach": 0.0}  # farther end of the interval of equal launches, ln


def verdict(r):
    """Two one-sided tests for 'same'; for a difference the interval clear of the margin and the sign flips."""
    k, bound = len(r), math.log1p(MARGIN)
    if k < 6:
        return "unknown"
    if np.std(r) == 0:
        return "faster" if r[0] > bound else "slower" if r[0] < -bound else "same"
    p_below = sp.ttest_1samp(r, bound, alternative="less").pvalue
    p_above = sp.ttest_1samp(r, -bound, alternative="greater").pvalue
    if p_below <= 0.025 and p_above <= 0.025:
        return "same"
    if k <= 16 and sign_flip(r) > 0.05:
        return "unknown"
    if sp.ttest_1samp(r, bound, alternative="greater").pvalue < 0.025:
        return "faster"
    return "slower" if sp.ttest_1samp(r, -bound, alternative="less").pvalue < 0.025 else "unknown"


# ---- one table ----------------------------------------------------------------------------------

def read(text):
    """{(experiment, block, use): launch values}, kept iterations per experiment of launches."""
    launches = {}
    for row in csv.DictReader(io.StringIO(text)):
        phase = row.get("phase") or "timed"
        if phase in ("timed", "control"):
            key = (row["experiment"], int(row["block"]), phase, int(row.get("launch") or 0))
            launches.setdefault(key, []).append((int(row["iteration"]), int(row["duration_ns"])))
    return {key: np.array([ns for _, ns in sorted(rows)], dtype=float) for key, rows in launches.items()}


def interval(r, confidence=0.95):
    r = np.asarray(r)
    if len(r) < 2:
        return math.nan, math.nan
    half = sp.t.ppf(0.5 + confidence / 2, len(r) - 1) * r.std(ddof=1) / math.sqrt(len(r))
    return r.mean() - half, r.mean() + half


def check_arm(name, arm, launches, values, blocks):
    kept, dropped = [], 0
    for (experiment, block, phase, _), ns in launches.items():
        if experiment == arm["name"] and phase == "timed" and block in blocks:
            w = warmup(np.log(ns))
            dropped += w
            kept.extend(ns[w:])
    near(name, "warm-up dropped", arm["warmup_dropped"], dropped, 0)
    near(name, "iterations", arm["iterations"], len(kept), 0)
    mine = [values[arm["name"], b] for b in blocks]
    near(name, "median", arm["median_ns"], math.exp(np.mean(mine)), 0, 0.5001)
    kept = np.sort(kept)
    for entry in arm["quantiles"]:
        near(name, "quantile", entry["ns"], np.quantile(kept, entry["q"]), 0, 0.5001)
        ranks = quantile_ranks(len(kept), entry["q"])
        near(name, "quantile interval", entry["lo_ns"], kept[ranks[0]] if ranks else None, 0, 0.5001)
        near(name, "quantile interval", entry["hi_ns"], kept[ranks[1]] if ranks else None, 0, 0.5001)
    if len(blocks) >= 4:
        slope = np.median([(mine[j] - mine[i]) / (blocks[j] - blocks[i]) for i in range(len(mine))
                           for j in range(i + 1, len(mine))])
        near(name, "Theil-Sen", arm["drift_per_block"], math.expm1(slope))
        near(name, "Mann-Kendall", arm["drift_p"], mann_kendall(blocks, mine))


def check_pairs(name, c, r):
    near(name, "estimate", c["speedup"]["estimate"], math.exp(np.mean(r)))
    lo, hi = interval(r)
    widening = c["speedup"]["widening"]
    middle, half = np.mean(r), (hi - lo) / 2 * widening
    near(name, "t interval", c["speedup"]["lo"], math.exp(middle - half))
    near(name, "t interval", c["speedup"]["hi"], math.exp(middle + half))
    if len(r) <= 16:
        near(name, "sign flip", c["sign_flip_p"], sign_flip(r))
        near(name, "Wilcoxon", c["wilcoxon_p"], wilcoxon(r))
    if widening == 1:
        CHECKED["verdict"] = CHECKED.get("verdict", 0) + 1
        wanted = verdict(r)
        if CONTROL["reach"] >= (3 * math.log1p(MARGIN) if wanted == "same" else abs(np.mean(r))):
            wanted = "unknown"
        if c["verdict"] != wanted:
            FAILURES.append(name)
            print(f"{name}: verdict {c['verdict']}, by the tests of scipy {wanted}")


def rank_sum_cut(m, n, tail=0.025):
    """How many of the smallest differences may be cut off: from the distribution of U, counted."""
    ways = np.zeros((m + 1, m * n + 1))  # [picked][U]: m of m + n places, U = pairs in which the other comes first
    ways[0, 0] = 1
    for place in range(m + n):
        for picked in range(min(place + 1, m), 0, -1):
            before = place - (picked - 1)  # of the other sample, when this is the picked-th
            if before <= n:
                ways[picked, before:] += ways[picked - 1, :m * n + 1 - before]
    below = np.cumsum(ways[m]) / math.comb(m + n, m)
    return int((below <= tail).sum())


def check_unpaired(name, c, a, b):
    ratio = np.sort(np.subtract.outer(a, b).ravel())
    if len(a) + len(b) <= 60:
        cut = rank_sum_cut(len(a), len(b))
        near(name, "Hodges-Lehmann interval", c["speedup"]["lo"], math.exp(ratio[cut - 1]) if cut else None)
        near(name, "Hodges-Lehmann interval", c["speedup"]["hi"], math.exp(ratio[-cut]) if cut else None)
    near(name, "Hodges-Lehmann", c["speedup"]["estimate"], math.exp(np.median(ratio)))
    ties = len(set(a) | set(b)) < len(a) + len(b)
    method = "exact" if len(a) + len(b) <= 60 and not ties else "asymptotic"
    if not (ties and len(a) + len(b) <= 60):  # scipy has no exact p with ties
        near(name, "Mann-Whitney", c["mann_whitney_p"],
             sp.mannwhitneyu(a, b, alternative="two-sided", method=method).pvalue)
    near(name, "Cliff", c["cliffs_delta"], np.sign(ratio).mean())


def check(name, text):
    done = execute(ETPROF, "stats", "-", "--format", "json", input=text.encode(), text=False)
    if done.returncode != 0:
        FAILURES.append(name)
        print(f"{name}: exit {done.returncode}: {done.stderr.decode()}")
        return
    answer = json.loads(done.stdout)
    launches = read(text)
    single = {}
    for (experiment, block, phase, _), ns in launches.items():
        x = np.log(ns)
        single.setdefault((experiment, block, phase), []).append(np.median(x[warmup(x):]))
    values = {(e, b): np.mean(v) for (e, b, phase), v in single.items() if phase == "timed"}
    arms = {e for e, _ in values}
    blocks = sorted(b for b in {b for _, b in values} if all((a, b) in values for a in arms))
    near(name, "blocks", answer["blocks"], len(blocks), 0)
    twins = [values[e, b] - np.mean(v) for (e, b, phase), v in sorted(single.items(), key=lambda i: i[0][1])
             if phase == "control" and (e, b) in values]
    if len(twins) >= 2:
        lo, hi = interval(twins)
        near(name, "noise floor", answer["noise_floor"], (hi - lo) / 2)
        near(name, "control", answer["control"]["estimate"], math.exp(np.mean(twins)))
    # Equal launches that differ by more than the margin withhold all; those that reach the effect leave it unknown.
    withheld = len(twins) >= 2 and (lo > math.log1p(MARGIN) or hi < -math.log1p(MARGIN))
    CONTROL["reach"] = max(abs(lo), abs(hi)) if len(twins) >= 2 else 0
    if (answer["withheld"] is not None) != withheld:
        FAILURES.append(name)
        print(f"{name}: withheld {answer['withheld']}, control {math.exp(lo)} to {math.exp(hi)}")
    for arm in answer["arms"]:
        if blocks:
            check_arm(name, arm, launches, values, blocks)
    for c in answer["comparisons"]:
        if withheld:
            continue
        if blocks:
            check_pairs(name, c, [values[c["baseline"], b] - values[c["candidate"], b] for b in blocks])
        else:
            of = {a: [v for (e, b), v in values.items() if e == a] for a in (c["baseline"], c["candidate"])}
            check_unpaired(name, c, of[c["baseline"]], of[c["candidate"]])


# ---- tables of many shapes ----------------------------------------------------------------------

def table(rng, blocks, iterations, ratio=2.0, spread=0.01, noise=0.02, drift=0.0, cold=0, arms=("base", "cand"),
          control=True,
          missing=(), apart=False, coarse=1):
    lines = ["experiment,block,launch,iteration,phase,start_ns,duration_ns"]
    launch = 0
    for block in range(1, blocks + 1):
        order = list(enumerate(arms)) + ([(0, arms[0])] if control and block <= 6 else [])
        for at, (i, arm) in enumerate(order):
            if (arm, block) in missing:
                continue
            launch += 1
            level = 1e6 / ratio ** i * math.exp(rng.normal(0, spread) + drift * block)
            ns = level * np.exp(rng.normal(0, noise, iterations))
            ns[rng.random(iterations) < 0.03] *= 1.3
            ns[:cold] *= 1.4
            number = 2 * block + i if apart else block
            for k, v in enumerate(ns):
                lines.append(
                    f"{arm},{number},{launch},{k},{'control' if at == len(arms) else 'timed'},0,"
                    f"{max(1, round(v / coarse) * coarse)}"
                )
    return "\n".join(lines[:1] + [lines[1 + i] for i in rng.permutation(len(lines) - 1)]) + "\n"


def main():
    rng = np.random.default_rng(20260607)
    check("plain", table(rng, 10, 20))
    check("no control, 6 blocks", table(rng, 6, 12, control=False))
    check("16 blocks, drift", table(rng, 16, 15, drift=0.01))
    check("30 blocks", table(rng, 30, 9))
    check("2 blocks", table(rng, 2, 20))
    check("1 block", table(rng, 1, 20))
    check("warm-up", table(rng, 8, 40, cold=5))
    check("few iterations", table(rng, 8, 5))
    check("four arms", table(rng, 9, 20, arms=("base", "a", "b", "c"), ratio=1.3))
    check("incomplete blocks", table(rng, 10, 20, missing=(("cand", 3), ("base", 7))))
    check("equal arms", table(rng, 12, 60, ratio=1.0, spread=0.001, noise=0.003))
    check("coarse clock", table(rng, 10, 20, ratio=1.01, spread=0.003, coarse=20000))
    check("unpaired", table(rng, 12, 20, control=False, apart=True))
    check("unpaired, few", table(rng, 4, 20, control=False, apart=True))
    check("unpaired, three", table(rng, 3, 20, control=False, apart=True))
    check("unpaired, many", table(rng, 40, 9, ratio=1.01, control=False, apart=True))
    for i in range(25):
        check(f"random {i}", table(rng, int(rng.integers(4, 15)), int(rng.integers(8, 60)),
                                   ratio=float(rng.choice([1, 1.005, 1.02, 3])),
                                   spread=float(rng.choice([0.0005, 0.005, 0.03])),
                                   drift=float(rng.choice([0, 0.005, -0.02])),
                                   cold=int(rng.integers(0, 6))))
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            check(path, f.read())
    print(", ".join(f"{what} {n}" for what, n in sorted(CHECKED.items())))
    print(f"{len(FAILURES)} failures" if FAILURES else "as numpy and scipy have it")
    return 1 if FAILURES else 0


sys.exit(main())
