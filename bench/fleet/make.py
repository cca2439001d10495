#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a synthetic fleet out of real dumps and a real run folder: models × devices × nights, each device with a
speed, noise and drift of its own, some of them bad; regressions of 1, 3 and 10 % from a night on in some models;
corrupt files. --recorded adds sessions with recordings of operators, every third night: models whose engagement falls
with a build, on all devices or on one, and models with a fix to make, some of which make it. What was planted is in
FOLDER/truth.json. The same arguments give the same bytes.

usage: bench/fleet/make.py FOLDER FROM.etdump... [--models N --devices N --nights N --sessions N --recorded N
                           --seed N]"""
import argparse
import datetime
import hashlib
import json
import math
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN, FIXES = ROOT / "examples/runs/image_encoder_int8_qemu", ROOT / "tests/data/fixes"
FIRST = datetime.date(2026, 10, 1)
PLANTED = (0.01, 0.03, 0.10)


def day(night):
    return str(FIRST + datetime.timedelta(days=night))


def fleet(asked, rng):
    """Devices and models: what is true of them."""
    devices = []
    for d in range(asked.devices):
        bad = {0: "noisy", 1: "drifts", 4: "hot", 7: "throttled"}.get(d % 10) if asked.devices > 5 else None
        devices.append({"name": f"device{d:02d}", "speed": math.exp(rng.gauss(0, 0.4)),
                        "noise": 0.10 if bad == "noisy" else rng.uniform(0.008, 0.02),
                        "drift": 0.10 if bad == "drifts" else rng.gauss(0, 0.005), "bad": bad})
    models = []
    for m in range(asked.models):
        size = PLANTED[m % 40 // 2] if m % 40 in (0, 2, 4) else 0.0 # one in forty of each size
        night = rng.randrange(asked.nights // 3, max(asked.nights * 2 // 3, asked.nights // 3 + 1))
        models.append({"name": f"model{m:04d}", "regression": size, "night": night if size else None})
    return devices, models


def factors(asked, devices, models, rng):
    """(model, device, night, factor) of each dump."""
    for m, model in enumerate(models):
        shape = math.exp(rng.gauss(0, 0.5))
        for device in devices:
            own = math.exp(rng.gauss(0, 0.1)) # how well this model suits this device
            for night in range(asked.nights):
                f = shape * own * device["speed"] * (1 + device["drift"] * night / asked.nights)
                if model["regression"] and night >= model["night"]:
                    f *= 1 + model["regression"]
                yield m, device, night, f * math.exp(rng.gauss(0, device["noise"]))


def make_dumps(asked, devices, models, rng):
    lines = [[] for _ in asked.dumps]
    places = set()
    corrupt = []
    for m, device, night, factor in factors(asked, devices, models, rng):
        name = models[m]["name"]
        place = asked.folder / "dumps" / f"day={day(night)}" / f"device={device['name']}" / f"build=b{night:04d}"
        places.add(place)
        path = place / f"{name}.etdump"
        if rng.random() < 0.001:
            corrupt.append(path)
        lines[m % len(lines)].append(f"{factor:.9f} {rng.getrandbits(48)} {path}\n")
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    for dump, those in zip(asked.dumps, lines):
        subprocess.run([asked.build / "bin/make_nights", dump], input="".join(those), text=True, check=True)
    for i, path in enumerate(corrupt):
        data = path.read_bytes()
        path.write_bytes((data[:len(data) // 2], b"", data[:40] + bytes(40) + data[80:], b"x" * 300)[i % 4])
    return sum(map(len, lines)), len(corrupt)


BLOCKS, ITERATIONS = 6, 4
LEVELS = ("sme2", "neon") # the second is the baseline
TRUE_SPEEDUP = {"sme2": 1.8}


def make_session(folder, base, device, night, name, rng):
    """A run folder of paired blocks, without recordings. A session's speedup is off the fleet's by 4 % of its own."""
    m = json.loads(json.dumps(base))
    m["generated_at"] = f"{day(night)}T0{rng.randrange(10)}:00:{rng.randrange(60):02d}Z"
    m["device"].update(spec=f"ssh:{device['name']}", emulated=False)
    m["models"][0].update(path=f"/models/{name}.pte", stem=name, sha256=hashlib.sha256(name.encode()).hexdigest())
    m["model"], m["files"], m["results"], m["blocks_done"] = m["models"][0]["path"], [], [], BLOCKS
    m["device"]["facts"]["cpus"] = "1" # that there are more is a fix of its own
    plan = m["plan"]
    plan["arms"] = [dict(plan["arms"][0], name=level, level=level, emulated=False, prefix=f"{name}_{level}")
                    for level in LEVELS]
    plan.update(seed=rng.getrandbits(31), blocks=BLOCKS, baseline=1, iterations=plan["iterations"][:2],
                order=[[b % 2, 1 - b % 2] for b in range(BLOCKS)])
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(m))
    whole = 5e6 * device["speed"]
    times = {"neon": whole, "sme2": whole / (TRUE_SPEEDUP["sme2"] * math.exp(rng.gauss(0, 0.04)))}
    rows, launches, launch = ["experiment,block,launch,iteration,phase,start_ns,duration_ns\n"], [], 0
    # One session in forty is read wrong or throttled anywhere: that sets no device apart.
    heat = 71.5 if device["bad"] == "hot" else 45 + rng.uniform(-3, 3) + 60 * (rng.random() < 0.025)
    slow = rng.random() < (0.5 if device["bad"] == "throttled" else 0.025)
    by_status = rng.random() < 0.5 # half of them tell by Android's word, half by their clock
    for block in range(1, BLOCKS + 1):
        now = slow and block > BLOCKS // 2
        start = {"temperature_c": round(heat, 1), "freq_cap_khz": 2100000 if now and not by_status else 2800000,
                 "thermal_status": 3 if now and by_status else 0}
        launches.append(json.dumps({"type": "block", "block": block, "start": start,
                                    "end": start | {"temperature_c": round(heat + 1, 1)}}) + "\n")
        for position, arm in enumerate(plan["order"][block - 1]):
            launch += 1
            launches.append(json.dumps({"type": "launch", "block": block, "launch": launch, "experiment": LEVELS[arm],
                                        "kind": "timed", "position": position, "start_ns": launch * 10**9}) + "\n")
            off = math.exp(rng.gauss(0, device["noise"] / 4))
            for i in range(ITERATIONS):
                ns = round(times[LEVELS[arm]] * off * math.exp(abs(rng.gauss(0, 0.003))) * (1.2 if i == 0 else 1))
                rows.append(f"{LEVELS[arm]},{block},{launch},{i},{'warmup' if i == 0 else 'timed'},"
                            f"{launch * 10**9 + i * 10**8},{ns}\n")
    (folder / "samples.csv").write_text("".join(rows))
    (folder / "environment.jsonl").write_text("".join(launches))


def recordings(kind, level):
    """A real recording of an arm, and the program that it is of."""
    if kind in ("engaged", "fallen"):
        arm = "linux_sme2_on" if level == "sme2" and kind == "engaged" else "linux_sme2_off"
        return next((RUN / arm).glob("*.etdump")), None
    return FIXES / f"{kind}{'' if level == 'sme2' else '_b2'}.etdump", FIXES / f"{kind}.pte"


def record(folder, kind):
    """The run folder as of a model with recordings of KIND."""
    m = json.loads((folder / "manifest.json").read_text())
    _, program = recordings(kind, "sme2")
    if program: # no program made for SME2: its level says nothing of kernels then
        m["models"][0].update(path=str(program), sha256=hashlib.sha256(program.read_bytes()).hexdigest())
        m["model"] = str(program)
        m["plan"]["arms"][0]["level"] = "dotprod"
    for arm in m["plan"]["arms"]:
        dump = f"{arm['name']}/{arm['prefix']}.etdump"
        (folder / arm["name"]).mkdir()
        (folder / dump).write_bytes(recordings(kind, arm["name"])[0].read_bytes())
        m["results"].append({"experiment": arm["name"], "metrics": {"etdump": dump, "etdump_rel": dump}})
    (folder / "manifest.json").write_text(json.dumps(m))


def recorded_models(asked, devices, rng):
    """What is true of each: kinds of recording before and from a night on, and on which devices the second."""
    found = []
    for i in range(asked.recorded):
        before, after = (("engaged", "fallen"), ("engaged", "fallen"), ("engaged", "engaged"),
                         ("broadcast", "broadcast"), ("reshape_chain", "reshape_chain"),
                         ("broadcast", "islands"))[i % 6]
        found.append({"name": f"recorded{i:03d}", "before": before, "after": after,
                      "night": rng.randrange(1, max(2, (asked.nights - 1) // 3)) * 3,
                      "devices": [rng.choice(devices)["name"]] if i % 6 == 1 else [d["name"] for d in devices]})
    return found


def make_recorded(asked, devices, models, rng):
    base = json.loads((RUN / "manifest.json").read_text())
    n = 0
    for model in models:
        for device in devices:
            for night in range(0, asked.nights, 3):
                for again in range(2 if night + 3 >= asked.nights else 1): # of the last night's the later one counts
                    place = asked.folder / f"recorded/day={day(night)}/device={device['name']}/build=b{night:04d}"
                    folder = place / f"{model['name']}-{again}"
                    make_session(folder, base, device, night, model["name"], rng)
                    changed = night >= model["night"] and device["name"] in model["devices"]
                    record(folder, model["after" if changed else "before"])
                    n += 1
    return n


def make_sessions(asked, devices, models, rng):
    base = json.loads((RUN / "manifest.json").read_text())
    for s in range(asked.sessions):
        device = devices[s % len(devices)]
        night = s // len(devices) % asked.nights
        make_session(asked.folder / f"sessions/day={day(night)}/device={device['name']}/build=b{night:04d}/s{s:06d}",
                     base, device, night, models[s % len(models)]["name"], rng)


def main():
    parser = argparse.ArgumentParser(prog="bench/fleet/make.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("dumps", nargs="+", type=pathlib.Path)
    for name, default in (("models", 1000), ("devices", 20), ("nights", 30), ("sessions", 0), ("recorded", 0),
                          ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    asked.folder = asked.folder.absolute()
    devices, models = fleet(asked, rng)
    n, corrupt = make_dumps(asked, devices, models, rng)
    make_sessions(asked, devices, models, rng)
    recorded = recorded_models(asked, devices, rng)
    n_recorded = make_recorded(asked, devices, recorded, rng)
    (asked.folder / "truth.json").write_text(json.dumps(
        {"dumps": n, "corrupt": corrupt, "sessions": asked.sessions, "recorded_sessions": n_recorded,
         "recorded": recorded, "speedup": TRUE_SPEEDUP, "devices": devices, "models": models,
         "days": [day(i) for i in range(asked.nights)]}, indent=1))
    print(f"{n:,} dumps ({corrupt} corrupt), {asked.sessions + n_recorded:,} sessions")


if __name__ == "__main__":
    sys.exit(main())
