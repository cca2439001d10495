# SPDX-License-Identifier: Apache-2.0
"""Writes ETDumps by the field numbers of ExecuTorch's schema (etdump_schema_flatcc.fbs).

    write(path, [("Execute", [framework("Method::execute", 0, 100), delegate("Add (ND) #1", 10, 30)])])

Events stand in the order in which they end, as the runtime appends them."""
import struct

RUN_DATA, PROFILE, DEBUG = 1, 0, 2
NAME, CHAIN, INSTRUCTION, DELEGATE_INT, DELEGATE_STR, METADATA, START, END = range(8)


class Writer:
    def __init__(self):
        self.out = bytearray(8) + b"\0\0\0\0"  # size, root, identifier

    def align(self, n):
        self.out += bytes(-len(self.out) % n)

    def text(self, data):
        self.align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(data)) + data + b"\0"
        return at

    def vector(self, items):
        """Places of tables that are written later: (place of the vector, places to patch)."""
        self.align(4)
        at = len(self.out)
        self.out += struct.pack("<I", items) + bytes(4 * items)
        return at, [at + 4 + 4 * i for i in range(items)]

    def point(self, at, to):
        self.out[at:at + 4] = struct.pack("<I", to - at)

    def table(self, fields):
        """fields: {number: bytes of a scalar, or None for an offset}; gives the table and {number: place}."""
        last = max(fields) + 1
        self.align(2)
        vtable = len(self.out)
        self.out += bytes(4 + 2 * last)
        self.align(8)
        table, places = len(self.out), {}
        self.out += struct.pack("<i", table - vtable)
        for number, data in sorted(fields.items(), key=lambda f: -len(f[1] or b"1234")):
            size = len(data) if data is not None else 4
            self.align(size)
            places[number] = len(self.out)
            self.out += data if data is not None else bytes(4)
        offsets = [places[i] - table if i in places else 0 for i in range(last)]
        self.out[vtable:vtable + 4 + 2 * last] = struct.pack(
            f"<{2 + last}H", 4 + 2 * last, len(self.out) - table, *offsets)
        return table, places


def framework(name, start, end, instruction=0, chain=-1):
    return {"name": name, "start": start, "end": end, "instruction": instruction, "chain": chain}


def call(name, start, end, instruction=0, chain=0):
    return framework(name, start, end, instruction, chain)


def delegate(name, start, end, instruction=0, chain=0, metadata=None):
    """An event of a delegate; NAME may be its whole-number identifier."""
    return {"id": name, "start": start, "end": end, "instruction": instruction, "chain": chain, "metadata": metadata}


def logged(instruction=0):
    """A debug event without a value: something was logged."""
    return {"debug": instruction}


def put_debug(w, event):
    table, places = w.table({DEBUG: None})
    inside, _ = w.table({1: struct.pack("<i", event["debug"])})
    w.point(places[DEBUG], inside)
    return table


def put_event(w, event):
    if "debug" in event:
        return put_debug(w, event)
    table, places = w.table({PROFILE: None})
    fields = {START: struct.pack("<Q", event["start"]), END: struct.pack("<Q", event["end"]),
              CHAIN: struct.pack("<i", event["chain"]), INSTRUCTION: struct.pack("<i", event["instruction"])}
    texts = {}
    if isinstance(event.get("id"), int):
        fields[DELEGATE_INT] = struct.pack("<i", event["id"])
    elif "id" in event:
        texts[DELEGATE_STR] = event["id"].encode()
    else:
        texts[NAME] = event["name"].encode()
    if event.get("metadata") is not None:
        texts[METADATA] = event["metadata"]
    profile, inside = w.table({**fields, **dict.fromkeys(texts)})
    w.point(places[PROFILE], profile)
    for number, data in texts.items():
        w.point(inside[number], w.text(data))
    return table


def dump(runs):
    w = Writer()
    root, places = w.table({RUN_DATA: None})
    w.out[4:8] = struct.pack("<I", root - 4)
    w.out[8:12] = b"ED00"
    vector, at_runs = w.vector(len(runs))
    w.point(places[RUN_DATA], vector)
    for at, (name, events) in zip(at_runs, runs):
        table, inside = w.table({0: None, 3: None})
        w.point(at, table)
        w.point(inside[0], w.text(name.encode()))
        vector, at_events = w.vector(len(events))
        w.point(inside[3], vector)
        for place, event in zip(at_events, events):
            w.point(place, put_event(w, event))
    w.out[0:4] = struct.pack("<I", len(w.out) - 4)
    return bytes(w.out)


def write(path, runs):
    with open(path, "wb") as out:
        out.write(dump(runs))
    return path


def load(start=1_000_000, length=20_000_000, inside=()):
    """The block of loading: Method::init inside Program::load_method."""
    return ("Default", [*inside, framework("Method::init", start, start + length),
                        framework("Program::load_method", start - 1000, start + length + 1000)])


def inference(start, length, inside):
    """INSIDE: events by their distance from START."""
    moved = [e if "debug" in e else {**e, "start": e["start"] + (0 if e.get("own") else start),
              "end": e["end"] + (0 if e.get("own") else start)} for e in inside]
    return ("Execute", [*moved, framework("Method::execute", start, start + length)])


def own(name, start, end, **more):
    """A delegate's event by a clock of its own: not moved with the inference."""
    return {**delegate(name, start, end, **more), "own": True}
