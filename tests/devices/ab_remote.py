# SPDX-License-Identifier: Apache-2.0
"""etprof ab through a real connection: evidence, facts, and every way in which the other side fails.

usage: ab_remote.py ETPROF SOURCE_DIR ssh|adb|phone [TEST...]"""
import csv
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, hear_signals, skip

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from held import gone_after_its_end, gone_before_watched


class Bench:
    """etprof with a device that is reached by DEVICE and keeps its files below HOME."""

    def __init__(self, etprof, root, bundle, work, device, home, env, server):
        self.etprof, self.root, self.work, self.device, self.home, self.server = (
            etprof, root, work, device, home, server)
        self.tools = server.home / server.first_in_path
        self.env = {**os.environ, "ETPROF_RUNNER": str(bundle), "XDG_STATE_HOME": str(self.work / "state"), **env}
        self.model = root / "examples" / "models" / "toy_cnn_xnnpack_fp32.pte"
        self.count = 0
        self.old = set()

    def command(self, *extra, model=None, device=None):
        self.count += 1
        self.old = {pid for pid, _ in self.runners()}  # of killed sessions: they end a moment later
        out = self.work / f"run{self.count}"
        # Counts that need no pilot, unless the test has its own: what is tested is the way, not the times.
        given = (("--blocks", "1"), ("--iterations", "3", "--warmup", "1"), ("--levels", "avx2,sse"))
        counts = [word for words in given if words[0] not in extra for word in words]
        words = [self.etprof, "ab", str(model or self.model), "--device", device or self.device, *counts,
                 "--format", "json", "--out", str(out), *map(str, extra)]
        return words, out

    def ab(self, *extra, model=None, device=None, timeout=600, env=None):
        words, out = self.command(*extra, model=model, device=device)
        try:
            done = execute(*words, cwd=self.work, errors="replace", timeout=timeout, env={**self.env, **(env or {})})
        except subprocess.TimeoutExpired as e:
            raise AssertionError((words, f"not over after {timeout} s", (e.stderr or b"")[-3000:])) from None
        return done, out

    def files(self):
        return sorted(p for p in self.home.rglob("files/*") if p.is_file())

    def under(self, part):
        """What is in the folders PART of the device, also while sessions there make and remove it: rglob ends with
        an error at a folder that goes away under it."""
        found = set()
        for where, folders, names in os.walk(self.home):
            if pathlib.Path(where).name == part:
                found.update(pathlib.Path(where, name) for name in folders + names)
        return found

    def runners(self):
        """Living runners whose working directory is on the device."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    cwd = os.readlink(entry / "cwd")
                    line = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if cwd.startswith(str(self.server.inside.resolve())) and b"etprof-runner" in line:
                    found.append((int(entry.name), line))
        return found

    def wait_for_runner(self):
        end = time.monotonic() + 100
        while time.monotonic() < end:
            for pid, line in self.runners():
                # Not the shell that starts it.
                if pid not in self.old and b"\0--model\0" in line and b"--probe" not in line:
                    return pid
            time.sleep(0.02)
        raise AssertionError("no runner was started")

    def wait_for_runner_that_stays(self, runners=None):
        """The first launch that has computed for half a second: those that ask and check never do, however long the
        machine lets them wait."""
        end = time.monotonic() + 100
        while True:
            assert time.monotonic() < end, "no runner stayed"
            for pid, line in (runners or self.runners)():
                if pid not in self.old and line.endswith(b"\0--kind\0timed\0") and cpu_seconds(pid) > 0.5:
                    return
            time.sleep(0.02)

    def assert_no_orphans(self, seconds=12):
        """None for a second: what the daemon was told to start before etprof ended may begin after it."""
        end = time.monotonic() + seconds
        left, gone = self.runners(), time.monotonic()
        while (left and time.monotonic() < end) or (not left and time.monotonic() < gone + 1):
            time.sleep(0.05)
            left = self.runners()
            gone = time.monotonic() if left else gone
        assert not left, left

    def assert_no_folder(self, before, seconds=90):
        """A session that was killed leaves no folder there but those of BEFORE, as soon as its shell has looked."""
        end = time.monotonic() + seconds
        while (left := self.under("work") - before) and time.monotonic() < end:
            time.sleep(0.1)
        assert not left, left


def measures_and_proves(b: Bench):
    done, out = b.ab("--blocks", "2")
    assert done.returncode == 0, (done.returncode, done.stderr)
    answer = json.loads(done.stdout)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["state"] == "finished" and not manifest["lost"], manifest["lost"]
    facts = manifest["device"]
    assert facts["spec"] == b.device, facts
    text = json.dumps(facts)
    assert platform.release() in text and str(os.cpu_count()) in text, facts
    assert answer["correctness"]["ok"] is True, answer["correctness"]
    assert len(answer["operators"]) > 3
    for arm in answer["arms"]:
        assert arm["proof"]["ok"] is not False, arm["proof"]
        assert any("mask" in json.dumps(e) for e in arm["proof"]["evidence"]), arm["proof"]
    lines = (out / "environment.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["start"]["load1"] is not None
    # The model is there under its hash, nothing half-sent is, the session's own folder is gone.
    digest = hashlib.sha256(b.model.read_bytes()).hexdigest()
    assert [p.name for p in b.files()] == [digest], b.files()
    assert not list(b.home.rglob("*.part")) and not list(b.home.rglob("work/*"))
    b.assert_no_orphans(1)


def price(b: Bench):
    """What arms cost is told of a device as of this machine, but for what lies before the runner: whose start there
    nobody sees is not known, neither as time nor as faults."""
    done, out = b.ab("--price")
    assert done.returncode == 0, (done.returncode, done.stderr)
    for arm in json.loads(done.stdout)["arms"]:
        assert all(arm[k] > 0 for k in ("load_ns", "cold_load_ns", "dirty_bytes", "clean_bytes", "peak_rss_bytes")), arm
        whole = arm["dirty_bytes"] + arm["clean_bytes"]  # medians of timed launches, not the one of the rows
        assert 0.97 < sum(arm["memory"].values()) / whole < 1.03, (arm["memory"], whole)
        assert {"runner", "packing", "first"} <= {p["what"] for p in arm["loading"]["parts"]}, arm["loading"]
    told = execute(b.etprof, "analyze", out, "--price", "--table", "loading", "--format", "csv", check=True).stdout
    start = next(row for row in csv.DictReader(told.splitlines()) if row["part"] == "process and libraries")
    assert not any(value for key, value in start.items() if key not in ("part", "what")), start


def sends_only_what_changed(b: Bench):
    stored = b.files()[0]
    runner = next(b.home.rglob("bundles/*/etprof-runner"))
    before = (stored.stat().st_mtime_ns, runner.stat().st_mtime_ns)
    done, _ = b.ab("--no-trace")
    assert done.returncode == 0, done.stderr
    assert (stored.stat().st_mtime_ns, runner.stat().st_mtime_ns) == before
    # The same name with other bytes is found out and replaced.
    stored.write_bytes(b"x" * stored.stat().st_size)
    with open(runner, "r+b") as f:
        f.truncate(1000)
    done, _ = b.ab("--no-trace")
    assert done.returncode == 0, done.stderr
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == stored.name
    assert runner.stat().st_size > 1000


def sends_what_it_hashes(b: Bench):
    """Files in folders of a bundle arrive there, and another one of them is another bundle."""
    bundle = b.work / "nested"
    shutil.copytree(b.env["ETPROF_RUNNER"], bundle)
    deep = pathlib.Path("a/b/c/deep.txt")
    (bundle / deep).parent.mkdir(parents=True)
    hashes = set()
    for text in ("one", "other"):
        (bundle / deep).write_text(text)
        done, out = b.ab("--no-trace", "--runner", str(bundle))
        assert done.returncode == 0, done.stderr
        assert text in [p.read_text() for p in b.home.rglob(f"bundles/*/{deep}")], text
        hashes.add(json.loads((out / "manifest.json").read_text())["plan"]["bundle_sha256"])
    assert len(hashes) == 2, hashes


def arguments_stay_arguments(b: Bench):
    """Quotes, semicolons, blanks and line ends reach the runner as they are, and run nothing."""
    trap = b.work / "trapped"
    text = f"x'; touch {trap}; '$(touch {trap})`touch {trap}`\"; touch {trap} #\ntouch {trap}\n"
    done, _ = b.ab("--method", text)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert not trap.exists()
    odd = b.work / "a model;touch trapped 'and' \"more\" $HOME.pte"
    shutil.copyfile(b.model, odd)
    inputs = b.work / "in put'0.bin"
    inputs.write_bytes(bytes(4 * 3 * 96 * 96))  # what toy_cnn takes
    done, out = b.ab("--no-trace", "--inputs", f"{inputs}", model=odd)
    assert done.returncode == 0, done.stderr
    # A name that is no UTF-8 could not stand in a document: it is refused before anything is sent.
    strange = os.fsencode(b.work) + b"/caf\xe9\xff.pte"
    shutil.copyfile(b.model, strange)
    done, out = b.ab("--no-trace", model=os.fsdecode(strange))
    assert done.returncode == 2 and "rename it" in done.stderr and not out.exists(), (done.returncode, done.stderr)
    os.unlink(strange)
    json.loads((b.ab("--no-trace", model=odd)[1] / "manifest.json").read_text("utf-8"))
    assert not trap.exists() and not list(b.home.rglob("trapped"))


def runner_goes_with_us(b: Bench):
    """etprof killed outright: nothing stays behind on the device."""
    words, _ = b.command("--iterations", "1000000")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=b.env)
    b.wait_for_runner_that_stays()
    p.kill()
    p.wait()
    b.assert_no_orphans()


def with_helper(b: Bench, name, helper, before=""):
    """A runner that starts HELPER in a session of its own; its number is noted in the file beside it. BEFORE: shell
    lines that come first, with that file as $note."""
    bundle = pathlib.Path(b.env["ETPROF_RUNNER"])
    start = " ".join(f"{bundle}/{w}" if (bundle / w).is_file() else w
                     for w in json.loads((bundle / "bundle.json").read_text())["start"])
    note = b.work / (name + ".pids")
    wrapper = b.work / name
    wrapper.write_text(f"#!/bin/sh\nnote={note}\n{before}"
                       f"( setsid {helper} </dev/null >/dev/null 2>&1 & echo $! >>$note )\n"
                       f"cd {bundle} && exec {start} \"$@\"\n")
    wrapper.chmod(0o755)
    return wrapper, note


def lines_of(pids):
    """(pid, command line) of those that live."""
    found = []
    for pid in pids:
        try:
            found.append((pid, pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()))
        except OSError:
            pass
    return found


def cpu_seconds(pid):
    """Computed so far; 0: it has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def those_with(pids, word):
    """Which of the processes live and have WORD in their command line."""
    return [pid for pid, line in lines_of(pids) if word in line]


def still_there(pids, word):
    """The same, when they have had time to die: a killed process lives until it gets a CPU."""
    end = time.monotonic() + 30
    while (left := those_with(pids, word)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


# Waits until the first helpers can be recognised, at most half a minute.
RECOGNISED = """n=0
for p in $(head -n 3 $note 2>/dev/null); do
    while [ -d /proc/$p ] && [ $n -lt 600 ]; do
        case $(tr '\\0' ' ' </proc/$p/cmdline 2>/dev/null) in sleep*) break ;; esac
        n=$((n + 1)); sleep 0.05
    done
done
"""


def helper_marked_late(b: Bench):
    """A helper that cannot be recognised while its launch ends, as one that is just being started, and can be a
    little later: it goes with the session."""
    wrapper, note = with_helper(b, "late_helper", "env -i sh -c 'sleep 0.3; ETPROF_LAUNCH=$0 exec sleep 1001' "
                                                  "$ETPROF_LAUNCH", RECOGNISED)
    done, _ = b.ab("--no-trace", "--runner", wrapper)
    assert done.returncode == 0, done.stderr
    # The launches after them waited until they were recognisable; the last launch's may not be.
    first = note.read_text().split()[:3]
    left = still_there(first, b"1001")
    for pid in those_with(note.read_text().split(), b"1001"):  # ours alone: another test may run beside this one
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert len(first) == 3 and not left, (first, left)


def helpers_go_with_us(b: Bench):
    """What a runner starts there, in a session of its own and without a parent: gone at the runner's end, and when
    etprof is killed outright. Then the session's folder there goes, too."""
    wrapper, note = with_helper(b, "with_helper", "sleep 1000", "echo $$ >>$note.runners\n")

    def started():
        return note.read_text().split()

    def alive():
        return those_with(started(), b"sleep")
    done, _ = b.ab("--no-trace", "--runner", wrapper)
    assert done.returncode == 0, done.stderr
    left = still_there(started(), b"sleep")
    assert len(started()) >= 3 and not left, (started(), left)
    before = b.under("work")
    words, _ = b.command("--iterations", "1000000", "--runner", wrapper)
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=b.env)
    # The launch that will not end, not the questions before it. It is not to be found by its folder: the wrapper's is
    # the bundle's.
    b.wait_for_runner_that_stays(lambda: lines_of(pathlib.Path(f"{note}.runners").read_text().split()))
    assert alive() and p.poll() is None, "no helper"
    p.kill()
    p.wait()
    b.assert_no_folder(before)  # no launch begins without it
    left = still_there(started(), b"sleep")
    assert not left, left


def interrupt_ends_at_once(b: Bench):
    words, out = b.command("--blocks", "500", "--iterations", "50", "--no-trace")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=b.env)
    line = out / "environment.jsonl"
    before = b.under("work")  # what a killed session left: it goes after a day
    while p.poll() is None and not (line.exists() and line.stat().st_size > 0):
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    _, text = p.communicate(timeout=60)
    assert p.returncode == 130, (p.returncode, text)
    b.assert_no_orphans()
    assert b.under("work") <= before, "the session's folder stayed"


def daemon_dies_mid_run(b: Bench):
    """The launch is lost, said so and in the exit code; the orphan ends; a new daemon is found again. adb says
    0 in this case and ssh 255."""
    words, out = b.command("--iterations", "600", "--no-trace")  # long enough to be met, short enough to be waited for
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    b.wait_for_runner()
    b.server.kill()
    time.sleep(0.5)
    b.server.start()
    _, text = p.communicate(timeout=600)
    lost = json.loads((out / "manifest.json").read_text())["lost"]
    assert p.returncode == 6 and lost[0]["reason"] == "connection", (p.returncode, lost, text)
    assert "the connection to the device was lost" in text and "status 0" not in text, text
    b.assert_no_orphans()


def gone_and_resumed(b: Bench):
    """The daemon stays away: what was measured is kept, and --resume goes on when it is back."""
    words, out = b.command("--iterations", "100", "--no-trace", "--blocks", "3", "--timeout", "2")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    line = out / "environment.jsonl"
    while p.poll() is None and not (line.exists() and line.stat().st_size > 0):
        time.sleep(0.02)
    b.server.kill()
    time.sleep(1)
    p.send_signal(signal.SIGINT)
    _, text = p.communicate(timeout=180)
    b.server.start()
    assert p.returncode in (5, 6, 130), (p.returncode, text)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["state"] == "interrupted", (p.returncode, text)
    done = execute(b.etprof, "ab", "--resume", out, "--format", "json", cwd=b.work, env=b.env)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["state"] == "finished" and done.returncode in (0, 6), (done.returncode, done.stderr)
    assert json.loads(done.stdout)["comparisons"], done.stdout[:500]


PHASES = {"prefill 16": 1, "decode @0": 4, "decode @32": 4}  # name → calls of a repetition
DECODER = ("--prefill", "16", "--decode", "4@0,32")


def decoder_in_phases(b: Bench):
    """A text decoder with operators that the SDK lacks: each phase has its calls, recordings, ledger and outputs."""
    done, out = b.ab(*DECODER, "--blocks", "2", "--iterations", "8", "--warmup", "4", "--kernels", "never",
                     model=b.root / "tests/data/llm/decoder_fused.pte")
    assert done.returncode == 0, (done.returncode, done.stderr)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["state"] == "finished" and not manifest["lost"], manifest["lost"]
    assert {p["name"]: p["calls"] for p in manifest["plan"]["phases"]} == PHASES, manifest["plan"]["phases"]
    answer = json.loads(done.stdout)
    documents = {answer["phase"]: answer} | {p["name"]: p["document"] for p in answer["phases"] if p["document"]}
    assert list(documents) == list(PHASES), list(documents)
    with open(out / "samples.csv") as f:
        rows = [r for r in csv.DictReader(f) if r["phase"] == "timed"]
    for arm in manifest["plan"]["arms"]:
        assert sum(r["experiment"] == arm["name"] for r in rows) == 2 * 8, arm["name"]
        assert len(list((out / arm["name"]).glob("*.etdump*"))) == 2, arm["name"]
    for name, one in documents.items():
        assert one["correctness"]["ok"] is True, (name, one["correctness"])
        assert any("custom_sdpa" in json.dumps(o) for o in one["operators"]), name
        assert any(f["kind"] == "kernels_ours" for f in one["findings"]), name
        rows_of = one["ledgers"][0]["rows"]
        for end in ("baseline_ns", "candidate_ns", "delta_ns"):
            assert sum(r[end] for r in rows_of) == one["ledgers"][0][end], (name, end)
    b.assert_no_orphans(1)


def killed_while_decoding(b: Bench):
    """etprof killed outright in a later block: what was committed stays as it is, and --resume goes on."""
    words, out = b.command(*DECODER, "--blocks", "3", "--iterations", "400", "--warmup", "4", "--no-trace",
                           "--kernels", "never", model=b.root / "tests/data/llm/decoder_plain.pte")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=b.env)
    end = time.monotonic() + 100
    while p.poll() is None and time.monotonic() < end:
        if (out / "manifest.json").exists() and json.loads((out / "manifest.json").read_text())["blocks_done"] >= 1:
            break
        time.sleep(0.01)
    p.kill()
    p.wait()
    manifest = json.loads((out / "manifest.json").read_text())
    with open(out / "samples.csv") as f:
        before = [r for r in csv.DictReader(f) if int(r["block"]) <= manifest["blocks_done"]]
    assert 1 <= manifest["blocks_done"] < 3 and before, manifest["blocks_done"]
    b.assert_no_orphans()
    done = execute(b.etprof, "ab", "--resume", out, "--format", "json", cwd=b.work, env=b.env)
    assert done.returncode in (0, 3), (done.returncode, done.stderr)
    with open(out / "samples.csv") as f:
        after = list(csv.DictReader(f))
    assert after[:len(before)] == before, "rows of committed blocks changed"
    assert {(r["experiment"], r["block"]) for r in after} == {
        (a["name"], str(k)) for a in manifest["plan"]["arms"] for k in (1, 2, 3)}, "blocks of every phase"


def cut_off_push(b: Bench):
    """The daemon dies while a big model is on its way: no file of that name, and no success."""
    big = b.work / "big.pte"
    data = bytearray(b.model.read_bytes())
    data += os.urandom(1 << 20) * 100
    big.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    killed = []

    def killer():
        end = time.monotonic() + 180
        while time.monotonic() < end:
            for part in b.under("files"):
                try:
                    size = part.stat().st_size if part.match(f"{digest}.*.part") else 0
                except FileNotFoundError:  # it was whole, and has its name
                    continue
                if size > 1 << 20:
                    killed.append(size)
                    b.server.kill()
                    return
            time.sleep(0.001)

    t = threading.Thread(target=killer)
    t.start()
    done, _ = b.ab("--timeout", "3", model=big, timeout=600)
    t.join()
    b.server.start()
    assert killed and killed[0] < len(data), killed
    assert done.returncode == 5, (done.returncode, done.stderr)
    assert not [p for p in b.files() if p.name == digest], "half a model under its full name"
    for p in b.home.rglob("*.part"):
        p.unlink()


def stalled_daemon(b: Bench):
    """A daemon that stops answering costs our own time-out, not the day."""
    words, _ = b.command("--iterations", "1000000", "--no-trace", "--timeout", "2")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    b.wait_for_runner()
    begin = time.monotonic()
    b.server.signal(signal.SIGSTOP)
    try:
        _, text = p.communicate(timeout=180)
    finally:
        b.server.signal(signal.SIGCONT)
    assert p.returncode in (5, 6), (p.returncode, text)
    assert "no answer" in text or "connection was lost" in text or "no connection" in text, text
    print(f"stalled: gave up after {time.monotonic() - begin:.0f} s")
    b.server.stop()
    b.server.start()
    b.assert_no_orphans()


def read_only_device(b: Bench):
    root = next(b.home.rglob("etprof-*"))
    saved = root.rename(root.with_name("saved"))
    root.write_text("a file where the folder should be")
    done, _ = b.ab()
    root.unlink()
    saved.rename(root)
    assert done.returncode == 5 and "cannot make a folder" in done.stderr, (done.returncode, done.stderr)


def other_verbs(b: Bench):
    """run CONFIG, rerun and --kernels on the same device."""
    config = b.work / "config.json"
    config.write_text(json.dumps({
        "model": str(b.model), "output_root": str(b.work / "from_config"), "device": b.device, "blocks": 1,
        "experiments": [{"name": name, "level": level, "runs": 3, "warmup": 1}
                        for name, level in (("best", "avx2"), ("plain", "sse"))]}))
    def call(*words, codes=(0,)):
        done = execute(b.etprof, *words, cwd=b.work, env=b.env)
        assert done.returncode in codes, (words, done.returncode, done.stderr)
        return done
    call("run", config, "--format", "json")
    folder = next(b.work.glob("from_config*/**/manifest.json")).parent
    assert json.loads((folder / "manifest.json").read_text())["device"]["spec"] == b.device
    done = call("rerun", folder, "--format", "json", codes=(0, 1, 3))  # one block is not enough to say
    second = [p.parent for p in b.work.glob("from_config*/**/manifest.json") if p.parent != folder]
    assert len(second) == 1, (second, done.stderr)
    spec = json.loads((second[0] / "manifest.json").read_text())["device"]["spec"]
    assert spec == b.device, spec
    if b.device.startswith("adb"):
        return  # sampled launches take their time, and differ in nothing
    done, out = b.ab("--kernels", "always", "--iterations", "60")
    assert done.returncode == 0, done.stderr
    kernels = json.loads(call("kernels", out, "--format", "json").stdout)
    assert "kernels" in json.dumps(kernels) and list(out.rglob("*.samples*")), done.stderr


def affinity_is_checked(b: Bench):
    """A runner that does not do what --cpus says is found out by its /proc. Here, where its bundle is known."""
    if os.cpu_count() < 2:
        print("skipped: affinity_is_checked: one CPU")
        return
    bundle = pathlib.Path(b.env["ETPROF_RUNNER"])
    start = " ".join(f"{bundle}/{w}" if (bundle / w).is_file() else w
                     for w in json.loads((bundle / "bundle.json").read_text())["start"])
    liar = b.work / "liar"
    liar.write_text("#!/bin/bash\nwords=()\nwhile [ $# -gt 0 ]; do case $1 in --cpus) shift ;; *) words+=(\"$1\") ;; "
                    "esac; shift; done\n"
                    f"cd {bundle} && exec {start} \"${{words[@]}}\"\n")
    liar.chmod(0o755)
    for extra, honest in ((("--runner", str(liar)), False), ((), True)):
        done, out = b.ab("--no-trace", "--cpus", "1", *extra, device="local")
        assert done.returncode == 0, done.stderr
        text = (out / "manifest.json").read_text()
        assert ("affinity_not_kept" in text) != honest and ("may run on CPUs" in done.stderr) != honest, done.stderr


def bad_runners(b: Bench):
    """A runner of another machine, one without its libraries, one that talks for 10,000 lines: its words are shown."""
    def ab(runner):
        done, _ = b.ab("--runner", runner)
        assert done.returncode == 5 and len(done.stderr) < 2000, (done.returncode, done.stderr[:2000])
        return done.stderr
    lone = b.work / "lone" / "etprof-runner"
    lone.parent.mkdir()
    shutil.copy(pathlib.Path(b.env["ETPROF_RUNNER"]) / "etprof-runner", lone)
    text = ab(lone)
    assert ".so" in text and "does not start" in text, text
    foreign = b.work / "foreign"
    data = bytearray(lone.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")  # e_machine: aarch64
    foreign.write_bytes(data)
    foreign.chmod(0o755)
    text = ab(foreign)
    assert "aarch64" in text, text
    loud = b.work / "loud"
    loud.write_text("#!/bin/sh\ni=0\nwhile [ $i -lt 10000 ]; do i=$((i+1)); echo \"line $i of a long log, which nobody "
                    "reads\" >&2; done\n"
                    "echo 'the reason, last' >&2; exit 3\n")
    loud.chmod(0o755)
    text = ab(loud)
    assert "status 3" in text and "the reason, last" in text, text


def run(b: Bench, tests):
    wanted = sys.argv[4:]
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        begin = time.monotonic()
        test(b)
        print(f"ok {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)


def leftovers_are_swept(b: Bench):
    """What a killed client left goes with the next session: folders and parts that were quiet for an hour and run
    nothing."""
    root = next(b.home.rglob("files")).parent
    old = time.time() - 2 * 3600
    for name, pid in (("dead", "999999"), ("works", str(os.getpid())), ("fresh", "999999"), ("empty", None)):
        (root / "work" / name).mkdir(parents=True)
        if pid:
            (root / "work" / name / "pid.1").write_text(pid + "\n")
        if name != "fresh":
            os.utime(root / "work" / name, (old, old))
    part = root / "files" / ("0" * 64 + ".feed.part")
    part.write_bytes(b"half")
    os.utime(part, (old, old))
    done, _ = b.ab("--no-trace")
    assert done.returncode == 0, done.stderr
    left = {p.name for p in (root / "work").iterdir()}
    for name in ("works", "fresh"):
        shutil.rmtree(root / "work" / name, ignore_errors=True)
    assert {"works", "fresh"} <= left and not {"dead", "empty"} & left and not part.exists(), (left, part.exists())


COMMON = [measures_and_proves, price, sends_only_what_changed, sends_what_it_hashes, leftovers_are_swept,
          arguments_stay_arguments, read_only_device,
          runner_goes_with_us, helpers_go_with_us, helper_marked_late, gone_before_watched, gone_after_its_end,
          interrupt_ends_at_once, other_verbs, bad_runners,
          daemon_dies_mid_run, gone_and_resumed, decoder_in_phases, killed_while_decoding, cut_off_push, stalled_daemon]


def test_ssh(etprof, root, bundle, tmp):
    import sshd
    if sshd.missing():
        skip(sshd.missing())
    server = sshd.Server(tmp / "ssh")
    try:
        work = tmp / "work"
        work.mkdir()
        b = Bench(etprof, root, bundle, work, "ssh:board", server.home, {"ETPROF_SSH_CONFIG": str(server.config)},
                  server)

        def no_such_host(b):
            for host, words in (("closed", "refused"), ("nowhere.invalid", "no connection")):
                done, _ = b.ab(device=f"ssh:{host}")
                assert done.returncode == 5 and words in done.stderr, (done.returncode, done.stderr)
            done, _ = b.ab(device="ssh:-oProxyCommand=true")
            assert done.returncode == 2, (done.returncode, done.stderr)

        def host_key_changes(b):
            """Between two uses, in one, and where the user's own configuration would go on: said once, at once."""
            config, lenient = server.config, b.work / "lenient_config"
            lenient.write_text(config.read_text().replace("Checking yes", "Checking no\n  LogLevel QUIET"))
            begin = time.monotonic()
            words, out = b.command("--blocks", "500", "--iterations", "50", "--no-trace")
            running = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       env=b.env)
            line = out / "environment.jsonl"
            while running.poll() is None and not (line.exists() and line.stat().st_size > 0):
                time.sleep(0.02)
            known = server.change_host_key()
            try:
                texts = [running.communicate(timeout=180)[1]]
                assert running.returncode == 5, (running.returncode, texts)
                assert (out / "manifest.json").exists(), texts
                assert json.loads((out / "manifest.json").read_text())["state"] == "interrupted", texts
                for file in (config, lenient):
                    before = b.under("work")
                    done, out = b.ab(env={"ETPROF_SSH_CONFIG": str(file)})
                    assert done.returncode == 5 and not out.exists(), (file, done.returncode, done.stderr)
                    assert b.under("work") == before, "something was done there"
                    texts.append(done.stderr)
                for text in texts:
                    said = [line for line in text.splitlines() if "host key" in line]
                    assert len(said) == 1 and "@@@" not in text, text
                    assert "ssh board" in said[0] and f'ssh-keygen -f "{server.dir}/known_hosts" -R "[127.0.0.1]:' \
                        f'{server.port}"' in said[0], said
            finally:
                (server.dir / "known_hosts").write_text(server.line_of_key())
            print(f"host key: {time.monotonic() - begin:.0f} s")
            assert known != server.line_of_key()
            done, _ = b.ab("--no-trace")
            assert done.returncode == 0, done.stderr
            b.assert_no_orphans()

        run(b, [no_such_host, affinity_is_checked, *COMMON, host_key_changes])
    finally:
        server.stop()


def test_adb(etprof, root, bundle, tmp):
    import adbd
    reason = adbd.missing(root)
    if reason:
        skip(reason)
    adbd.test(etprof, root, bundle, tmp, Bench, run, COMMON if sys.argv[3] == "adb" else None)


def main():
    hear_signals()
    etprof, root, way = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    triple = f"{platform.machine()}-linux-gnu"
    bundle = root / "build" / "bundle" / triple
    if platform.machine() != "x86_64":
        skip("the levels of this test are those of x86-64")
    if not (bundle / "bundle.json").exists():
        skip(f"no runner bundle (scripts/build-runner {triple})")
    # A short path: control sockets have about 100 bytes.
    with tempfile.TemporaryDirectory(prefix="etp-", dir="/tmp") as tmp:
        (test_ssh if way == "ssh" else test_adb)(etprof, root, bundle, pathlib.Path(tmp))


if __name__ == "__main__":
    main()
