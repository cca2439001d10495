#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted regressions found and false alarms of `etprof.fleet.report`, over many more models than dumps are written
for: the times are drawn as make.py draws them and go straight to the questions, without files, engine or reader.
Kinds of nights, each with the same regressions planted:
  plain    as make.py: each device's own noise, drift of some devices
  shocks   besides, on one night in ten a device is 3-15 % slower as a whole (a hot room, a job beside it)
  tails    noise is Student's t with 3 degrees of freedom, of the same scale
  gaps     a fifth of the nights of each device and model is missing
  wanders  each model on each device goes up and down by a walk of 0.3 % a night
  grows    each model gets slower by 0.3 to 0.6 % each night, on all devices alike: no build's regression

--ask last: the regressions are planted in the newest night, and the question is what that night says; some: they are
planted on three devices of all, and the question is which models are slower on some devices alone.

usage: bench/fleet/alarms.py [--ask steps|last|some] [--models N --devices N --nights N --seeds A,B,...
                             --kinds plain,...]"""
import argparse
import collections
import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/fleet"), str(ROOT / "python")]
import make
from etprof.fleet import lately, questions

HIT = 3 # devices of --ask some
KINDS = ("plain", "shocks", "tails", "gaps", "wanders", "grows")


def students_t(rng, freedom):
    return rng.gauss(0, 1) / math.sqrt(rng.gammavariate(freedom / 2, 2) / freedom)


def times(asked, kind, devices, models, rng):
    """Rows as sql/times.sql gives them."""
    hot = {(d["name"], n): rng.uniform(0.03, 0.15) for d in devices for n in range(asked.nights)
           if kind == "shocks" and rng.random() < 0.1}
    walks = collections.Counter()
    growth = [rng.uniform(0.003, 0.006) if kind == "grows" else 0 for _ in models]
    quiet = [dict(d, noise=0.0) for d in devices] if kind == "tails" else devices
    for m, d, night, factor in make.factors(asked, quiet, models, rng):
        model, name = models[m]["name"], d["name"]
        if asked.ask == "some" and models[m]["regression"] and night >= models[m]["night"]:
            factor /= 1 + models[m]["regression"] * ((int(name[6:]) + m) % len(devices) >= HIT)
        if kind == "gaps" and rng.random() < 0.2:
            continue
        if kind == "tails":
            factor *= math.exp(devices[int(name[6:])]["noise"] * students_t(rng, 3) / math.sqrt(3))
        if kind == "wanders":
            walks[model, name] += rng.gauss(0, 0.003)
            factor *= math.exp(walks[model, name])
        factor *= math.exp(growth[m] * night)
        factor *= math.exp(rng.gauss(0, 0.005)) # what the executions of one dump scatter by
        yield {"model": model, "device": name, "experiment": model, "phase": "", "threads": 0, "how": "traced",
               "day": make.day(night), "build": f"b{night:04d}", "ns": 1e6 * factor * (1 + hot.get((name, night), 0))}


def judge(asked, models, told):
    """{size: [planted, found within 2 nights, on the very night, interval holds it, further steps]}; 0: not planted."""
    days = [make.day(n) for n in range(asked.nights)]
    by_model = collections.defaultdict(list)
    for r in told:
        by_model[r["model"]].append(r)
    sums = collections.defaultdict(lambda: [0] * 5)
    for m in models:
        at, rows = sums[m["regression"]], by_model[m["name"]]
        at[0] += 1
        if not m["regression"]:
            at[4] += len(rows)
            continue
        off = sorted((abs(days.index(r["since"]) - m["night"]), r["slower"], r) for r in rows)
        hit = bool(off) and off[0][0] <= 2
        at[1] += hit
        at[4] += len(rows) - hit
        if hit:
            at[2] += off[0][0] == 0
            at[3] += off[0][2].get("lo", math.inf) <= m["regression"] <= off[0][2].get("hi", math.inf)
    return sums


def asked_of(ask, series):
    if ask == "last":
        return lately.last_night(series)["slower"]
    return lately.on_some(series) if ask == "some" else questions.regressions(series)


def main():
    parser = argparse.ArgumentParser(prog="bench/fleet/alarms.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("models", 1000), ("devices", 20), ("nights", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--ask", choices=("steps", "last", "some"), default="steps")
    parser.add_argument("--seeds", type=lambda t: [int(x) for x in t.split(",")], default=[101, 102, 103])
    parser.add_argument("--kinds", type=lambda t: t.split(","), default=KINDS)
    asked = parser.parse_args()
    for kind in asked.kinds:
        sums = collections.defaultdict(lambda: [0] * 5)
        for seed in asked.seeds:
            rng = random.Random(f"{seed} {kind}")
            devices, models = make.fleet(asked, rng)
            for model in models:
                if asked.ask == "last" and model["regression"]:
                    model["night"] = asked.nights - 1
            rows = list(times(asked, kind, devices, models, rng))
            told = asked_of(asked.ask, questions.series_and_devices(lambda _, rows=rows: rows)[0])
            for size, counts in judge(asked, models, told).items():
                sums[size] = [a + b for a, b in zip(sums[size], counts)]
        for size in sorted(sums, reverse=True):
            n, hits, exact, inside, extra = sums[size]
            print(f"{kind:8} {size:4.0%}: {hits} of {n} found, {exact} on the very night, interval holds it in "
                  f"{inside}, {extra} steps more" if size else
                  f"{kind:8} none: {extra} false alarms in {n} models", flush=True)


if __name__ == "__main__":
    sys.exit(main())
