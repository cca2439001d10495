# SPDX-License-Identifier: Apache-2.0
"""Where functions without symbol and unwind data begin and end, against those who know: the assembler on
code made for it, the compiler's unwind tables of the published libraries (hidden from etprof), and the
macOS build of the same hand-written kernels, whose linker lists its functions.

usage: test_bounds.py FUNCTION_BOUNDS [LIBRARY ...]: without libraries those of the built bundles.
"""
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
LIBRARY = "sdk/libexecutorch_backend_xnnpack"
LIBRARIES = [pathlib.Path(p) for p in sys.argv[2:]] or [
    ROOT / f"build/bundle/{t}-linux-gnu/{LIBRARY}.so" for t in ("x86_64", "aarch64")]
MAC = next((p for p in (ROOT / f"build/bundle/arm64-macos/{LIBRARY}.dylib",
                        ROOT / f".cache/sdk/arm64-macos/executorch/lib/{pathlib.Path(LIBRARY).name}.dylib")
            if p.exists()), None)


def bounds(path):
    """[(begin, end, who says so, name)] as etprof sees the file."""
    done = subprocess.run([str(TOOL), str(path)], capture_output=True, text=True, timeout=600, check=True)
    rows = [line.split(" ", 3) for line in done.stdout.splitlines()]
    return [(int(r[0], 16), int(r[1], 16), r[2], r[3]) for r in rows]


def output(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=600, check=True).stdout


# ---- code made for it ----

X86 = {
    "head": [],
    "work": ["add %rsi, %rax", "vpaddd %zmm0, %zmm1, %zmm2", "vpdpbusd %zmm0, %zmm1, %zmm2", "mov (%rdi), %rcx",
             "vfmadd231ps %ymm0, %ymm1, %ymm2", "lea 8(%rdi), %rdi", "call *%rdx"],
    "branch": "jne", "jump": "jmp", "ret": "ret", "compare": "cmp %rsi, %rdi", "fill": "0x90",
}
A64 = {
    "head": [".arch armv8.2-a+dotprod"],
    "work": ["add x0, x0, x1", "fmla v0.4s, v1.4s, v2.4s", "sdot v0.4s, v1.16b, v2.16b", "ldr x3, [x0]", "blr x4"],
    "branch": "b.ne", "jump": "b", "ret": "ret", "compare": "cmp x0, x1", "fill": "",
}


def body(rng, words, name, others):
    """A function: loops, an early return, a tail that is jumped to, a way out by return or tail call."""
    lines = [rng.choice(words["work"]) for _ in range(rng.randint(1, 12))]
    for k in range(rng.randint(0, 4)):
        lines += [f".L{name}_{k}:"] + [rng.choice(words["work"]) for _ in range(rng.randint(1, 9))]
        lines += [words["compare"], f"{words['branch']} .L{name}_{k}"]
    if rng.random() < 0.5:  # returns early; what follows is reached by a branch over it
        lines += [words["compare"], f"{words['branch']} .L{name}_tail", rng.choice(words["work"]), words["ret"],
                  f".L{name}_tail:"]
        lines += [rng.choice(words["work"]) for _ in range(rng.randint(1, 9))]
    if rng.random() < 0.3:  # jumps over a part that jumps back
        lines += [f"{words['jump']} .L{name}_check", f".L{name}_loop:", rng.choice(words["work"]), words["ret"]
                  if rng.random() < 0.3 else words["compare"],
                  f".L{name}_check:", words["compare"], f"{words['branch']} .L{name}_loop"]
    lines.append(f"{words['jump']} {rng.choice(others)}" if others and rng.random() < 0.15 else words["ret"])
    return lines


def source(rng, words, count):
    """Hand-written assembly as libraries have it: no unwind data, some data between, a table of all kernels."""
    text, names = words["head"] + [".text"], []
    for i in range(count):
        name = f"kernel{i}"
        if rng.random() < 0.2:
            text += [".p2align 6", ".long " + ", ".join(str(2 * k) for k in range(rng.randint(4, 16)))]
        text += [f".p2align {rng.choice([4, 4, 5, 6])}" + (f", {words['fill']}" if words["fill"] else ""),
                 f".type {name}, %function", f"{name}:"]
        text += body(rng, words, name, names[-3:])
        text.append(f".size {name}, . - {name}")
        names.append(name)
    return "\n".join(text + [".section .data.rel.ro, \"aw\"", ".p2align 3"] + [f".quad {n}" for n in names]) + "\n"


class MadeCode(unittest.TestCase):
    def check(self, compiler, strip, words):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        with tempfile.TemporaryDirectory() as scratch:
            for seed in range(8):
                with self.subTest(seed=seed):
                    s, so, bare = (pathlib.Path(scratch) / n for n in ("k.s", "k.so", "bare.so"))
                    s.write_text(source(random.Random(seed), words, 60))
                    output(compiler, "-shared", "-nostdlib", "-Wl,-z,separate-code", "-o", so, s)
                    output(strip, "--strip-all", "-o", bare, so)
                    wanted = {}
                    for line in output("readelf", "-sW", so).splitlines():
                        w = line.split()
                        if len(w) == 8 and w[3] == "FUNC" and w[6] != "UND":
                            wanted[int(w[1], 16)] = int(w[1], 16) + int(w[2])
                    found = {a: e for a, e, who, _ in bounds(bare) if who == "flow"}
                    self.assertEqual(len(wanted), 60)
                    self.assertEqual(set(wanted) - set(found), set(), "not found")
                    self.assertEqual({a: e for a, e in found.items() if a in wanted}, wanted, "ends")
                    inside = [hex(a) for a in found if any(b < a < e for b, e in wanted.items())]
                    self.assertEqual(inside, [], "begins inside functions")

    def test_x86(self):
        self.check("x86_64-linux-gnu-gcc", "x86_64-linux-gnu-strip", X86)

    def test_a64(self):
        self.check("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-strip", A64)


# ---- published libraries ----

def sections(data):
    offset, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [(offset + 64 * i, struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i)) for i in range(count)]
    base = rows[names][1][4]
    return [(bytes(data[base + r[0]:data.index(b"\0", base + r[0])]).decode(), at, r) for at, r in rows]


def hide_tables(path, to):
    """A copy without symbols and unwind data; where the text is."""
    data = bytearray(path.read_bytes())
    text = None
    for name, at, row in sections(data):
        if name == ".text":
            text = (row[3], row[3] + row[5])
        if name == ".eh_frame" or row[1] in (2, 11):
            struct.pack_into("<I", data, at + 4, 0)
            struct.pack_into("<Q", data, at + 32, 0)
    to.write_bytes(data)
    return text


class Published(unittest.TestCase):
    def test_compiled_code_without_its_tables(self):
        """Far harder than the gaps that are filled in practice: 3,600 compiled functions in one piece."""
        present = [p for p in LIBRARIES if p.exists()]
        if not present:
            self.skipTest("no bundle is built")
        for path in present:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as scratch:
                blind = pathlib.Path(scratch) / "blind.so"
                first, last = hide_tables(path, blind)
                truth = {a: e for a, e, who, _ in bounds(path) if who == "unwind" and first <= a < last}
                found = {a: e for a, e, _, _ in bounds(blind)}
                hit = set(truth) & set(found)
                covered = bytearray(last - first)
                for a, e in truth.items():
                    covered[a - first + 1:e - first] = b"\1" * (e - a - 1)
                wrong = [a for a in found if first <= a < last and covered[a - first]]
                ends = sum(found[a] == truth[a] for a in hit)
                print(f"{path.parent.parent.name}: {len(truth)} functions, recall {len(hit) / len(truth):.4f}, "
                      f"precision {len(hit) / (len(hit) + len(wrong)):.4f}, ends right {ends / len(hit):.4f}")
                self.assertGreater(len(truth), 1000)
                self.assertGreater(len(hit) / len(truth), 0.97)
                self.assertGreater(len(hit) / (len(hit) + len(wrong)), 0.80)
                self.assertGreater(ends / len(hit), 0.95)

    def test_assembly_as_the_macos_linker_lists_it(self):
        linux = ROOT / f"build/bundle/aarch64-linux-gnu/{LIBRARY}.so"
        if not MAC or not linux.exists():
            self.skipTest("no libraries of both systems")
        def words(path, rows):
            data = path.read_bytes()
            base = 0
            for _, _, r in (sections(data) if data[:4] == b"\x7fELF" else []):
                base = r[3] - r[4] if r[2] & 4 else base
            for a, e, who, _ in rows:
                code = struct.unpack_from(f"<{(e - a) // 4}I", data, a - base)
                yield a, who, [w for w in code if w not in (0xd503245f, 0xd503201f, 0)]  # bti c, nop, padding
        mac = {}
        for _, _, code in words(MAC, bounds(MAC)):
            mac.setdefault(tuple(code[:3]), []).append(code)
        same = near = 0
        other = []
        for a, who, code in words(linux, bounds(linux)):
            if who != "flow" or len(code) < 64:
                continue
            twins = mac.get(tuple(code[:3]), [])
            # Apple's calling convention costs or saves an instruction or two (x18).
            if code in twins:
                same += 1
            elif any(abs(len(t) - len(code)) <= 2 and t[-8:] == code[-8:] for t in twins):
                near += 1
            else:
                other.append(hex(a))
        print(
            f"hand-written A64 kernels without a table: {same} as on macOS, {near} but for two instructions, "
            f"{len(other)} not there"
        )
        self.assertGreater(same + near, 0.85 * (same + near + len(other)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
