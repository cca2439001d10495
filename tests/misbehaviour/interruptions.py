# SPDX-License-Identifier: Apache-2.0
"""etprof ab interrupted: one session per folder, what a killed one left is taken over, a limit on file sizes, a runner
that fails in one arm only. The runner is tests/fakes/fake_runner.c.

usage: interruptions.py ETPROF FAKE_RUNNER"""
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
ARGS = ["--kernels", "never", *fake_sessions.words()]


def model(tmp, *directives):
    fake_sessions.model(tmp / "model.pte", *fake_sessions.BASE, *directives)


def ab(tmp, *words, **how):
    return execute(ETPROF, "ab", *words, "--runner", FAKE, cwd=tmp, **how)


def resume(tmp, *extra):
    return ab(tmp, "--resume", "run", "--quiet", *extra)


def finished(tmp, name, done, blocks=6):
    """A session that was gone on with came to its end."""
    last = run_folders.manifest(tmp / "run")
    expect(done.returncode == 0 and (last["state"], last["blocks_done"]) == ("finished", blocks), name,
           (done.returncode, done.stderr, last["blocks_done"]))


def begun(tmp, *words, **how):
    """A session of 6 blocks whose third one hangs: it has two launches of the baseline a block."""
    model(tmp, "on neon timed 6 hang")
    count = tmp / "model.pte.count"
    p = fake_sessions.begun([ETPROF, "ab", "model.pte", "--runner", FAKE, "--timeout", "50", *(words or ARGS)],
                            lambda: count.read_text().count("neon timed") >= 6, cwd=tmp,
                            **{"stderr": subprocess.DEVNULL, **how})
    if not words:
        done = run_folders.manifest(tmp / "run")["blocks_done"]
        expect(done == 2, "the session to interrupt", done)
    return p


def killed(tmp):
    """The folder of a session that was killed while it hung."""
    p = begun(tmp)
    p.kill()
    p.wait(timeout=120)
    return tmp / "run"


def padded(tmp):
    """Each launch gets an environment of its own size, and says which."""
    name = "environment sizes"
    p = begun(tmp)
    seen = set()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
            if str(tmp).encode() in line and FAKE.encode() in line.split(b"\0")[0]:
                seen |= {v for v in (entry / "environ").read_bytes().split(b"\0") if v.startswith(b"ETPROF_PAD=")}
        except OSError:
            pass
    p.kill()
    p.wait(timeout=120)
    expect(len(seen) == 1 and re.fullmatch(b"ETPROF_PAD=x{0,4095}", seen.pop()), name, seen)
    pads = [line["env_pad_bytes"] for line in run_folders.environment(tmp / "run", type="launch")]
    expect(len(pads) >= 8 and len(set(pads)) > len(pads) // 2 and max(pads) < 4096, name, pads)
    block = run_folders.environment(tmp / "run", type="block")[0]
    cpufreq = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").exists()
    expect((block["start"]["core_khz"] is not None) == cpufreq, name, block["start"])
    unreadable = run_folders.manifest(tmp / "run")["unreadable"]
    expect(("cpu frequency" in unreadable) != cpufreq, name, unreadable)


def ctrl_c(tmp):
    """The command that goes on is said, and goes on."""
    name = "interrupted by Ctrl-C"
    p = begun(tmp, *(w for w in ARGS[:-1] if w != "--quiet"), "a run", stderr=subprocess.PIPE)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=120)[1]
    expect(p.returncode == 130, name, p.returncode, said)
    found = re.search(r"interrupted after 2 whole blocks.*\n'(etprof ab --resume .+)' goes on\n", said)
    expect(found, name, "no command that goes on", said)
    if found:
        ended(ab(tmp, *shlex.split(found[1])[2:], "--quiet"), 0)


def still_running(tmp):
    name = "resume of a folder whose session runs"
    p = begun(tmp)
    lock = tmp / "run" / "session.lock"
    before = (tmp / "run" / "manifest.json").read_bytes()
    refused = ended(resume(tmp), 2)
    expect(f"pid {p.pid}" in refused.stderr and len(refused.stderr.splitlines()) == 1, name, refused.stderr)
    expect((tmp / "run" / "manifest.json").read_bytes() == before, name, "manifest changed")
    expect(p.poll() is None and lock.exists(), name, "the running session was disturbed")
    p.kill()
    p.wait(timeout=120)
    expect(lock.exists(), name, "a killed session leaves its lock behind: what else is there to take over")
    finished(tmp, name, resume(tmp))
    expect(not lock.exists(), name, "the lock is left")


def stale(tmp, name, content):
    """What lies there belongs to nobody who lives, or to a process that has nothing to do with it."""
    (killed(tmp) / "session.lock").write_bytes(content)
    finished(tmp, name, resume(tmp))


def edited(tmp):
    """Blocks that a killed session had finished have hashes: nothing that was edited is taken, or called right."""
    name = "edited after kill -9"
    dump = "linux_sme2_off/model_linux_sme2_off_t1_b2.etdump"
    digit = re.compile(rb"(,timed,\d+,\d+)\d")
    kinds = {
        "samples.csv": lambda b: digit.sub(rb"\g<1>1", b, count=1) if digit.search(b)[0][-1:] != b"1"
        else digit.sub(rb"\g<1>2", b, count=1),
        "environment.jsonl": lambda b: b.replace(b'"pid":', b'"pid":1', 1),
        dump: lambda b: b[:-1] + bytes([b[-1] ^ 1]),
        "linux_sme2_off/outputs/output-0.bin": lambda b: bytes([b[0] ^ 1]) + b[1:],
    }
    run = killed(tmp)
    files = {f["path"]: f for f in run_folders.manifest(run)["files"]}
    for path in kinds:
        data = (run / path).read_bytes()[:files.get(path, {"bytes": 0})["bytes"]]
        expect(hashlib.sha256(data).hexdigest() == files.get(path, {}).get("sha256"), name, path, list(files))
    with (run / "samples.csv").open("ab") as f:  # a row that no block vouches for, and a torn one
        f.write((run / "samples.csv").read_bytes().splitlines(True)[-1] + b"linux_sme2_off,1")
    verified = execute(ETPROF, "verify", "run", "--format", "json", cwd=tmp)
    states = {f["path"]: f["state"] for f in json.loads(verified.stdout)["raw"]}
    expect(all(states[path] == "ok" for path in kinds), name, "as it was left", states)
    rows = execute(ETPROF, "stats", "run", "--format", "json", cwd=tmp)
    before = (run / "samples.csv").read_bytes()[:files["samples.csv"]["bytes"]].count(b"linux_sme2_off,")
    counted = [a for a in json.loads(rows.stdout)["arms"] if a["name"] == "linux_sme2_off"][0]
    expect(counted["launches"] == 2 and before > 0, name, "rows behind the recorded ones count", counted)
    for path, change in kinds.items():
        data = (run / path).read_bytes()
        (run / path).write_bytes(change(data))
        expect((run / path).read_bytes() != data, name, path, "was not changed")
        ended(execute(ETPROF, "verify", "run", "--format", "csv", cwd=tmp), 1, says=path)
        ended(resume(tmp), 4, says=(path, "no blocks are added"))
        (run / path).write_bytes(data)
    whole = (run / "manifest.json").read_bytes()
    run_folders.alter(run, files=[])
    ended(execute(ETPROF, "verify", "run", cwd=tmp), 1, says="manifest.json")
    expect(resume(tmp).returncode == 4, name, "resumed without a list")
    (run / "manifest.json").write_bytes(whole.replace(b'"blocks_done": 2', b'"blocks_done": 1'))
    ended(resume(tmp), 2, 4)
    ended(resume(tmp, "--trust"), 4, says="a row of block 2 is recorded")
    (run / "manifest.json").write_bytes(whole)
    finished(tmp, name, resume(tmp))
    ended(execute(ETPROF, "verify", "run", cwd=tmp), 0)


def held_by_other(tmp):
    """Somebody holds it and does not say who."""
    name = "lock without a name"
    with open(killed(tmp) / "session.lock", "wb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(b"\xff" * 100)
        f.flush()
        done = resume(tmp)
    expect(done.returncode == 2 and "another session" in done.stderr, name, (done.returncode, done.stderr))
    expect(resume(tmp).returncode == 0, name, "not resumed when it was let go of")


def lock_is_no_file(tmp, name, make):
    lock = killed(tmp) / "session.lock"
    (tmp / "victim").write_text("keep")
    lock.unlink()
    make(lock)
    ended(resume(tmp), 5, says="session.lock", of=name)
    expect((tmp / "victim").read_text() == "keep", name, "wrote through the link")


def limited(tmp):
    """A limit on file sizes, as a full disk would be: one line, whole blocks stay, and it goes on when there is room.
    That it ends with 5 at any moment: interruption_table.py."""
    name = "file size limit"
    model(tmp)
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16000, resource.RLIM_INFINITY))}
    done = ab(tmp, "model.pte", *ARGS, "--blocks", "12", **limit)
    expect(done.returncode == 5 and "cannot write" in done.stderr and len(done.stderr.splitlines()) == 1, name,
           f"exit {done.returncode}: {done.stderr}")
    kept = run_folders.manifest(tmp / "run")["blocks_done"]
    expect(0 < kept < 12, name, f"{kept} blocks")
    expect(not (tmp / "run" / "session.lock").exists(), name, "the lock is left")
    finished(tmp, name, resume(tmp), 12)
    words = [w for w in ARGS if w != "--quiet"][:-1]
    loud = ab(tmp, "model.pte", *words, "loud", "--blocks", "12", **limit)
    expect("'etprof ab --resume loud' goes on" in loud.stderr, name, "no command that goes on", loud.stderr)


def asked_counts(tmp):
    """Killed before anything was committed: what the user fixed is still what is measured."""
    name = "resume before block 1"
    model(tmp, "on * timed 1 hang")
    count = tmp / "model.pte.count"
    p = fake_sessions.begun([ETPROF, "ab", "model.pte", *ARGS, "--blocks", "2", "--no-trace", "--runner", FAKE,
                             "--timeout", "50"], lambda: "timed" in count.read_text(), cwd=tmp)
    p.kill()
    p.wait(timeout=120)
    count.write_text("sme2 timed\nneon timed\n" * 2)  # the first launches of others shall not hang
    expect(run_folders.manifest(tmp / "run")["blocks_done"] == 0, name, run_folders.manifest(tmp / "run"))
    finished(tmp, name, resume(tmp), 2)
    counts = run_folders.manifest(tmp / "run")["plan"]["iterations"]
    expect(counts == [{"warmup": 3, "timed": 8, "traced": 0}] * 2, name, counts)


def renames(tmp, nth, how):
    """Replacing manifest.json fails with a full disk, or etprof is killed right before or after: the NTH time that a
    session writes it."""
    name = f"manifest's rename {nth}: {how}"
    model(tmp)
    env = {**os.environ, "RENAME_TRAP": f"manifest.json {nth} {how}", "LD_PRELOAD": os.path.abspath(sys.argv[3]),
           "ASAN_OPTIONS": "verify_asan_link_order=0"}
    done = ab(tmp, "model.pte", *ARGS, "--blocks", "3", env=env)
    expect(done.returncode == (5 if how == "fail" else -9), name, f"exit {done.returncode}: {done.stderr}")
    if how == "fail":
        expect("manifest.json: No space left" in done.stderr and len(done.stderr.splitlines()) == 1, name, done.stderr)
    run = tmp / "run"
    now = run_folders.manifest(run) if (run / "manifest.json").exists() else {"state": "none", "blocks_done": 0}
    expect(now["blocks_done"] >= nth - 2, name, now)
    if now["state"] in ("none", "finished"):
        # Nothing had begun: the name is free, or there is no session to go on with. Or all was done.
        expect(nth in (1, 5), name, now)
        return
    rows = (run / "samples.csv").read_bytes() if now["blocks_done"] else b""
    finished(tmp, name, resume(tmp), 3)
    expect((run / "samples.csv").read_bytes()[:100] == rows[:100] or not rows, name, "rows changed")
    expect(not list(run.rglob("*.tmp-*")), name, list(run.rglob("*.tmp-*")))
    ended(execute(ETPROF, "verify", "run", "--quiet", cwd=tmp), 0, of=name)


def moved(tmp):
    """The folder has another name when it is gone on with."""
    (tmp / "deep").mkdir()
    killed(tmp).rename(tmp / "deep" / "other name")
    for words in (("ab", "--resume", "deep/other name", "--runner", FAKE), ("verify", "deep/other name")):
        ended(execute(ETPROF, *words, "--quiet", cwd=tmp), 0)


def moved_meanwhile(tmp):
    name = "folder moved under a running session"
    p = begun(tmp, *ARGS, "--timeout", "5")
    run, away = tmp / "run", tmp / "away"
    run.rename(away)
    p.wait(timeout=300)
    expect(p.returncode == 5, name, p.returncode)
    expect(not (run / "manifest.json").exists(), name, "half a folder under the old name")
    away.rename(run)
    before, done = run_folders.manifest(run)["blocks_done"], resume(tmp)
    expect(before >= 2 and done.returncode in (0, 6) and run_folders.manifest(run)["blocks_done"] >= 6, name,
           (before, done.returncode, done.stderr))


def two_at_once(tmp):
    """Two go on with the same session at the same moment: one does, the other is told."""
    name = "two at once"
    killed(tmp)
    both = [subprocess.Popen([ETPROF, "ab", "--resume", "run", "--quiet", "--runner", FAKE], cwd=tmp, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    ends = sorted((b.communicate(timeout=300)[1], b.returncode) for b in both)
    codes = sorted(code for _, code in ends)
    expect(codes == [0, 2], name, ends)
    expect(run_folders.manifest(tmp / "run")["blocks_done"] == 6, name, "not finished")
    rows = (tmp / "run" / "samples.csv").read_text().splitlines()
    expect(len(rows) == len(set(rows)), name, "rows are there twice")


def read_only(tmp):
    """A folder on a file system that may only be read: nothing is changed, one line says why."""
    name = "read-only folder"
    killed(tmp)
    done = execute("unshare", "-rm", "sh", "-c",
                   "mount --bind run run && mount -o remount,ro,bind run && exec \"$@\"", "sh", ETPROF, "ab",
                   "--resume", "run", "--quiet", "--runner", FAKE, cwd=tmp)
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        print(f"skipped: {name}: no user namespaces here ({done.stderr.strip()})")
        return
    expect(done.returncode == 5 and "Read-only file system" in done.stderr and len(done.stderr.splitlines()) == 1,
           name, (done.returncode, done.stderr))
    expect(resume(tmp).returncode == 0, name, "not resumed when it could be written")


def one_arm(tmp, name, directive, wanted, measured):
    """Its finding, beside what was measured of the other arm; exit code 6."""
    model(tmp, directive)
    done = ended(ab(tmp, "model.pte", *ARGS, "--blocks", "6", "--timeout", "5"), 6, of=name)
    r = run_folders.report(tmp / "run")
    found = [f for f in r["findings"] if f["kind"] == "arm_fails"]
    expect(len(found) == 1 and found[0]["severity"] == "bad" and wanted in found[0]["text"]
           and found[0]["evidence"] == ["arm:linux_sme2_on"], name, r["findings"])
    other = [a for a in r["arms"] if a["name"] == "linux_sme2_off"][0]
    expect(other["median_ns"] == 3000000, name, other)
    c = r["comparisons"][0]
    expect(c["verdict"] == "unknown" and (c["speedup"]["blocks"] > 0) == measured, name, c)
    expect(wanted in " ".join(done.stdout.split()), name, "the report does not say it")
    ended(execute(ETPROF, "explain", found[0]["id"], "run", cwd=tmp), 0, says="launches that gave nothing")


def both_arms(tmp):
    name = "both arms fail"
    model(tmp, "on * timed 3 crash")
    ended(ab(tmp, "model.pte", *ARGS, "--blocks", "6"), 6)
    text = [f["text"] for f in run_folders.report(tmp / "run")["findings"]]
    expect(not any("only linux" in t or "could not be measured" in t for t in text), name, text)


in_folders(padded, ctrl_c, still_running, (stale, "stale lock", b"999999999\n"),
           (stale, "lock of another process", f"{os.getpid()}\n".encode()), (stale, "empty lock", b""), edited,
           held_by_other, (lock_is_no_file, "lock is a folder", lambda p: p.mkdir()),
           (lock_is_no_file, "lock is a link", lambda p: p.symlink_to("../victim")), limited, moved, moved_meanwhile,
           two_at_once, read_only, asked_counts)
if len(sys.argv) > 3:
    in_folders(*((renames, nth, how) for how in ("fail", "kill", "after") for nth in range(1, 6)))
else:
    print("skipped: renames: no LD_PRELOAD here")
in_folders((one_arm, "crash in one arm", "on sme2 timed * crash",
            "SME2 could not be measured, the other arm could: each of its 3 launches was lost (crash: the runner was "
            "ended by signal 11", False),
           (one_arm, "some crashes in one arm", "on sme2 timed 2 crash",
            "only SME2 fails: 1 of its 11 launches were lost, none of the others' (last crash: ", True),
           (one_arm, "hang in one arm", "on sme2 timed * hang", "(hang: no answer for 5 s while running the model)",
            False),
           (one_arm, "model does not load at one level", "on sme2 * * error:load",
            "each of its 1 launches was lost (error: the fake was told to refuse)", False), both_arms)
finish("all as documented")
