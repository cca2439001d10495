# SPDX-License-Identifier: Apache-2.0
"""etprof-launch on arm64, in an emulated machine with a real kernel (scripts/arm64-guest): rewritten
auxiliary vectors of static, static-PIE and dynamic programs, stripped or not, the preload fallback, and
what a kernel that hides SME looks like. Skipped aloud where the machine or the compiler is missing.

usage: guest.py [--no-download]"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CC = "aarch64-linux-gnu-gcc"
SOURCES = ["main.c", "preload.c", "elf_sites.c", "trace_linux.c", "auxv.c", "cpu_arm64.c", "x86_length.c"]
ISA = ["level.c", "text.c", "cpu.c", "x86.c"]
# What each level leaves of "sme sme2 i8mm" on a CPU that has all three; by the levels' definitions.
LEVELS = {"sme2": "sme 1 sme2 1 i8mm 1", "sme1": "sme 1 sme2 0 i8mm 1", "neon": "sme 0 sme2 0 i8mm 1",
          "dotprod": "sme 0 sme2 0 i8mm 0"}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def compile_to(out, *words):
    done = subprocess.run([CC, "-O1", "-D_GNU_SOURCE", "-I", str(ROOT / "src"), "-I", str(ROOT / "launcher"),
                           *map(str, words), "-o", str(out)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (out, done.stderr))


def make_root(root):
    (root / "lib").mkdir()
    launcher = [ROOT / "launcher" / s for s in SOURCES] + [ROOT / "src" / "isa" / s for s in ISA]
    compile_to(root / "launch", "-static", *launcher)
    compile_to(root / "libetprof-level.so", "-shared", "-fPIC", ROOT / "launcher" / "level_preload.c",
               *[ROOT / "src" / "isa" / s for s in ISA if s != "cpu.c"], "-ldl")
    compile_to(root / "init", "-static", HERE / "init.c")
    for kind in ("dynamic", "static", "static-pie"):
        flags = [] if kind == "dynamic" else ["-" + kind]
        compile_to(root / kind, HERE / "features.c", "-pthread", *flags)
        compile_to(root / (kind + "-stripped"), HERE / "features.c", "-pthread", "-s", *flags)
    for name in ("ld-linux-aarch64.so.1", "libc.so.6"):
        path = subprocess.run([CC, "-print-file-name=" + name], capture_output=True, text=True).stdout.strip()
        shutil.copy(path, root / "lib" / name)


def cpio(root, out):
    """The 'newc' archive that kernels unpack as their first file system."""
    inode = 1
    with open(out, "wb") as f:
        def entry(name, mode, data):
            nonlocal inode
            head = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
            f.write(b"070701" + b"".join(b"%08X" % v for v in head) + name.encode() + b"\0")
            f.write(b"\0" * (-f.tell() % 4) + data)
            f.write(b"\0" * (-f.tell() % 4))
            inode += 1
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if path.is_dir():
                entry(name, 0o40755, b"")
            else:
                entry(name, 0o100755, path.read_bytes())
        entry("TRAILER!!!", 0, b"")


def tests():
    """(command line, expected text, expected status)"""
    rows = []
    for kind in ("dynamic", "static", "static-pie"):
        for suffix in ("", "-stripped"):
            for level, text in LEVELS.items():
                rows.append(("/launch --level %s -- /%s%s" % (level, kind, suffix), text, 0))
    neon = LEVELS["neon"]
    for what in ("thread", "fork", "exec"):
        rows.append(("/launch --level neon -- /static %s" % what, neon, 0))
    rows.append(("/launch --level neon --once -- /dynamic", neon, 0))
    rows.append(("/launch --level neon -- /static ud2", "", -4))
    rows.append(("/launch --method preload --level neon -- /dynamic", neon, 0))
    rows.append(("/launch --method preload --level neon -- /static", "linked statically", 125))
    rows.append(("/launch --level sme2 -- /launch --method auto --level neon -- /dynamic", neon, 0))
    rows.append(("/launch --level avx2 -- /static", "no level avx2", 125))
    return rows


def boot(guest, work, append=""):
    done = subprocess.run([guest + "/qemu", "-M", "virt", "-cpu", "max,pauth-impdef=on,sme512=on", "-smp", "1",
                           "-m", "512", "-nographic", "-no-reboot", "-kernel", guest + "/vmlinuz", "-initrd",
                           str(work / "initrd"), "-append", "console=ttyAMA0 quiet panic=-1 rdinit=/init " + append],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return done.stdout.decode("utf-8", "replace").replace("\r", "")


def check(rows, text):
    pieces, failures = text.split("== "), 0
    if "== end" not in text or len(pieces) != len(rows) + 2:
        sys.exit("the machine did not run all tests:\n" + text[-3000:])
    said = pieces[0]
    for (line, expected, status), after in zip(rows, pieces[1:]):
        number, _, following = after.partition("\n")
        if expected not in said or int(number) != status:
            failures += 1
            print("FAILED: %s: %s (%s), expected %s (%d)" % (line, said.strip()[-300:], number, expected, status))
        said = following
    return failures


def main():
    if shutil.which(CC) is None:
        skip("no " + CC)
    done = subprocess.run([str(ROOT / "scripts" / "arm64-guest"), *sys.argv[1:]], capture_output=True, text=True)
    if done.returncode != 0:
        skip(done.stderr.strip().splitlines()[-1])
    guest = done.stdout.strip()
    with tempfile.TemporaryDirectory() as tmp:
        work, root = pathlib.Path(tmp), pathlib.Path(tmp) / "root"
        root.mkdir()
        make_root(root)
        rows = tests()
        (root / "tests").write_text("".join(line + "\n" for line, _, _ in rows))
        cpio(root, work / "initrd")
        failures = check(rows, boot(guest, work))
        hidden = [("/launch --level sme2 -- /static", "cannot be had", 125),
                  ("/launch --level neon -- /static", LEVELS["neon"], 0)]
        (root / "tests").write_text("".join(line + "\n" for line, _, _ in hidden))
        cpio(root, work / "initrd")
        failures += check(hidden, boot(guest, work, "arm64.nosme"))
        print("%d of %d right" % (len(rows) + len(hidden) - failures, len(rows) + len(hidden)))
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
