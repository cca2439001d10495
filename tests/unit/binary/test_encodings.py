# SPDX-License-Identifier: Apache-2.0
"""The table of encodings (src/binary/encodings.c) against what others know: for thousands of encodings, written here by
their fields, the instruction set for which an assembler accepts the instruction that a disassembler reads in them.
x86-64: objdump and as of binutils. A64: LLVM's disassembler, which reads only what the features that it is given allow.
A part whose tools are missing is skipped aloud.

Usage: test_encodings.py CLASSIFY_CODE"""
import pathlib
import random
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from checks import execute, expect, finish, new_folder  # noqa: E402

AT_LEAST = 2000  # encodings that must be compared in each architecture


def classes_of(classify, architecture, encodings):
    text = "".join(f"{architecture} {e}\n" for e in encodings)
    return execute(classify, input=text, check=True).stdout.split()


def compare(classify, architecture, known):
    """KNOWN: encoding → (instruction, set of right classes)."""
    found = classes_of(classify, architecture, known)
    wrong = [(e, *known[e], f) for e, f in zip(known, found) if f not in known[e][1]]
    kinds = {}
    for e, text, right, f in wrong:
        kinds.setdefault((f, "/".join(sorted(right))), []).append(f"\n  {e} {text}: {f}, not {'/'.join(sorted(right))}")
    expect(not wrong, architecture, f"{len(wrong)} of {len(known)} encodings in another class",
           "".join("".join(random.Random(1).sample(k, min(len(k), 12))) for k in kinds.values()))
    expect(len(known) >= AT_LEAST, architecture, f"{len(known)} encodings compared, expected at least {AT_LEAST}")
    counts = {}
    for _, right in known.values():
        counts["/".join(sorted(right))] = counts.get("/".join(sorted(right)), 0) + 1
    print(f"{architecture}: {len(known)} encodings:", ", ".join(f"{k} {n}" for k, n in sorted(counts.items())))


# ---- x86-64 ----

def x86_encodings():
    """Every opcode of the maps with every prefix, both lengths and W, with a register and with memory."""
    for opcode in range(256):
        for pp in range(4):
            for tail in (b"\xc1\x01", b"\x04\x88\x01"):
                for map_ in (1, 2, 3, 5):
                    for w_l in (0x00, 0x04, 0x80, 0x84):
                        yield "vex", bytes([0xc4, 0xe0 | map_, 0x68 | w_l | pp, opcode]) + tail
                for map_ in (1, 2, 3, 5, 6):
                    for w in (0x00, 0x80):
                        yield "evex", bytes([0x62, 0xf0 | map_, 0x6c | w | pp, 0x48, opcode]) + tail
                        yield "evex", bytes([0x62, 0xf0 | map_, 0x6c | w | pp, 0x08, opcode]) + tail
                prefix = [b"", b"\x66", b"\xf3", b"\xf2"][pp]
                for escape in (b"\x0f", b"\x0f\x38", b"\x0f\x3a"):
                    if len(escape) > 1 or opcode not in (0x38, 0x3a):
                        yield "legacy", prefix + escape + bytes([opcode]) + tail


def disassembled(encodings, folder):
    """The instruction at the begin of each, 16 bytes apart, or None: objdump reads none of just these bytes."""
    blob = folder / "code.bin"
    blob.write_bytes(b"".join(e + b"\x90" * (16 - len(e)) for e in encodings))
    out = execute("objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64", "--insn-width=16", blob,
                  check=True).stdout
    texts = [None] * len(encodings)
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.*)", line)
        if m and int(m[1], 16) % 16 == 0 and "(bad)" not in m[3] and not m[3].startswith(("data16", "rep", "lock")):
            at, length = int(m[1], 16) // 16, len(m[2].split())
            if length in (len(encodings[at]), len(encodings[at]) - 1):
                texts[at] = re.sub(r"\s*[#<].*", "", m[3]).strip()
    return texts


def accepted(texts, march, folder):
    """For each text: does the assembler accept it for MARCH?"""
    source = folder / "all.s"
    source.write_text("\n".join(texts) + "\n")
    out = execute("as", f"-march={march}", "-o", "/dev/null", source)
    assert "-march" not in out.stderr, out.stderr
    bad = {int(n) for n in re.findall(r"all\.s:(\d+): Error", out.stderr)}
    return [i + 1 not in bad for i in range(len(texts))]


WIDE = "+avx512f+avx512cd+avx512dq+avx512bw+avx512vl+avx512vbmi+avx512_vbmi2+avx512ifma+avx512_vpopcntdq" \
       "+avx512_bitalg+avx512_vp2intersect+avx512_4vnniw+avx512_4fmaps+avx512er+avx512pf"
NARROW = "+avx2+fma+f16c"
# By class, what a CPU needs for it beside general registers; the first that is enough decides.
X86_SETS = [
    ("scalar", "+nosse+nommx+bmi+bmi2+lzcnt+popcnt+adx+movbe+cmpccxadd+rdpid+tbm+lwp"),
    ("sse", "+sse4.2+sse4a"),
    ("avx", "+avx"),
    ("f16c", "+avx+f16c"),
    ("fma", "+avx+fma"),
    ("avx2", "+avx2"),
    ("avx2", NARROW),
    ("avx-vnni", NARROW + "+avx_vnni"),
    ("avx-vnni-int8", NARROW + "+avx_vnni_int8"),
    ("avx-ne-convert", NARROW + "+avx_ne_convert"),
    ("gfni", "+gfni"),
    ("gfni", NARROW + "+gfni"),
    ("avx512", WIDE),
    ("avx512-vnni", WIDE + "+avx512_vnni"),
    ("avx512-bf16", WIDE + "+avx512_bf16"),
    ("avx512-fp16", WIDE + "+avx512_fp16"),
    ("gfni", WIDE + "+gfni"),
    ("amx", "+amx_tile"),
    ("amx-int8", "+amx_tile+amx_int8"),
    ("amx-bf16", "+amx_tile+amx_bf16"),
    ("amx-fp16", "+amx_tile+amx_fp16"),
]
# What the sets have beside them; what is in none, such as encryption, is compared with nothing.
NO_ARITHMETIC = re.compile(r"^(v?aes|sha|v?pclmul|crc32|movnti|v?maskmov|prefetch|nop|sfence|[fx]|ld|st|ud|cmov|set|j)")


def x86(classify):
    if not (shutil.which("as") and shutil.which("objdump")):
        print("skipped: x86-64: no as and objdump of binutils", flush=True)
        return False
    folder = new_folder()
    all_ = list(x86_encodings())
    texts = disassembled([e for _, e in all_], folder)
    read = []
    for (space, e), text in zip(all_, texts):
        misread = text and "dbpsadbw" in text and e[2] & 3 != 1  # 2.40 does not look at the prefix
        if text is None or misread or NO_ARITHMETIC.match(text) or (space == "legacy" and "%xmm" not in text):
            continue
        vector = space != "legacy" and not text.startswith("{") and not re.match("[kt]|ld|st", text)
        read.append((e, f"{{{space}}} {text}" if vector else text))
    right = [None] * len(read)
    probe = accepted(["nop"], "generic64+avx512_fp16+amx_fp16+avx_vnni_int8", folder)
    if not all(probe):
        print("skipped: x86-64: this as is older than 2.40", flush=True)
        return False
    for code, extra in X86_SETS:
        for i, ok in enumerate(accepted([t for _, t in read], "generic64" + extra, folder)):
            right[i] = right[i] or (code if ok else None)
    compare(classify, "x86", {e.hex(): (t, {r}) for (e, t), r in zip(read, right) if r})
    return True


# From Intel's manuals (AVX10.2, and instruction set extensions, 319433): newer than the assembler above.
X86_BY_HAND = [
    ("62f26f4850c1", "vpdpbssd zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26e4850c1", "vpdpbsud zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26c4851c1", "vpdpbuuds zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26e48d2c1", "vpdpwsud zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26d48d3c1", "vpdpwusds zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26c4852c1", "vdpphps zmm0,zmm2,zmm1", "avx10.2"),
    ("62f36e4842c101", "vmpsadbw zmm0,zmm2,zmm1,1", "avx10.2"),
    ("62f36c4852c101", "vminmaxph zmm0,zmm2,zmm1,1", "avx10.2"),
    ("62f36d4852c101", "vminmaxps zmm0,zmm2,zmm1,1", "avx10.2"),
    ("62f56d4858c1", "vaddbf16 zmm0,zmm2,zmm1", "avx10.2"),
    ("62f56d4859c1", "vmulbf16 zmm0,zmm2,zmm1", "avx10.2"),
    ("62f66c48b8c1", "vfmadd231bf16 zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26f4874c1", "vcvt2ph2bf8 zmm0,zmm2,zmm1", "avx10.2"),
    ("62f56f4818c1", "vcvt2ph2hf8 zmm0,zmm2,zmm1", "avx10.2"),
    ("62f26d4867c1", "vcvt2ps2phx zmm0,zmm2,zmm1", "avx10.2"),
    ("62f57d4868c1", "vcvttps2ibs zmm0,zmm1", "avx10.2"),
    ("62f57f4868c1", "vcvttbf162ibs zmm0,zmm1", "avx10.2"),
    ("62f26e4852c1", "vdpbf16ps zmm0,zmm2,zmm1", "avx512-bf16"),
    ("62f26f485200", "vp4dpwssd zmm0,zmm2,[rax]", "avx512"),
    ("62f66d48b8c1", "vfmadd231ph zmm0,zmm2,zmm1", "avx512-fp16"),
    ("c4e26ed2c1", "vpdpwsud ymm0,ymm2,ymm1", "avx-vnni-int16"),
    ("c4e26dd2c1", "vpdpwusd ymm0,ymm2,ymm1", "avx-vnni-int16"),
    ("c4e26cd3c1", "vpdpwuuds ymm0,ymm2,ymm1", "avx-vnni-int16"),
    ("c4e26bb1c1", "not assigned: VEX.F2 B1", "avx"),
    ("c4e568fdc1", "tdpbf8ps tmm0,tmm1,tmm2", "amx-fp8"),
    ("c4e56bfdc1", "tdpbhf8ps tmm0,tmm1,tmm2", "amx-fp8"),
    ("c4e56afdc1", "tdphbf8ps tmm0,tmm1,tmm2", "amx-fp8"),
    ("c4e569fdc1", "tdphf8ps tmm0,tmm1,tmm2", "amx-fp8"),
    ("c4e26948c1", "tmmultf32ps tmm0,tmm1,tmm2", "amx-tf32"),
    ("c4e2696cc1", "tcmmimfp16ps tmm0,tmm1,tmm2", "amx-fp16"),
    ("62f47c180100", "add with a new destination (APX)", "scalar"),
]


def by_hand(classify):
    for (e, text, right), found in zip(X86_BY_HAND, classes_of(classify, "x86", [c[0] for c in X86_BY_HAND])):
        expect(found == right, f"{e} {text}: {found}, not {right}")


# ---- A64 ----

def a64_words(rng):
    """Random words of the groups that vectors and matrices have, most of them near what is assigned."""
    for _ in range(16000):
        group = rng.choice((0x0, 0x2, 0x2, 0x7, 0x7, 0xf, 0xf))
        word = rng.getrandbits(32) & ~(15 << 25) | group << 25
        yield word | (1 << 31) if group == 0 else word
    for _ in range(4000):  # three vectors, and one by element
        yield rng.getrandbits(32) & 0x60e0ffff | 0x0e000000 | rng.getrandbits(5) << 16
        yield rng.getrandbits(32) & 0x60fff7ff | 0x0f000000


ARM_SETS = [  # the first that is enough decides; two names: either is right
    ({"scalar", "neon"}, "+v8a"),
    ({"fp16"}, "+fullfp16"),
    ({"scalar", "neon"}, "+rdm,+complxnum,+jsconv,+sha2,+sha3,+sm4,+aes"),
    ({"fp16"}, "+fullfp16,+complxnum"),
    ({"dotprod"}, "+dotprod"),
    ({"fhm"}, "+fullfp16,+fp16fml"),
    ({"i8mm"}, "+i8mm"),
    ({"bf16"}, "+bf16"),
    ({"scalar", "neon", "fp16"}, "+lut,+faminmax,+fp8,+fp8fma,+fp8dot2,+fp8dot4"),
    ({"sve"}, "+sve,+i8mm,+bf16,+f32mm,+f64mm"),
    ({"sve2"}, "+sve2,+sve2-aes,+sve2-sm4,+sve2-sha3,+sve2-bitperm"),
    ({"sme2", "sve2"}, "+sve2p1,+sve-b16b16"),
    ({"sme"}, "+sme,+sme-f64f64,+sme-i16i64"),
    ({"sme2"}, "+sme2,+sme-f64f64,+sme-i16i64"),
    ({"sme2"}, "+sme2p1,+sme-f16f16,+sme-b16b16,+b16b16"),
    ({"sme2", "sve2"}, "+sve2p1,+fp8,+fp8fma,+fp8dot2,+fp8dot4,+lut,+faminmax,+ssve-fp8fma,+ssve-fp8dot2,"
                       "+ssve-fp8dot4"),
    ({"sme2"}, "+sme2p1,+fp8,+sme-f8f16,+sme-f8f32,+sme-lutv2"),
]


def read_with(llvm, words, features):
    """For each word its instruction where these features allow one, else None."""
    text = "".join(" ".join(f"0x{b:02x}" for b in w.to_bytes(4, "little")) + "\n" for w in words)
    out = execute(llvm, "-disassemble", "-triple=aarch64", f"-mattr={features}", input=text)
    bad = {int(n) - 1 for n in re.findall(r"<stdin>:(\d+):\d+: warning: (?:invalid|potentially)", out.stderr)}
    texts = [line.strip() for line in out.stdout.splitlines() if line.startswith("\t") and ".text" not in line]
    good = iter(texts)
    found = [None if i in bad else next(good, None) for i in range(len(words))]
    return found if len(texts) == len(words) - len(bad) else None


def newest_llvm():
    names = [f"llvm-mc-{n}" for n in range(30, 17, -1)] + ["llvm-mc"]
    for name in filter(shutil.which, names):
        if read_with(name, [0xc0480001], "+sme2") == ["zero\t{ zt0 }"]:
            return name
    return None


def a64(classify):
    llvm = newest_llvm()
    if not llvm:
        print("skipped: A64: no llvm-mc that knows SME2 (18 or newer)", flush=True)
        return False
    words = sorted(set(a64_words(random.Random(34))))
    known, left = {}, words
    for right, features in ARM_SETS:
        found = read_with(llvm, left, features)
        if found is None:
            print(f"skipped: A64: {llvm} does not read with {features}", flush=True)
            return False
        for w, text in zip(left, found):
            if text:
                known[f"{w:08x}"] = (text.replace("\t", " "), right)
        left = [w for w, text in zip(left, found) if not text]
    compare(classify, "a64", known)
    return True


def main():
    classify = sys.argv[1]
    by_hand(classify)
    both = [x86(classify), a64(classify)]
    finish(code=0 if all(both) else 77)


main()
