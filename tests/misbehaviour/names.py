# SPDX-License-Identifier: Apache-2.0
"""Operator names that do not mean what today's XNNPACK means by them. The runner is a FAKE: it answers the question
for its names as it is told, and its traces are an ETDump of the SDK in which F32 was overwritten by PF16.

usage: names.py ETPROF FAKE_RUNNER DATA

PF16 proves SME by the table. A build with PF16 kernels for NEON says so when it is asked, and then the name proves
nothing. A runner that does not answer is judged by the table, which every form of the proof says."""
import json
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import execute, expect, finish, new_folder

ETPROF, FAKE, DATA = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
PLAIN, PACKED = b"Fully Connected (NC, F32) GEMM #1", b"Fully Connected (NC, PF16) GEMM #1"
NOTE = "no names learned from this runner: judged by the table of today's XNNPACK"


def renamed(dump):
    """One character more fits into the padding of a FlatBuffers string: length, characters, zeros."""
    old = struct.pack("<I", len(PLAIN)) + PLAIN + b"\0\0"
    expect(old in dump, "fixture", "no name with room for one character")
    return dump.replace(old, struct.pack("<I", len(PACKED)) + PACKED + b"\0")


def session(tmp, name, **told):
    env = {k: v for k, v in os.environ.items() if not k.startswith("FAKE_")}
    env.update({"FAKE_ETDUMP_sme2": str(tmp / "pf16.etdump"), "FAKE_ETDUMP_neon": str(tmp / "pf16.etdump"), **told})
    done = execute(ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "1", "--iterations", "3", "--warmup",
                   "1", "--quiet", "--out", name, "--runner", FAKE, "--format", "json", cwd=tmp, env=env)
    expect(done.stdout.startswith("{"), name, done.stderr[-500:])
    text = execute(ETPROF, "analyze", name, "--format", "md", cwd=tmp).stdout
    # what a reader sees: lines are wrapped on a terminal alone
    return done.returncode, json.loads(done.stdout), text


tmp = new_folder()
fake_sessions.model(tmp / "model.pte")
(tmp / "pf16.etdump").write_bytes(renamed((pathlib.Path(DATA) / "linear_xnnpack_fp32.etdump").read_bytes()))

# Not asked: the table says SME, at neon against the level. This also shows that the fixture can be judged.
code, d, text = session(tmp, "unasked")
arms = {a["level"]: a["proof"] for a in d["arms"]}
expect(code == 6 and arms["neon"]["ok"] is False, "unasked", f"exit {code}, {arms}")
for level, proof in arms.items():
    expect(proof["by_table"] is True and proof["note"] == NOTE, "unasked", f"{level}: {proof}")
evidence = {o["engaged"]["evidence"] for o in d["operators"] if o["engaged"]["state"] == "engaged"}
expect(len(evidence) == 1 and "no names learned" in evidence.pop(), "unasked",
       "an operator's proof does not say so")
expect(text.count(NOTE) >= 2, "unasked", "the text does not say that the names were not asked:\n" + text[:3000])

# Asked: this build has PF16 on NEON.
name = PACKED.decode().removesuffix(" #1")
code, d, text = session(tmp, "asked", FAKE_NAMES_sme2=name, FAKE_NAMES_neon=name)
arms = {a["level"]: a["proof"] for a in d["arms"]}
expect(code == 0, "asked", f"exit {code}")
for level, proof in arms.items():
    expect(proof["ok"] is None, "asked", f"{level}: {proof}")
    expect(proof["by_table"] is False and proof["note"] is None, "asked", f"{level}: {proof}")
states = {o["engaged"]["state"] for o in d["operators"] if any("PF16" in n for n in sum(o["names"].values(), []))}
expect(states == {"unknown"}, "asked", f"an operator by that name is called {states}")
expect(not (d["engagement"] or {}).get("time_share"), "asked", d["engagement"])
for sentence in ("SME names", "SME2 only", NOTE):
    expect(sentence not in text and sentence not in json.dumps(d), "asked", f"'{sentence}' is said")

# Asked, and as today: PF16 with SME alone.
code, d, text = session(tmp, "today", FAKE_NAMES_sme2=name, FAKE_NAMES_neon=name.replace("PF16", "F16"))
arms = {a["level"]: a["proof"] for a in d["arms"]}
expect(arms["sme2"]["ok"] is True and arms["neon"]["ok"] is False, "today", arms)
expect(not any(p["by_table"] for p in arms.values()) and NOTE not in text, "today", arms)
finish("3 runners: not asked, with PF16 on NEON, with PF16 on SME alone")
