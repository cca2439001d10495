# SPDX-License-Identifier: Apache-2.0
"""Real adbd daemons on loopback in a network of their own, and what only adb can do wrong."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import phone

MARK = "ETPROF_TEST_LOOPBACK"


def missing(root: pathlib.Path) -> str:
    found = subprocess.run([root / "scripts" / "adbd"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return (found.stderr.strip().splitlines() or ["no adbd"])[-1]
    os.environ["ETPROF_TEST_ADBD"] = found.stdout.strip()
    if MARK in os.environ:
        return ""
    # adbd listens on every interface and asks nobody who they are: only where nobody can come in.
    if subprocess.run(["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True,
                      check=False).returncode != 0:
        return "no private network for adbd (unshare -rn, ip)"
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                          sys.executable, *sys.argv])
    return "unreachable"


CPU = pathlib.Path("/sys/devices/system/cpu")


def fake_sys(where: pathlib.Path) -> list:
    """A /sys of a phone with two kinds of cores, to be bound over the real one; (source, target) pairs."""
    cpu, classes = where / "cpu", where / "class"
    for source in list(CPU.glob("[a-z]*")) + list(CPU.glob("cpu[0-9]*/topology/*")):
        if source.is_file():
            try:
                text = source.read_text()
            except OSError:
                continue
            target = cpu / source.relative_to(CPU)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    for i, khz in ((0, 1800000), (1, 3200000)):
        for folder, values in ((cpu / "cpufreq" / f"policy{i}",
                                {"related_cpus": i, "cpuinfo_max_freq": khz, "scaling_max_freq": khz}),
                               (cpu / f"cpu{i}" / "cpufreq", {"scaling_cur_freq": khz, "scaling_governor": "walt"})):
            folder.mkdir(parents=True, exist_ok=True)
            for name, value in values.items():
                (folder / name).write_text(f"{value}\n")
    # Zones as vendors leave them: without a sensor, absurd, and one that counts.
    for i, (kind, value) in enumerate((("unused", 0), ("modem", -273000), ("bogus", 4294967295), ("skin", 31500),
                                       ("soc", 36500))):
        zone = classes / "thermal" / f"thermal_zone{i}"
        zone.mkdir(parents=True)
        (zone / "type").write_text(kind + "\n")
        (zone / "temp").write_text(f"{value}\n")
    (classes / "thermal" / "thermal_zone9").mkdir()  # nothing in it can be read
    return [(cpu, CPU), (classes, "/sys/class")]


class Server:
    """A device with its files in WHERE, which it sees at `inside` alone: no path of it means anything here."""

    first_in_path = "."  # below its home: programs of a test's own

    def __init__(self, prefix: pathlib.Path, where: pathlib.Path, port: int, storage=None):
        self.prefix, self.home, self.port, self.process = prefix, where, port, None
        self.serial = f"127.0.0.1:{port}"
        self.home.mkdir(parents=True)
        self.inside = where.with_name("on-device-" + where.name)
        self.inside.mkdir()
        self.sys = where.with_name("sys-" + where.name)
        binds = [(where, self.inside)] + (fake_sys(self.sys) if os.cpu_count() == 2 else [])
        self.storage = storage  # options of a tmpfs: its files are not to be seen from here
        if storage:
            binds = []
        self.enter = f"mount -t tmpfs -o {storage} none {self.inside} && " if storage else ""
        self.enter += "".join(f"mount --bind {source} {target} && " for source, target in binds)
        self.start()

    def start(self):
        lib = self.prefix / "usr" / "lib" / "x86_64-linux-gnu"
        adbd = self.prefix / "usr/lib/android-sdk/platform-tools/adbd"
        with open(self.home / "adbd.log", "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", f"{self.enter} cd {self.inside} && exec {adbd}"],
                env={"PATH": f"{self.inside}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.inside),
                     "TMPDIR": str(self.inside), "LD_LIBRARY_PATH": f"{lib}/android:{lib}",
                     "ADBD_PORT": str(self.port)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError((self.home / "adbd.log").read_text())

    def signal(self, number: int):
        try:
            os.kill(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.signal(signal.SIGCONT)
        self.kill()


def client(prefix: pathlib.Path, work: pathlib.Path) -> dict:
    """Environment with an adb whose server is the test's own."""
    env = {"ANDROID_ADB_SERVER_PORT": "15037", "HOME": str(work), "TMPDIR": str(work)}
    if not shutil.which("adb"):
        lib = prefix / "usr" / "lib" / "x86_64-linux-gnu"
        (work / "bin").mkdir()
        wrapper = work / "bin" / "adb"
        wrapper.write_text(f"#!/bin/sh\nexport LD_LIBRARY_PATH={lib}/android:{lib}\n"
                           f'exec {prefix}/usr/lib/android-sdk/platform-tools/adb "$@"\n')
        wrapper.chmod(0o755)
        env["PATH"] = f"{work / 'bin'}:{os.environ['PATH']}"
    return env


def wrong_devices(b):
    """No device, a wrong serial, one that does not listen: said so, and never another device."""
    adb = ["adb"]
    env = {**b.env}
    subprocess.run(adb + ["disconnect"], env=env, capture_output=True, check=False)
    done, _ = b.ab(device="adb")
    assert done.returncode == 5 and "no adb device" in done.stderr, (done.returncode, done.stderr)
    subprocess.run(adb + ["connect", b.server.serial], env=env, capture_output=True, check=True)
    done, _ = b.ab(device="adb:R5CT000000")
    assert done.returncode == 5 and b.server.serial in done.stderr, (done.returncode, done.stderr)
    done, _ = b.ab(device="adb:127.0.0.1:1")
    assert done.returncode == 5, (done.returncode, done.stderr)
    done, _ = b.ab(device="adb:-s")
    assert done.returncode == 2, (done.returncode, done.stderr)
    # By its address, and not connected yet.
    subprocess.run(adb + ["disconnect"], env=env, capture_output=True, check=False)
    done, out = b.ab("--no-trace", device=f"adb:{b.server.serial}")
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "manifest.json").read_text())["device"]["spec"] == b.device


# What adb prints, as its sources and people's reports have it: (output, for adb alone, for adb:R5CT).
HEAD = "List of devices attached\n"
TRANSCRIPTS = [
    (HEAD + "R5CT\tunauthorized\n\n", "unlock the device", "unlock the device"),
    ("* daemon not running; starting now at tcp:5037\n* daemon started successfully\n" + HEAD + "R5CT\toffline\n\n",
     "is offline", "is offline"),
    (HEAD
     + "R5CT\tno permissions (user in plugdev group; are your udev rules wrong?); see "
       "[http://developer.android.com/tools/device.html]\n",
     "udev rules", "udev rules"),
    (HEAD + "R5CT\trecovery\n", "recovery", "recovery"),
    (HEAD + "R5CTX\tdevice\nXR5CT\tdevice\n", "2 adb devices",
     "no adb device R5CT; there are: R5CTX (device), XR5CT (device)"),
    (HEAD + "\n", "no adb device", "there are: none"),
    ("adb: failed to check server version: cannot connect to daemon\n", "no adb device", "there are: none"),
    ("\xff\x00\t\t\n\t\n", "no adb device", "no adb device"),
]


def clients(b):
    """No adb, or one that prints what others have seen (a fake: these states cannot be had here)."""
    bin_dir = b.work / "fake-bin"
    bin_dir.mkdir()
    saved = b.env.get("PATH", os.environ["PATH"])
    try:
        b.env["PATH"] = str(bin_dir)
        done, _ = b.ab(device="adb")
        assert done.returncode == 5 and "no adb in PATH" in done.stderr, done.stderr
        fake = bin_dir / "adb"
        for text, alone, named in TRANSCRIPTS:
            (bin_dir / "text").write_text(text, encoding="latin-1")
            fake.write_text(f"#!/bin/sh\n/bin/cat {bin_dir}/text\n")
            fake.chmod(0o755)
            for device, words in (("adb", alone), ("adb:R5CT", named)):
                done, _ = b.ab(device=device)
                assert done.returncode in (2, 5) and words in done.stderr, (text, device, done.stderr)
            listed = subprocess.run([b.etprof, "doctor", "devices", "--format", "json"], cwd=b.work,
                                    env={**os.environ, **b.env},
                                    capture_output=True, text=True, check=True)
            usable = [d["spec"] for d in json.loads(listed.stdout)["devices"] if d["kind"] == "adb" and d["usable"]]
            assert usable == (["adb:R5CTX", "adb:XR5CT"] if "R5CTX" in text else []), (text, usable)
    finally:
        b.env["PATH"] = saved


def crashes_there(b):
    """What the device says about the end counts, not adb: a signal is a signal."""
    words, out = b.command("--iterations", "1000000", "--no-trace")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=b.env)
    number, end = signal.SIGSEGV, time.monotonic() + 180
    while p.poll() is None and time.monotonic() < end:  # until it gives up
        for pid, line in b.runners():
            if pid not in b.old and b"\0--model\0" in line:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:  # it had ended
                    continue
                b.old.add(pid)
                number = signal.SIGKILL
        time.sleep(0.02)
    _, text = p.communicate(timeout=300)
    lost = json.loads((out / "manifest.json").read_text())["lost"]
    assert p.returncode == 6 and {line["reason"] for line in lost[1:]} == {"crash"}, (p.returncode, lost, text)
    assert "signal 11" in lost[0]["detail"] and "signal 9" in lost[1]["detail"], lost


def damaged_on_the_way(b):
    """A recording that arrives cut off is found out by its hash."""
    fake = b.home / "cat"
    fake.write_text("#!/bin/sh\ncase $1 in *trace.etdump) exec head -c 1000 \"$1\" ;; esac\nexec /bin/cat \"$@\"\n")
    fake.chmod(0o755)
    done, out = b.ab()
    fake.unlink()
    lost = json.loads((out / "manifest.json").read_text())["lost"]
    assert done.returncode == 6 and {line["reason"] for line in lost} == {"file"}, (done.returncode, lost, done.stderr)
    assert "arrived damaged" in lost[0]["detail"], lost
    assert not list(out.rglob("*.etdump")) and not list(out.rglob("*.part")), list(out.rglob("*"))


def test(_etprof, root, bundle, tmp, bench, run, common):
    prefix = pathlib.Path(os.environ["ETPROF_TEST_ADBD"])
    work = tmp / "work"
    work.mkdir()
    first, second = Server(prefix, tmp / "one", 15555), Server(prefix, tmp / "two", 15557)
    env = client(prefix, work)
    b = bench(_etprof, root, bundle, work, f"adb:{first.serial}", first.home, env, first)

    def storage(b):
        for port, options, words in ((15559, "size=3m", "no space for"), (15561, "ro", "cannot make a folder there")):
            server = Server(prefix, tmp / f"storage-{port}", port, options)
            done, _ = b.ab(device=f"adb:{server.serial}")
            server.stop()
            assert done.returncode == 5 and words in done.stderr, (options, done.returncode, done.stderr)

    def two_devices(b):
        subprocess.run(["adb", "connect", second.serial], env=b.env, capture_output=True, check=True)
        done, _ = b.ab(device="adb")
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert first.serial in done.stderr and second.serial in done.stderr, done.stderr
        b.env["ANDROID_SERIAL"] = second.serial
        done, _ = b.ab("--levels", "avx2,sse", "--no-trace", device="adb")
        assert done.returncode == 0, done.stderr
        assert list(second.home.rglob("files/*")), "it ran somewhere else"
        del b.env["ANDROID_SERIAL"]
        second.kill()
        listed = subprocess.run([_etprof, "doctor", "devices", "--format", "json"], cwd=b.work, env=b.env,
                                capture_output=True, text=True, check=False)
        assert listed.returncode == 0 and first.serial in listed.stdout, (listed.stdout, listed.stderr)
        done, _ = b.ab("--no-trace")
        assert done.returncode == 0, done.stderr

    try:
        subprocess.run(["adb", "connect", first.serial], env={**os.environ, **env}, capture_output=True, check=True)
        run(b, [wrong_devices, clients, *common, crashes_there, damaged_on_the_way, storage, two_devices]
            if common else phone.TESTS)
    finally:
        subprocess.run(["adb", "kill-server"], env={**os.environ, **env}, capture_output=True, check=False)
        first.stop()
        second.stop()
