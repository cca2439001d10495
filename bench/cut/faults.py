#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults planted in copies of programs: does `etprof ab A B --numerics` find the operator? Goal: every fault, and no
operator blamed in equal arms.

usage: bench/cut/faults.py ETPROF TRIALS MODEL.pte[,OPTION]...

A fault is a changed weight or a changed clamp of a random node of a random XNNPACK payload, TRIALS in each model,
written into a copy of the file; the truth is who uses it, by this program's own reading of the file.
Each model is also held against an equal copy, and at its best level against plain SIMD."""
import collections
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def field(data, table, number):
    """Where a field of a FlatBuffer's table lies; 0: it is absent."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", data, vtable + at)[0] if at < struct.unpack_from("<H", data, vtable)[0] else 0
    return table + offset if offset else 0


def follow(data, at):
    return at + u32(data, at) if at else 0


def tables(data, at):
    """The tables of the vector that the field at AT refers to."""
    vector = follow(data, at)
    return [follow(data, vector + 4 + 4 * i) for i in range(u32(data, vector))] if vector else []


def number(data, table, ident, default=0):
    at = field(data, table, ident)
    return u32(data, at) if at else default


def text(data, at):
    start = follow(data, at)
    return bytes(data[start + 4:start + 4 + u32(data, start)]) if start else b""


class Program:
    """The payloads of a file: places of weights and of clamps, by delegate and node."""

    def __init__(self, data):
        self.data, root = data, u32(data, 0)
        self.base = struct.unpack_from("<Q", data, 24)[0]
        self.segments = [self.segment(s) for s in tables(data, field(data, root, 4))]
        self.named = {text(data, field(data, n, 0)): number(data, n, 1) for n in tables(data, field(data, root, 7))}
        plans = tables(data, field(data, root, 1))
        self.faults = []  # (place of four bytes or one, kind, (delegate, node))
        forward = [p for p in plans if text(data, field(data, p, 0)) == b"forward"] or plans[:1]
        for index, delegate in enumerate(tables(data, field(data, forward[0], 7))):
            where = follow(data, field(data, delegate, 1))
            if text(data, field(data, delegate, 0)) == b"XnnpackBackend" and data[field(data, where, 0)] == 1:
                self.payload(index, self.segments[number(data, where, 1)][0])

    def segment(self, table):
        at = [field(self.data, table, i) for i in (0, 1)]
        offset, size = (struct.unpack_from("<Q", self.data, x)[0] if x else 0 for x in at)
        return self.base + offset, size

    def payload(self, delegate, at):
        data = self.data
        graph, behind = at + u32(data, at + 10), at + u32(data, at + 18)
        root = graph + u32(data, graph)
        values, seen = {}, set()
        for value in tables(data, field(data, root, 2)):
            body = follow(data, field(data, value, 1))
            body = follow(data, field(data, body, 0)) if data[field(data, value, 0)] == 2 else body
            kind = struct.unpack_from("<H", data, field(data, body, 0))[0] if field(data, body, 0) else 0
            values[number(data, body, 6)] = (kind, number(data, body, 3))
        constants = tables(data, field(data, root, 8))
        for index, node in enumerate(tables(data, field(data, root, 1))):
            kind, body = data[field(data, node, 0)], follow(data, field(data, node, 1))
            filters = {2: 1, 7: 16, 13: 16}  # FullyConnected, Conv2d, DepthwiseConv2d
            limits = follow(data, field(data, node, 3))
            if limits and field(data, limits, 1) and u32(data, field(data, limits, 1)) != 0x7F800000:
                self.faults.append((field(data, limits, 1), 4, "clamp", (delegate, index)))
            dtype, constant = values.get(number(data, body, filters[kind]), (0, 0)) if kind in filters else (0, 0)
            if not constant or (delegate, constant) in seen:
                continue
            seen.add((delegate, constant))
            key = text(data, field(data, constants[constant], 2))
            if key:
                start, size = self.segments[self.named[key]] if key in self.named else (0, 0)
            else:
                start, size = (struct.unpack_from("<Q", data, x)[0] if x else 0
                               for x in (field(data, constants[constant], i) for i in (0, 1)))
                start += behind
            width = {1: 4, 2: 2, 3: 1, 6: 1}.get(dtype, 0)
            if size and width:
                self.faults.append(((start, size), width, key or b"weight", (delegate, index)))


def fill(program, rng):
    """Weights that are all zero (test data is small that way) become numbers."""
    for place, width, what, _ in program.faults:
        if what != "clamp" and width == 4 and not any(program.data[place[0]:sum(place)]):
            for at in range(place[0], sum(place), 4):
                program.data[at:at + 4] = struct.pack("<f", rng.uniform(-0.2, 0.2))


def planted(program, rng):
    """(bytes, what, where): one fault, and the nodes that may be the first to show it: all that share the weights."""
    place, width, what, where = rng.choice(program.faults)
    data = bytearray(program.data)
    if isinstance(place, tuple):
        same = [f[3] for f in program.faults if f[2] == what and what != b"weight"]
        for _ in range(8):  # eight weights of it, so that some matter
            at = place[0] + rng.randrange(place[1] // width) * width
            new = {4: struct.pack("<f", 2.5), 2: b"\x00\x41", 1: b"\x7f"}[width]
            data[at:at + width] = new if bytes(data[at:at + width]) != new else bytes(width)
        return data, "weight", same or [where]
    data[place:place + 4] = struct.pack("<f", 0.01)
    return data, "clamp", [where]


def ask(etprof, words):
    done = subprocess.run([etprof, "ab", *words, "--numerics", "--quiet", "--format", "json"], text=True,
                          capture_output=True)
    return json.loads(done.stdout) if done.stdout else {"verdict": f"exit {done.returncode}: {done.stderr.strip()}"}


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return
    etprof, trials = sys.argv[1], int(sys.argv[2])
    all_counts = collections.Counter()
    for word in sys.argv[3:]:
        model, *options = word.split(",")
        name, counts, rng = pathlib.Path(model).name, collections.Counter(), random.Random(model)
        program = Program(bytearray(pathlib.Path(model).read_bytes()))
        fill(program, rng)
        with tempfile.TemporaryDirectory() as folder:
            copy, model = pathlib.Path(folder) / "planted.pte", pathlib.Path(folder) / name
            model.write_bytes(program.data)
            for _ in range(trials if program.faults else 0):
                data, what, places = planted(program, rng)
                copy.write_bytes(data)
                answer = ask(etprof, [model, copy, *options])
                said = answer.get("operator") or ""
                hit = any(said.startswith(f"node {n} (") and said.endswith(f" of delegate {d}") for d, n in places)
                key = "found" if answer["verdict"] == "part" and hit else "no output differs" \
                    if answer["verdict"] == "agree" else "wrong"
                counts[f"{what}: {key}"] += 1
                counts["launches"] += answer.get("launches", 0)
                if key == "wrong":
                    print(f"  {name}: {what} of {places}: {answer['verdict']} {said} {answer.get('why')}")
            copy.write_bytes(program.data)
            for words in ([model, copy, *options], [model, *options]):
                counts[f"equal: {ask(etprof, words)['verdict']}"] += 1
        print(name, dict(sorted(counts.items())), flush=True)
        all_counts += counts
    print("all", dict(sorted(all_counts.items())))


if __name__ == "__main__":
    main()
