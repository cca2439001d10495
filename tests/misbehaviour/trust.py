# SPDX-License-Identifier: Apache-2.0
"""A run folder from elsewhere is data: rerun and --resume start, contact and read what it names only when this machine
made it, with --trust, or with --device and --runner named again. Journals of --prepare come from the user's own state.

usage: trust.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
ARGS = ["--levels", "sme2,neon", "--blocks", "4", "--iterations", "4", "--warmup", "1", "--seed", "7", "--quiet"]


def call(directory, *args, **env):
    own = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    return execute(ETPROF, *args, cwd=directory, env=own, stdin=subprocess.DEVNULL)


def edit(run, change):
    manifest = run_folders.manifest(run)
    change(manifest)
    run_folders.alter(run, **manifest)


def program(path, mark):
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {mark}\nexit 1\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def make(tmp):
    ended(call(tmp, "ab", fake_sessions.model(tmp / "model.pte"), *ARGS, "--out", "first", "--runner", FAKE), 0)
    return tmp / "first"


def ours_and_others(tmp):
    first = make(tmp)
    moved = tmp / "moved"
    shutil.copytree(first, moved)
    ended(call(tmp, "rerun", "moved", "--runner", FAKE, "--quiet"), 0, 1, 3)
    run_folders.cut_short(moved, 2)
    ended(call(tmp, "ab", "--resume", "moved", "--runner", FAKE, "--quiet"), 0)

    for name, verb in (("rerun", ["rerun", "theirs"]), ("resume", ["ab", "--resume", "theirs"])):
        for way in (["--trust"], ["--device", "local"]):
            with tempfile.TemporaryDirectory() as other:  # another user, or another machine
                theirs = tmp / "theirs"
                shutil.rmtree(theirs, ignore_errors=True)
                shutil.copytree(first, theirs)
                if name != "rerun":
                    run_folders.cut_short(theirs, 2)
                before = {p: p.read_bytes() for p in theirs.rglob("*") if p.is_file()}
                ended(call(tmp, *verb, "--runner", FAKE, "--quiet", XDG_STATE_HOME=other), 2, says="--trust")
                expect({p: p.read_bytes() for p in theirs.rglob("*") if p.is_file()} == before, name,
                       "the folder was changed")
                ended(call(tmp, *verb, "--runner", FAKE, *way, "--quiet", XDG_STATE_HOME=other), 0, 1, 3)
    ended(call(tmp, "rerun", "first", "--runner", FAKE, "--quiet", XDG_STATE_HOME=None, HOME=None), 2)
    done = call(tmp, "rerun", "first", "--runner", FAKE, "--quiet", XDG_STATE_HOME="relative")
    expect(done.returncode == 2 and not (tmp / "relative").exists(), "a relative state folder does not count",
           done.stderr)


def hostile(tmp):
    """Every part of a folder that names something, edited in a folder that was ours."""
    first = make(tmp)
    mark = tmp / "started"
    program(tmp / "evil", mark)
    program(tmp / "ssh", mark)
    (tmp / "secret").write_text("secret")
    edits = {
        "a program": lambda m: [a.update(runner=str(tmp / "evil")) for a in m["plan"]["arms"]],
        "a host": lambda m: m["device"].update(spec="ssh:evil.invalid"),
        "settings of a device": lambda m: m["device"]["facts"].update(prepare="boost"),
        "inputs": lambda m: m["plan"].update(inputs=str(tmp / "secret")),
        "weights": lambda m: m["plan"].update(data=str(tmp / "secret")),
        "another model": lambda m: m["models"][0].update(
            path=str(tmp / "secret"), sha256=hashlib.sha256(b"secret").hexdigest(), bytes=6),
        "another method": lambda m: m["plan"].update(method="--evil"),
        "a library of kernels": lambda m: m["plan"].update(kernels_lib=str(tmp / "secret")),
        "CPUs": lambda m: m["plan"].update(cpus="$(evil)"),
    }
    for what, change in edits.items():
        for verb in (["rerun", "theirs"], ["ab", "--resume", "theirs"]):
            theirs = tmp / "theirs"
            shutil.rmtree(theirs, ignore_errors=True)
            shutil.copytree(first, theirs)
            edit(theirs, change)
            if verb[0] == "ab":
                run_folders.cut_short(theirs, 2)
            done = call(tmp, *verb, "--quiet", PATH=f"{tmp}:{os.environ['PATH']}", ETPROF_RUNNER=FAKE)
            expect(done.returncode == 2 and "--trust" in done.stderr, what, verb[0], done.returncode, done.stderr)
            expect(not mark.exists(), what, verb[0], "something was started: "
                   + (mark.read_text() if mark.exists() else ""))


def members(value, path=()):
    """The path of each member of JSON, objects and lists themselves before what is in them."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, v in inner:
        yield (*path, key)
        yield from members(v, (*path, key))


def other(value):
    """Something else, of the same kind where that can be: what a reader takes."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if value < 1 else value - 1
    if isinstance(value, str):
        return value + "x"
    return [] if value else "x"


def at(document, path):
    for key in path:
        document = document[key]
    return document


# What sessions find out (src/store/named.c). All else that is edited makes the folder somebody else's.
FOUND = re.compile(r"state|blocks_done|signal|stopped|(selftest|lost|unreadable|notes|files|results)(\..*)?|"
                   r"plan\.(iterations|order)(\..*)?|plan\.arms\.\d+\.sampling")


def every_member(tmp):
    """Every member of a manifest, edited, taken out, or one added: the folder is not this machine's any more."""
    fake_sessions.model(tmp / "model.pte")
    (tmp / "kernels.so").write_text("x")
    for name, starts in (("a", FAKE), ("b", FAKE), ("evil", tmp / "program")):
        fake_sessions.bundle(tmp / name, starts)
    mark = tmp / "started"
    program(tmp / "program", mark)
    own = {"ETPROF_RUNNER": FAKE}
    few = ["--blocks", "2", "--iterations", "4", "--warmup", "1", "--seed", "7", "--quiet"]
    kinds = {"levels": ["--levels", "sme2,neon", "--inputs", "ones", "--custom-ops", tmp / "kernels.so"],
             "threads": ["--levels", "neon", "--threads", "1,2", "--budget", "100", "--cool", "99,1s"],
             "builds": ["--levels", "neon", "--runner-a", "a", "--runner-b", "b"]}
    for kind, args in kinds.items():
        ended(call(tmp, "ab", "model.pte", *few, *args, "--out", kind, **own), 0)
        text = (tmp / kind / "manifest.json").read_text()

        def refused(what, change, kind=kind, text=text):
            (tmp / kind / "manifest.json").write_text(json.dumps(change(json.loads(text))))
            done = call(tmp, "rerun", kind, "--quiet", **own)
            said = done.returncode == 2 and re.search("--trust|not a run folder", done.stderr)
            expect(said or done.returncode == 4, kind, what, done.returncode, done.stderr[-300:])
            expect(not mark.exists(), kind, what, "something was started")
            shutil.rmtree(tmp / f"{kind}.2", ignore_errors=True)

        def edited(document, path, change):
            change(at(document, path[:-1]), path[-1])
            return document

        document = json.loads(text)
        ended(call(tmp, "rerun", kind, "--quiet", **own), 0, 1, 3)
        shutil.rmtree(tmp / f"{kind}.2", ignore_errors=True)
        count = 0
        for path in members(document):
            dotted = ".".join(map(str, path))
            if FOUND.fullmatch(dotted):
                continue
            count += 1
            refused(f"{dotted} edited", lambda d, path=path: edited(
                d, path, lambda o, k: o.__setitem__(k, other(o[k]))))
            refused(f"{dotted} taken out", lambda d, path=path: edited(d, path, lambda o, k: o.__delitem__(k)))
        expect(count > 40, kind, "members", count)
        refused("one more", lambda d: {**d, "more": 1})

        def with_builds(d):
            one = {"path": str(tmp / "evil"), "sha256": "0" * 64, "executorch": "1", "text": "x", "own": True}
            d["plan"]["builds"] = [one, dict(one)]
            for i, arm in enumerate(d["plan"]["arms"]):
                arm.update(threads=1, side=i % 2)
            return d

        refused("builds", with_builds)
        # What a session finds out changes nothing, and neither does how the text is laid out.
        found = json.loads(text)
        found.update(state="finished", notes=[], lost=[], unreadable=[])
        (tmp / kind / "manifest.json").write_text(json.dumps(found, sort_keys=True, indent=5))
        ended(call(tmp, "rerun", kind, "--quiet", **own), 0, 1, 3)


def absurd(tmp):
    """Every number of a manifest as one that no session has: refused by name and at once, by --resume as by readers. A
    few are possible (0 of many things, a seed): then the session goes on and ends."""
    fake_sessions.model(tmp / "model.pte")
    own = {"ETPROF_RUNNER": FAKE}
    done = call(tmp, "ab", "model.pte", *ARGS, "--threads", "1,2", "--budget", "100", "--cool", "99,1s", "--precision",
                "1%", "--out", "first", **own)
    expect(done.returncode == 0, "the session", done.stderr)
    run_folders.cut_short(tmp / "first", 2)
    document = run_folders.manifest(tmp / "first")
    document["lost"] = [{"arm": 0, "block": 1, "launch": 3, "kind": "timed", "reason": "crash", "attempt": 1,
                         "recovered": True, "detail": "x"}]
    numbers = [p for p in members(document) if type(at(document, p)) in (int, float) and p[0] != "results"]
    numbers = [p for p in numbers if p[:2] != ("plan", "order") or p[2] == 0]
    expect(len(numbers) > 40, "numbers", len(numbers))
    possible = {"plan.seed"} | {".".join(map(str, p)) for p in numbers if p[-1] == "bytes"}
    for path in numbers:
        dotted = ".".join(map(str, path))
        for value in (0, -1, 10**12, 1e308, "7"):
            changed = json.loads(json.dumps(document))
            at(changed, path[:-1])[path[-1]] = value
            run = tmp / "absurd"
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(tmp / "first", run)
            (run / "manifest.json").write_text(json.dumps(changed))
            never = value != 0 and (value != 10**12 or dotted not in possible)
            if value == 0:
                ended(call(tmp, "verify", "absurd", "--format", "json"), 0, 1, 4, of=(dotted, value))
            if value == 0 and dotted not in ("plan.arms.0.threads", "plan.iterations.0.timed", "plan.blocks"):
                continue  # one of each kind is measured
            done = call(tmp, "ab", "--resume", "absurd", "--trust", "--quiet", **own)
            codes = (4,) if never else (0, 2, 4)
            expect(done.returncode in codes, dotted, value, done.returncode, done.stderr[-300:])
            expect(not never or str(path[-1]) in done.stderr or "order" in done.stderr, dotted, value, "is named",
                   done.stderr[-300:])


def named_again(tmp):
    """With --device and --runner named again a folder of others still names files: those that nothing holds against a
    hash lie in it or are refused, and a model that is another is not given to anybody, --trust or not."""
    first = make(tmp)
    log = tmp / "asked"
    (tmp / "watched").write_text(f"#!/bin/sh\necho \"$*\" >> {log}\nexec {FAKE} \"$@\"\n")
    (tmp / "watched").chmod(0o755)
    other = {"XDG_STATE_HOME": str(tmp / "nobody")}
    edits = {
        "/etc/hostname as weights": ("/etc/hostname", lambda m: m["plan"].update(data="/etc/hostname")),
        "/etc/hostname as a tokenizer": ("/etc/hostname", lambda m: m["plan"].update(tokenizer="/etc/hostname")),
        "/etc/hostname as inputs": ("/etc/hostname", lambda m: m["plan"].update(inputs="/etc/hostname")),
        "the second of two": ("/etc/hostname", lambda m: m["plan"].update(
            inputs=f"{tmp}/theirs/samples.csv,/etc/hostname")),
        "a way out of the folder": ("/etc/hostname", lambda m: m["plan"].update(
            inputs=f"{tmp}/theirs/../../../../../../etc/hostname")),
        "a neighbour with a longer name": ("theirs2", lambda m: m["plan"].update(data=f"{tmp}/theirs2/x.ptd")),
        "a file of the working directory": ("secret", lambda m: m["plan"].update(data="secret")),
        "/etc/hostname as a library": ("/etc/hostname", lambda m: m["plan"].update(kernels_lib="/etc/hostname")),
        "another model": ("hash", lambda m: m["models"][0].update(path=str(tmp / "other.pte"))),
    }
    (tmp / "secret").write_text("secret")
    fake_sessions.model(tmp / "other.pte", "base sme2 2000000", "base neon 3000000")
    for what, (words, change) in edits.items():
        for verb in (["rerun", "theirs"], ["ab", "--resume", "theirs"]):
            theirs = tmp / "theirs"
            shutil.rmtree(theirs, ignore_errors=True)
            shutil.copytree(first, theirs)
            edit(theirs, change)
            if verb[0] == "ab":
                run_folders.cut_short(theirs, 2)
            model = what == "another model"
            for way in ((), ("--trust",)) if model else ((),):
                done = call(tmp, *verb, "--runner", tmp / "watched", "--device", "local", *way, "--quiet", **other)
                expect(done.returncode == 2 and words in done.stderr and (model or "--trust" in done.stderr), what,
                       verb[0], *way, done.returncode, done.stderr)
            asked = log.read_text() if log.exists() else ""
            expect(not asked and not (tmp / "theirs.2").exists(), what, verb[0], "the runner got", asked)
            if log.exists():
                log.unlink()
    # What lies in the folder is the sender's own.
    shutil.rmtree(tmp / "theirs")
    shutil.copytree(first, tmp / "theirs")
    (tmp / "theirs" / "program").mkdir(exist_ok=True)
    (tmp / "theirs" / "program" / "in.bin").write_bytes(bytes(4))
    edit(tmp / "theirs", lambda m: m["plan"].update(inputs=f"{tmp}/theirs/program/in.bin"))
    ended(call(tmp, "rerun", "theirs", "--runner", FAKE, "--device", "local", "--quiet", **other), 0, 1, 3)


def libraries(tmp):
    """A library of kernels is code that the runner loads: going on takes the one that was measured, --trust or not."""
    fake_sessions.model(tmp / "model.pte")
    library = tmp / "kernels.so"
    library.write_text("as it was")
    own = {"ETPROF_RUNNER": FAKE}
    ended(call(tmp, "ab", "model.pte", *ARGS, "--out", "first", "--custom-ops", library, **own), 0)
    kept = run_folders.manifest(tmp / "first")["plan"]
    expect(kept.get("kernels_lib_sha256") == hashlib.sha256(b"as it was").hexdigest(), "its hash is kept", kept)
    changed = "kernels.so is not the library that was measured: its hash differs from the manifest's"
    for content, theirs, way, words in (
            ("as it was", False, (), None), ("another", False, (), changed), (None, False, (), "kernels.so"),
            ("as it was", True, (), "--trust"), ("as it was", True, ("--device", "local"), "--trust"),
            ("as it was", True, ("--trust",), None), ("another", True, ("--trust",), changed)):
        library.unlink(missing_ok=True)
        if content is not None:
            library.write_text(content)
        run = tmp / "again"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(tmp / "first", run)
        run_folders.cut_short(run, 2)
        before = (run / "manifest.json").read_bytes()
        env = {**own, **({"XDG_STATE_HOME": str(tmp / "nobody")} if theirs else {})}
        done = call(tmp, "ab", "--resume", "again", *way, "--quiet", **env)
        if words is None:
            expect(done.returncode == 0, content, theirs, way, "goes on", done.returncode, done.stderr)
            continue
        expect(done.returncode != 0 and words in done.stderr, content, theirs, way, "says", words, done.returncode,
               done.stderr)
        expect((run / "manifest.json").read_bytes() == before, content, theirs, way, "the folder was changed")


def journals(tmp):
    """A journal of prepared settings that lies in the working directory is nobody's; one in the state is checked."""
    mark = tmp / "called"
    program(tmp / "ssh", mark)
    spec = "ssh:board"
    name = f"prepared-{hashlib.sha256(spec.encode()).hexdigest()[:16]}.json"
    good = {"schema": "etprof.prepare/1", "spec": spec, "mode": "boost", "pid": 0, "fixed_performance": False,
            "before": {"low_power": "0", "stay_on_while_plugged_in": None, "window_animation_scale": "1.5",
                       "transition_animation_scale": "1", "animator_duration_scale": "0.5"}}
    bad = json.loads(json.dumps(good))
    bad["before"]["low_power"] = "$(touch${IFS}/tmp/evil)"
    folder = tmp / ".etprof" / "devices"
    folder.mkdir(parents=True)
    (folder / name).write_text(json.dumps(good))
    env = {"PATH": f"{tmp}:{os.environ['PATH']}", "XDG_STATE_HOME": str(tmp / "state")}
    done = call(tmp, "doctor", "devices", "restore", **env)
    expect(done.returncode == 0 and not mark.exists(), "a journal in the working directory", done.returncode,
           done.stderr)
    state = tmp / "state" / "etprof" / "devices"
    state.mkdir(parents=True)
    for what, text, at in (("a command as a value", bad, name),
                           ("a journal of another device", good,
                            name.replace("prepared-", "prepared-f")[:len(name) - 5] + ".json"),
                           ("an unknown mode", {**good, "mode": "boost; evil"}, name)):
        (state / at).write_text(json.dumps(text))
        done = call(tmp, "doctor", "devices", "restore", **env)
        expect(done.returncode == 4 and not mark.exists(), what, done.returncode, done.stderr)
        (state / at).unlink()
    (state / name).write_text(json.dumps(good))
    done = call(tmp, "doctor", "devices", "restore", **env)
    expect(mark.exists(), "a sound journal is acted on", done.returncode, done.stderr)
    script = mark.read_text() if mark.exists() else ""
    expect("evil" not in script, "script", script[-300:])


in_folders(ours_and_others, hostile, every_member, absurd, named_again, libraries, journals)
finish()
