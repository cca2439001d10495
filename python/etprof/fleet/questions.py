# SPDX-License-Identifier: Apache-2.0
"""What is asked of a lake. The engine groups by the SQL beside this file, the library computes."""
from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from etprof.fleet import lately
from etprof.fleet import statistics as stats
from etprof.fleet.series import (
    FAMILY_P,
    MOST_P,
    SMALLEST,
    Ask,
    Rows,
    Series,
    groups,
    is_slope,
    query,
    series_and_devices,
)

NEAR = 5 # nights on either side: a build's step is there at once, a slow change is not


def speedups(ask: Ask) -> Rows:
    """Geometric mean of a feature's speedup on a device, random effects over sessions."""
    found = []
    for key, rows in groups(ask(query("speedups")), "feature", "against", "device").items():
        e = stats.random_effects([math.log(r["speedup"]) for r in rows],
                                 [stats.own_variance(r["lo"], r["hi"], r["confidence"], r["blocks"]) for r in rows])
        found.append({"feature": key[0], "against": key[1], "device": key[2], "sessions": len(rows),
                      "models": len({r["model"] for r in rows}), "speedup": math.exp(e.estimate), "lo": math.exp(e.lo),
                      "hi": math.exp(e.hi), "between_sessions": e.between})
    return found


def regressions(series: list[Series], since: str = "") -> Rows:
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
            if is_slope(values[begin:end], step.at - begin):
                continue
            effect, devices = one.effect(first, days[begin], days[end] if end < len(days) else "~")
            last_near = min(end, step.at + NEAR)
            near, _ = one.effect(first, days[max(begin, step.at - NEAR)],
                                 days[last_near] if last_near < len(days) else "~")
            # Of some devices alone, or of one that drifts, or slowly: not told from noise, or no build's.
            if not (effect.lo > 0 and near.lo > 0 and near.estimate > effect.estimate / 2):
                continue
            found.append({**one.name(), "since": first, "first_bad_build": one.builds[first],
                          "last_good_build": one.builds[days[step.at - 1]], "slower": math.exp(effect.estimate) - 1,
                          "lo": math.exp(effect.lo) - 1, "hi": math.exp(effect.hi) - 1, "devices": devices,
                          "on": lately.hit(one, first, days[begin], days[end] if end < len(days) else "~"),
                          "p": step.p, "nights": one.shape(first)})
    return sorted(found, key=lambda r: (-r["slower"], r["model"], r["since"]))


def engagement(ask: Ask) -> Rows:
    """Models of whose operators fewer ran in the feature's kernels than with the build before."""
    found = []
    for key, rows in groups(ask(query("engagement")), "model", "device", "level").items():
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


def devices(ask: Ask, series: list[Series]) -> Rows:
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
    series, alone = series_and_devices(ask)
    tables = ("sessions", "arms", "comparisons", "operators", "samples", "fixes", "errors")
    return {
        "schema": "etprof.fleet-report/1",
        "rows": {t: ask(f"SELECT count(*) AS n FROM {t}")[0]["n"] for t in tables},
        "since": since or None,
        "series": len(series),
        "last_night": lately.last_night(series),
        "regressions": regressions(series, since),
        "on_some_devices": lately.on_some(series, since),
        "whole_devices": lately.whole_devices(alone, since),
        "speedups": speedups(ask),
        "engagement_fell": engagement(ask),
        "slowest_operators": ask(query("slowest")),
        "fixes": ask(query("fixes")),
        "devices_apart": devices(ask, series),
        "errors": ask(query("errors")),
    }
