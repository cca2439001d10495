# SPDX-License-Identifier: Apache-2.0
"""Questions about one phase of a session: explain and whatif with --phase, rules of a gate. What they say follows
from the times that were chosen for each phase.

usage: test_asking.py ETPROF"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
import run_folders
from checks import execute, expect, finish, new_folder

ETPROF = sys.argv[1]
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}


def ask(*words):
    done = execute(ETPROF, *words)
    return done.returncode, done.stdout, done.stderr


def rules(run):
    """Ratios: 3.00 in prefill, 2.00 and 1.25 in the decodes; a phase knows nothing of the arms of another."""
    for phase, ratio in (("prefill", 3.0), ("decode@0", 2.0), ("decode@32", 1.25)):
        for limit in (3.0, 2.0, 1.25):
            code, out, err = ask("gate", run, f"{phase}.speedup >= {0.99 * limit}")
            expect(code == (0 if ratio >= limit else 1), phase, limit, code, out, err)
    # Each phase numbers its operators, so a rule about one names its phase.
    code, out, err = ask("gate", run, "op1.ns <= 1 s")
    expect(code == 2 and "each phase numbers its operators" in err and "decode@0, decode@32" in err, code, out, err)
    code, out, err = ask("gate", run, "decode@32.op1.ns <= 1 s", "--format", "json")
    wanted = json.loads(ask("analyze", run, "--phase", "decode@32", "--format", "json")[1])["operators"]
    expect(code == (0 if wanted else 2), "an operator of a phase", code, out, err)
    code, out, err = ask("gate", run, 'decode@32.category("GEMM").ns <= 1 s')
    expect(code in (0, 3) and "decode@32.category" in out, "a category of a phase", code, out, err)


def refused(run, plain):
    code, out, err = ask("explain", "op1", run, "--phase", "decode")
    expect(code == 2 and "several are of this kind" in err and "decode@0, decode@32" in err, "a kind of two", code, err)
    code, out, err = ask("whatif", run, "drop *", "--phase", "encode")
    expect(code == 2 and "no phase has this name" in err and "prefill16, decode@0" in err, "no such", code, err)
    code, out, err = ask("explain", plain, "--phase", "decode")
    expect(code == 2 and "nothing here was measured in phases" in err, "a folder without", code, err)


def same_as_the_document(run):
    """An operator of a later phase is explained with that phase's times, and 'back' to nothing keeps its total."""
    document = json.loads(ask("analyze", run, "--format", "json")[1])
    expect(len(document["phases"]) == 3, "three phases")
    for phase in document["phases"][1:]:
        own, name = phase["document"], phase["name"]
        row = own["operators"][0]
        code, out, err = ask("explain", row["id"], run, "--phase", name, "--format", "json")
        expect(code == 0 and row["label"] in out, name, row["id"], out[:300], err)
        for fix in own.get("fixes", []):
            code, out, err = ask("explain", fix["id"], run, "--phase", name)
            expect(code == 0 and fix["id"] in out, name, fix["id"], err)
    code, out, err = ask("explain", run)
    expect(code == 0 and "That is prefill 16." in out and "decode@0, decode@32" in out, "the list says its phase", out)


def printed(run):
    """The page's command of a later phase names it, and is taken."""
    page = (run / "report.html").read_text(encoding="utf-8")
    for phase in ("decode@0", "decode@32"):
        expect(f"etprof whatif DIR --phase {phase}" in page, phase, "is not in the page's command")
        code, out, err = ask("whatif", run, "--phase", phase, "drop *")
        expect(code == 0, phase, "a command that is not taken", err)


def prompts(place):
    """Prompts of 16 and 64 tokens, 2 ms each: four times as fast a token. Nothing is said of an arm that waited."""
    longer = phase_folders.PREFILL | {"name": "prefill 64", "tokens": 64, "prompt": 64}
    for name, waits in (("calm", 0), ("busy", 3000000)):
        root = phase_folders.make(place / name, lambda p, level, t, m: 2000000 if level == "avx2" else 4000000,
                                  phases=(phase_folders.PREFILL, longer))
        lines = run_folders.environment(root)
        for line in lines:
            if line["type"] == "launch" and line["experiment"] == "linux_avx2_prefill64":
                line |= {"run_span_ns": 5000000, "run_wait_ns": waits}
        (root / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        run_folders.record(root)
        code, out, err = ask("analyze", root, "--format", "json")
        found = [f["text"] for f in json.loads(out)["findings"] if f["kind"] == "prompt_chunk"]
        expect(len(found) == (waits == 0), name, found, err)
        expect(not found or "long calls are 4.00× as fast a token" in found[0], name, found)


place = new_folder()
session = phase_folders.make(place / "run", lambda p, level, t, m: TIMES[p][level])
without = phase_folders.make(place / "plain", lambda p, level, t, m: TIMES["decode @0"][level], phases=())
subprocess.run([ETPROF, "analyze", "--full", "--renew", session], stdout=subprocess.DEVNULL, check=True)
rules(session)
refused(session, without)
same_as_the_document(session)
printed(session)
prompts(place)
finish()
