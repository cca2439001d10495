# SPDX-License-Identifier: Apache-2.0
"""Gate of sessions with phases: each phase is judged by itself, and none is left out.

usage: test_study.py ETPROF"""
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF = sys.argv[1]
# phase -> level -> ns: prefill is 3 times, decode 2 and 1.25 times as fast
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}


def ask(tmp, *words, code=0):
    done = ended(execute(ETPROF, *words, "--format", "json", cwd=tmp), code)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"checks": [], "series": []}, done.stderr


def checks_of(tmp, *words, code=0):
    return {c["id"]: c["ok"] for c in ask(tmp, "gate", *words, code=code)[0]["checks"]}


def gate(tmp):
    phase_folders.make(tmp / "run", lambda p, level, t, m: TIMES[p][level], outputs=True)
    cases = [  # rule, exit code, what is asked by it
        ("speedup >= 1.2", 0, {"prefill16.speedup:linux_avx2_prefill16": True,
                               "decode@0.speedup:linux_avx2_decode0": True,
                               "decode@32.speedup:linux_avx2_decode32": True}),
        ("decode.speedup >= 1.5", 1, {"decode@0.speedup:linux_avx2_decode0": True,
                                      "decode@32.speedup:linux_avx2_decode32": False}),
        ("prefill.speedup >= 2.9", 0, {"prefill16.speedup:linux_avx2_prefill16": True}),
        ("decode@0.speedup >= 1.9", 0, {"decode@0.speedup:linux_avx2_decode0": True}),
        ("decode@32.speedup >= 1.3", 1, {"decode@32.speedup:linux_avx2_decode32": False}),
        ("decode.latency linux_avx2_decode32 <= 700 us", 1, {"decode@32.latency:linux_avx2_decode32": False}),
        ("speedup linux_avx2_decode0 >= 1.9", 0, {"decode@0.speedup:linux_avx2_decode0": True}),
        # 16 tokens in 1 ms and in 3 ms; a token in 0.5, 1, 0.8, 1 ms
        ("prefill.rate linux_avx2_prefill16 >= 15900 tok/s", 0, {"prefill16.rate:linux_avx2_prefill16": True}),
        ("prefill.rate >= 6000", 1, {"prefill16.rate:linux_avx2_prefill16": True,
                                     "prefill16.rate:linux_sse_prefill16": False}),
        ("decode.rate linux_avx2_decode0 >= 2100 tok/s", 1, {"decode@0.rate:linux_avx2_decode0": False}),
    ]
    for rule, code, wanted in cases:
        found = checks_of(tmp, "run", rule, code=code)
        sound = ("proof:", "outputs", "complete")
        asked = {k: v for k, v in found.items() if not k.split(".")[-1].startswith(sound)}
        expect(asked == wanted, rule, asked)
        proofs = sum(k.split(".")[-1].startswith("proof:") for k in found)
        expect(proofs == 6, rule, "looks at the proof of every arm of every phase", sorted(found))
    for rule, words in [("decode@7.speedup >= 1", "decode@0, decode@32"), ("verse.speedup >= 1", "prefill16"),
                        (".speedup >= 1", "phase"), ("speedup linux_avx2 >= 1", "linux_avx2_decode32")]:
        said = ask(tmp, "gate", "run", rule, code=2)[1]
        expect(words in said, rule, f"names what there is: {words}", said)
    found = checks_of(tmp, "run")
    expect([k for k in found if ".verdict:" in k] == [
        "prefill16.verdict:linux_avx2_prefill16", "decode@0.verdict:linux_avx2_decode0",
        "decode@32.verdict:linux_avx2_decode32"], "without a rule", found)


def screen(tmp):
    """What somebody who chats waits for has its name; of a token decoded nobody says it."""
    done = execute(ETPROF, "analyze", "run", cwd=tmp)
    said = " ".join(done.stdout.split())
    expect("prefill 16: AVX2 is 3.00× faster than SSE" in said, "screen", said[:400])
    expect("5,333 → 16,000 tok/s · first token 3.000 → 1.000 ms" in said, "screen", "names the first token", said[:400])
    expect(said.count("first token") == 1, "screen", "of the prompt alone", said[:400])
    # the recordings' operators are 227 of 3178 ns
    expect(said.count("Outside operators 93 %") == 2, "screen", "says what most of a later phase is", said[:600])
    expect("More etprof analyze run --phase decode@0 etprof analyze run --full" in said, "screen",
           "says how to ask about another phase, and for all of it", said[-200:])
    # a prompt of 40 in chunks of 32 and 8: 4 and 2 ms, then 3 and 1; one of 3 tokens by calls of one
    chunks = [{"name": "prefill 32", "kind": "prefill", "tokens": 32, "depth": 0, "prompt": 40, "calls": 1},
              {"name": "prefill 8 @32", "kind": "prefill", "tokens": 8, "depth": 32, "prompt": 40, "calls": 1},
              {"name": "prefill 3", "kind": "prefill", "tokens": 1, "depth": 0, "prompt": 3, "calls": 3}]
    times = {"prefill 32": {"avx2": 2000000, "sse": 4000000}, "prefill 8 @32": {"avx2": 1000000, "sse": 3000000},
             "prefill 3": {"avx2": 200000, "sse": 500000}}
    phase_folders.make(tmp / "chunks", lambda p, level, t, m: times[p][level], phases=chunks)
    done = execute(ETPROF, "analyze", "chunks", cwd=tmp)
    said = " ".join(done.stdout.split())
    for words in ("8,000 → 16,000 tok/s · first token of 40: 7.000 → 3.000 ms 95 %",
                  "2,667 → 8,000 tok/s · 3.000 → 1.000 ms 95 %", "2,000 → 5,000 tok/s · first token 1.500 → 0.600 ms"):
        expect(words in said, "screen", f"says '{words}'", said[:700])


def one_phase_is_slower(tmp):
    """Only decoding deep in the cache became slower: no answer may hide that behind the first phase."""
    slow = {**TIMES, "decode @32": {"avx2": 1300000, "sse": 1000000}}
    phase_folders.make(tmp / "slow", lambda p, level, t, m: slow[p][level], outputs=True)
    found = checks_of(tmp, "slow", code=1)
    expect([k for k, ok in found.items() if ok is False] == ["decode@32.verdict:linux_avx2_decode32"], "slow", found)
    found = checks_of(tmp, "slow", "--against", "run", code=1)
    expect({k: v for k, v in found.items() if "against:" in k} == {
        "prefill16.against:linux_avx2_prefill16": True, "prefill16.against:linux_sse_prefill16": True,
        "decode@0.against:linux_avx2_decode0": True, "decode@0.against:linux_sse_decode0": True,
        "decode@32.against:linux_avx2_decode32": False, "decode@32.against:linux_sse_decode32": True}, "against", found)
    subprocess.run([ETPROF, "gate", "slow", "--junit", "gate.xml"], cwd=tmp, stdout=subprocess.DEVNULL, check=False)
    failed = [c.get("name") for c in ET.parse(tmp / "gate.xml").getroot() if c.find("failure") is not None]
    expect(failed == ["decode@32.verdict:linux_avx2_decode32"], "junit", failed)


def without_outputs(tmp):
    """Nothing is said of them then, in any phase."""
    phase_folders.make(tmp / "none", lambda p, level, t, m: TIMES[p][level])
    found = checks_of(tmp, "none", "speedup >= 1.2")
    expect(all(found.values()) and not any("outputs" in k for k in found), "without outputs", found)


def without_phases(tmp):
    phase_folders.make(tmp / "plain", lambda p, level, t, m: TIMES["decode @0"][level], phases=(), outputs=True)
    found = checks_of(tmp, "plain", "speedup >= 1.9")
    expect(found.get("speedup:linux_avx2") is True and found.get("outputs") is True, "a session without phases", found)
    said = ask(tmp, "gate", "plain", "decode.speedup >= 1", code=2)[1]
    expect("no phases" in said, "a session without phases", said)
    said = ask(tmp, "gate", "plain", "rate >= 1", code=3)[0]
    expect(all(c["ok"] is None for c in said["checks"] if c["id"].startswith("rate:")), "rate", said)


TMP = new_folder()
gate(TMP)
screen(TMP)
one_phase_is_slower(TMP)
without_outputs(TMP)
without_phases(TMP)
finish("each phase by itself")
