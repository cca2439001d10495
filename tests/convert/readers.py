# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats that `etprof convert` writes, by their specifications: each checks every rule that its
viewer relies on and gives what the file says."""
import collections
import json
import struct
import xml.etree.ElementTree as ElementTree

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


# ---- protobuf -------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("varint of more than ten bytes")


def message(data):
    """Fields of a protobuf message: {number: [values]}."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError(f"field {number} goes on for {size} bytes, there are {len(data) - at}")
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        found[number].append(value)
    return found


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def annotations(event):
    found = {}
    for raw in event.get(4, []):
        a = message(raw)
        key = a[10][0].decode("utf-8")
        expect(key not in found, f"perfetto: annotation {key} twice")
        found[key] = a[6][0].decode("utf-8") if 6 in a else signed(a[4][0])
    return found


def descriptor(raw, tracks):
    d = message(raw)
    uuid = d[1][0]
    expect(uuid and uuid not in tracks, f"perfetto: track {uuid} is zero or declared twice")
    expect(all(parent in tracks for parent in d.get(5, [])), "perfetto: the parent of a track is declared before it")
    if 3 in d:
        p = message(d[3][0])
        tracks[uuid] = ("process", p[1][0], p[6][0].decode("utf-8"))
    elif 4 in d:
        t = message(d[4][0])
        tracks[uuid] = ("thread", t[1][0], t[5][0].decode("utf-8"))
        expect(t[2][0] != 0, "perfetto: a thread's number")
    else:
        expect(8 in d and message(d[8][0])[3] == [1], "perfetto: what is no thread is a counter in nanoseconds")
        tracks[uuid] = ("counter", None, d[2][0].decode("utf-8"))


def perfetto(data):
    tracks, slices, counter = {}, [], []
    opened = collections.defaultdict(list)
    last = collections.defaultdict(int)
    trace = message(data)
    expect(set(trace) == {1}, f"perfetto: a trace is packets, not fields {sorted(trace)}")
    for raw in trace[1]:
        packet = message(raw)
        expect(packet[10] == [1], "perfetto: every packet belongs to a sequence")
        if 60 in packet:
            descriptor(packet[60][0], tracks)
            continue
        event, at = message(packet[11][0]), packet[8][0]
        track, kind = event[11][0], event[9][0]
        expect(track in tracks, f"perfetto: an event before its track {track}")
        expect(at >= last[track], f"perfetto: track {track} goes back in time")
        last[track] = at
        if kind == 1:
            where = tracks[track]
            s = Slice(where[1], track, at, None, event[23][0].decode("utf-8"), event[22][0].decode("utf-8"),
                      annotations(event), event.get(47, [0])[0])
            opened[track].append(len(slices))
            slices.append(s)
        elif kind == 2:
            expect(opened[track], f"perfetto: track {track} ends a slice that never began")
            i = opened[track].pop()
            slices[i] = slices[i]._replace(ns=at - slices[i].start)
        else:
            expect(kind == 4 and tracks[track][0] == "counter", f"perfetto: event of type {kind}")
            counter.append((at, signed(event[30][0])))
    expect(not any(opened.values()), "perfetto: every slice ends")
    for s in slices:
        expect(s.ns == s.args["ns"], f"perfetto: {s.name} lasts {s.ns}, and says {s.args['ns']}")
    return {"tracks": tracks, "slices": slices, "counter": counter}


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


def flame(data):
    """Boxes of the panels: [(title, x, y, width)]."""
    root = ElementTree.fromstring(data)
    svg = "{http://www.w3.org/2000/svg}"
    expect(root.tag == svg + "svg", "flame: an SVG")
    expect(not [e for e in root.iter() if e.tag == svg + "script" or any(a.startswith("on") for a in e.attrib)],
           "flame: no scripts")
    boxes = []
    for group in root.iter(svg + "g"):
        rect = group.find(svg + "rect")
        boxes.append((group.find(svg + "title").text, float(rect.get("x")), float(rect.get("y")),
                      float(rect.get("width")), rect.get("fill")))
    texts = [t.text for t in root.iter(svg + "text")]
    return {"boxes": boxes, "texts": texts, "width": float(root.get("width"))}
