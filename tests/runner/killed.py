# SPDX-License-Identifier: Apache-2.0
"""A session of phases killed while it decodes, and taken up again: killed.py ETPROF SOURCE

What is expected comes from the options and from what lay in the folder when the session was killed."""
import collections
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
DATA = os.path.join(SOURCE, "tests", "data", "llm")
DECODER = os.path.join(DATA, "decoder_plain.pte")
BLOCKS, TIMED, CALLS = 3, 600, 60
LONG = ["--blocks", str(BLOCKS), "--warmup", "1", "--iterations", str(TIMED), "--seed", "5", "--kernels", "never"]


def manifest(out):
    try:
        with open(os.path.join(out, "manifest.json")) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {"blocks_done": 0, "plan": {"arms": []}}


def rows(out):
    with open(os.path.join(out, "samples.csv")) as f:
        return list(csv.DictReader(f))


def launched(pid, word):
    """Is a runner of the session PID at work that follows the steps WORD? Its work folder says whose it is."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(b"/launches-%d-" % pid in a and a.endswith(b"/" + word.encode()) for a in line):
            return True
    return False


def killed_in(out, word, *words):
    """kill -9 once a block is committed and a launch that follows the steps WORD is at work (None: any moment)."""
    p = subprocess.Popen([ETPROF, "ab", *words, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, start_new_session=True, cwd=os.path.dirname(out))
    deadline = time.monotonic() + 300
    while p.poll() is None and time.monotonic() < deadline:
        if manifest(out)["blocks_done"] >= 1 and (word is None or launched(p.pid, word)):
            os.killpg(p.pid, signal.SIGKILL)
            break
        time.sleep(0.002)
    text = p.communicate(timeout=60)[1]
    if p.returncode > 0 and "one level only" in text:
        skip("this CPU has one level only")
    expect(p.returncode == -signal.SIGKILL, word, "was killed in the middle", (p.returncode, text[-400:]))
    return manifest(out)["blocks_done"]


def resumed(out, *more):
    return execute(ETPROF, "ab", "--resume", out, *more)


def check_decode(tmp):
    out = os.path.join(tmp, "run")
    done = killed_in(out, "steps-0-1", DECODER, "--prefill", "16", "--decode", str(CALLS), *LONG)
    before = [r for r in rows(out) if int(r["block"]) <= done]
    expect(0 < done < BLOCKS and before, "the killed session", "has some of its blocks", done)
    again = resumed(out)
    expect(again.returncode == 0, "--resume", "goes on", again.stderr[-500:])
    after = rows(out)
    kept = [r for r in after if int(r["block"]) <= done]
    expect(kept == before, "--resume", "keeps each row of the blocks that were done", (len(kept), len(before)))
    now = manifest(out)
    arms = now["plan"]["arms"]
    expect(now["state"] == "finished" and now["blocks_done"] >= BLOCKS, "--resume", "comes to the end", now["state"])
    counts = collections.Counter((r["experiment"], int(r["block"])) for r in after if r["phase"] == "timed")
    for arm in arms:
        wanted = TIMED if arm.get("phase", 0) == 0 else -(-TIMED // CALLS) * CALLS
        got = [counts[arm["name"], b] for b in range(1, BLOCKS + 1)]
        expect(got == [wanted] * BLOCKS, arm["name"], "has every step of every block once", (got, wanted))
    verified = execute(ETPROF, "verify", out)
    expect(verified.returncode == 0, "verify", "finds the folder whole", (verified.stdout + verified.stderr)[-400:])


def check_changed_calls(tmp):
    """A session whose phases called something else is another session."""
    out = os.path.join(tmp, "run")
    killed_in(out, "steps-0-1", DECODER, "--prefill", "16", "--decode", str(CALLS), *LONG)
    said = manifest(out)
    phase = said["plan"]["phases"][1]
    expect(len(phase["steps_sha256"]) == 64, "a phase", "keeps the hash of its calls", phase)
    phase["steps_sha256"] = "0" * 64
    with open(os.path.join(out, "manifest.json"), "w") as f:
        json.dump(said, f)
    again = resumed(out, "--trust")  # somebody else's manifest now
    expect(again.returncode == 2 and "what the phases call changed since this session began" in again.stderr,
           "other calls", "are refused", again.stderr[-300:])


def main():
    for check in (check_decode, check_changed_calls):
        with tempfile.TemporaryDirectory() as tmp:
            check(tmp)
    finish()


main()
