# SPDX-License-Identifier: Apache-2.0
"""The aarch64 roof loops: what they compute, under QEMU on CPUs with and without SME and with several vector
lengths; what a trip executes, by the encodings in the object files (Arm's manual) times what one does. Speeds
under an emulator mean nothing and are not looked at.

usage: roofs.py SOURCE_DIR ETPROF"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

CC = os.environ.get("ETPROF_AARCH64_CC", "aarch64-linux-gnu-gcc")
FLAGS = "-std=c17 -O2 -fno-unroll-loops -D_GNU_SOURCE -Wall -Wextra -Werror".split()
CPUS = {  # CPU: (sums checked, products of the matrix unit checked)
    "max,sme512=on": (9, 4), "max,sme256=on": (9, 4), "max,sme128=on": (9, 4), "max,sve=off,sme512=on": (9, 4),
    "max,sme=off": (5, 0), "neoverse-n1": (4, 0), "cortex-a53": (2, 0),
}
# Loop: (symbol, mask and value of the encodings that count, operations of one at 512-bit vectors).
LOOPS = {
    ("neon", "fma_f32"): ("neon_fma_f32", [(0xffe0fc00, 0x4e20cc00, 2 * 4)]),          # fmla v.4s
    ("neon-fp16", "fma_f16"): ("neon_fma_f16", [(0xffe0fc00, 0x4e400c00, 2 * 8)]),     # fmla v.8h
    ("neon", "dot_i8"): ("neon_dot_i8", [(0xffe0fc00, 0x0e20c000, 2 * 8),              # smull v.8h, v.8b
                                         (0xffe0fc00, 0x4e208000, 2 * 8)]),            # smlal2 v.8h, v.16b
    ("dotprod", "dot_i8"): ("dotprod_dot_i8", [(0xffe0fc00, 0x4e809400, 2 * 16)]),     # sdot v.4s, v.16b
    ("i8mm", "dot_i8"): ("i8mm_dot_i8", [(0xffe0fc00, 0x4e80a400, 2 * 32)]),           # smmla v.4s
    ("sme", "fma_f32"): ("etp_sme_mopa_f32", [(0xffe0001c, 0x80800000, 2 * 256)]),     # fmopa za.s, z.s
    ("sme", "fma_f16"): ("etp_sme_mopa_f16", [(0xffe0001c, 0x81a00000, 2 * 2 * 256)]), # fmopa za.s, z.h
    ("sme", "dot_i8"): ("etp_sme_mopa_i8", [(0xffe0001c, 0xa0800000, 2 * 4 * 256)]),   # smopa za.s, z.b
    ("sme2", "fma_f32"): ("etp_sme2_fmla_f32", [(0xffe39c78, 0xc1a11800, 2 * 4 * 16)]), # fmla za.s, vgx4
}


def build(root, tmp):
    sources = ["src/roofs/roofs.c", "src/roofs/sets.c", "src/roofs/pool.c", "src/roofs/names.c",
               "tests/emulated/roof_loops.c"]
    sources += sorted(str(p.relative_to(root)) for p in (root / "src/roofs").glob("a64_*.c"))
    sources += [f"src/isa/{n}.c" for n in ("level", "text", "name", "cpu", "x86")]
    program = tmp / "roof_loops"
    subprocess.run([CC, *FLAGS, "-Isrc", "-I.", "-static", "-pthread", *sources, "-o", program], cwd=root, check=True)
    return program


def compute(qemu, program):
    for cpu, (sums, products) in CPUS.items():
        done = execute(qemu, "-cpu", cpu, program)
        assert done.returncode == 0, (cpu, done.returncode, done.stdout, done.stderr)
        assert f"{sums + products} checked, 0 wrong" in done.stdout, (cpu, done.stdout)
        print(f"{cpu}: {sums} loops' sums and {products} tables of products are right")


def loop_words(program, symbol):
    """Encodings from the target of the backward branch with the most of them in between, to it."""
    objdump = CC.replace("gcc", "objdump")
    text = execute(objdump, "-d", f"--disassemble={symbol}", program, check=True).stdout
    code = [(int(a, 16), int(w, 16), m, o) for a, w, m, o in
            re.findall(r"^ *([0-9a-f]+):\t([0-9a-f]{8}) \t(\S+)(.*)$", text, re.M)]
    bodies = []
    for i, (at, _, mnemonic, operands) in enumerate(code):
        target = re.search(r"\b([0-9a-f]{4,})\b <", operands)
        if mnemonic.startswith("b") and target and int(target[1], 16) <= at:
            bodies.append([w for a, w, _, _ in code[:i + 1] if a >= int(target[1], 16)])
    assert bodies, f"no loop in {symbol}"
    return bodies


def trips(qemu, program):
    listed = execute(qemu, "-cpu", "max,sme512=on", program, "--ops", check=True).stdout.splitlines()
    claimed = {tuple(line.split()[:2]): int(line.split()[2]) for line in listed if len(line.split()) == 3
               and line.split()[2].isdigit()}
    assert set(claimed) == set(LOOPS), claimed
    for loop, (symbol, encodings) in LOOPS.items():
        best = None
        for body in loop_words(program, symbol):
            hits = [(ops, sum(w & mask == value for w in body)) for mask, value, ops in encodings]
            best = max(best or (0, 0, 0), (sum(o * n for o, n in hits), sum(n for _, n in hits), len(body)))
        found, arithmetic, length = best
        # sadalp accompanies every pair of products of plain NEON.
        rest = length - arithmetic - (arithmetic // 2 if loop == ("neon", "dot_i8") else 0)
        assert found == claimed[loop] and rest <= 4, (loop, best, claimed[loop])
        print(f"{' '.join(loop)}: {found} operations in the loop's {length} instructions")


def device(root, etprof, qemu, tmp):
    """The same through the tool: checked, not timed."""
    bundle = root / "build" / "bundle" / "aarch64-linux-gnu"
    if not (bundle / "bundle.json").exists():
        print("the verb was not tried: no aarch64 runner bundle (scripts/build-runner aarch64-linux-gnu)")
        return
    help_text = execute(qemu, "-L", bundle, bundle / "ld-linux-aarch64.so.1", "--library-path", bundle,
                        bundle / "etprof-runner", "--help").stdout
    if "--roofs" not in help_text:
        print("the verb was not tried: the bundle's runner is older than --roofs (scripts/build-runner "
              "aarch64-linux-gnu)")
        return
    done = execute(etprof, "roofs", "--device", "qemu:max,sme512=on", "--format", "json", cwd=tmp,
                   env={**os.environ, "ETPROF_QEMU": qemu, "ETPROF_RUNNER": str(bundle)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["emulated"] is True
    assert {(r["isa"], r["what"]) for r in answer["roofs"]} == set(LOOPS), answer["roofs"]
    assert all(r["best"] is None and r["median"] is None for r in answer["roofs"])
    assert not (tmp / ".etprof" / "roofs").exists(), "an emulator's roofs were kept"
    print(f"etprof roofs --device qemu: {len(answer['roofs'])} loops checked, none timed")


def main():
    root, etprof = pathlib.Path(sys.argv[1]).absolute(), os.path.abspath(sys.argv[2])
    if not shutil.which(CC):
        skip(f"no {CC}")
    found = execute(root / "scripts" / "qemu")
    if found.returncode != 0:
        skip((found.stderr.strip().splitlines() or ["no QEMU with SME2"])[-1])
    qemu = found.stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        program = build(root, tmp)
        compute(qemu, program)
        trips(qemu, program)
        device(root, etprof, qemu, tmp)


main()
