# SPDX-License-Identifier: Apache-2.0
"""What is asked of a lake. The engine groups by the SQL beside this file, the library computes."""
from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from etprof.fleet import statistics as stats

SQL = Path(__file__).resolve().parent / "sql"
Rows = list[dict[str, Any]]
Ask = Callable[[str], Rows]
FAMILY_P = 0.05    # chance of one or more false regressions among all models
MOST_P = 0.001     # of one, as `etprof history` has it
SMALLEST = 0.005   # a change that is worth telling
FEWEST_NIGHTS = 6
NEAR = 5 # nights on either side: a build's step is there at once, a slow change is not
ADDS = 20.0 # F of a step beside a slope, from which on it is told all the same
MODELS_OF_A_DEVICE = 8 # from which on their median is the device's


def query(name: str) -> str:
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def _groups(rows: Rows, *keys: str) -> dict[tuple[Any, ...], Rows]:
    found: dict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in rows:
        found[tuple(row[k] for k in keys)].append(row)
    return found


def speedups(ask: Ask) -> Rows:
    """Geometric mean of a feature's speedup on a device, random effects over sessions."""
    found = []
    for key, rows in _groups(ask(query("speedups")), "feature", "against", "device").items():
        e = stats.random_effects([math.log(r["speedup"]) for r in rows],
                                 [stats.own_variance(r["lo"], r["hi"], r["confidence"], r["blocks"]) for r in rows])
        found.append({"feature": key[0], "against": key[1], "device": key[2], "sessions": len(rows),
                      "models": len({r["model"] for r in rows}), "speedup": math.exp(e.estimate), "lo": math.exp(e.lo),
                      "hi": math.exp(e.hi), "between_sessions": e.between})
    return found


class _Series:
    """One model (experiment, phase, threads) over the nights: what all its devices say together."""

    def __init__(self, key: tuple[Any, ...], rows: Rows) -> None:
        self.key = key
        self.builds: dict[str, str] = {}
        self.devices: dict[str, dict[str, float]] = {}
        self.noise: dict[str, float] = {}
        nights: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            nights[row["device"]][row["day"]].append(math.log(row["ns"]))
            self.builds[row["day"]] = row["build"]
        for device, days in nights.items():
            mean = {day: sum(v) / len(v) for day, v in sorted(days.items())}
            values = list(mean.values())
            if len(values) < FEWEST_NIGHTS:
                continue
            middle = stats.median(values)
            # From night to night, so that neither a step nor a drift counts as noise.
            steps = [b - a for a, b in zip(values, values[1:])]
            self.noise[device] = max(stats.spread(steps) / math.sqrt(2), 1e-6)
            self.devices[device] = {day: v - middle for day, v in mean.items()}

    def nights(self) -> tuple[list[str], list[float]]:
        """Each night's mean over the devices, the noisy ones counting less."""
        days = sorted({day for values in self.devices.values() for day in values})
        found = []
        for day in days:
            there = [d for d, values in self.devices.items() if day in values]
            found.append(stats.random_effects([self.devices[d][day] for d in there],
                                              [self.noise[d] ** 2 for d in there]).estimate)
        return days, found

    def effect(self, first: str, last: str, end: str) -> tuple[stats.Effects, int]:
        """From the nights [LAST, FIRST) to [FIRST, END): random effects over devices."""
        values, variances = [], []
        for device, nights in self.devices.items():
            before = [v for day, v in nights.items() if last <= day < first]
            after = [v for day, v in nights.items() if first <= day < end]
            if before and after:
                values.append(sum(after) / len(after) - sum(before) / len(before))
                variances.append(self.noise[device] ** 2 * (1 / len(before) + 1 / len(after)))
        return stats.random_effects(values, variances), len(values)


def _without_devices(series: list[_Series]) -> None:
    """Takes out of each series what all models of one device did together and those of other devices did not: a device
    that warms or ages is no regression of a model. What all devices did stays."""
    own: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in series:
        for device, nights in one.devices.items():
            for day, value in nights.items():
                own[device, day].append(value)
    moved = {key: stats.median(values) for key, values in own.items() if len(values) >= MODELS_OF_A_DEVICE}
    of_all: dict[str, list[float]] = defaultdict(list)
    for (_, day), value in moved.items():
        of_all[day].append(value)
    common = {day: stats.median(values) for day, values in of_all.items()}
    for one in series:
        for device, nights in one.devices.items():
            for day in nights:
                if (device, day) in moved:
                    nights[day] -= moved[device, day] - common[day]


def all_series(ask: Ask) -> list[_Series]:
    found = [_Series(key, rows) for key, rows in
             _groups(ask(query("times")), "model", "experiment", "phase", "threads", "how").items()]
    found = [s for s in found if s.devices]
    _without_devices(found)
    return found


def _sums(*parts: list[tuple[int, float]]) -> tuple[float, float, float]:
    """Of PARTS, each about its own means: squares of x, products, squares of y."""
    xx = xy = yy = 0.0
    for part in parts:
        x0, y0 = sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)
        xx += sum((x - x0) ** 2 for x, _ in part)
        xy += sum((x - x0) * (y - y0) for x, y in part)
        yy += sum((y - y0) ** 2 for _, y in part)
    return xx, xy, yy


def _is_slope(values: list[float], at: int) -> bool:
    """Whether a straight line lies nearer to VALUES than a step at AT does, and a step adds nothing to that line."""
    nights = list(enumerate(values))
    xx, xy, yy = _sums(nights)
    line = yy - xy * xy / xx
    xx, xy, step = _sums(nights[:at], nights[at:])
    both = step - xy * xy / xx if xx > 0 else step
    return line < step and (line - both) * max(len(values) - 3, 0) < ADDS * both


def regressions(series: list[_Series], since: str = "") -> Rows:
    """Steps up since a day, with the first bad build."""
    found = []
    max_p = min(MOST_P, FAMILY_P / max(len(series), 1))
    for one in series:
        days, values = one.nights()
        steps = stats.changes([math.exp(v) for v in values], max_p, SMALLEST)
        for i, step in enumerate(steps):
            first = days[step.at]
            if step.after <= step.before or first < since:
                continue
            begin = steps[i - 1].at if i else 0
            end = steps[i + 1].at if i + 1 < len(steps) else len(days)
            if _is_slope(values[begin:end], step.at - begin):
                continue
            effect, devices = one.effect(first, days[begin], days[end] if end < len(days) else "~")
            last_near = min(end, step.at + NEAR)
            near, _ = one.effect(first, days[max(begin, step.at - NEAR)],
                                 days[last_near] if last_near < len(days) else "~")
            # Of some devices alone, or of one that drifts, or slowly: not told from noise, or no build's.
            if not (effect.lo > 0 and near.lo > 0 and near.estimate > effect.estimate / 2):
                continue
            found.append({"model": one.key[0], "experiment": one.key[1], "phase": one.key[2], "threads": one.key[3],
                          "how": one.key[4], "since": first, "first_bad_build": one.builds[first],
                          "last_good_build": one.builds[days[step.at - 1]], "slower": math.exp(effect.estimate) - 1,
                          "lo": math.exp(effect.lo) - 1, "hi": math.exp(effect.hi) - 1, "devices": devices,
                          "p": step.p})
    return sorted(found, key=lambda r: (-r["slower"], r["model"], r["since"]))


def engagement(ask: Ask) -> Rows:
    """Models of whose operators fewer ran in the feature's kernels than with the build before."""
    found = []
    for key, rows in _groups(ask(query("engagement")), "model", "device", "level").items():
        for before, after in zip(rows, rows[1:]):
            if int(after["engaged"]) * int(before["eligible"]) < int(before["engaged"]) * int(after["eligible"]):
                found.append({"model": key[0], "device": key[1], "level": key[2], "since": after["day"],
                              "first_bad_build": after["build"],
                              "operators_before": int(before["engaged"]) / int(before["eligible"]),
                              "operators_after": int(after["engaged"]) / int(after["eligible"]),
                              "before": int(before["engaged_ns"]) / int(before["ns"]),
                              "after": int(after["engaged_ns"]) / int(after["ns"])})
    return found


# What sets a device apart: a figure above the others', by at least this share of their median and by this.
APART = (("usual_c", "hot", 0.1, 0.0), ("throttled", "throttled", 0.0, 0.1),
         ("noise", "noisy in its sessions", 0.5, 0.0), ("times_usual_noise", "noisy", 0.5, 0.0))


def devices(ask: Ask, series: list[_Series]) -> Rows:
    """Each device, and what sets it apart from the others."""
    noise: dict[str, list[float]] = defaultdict(list)
    noisier: dict[str, list[float]] = defaultdict(list)
    for one in series:
        usual = stats.median(list(one.noise.values()))
        for device, value in one.noise.items():
            noise[device].append(value)
            if len(one.noise) > 1: # than other devices with the same model: models differ in it
                noisier[device].append(value / usual)
    rows = ask(query("devices"))
    for row in rows:
        own, ratios = noise.get(row["device"]), noisier.get(row["device"])
        row["night_to_night"] = stats.median(own) if own else None
        row["times_usual_noise"] = stats.median(ratios) if ratios else None
        row["apart"] = []
    for key, word, share, least in APART:
        told = [float(r[key]) for r in rows if r[key] is not None]
        if len(told) < 4:
            continue
        middle, width = stats.median(told), stats.spread(told)
        for row in rows:
            if row[key] is not None and float(row[key]) - middle > max(3 * width, share * abs(middle), least):
                row["apart"].append(word)
    return [r for r in rows if r["apart"]]


def everything(ask: Ask, since: str = "") -> dict[str, Any]:
    series = all_series(ask)
    tables = ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors")
    return {
        "schema": "etprof.fleet-report/1",
        "rows": {t: ask(f"SELECT count(*) AS n FROM {t}")[0]["n"] for t in tables},
        "since": since or None,
        "series": len(series),
        "speedups": speedups(ask),
        "regressions": regressions(series, since),
        "engagement_fell": engagement(ask),
        "slowest_operators": ask(query("slowest")),
        "fixes": ask(query("fixes")),
        "devices_apart": devices(ask, series),
        "errors": ask(query("errors")),
    }
