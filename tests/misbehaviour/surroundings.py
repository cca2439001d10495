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
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders
from checks import execute, expect, finish, hear_signals

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
        done = execute("sh", "-c", f"'{ETPROF}' analyze run --renew {redirect}", cwd=tmp)
        expect(done.returncode == code, "analyze", redirect, done.returncode, done.stderr[-200:])
        expect((tmp / "run" / "samples.csv").read_bytes() == before, redirect, "a raw file was written to")
        report = tmp / "run" / "report.json"
        expect(not report.exists() or json.loads(report.read_text()), redirect, "report.json is no JSON")
    (tmp / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n")
    done = subprocess.run(["sh", "-c", f"'{ETPROF}' ab model.pte {' '.join(AB)} --blocks 2 --out closed <&- >&- 2>&-"],
                          cwd=tmp, timeout=120,
                          check=False)
    expect(done.returncode == 5, "ab with closed streams", done.returncode)
    expect(json.loads((tmp / "closed" / "manifest.json").read_text())["state"] == "finished", "ab with closed streams",
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
    (tmp / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n")
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
    lines = [json.loads(line) for line in (root / "environment.jsonl").read_text().splitlines()]
    lines = [line for line in lines
             if not (line["type"] == "launch" and line["block"] == block and line["kind"] in kinds)]
    (root / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = json.loads((root / "manifest.json").read_text())
    end = ".etdump" if block == 1 else f"_b{block}.etdump"
    gone = []
    for arm in manifest["plan"]["arms"]:
        for name in (end, end.replace(".etdump", ".log")):
            gone.append(f"{arm['name']}/{arm['prefix']}{name}")
    if "traced" in kinds:
        for name in gone:
            (root / name).unlink()
        manifest["files"] = [f for f in manifest["files"] if f["path"] not in gone]
    manifest["files"] = [run_folders.entry(root, f["path"]) for f in manifest["files"]]
    (root / "manifest.json").write_text(json.dumps(manifest))


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
    manifest = json.loads((root / "manifest.json").read_text())
    manifest.update(state="running", files=[], results=[])
    (root / "manifest.json").write_text(json.dumps(manifest))
    (root / "arm0" / "mixed_xnnpack_fp32_arm0_t1_b2.etdump").unlink()
    bad = failed(call(tmp, "validate", "missing", "--format", "json"))
    expect(any(b[0] == "run.missing" and b[1].endswith("_b2.etdump") for b in bad), "a missing trace", bad)
    expect(call(tmp, "verify", "missing").returncode == 1, "a missing trace", "verify")


def empty(tmp):
    """Ended before its first block: its own manifest is valid."""
    (tmp / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\non * timed 2+ hang\n")
    p = subprocess.Popen([ETPROF, "ab", "model.pte", *AB, "--blocks", "4", "--out", "empty"], cwd=tmp,
                         stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    manifest = tmp / "empty" / "manifest.json"
    end = time.time() + 120
    while not manifest.exists() and time.time() < end:
        time.sleep(0.02)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    written = json.loads(manifest.read_text())
    print("blocks", written["blocks_done"], "results", len(written["results"]))
    bad = [b for b in failed(call(tmp, "validate", "empty", "--format", "json")) if not b[0].startswith("dump.")]
    expect(not bad, "a session that ended at once", written["blocks_done"], bad)


def limited(tmp):
    """A limit on file sizes or on the stack is told, and nothing half written stays."""
    run_folders.make(tmp / "run", 2)
    for verb, at in (("analyze run --renew", "run"), ("verify run", ".etprof"),
                     ("ops run/*/*_t1.etdump --format json", "run")):
        done = execute("bash", "-c", f"ulimit -f 4; exec '{ETPROF}' {verb}", cwd=tmp)
        expect(done.returncode in (0, 5), verb, "under a limit of 4 KiB for files", done.returncode, done.stderr[-300:])
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


for part in (streams, shortened, read_only, cut_short, empty, limited, full_disk):
    with tempfile.TemporaryDirectory() as tmp:
        part(pathlib.Path(tmp).resolve())
finish()
