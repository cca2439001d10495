# SPDX-License-Identifier: Apache-2.0
"""etprof pack and unpack: the round trip, and archives that want to do harm.

usage: pack_hostile.py ETPROF FAKE_RUNNER"""
import fcntl
import io
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
MANIFEST = b'{"schema": "etprof.run/1"}\n'


def zstd(data):
    """A zstd frame of raw blocks (RFC 8878): 128 KiB window, no checksum."""
    out = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)
    pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    for i, piece in enumerate(pieces):
        out += struct.pack("<I", (i == len(pieces) - 1) | len(piece) << 3)[:3] + piece
    return out


def tar(*members, format=tarfile.USTAR_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as t:
        for name, content, *more in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in (more[0] if more else {}).items():
                setattr(info, key, value)
            t.addfile(info, io.BytesIO(content))
    return out.getvalue()


def with_size(archive, text):
    """The first header with another size, its checksum made right again."""
    head = bytearray(archive[:512])
    head[124:136] = text.ljust(12, b"\0")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + archive[512:]


good = ("manifest.json", MANIFEST)
HOSTILE = {
    "absolute": tar(good, ("/tmp/etprof-evil", b"x")),
    "dot dot": tar(good, ("../evil", b"x")),
    "dot dot inside": tar(good, ("a/../../evil", b"x")),
    "dot dot at the end": tar(good, ("a/..", b"x")),
    "dot": tar(good, ("./evil", b"x")),
    "empty part": tar(good, ("a//evil", b"x")),
    "backslash": tar(good, ("..\\evil", b"x")),
    "control character": tar(good, ("a\x1bb", b"x")),
    "symbolic link": tar(good, ("link", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})),
    "hard link": tar(good, ("link", b"", {"type": tarfile.LNKTYPE, "linkname": "manifest.json"})),
    "device": tar(good, ("dev", b"", {"type": tarfile.CHRTYPE})),
    "fifo": tar(good, ("fifo", b"", {"type": tarfile.FIFOTYPE})),
    "twice": tar(good, ("a", b"1"), ("a", b"2")),
    "twice, the manifest": tar(good, good),
    "file as folder": tar(good, ("a", b"1"), ("a/b", b"2")),
    "folder as file": tar(good, ("a/b", b"1"), ("a", b"2")),
    "long name outside": tar(good, ("../" + "x" * 150, b"x"), format=tarfile.GNU_FORMAT),
    "huge size": with_size(tar(good), b"77777777777"),
    "size in base 256": with_size(tar(good), b"\x80\0\0\0\0\0\0\0\xff\xff\xff\xff"),
    "negative size": with_size(tar(good), b"-0000000001"),
    "size is no number": with_size(tar(good), b"zzzz"),
    "cut": tar(good, ("a", b"x" * 5000))[:2000],
    "no end": tar(good)[:1024],
    "wrong checksum": tar(good)[:148] + b"000000\0 " + tar(good)[156:],
    "no manifest": tar(("samples.csv", b"")),
    "somebody else's manifest": tar(("manifest.json", b"{}")),
    "empty": b"",
    "not UTF-8": tar(good, ("n\udcffme", b"x")),
    "surrogate in UTF-8": tar(good, ("n\udced\udca0\udc80me", b"x")),
    "pax header": tar(good, ("\u00e9" * 120, b"x"), format=tarfile.PAX_FORMAT),
    "socket of old tars": tar(good, ("s", b"", {"type": b"S"})),
    "something after the end": tar(good) + tar(("evil", b"x")),
}


def unpack(directory, data, name="evil.tar.zst"):
    (directory / name).write_bytes(data)
    return subprocess.run([ETPROF, "unpack", name], cwd=directory, capture_output=True, text=True, timeout=600,
                          check=False)


def hostile(root):
    # The construction itself is right: the same way of making an archive gives one that is taken.
    (root / "good").mkdir()
    long = "linux_sme2_on/" + "y" * 150
    done = unpack(root / "good", zstd(tar(good, ("exp/a", b"1"), (long, b"2"), format=tarfile.GNU_FORMAT)), "x.tar.zst")
    expect(done.returncode == 0, "good archive", done.stderr)
    expect((root / "good" / "x" / long).read_bytes() == b"2", "good archive", "long name lost")
    cases = {name: zstd(data) for name, data in HOSTILE.items()}
    whole = zstd(tar(good, ("a", b"x" * 70000)))
    cases.update({"no zstd": b"PK\3\4" + b"\0" * 600, "empty file": b"", "cut frame": whole[:40000],
                  "second frame": whole + whole, "garbage after the frame": whole + b"garbage",
                  "no last block": whole[:-70003] + struct.pack("<I", 70000 << 3)[:3] + b"x" * 70000,
                  "giant window": struct.pack("<IBB", 0xFD2FB528, 0, 0xF8) + whole[6:]})
    for number, (name, data) in enumerate(cases.items()):
        folder = root / f"case{number}"
        folder.mkdir()
        done = unpack(folder, data)
        expect(done.returncode in (4, 5), name, f"exit {done.returncode}: {done.stderr}")
        expect(done.returncode == 4 or name in ("file as folder",), name, f"exit {done.returncode}: {done.stderr}")
        expect(len(done.stderr.strip().splitlines()) == 1, name, done.stderr)
        left = sorted(p.name for p in folder.iterdir())
        expect(left == ["evil.tar.zst"], name, f"left behind: {left}")
        expect(not list(root.glob("evil*")) and not pathlib.Path("/tmp/etprof-evil").exists(), name, "written outside")
    return len(cases)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def spoiled(root, data, name):
    done = unpack(root, data, "spoiled.tar.zst")
    if done.returncode == 0:
        expect(contents(root / "spoiled") == contents(root / "run"), name, "unpacked as something else")
        shutil.rmtree(root / "spoiled")
        return 0
    expect(done.returncode == 4 and not (root / "spoiled").exists(), name, f"exit {done.returncode}: {done.stderr}")
    return 1


def round_trip(root):
    name = "round trip"
    (root / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n")

    def etprof(*words):
        return subprocess.run([ETPROF, *words], cwd=root, capture_output=True, text=True, timeout=600, check=False)

    etprof("ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8", "--warmup", "3", "--quiet",
           "--out", "run", "--runner", FAKE)
    done = etprof("pack", "run/")
    expect(done.returncode == 0 and (root / "run.tar.zst").exists(), name, done.stderr)
    packed = (root / "run.tar.zst").read_bytes()
    expect(etprof("pack", "run", "--out", "again.tar.zst").returncode == 0, name, "pack -o")
    expect((root / "again.tar.zst").read_bytes() == packed, name, "same folder, other bytes")
    expect(etprof("unpack", "run.tar.zst").returncode == 2, name, "unpacked over a folder that is not empty")
    expect(etprof("unpack", "run.tar.zst", "--out", "back").returncode == 0, name, "unpack")
    expect(contents(root / "run") == contents(root / "back"), name, "contents differ")
    # One bit of the archive: refused, or nothing is different. The frame's checksum stands at its end.
    rng = random.Random(9)
    damaged = 0
    for at in sorted(rng.sample(range(len(packed)), 60)) + [len(packed) - 1]:
        damaged += spoiled(root, packed[:at] + bytes([packed[at] ^ 1 << rng.randrange(8)]) + packed[at + 1:],
                           f"bit in byte {at}")
    for cut in (1, 4, 5, 100):
        damaged += spoiled(root, packed[:-cut], f"cut by {cut}")
    expect(damaged > 50, name, f"only {damaged} damages noticed")
    done = etprof("verify", "back")
    expect(done.returncode == 0, name, done.stdout + done.stderr)
    if shutil.which("zstd"):
        raw = subprocess.run(["zstd", "-dc", "run.tar.zst"], cwd=root, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(raw)) as t:
            expect({m.name: t.extractfile(m).read() for m in t} == contents(root / "run"), name,
                   "tar reads something else")
    else:
        print("skipped: reading with another zstd (none here)")


def running(root):
    """A folder that a session still writes is refused; what a killed session left is no obstacle."""
    with open(root / "run/session.lock", "w", encoding="ascii") as lock:
        print(os.getpid(), file=lock, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([ETPROF, "pack", "run", "-o", "running.tar.zst"], cwd=root, capture_output=True,
                              text=True, timeout=600, check=False)
        expect(done.returncode == 2 and f"run: its session still runs (pid {os.getpid()})" in done.stderr
               and not (root / "running.tar.zst").exists(), "a running session", (done.returncode, done.stderr))
    done = subprocess.run([ETPROF, "pack", "run", "-o", "killed.tar.zst"], cwd=root, capture_output=True, text=True,
                          timeout=600, check=False)
    expect(done.returncode == 0 and (root / "killed.tar.zst").read_bytes() == (root / "run.tar.zst").read_bytes(),
           "a killed session's lock", (done.returncode, done.stderr))


with tempfile.TemporaryDirectory() as tmp:
    n = hostile(pathlib.Path(tmp))
    round_trip(pathlib.Path(tmp))
    running(pathlib.Path(tmp))
finish(f"round trip and {n} hostile archives as documented")
