# SPDX-License-Identifier: Apache-2.0
"""etprof-launch on arm64, in an emulated machine with a real kernel (scripts/arm64-guest): dynamic programs, stripped
or not, at each level; ExecuTorch's own kernels at each level; and what is said where a level cannot be had: a static
program, a kernel without SME, a core whose number overrides what is hidden. Skipped aloud where the machine or the
compiler is missing; what needs the ExecuTorch SDK is left out aloud without it.

usage: guest.py [--no-download]"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "foreign"))
import build

CC = "aarch64-linux-gnu-gcc"
SDK_LIBRARIES = ["libexecutorch%s.so" % p for p in build.PARTS]
C_LIBRARIES = ["ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libstdc++.so.6",
               "libgcc_s.so.1"]
SOURCES = ["main.c", "launch.c", "preload.c"]
ISA = ["level.c", "text.c", "cpu.c", "x86.c"]
# What each level leaves of "sme sme2 i8mm" on a CPU that has all three; by the levels' definitions.
LEVELS = {"sme2": "sme 1 sme2 1 i8mm 1", "sme1": "sme 1 sme2 0 i8mm 1", "neon": "sme 0 sme2 0 i8mm 1",
          "dotprod": "sme 0 sme2 0 i8mm 0"}


def compile_to(out, *words):
    done = execute(CC, "-O1", "-D_GNU_SOURCE", "-I", ROOT / "src", *words, "-o", out)
    if done.returncode != 0:
        sys.exit("%s: %s" % (out, done.stderr))


def make_root(root):
    (root / "lib").mkdir()
    launcher = [*(ROOT / "runner/launcher" / s for s in SOURCES), *(ROOT / "src/isa" / s for s in ISA)]
    compile_to(root / "launch", "-static", *launcher)
    compile_to(root / "libetprof-level.so", "-shared", "-fPIC", ROOT / "runner/launcher" / "level_preload.c",
               *[ROOT / "src" / "isa" / s for s in ISA if s != "cpu.c"], "-ldl")
    compile_to(root / "init", "-static", HERE / "init.c")
    for kind in ("dynamic", "static", "static-pie"):
        flags = [] if kind == "dynamic" else ["-" + kind]
        compile_to(root / kind, HERE / "features.c", "-pthread", *flags)
        compile_to(root / (kind + "-stripped"), HERE / "features.c", "-pthread", "-s", *flags)
    for name in C_LIBRARIES:
        path = execute(CC, "-print-file-name=" + name).stdout.strip()
        shutil.copy(path, root / "lib" / name)


def add_runner(root):
    """A stock runner with the published libraries, and a convolution: the runner's own self-test."""
    folder = ROOT / "build" / "foreign" / "aarch64-linux-gnu"
    build.build("aarch64-linux-gnu", str(folder), ["stock"])
    shutil.copy(folder / "stock", root)
    sdk = pathlib.Path(build.sdk("aarch64-linux-gnu"))
    for name in SDK_LIBRARIES:
        shutil.copy(sdk / "lib" / name, root / "lib")
    (root / "conv.pte").write_bytes(build.selftest_model("conv"))


def runner_tests():
    """By ExecuTorch's names: a float convolution is PF32 with SME of either generation, F32 without."""
    rows = []
    for level, names, not_names in (("sme2", "NHWC, PF32", "NHWC, F32"), ("sme1", "NHWC, PF32", "NHWC, F32"),
                                    ("neon", "NHWC, F32", "NHWC, PF32")):
        rows.append(("/launch --level %s -- /stock --model_path=/conv.pte --etdump_path=/tmp/dump --cpu_threads=1"
                     % level, "Model executed successfully 1 time(s)", 0))
        rows.append(("show /tmp/dump", names, 0, not_names))
    return rows


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
    """(command line, expected text, expected status[, text that must not be there])"""
    rows = []
    for suffix in ("", "-stripped"):
        for level, text in LEVELS.items():
            rows.append(("/launch --level %s -- /dynamic%s" % (level, suffix), text, 0))
        for kind in ("static", "static-pie"):
            rows.append(("/launch --level neon -- /%s%s" % (kind, suffix), "linked statically", 125))
    rows.append(("/launch --level neon -- /dynamic thread", LEVELS["neon"], 0))
    rows.append(("/launch -- /static", LEVELS["sme2"], 0))
    rows.append(("/launch --level avx2 -- /dynamic", "no level avx2", 125))
    return rows


def run_machine(guest, root, lines, cpu="max,pauth-impdef=on,sme512=on", append="", kernel="vmlinuz",
                more=("-smp", "1")):
    """Runs the command lines in a machine of their own; what it printed."""
    (root / "tests").write_text("".join(line + "\n" for line in lines))
    initrd = str(root) + ".cpio"
    cpio(root, initrd)
    done = execute(guest + "/qemu", "-M", "virt", "-cpu", cpu, *more, "-m", "768", "-nographic", "-no-reboot",
                   "-kernel", guest + "/" + kernel, "-initrd", initrd, "-append",
                   "console=ttyAMA0 quiet panic=-1 rdinit=/init " + append, stdin=subprocess.DEVNULL, text=False)
    return done.stdout.decode("utf-8", "replace").replace("\r", "")


def boot(guest, root, rows, **options):
    """Runs the rows in a machine of their own; number of failures."""
    return check(rows, run_machine(guest, root, [row[0] for row in rows], **options))


def check(rows, text):
    pieces, failures = text.split("== "), 0
    if "== end" not in text or len(pieces) != len(rows) + 2:
        sys.exit("the machine did not run all tests:\n" + text[-3000:])
    said = pieces[0]
    for row, after in zip(rows, pieces[1:]):
        line, expected, status = row[:3]
        number, _, following = after.partition("\n")
        if expected not in said or int(number) != status or (len(row) > 3 and row[3] in said):
            failures += 1
            print("FAILED: %s: %s (%s), expected %s (%d)%s" % (line, said.strip()[-300:], number, expected, status,
                                                               "".join(", not " + r for r in row[3:])))
        said = following
    return failures


def main():
    if shutil.which(CC) is None:
        skip("no " + CC)
    done = execute(ROOT / "scripts" / "arm64-guest", *sys.argv[1:])
    if done.returncode != 0:
        skip(done.stderr.strip().splitlines()[-1])
    guest = done.stdout.strip()
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp) / "root"
        root.mkdir()
        make_root(root)
        neon = ("/launch --level neon -- /dynamic", LEVELS["neon"], 0)
        machines = [({"append": "arm64.nosme"}, [("/launch --level sme2 -- /dynamic", "this CPU has no SME2", 125),
                                                 neon]),
                    # cpuinfo believes this core's number, whatever is hidden
                    ({"cpu": "cortex-a76"}, [("/launch --level base -- /dynamic", "MIDR 0x41", 125)])]
        if os.path.exists(guest + "/vmlinuz-without-sme"):
            machines.append(({"kernel": "vmlinuz-without-sme"},
                             [("/launch --level sme2 -- /dynamic", "is built without SME and would hide it", 125),
                              neon]))
        else:
            print("left out: a kernel that hides SME (fetch the machine again: scripts/arm64-guest)")
        total = failures = 0
        for options, rows in machines:
            failures += boot(guest, root, rows, **options)
            total += len(rows)
        rows = tests()
        try:
            add_runner(root)
            rows += runner_tests()
        except build.Missing as reason:
            print("left out: ExecuTorch's kernels: %s" % reason)
        failures += boot(guest, root, rows)
        total += len(rows)
        print("%d of %d right" % (total - failures, total))
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
