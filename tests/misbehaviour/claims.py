# SPDX-License-Identifier: Apache-2.0
"""etprof verify-claim: sentences that are true of planted times and of what ExecuTorch's Inspector says are confirmed;
of 1,000 that somebody tampered with none is.

usage: claims.py ETPROF FAKE_RUNNER DATA"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE, DATA = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
CODES = {0: "confirmed", 1: "contradicted", 3: "not in the data"}
# What the fake runner was told: 1 ms at sme2, 3 ms at neon.
MODEL = b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n"
# ExecuTorch's Inspector, mixed_xnnpack_fp32.etdump.tsv: avg of native_call_cumsum.out in ms.
CUMSUM_MS = 0.000227
DUMP_SAYS = ((("op2", "Reduction"), "takes", "0.227", "us", "in mixed_xnnpack_fp32"),
             (("op2", "Reduction"), "takes", "7.1", "%", "in mixed_xnnpack_fp32")) # of Method::execute, 0.00317833
# What README shows of tests/data/session.tar.xz: who, verb, figure, unit, the rest.
SESSION_SAYS = ((("vnni", "linux_vnni"), "is", "1.50", "x", "faster than avx2"),
                (("avx2",), "is", "1.50", "x", "slower than linux_vnni"),
                (("vnni", "linux_vnni"), "takes", "4.148", "ms", ""), (("avx2",), "takes", "6.242", "ms", ""),
                (("GEMM",), "takes", "0.950", "ms", "in vnni"), (("GEMM",), "takes", "2.205", "ms", "in linux_avx2"),
                (("Convolution",), "takes", "0.379", "ms", "in linux_vnni"),
                (("Convolution",), "takes", "1.317", "ms", "in avx2"),
                (("Data movement",), "takes", "31", "%", "in vnni"),
                (("op30",), "takes", "102.86", "us", "in vnni"), (("op31",), "takes", "101.61", "us", "in avx2"))
DUMP = DATA / "mixed_xnnpack_fp32.etdump"
EMULATED = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"


def ask(sentence, *where, code=None):
    done = subprocess.run([ETPROF, "verify-claim", sentence, *where, "--format", "json"], capture_output=True,
                          text=True, timeout=120, check=False)
    if done.returncode not in CODES:
        expect(code == done.returncode, sentence, f"exit {done.returncode}: {done.stderr}")
        return None
    document = json.loads(done.stdout)
    expect(document["schema"] == "etprof.claim/1" and document["state"] == CODES[done.returncode], sentence, document)
    expect(document["claim"] == sentence and document["why"], sentence, document)
    return document["state"]


def tampered(rng, run):
    """(a false sentence, where)"""
    factor = rng.choice([rng.uniform(0.05, 0.97), rng.uniform(1.03, 20)])
    ratio, fast, slow = 3.0 * factor, 1.0 * factor, 3.0 * factor
    digits = rng.choice([2, 3, 4])
    say = rng.choice([
        f"sme2 is {ratio:.{digits}f}x faster than neon", f"neon is {ratio:.{digits}f}x slower than sme2",
        f"linux_sme2_on is {ratio:.{digits}f} times faster than linux_sme2_off",
        f"sme2 takes {fast:.{digits}f} ms", f"neon takes {slow * 1000:.1f} us", f"neon takes {slow / 1000:.6f} s",
        f"sme2 is 3.00x slower than neon{'.' * rng.randint(0, 3)}", "neon is 3.00x faster than sme2",
        "sme2 is slower than neon", "neon is faster than sme2", "sme2 is as fast as neon", "neon is as fast as sme2",
        f"sme1 is {ratio:.2f}x faster than neon", f"N{rng.randint(1, 99)} saves {fast:.2f} ms",
        f"op{rng.randint(100, 999)} takes {fast:.3f} ms in sme2", "the outputs differ",
        f"sme2 takes 1.00 {rng.choice(['s', 'us', 'ns', '%', 'x'])}", "sme2 takes 3.00 ms", "neon takes 1.00 ms",
        f"sme2 is 3.00x faster than neon and N{rng.randint(1, 9)} saves {fast:.2f} ms",
        f"sme2 is 3.00x faster than neon on {rng.choice(['phones', 'every model', 'a Mac'])}",
        f"sme2 is -{ratio:.2f}x faster than neon", "sme2 is 3.00e0x faster than neon", "sme2 is 3x faster than neon",
        "sme2 is nanx faster than neon", "sme2 is 0x3.00x faster than neon", "sme2 is 3.0.0x faster than neon",
        f"we believe that sme2 is {rng.choice(['3.00x', '3.00 times'])} faster than neon",
    ])
    if rng.random() < 0.15:
        return f"op1 takes {CUMSUM_MS * factor * 1000:.4f} us in {rng.choice(['mixed', 'sme2', 'nothing'])}", DUMP
    return say, run


def sentence_of(who, verb, figure, unit, rest):
    return f"{who} {verb} {figure}{'' if unit in 'x%' else ' '}{unit} {rest}".strip()


def spoiled(rng, says):
    """A sentence that is not borne out, one thing in it being another: the last digit that was given, or a larger
    change; the unit; who; the arm; the direction; or with words that claim more than figures can say."""
    who, verb, figure, unit, rest = rng.choice(says)
    who, digits = rng.choice(who), len(figure.partition(".")[2])
    way = rng.randrange(7)
    if way <= 1:
        step = 10**-digits if way else float(figure) * rng.uniform(0.02, 3)
        figure = f"{float(figure) + max(step, 10**-digits) * rng.choice([1, -1] if way else [1]):.{digits}f}"
    elif way == 2:
        unit = rng.choice([u for u in ("s", "ms", "us", "ns", "%", "x") if u != unit])
    elif way == 3:
        who = rng.choice([w for w in ("N1", "N2", "N9", "op35", "op999", "Elementwise", "sme2", "vnni2")
                          if w != who])
    elif way == 4 and " in " in f" {rest}":
        rest = rng.choice(["in sse", "in vnni and avx2", "in phones"])
    elif way == 4 or way == 5:
        turned = {"faster than avx2": "slower than avx2", "slower than linux_vnni": "faster than linux_vnni"}
        verb, rest = (verb, turned[rest]) if rest in turned else (rng.choice(["wastes", "takes at most", "is"]), rest)
    else:
        rest += rng.choice([" because the caches are warm", " due to VNNI", " thanks to N1", " on every phone",
                            " and always will", ", which proves it"])
    return sentence_of(who, verb, figure, unit, rest)


def unpacked():
    with tarfile.open(DATA / "session.tar.xz") as archive:
        archive.extractall("session")
    return "session"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("model.pte").write_bytes(MODEL)
        subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                        "--warmup", "3", "--seed", "7", "--quiet", "--out", "run", "--runner", FAKE], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for sentence in ("sme2 is 3.00x faster than neon", "sme2 is 3.0 times faster than neon.",
                         "neon is 3.0x slower than sme2", "sme2 is faster than neon", "neon is slower than sme2",
                         "sme2 takes 1.0 ms", "neon takes 3.00 ms", "neon takes 3000 us",
                         "linux_sme2_on takes 1.00 ms"):
            expect(ask(sentence, "run") == "confirmed", sentence)
        for sentence in ("sme2 is 2.00x faster than neon", "neon takes 1.5 ms", "sme2 is slower than neon"):
            expect(ask(sentence, "run") == "contradicted", sentence)
        for sentence in ("it is fast", "N1 saves 0.70 ms", "sme1 takes 1.0 ms", "sme2 is 3x faster than neon"):
            expect(ask(sentence, "run") == "not in the data", sentence)
        ask("", "run", code=2)
        ask("x" * 400, "run", code=2)
        doc = json.loads(subprocess.run([ETPROF, "analyze", DUMP, "--format", "json"], capture_output=True, text=True,
                                        check=True).stdout)
        kernel = next(o["id"] for o in doc["operators"] if "cumsum" in o["label"])
        expect(ask(f"{kernel} takes 0.227 us", DUMP) == "confirmed", "cumsum")
        expect(ask(f"{kernel} takes 0.228 us", DUMP) == "contradicted", "cumsum")
        true = ((SESSION_SAYS, unpacked()), (DUMP_SAYS, DUMP))
        for says, where in true:
            for names, *rest in says:
                for who in names:
                    sentence = sentence_of(who, *rest)
                    expect(ask(sentence, where) == "confirmed", sentence)
        for sentence in ("N1 saves 0.94 ms", "N2 saves 0.21 ms"): # predicted, and measured by nobody
            expect(ask(sentence, "session") == "not in the data", sentence)
        for sentence in ("N1 saves at least 0.94 ms", "N1 saves up to 0.94 ms", "vnni is as fast as avx2"):
            expect(ask(sentence, "session") == "contradicted", sentence)
        expect(ask("vnni is 1.49x faster than avx2", "session") == "not in the data", "inside the interval")
        # Its recordings have these figures, but an emulator's times say nothing.
        for sentence in ("Convolution takes 14.9 % in linux_sme2_on", "Convolution takes 14.2 % in linux_sme2_on",
                         "linux_sme2_on takes 3.0 ms"):
            expect(ask(sentence, EMULATED) == "not in the data", sentence)
        rng, seen = random.Random(20), {}
        for _ in range(1000):
            says, where = rng.choice(true)
            sentence = spoiled(rng, says)
            if rng.random() < 0.4:
                sentence, where = tampered(rng, "run")
            state = ask(sentence, where)
            seen[state] = seen.get(state, 0) + 1
            expect(state != "confirmed", "tampered and confirmed", sentence)
        expect(seen.get("contradicted", 0) > 300, "most are contradicted", seen)
        os.chdir("/")
        finish(f"1000 tampered claims: {seen}")


main()
