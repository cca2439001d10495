# SPDX-License-Identifier: Apache-2.0
"""A lake's times as series: what each model did night after night, on each device."""
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
ADDS = 20.0 # F of a step beside a slope, from which on it is told all the same
MODELS_OF_A_DEVICE = 8 # from which on their median is the device's


def query(name: str) -> str:
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def groups(rows: Rows, *keys: str) -> dict[tuple[Any, ...], Rows]:
    found: dict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in rows:
        found[tuple(row[k] for k in keys)].append(row)
    return found


class Series:
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

    def shape(self, first: str) -> Rows:
        """Each night against the mean of those before FIRST."""
        days, values = self.nights()
        usual = stats.moments([v for day, v in zip(days, values) if day < first])[0]
        return [{"day": day, "ratio": math.exp(v - usual)} for day, v in zip(days, values)]

    def name(self) -> dict[str, Any]:
        return dict(zip(("model", "experiment", "phase", "threads", "how"), self.key))


def _without_devices(series: list[Series]) -> dict[str, dict[str, float]]:
    """Takes out of each series what all models of one device did together and those of other devices did not, and
    returns it: a device that warms or ages is not a regression of a model. What all devices did stays."""
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
    alone: dict[str, dict[str, float]] = defaultdict(dict)
    for (device, day), value in sorted(moved.items()):
        alone[device][day] = value - common[day]
    return alone


def series_and_devices(ask: Ask) -> tuple[list[Series], dict[str, dict[str, float]]]:
    """The series, without what each device did by itself; and that, night by night."""
    found = [Series(key, rows) for key, rows in
             groups(ask(query("times")), "model", "experiment", "phase", "threads", "how").items()]
    found = [s for s in found if s.devices]
    return found, _without_devices(found)


def _sums(*parts: list[tuple[int, float]]) -> tuple[float, float, float]:
    """Of PARTS, each about its own means: squares of x, products, squares of y."""
    xx = xy = yy = 0.0
    for part in parts:
        x0, y0 = sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)
        xx += sum((x - x0) ** 2 for x, _ in part)
        xy += sum((x - x0) * (y - y0) for x, y in part)
        yy += sum((y - y0) ** 2 for _, y in part)
    return xx, xy, yy


def is_slope(values: list[float], at: int) -> bool:
    """Whether a straight line lies nearer to VALUES than a step at AT does, and a step adds nothing to that line."""
    nights = list(enumerate(values))
    xx, xy, yy = _sums(nights)
    line = yy - xy * xy / xx
    xx, xy, step = _sums(nights[:at], nights[at:])
    both = step - xy * xy / xx if xx > 0 else step
    return line < step and (line - both) * max(len(values) - 3, 0) < ADDS * both
