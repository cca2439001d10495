# SPDX-License-Identifier: Apache-2.0
"""etprof ab when things go wrong: exit codes, one clear line, no stray process, nothing measured is lost.

The runner is tests/fakes/fake_runner.c: it speaks the protocol, runs no model, and does what the
text behind the magic of its "model" file says.

usage: ab_misbehaviour.py ETPROF FAKE_RUNNER"""
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, hear_signals, in_folders

hear_signals()
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
ARGS = fake_sessions.words()


def model(tmp, *directives):
    return fake_sessions.model(tmp / "model.pte", *fake_sessions.BASE, *directives)


def strays(tmp):
    """Processes that still run the fake on a model of this test a while later: what was killed needs a moment to go."""
    deadline = time.time() + 60
    while True:
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if str(tmp).encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                pass
        if not found or time.time() > deadline:
            return found
        time.sleep(0.05)


def run(tmp, *extra):
    return execute(ETPROF, "ab", "model.pte", *ARGS, "--runner", FAKE, *extra, cwd=tmp)


def killed(tmp, ready):
    """A session that was killed as soon as READY() held."""
    p = fake_sessions.begun([ETPROF, "ab", "model.pte", *ARGS, "--runner", FAKE, "--timeout", "50"], ready, cwd=tmp)
    p.kill()
    p.communicate(timeout=120)
    return run_folders.manifest(tmp / "run")


def case(name, directives, exit_code, stderr_has="", extra=(), check=None):
    def part(tmp):
        model(tmp, *directives)
        done = ended(run(tmp, *extra), exit_code, of=name)
        expect(stderr_has in done.stderr + done.stdout, name, f"'{stderr_has}' not in: {done.stderr[-400:]}")
        left = strays(tmp)
        expect(not left, name, f"stray processes {left}")
        if check:
            check(tmp, done, name)
    in_folders(part)


def all_there(tmp, done, name):
    m = run_folders.manifest(tmp / "run")
    expect(m["state"] == "finished", name, m["state"])
    expect(m["blocks_done"] == 6, name, m["blocks_done"])
    report = run_folders.report(tmp / "run")
    speedup = report["comparisons"][0]["speedup"]
    # The fake says 3 ms and 1 ms for every iteration: the ratio is exactly 3.
    expect(abs(speedup["estimate"] - 3) < 1e-5, name, speedup)
    expect(report["arms"][0]["median_ns"] in (1000000, 3000000), name, report["arms"][0])
    # The fake's traces are empty: there is no ledger, and the command says so.
    expect(report["ledgers"] == [] or all(
        sum(r["delta_ns"] for r in line["rows"]) == line["delta_ns"] for line in report["ledgers"]), name, "ledger")


def block_lost(tmp, done, name):
    m = run_folders.manifest(tmp / "run")
    expect(len(m["lost"]) >= 1, name, m["lost"])
    kept = {(row["block"], row["experiment"]) for row in run_folders.samples(tmp / "run", "timed")}
    expect(len(kept) >= 10, name, f"only {len(kept)} launches kept")


def dripped(tmp, done, name):
    block_lost(tmp, done, name)
    lost = run_folders.manifest(tmp / "run")["lost"]
    expect("of 300 iterations after" in lost[0]["detail"], name, lost)


def given_up(tmp, done, name):
    """An arm that crashes in every block is a finding of the answer, not only of the manifest."""
    done = execute(ETPROF, "analyze", "run", "--format", "json", cwd=tmp)
    findings = json.loads(done.stdout)["findings"]
    expect(any("was not launched again" in f["text"] and f["severity"] == "bad" for f in findings), name, findings)


def ruled_out_drift(wanted):
    def check(tmp, done, name):
        report = run_folders.report(tmp / "run")
        found = any("drift" in f["text"] for f in report["ruled_out"])
        expect(found == wanted, name, (report["ruled_out"], report["comparisons"]))
    return check


def withheld(reason):
    def check(tmp, done, name):
        report = run_folders.report(tmp / "run")
        expect(report["comparisons"][0]["withheld"] == reason, name, report["comparisons"][0])
        expect(report["comparisons"][0]["speedup"]["estimate"] is None, name, "estimate not withheld")
    return check


def not_deterministic(tmp, done, name):
    """Every launch has other outputs, at both levels: no feature is to blame."""
    report = run_folders.report(tmp / "run")
    expect(report["correctness"].get("not_deterministic") is True and report["correctness"]["ok"] is None,
           name, report["correctness"])
    kinds = {f["kind"] for f in report["findings"]}
    expect("not_deterministic" in kinds and "outputs_differ" not in kinds, name, kinds)
    expect(report["comparisons"][0]["withheld"] is None, name, report["comparisons"][0])
    expect("not deterministic" in done.stdout, name, done.stdout)


def stopped(reason, least, most):
    """The stop rule: why and where it ended, and an interval that says that it was looked at."""
    def check(tmp, done, name):
        m = run_folders.manifest(tmp / "run")
        report = run_folders.report(tmp / "run")
        expect(m["stopped"] == report["stop"]["reason"] == reason, name, (m["stopped"], report["stop"]))
        k = m["blocks_done"]
        expect(least <= k <= most and k % 2 == 0, name, k)
        ratios = [math.log(v[1] / v[0]) for v in launch_medians(tmp).values()]
        half = T975[k] * statistics.stdev(ratios) / k**0.5 * (1 + 1.5 / k)
        speedup = report["comparisons"][0]["speedup"]
        expect(abs(speedup["widening"] - (1 + 1.5 / k)) < 1e-5, name, speedup)
        expect(abs(math.log(speedup["hi"] / speedup["estimate"]) - half) < 1e-5, name, (speedup, half))
        wanted = math.log1p(report["stop"]["precision"])
        expect((half <= wanted) == (reason == "precision"), name, (half, wanted))
    return check


def says_how_many(tmp):
    """After six blocks of a session that goes on: how many the precision takes, and how surely."""
    model(tmp, "noise 60")
    done = execute(ETPROF, "ab", "model.pte", *(a for a in ARGS if a != "--quiet"), "--runner", FAKE, "--precision",
                   "2.5%", "--blocks", "50", cwd=tmp)
    expect(re.search(r"±[\d.]+ % after 6 blocks; ±2.5 % needs \d+ blocks( \(\d+ to (more than )?\d+\))?, .+ more: "
                     r"80 % of such sessions reach it", done.stderr), "blocks for a precision", done.stderr[-600:])


# Student's t, 97.5 %, from printed tables, by number of blocks.
T975 = dict(zip(range(2, 42), (12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
                               2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
                               2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
                               2.03951, 2.03693, 2.03452, 2.03224, 2.03011, 2.02809, 2.02619, 2.02439, 2.02269,
                               2.02108)))


def launch_medians(tmp):
    """Per block the median of the timed rows of sme2 and of neon (the fake has no warm-up here)."""
    rows = {}
    for r in run_folders.samples(tmp / "run", "timed"):
        rows.setdefault(int(r["block"]), {}).setdefault(r["experiment"], []).append(int(r["duration_ns"]))
    return {b: (statistics.median(v["linux_sme2_on"]), statistics.median(v["linux_sme2_off"])) for b, v in rows.items()}


def resume(tmp, *extra):
    return execute(ETPROF, "ab", "--resume", "run", "--quiet", "--runner", FAKE, *extra, cwd=tmp)


def resumed(tmp):
    """Of a session that was killed, what was measured is shown, as unknown; then it goes on, once and as it began.
    That its plan and its launches are those of a session that nobody disturbed: interruption_table.py."""
    name = "resume after kill -9"
    path = model(tmp, "on neon timed 6 hang")
    # The sixth launch of neon is reached: it would hang in the resumed session otherwise.
    count = pathlib.Path(f"{path}.count")
    before = killed(tmp, lambda: run_folders.manifest(tmp / "run")["blocks_done"] >= 2
                    and count.read_text().splitlines().count("neon timed") >= 6)
    expect(before["state"] == "running" and 2 <= before["blocks_done"] < 6, name, before["blocks_done"])
    shown = execute(ETPROF, "analyze", "run", cwd=tmp).stdout
    expect("report.html" not in shown and "Report   etprof analyze run --renew\n" in shown, name, shown)
    c = json.loads(execute(ETPROF, "analyze", "run", "--format", "json", cwd=tmp).stdout)["comparisons"][0]
    expect(2 <= c["speedup"]["blocks"] <= before["blocks_done"] and c["verdict"] == "unknown", name, c)
    kept = run_folders.samples(tmp / "run")[:4]
    for words in (["model.pte"], ["--seed", "9"], ["--blocks", "3"], ["--levels", "neon"]):
        ended(resume(tmp, *words), 2, says="leave out")
    ended(resume(tmp), 0)
    after = run_folders.manifest(tmp / "run")
    expect(after["state"] == "finished" and after["blocks_done"] == 6, name, after["blocks_done"])
    expect(run_folders.samples(tmp / "run")[:4] == kept, name, "rows of committed blocks changed")
    report = run_folders.report(tmp / "run")
    expect(abs(report["comparisons"][0]["speedup"]["estimate"] - 3) < 1e-5, name, report["comparisons"])
    ended(resume(tmp), 2, says="finished")


def resume_refused(tmp):
    """A model that is not what it was: refused, and the folder stays as it is."""
    name = "resume with another model"
    path = model(tmp, "on neon timed 4 hang")
    before = killed(tmp, lambda: run_folders.manifest(tmp / "run")["blocks_done"] >= 1)
    path.write_bytes(path.read_bytes() + b"# another\n")
    ended(resume(tmp), 2, says="not the model that was measured")
    expect(run_folders.manifest(tmp / "run") == before, name, "manifest changed")


def elsewhere(tmp, name, script, *words, **options):
    """ab in a user and mount namespace of its own, prepared by SCRIPT; None where these cannot be had."""
    model(tmp)
    done = execute("unshare", "-rm", "sh", "-c", script, "sh", ETPROF, "ab", *words, "--runner", FAKE, cwd=tmp,
                   **options)
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        print(f"skipped: {name}: no user namespaces here ({done.stderr.strip()})")
        return None
    return done


def full_disk(tmp):
    """Output in a file system of 300 kB."""
    done = elsewhere(tmp, "full disk",
                     "mkdir small && mount -t tmpfs -o size=300k none small && cd small && "
                     "cp ../model.pte . && \"$@\"; code=$?; ls run | head -20 >&2; exit $code",
                     "model.pte", *fake_sessions.words(iterations=1000))
    if done:
        expect(done.returncode == 5 and "No space left" in done.stderr and "manifest.json" in done.stderr, "full disk",
               f"exit {done.returncode}: {done.stderr[-400:]}")


def no_proc(tmp):
    """Where /proc is not mounted, as in a bare chroot, that is said, and not that a runner is missing."""
    done = elsewhere(tmp, "no /proc", "mount -t tmpfs none /proc && exec \"$@\"", "model.pte", *ARGS)
    if done:
        # The sanitizer of leaks needs /proc, for its options too: it ends with a code of its own.
        expected = 1 if "LeakSanitizer has encountered a fatal error" in done.stderr else 5
        expect(done.returncode == expected and "/proc is not mounted here" in done.stderr, "no /proc",
               f"exit {done.returncode}: {done.stderr[-400:]}")


def no_home(tmp):
    """In a folder that cannot be written, without a home, as containers run: the run folder is where --out says."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": "/proc", "TMPDIR": str(tmp)}
    done = elsewhere(tmp, "no home", "mkdir here && mount -t tmpfs -o ro none here && cd here && exec \"$@\"",
                     "../model.pte", *fake_sessions.words(tmp / "out"), env=env)
    if done:
        expect(done.returncode == 0 and (tmp / "out/report.json").exists(), "no home", done.returncode,
               done.stderr[-400:])


def no_folder(tmp):
    model(tmp)
    (tmp / "run").write_text("a file where the folder should be")
    done = run(tmp)
    expect(done.returncode in (2, 5) and "run" in done.stderr and len(done.stderr.strip().splitlines()) == 1,
           "no folder", done.returncode, done.stderr)


case("well behaved", [], 0, check=all_there)
case("crash once", ["on neon timed 3 crash"], 6, check=block_lost)
case("crash always", ["on neon timed * crash"], 6)
case("precise at the first look", [], 0, extra=("--precision", "1%", "--blocks", "50"),
     check=stopped("precision", 6, 6))
in_folders(says_how_many)
case("precise later", ["noise 60"], 0, extra=("--precision", "2.5%", "--blocks", "50"),
     check=stopped("precision", 8, 40))
case("not precise", ["noise 60"], 0, extra=("--precision", "0.1%", "--blocks", "8"), check=stopped("blocks", 8, 8))
case("given up", ["on sme2 timed 2 crash", "on sme2 timed 3 crash", "on sme2 timed 4 crash", "on sme2 timed 5 crash"],
     6, check=given_up)
case("quiet control", [], 0, check=ruled_out_drift(True))
# Two launches of the baseline, one of each pair, 40 % slower: a floor far above what is left of the effect.
case("noisy control", ["base sme2 2970000"] + [f"on neon timed {n} slower" for n in (3, 6)], 0,
     check=ruled_out_drift(False))
case("hang once", ["on neon timed 3 hang"], 6, extra=("--timeout", "5"), check=block_lost)
case("an iteration now and then", ["base neon 10000", "on neon timed 3 drip"], 6, check=dripped,
     extra=("--timeout", "1", "--iterations", "300"))
case("garbage once", ["on sme2 timed 2 garbage"], 6, check=block_lost)
case("mask ignored", ["on neon * * ignore_mask"], 6, stderr_has="mask")
case("no hook calls", ["on neon * * no_calls"], 6)
case("outputs differ", ["on neon * * other_output"], 1, check=withheld("outputs_differ"))
case("outputs of each launch differ", ["on * * * random_output"], 0, check=not_deterministic)
case("wrong protocol", ["on * * * protocol"], 6, stderr_has="protocol")
case("orphan helper", ["on neon timed * orphan"], 0)
case("refuses", ["on * * * error:no_method"], 6, stderr_has="told to refuse")
in_folders(resumed, resume_refused, full_disk, no_proc, no_home, no_folder)
finish("all as documented")
