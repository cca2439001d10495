# SPDX-License-Identifier: Apache-2.0
"""Every way of being interrupted × every phase of a session. Whatever happens: no block that was committed is lost or
changed, `--resume` comes to the same plan as a session that nobody disturbed, `etprof verify` agrees, and no process
is left: each launch of the fake runner leaves a helper in a session of its own, found by a mark in its environment.

usage: interruption_table.py ETPROF FAKE_RUNNER [--random N SEED | WORD...]

With words: the rows that have all of them. --random: N times a signal or a full disk at any moment.
A suspended machine and a clock that was set cannot be had here: unit.session plays them to the session loop."""
import concurrent.futures
import fcntl
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import pty
import random
import resource
import signal
import subprocess
import sys
import termios
import time
import traceback
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import execute, hear_signals, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
_loader = importlib.machinery.SourceFileLoader("loss", str(ROOT / "bench/loss/run"))
loss = importlib.util.module_from_spec(importlib.util.spec_from_loader("loss", _loader))
_loader.exec_module(loss)
BLOCKS = 3
# The launch in which it happens: level, kind, number as the fake counts. The pilot's come first; which of the
# baseline's is the control of block 2 is a matter of the seed (find_control).
PHASES = {"pilot": ("sme2", "timed", 1), "control": None,
          "traced": ("sme2", "traced", 2), "between": None, "derived": None}
COMMITTED = {"pilot": 0, "control": 1, "traced": 1, "between": 1, "derived": BLOCKS}
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "kill -9": signal.SIGKILL}


class TooLate(Exception):
    """The session came to its end before it could be interrupted between two blocks, where nothing holds it."""


def leads_group(pid):
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:  # a helper of a launch before, which has just gone
        return False


class Session:
    """One session of the fake in a folder of its own."""

    def __init__(self, tmp, *directives):
        self.tmp = pathlib.Path(tmp)
        self.mark = f"ETPROF_TEST_MARK={uuid.uuid4()}"
        self.env = {**os.environ, **dict([self.mark.split("=", 1)])}
        self.model = self.tmp / "model.pte"
        text = "\n".join(("base sme2 1000000", "base neon 3000000", "helper", *directives))
        self.model.write_bytes(b"\x10\0\0\0ET12" + text.encode() + b"\n")
        self.process = None

    def words(self, *extra):
        return [ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", str(BLOCKS), "--seed", "7",
                "--quiet", "--out", "run", "--runner", FAKE, *extra]

    def begin(self, *extra, **how):
        how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **how}
        self.process = subprocess.Popen(self.words(*extra), cwd=self.tmp, env=self.env, **how)

    def call(self, *words):
        return execute(ETPROF, *words, cwd=self.tmp, env=self.env)

    def folder(self):
        return loss.Folder(self.tmp / "run")

    def launches(self, level, kind):
        return loss.read(self.tmp / "model.pte.count").decode().splitlines().count(f"{level} {kind}")

    def marked(self):
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (entry / "environ").read_bytes():
                    found.append((int(entry.name), (entry / "cmdline").read_bytes()))
            except OSError:
                pass
        return found

    def runners(self):
        """Neither the helpers, which have sessions of their own, nor the supervisors, which look like the tool."""
        return [pid for pid, line in self.marked() if line.startswith(FAKE.encode()) and leads_group(pid)]

    def wait_until(self, condition, what):
        deadline = time.monotonic() + 120
        while not condition():
            if self.process.poll() is not None and not condition():
                if self.process.returncode == 0 and what == "between":
                    raise TooLate
                raise loss.Lost(
                    f"it ended ({self.process.returncode}) before {what}: {self.process.stderr.read()[-300:]}"
                )
            if time.monotonic() > deadline:
                raise loss.Lost(f"waited in vain for {what}")
            time.sleep(0.002)

    def state(self):
        try:
            m = self.folder().manifest
        except (ValueError, loss.Lost):
            m = None  # it is being written to
        return (m["state"], m["blocks_done"]) if m else ("none", 0)

    def reach(self, phase):
        if PHASES[phase]:
            level, kind, nth = PHASES[phase]
            self.wait_until(lambda: self.launches(level, kind) >= nth, phase)
            self.wait_until(self.runners, "a runner")
            time.sleep(0.03)
        elif phase == "between":
            self.wait_until(lambda: self.state()[1] >= 1, phase)
        else:
            manifest = self.tmp / "run" / "manifest.json"
            self.wait_until(lambda: b'"state": "finished"' in loss.read(manifest), phase)

    def check_no_process(self):
        deadline = time.monotonic() + 60
        while left := self.marked():
            if time.monotonic() > deadline:
                raise loss.Lost(f"processes are left: {left}")
            time.sleep(0.01)

    def ended(self, code, what):
        try:
            text = self.process.communicate(timeout=120)[1] or b""
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise loss.Lost(f"{what}: it does not end") from None
        if self.process.returncode == 0 and 0 not in code and what == "between":
            raise TooLate
        if self.process.returncode not in code:
            raise loss.Lost(f"exit {self.process.returncode}, not {code}: {text.decode()[-400:]}")
        return text.decode()

    def complete(self, before, whole, lossless=True, cut=False, codes=None):
        """Resumes when there is something to resume, then holds it against WHOLE, which nobody disturbed. CUT: a block
        that was under way may be kept as far as it came; then there is one more."""
        self.check_no_process()
        now = self.folder()
        now.check_after(before)
        cut = cut and now.done > before.done and not whole_block(now, now.done)
        if lossless and not cut:
            now.check_whole()
        if now.manifest["state"] != "finished":
            done = self.call("ab", "--resume", "run", "--quiet", "--runner", FAKE)
            if done.returncode not in (codes or (0 if lossless else 6,)):
                raise loss.Lost(f"--resume: exit {done.returncode}: {done.stderr[-400:]}")
        else:
            # What it leaves when it was killed before it took its lock away, which is a matter of microseconds.
            (self.tmp / "run" / "session.lock").write_text("2147483646\n")
            done = self.call("analyze", "--full", "--renew", "run", "--quiet")
            if done.returncode not in (0, 6):
                raise loss.Lost(f"report: exit {done.returncode}: {done.stderr[-400:]}")
        last = self.folder()
        last.check_after(now)
        if last.done != BLOCKS + cut or last.manifest["state"] != "finished":
            raise loss.Lost(f"at the end {last.done} blocks, {last.manifest['state']}")
        plans = [f.manifest["plan"] for f in (last, whole)]
        if cut:
            plans[0]["order"] = plans[0]["order"][:BLOCKS]
            if sum(whole_block(last, b) for b in range(1, last.done + 1)) != BLOCKS:
                raise loss.Lost("the block that was cut short was not made up for")
        # What the pilot measured before the interruption stays; a pilot of another session may come to other counts.
        if now.done > 0 and now.manifest["plan"]["iterations"] != plans[0]["iterations"]:
            raise loss.Lost("other counts than before the interruption")
        same_counts = plans[0]["iterations"] == plans[1]["iterations"]
        differ = [k for k in plans[1] if plans[0].get(k) != plans[1][k] and k != "iterations"]
        if differ:
            raise loss.Lost(f"the plan differs: {differ}")
        if lossless and not cut and same_counts and last.shape() != whole.shape():
            raise loss.Lost("not the launches of a session that nobody disturbed")
        done = self.call("verify", "run")
        if done.returncode != 0:
            raise loss.Lost(f"verify: exit {done.returncode}: {done.stdout[-600:]}{done.stderr[-300:]}")
        if list((self.tmp / "run").rglob("*.tmp-*")):
            raise loss.Lost(f"half a file is left: {list((self.tmp / 'run').rglob('*.tmp-*'))}")
        if (self.tmp / "run" / "session.lock").exists():
            raise loss.Lost("session.lock is left")
        self.check_no_process()


def whole_block(folder, block):
    for arm, each in zip(folder.manifest["plan"]["arms"], folder.manifest["plan"]["iterations"]):
        for phase in ("timed", "traced"):
            got = sum(r[:3] == (str(block), arm["name"], phase) for r in folder.shape())
            if got != each[phase]:
                return False
    return True


def hangs_at(phase, what="hang"):
    if not PHASES[phase]:
        return []
    return ["on {} {} {} {}".format(*PHASES[phase], what)]


def find_control(whole):
    lines = [json.loads(line) for line in whole.lines.splitlines()]
    launches = [line for line in lines if line["type"] == "launch" and line["experiment"] == "linux_sme2_off"]
    ours = [(line["block"], line["kind"]) for line in launches if line["kind"] != "traced"]
    PHASES["control"] = ("neon", "timed", 2 + ours.index((2, "control")))  # one is the pilot's, and it counts from 1


def before_of(s, phase):
    before = s.folder()
    if before.done < COMMITTED[phase]:
        raise loss.Lost(f"{before.done} blocks are committed, not {COMMITTED[phase]}")
    return before


def by_signal(s, phase, whole, sig):
    s.begin("--timeout", "50")
    s.reach(phase)
    before = before_of(s, phase)
    s.process.send_signal(sig)
    s.ended({-sig if sig == signal.SIGKILL else 128 + sig, *((0,) if phase == "derived" else ())}, phase)
    s.complete(before, whole, cut=sig != signal.SIGKILL)


def by_terminal(s, phase, whole):
    """The terminal is closed: the kernel sends SIGHUP, and what is written there fails."""
    ours, theirs = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    s.begin("--timeout", "50", stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=take_terminal)
    os.close(theirs)
    try:
        s.reach(phase)
        before = before_of(s, phase)
    finally:
        os.close(ours)
    s.ended({128 + signal.SIGHUP, *((0, 5) if phase == "derived" else ())}, phase)
    s.complete(before, whole, cut=True)


def by_reader(s, phase, whole):
    """Whoever reads the report goes away: measuring goes on."""
    s.begin(stdout=subprocess.PIPE)
    s.reach(phase)
    before = before_of(s, phase)
    s.process.stdout.close()
    s.process.stdout = None
    s.ended({0, 5}, phase)
    s.complete(before, whole)


def by_full_disk(s, phase, whole):
    """No file may grow beyond what samples.csv has now (RLIMIT_FSIZE): what is written next fails as on a full disk."""
    s.begin("--timeout", "50")
    s.reach(phase)
    before = before_of(s, phase)
    try:
        resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, ((s.tmp / "run" / "samples.csv").stat().st_size,) * 2)
    except ProcessLookupError:
        raise TooLate from None
    for pid in s.runners() if PHASES[phase] else []:
        os.kill(pid, signal.SIGKILL)
    text = s.ended({5, *((0, 6) if phase == "derived" else ())}, phase)
    if phase != "derived" and "cannot write" not in text:
        raise loss.Lost(f"it does not say so: {text[-300:]}")
    s.complete(before, whole, codes=(0, 6))  # the manifest may remember the runner that was killed here


def by_killed_runner(s, phase, whole):
    s.begin("--timeout", "50")
    s.reach(phase)
    before = before_of(s, phase)
    os.kill(s.runners()[-1], signal.SIGKILL)
    s.ended({6}, phase)
    s.complete(before, whole, lossless=False)


def by_runner(s, _, whole):
    """The runner itself misbehaves; the session comes to its end, and says so."""
    s.begin("--timeout", "5")
    s.ended({6}, "the end")
    s.complete(loss.Folder(s.tmp / "none"), whole, lossless=False)
    if not s.folder().manifest["lost"]:
        raise loss.Lost("the manifest does not know of the loss")


def crashes_from_block_3(s, _, whole):
    s.begin()
    s.ended({6}, "the end")
    f = s.folder()
    f.check_after(loss.Folder(s.tmp / "none"))
    s.complete(f, whole, lossless=False)
    other = [r for r in f.shape() if r[0] == "3" and r[1] == "linux_sme2_off" and r[2] == "timed"]
    if not other:
        raise loss.Lost("the other arm's launch of block 3 is not there")


def at_random(s, _, whole, rng):
    s.begin("--timeout", "50")
    try:
        s.process.wait(timeout=rng.uniform(0, 1))
        return
    except subprocess.TimeoutExpired:
        pass
    how = rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, "disk"])
    try:
        before = s.folder()
    except ValueError:
        before = loss.Folder(s.tmp / "none")  # rows were being written
    if how == "disk":
        size = len(loss.read(s.tmp / "run" / "samples.csv"))
        resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (size + rng.randrange(20000),) * 2)
    else:
        s.process.send_signal(how)
    s.ended({0, 5, 6} if how == "disk" else {-how if how == signal.SIGKILL else 128 + how, -how, 0}, str(how))
    if loss.read(s.tmp / "run" / "manifest.json"):  # else there is nothing to go on with
        s.complete(before, whole, cut=isinstance(how, int) and how != signal.SIGKILL, codes=(0, 6) if how == "disk"
                   else None)
    else:
        s.check_no_process()


def table(words):
    if words[:1] == ["--random"]:
        seeds = random.Random(int(words[2]))
        each = [random.Random(seeds.random()) for _ in range(int(words[1]))]
        return [(f"random {i}", "any", [], lambda s, p, w, rng=rng: at_random(s, p, w, rng))
                for i, rng in enumerate(each)]
    return [r for r in whole_table() if all(w in f"{r[0]} × {r[1]}" for w in words)]


def whole_table():
    rows = []
    for phase in PHASES:
        for name, sig in SIGNALS.items():
            rows.append((name, phase, hangs_at(phase), lambda s, p, w, sig=sig: by_signal(s, p, w, sig)))
        rows.append(("terminal closed", phase, hangs_at(phase), by_terminal))
        rows.append(("full disk", phase, hangs_at(phase), by_full_disk))
        if PHASES[phase]:
            rows.append(("kill -9 of the runner", phase, hangs_at(phase), by_killed_runner))
            for what in ("stubborn", "garbage", "crash"):
                rows.append((f"runner: {what}", phase, hangs_at(phase, what), by_runner))
        else:
            rows.append(("reader gone", phase, [], by_reader))
    rows.append(("kill -9, runner ignores signals", "traced", hangs_at("traced", "stubborn"),
                 lambda s, p, w: by_signal(s, p, w, signal.SIGKILL)))
    rows.append(("one arm crashes from block 3 on", "traced", ["on sme2 timed 4+ crash"], crashes_from_block_3))
    return rows


def one(row, whole, tries=5):
    name, phase, directives, action = row
    tmp = new_folder()
    s = Session(tmp, *directives)
    try:
        action(s, phase, whole)
    except TooLate:
        if tries == 1:
            return f"{name} × {phase}: five sessions were over before they could be interrupted"
    except loss.Lost as e:
        return f"{name} × {phase}: {e}"
    except Exception:
        return f"{name} × {phase}: {traceback.format_exc()}"
    else:
        return None
    finally:
        if s.process and s.process.poll() is None:
            s.process.kill()
        for pid, _ in s.marked():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    return one(row, whole, tries - 1)


def main():
    tmp = new_folder()
    s = Session(tmp)
    s.begin()
    s.ended({0}, "the end")
    s.check_no_process()
    whole = s.folder()
    find_control(whole)
    rows = table(sys.argv[3:])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        failures = [f for f in pool.map(lambda r: one(r, whole), rows) if f]
    print("\n".join(failures))
    print(f"{len(rows)} interruptions, {len(failures)} failures")
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    hear_signals()
    os.environ.pop("ETPROF_RUNNER", None)
    sys.exit(main())
