#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many intervals that miss could any rule flag? The best test of "these launches are shaped as in the other arm" is
the likelihood ratio of both densities, known exactly, with the location integrated out. What it cannot flag at a
given rate of false flags, no rule can.

usage: .venv/bin/python bench/coverage/limit.py [--sessions 6000]        (needs numpy)

Sessions are those of tests/coverage: 10 blocks, 20 iterations, a baseline whose launches differ by 0.5 %. Traced
launches double the candidate's sample; "timed" is what --no-trace leaves. About two minutes."""
import argparse
import math
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit(0)
import numpy

T_975_9 = 2.2621571628
STEP = 0.00025
GRID = numpy.arange(-1.2, 1.2, STEP)
RNG = numpy.random.default_rng(20)

SHAPES = {  # name: launch noise, its mean, its median
    "calm": (lambda n: 0.005 * RNG.standard_normal(n), 0, 0),
    "t3": (lambda n: 0.01 * RNG.standard_t(3, n), 0, 0),
    "exponential": (lambda n: 0.02 * RNG.exponential(size=n), 0.02, 0.02 * math.log(2)),
    "log-normal": (lambda n: 0.02 * numpy.exp(RNG.standard_normal(n)), 0.02 * math.exp(0.5), 0.02),
    "bimodal half": (lambda n: 0.005 * RNG.standard_normal(n) + 0.06 * (RNG.random(n) < 0.5), 0.03, 0.03),
    "bimodal 3 in 10": (lambda n: 0.005 * RNG.standard_normal(n) + 0.06 * (RNG.random(n) < 0.3), 0.018, 0.005),
    "bimodal 1 in 10": (lambda n: 0.005 * RNG.standard_normal(n) + 0.06 * (RNG.random(n) < 0.1), 0.006, 0.0),
}


def medians(shape):
    """Noise of a median of 20 iterations."""
    x = 0.02 * RNG.standard_normal((int(numpy.prod(shape)), 20))
    x += (RNG.random(x.shape) < 0.03) * 0.3 * RNG.random(x.shape)
    return numpy.median(x, axis=1).reshape(shape)


def launches(name, sessions):
    return SHAPES[name][0]((sessions, 10)) + medians((sessions, 10))


def log_density(name, noise_mean, noise_sd):
    draws = SHAPES[name][0]((4000000,)) + noise_mean + noise_sd * RNG.standard_normal(4000000)
    counts, _ = numpy.histogram(numpy.clip(draws, -1.19, 1.19), bins=numpy.append(GRID, GRID[-1] + STEP) - STEP / 2)
    kernel = numpy.exp(-0.5 * (numpy.arange(-8, 9) / 3) ** 2)
    return numpy.log(numpy.convolve(counts / counts.sum() / STEP, kernel / kernel.sum(), "same") + 1e-6)


def marginal(x, density, centre):
    """ln of the density of x with its location integrated out."""
    x = x - numpy.median(x, axis=1)[:, None]
    out = numpy.full(len(x), -numpy.inf)
    for shift in numpy.arange(-0.08, 0.08, 0.001):
        at = numpy.clip(numpy.round((x + centre - shift + 1.2) / STEP).astype(int), 0, len(GRID) - 1)
        out = numpy.logaddexp(out, density[at].sum(1))
    return out


def main():
    p = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sessions", type=int, default=6000)
    n = p.parse_args().sessions
    noise = medians((400000,))
    density = {name: log_density(name, noise.mean(), noise.std()) for name in SHAPES}

    def ratio(samples, name):
        return sum(marginal(x, density[name], SHAPES[name][2]) - marginal(x, density["calm"], 0) for x in samples)

    print("of the intervals that miss, flagged by the best possible rule, %; false flags of it: 1 % | 5 % | 8 %")
    print("%-18s %8s   %-24s %s" % ("candidate", "miss %", "timed", "timed and traced"))
    for name in SHAPES:
        if name == "calm":
            continue
        timed, traced = launches(name, n), launches(name, n)
        ratios = launches("calm", n) - timed + SHAPES[name][1]
        miss = numpy.abs(ratios.mean(1)) > T_975_9 * ratios.std(1, ddof=1) / math.sqrt(10)
        cells = []
        for samples, null in (([timed], [launches("calm", n)]),
                              ([timed, traced], [launches("calm", n), launches("calm", n)])):
            found, usual = ratio(samples, name)[miss], ratio(null, name)
            cells.append(" | ".join("%5.1f" % (100 * (found > numpy.quantile(usual, 1 - a)).mean())
                                    for a in (0.01, 0.05, 0.08)))
        print("%-18s %8.2f   %-24s %s" % (name, 100 * miss.mean(), *cells), flush=True)


if __name__ == "__main__":
    main()
