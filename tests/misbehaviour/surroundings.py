# SPDX-License-Identifier: Apache-2.0
"""What surrounds a command: closed streams, a working directory that cannot be written to, a file that becomes shorter
while it is read; and folders of sessions that were cut short, which are sound.

usage: surroundings.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, hear_signals, in_folders

hear_signals()
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
AB = ["--levels", "sme2,neon", "--iterations", "4", "--warmup", "1", "--seed", "7", "--quiet", "--runner", FAKE]


def call(tmp, *args, **more):
    return execute(ETPROF, *args, cwd=tmp, **more)


def streams(tmp):
    """An answer that nobody can get is no success, and no file of ours takes a stream's number."""
    run_folders.make(tmp / "run", 2)
    before = (tmp / "run" / "samples.csv").read_bytes()
    for redirect, code in ((">&-", 5), ("<&- >&-", 5), ("<&- >&- 2>&-", 5), ("<&-", 0), ("2>&-", 0), ("<&- 2>&-", 0)):
        ended(execute("sh", "-c", f"'{ETPROF}' analyze run --renew {redirect}", cwd=tmp), code)
        expect((tmp / "run" / "samples.csv").read_bytes() == before, redirect, "a raw file was written to")
        report = tmp / "run" / "report.json"
        expect(not report.exists() or json.loads(report.read_text()), redirect, "report.json is no JSON")
    fake_sessions.model(tmp / "model.pte")
    done = subprocess.run(["sh", "-c", f"'{ETPROF}' ab model.pte {' '.join(AB)} --blocks 2 --out closed <&- >&- 2>&-"],
                          cwd=tmp, timeout=120, check=False)
    expect(done.returncode == 5, "ab with closed streams", done.returncode)
    expect(run_folders.manifest(tmp / "closed")["state"] == "finished", "ab with closed streams",
           "not finished")


def shortened(tmp):
    """A mapped file loses its end: said, exit code 5, no bare signal."""
    root = run_folders.make(tmp / "run", 2, iterations=60000, dumps=False)
    path = root / "samples.csv"
    rows = path.read_bytes()
    seen = []
    for attempt in range(40):
        path.write_bytes(rows)
        p = subprocess.Popen([ETPROF, "analyze", "run"], cwd=tmp, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        time.sleep(0.005 + 0.005 * (attempt % 10))
        os.truncate(path, 100)
        text = p.communicate(timeout=120)[1]
        seen.append(p.returncode)
        expect(p.returncode >= 0, "a shortened file", f"signal {-p.returncode}")
        if "became shorter" in text:
            expect(p.returncode == 5, "a shortened file", p.returncode, text)
            return
        if p.returncode < 0:
            return
    print("a shortened file: never met while it was read:", seen)


def read_only(tmp):
    """--out elsewhere, from a folder that cannot be written to."""
    fake_sessions.model(tmp / "model.pte")
    here, out, state = tmp / "here", tmp / "out", tmp / "state"
    for folder in (here, out, state):
        folder.mkdir()
    tmp.chmod(0o777)
    user = 65534 if os.geteuid() == 0 else None  # root may write everywhere
    if user:
        for p in (out, state):
            os.chown(p, user, -1)
    here.chmod(0o555)
    (tmp / "model.pte.count").write_text("")
    (tmp / "model.pte.count").chmod(0o666)
    try:
        done = call(here, "ab", tmp / "model.pte", *AB, "--blocks", "2", "--out", out / "run", user=user,
                    env={**os.environ, "XDG_STATE_HOME": str(state), "HOME": str(state)})
    except PermissionError:
        print("read-only: the program cannot be started as another user here")
        return
    expect(done.returncode == 0, "a folder that cannot be written to", done.returncode, done.stderr[-300:])
    done = call(here, "verify", out / "run", user=user,
                env={**os.environ, "XDG_STATE_HOME": str(state), "HOME": str(state)})
    expect(done.returncode == 0, "verify there", done.returncode, done.stderr[-300:])
    expect(not list(here.iterdir()), "a folder that cannot be written to", "was written to")


def drop(root, block, kinds):
    """The folder as if BLOCK had been cut short before its launches of KINDS."""
    rows = (root / "samples.csv").read_text().splitlines()
    rows = rows[:1] + [r for r in rows[1:] if not (r.split(",")[1] == str(block) and r.split(",")[4] in kinds)]
    (root / "samples.csv").write_text("\n".join(rows) + "\n")
    run_folders.write_lines(root, [line for line in run_folders.environment(root) if line["type"] != "launch"
                                   or line["block"] != block or line["kind"] not in kinds])
    if "traced" in kinds:
        for arm in run_folders.manifest(root)["plan"]["arms"]:
            for end in (".etdump", ".log"):
                (root / arm["name"] / f"{arm['prefix']}{'' if block == 1 else f'_b{block}'}{end}").unlink()
    run_folders.record(root)


def failed(done):
    return [(c["id"], c.get("file"), c["found"]) for c in json.loads(done.stdout)["checks"] if not c["ok"]]


def cut_short(tmp):
    """Blocks that an interruption cut short are holes in the traces, not faults."""
    for block in (1, 2, 3):
        root = run_folders.make(tmp / f"run{block}", 2, blocks=3, iterations=4)
        ids = {f[0] for f in failed(call(tmp, "validate", root.name, "--format", "json"))}
        expect("run.missing" not in ids, "whole", ids)
        drop(root, block, ("traced", "timed"))
        call(tmp, "analyze", "--full", "--renew", root.name)
        bad = failed(call(tmp, "validate", root.name, "--format", "json"))
        bad = [b for b in bad if not b[0].startswith("dump.")]  # times of the made rows are not those of the dumps
        expect(not bad, f"block {block} cut short", bad)
        expect(call(tmp, "verify", root.name).returncode == 0, f"block {block} cut short", "verify")
    # And what is missing is said, by both, also where no hash lists it.
    root = run_folders.make(tmp / "missing", 2, blocks=3)
    run_folders.alter(root, state="running", files=[], results=[])
    (root / "arm0" / "mixed_xnnpack_fp32_arm0_t1_b2.etdump").unlink()
    bad = failed(call(tmp, "validate", "missing", "--format", "json"))
    expect(any(b[0] == "run.missing" and b[1].endswith("_b2.etdump") for b in bad), "a missing trace", bad)
    expect(call(tmp, "verify", "missing").returncode == 1, "a missing trace", "verify")


def empty(tmp):
    """Ended before its first block: its own manifest is valid."""
    fake_sessions.model(tmp / "model.pte", *fake_sessions.BASE, "on * timed 2+ hang")
    p = fake_sessions.begun([ETPROF, "ab", "model.pte", *AB, "--blocks", "4", "--out", "empty"],
                            (tmp / "empty/manifest.json").exists, cwd=tmp)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    written = run_folders.manifest(tmp / "empty")
    print("blocks", written["blocks_done"], "results", len(written["results"]))
    bad = [b for b in failed(call(tmp, "validate", "empty", "--format", "json")) if not b[0].startswith("dump.")]
    expect(not bad, "a session that ended at once", written["blocks_done"], bad)


def limited(tmp):
    """A limit on file sizes or on the stack is told, and nothing half written stays."""
    run_folders.make(tmp / "run", 2)
    for verb, at in (("analyze run --renew", "run"), ("verify run", ".etprof"),
                     ("ops run/*/*_t1.etdump --format json", "run")):
        ended(execute("bash", "-c", f"ulimit -f 4; exec '{ETPROF}' {verb}", cwd=tmp), 0, 5)
        left = [p for p in (tmp / at).rglob("*") if "tmp-" in p.name or "verify-" in p.name]
        expect(not left, verb, "left", left)
    kinds = [(24, None), (64, None), (256, None)]
    if b"__asan_init" not in pathlib.Path(ETPROF).read_bytes():
        # With more in the environment not even /bin/true always gets through its loader; its begin is chance.
        kinds += 80 * [(16, {"A": 1650 * "x"})]
    for kib, env in kinds:
        done = execute("bash", "-c", f"ulimit -s {kib}; exec '{ETPROF}' verify run", cwd=tmp, env=env)
        expect(done.returncode == 0 or (done.returncode == 5 and "stack" in done.stderr), "a stack of KiB", kib,
               done.returncode, done.stderr)


def full_disk(tmp):
    """A disk without room for the first files of a session: no folder stays that another session could not have."""
    private = ["unshare", "-rm", "sh", "-e", "-c"]
    mounted = f"mount -t tmpfs -o size=400k none '{tmp}'\ncd '{tmp}'\n"
    if execute(*private, mounted, text=False).returncode != 0:
        print("skipped: full_disk: no file system of its own here")
        return
    ab = f"'{ETPROF}' ab model.pte {' '.join(AB)} --blocks 2 --no-trace --out run"
    script = mounted + f"""printf '\\020\\0\\0\\0ET12base sme2 1000000\\nbase neon 3000000\\n' >model.pte
        dd if=/dev/zero of=ballast bs=1k count=$0 2>/dev/null || true
        {ab} || echo "exit $?"
        find run -type f; rm ballast; [ -f run/manifest.json ] || {ab} >answer || echo "again $?" """
    for kib in (400, 396, 392, 388, 380):
        done = execute(*private, script, kib)
        files = [line for line in done.stdout.splitlines() if line.startswith("run/")]
        expect("exit 5" in done.stdout and "again" not in done.stdout and (not files or "run/manifest.json" in files),
               "a full disk", kib, done.stdout[-300:], done.stderr[-300:])


in_folders(streams, shortened, read_only, cut_short, empty, limited, full_disk)
finish()
