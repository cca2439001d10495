# SPDX-License-Identifier: Apache-2.0
"""A budget holds also where launches take longer than the trial said: no launch begins that has no room in it.

The runner is tests/fakes/fake_runner.c, which says 0.1 ms an iteration and really sleeps as long as it is told. Of
launches of two seconds no more than three begin within six: they are counted, no time is. What is quick has room
beside them on a busy machine, too.

usage: budget.py ETPROF FAKE_RUNNER"""
import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def run(tmp, *words):
    return execute(ETPROF, *words, cwd=tmp)


def measure(tmp, budget, directives, *words, slow_ns=1_000_000_000):
    """Launches of each block that took SLOW_NS or more, what was said, and the document."""
    fake_sessions.model(tmp / "m.pte", "base * 100000", *directives)
    done = run(tmp, "ab", "m.pte", "--levels", "sme2,neon", "--runner", FAKE, "--seed", "5", "--budget", budget,
               "--out", "run", "--format", "json", *words)
    expect(done.returncode == 0 and done.stdout, budget, f"exit {done.returncode}", done.stderr[-800:])
    answer = json.loads(done.stdout) if done.stdout else {"stop": {}}
    told = re.search(r"^measured +(\d+) blocks?,", done.stderr, re.M)
    counted = [c["speedup"]["blocks"] for c in answer.get("comparisons", [])][:1]
    expect(told and counted == [int(told[1])], budget, "blocks that are said and those of the answer", told and told[0],
           counted)
    slow = collections.Counter()
    for row in run_folders.environment(tmp / "run", type="launch"):
        slow[row["block"]] += row["wall_ns"] >= slow_ns
    return slow, done.stderr, answer


def first_block(tmp):
    """The trial says a second or so a block; every later launch takes two by itself."""
    name = "first block"
    slow, said, answer = measure(tmp, "6s", ["wall timed 2+ 2000", "wall traced * 2000"])
    expect(1 <= slow[1] <= 3 and sum(slow.values()) <= 3, name, "of five launches no more than fit", slow)
    expect(answer["stop"].get("reason") == "budget", name, answer["stop"])
    expect("budget     6s ended in the middle of block 1, after" in said and "--budget " in said, name, said)
    ended(run(tmp, "verify", "run"), 0)


def later_block(tmp):
    """The first block is as quick as the trial, the second is not: what was measured of it stays."""
    name = "later block"
    slowly = [f"wall {launch} 5000" for launch in ("timed 4", "timed 5", "traced 2", "traced 3")]
    slow, said, answer = measure(tmp, "15s", slowly, slow_ns=5_000_000_000)
    expect(slow[1] == 0 and 1 <= slow[2] <= 3 and slow[3] == 0, name, "of what is slow no more than fits", slow)
    expect(answer["stop"].get("reason") == "budget", name, answer["stop"])
    expect("in the middle of block 2" in said, name, said)
    done = run(tmp, "ab", "--resume", "run", "--runner", FAKE, "--blocks", "7", "--quiet", "--format", "json")
    again = json.loads(done.stdout) if done.stdout else {}
    pairs = again.get("comparisons", [{"speedup": {"blocks": 0}}])[0]["speedup"]["blocks"]
    expect(done.returncode == 0 and pairs >= 6, name, "goes on", pairs, done.stderr[-500:])


def without_trial(tmp):
    """Fixed counts and no trial: nothing told what a block takes, so the first one is whole."""
    name = "without trial"
    slow, _, answer = measure(tmp, "1s", ["wall * * 1000"], "--iterations", "5", "--warmup", "1")
    expect(slow[1] == 5 and slow[2] == 0 and answer["stop"].get("reason") == "budget", name, slow, answer["stop"])


def sampled(tmp):
    """A third of the budget is for samples; each of four arms seems to fit, and takes two seconds more than it says."""
    name = "sampled"
    measure(tmp, "15s", ["wall sampled * 2000"], "--iterations", "5", "--warmup", "1", "--threads", "1,2",
            "--blocks", "1")
    n = len(run_folders.environment(tmp / "run", kind="sampled"))
    arms = run_folders.manifest(tmp / "run")["plan"]["arms"]
    expect(1 <= n <= 3, name, "no more launches than a third of the budget takes", n)
    expect(sum(a.get("sampling") == "part" for a in arms) == 4 - n, name, "the others say why", arms)


in_folders(first_block, later_block, sampled, without_trial)
finish("a budget holds")
