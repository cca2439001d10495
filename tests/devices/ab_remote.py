# SPDX-License-Identifier: Apache-2.0
"""etprof ab through a real connection: evidence, facts, and every way in which the other side fails.

usage: ab_remote.py ETPROF SOURCE_DIR ssh|adb [TEST...]"""
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

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def skip(reason: str):
    print(f"skipped: {reason}")
    sys.exit(77)


class Bench:
    """etprof with a device that is reached by DEVICE and keeps its files below HOME."""

    def __init__(self, etprof, root, bundle, work, device, home, env, server):
        self.etprof, self.root, self.work, self.device, self.home, self.server = (
            etprof, root, work, device, home, server)
        self.env = {**os.environ, "ETPROF_RUNNER": str(bundle), **env}
        self.model = root / "examples" / "models" / "toy_cnn_xnnpack_fp32.pte"
        self.count = 0

    def command(self, *extra, model=None, device=None):
        self.count += 1
        out = self.work / f"run{self.count}"
        words = [self.etprof, "ab", str(model or self.model), "--device", device or self.device, "--blocks", "1",
                 "--format", "json", "--out", str(out), *map(str, extra)]
        return words, out

    def ab(self, *extra, model=None, device=None, timeout=150):
        words, out = self.command(*extra, model=model, device=device)
        done = subprocess.run(words, cwd=self.work, capture_output=True, text=True, check=False,
                              timeout=timeout, env=self.env)
        return done, out

    def files(self):
        return sorted(p for p in self.home.rglob("files/*") if p.is_file())

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
                if cwd.startswith(str(self.home.resolve())) and b"etprof-runner" in line:
                    found.append((int(entry.name), line))
        return found

    def wait_for_runner(self):
        for _ in range(600):
            for pid, line in self.runners():
                if b"--model" in line and b"--probe" not in line:
                    return pid
            time.sleep(0.02)
        raise AssertionError("no runner was started")

    def assert_no_orphans(self, seconds=12):
        end = time.monotonic() + seconds
        while self.runners() and time.monotonic() < end:
            time.sleep(0.1)
        assert not self.runners(), self.runners()


def measures_and_proves(b: Bench):
    done, out = b.ab("--levels", "avx2,sse", "--blocks", "2")
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


def sends_only_what_changed(b: Bench):
    stored = b.files()[0]
    runner = next(b.home.rglob("bundles/*/etprof-runner"))
    before = (stored.stat().st_mtime_ns, runner.stat().st_mtime_ns)
    done, _ = b.ab("--levels", "avx2,sse", "--no-trace")
    assert done.returncode == 0, done.stderr
    assert (stored.stat().st_mtime_ns, runner.stat().st_mtime_ns) == before
    # The same name with other bytes is found out and replaced.
    stored.write_bytes(b"x" * stored.stat().st_size)
    with open(runner, "r+b") as f:
        f.truncate(1000)
    done, _ = b.ab("--levels", "avx2,sse", "--no-trace")
    assert done.returncode == 0, done.stderr
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == stored.name
    assert runner.stat().st_size > 1000


def arguments_stay_arguments(b: Bench):
    """Quotes, semicolons, blanks and line ends reach the runner as they are, and run nothing."""
    trap = b.work / "trapped"
    for text in (f"x'; touch {trap}; '", f"$(touch {trap})", f"`touch {trap}`", f'a" "b; touch {trap} #',
                 f"a\ntouch {trap}\n"):
        done, _ = b.ab("--levels", "avx2,sse", "--method", text)
        assert done.returncode == 2, (text, done.returncode, done.stderr)
        assert not trap.exists(), text
    odd = b.work / f"a model;touch trapped 'and' \"more\" $HOME.pte"
    shutil.copyfile(b.model, odd)
    inputs = b.work / "in put'0.bin"
    inputs.write_bytes(bytes(4 * 3 * 32 * 32))
    done, _ = b.ab("--levels", "avx2,sse", "--no-trace", model=odd)
    assert done.returncode == 0, done.stderr
    assert not trap.exists() and not list(b.home.rglob("trapped"))


def runner_goes_with_us(b: Bench):
    """etprof killed outright: nothing stays behind on the device."""
    words, _ = b.command("--levels", "avx2,sse", "--iterations", "1000000")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=b.env)
    b.wait_for_runner()
    time.sleep(0.5)
    p.kill()
    p.wait()
    b.assert_no_orphans()


def interrupt_ends_at_once(b: Bench):
    words, out = b.command("--levels", "avx2,sse", "--blocks", "500", "--iterations", "200")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=b.env)
    line = out / "environment.jsonl"
    before = set(b.home.rglob("work/*"))  # what a killed session left: it goes after a day
    while p.poll() is None and not (line.exists() and line.stat().st_size > 0):
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    _, text = p.communicate(timeout=30)
    assert p.returncode == 130, (p.returncode, text)
    b.assert_no_orphans()
    assert set(b.home.rglob("work/*")) <= before, "the session's folder stayed"


def daemon_dies_mid_run(b: Bench):
    """The block is lost and recorded, never silently complete; the orphan ends; a new daemon is found."""
    words, out = b.command("--levels", "avx2,sse", "--iterations", "20000", "--no-trace")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    b.wait_for_runner()
    time.sleep(0.3)
    b.server.kill()
    time.sleep(0.5)
    b.server.start()
    _, text = p.communicate(timeout=200)
    # Its launch is in the books as lost; only one that was made again leaves the answer complete.
    lost = json.loads((out / "manifest.json").read_text())["lost"]
    assert lost and "lost" in text, (p.returncode, text)
    assert p.returncode in ((5, 6) if not all(l["recovered"] for l in lost) else (0,)), (p.returncode, lost, text)
    b.assert_no_orphans()
    done, _ = b.ab("--levels", "avx2,sse", "--no-trace")
    assert done.returncode == 0, done.stderr


def cut_off_push(b: Bench):
    """The daemon dies while a big model is on its way: no file of that name, and no success."""
    big = b.work / "big.pte"
    data = bytearray(b.model.read_bytes())
    data += os.urandom(1 << 20) * 400
    big.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    killed = []

    def killer():
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for part in b.home.rglob(f"{digest}.*.part"):
                if part.stat().st_size > 1 << 20:
                    killed.append(part.stat().st_size)
                    b.server.kill()
                    return
            time.sleep(0.001)

    t = threading.Thread(target=killer)
    t.start()
    done, _ = b.ab("--levels", "avx2,sse", model=big, timeout=200)
    t.join()
    b.server.start()
    assert killed and killed[0] < len(data), killed
    assert done.returncode == 5, (done.returncode, done.stderr)
    assert not [p for p in b.files() if p.name == digest], "half a model under its full name"
    for p in b.home.rglob("*.part"):
        p.unlink()


def stalled_daemon(b: Bench):
    """A daemon that stops answering costs our own time-out, not the day."""
    words, _ = b.command("--levels", "avx2,sse", "--iterations", "1000000", "--timeout", "3")
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
    done, _ = b.ab("--levels", "avx2,sse")
    root.unlink()
    saved.rename(root)
    assert done.returncode == 5 and "cannot make a folder" in done.stderr, (done.returncode, done.stderr)


def run(b: Bench, tests):
    wanted = sys.argv[4:]
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        begin = time.monotonic()
        test(b)
        print(f"ok {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)


COMMON = [measures_and_proves, sends_only_what_changed, arguments_stay_arguments, read_only_device,
          runner_goes_with_us, interrupt_ends_at_once, daemon_dies_mid_run, cut_off_push, stalled_daemon]


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

        run(b, [no_such_host] + COMMON)
    finally:
        server.stop()


def test_adb(etprof, root, bundle, tmp):
    import adbd
    reason = adbd.missing(root)
    if reason:
        skip(reason)
    adbd.test(etprof, root, bundle, tmp, Bench, run, COMMON)


def main():
    etprof, root, way = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
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
