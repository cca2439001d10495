# SPDX-License-Identifier: Apache-2.0
"""Rules of a gate as claims: what is true of planted times and of what the official Inspector says is answered with
yes; of 400 rules that somebody tampered with none is.

usage: claims.py ETPROF FAKE_RUNNER DATA"""
import json
import os
import pathlib
import random
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import execute, expect, finish, new_folder, unpack

ETPROF, FAKE, DATA = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
CODES, STATES = (0, 1, 3), ("yes", "no", "unknown")
# What the fake runner is told: 1 ms at sme2, 3 ms at neon.
PLANTED = (("speedup", 3.0, ""), ("latency linux_sme2_on", 1.0, "ms"), ("latency linux_sme2_off", 3000, "us"))
# ExecuTorch's Inspector, mixed_xnnpack_fp32.etdump.tsv: avg of native_call_cumsum.out is 0.000227 ms, of
# Method::execute 0.00317833 ms.
DUMP_SAYS = (("op2.ns", 0.227, "us"), ("op2.share", 7.14, "%"), ('category("Reduction").ns', 0.227, "us"),
             ('category("Reduction").share', 0.0714, ""))
# What README shows of tests/data/session.tar.xz; 1 % is more than the clock of a delegate's operators cuts off.
SESSION_SAYS = (("speedup", 1.50, "x"), ("latency VNNI", 4.148, "ms"), ("latency linux_avx2", 6.242, "ms"),
                ('category("GEMM").ns linux_vnni', 0.950, "ms"), ('category("GEMM").ns AVX2', 2.205, "ms"),
                ('category("Convolution").ns VNNI', 0.379, "ms"), ('category("Convolution").ns AVX2', 1.317, "ms"),
                ('category("GEMM").speedup', 2.32, "x"), ('category("Data movement").share VNNI', 31.2, "%"),
                ("op30.ns VNNI", 102.86, "us"), ("op31.ns linux_avx2", 101.61, "us"))
DUMP = DATA / "mixed_xnnpack_fp32.etdump"
EMULATED = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"
WIDE = 1.25  # farther from the figure than its interval reaches


def ask(where, rule, code=None):
    """What is said of the rule's own figures: whether a folder is what was recorded is another check."""
    done = execute(ETPROF, "gate", where, rule, "--format", "json")
    if code is not None or done.returncode not in CODES:
        expect(done.returncode == (code or 2), rule, f"exit {done.returncode}, not {code}: {done.stderr}")
        return done.stderr
    states = {c["ok"] for c in json.loads(done.stdout)["checks"] if c.get("limit") is not None}
    expect(len(states) == 1 or None in states, rule, states)  # of two arms one may lack the figure
    return "no" if False in states else "unknown" if None in states else "yes"


def rule(what, limit, unit, sign):
    return f"{what} {sign} {limit:.6g}{unit}"


def spoiled(rng, says):
    """A rule that the data do not bear out: another limit, unit, operator, category or arm."""
    what, value, unit = rng.choice(says)
    way = rng.randrange(4)
    if way == 0:
        return rule(what, value * rng.uniform(WIDE, 20), unit, ">=")
    if way == 1:
        return rule(what, value / rng.uniform(WIDE, 20), unit, "<=")
    if way == 2:
        what = rng.choice(["op999.ns", "op2.speedup", "op2.time", "op.ns", "latency SME9", 'category("Nothing").ns',
                           'category("GEMM).ns', "N1.ns", 'category("GEMM").ns of phones'])
        return rule(what, value, unit, "<=")
    wrong = [u for u in ("s", "%", "x", "MB", "tok/s") if u != unit and not (unit == "" and u in "%x")]
    return rule(what, value, rng.choice(wrong), ">=")


def unpacked():
    with tarfile.open(DATA / "session.tar.xz") as archive:
        unpack(archive, "session")
    return "session"


def main():
    folder = new_folder()
    os.chdir(folder)
    execute(ETPROF, "ab", fake_sessions.model("model.pte"), *fake_sessions.words(iterations=4), "--runner", FAKE)
    true = ((PLANTED, "run"), (SESSION_SAYS, unpacked()), (DUMP_SAYS, DUMP))
    for says, where in true:
        for what, value, unit in says:
            for limit, sign, verdict in ((value / WIDE, ">=", "yes"), (value * WIDE, "<=", "yes"),
                                         (value * WIDE, ">=", "no"), (value / WIDE, "<=", "no")):
                text = rule(what, limit, unit, sign)
                said = ask(where, text)
                expect(said == verdict, text, said)
    expect(ask("session", "speedup >= 1.5") == "unknown", "the limit is inside the noise")
    expect("no operator op999" in ask(DUMP, "op999.ns <= 1 s", code=2), "no such operator")
    expect("members of an operator" in ask(DUMP, "op2.speedup >= 1", code=2), "an operator's speedup")
    # Its recordings have these figures, but an emulator's times say nothing.
    for text in ("op1.ns <= 1 s", 'category("Convolution").ns <= 1 s', 'category("GEMM").speedup >= 0.001'):
        expect(ask(EMULATED, text) == "unknown", text)
    rng, seen = random.Random(20), {}
    for _ in range(400):
        says, where = rng.choice(true)
        text = spoiled(rng, says)
        said = ask(where, text)
        seen[said if said in STATES else "refused"] = seen.get(said if said in STATES else "refused", 0) + 1
        expect(said != "yes", "tampered and yes", text)
    expect(seen.get("no", 0) > 120, "most are answered with no", seen)
    os.chdir("/")
    finish(f"400 tampered rules: {seen}")


main()
