#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""etprof-runner against the bare SDK loop, in paired blocks; prints the ratio and its 95 % interval.

usage: bench/runner/paired.py MODEL.pte [--blocks 20] [--iterations 200] [--warmup 50] [--cpu N] [--counting]

A block launches both once; the order alternates. A launch's value is the median of its iterations,
both time Method::execute alone. The interval is Student's t on the blocks' log ratios, a fifth of them trimmed at
either end: now and then a launch takes half as long again, when something else has the processor.
Target: estimate 0.99 to 1.01 with the interval inside 0.98 to 1.02. Exit status 1 if it is missed.
Needs an otherwise idle machine. The second line, from each launch's 10th percentile, is for busy
ones: it shows whether a miss comes from the runner or from the neighbours.
--counting: instead of the bare loop, the runner that reads no counters against the runner that reads them (the
kernel's software events, which cost the same calls and are everywhere): what counting does to the times.
"""
import argparse
import filecmp
import json
import math
import os
import random
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOTHING_HIDDEN = (
    "aarch64:hwcap=0x0,hwcap2=0x0" if os.uname().machine == "aarch64" else "x86_64:none"
)  # as a session sets it
TRIM = 0.2  # of the blocks, at either end
FEWEST = 10  # blocks: six of them are left
Z = 1.959964
LOADER = "/lib64/ld-linux-x86-64.so.2"


def value(ns):
    ns = sorted(ns)
    return statistics.median(ns), ns[len(ns) // 10]


def t95(df):
    """Student's t, two-sided 95 %, by its expansion around the normal one: within 0.003 from five degrees on."""
    z2 = Z * Z
    terms = (z2 + 1) / 4, ((5 * z2 + 16) * z2 + 3) / 96, (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384
    return Z * (1 + sum(term / df**k for k, term in enumerate(terms, 1)))


def ratio(logs):
    """Ratio and its ends: trimmed mean of the logs, Tukey and McLaughlin's interval by the winsorised deviation."""
    logs = sorted(logs)
    n, cut = len(logs), int(TRIM * len(logs))
    kept = logs[cut:n - cut]
    mean = statistics.fmean(kept)
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    half = t95(len(kept) - 1) * statistics.stdev(winsorised) / ((1 - 2 * cut / n) * math.sqrt(n))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def libraries(bundle):
    """Environment in which the bare loop loads the bundle's files: the SDK, and the C library where the system's loader
    is the same. A copy of a library lies in other pages of memory, and where it lies makes an execution up to 1.2 %
    longer or shorter, launch after launch: with files of its own the bare loop differs from a second bare loop."""
    folders = [os.path.join(bundle, "sdk")]
    loader = os.path.join(bundle, "ld-linux-x86-64.so.2")
    if os.path.exists(loader) and os.path.exists(LOADER) and filecmp.cmp(loader, LOADER, shallow=False):
        folders.append(bundle)
    return dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(folders))


def pad():
    """Where the stack and the heap begin, drawn for each launch of both, as a session draws it: with one place each the
    ratio of half a microsecond is 1 % off by what of either lies across cache lines."""
    return {"ETPROF_PAD": "x" * random.randrange(4096)}


def bare(bundle, build, words, pin, before=()):
    """Value of the bare loop with WORDS; BEFORE: what starts it."""
    done = subprocess.run([*before, os.path.join(build, "bare"), *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, preexec_fn=pin, env=libraries(bundle) | pad())
    return value(int(x) for x in done.stdout.split())


def each(words, warmup, n, **more):
    """Nanoseconds of each iteration of the runner that WORDS start, after a warm-up."""
    done = subprocess.run(words, check=True, input=b"run %d\nrun %d\n" % (warmup, n), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, **more)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line["ns"] for line in lines if line["type"] == "iter" and line["i"] >= warmup]


def times(words, warmup, n, **more):
    """Value of the runner that WORDS start, after a warm-up."""
    return value(each(words, warmup, n, **more))


def ours(binary, o, pin, counters=None):
    env = dict(os.environ, ETPROF_MASK=NOTHING_HIDDEN, **({"ETPROF_COUNTERS": counters} if counters else {}), **pad())
    return times([binary, "--model", o.model, "--inputs", "ones"], o.warmup, o.iterations, preexec_fn=pin, env=env)


def builds(target="bare"):
    """The bundle, and the build folder with the bare loop in it, or another plain program."""
    bundle = subprocess.run([os.path.join(ROOT, "scripts", "build-runner"), "native"], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()
    build = bundle.replace(os.path.join("build", "bundle"), os.path.join("build", "runner"))
    cmake = os.path.join(ROOT, ".venv", "bin", "cmake")
    subprocess.run([cmake if os.path.exists(cmake) else "cmake", "--build", build, "--target", target], check=True,
                   stdout=subprocess.DEVNULL)
    return bundle, build


def main():
    p = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--blocks", type=int, default=20)
    p.add_argument("--iterations", type=int, default=200)
    p.add_argument("--warmup", type=int, default=50)
    p.add_argument("--cpu", type=int, help="run both on this CPU only")
    p.add_argument("--counting", action="store_true")
    o = p.parse_args()
    if o.blocks < FEWEST:
        p.error("--blocks: %d at least" % FEWEST)
    bundle, build = builds()
    pin = None if o.cpu is None else lambda: os.sched_setaffinity(0, {o.cpu})
    runner = os.path.join(bundle, "etprof-runner")
    names = ("counting", "not counting") if o.counting else ("runner", "bare")

    def first():
        return ours(runner, o, pin, "software" if o.counting else None)

    def other():
        words = [o.model, "forward", str(o.warmup), str(o.iterations)]
        return ours(runner, o, pin, "off") if o.counting else bare(bundle, build, words, pin)

    logs = []
    for block in range(o.blocks):
        if block % 2 == 0:
            a, b = first(), other()
        else:
            b, a = other(), first()
        logs.append([math.log(x / y) for x, y in zip(a, b)])
        print("block %2d  %s %.0f ns  %s %.0f ns  ratio %.4f"
              % (block + 1, names[0], a[0], names[1], b[0], a[0] / b[0]))
    estimate, lo, hi = ratio([log[0] for log in logs])
    good = 0.99 <= estimate <= 1.01 and lo > 0.98 and hi < 1.02
    print(("counting / not counting:   " if o.counting else "etprof-runner / bare loop: ")
          + "%.4f  95%% [%.4f, %.4f]  %d blocks of %d iterations: %s"
          % (estimate, lo, hi, o.blocks, o.iterations, "within target" if good else "MISSED"))
    print("10th percentiles:         %.4f  95%% [%.4f, %.4f]" % ratio([log[1] for log in logs]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
