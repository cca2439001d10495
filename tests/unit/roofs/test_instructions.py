# SPDX-License-Identifier: Apache-2.0
"""What a trip of each roof loop executes, from two sides that know nothing of our sources: callgrind counts
the instructions that ran (it knows no AVX-512), and the disassembled body of every loop must hold just the
arithmetic that the claimed number of operations needs.

usage: test_instructions.py ROOF_TRIPS"""
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from checks import execute, skip

WIDTH = {"x": 128, "y": 256, "z": 512}


# Operations of one instruction of that mnemonic on registers of that many bits: Intel's and Arm's manuals.
OPS = {
    "mulps": lambda b: b // 32, "addps": lambda b: b // 32,
    "vfmadd231ps": lambda b: 2 * b // 32, "vfmadd132ps": lambda b: 2 * b // 32, "vfmadd213ps": lambda b: 2 * b // 32,
    "vfmadd231ph": lambda b: 2 * b // 16, "vfmadd132ph": lambda b: 2 * b // 16, "vfmadd213ph": lambda b: 2 * b // 16,
    "vpdpbusd": lambda b: 2 * b // 8,
    # Three instructions make b / 8 products and their sums: the multiplying one stands for all.
    "pmaddubsw": lambda b: 2 * b // 8, "vpmaddubsw": lambda b: 2 * b // 8,
    "pmaddwd": lambda b: 0, "vpmaddwd": lambda b: 0, "paddd": lambda b: 0, "vpaddd": lambda b: 0,
}
COMPANIONS = {"pmaddubsw": ("pmaddwd", "paddd")}
# Symbols are file-local names of the loops; what runs is found by them.
SYMBOL = {
    ("sse", "fma_f32"): "sse_fma_f32", ("ssse3", "dot_i8"): "ssse3_dot_i8", ("avx2", "fma_f32"): "avx2_fma_f32",
    ("avx2", "dot_i8"): "avx2_dot_i8", ("avx512", "fma_f32"): "avx512_fma_f32",
    ("avx512", "dot_i8"): "avx512_dot_i8", ("avx512-vnni", "dot_i8"): "vnni_dot_i8",
    ("avx512-fp16", "fma_f16"): "fp16_fma_f16",
}
READERS = {"sse": "sse_read", "avx2": "avx2_read", "avx512": "avx512_read"}
CALLGRIND = {"sse", "ssse3", "avx2"}


def disassemble(program, symbol):
    """[(address, mnemonic, operands)]"""
    text = execute("objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", program, check=True).stdout
    found = re.findall(r"^ *([0-9a-f]+):\t(\S+) *(.*)$", text, re.M)
    assert found, f"no code of {symbol}"
    return [(int(a, 16), m, o) for a, m, o in found]


def loop_body(code, counts=OPS.__contains__):
    """The loop with the most instructions that count: from the target of a backward jump to the jump."""
    bodies = []
    for i, (at, mnemonic, operands) in enumerate(code):
        target = re.match(r"([0-9a-f]+)", operands)
        if mnemonic.startswith("j") and target and int(target[1], 16) <= at:
            start = int(target[1], 16)
            bodies.append([c for c in code[:i + 1] if c[0] >= start])
    assert bodies, "no loop"
    return max(bodies, key=lambda b: sum(counts(c[1]) for c in b))


def ops_of(body):
    total, count = 0, {}
    for _, mnemonic, operands in body:
        if mnemonic in OPS:
            bits = max(WIDTH[w] for w in re.findall(r"%([xyz])mm", operands))
            total += OPS[mnemonic](bits)
            count[mnemonic] = count.get(mnemonic, 0) + 1
    for lead, others in COMPANIONS.items():
        for mnemonic, n in list(count.items()):
            if mnemonic.endswith(lead):
                for other in others:
                    assert count.get(mnemonic.replace(lead, other)) == n, count
    return total, count


def callgrind(program, isa, what, trips):
    r = execute("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, isa, what, trips)
    found = re.search(r"Collected : (\d+)", r.stderr)
    assert r.returncode == 0 and found, r.stderr
    return int(found[1])


def reader(program, isa, here):
    """A trip loads just the bytes by which its pointer moves on, and asked for N bytes it runs N ÷ that trips."""
    body = loop_body(disassemble(program, READERS[isa]), counts=lambda m: m.endswith(("xor", "xorq", "xord", "xorps")))
    loads = [o for _, _, o in body if re.search(r"\(%r", o) and re.search(r"%[xyz]mm", o)]
    moved = sum(max(WIDTH[w] for w in re.findall(r"%([xyz])mm", o)) // 8 for o in loads)
    steps = [int(o.split(",")[0].strip("$"), 16) for _, m, o in body if m.startswith(("add", "sub")) and o[0] == "$"]
    steps = [min(s, (1 << 64) - s) for s in steps]  # compilers subtract -128 where adding 128 takes more bytes
    copies = sum(m.startswith(("mov", "vmov")) for _, m, _ in body)
    ok = steps == [moved] and len(body) - copies - len(loads) <= 2 * len(loads)
    text = f"{isa} read: {moved} bytes in the loop's {len(body)} instructions, its pointer moves by {steps}"
    if isa in CALLGRIND and here and shutil.which("valgrind"):
        trips = (1 << 21) // moved
        ran = (callgrind(program, isa, "read", 1 << 22) - callgrind(program, isa, "read", 1 << 21)) / trips
        ok = ok and abs(ran - len(body)) < 0.05
        text += f", {ran:.2f} ran in a trip"
    print(text + (": ok" if ok else ": WRONG"))
    return ok


def main():
    program = sys.argv[1]
    if not shutil.which("objdump"):
        skip("no objdump")
    failed = False
    listed = execute(program, check=True).stdout.split("\n")[:-1]
    readers = {(isa, "read") for isa in READERS}
    assert {tuple(line.split()[:2]) for line in listed} == set(SYMBOL) | readers, listed
    for line in listed:
        isa, what, claimed, here = line.split()
        if what == "read":
            failed = not reader(program, isa, int(here)) or failed
            continue
        body = loop_body(disassemble(program, SYMBOL[isa, what]))
        found, count = ops_of(body)
        arithmetic = sum(count.values())
        # Beside the arithmetic only the counting of trips, and copies of an operand where two-operand
        # instructions destroy one.
        copies = sum(m.startswith(("mov", "vmov")) for _, m, _ in body)
        rest = len(body) - arithmetic - copies
        ok = found == int(claimed) and rest <= 4 and copies <= arithmetic // 3 + 2
        text = f"{isa} {what}: {found} operations in the loop's {len(body)} instructions, claimed {claimed}"
        if isa in CALLGRIND and int(here) and shutil.which("valgrind"):
            ran = (callgrind(program, isa, what, 20000) - callgrind(program, isa, what, 10000)) / 10000
            ok = ok and abs(ran - len(body)) < 0.05
            text += f", {ran:.2f} ran in a trip"
        print(text + (": ok" if ok else ": WRONG"))
        failed = failed or not ok
    if not shutil.which("valgrind"):
        print("no valgrind: what ran was not counted")
    sys.exit(failed)


main()
