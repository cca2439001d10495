# SPDX-License-Identifier: Apache-2.0
"""etprof gate on measured folders, and inside a real `git bisect run`.

The fake runner's durations are exact: base LEVEL NS in its model file plants every regression.

usage: gate.py ETPROF FAKE_RUNNER"""
import json
import math
import os
import pathlib
import re
import struct
import sys
import tarfile
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import phase_folders
import run_folders
from checks import execute, expect, finish, new_folder, unpack

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def model(path, sme2_ns):
    fake_sessions.model(path, f"base sme2 {sme2_ns}", "base neon 3000000")


def measure(folder, out, *more):
    return execute(ETPROF, "ab", "model.pte", *fake_sessions.words(out, iterations=4), "--runner", FAKE, *more,
                   cwd=folder)


def gate(folder, *args):
    return execute(ETPROF, "gate", *args, cwd=folder)


def analyze(folder, *args):
    return execute(ETPROF, "analyze", *args, cwd=folder).stdout


def folders(tmp):
    model(tmp / "model.pte", 1000000)
    measure(tmp, "fast")
    model(tmp / "model.pte", 1200000)
    measure(tmp, "slow")
    cases = [  # arguments, exit code, a check and its answer
        (["fast"], 0, ("verdict:linux_sme2_on", True)),
        (["fast", "speedup >= 2.9"], 0, ("speedup:linux_sme2_on", True)),
        (["fast", "speedup linux_sme2_on >= 3.1"], 1, ("speedup:linux_sme2_on", False)),
        (["fast", "latency linux_sme2_on <= 1100 us"], 0, ("latency:linux_sme2_on", True)),
        (["slow", "latency linux_sme2_on <= 1100 us"], 1, ("latency:linux_sme2_on", False)),
        (["slow", "--against", "fast"], 1, ("against:linux_sme2_on", False)),
        (["slow", "--against", "fast", "--margin", "25%"], 0, ("against:linux_sme2_on", True)),
        (["fast", "--against", "slow"], 0, ("against:linux_sme2_on", True)),
        (["fast", "share GEMM <= 50 %"], None, None),
        (["fast", "--baseline", "linux_sme2_on"], 1, None),
    ]
    for args, code, check in cases:
        done = gate(tmp, *args, "--format", "json")
        expect(code is None or done.returncode == code, " ".join(args),
               f"exit {done.returncode}: {done.stderr}{done.stdout}")
        document = json.loads(done.stdout)
        expect(document["schema"] == "etprof.gate/1", " ".join(args), document)
        if check:
            answer = {c["id"]: c["ok"] for c in document["checks"]}
            expect(answer.get(check[0]) is check[1], " ".join(args), answer)
    # a ratio is shown as one, and a change of time as a change: "0.33" beside "3.00×" would be read as slower
    shown = gate(tmp, "fast", "speedup >= 2.9").stdout
    expect(re.search(r"^speedup:SME2 +yes +3× +>= 2\.9×$", shown, re.M), "a ratio without ×", shown)
    shown = gate(tmp, "slow", "--against", "fast").stdout
    expect(re.search(r"^against:SME2 +no +\+20\.0 % time \[\+20\.0 %, \+20\.0 %\] +at most \+5 % time$", shown,
                     re.M), "a change of time", shown)
    shown = " ".join(gate(tmp, "fast", "latency linux_sme2_on <= 0.99999 ms").stdout.split())
    expect(re.search(r"1\.000 ms.* \(1000000 against 999990\)", shown), "a limit missed by less than the digits", shown)
    done = gate(tmp, "slow", "--against", "fast", "--junit", "gate.xml")
    suite = ET.parse(tmp / "gate.xml").getroot()
    failed = [c.get("name") for c in suite if c.find("failure") is not None]
    expect(failed == ["against:linux_sme2_on"] and suite.get("failures") == "1", "junit", failed)
    for args, code in [(["none"], 4), (["none", "--bisect"], 125), (["fast", "nonsense", "--bisect"], 2)]:
        done = gate(tmp, *args)
        expect(done.returncode == code or (code == 4 and done.returncode in (2, 4, 5)), " ".join(args),
               f"exit {done.returncode}: {done.stderr}")
        expect(done.stderr.startswith("etprof gate: "), " ".join(args), done.stderr)


def expecting(values):
    """The bundle of the fixtures, whose case expects float32 2×3; VALUES: two, as the fake runner answers."""
    whole = bytearray((run_folders.DATA / "linear_xnnpack_fp32.bpte").read_bytes())
    if values:
        data, sizes = whole.rindex(struct.pack("<I", 24)), whole.rindex(struct.pack("<3i", 2, 2, 3))
        order = whole.rindex(struct.pack("<I", 2) + b"\0\1", 0, data)
        for at, now in ((order, struct.pack("<I", 1)), (data, struct.pack("<Iff", 8, *values)),
                        (sizes, struct.pack("<2i", 1, 2))):
            whole[at:at + len(now)] = now
    return whole


def expected(tmp):
    """Arms that agree with each other, and inputs that came with their answers: a second question."""
    (tmp / "model.pte").write_bytes((run_folders.DATA / "linear_xnnpack_fp32.pte").read_bytes())
    for name, values, right, why in (
            ("right", (1, 2), True, None), ("weights", (1.5, 2.5), False, "2 of 2 elements differ, by up to 0.5"),
            ("not_finite", (math.nan, 2), False, "infinities or NaN of one side alone among them"),
            ("shape", None, False, "float32 2 against float32 2×3")):
        (tmp / "inputs.bpte").write_bytes(expecting(values))
        measured = measure(tmp, name, "--inputs", "inputs.bpte#0")
        done = gate(tmp, name, "--format", "json")
        answer = {c["id"]: c["ok"] for c in json.loads(done.stdout)["checks"]}
        expect((measured.returncode, done.returncode) == ((0, 0) if right else (1, 1)), name, answer)
        expect(answer["outputs"] is True and answer["expected:linux_sme2_on"] is right
               and answer["expected:linux_sme2_off"] is right, name, answer)
        screen, full = (" ".join(analyze(tmp, name, *more).split()) for more in ((), ("--full",)))
        expect("outputs equal" in screen and ("outputs NOT as expected" in screen) is not right, name, screen)
        expect(full.count("NOT what its inputs' author expects") == (0 if right else 2), name, full[:2000])
        expect("999999999" not in full and (why is None or why in full), name, full[:3000])
    # Both arms answer with one value everywhere: they do not differ, and what was expected is something else.
    for value, said, key in ((math.inf, "NaN or infinite", "not_finite"), (0.0, "proves nothing", "constant"),
                             (3.0, "proves nothing", "constant")):
        for output in (tmp / "weights").glob("linux_*/outputs/output-0.bin"):
            output.write_bytes(struct.pack("<2f", value, value))
        run_folders.record(tmp / "weights")
        answer = {c["id"]: c["ok"] for c in json.loads(gate(tmp, "weights", "--format", "json").stdout)["checks"]}
        expect(answer["outputs"] is None and answer["expected:linux_sme2_on"] is False, value, answer)
        full = " ".join(analyze(tmp, "weights", "--full").split())
        expect(said in full and "cosine 1" not in full and "those of all arms agree" not in full, value, full[:3000])
        found = json.loads(analyze(tmp, "weights", "--format", "json"))["correctness"]
        expect(found["ok"] is None and found[key] is True and found["cosine"] is None, value, found)


def noisy(tmp):
    """Control launches are in the first blocks of a plan: more blocks narrow no A/A control."""
    root = tmp / "noisy"
    root.mkdir()
    with tarfile.open(run_folders.DATA / "session.tar.xz") as archive:
        unpack(archive, root)
    run_folders.record(root)
    # A/A −8.5 to +5.0 %, speedup 1.50 [1.48, 1.53]: the farther end is 1 ÷ 0.915, 9.3 %, as the rule "noise" has it
    expect("noise ±9.3 %; the effect is above it" in analyze(tmp, "noisy"), "above", analyze(tmp, "noisy"))
    # Twins ln 1.04 and ln 0.96 apart in turns: their mean −0.0008 and 2.571 × 0.0438 ÷ √6 = 0.0460 reach to 0.0468,
    # 4.8 % as a ratio, beside a speedup of 1.001
    run_folders.make(tmp / "inside", 2, blocks=6)
    run_folders.disturb(tmp / "inside", 0.4)
    expect("noise ±4.8 %; the effect is inside it" in analyze(tmp, "inside"), "inside", analyze(tmp, "inside"))
    fix = json.loads(gate(tmp, "noisy", "speedup >= 1.45", "--format", "json").stdout)["checks"][-1]
    expect("noise" in fix["found"] and fix["fix"] == "etprof rerun noisy", "beside the limit", fix)
    plan = run_folders.manifest(root)["plan"]
    run_folders.alter(root, plan={**plan, "control_blocks": 10})  # four of them are to come
    fix = json.loads(gate(tmp, "noisy", "speedup >= 1.45", "--format", "json").stdout)["checks"][-1]
    expect(fix["fix"] == "etprof ab --resume noisy --blocks 4", "controls to come", fix)
    run_folders.disturb(root)
    run_folders.alter(root, plan=plan)
    run_folders.record(root)
    for rule in ("speedup >= 1.1", 'category("GEMM").speedup >= 1.1'):
        fix = json.loads(gate(tmp, "noisy", rule, "--format", "json").stdout)["checks"][-1]
        expect(fix["ok"] is None and fix["fix"] == "etprof rerun noisy", "withheld", fix)


def called_otherwise(tmp):
    """Arms of other names that are of one level, number of threads and phase: as when a session measured more threads.
    What two arms of one side could be is compared with neither."""
    times = {"sme2": 1000000, "neon": 3000000}
    for name, of, how in (("one", 1, {}), ("threads", 1.2, {"threads": (1, 2)}),
                          ("models", 1, {"models": ("a", "b")})):
        phase_folders.make(tmp / name, lambda p, level, t, m, of=of: round(times[level] * of), phases=(),
                           levels=("sme2", "neon"), **how)
    found = gate(tmp, "threads", "--against", "one", "--format", "json")
    checks = {c["id"]: c for c in json.loads(found.stdout)["checks"] if c["id"].startswith("against:")}
    expect(found.returncode == 1, "threads", found.returncode)
    expect(set(checks) == {"against:linux_sme2_t1", "against:linux_neon_t1"}, "threads", checks)
    expect(all(abs(c["value"] - 1.2) < 1e-3 for c in checks.values()), "threads", checks)
    found = gate(tmp, "models", "--against", "one")
    expect(found.returncode == 2 and re.search(r"the run \(.*_linux_sme2.*\) can be .*the earlier run \(linux_sme2, "
                                               "linux_neon\\)", found.stderr), found.stderr)
    # Of two arms of one level the one of the same program; another model is named.
    first, second = run_folders.manifest(tmp / "models")["models"]
    run_folders.alter(tmp / "models", models=[first, {**second, "sha256": "c" * 64}])
    found = gate(tmp, "models", "--against", "one", "--format", "json")
    checks = {c["id"]: c["expected"] for c in json.loads(found.stdout or '{"checks": []}')["checks"]
              if c["id"].startswith("against:")}
    expect(checks == dict.fromkeys(("against:a_linux_sme2", "against:a_linux_neon"), "at most +5 % time of m0"),
           "the same program", checks, found.stderr)
    found = execute(ETPROF, "compare", "one:sme1", "threads:linux_sme2_t1", "--format", "json", cwd=tmp)
    arms = [a["name"] for a in json.loads(found.stdout or '{"arms": []}')["arms"]]
    expect(arms == ["linux_sme2", "linux_sme2_t1"], "the only arm with the feature", arms, found.stderr)


def altered(tmp):
    """Samples that were made faster afterwards: of the run itself, and of the one it is held against."""
    kept = (tmp / "slow" / "samples.csv").read_text()
    (tmp / "slow" / "samples.csv").write_text(re.sub(r"^(linux_sme2_on,.*,)\d+(,\w+)$", r"\g<1>900000\2", kept,
                                                             flags=re.M))
    for args in (["slow", "speedup >= 3"], ["fast", "--against", "slow"]):
        done = gate(tmp, *args, "--format", "json")
        check = {c["id"]: c for c in json.loads(done.stdout)["checks"]}.get("recorded")
        expect(done.returncode == 1 and check and check["ok"] is False and "samples.csv" in check["found"], args,
               done.returncode, check)
    (tmp / "slow" / "samples.csv").write_text(kept)


# Ten revisions; the sixth makes sme2 20 % slower, the fifth and the seventh cannot be measured.
def bisection(tmp):
    repo = tmp / "repo"
    repo.mkdir()
    env = {**os.environ, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
           "GIT_COMMITTER_EMAIL": "t@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*args):
        return execute("git", *args, cwd=repo, env=env, check=True).stdout

    git("init", "-q", "-b", "main")
    revisions = []
    for number in range(1, 11):
        model(repo / "model.pte", 1000000 if number < 6 else 1200000)
        if number in (5, 7):
            (repo / "model.pte").write_bytes(b"no model\n")
        (repo / "number").write_text(f"{number}\n")
        git("add", "-A")
        git("commit", "-qm", f"r{number}")
        revisions.append(git("rev-parse", "HEAD").strip())
    script = tmp / "judge"
    script.write_text(
        f"#!/bin/sh\nrm -rf '{tmp}/now'\n'{ETPROF}' ab model.pte --levels sme2,neon --blocks 6 --iterations 4 "
        f"--warmup 3 --quiet --out '{tmp}/now' --runner '{FAKE}' >/dev/null 2>&1\n"
        f"rm -f model.pte.count\nexec '{ETPROF}' gate '{tmp}/now' --against '{tmp}/fast' --bisect\n"
    )
    script.chmod(0o755)
    git("bisect", "start", revisions[-1], revisions[0])
    said = execute("git", "bisect", "run", script, cwd=repo, env=env)
    # The fourth is good, the sixth bad, the fifth untold: git names these two and no other.
    named = [n + 1 for n, r in enumerate(revisions) if r in said.stdout.split("could be any of:")[-1]]
    expect(named == [5, 6], "git bisect", f"{named}\n{said.stdout}{said.stderr}")


TMP = new_folder()
folders(TMP)
expected(TMP)
called_otherwise(TMP)
altered(TMP)
noisy(TMP)
bisection(TMP)
finish("as documented")
