# SPDX-License-Identifier: Apache-2.0
"""What the newest night says, and on which devices. A step needs three nights to be told from noise; somebody asks on
the morning after the first of them."""
from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from etprof.fleet import statistics as stats
from etprof.fleet.series import FAMILY_P, FEWEST_NIGHTS, MOST_P, SMALLEST, Rows, Series, is_slope

NEWEST = (1, 2) # nights that are held against those before; from three on it is a step
FEWEST_DEVICES = 4 # of which one is held against the others
WEEK = 7


def hit(one: Series, first: str, begin: str, end: str) -> Rows:
    """The devices that are slower from FIRST on, each by its own noise alone, the slowest first."""
    found = []
    for device, nights in one.devices.items():
        before = [v for day, v in nights.items() if begin <= day < first]
        after = [v for day, v in nights.items() if first <= day < end]
        if len(before) < 2 or not after:
            continue
        by = stats.moments(after)[0] - stats.moments(before)[0]
        error = one.noise[device] * math.sqrt(1 / len(before) + 1 / len(after))
        if stats.t_above(by / error, len(nights) - 2) <= FAMILY_P / len(one.devices):
            found.append({"device": device, "slower": math.exp(by) - 1})
    return sorted(found, key=lambda r: (-r["slower"], r["device"]))


def _newest(one: Series, days: list[str], values: list[float], max_p: float) -> list[dict[str, Any]]:
    """The last night, and the last two, against those since the last step."""
    found = []
    for k in NEWEST:
        steps = stats.changes([math.exp(v) for v in values[:-k]], max_p, SMALLEST)
        begin = steps[-1].at if steps else 0
        before, after = values[begin:-k], values[-k:]
        if len(before) < FEWEST_NIGHTS - 1:
            continue
        usual, scatter = stats.moments(before)
        by, freedom = stats.moments(after)[0] - usual, len(before) - 1
        error = max(scatter, 1e-6) * math.sqrt(1 / k + 1 / len(before))
        reach = stats.t_quantile(0.5 + stats.CONFIDENCE / 2, freedom) * error
        least = max(SMALLEST, stats.t_quantile(1 - max_p / len(NEWEST), freedom) * error)
        first = days[-k]
        effect, devices = one.effect(first, days[begin], "~")
        found.append({**one.name(), "since": first, "first_bad_build": one.builds[first],
                      "last_good_build": one.builds[days[-k - 1]], "slower": math.exp(by) - 1,
                      "lo": math.exp(by - reach) - 1, "hi": math.exp(by + reach) - 1, "devices": devices,
                      "on": hit(one, first, days[begin], "~"),
                      "p": min(1.0, len(NEWEST) * stats.t_above(by / error, freedom)),
                      "least": math.exp(least) - 1, "told": by >= least and effect.lo > 0})
    return found


def last_night(series: list[Series]) -> dict[str, Any]:
    """Whether the newest night is slower than those since the last step; LEAST is what half of the series would have
    told."""
    newest = max((day for one in series for day in one.builds), default="")
    max_p = min(MOST_P, FAMILY_P / max(len(series), 1))
    slower, least = [], []
    for one in series:
        days, values = one.nights()
        rows = _newest(one, days, values, max_p) if days and days[-1] == newest else []
        if rows:
            least.append(rows[0]["least"])
        told = [r for r in rows if r["told"]]
        if told:
            row = min(told, key=lambda r: r["p"])
            slower.append({k: v for k, v in row.items() if k not in ("least", "told")} |
                          {"nights": one.shape(row["since"])})
    return {"day": newest or None, "builds": sorted({one.builds[newest] for one in series if newest in one.builds}),
            "judged": len(least), "least": stats.median(least) if least else None, "silent": _silent(series, newest),
            "slower": sorted(slower, key=lambda r: (-r["slower"], r["model"], r["experiment"]))}


def _silent(series: list[Series], newest: str) -> list[str]:
    """Devices that told something in the nights of the week before the newest and nothing then."""
    told = defaultdict(set)
    for one in series:
        for device, nights in one.devices.items():
            for day in nights:
                told[day].add(device)
    week = sorted(told)[-WEEK - 1:]
    return sorted({device for day in week for device in told[day]} - told.get(newest, set()))


def _steps_up(nights: dict[str, float], max_p: float, since: str) -> list[tuple[str, stats.Change]]:
    """Steps of a single device's NIGHTS that are not slow changes."""
    days, values = list(nights), list(nights.values())
    steps = stats.changes([math.exp(v) for v in values], max_p, SMALLEST)
    ends = [0, *(s.at for s in steps), len(days)]
    return [(days[step.at], step) for i, step in enumerate(steps)
            if step.after > step.before and days[step.at] >= since and
            not is_slope(values[ends[i]:ends[i + 2]], step.at - ends[i])]


def _beside(one: Series, device: str) -> dict[str, float]:
    """What DEVICE did each night that the others did not do."""
    found = {}
    for day, value in one.devices[device].items():
        others = [nights[day] for name, nights in one.devices.items() if name != device and day in nights]
        if len(others) >= FEWEST_DEVICES - 1:
            found[day] = value - stats.median(others)
    return found


def on_some(series: list[Series], since: str = "") -> Rows:
    """Steps up of a model on some of its devices, which most of the others do not show: no regression on all. Devices
    with the same first slow night are one row."""
    max_p = min(MOST_P, FAMILY_P / max(sum(len(one.devices) for one in series), 1))
    found = []
    for one in series:
        by_day: dict[str, Rows] = defaultdict(list)
        for device in sorted(one.devices):
            for first, step in _steps_up(_beside(one, device), max_p, since):
                by_day[first].append({"device": device, "slower": step.after / step.before - 1, "p": step.p})
        for first, rows in by_day.items():
            rows.sort(key=lambda r: (-r["slower"], r["device"]))
            found.append({**one.name(), "since": first, "first_bad_build": one.builds[first],
                          "last_good_build": one.builds[max(day for day in one.builds if day < first)],
                          "slower": stats.median([r["slower"] for r in rows]), "on": rows, "devices": len(one.devices)})
    return sorted(found, key=lambda r: (-r["slower"], r["model"], r["since"]))


def whole_devices(alone: dict[str, dict[str, float]], since: str = "") -> Rows:
    """Devices on which all models became slower together, which other devices did not show."""
    max_p = min(MOST_P, FAMILY_P / max(len(alone), 1))
    found = [{"device": device, "since": first, "slower": step.after / step.before - 1, "p": step.p}
             for device, nights in alone.items() for first, step in _steps_up(nights, max_p, since)]
    return sorted(found, key=lambda r: (-r["slower"], r["device"], r["since"]))
