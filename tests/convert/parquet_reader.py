# SPDX-License-Identifier: Apache-2.0
"""A small Parquet reader after the specification alone (Thrift compact protocol, PLAIN, RLE_DICTIONARY,
DELTA_BINARY_PACKED, definition levels of flat columns, ZSTD through libzstd): it shares nothing with the writer.
Strict: unexpected bytes raise."""
import ctypes
import ctypes.util
import struct


class Compact:
    """Thrift's compact protocol into dictionaries of field ids."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return value

    def zigzag(self):
        v = self.varint()
        return v // 2 if v % 2 == 0 else -(v + 1) // 2

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("b", bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            n = self.varint()
            self.at += n
            return bytes(self.data[self.at - n:self.at])
        if kind == 9:
            head = self.byte()
            n = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(n)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"type {kind} at {self.at}")

    def struct(self):
        fields, last = {}, 0
        while (head := self.byte()) != 0:
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            assert last not in fields
            fields[last] = self.value(head & 15)
        return fields


def unzstd(data, size):
    name = ctypes.util.find_library("zstd")
    lib = ctypes.CDLL(name or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(max(size, 1))
    n = lib.ZSTD_decompress(out, size, bytes(data), len(data))
    if n != size:
        raise ValueError(f"{n} bytes unpacked, {size} expected")
    return out.raw[:size]


def hybrid(data, width, count):
    """Repeated and bit-packed runs; all of DATA belongs to them."""
    reader, out = Compact(data), []
    while len(out) < count:
        head = reader.varint()
        if head & 1:
            n = (head >> 1) * 8
            raw = int.from_bytes(data[reader.at:reader.at + n * width // 8], "little")
            assert reader.at + n * width // 8 <= len(data)
            reader.at += n * width // 8
            out += [raw >> (i * width) & (1 << width) - 1 for i in range(n)]
        else:
            size = (width + 7) // 8
            out += [int.from_bytes(data[reader.at:reader.at + size], "little")] * (head >> 1)
            reader.at += size
    assert reader.at == len(data), (reader.at, len(data))
    assert len(out) - count < 8
    return out[:count]


def deltas(data, count):
    """DELTA_BINARY_PACKED; all of DATA belongs to it."""
    reader = Compact(data)
    block, minis, n, value = reader.varint(), reader.varint(), reader.varint(), reader.zigzag()
    assert n == count > 0 and block % 128 == 0 and block // minis % 32 == 0
    out = [value]
    while len(out) < count:
        lowest = reader.zigzag()
        widths = [reader.byte() for _ in range(minis)]
        for width in widths:
            if len(out) == count:
                break # of what no value is in there are no bytes
            each = block // minis
            raw = int.from_bytes(data[reader.at:reader.at + each * width // 8], "little")
            reader.at += each * width // 8
            for i in range(min(each, count - len(out))):
                value += lowest + (raw >> (i * width) & (1 << width) - 1)
                out.append((value + (1 << 63)) % (1 << 64) - (1 << 63))
    assert reader.at == len(data), (reader.at, len(data))
    return out


def plain(kind, data, count):
    if kind == 2:
        assert len(data) == 8 * count
        return list(struct.unpack(f"<{count}q", data))
    if kind == 5:
        assert len(data) == 8 * count
        return list(struct.unpack(f"<{count}d", data))
    if kind == 0:
        assert len(data) == (count + 7) // 8
        return [bool(data[i // 8] >> i % 8 & 1) for i in range(count)]
    out, at = [], 0
    for _ in range(count):
        n, = struct.unpack_from("<I", data, at)
        out.append(data[at + 4:at + 4 + n].decode("utf-8"))
        at += 4 + n
    assert at == len(data)
    return out


def page(data, at, codec):
    reader = Compact(data, at)
    header = reader.struct()
    stored = data[reader.at:reader.at + header[3]]
    assert len(stored) == header[3]
    raw = unzstd(stored, header[2]) if codec == 6 else bytes(stored)
    assert len(raw) == header[2] and codec in (0, 6)
    return header, raw, reader.at + header[3], reader.at - at + header[2]


def column(data, meta, optional):
    kind, codec, at, texts, unpacked = meta[1], meta[4], meta[9], None, 0
    start = at
    if 11 in meta:
        start = meta[11]
        header, raw, at, size = page(data, meta[11], codec)
        assert header[1] == 2 and header[7][2] == 0 and at == meta[9]
        texts = plain(kind, raw, header[7][1])
        assert len(set(texts)) == len(texts)
        unpacked += size
    header, raw, end, size = page(data, at, codec)
    assert end - start == meta[7] and unpacked + size == meta[6]
    assert header[1] == 0 and header[5][1] == meta[5] and header[5][3] == 3
    count, present = meta[5], None
    if optional:
        n, = struct.unpack_from("<I", raw)
        present = hybrid(raw[4:4 + n], 1, count)
        raw = raw[4 + n:]
    filled = sum(present) if optional else count
    assert set(meta[2]) == {3, header[5][2], *([0] if texts is not None else [])}
    if header[5][2] == 5:
        assert kind == 2 and texts is None
        values = deltas(raw, filled)
    elif texts is None:
        assert header[5][2] == 0
        values = plain(kind, raw, filled)
    else:
        assert header[5][2] == 8
        values = [texts[i] for i in hybrid(raw[1:], raw[0], filled)]
    values = iter(values)
    out = [next(values) if not optional or present[i] else None for i in range(count)]
    stats = meta[12]
    assert stats[3] == out.count(None)
    known = [v for v in out if v is not None]
    if kind == 2 and known:
        assert struct.unpack("<q", stats[5])[0] == max(known) and struct.unpack("<q", stats[6])[0] == min(known)
    return out


def read(data):
    """(schema, columns, footer): schema is [(name, kind, optional, logical)], columns {name: values}."""
    assert data[:4] == b"PAR1" and data[-4:] == b"PAR1"
    size, = struct.unpack("<I", data[-8:-4])
    reader = Compact(data, len(data) - 8 - size)
    footer = reader.struct()
    assert reader.at == len(data) - 8
    root, *elements = footer[2]
    assert root[5] == len(elements)
    schema = [(e[4].decode(), e[1], e[3] == 1, e.get(10, {})) for e in elements]
    columns = {name: [] for name, *_ in schema}
    end = 4
    for group in footer[4]:
        assert len(group[1]) == len(schema) and group[5] == end
        for (name, kind, optional, _), chunk in zip(schema, group[1]):
            meta = chunk[3]
            assert meta[3] == [name.encode()] and meta[1] == kind and meta[5] == group[3] <= 131072
            assert meta.get(11, meta[9]) == end
            end += meta[7]
            columns[name] += column(data, meta, optional)
        assert group[6] == sum(c[3][7] for c in group[1]) and group[2] == sum(c[3][6] for c in group[1])
    assert end == len(data) - 8 - size
    assert all(len(c) == footer[3] for c in columns.values())
    return schema, columns, footer
