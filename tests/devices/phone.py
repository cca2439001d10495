# SPDX-License-Identifier: Apache-2.0
"""What only a phone has, and none is here: fake `settings`, `svc`, `cmd`, `dumpsys` and `getprop` programs on the PATH
of a real adbd. They keep their state in files, so that tests see what was really set, in which order. Their answers
have the form that Android's documentation and reports of others give; none was recorded from a phone of ours."""
import json
import pathlib
import signal
import subprocess
import time

PROGRAMS = {
    # svc power stayon true writes the same setting as settings does.
    "settings": """echo "$*" >>$P/calls
f=$P/global.$3
case $1 in
get) if [ -f $f ]; then cat $f; else echo null; fi ;;
put) if [ -f $P/stubborn.$3 ]; then :; else echo "$4" >$f; fi ;;
delete) rm -f $f; echo "Deleted 1 rows" ;;
*) exit 255 ;;
esac""",
    "svc": """echo "svc $*" >>$P/calls
[ "$*" != 'power stayon true' ] || echo 15 >$P/global.stay_on_while_plugged_in""",
    "cmd": """echo "cmd $*" >>$P/calls
case $* in
'power set-fixed-performance-mode-enabled '*) [ -f $P/can_fix ] || { echo 'Unknown command: set-fixed' >&2; exit 255; }
  echo $3 >$P/fixed ;;
*) exit 255 ;;
esac""",
    "dumpsys": """cat $P/dumpsys.$1 2>/dev/null || echo "Can't find service: $1" >&2""",
    "getprop": """cat $P/prop.$1 2>/dev/null || echo""",
}


class Phone:
    """The programs in HOME, their state in HOME/phone."""

    def __init__(self, home: pathlib.Path, inside: pathlib.Path):
        self.home, self.state = home, home / "phone"
        self.state.mkdir()
        for name, text in PROGRAMS.items():
            path = home / name
            path.write_text(f"#!/bin/sh\nP={inside}/phone\n{text}\n")
            path.chmod(0o755)
        for key, value in (("low_power", "1"), ("stay_on_while_plugged_in", "0"), ("window_animation_scale", "0.5"),
                           ("transition_animation_scale", "1.0")):  # animator_duration_scale is not set
            self.put("global." + key, value)
        self.put("dumpsys.power", "Power Manager State:\n  mWakefulness=Awake\n  stay awake while plugged in=true\n"
                                  "  mThermalStatus=0\n")

    def put(self, name: str, text: str):
        (self.state / name).write_text(text + "\n")

    def get(self, name: str):
        path = self.state / name
        return path.read_text().strip() if path.exists() else None

    def settings(self) -> dict:
        """Also while a session changes them: a setting that goes away under us is not set."""
        found = {}
        for path in self.state.glob("global.*"):
            try:
                found[path.name[7:]] = path.read_text().strip()
            except FileNotFoundError:
                pass
        return found

    def remove(self):
        for name in PROGRAMS:
            (self.home / name).unlink()
        for path in self.state.iterdir():
            path.unlink()
        self.state.rmdir()


BOOST = {"low_power": "0", "stay_on_while_plugged_in": "15", "window_animation_scale": "0",
         "transition_animation_scale": "0", "animator_duration_scale": "0"}
APP = {"low_power": "0", "stay_on_while_plugged_in": "1", "window_animation_scale": "1",
       "transition_animation_scale": "1", "animator_duration_scale": "1"}


def call(b, *words):
    return subprocess.run([b.etprof, *map(str, words)], cwd=b.work, env=b.env, capture_output=True, text=True,
                          check=False, timeout=300)


def start(b, *extra, trace=False):
    words, out = b.command(*extra, *([] if trace else ["--no-trace"]))
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    return p, out


def wait_until(p, condition):
    """While P runs. What was seen once counts: when it is asked again, the session may have gone on."""
    while not (seen := condition()) and p.poll() is None:
        time.sleep(0.01)
    assert seen, "not while it ran"


def wait_for_words(p, words):
    for line in p.stderr:
        if words in line:
            return line
    raise AssertionError(f"it ended without saying {words}")


def journals(b):
    return list((b.work / "state" / "etprof" / "devices").glob("prepared-*.json"))


def facts_of(out):
    return json.loads((out / "manifest.json").read_text())["device"]["facts"]


def sets_and_restores(b, phone):
    before = phone.settings()
    runs = {}
    for mode, wanted in (("boost", BOOST), ("app", APP)):
        p, out = start(b, "--prepare", mode, trace=True)
        wait_until(p, lambda: phone.settings() == wanted)
        _, text = p.communicate(timeout=300)
        assert p.returncode == 0, (p.returncode, text)
        assert all(f"{key}={value}" in text for key, value in wanted.items()), text  # what was set is said
        assert phone.settings() == before, phone.settings()
        facts = facts_of(out)
        assert facts.get("prepare") == mode, facts
        for key, value in before.items():
            assert f"{key}={value}" in facts["prepare_before"], facts
        assert "animator_duration_scale=unset" in facts["prepare_before"], facts
        # The three reads that the procedure asks for.
        assert facts["prepare_stay_on_while_plugged_in"] == wanted["stay_on_while_plugged_in"], facts
        assert facts["prepare_low_power"] == "0", facts
        assert facts["prepare_power"] == "stay awake while plugged in=true; mThermalStatus=0", facts
        assert not journals(b)
        runs[mode] = out
    done = call(b, "compare", f"{runs['boost']}:android_sse", f"{runs['app']}:android_sse", "--format", "json")
    grade = json.loads(done.stdout)
    assert (
        done.returncode == 0 and grade["grade"] == "D" and grade["grade_facts"]["settings"] == "different"
    ), done.stdout[:600]
    assert "set up differently" in grade["grade_reason"], grade["grade_reason"]


def fixed_mode(b, phone):
    done, _ = b.ab("--no-trace", "--prepare", "fixed")
    assert (
        done.returncode == 5 and "no fixed-performance mode" in done.stderr and "Unknown command" in done.stderr
    ), done
    assert not journals(b)
    phone.put("can_fix", "")
    before = phone.settings()
    p, out = start(b, "--prepare", "fixed")
    wait_until(p, lambda: phone.get("fixed") == "true")
    _, text = p.communicate(timeout=300)
    assert p.returncode == 0 and phone.get("fixed") == "false", (p.returncode, text)
    assert phone.settings() == before and facts_of(out)["prepare"] == "fixed"


def killed_outright(b, phone):
    before = phone.settings()
    p, _ = start(b, "--prepare", "boost", "--iterations", "1000000")
    b.wait_for_runner()
    refused, _ = b.ab("--no-trace", "--prepare", "app")
    assert refused.returncode == 5 and "session that still runs" in refused.stderr, refused.stderr
    p.kill()
    p.wait()
    assert phone.settings() == BOOST and len(journals(b)) == 1, phone.settings()
    listed = call(b, "doctor", "devices", "--format", "json")
    assert json.loads(listed.stdout)["prepared"] == [{"spec": b.device, "mode": "boost", "session_runs": False}], listed
    done, _ = b.ab("--no-trace")
    assert done.returncode == 0 and "settings of an earlier session" in done.stderr, done.stderr
    phone.put("stubborn.low_power", "")  # the device does not take it back
    done = call(b, "doctor", "devices", "restore", "--format", "json")
    answer = json.loads(done.stdout)["devices"]
    assert (
        done.returncode == 5 and not answer[0]["restored"] and "low_power is 0, not 1" in answer[0]["reason"]
    ), done.stdout
    assert len(journals(b)) == 1
    (phone.state / "stubborn.low_power").unlink()
    done = call(b, "doctor", "devices", "restore")
    assert done.returncode == 0 and phone.settings() == before and not journals(b), (done, phone.settings())


def next_session_undoes(b, phone):
    """A session that prepares the device itself brings it back first: "before" is what the user had."""
    before = phone.settings()
    p, _ = start(b, "--prepare", "boost", "--iterations", "1000000")
    b.wait_for_runner()
    p.kill()
    p.wait()
    done, out = b.ab("--no-trace", "--prepare", "app")
    assert done.returncode == 0 and "were restored first" in done.stderr, done.stderr
    assert phone.settings() == before and "low_power=1" in facts_of(out)["prepare_before"], phone.settings()


def interrupted(b, phone):
    before = phone.settings()
    for number in (signal.SIGINT, signal.SIGTERM):
        p, _ = start(b, "--prepare", "boost", "--iterations", "1000000")
        b.wait_for_runner()
        assert phone.settings() == BOOST, (number, phone.settings(), b.runners())
        p.send_signal(number)
        _, text = p.communicate(timeout=300)
        assert p.returncode == 128 + number and phone.settings() == before and not journals(b), (p.returncode, text)


def not_taken(b, phone):
    before = phone.settings()
    phone.put("stubborn.transition_animation_scale", "")
    done, _ = b.ab("--no-trace", "--prepare", "boost")
    assert done.returncode == 5 and "transition_animation_scale is 1.0, not 0" in done.stderr, done.stderr
    (phone.state / "stubborn.transition_animation_scale").unlink()
    assert phone.settings() == before and not journals(b), phone.settings()


def gone_at_the_end(b, phone):
    """The phone is away when its settings should come back: said so, kept in the journal, done later."""
    before = phone.settings()
    p, _ = start(b, "--prepare", "boost", "--iterations", "1000000", "--timeout", "2")
    b.wait_for_runner()
    b.server.kill()
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    _, text = p.communicate(timeout=300)
    b.server.start()
    assert "could not be restored" in text and "devices restore" in text and p.returncode in (5, 130), (
        p.returncode,
        text,
    )
    assert len(journals(b)) == 1 and phone.settings() == BOOST
    subprocess.run(["adb", "disconnect"], env=b.env, capture_output=True, check=False)
    done = call(b, "doctor", "devices", "restore", b.device)
    assert done.returncode == 0 and phone.settings() == before, (done, phone.settings())


def refused(b, phone):
    for words, code, text in ((("--prepare", "turbo"), 2, "boost, app, fixed or none"),):
        done, _ = b.ab(*words)
        assert done.returncode == code and text in done.stderr, done.stderr
    done, _ = b.ab("--prepare", "boost", device="local")
    assert done.returncode == 2 and "Android" in done.stderr, done.stderr
    phone.remove()
    done, _ = b.ab("--prepare", "boost")
    assert done.returncode == 5 and "no 'settings' command" in done.stderr, done.stderr
    journal = b.work / "state" / "etprof" / "devices" / "prepared-0123456789abcdef.json"
    for text in ("{", '{"schema": "etprof.prepare/1"}',
                 json.dumps({"schema": "etprof.prepare/1", "spec": b.device, "mode": "boost", "pid": 1,
                             "before": {"low_power": "0; reboot"}})):
        journal.write_text(text)
        done = call(b, "doctor", "devices", "restore")
        assert done.returncode == 4 and journal.name in done.stderr, (text, done)
    journal.unlink()


# ---- facts, cores, heat: over a fake /sys (adbd.py) -------------------------------------------------------------

def rows(out, kind):
    """Whole lines: the last one may be on its way."""
    text = (out / "environment.jsonl").read_text()
    lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
    return [line for line in lines if line["type"] == kind]


def facts_are_the_devices(b, phone):
    phone.put("prop.ro.product.model", "Test\033[31m Phone")
    phone.put("prop.ro.board.platform", "board")  # what there is of an SoC when ro.soc.model is empty
    phone.put("prop.ro.build.version.release", "17")
    phone.put("prop.ro.build.version.security_patch", "2026-11-05")
    phone.put("dumpsys.battery",
              "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  level: 81\n"
                                 "  scale: 100\n  temperature: 312")
    phone.put("dumpsys.thermalservice", "IsStatusOverride: false\nThermal Status: 0\nCached temperatures:\n"
                                        "\tTemperature{mValue=0.0, mType=3, mName=skin, mStatus=0}")
    done, out = b.ab("--no-trace")
    assert done.returncode == 0, done.stderr
    facts = facts_of(out)
    expected = {"model": "Test [31m Phone", "soc": "board", "os_version": "17", "security_patch": "2026-11-05",
                "battery_percent": "81", "thermal_status": "0", "governor": "walt", "frequency_max_khz": None,
                "clusters": "cpus 0 up to 1800000 kHz; cpus 1 up to 3200000 kHz"}
    assert {k: facts.get(k) for k in expected} == expected, facts
    start = rows(out, "block")[0]["start"]
    expected = {"temperature_c": 36.5, "temperature_zone": "soc", "freq_min_khz": 1800000, "freq_max_khz": 3200000,
                "core_khz": [1800000, 3200000],
                "freq_cap_khz": 5000000, "thermal_status": 0, "battery_percent": 81, "governor": "walt"}
    assert {k: start[k] for k in expected} == expected, start


def cores(b, phone):
    for word, cpu in (("big", "1"), ("little", "0")):
        p, out = start(b, "--cpus", word, "--iterations", "60")
        b.wait_for_runner()
        seen = set()
        while cpu not in seen and p.poll() is None:  # a runner pins itself a moment after it was started
            for pid in [pid for pid, line in b.runners() if pid not in b.old and b"\0--model\0" in line]:
                try:
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                seen.update(line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list"))
            time.sleep(0.01)
        _, text = p.communicate(timeout=300)
        assert p.returncode == 0 and cpu in seen, (p.returncode, seen, text)
        assert {row.get("cpus_allowed") for row in rows(out, "launch")} == {cpu}, rows(out, "launch")
        assert json.loads((out / "manifest.json").read_text())["plan"]["cpus"] == cpu
    for word, text in (("mid", "no such kind"), ("fast", "expected big, mid, little"), ("1-0", "expected big"),
                       ("0,,1", "expected big")):
        done, _ = b.ab("--cpus", word)
        assert done.returncode == 2 and text in done.stderr, (word, done.stderr)


def local_too(b, phone):
    """This machine reads the same from the same /sys."""
    words, out = b.command("--no-trace", "--cpus", "big", device="local")
    sys = b.server.sys
    done = subprocess.run(["unshare", "-m", "sh", "-c", f'mount --bind {sys}/cpu /sys/devices/system/cpu && '
                           f'mount --bind {sys}/class /sys/class && exec "$@"', "sh", *words],
                          cwd=b.work, env=b.env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert {row.get("cpus_allowed") for row in rows(out, "launch")} == {"1"}, rows(out, "launch")
    facts = facts_of(out)
    assert (
        facts["clusters"] == "cpus 0 up to 1800000 kHz; cpus 1 up to 3200000 kHz" and facts["governor"] == "walt"
    ), facts
    start_state = rows(out, "block")[0]["start"]
    assert (start_state["temperature_c"], start_state["freq_cap_khz"]) == (36.5, 5000000), start_state


def cool_down(b, phone):
    soc = b.server.sys / "class" / "thermal" / "thermal_zone4" / "temp"
    soc.write_text("45000\n")
    p, out = start(b, "--cool", "40,60s", "--blocks", "2", trace=True)
    text = wait_for_words(p, "waiting")
    assert "block 1: 45.0 C (soc), waiting for 40.0 C" in text, text
    soc.write_text("38200\n")
    _, text = p.communicate(timeout=300)
    assert p.returncode == 0, (p.returncode, text)
    blocks = rows(out, "block")
    assert 0 < blocks[0]["cooled_ns"] < 6e10 and blocks[0]["start"]["temperature_c"] == 38.2, blocks[0]
    assert blocks[1]["cooled_ns"] < 1e9, blocks[1]
    assert json.loads((out / "manifest.json").read_text())["plan"]["cool"] == {"celsius": 40.0, "wait_s": 60.0}
    done, out = b.ab("--no-trace", "--cool", "20,1s")
    assert done.returncode == 0 and "starting anyway" in done.stderr, done.stderr
    assert "started_hot" in (out / "manifest.json").read_text()
    phone.put("dumpsys.thermalservice", "Thermal Status: 3")  # cool enough, and throttled all the same
    done, out = b.ab("--no-trace", "--cool", "60,1s")
    phone.put("dumpsys.thermalservice", "Thermal Status: 0")
    assert done.returncode == 0 and "thermal status 3, waiting for 60.0 C" in done.stderr, done.stderr
    for wrong in ("hot", "-3", "40,", "40,soon", "400"):
        done, _ = b.ab("--cool", wrong)
        assert done.returncode == 2 and "--cool" in done.stderr, (wrong, done.stderr)
    p, out = start(b, "--cool", "10,10m")
    wait_for_words(p, "waiting")
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=300)
    assert p.returncode == 130, p.returncode
    soc.write_text("36500\n")


def throttling(b, phone):
    """The system lowers a limit after block 1; Android says so in its own way."""
    limit = b.server.sys / "cpu" / "cpufreq" / "policy1" / "scaling_max_freq"
    for change, back, words in (
            (lambda: limit.write_text("1600000\n"), lambda: limit.write_text("3200000\n"),
             "lowered its clock limits by up to 32.0 %"),
            (lambda: phone.put("dumpsys.thermalservice", "Thermal Status: 2"),
             lambda: phone.put("dumpsys.thermalservice", "Thermal Status: 0"), "thermal status up to 2")):
        p, out = start(b, "--blocks", "2", "--iterations", "100")
        wait_until(p, lambda: (out / "environment.jsonl").exists() and rows(out, "block"))
        change()
        stdout, text = p.communicate(timeout=300)
        back()
        answer = json.loads(stdout)
        found = [f["text"] for f in answer["findings"] if f["kind"] == "thermal"]
        assert len(found) == 1 and words in found[0] and "first in block 2" in found[0], (found, answer["findings"])
        assert "throttles" in text or "of the clocks it allowed before" in text, text


def quirks(b, phone):
    """No zone can be read: the battery's temperature is the best there is. Services that do not answer are left out."""
    zones = b.server.sys / "class" / "thermal"
    saved = {p: p.read_text() for p in zones.rglob("temp")}
    for path in saved:
        path.unlink()
    done, out = b.ab("--no-trace")
    start_state = rows(out, "block")[0]["start"]
    assert (start_state["temperature_c"], start_state["temperature_zone"]) == (31.2, "battery"), start_state
    phone.put("dumpsys.battery", "  level: unknown\n  temperature: -1\n  temperature: 99999")
    phone.put("dumpsys.thermalservice", "Thermal Status: not available")
    done, out = b.ab("--no-trace", "--cool", "30")
    start_state = rows(out, "block")[0]["start"]
    assert start_state["temperature_c"] is None and start_state["thermal_status"] is None, start_state
    assert start_state["battery_percent"] is None and "temperature_unreadable" in (out / "manifest.json").read_text()
    for path, text in saved.items():
        path.write_text(text)


def of_phone(test):
    def wrapped(b):
        if not hasattr(b, "phone"):
            b.phone = Phone(b.home, b.server.inside)
        test(b, b.phone)
    wrapped.__name__ = test.__name__
    return wrapped


def of_two_cores(test):
    def wrapped(b, phone):
        if not b.server.sys.exists():
            print(f"skipped: {test.__name__}: the fake /sys has two CPUs, this machine has not")
        else:
            test(b, phone)
    wrapped.__name__ = test.__name__
    return wrapped


TESTS = [of_phone(t) for t in (
    *map(of_two_cores, (facts_are_the_devices, cores, local_too, cool_down, throttling, quirks)),
    sets_and_restores, fixed_mode, killed_outright, next_session_undoes, interrupted, not_taken, gone_at_the_end,
    refused)]
