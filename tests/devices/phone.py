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

    def __init__(self, home: pathlib.Path):
        self.home, self.state = home, home / "phone"
        self.state.mkdir()
        for name, text in PROGRAMS.items():
            path = home / name
            path.write_text(f"#!/bin/sh\nP={self.state}\n{text}\n")
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
        return {p.name[7:]: p.read_text().strip() for p in self.state.glob("global.*")}

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
                          check=False, timeout=60)


def start(b, *extra, trace=False):
    words, out = b.command(*extra, *([] if trace else ["--no-trace"]))
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=b.env)
    return p, out


def wait_until(p, condition):
    """While P runs."""
    while p.poll() is None and not condition():
        time.sleep(0.01)
    assert condition(), "not while it ran"


def journals(b):
    return list((b.work / ".etprof" / "devices").glob("prepared-*.json"))


def facts_of(out):
    return json.loads((out / "manifest.json").read_text())["device"]["facts"]


def sets_and_restores(b, phone):
    before = phone.settings()
    runs = {}
    for mode, wanted in (("boost", BOOST), ("app", APP)):
        p, out = start(b, "--prepare", mode, trace=True)
        wait_until(p, lambda: phone.settings() == wanted)
        _, text = p.communicate(timeout=60)
        assert p.returncode == 0, (p.returncode, text)
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
    assert done.returncode == 0 and grade["grade"] == "D" and grade["grade_facts"]["settings"] == "different", done.stdout[:600]
    assert "set up differently" in grade["grade_reason"], grade["grade_reason"]


def fixed_mode(b, phone):
    done, _ = b.ab("--no-trace", "--prepare", "fixed")
    assert done.returncode == 5 and "no fixed-performance mode" in done.stderr and "Unknown command" in done.stderr, done
    assert not journals(b)
    phone.put("can_fix", "")
    before = phone.settings()
    p, out = start(b, "--prepare", "fixed")
    wait_until(p, lambda: phone.get("fixed") == "true")
    _, text = p.communicate(timeout=60)
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
    listed = call(b, "devices", "--format", "json")
    assert json.loads(listed.stdout)["prepared"] == [{"spec": b.device, "mode": "boost", "session_runs": False}], listed
    done, _ = b.ab("--no-trace")
    assert done.returncode == 0 and "settings of an earlier session" in done.stderr, done.stderr
    phone.put("stubborn.low_power", "")  # the device does not take it back
    done = call(b, "devices", "restore", "--format", "json")
    answer = json.loads(done.stdout)["devices"]
    assert done.returncode == 5 and not answer[0]["restored"] and "low_power is 0, not 1" in answer[0]["reason"], done.stdout
    assert len(journals(b)) == 1
    (phone.state / "stubborn.low_power").unlink()
    done = call(b, "devices", "restore")
    assert done.returncode == 0 and phone.settings() == before and not journals(b), (done, phone.settings())
    b.assert_no_orphans()


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
    b.assert_no_orphans()


def interrupted(b, phone):
    before = phone.settings()
    for number in (signal.SIGINT, signal.SIGTERM):
        p, _ = start(b, "--prepare", "boost", "--iterations", "1000000")
        b.wait_for_runner()
        assert phone.settings() == BOOST, (number, phone.settings(), b.runners())
        p.send_signal(number)
        _, text = p.communicate(timeout=30)
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
    _, text = p.communicate(timeout=60)
    b.server.start()
    assert "could not be restored" in text and "devices restore" in text and p.returncode in (5, 130), (p.returncode, text)
    assert len(journals(b)) == 1 and phone.settings() == BOOST
    subprocess.run(["adb", "disconnect"], env=b.env, capture_output=True, check=False)
    done = call(b, "devices", "restore", b.device)
    assert done.returncode == 0 and phone.settings() == before, (done, phone.settings())
    b.assert_no_orphans()


def refused(b, phone):
    for words, code, text in ((("--prepare", "turbo"), 2, "boost, app or fixed"),):
        done, _ = b.ab(*words)
        assert done.returncode == code and text in done.stderr, done.stderr
    done, _ = b.ab("--prepare", "boost", device="local")
    assert done.returncode == 2 and "Android" in done.stderr, done.stderr
    phone.remove()
    done, _ = b.ab("--prepare", "boost")
    assert done.returncode == 5 and "no 'settings' command" in done.stderr, done.stderr
    journal = b.work / ".etprof" / "devices" / "prepared-0123456789abcdef.json"
    for text in ("{", '{"schema": "etprof.prepare/1"}',
                 json.dumps({"schema": "etprof.prepare/1", "spec": b.device, "mode": "boost", "pid": 1,
                             "before": {"low_power": "0; reboot"}})):
        journal.write_text(text)
        done = call(b, "devices", "restore")
        assert done.returncode == 4 and journal.name in done.stderr, (text, done)
    journal.unlink()


def prepare(b):
    phone = Phone(b.home)
    for test in (sets_and_restores, fixed_mode, killed_outright, next_session_undoes, interrupted, not_taken,
                 gone_at_the_end, refused):
        begin = time.monotonic()
        test(b, phone)
        print(f"   {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
