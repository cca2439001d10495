# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats that `etprof convert` writes, by their specifications: each checks every rule that its
viewer relies on and gives what the file says."""
import collections
import json

from checks import expect

Slice = collections.namedtuple("Slice", "process track start ns name category args flow")


def check_nesting(slices, what):
    """Slices of a track either contain each other or do not touch, in the order in which they stand."""
    by_track = collections.defaultdict(list)
    for s in slices:
        by_track[s.process, s.track].append(s)
    for track, items in by_track.items():
        ends, last = [], 0
        for s in items:
            expect(s.start >= last, f"{what} {track}: {s.name} is out of order")
            last = s.start
            # A slice of no length may stand at the end of the one before it: then it may be in it or after it.
            while ends and (ends[-1] < s.start or (ends[-1] <= s.start and s.ns)):
                ends.pop()
            expect(not ends or s.start + s.ns <= ends[-1], f"{what} {track}: {s.name} at {s.start} overlaps an end")
            ends.append(s.start + s.ns)


def nanoseconds(us):
    ns = round(us * 1000)
    expect(abs(us * 1000 - ns) < 1e-3, f"{us} µs are no whole nanoseconds")
    return ns


def unique_keys(pairs):
    keys = [k for k, _ in pairs]
    expect(len(keys) == len(set(keys)), f"an object has a key twice: {keys}")
    return dict(pairs)


def chrome(data):
    doc = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)
    names, slices, counter, arrows = {}, [], [], collections.defaultdict(dict)
    for e in doc["traceEvents"]:
        phase, pid, tid = e["ph"], e["pid"], e["tid"]
        if phase == "M":
            names[(pid,) if e["name"] == "process_name" else (pid, tid)] = e["args"]["name"]
        elif phase == "X":
            args = dict(e["args"])
            s = Slice(pid, tid, nanoseconds(e["ts"]), nanoseconds(e["dur"]), e["name"], e["cat"], args, None)
            expect(args["ns"] == s.ns, f"chrome: {s.name} lasts {s.ns}, and says {args['ns']}")
            slices.append(s)
        elif phase == "C":
            counter.append((nanoseconds(e["ts"]), e["args"]["ns"]))
        elif phase in "sf":
            expect(phase not in arrows[e["id"]], f"chrome: arrow {e['id']} has {phase} twice")
            arrows[e["id"]][phase] = (e["ts"], pid)
            expect(any((s.process, s.track) == (pid, tid) and s.start <= nanoseconds(e["ts"]) <= s.start + s.ns
                       for s in slices), f"chrome: arrow {e['id']} holds on to no slice")
        else:
            expect(False, f"chrome: phase {phase}")
    for s in slices:
        expect((s.process,) in names and (s.process, s.track) in names, f"chrome: {s.name} has no named track")
    for number, ends in arrows.items():
        expect(set(ends) == {"s", "f"} and ends["s"][0] <= ends["f"][0] and ends["s"][1] != ends["f"][1],
               f"chrome: arrow {number} is {ends}")
    check_nesting(slices, "chrome")
    return {"names": names, "slices": slices, "counter": counter, "arrows": arrows}


# ---- stacks ---------------------------------------------------------------------------------------

def folded(data, columns):
    stacks = []
    for line in data.decode("utf-8").splitlines():
        head, *numbers = line.rsplit(" ", columns)
        expect(len(numbers) == columns and head and all(head.split(";")), f"folded: {line!r}")
        stacks.append((tuple(head.split(";")), tuple(int(n) for n in numbers)))
    # splitlines() parts at more than '\n': a name with any of these would give more lines than there are
    expect(len(stacks) == data.count(b"\n"), "folded: a name has a line end in it")
    return stacks


def speedscope(data):
    doc = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)
    expect(doc["$schema"] == "https://www.speedscope.app/file-format-schema.json", "speedscope: $schema")
    expect("@" in doc["exporter"], "speedscope: exporter is name@version")
    frames = [f["name"] for f in doc["shared"]["frames"]]
    expect(len(frames) == len(set(frames)), "speedscope: every frame once")
    expect(0 <= doc["activeProfileIndex"] < len(doc["profiles"]), "speedscope: activeProfileIndex")
    found = {}
    for p in doc["profiles"]:
        expect(p["type"] == "sampled" and p["unit"] == "nanoseconds", f"speedscope: {p['type']} in {p['unit']}")
        expect(len(p["samples"]) == len(p["weights"]), "speedscope: a weight for each sample")
        expect(p["startValue"] == 0 < p["endValue"] == sum(p["weights"]), f"speedscope: {p['name']} ends at its sum")
        found[p["name"]] = [(tuple(frames[i] for i in s), w) for s, w in zip(p["samples"], p["weights"])]
    return found
