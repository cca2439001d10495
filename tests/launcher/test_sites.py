# SPDX-License-Identifier: Apache-2.0
"""Does the launcher find the cpuid instructions of programs and libraries? The other witness is objdump.

What objdump shows and the launcher does not find must be counted by it as not known. Then damaged files: no
crash, no hang (under the sanitizers this says more).

usage: test_sites.py LIST_SITES"""
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

LIST = str(pathlib.Path(sys.argv[1]).resolve())
HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/bin")
FILES, BYTES = 60, 3_000_000  # the smallest files that have the bytes somewhere


def sites(paths):
    out = subprocess.run([LIST, *paths], capture_output=True, text=True, timeout=600)
    if out.returncode != 0:
        expect(False, LIST, out.returncode, out.stderr[-2000:])
    rows = [line.split("\t") for line in out.stdout.splitlines()]
    return {r[0]: (r[1], {int(x, 16) for x in r[2:]}) for r in rows}


def code_segments(data):
    offset, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    for i in range(count):
        kind, flags, at, address, _, size = struct.unpack_from("<IIQQQQ", data, offset + 56 * i)
        if kind == 1 and flags & 1:
            yield at, address, size


def by_objdump(path):
    data = pathlib.Path(path).read_bytes()
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True,
                          errors="replace").stdout
    found = set()
    for line in text.splitlines():
        m = re.match(r" *([0-9a-f]+):\s+cpuid", line)
        if m:
            v = int(m.group(1), 16)
            found |= {v - a + at for at, a, size in code_segments(data) if a <= v < a + size}
    return found


def candidates():
    seen, out = set(), []
    for folder in FOLDERS:
        for path in sorted(pathlib.Path(folder).glob("*")) if os.path.isdir(folder) else ():
            try:
                st = path.stat()
                if path.is_symlink() or not path.is_file() or st.st_size > BYTES or (st.st_dev, st.st_ino) in seen:
                    continue
                seen.add((st.st_dev, st.st_ino))
                data = path.read_bytes()
            except OSError:
                continue
            if data[:5] == b"\x7fELF\x02" and data[18:20] == b"\x3e\x00" and b"\x0f\xa2" in data:
                out.append((st.st_size, str(path)))
    return [path for _, path in sorted(out)[:FILES]]


def compare():
    paths = candidates()
    ours = sites(paths)
    total = found = unknown = 0
    for path in paths:
        kind, at = ours[path]
        if not kind.startswith("program"):
            continue
        theirs = by_objdump(path)
        missed = theirs - at
        counted = sum(int(n) for n in re.findall(r"(?:unsure|left) (\d+)", kind))
        total += len(theirs)
        found += len(theirs & at)
        unknown += len(missed)
        expect(len(missed) <= counted, path, "neither found nor counted",
               [hex(x) for x in sorted(missed)])
    print(
        "%d files, %d cpuid instructions by objdump: %d found, %d counted as left alone or not known"
        % (len(paths), total, found, unknown)
    )
    expect(total == 0 or found >= 0.9 * total, "most are to be found")


def damage(folder):
    source = os.path.join(folder, "plain")
    subprocess.run(["cc", "-O1", "-s", str(HERE / "features.c"), "-o", source, "-pthread"], check=True)
    good = pathlib.Path(source).read_bytes()
    spread = random.Random(1)
    paths = []
    for i in range(600):
        data = bytearray(good)
        if i % 6 == 0:
            del data[spread.randrange(len(data)):]
        for _ in range(1 + i % 8):
            if data: # mostly in the headers and tables, which lie at both ends
                at = spread.choice((spread.randrange(min(len(data), 1024)), spread.randrange(len(data)),
                                    -1 - spread.randrange(min(len(data), 2048))))
                data[at] = spread.choice((0, 1, 0x7f, 0x80, 0xff, spread.randrange(256)))
        paths.append(os.path.join(folder, "damaged-%d" % i))
        pathlib.Path(paths[-1]).write_bytes(data)
    expect(len(sites(paths)) == len(paths), "a damaged file ended it")


def main():
    for tool in ("objdump", "cc"):
        if shutil.which(tool) is None:
            skip("no " + tool)
    compare()
    with tempfile.TemporaryDirectory() as folder:
        damage(folder)
    finish()


if __name__ == "__main__":
    main()
