# SPDX-License-Identifier: Apache-2.0
"""etprof ab when things go wrong: exit codes, one clear line, no stray process, nothing measured is lost.

The runner is tests/fakes/fake_runner.c: it speaks the protocol, runs no model, and does what the
text behind the magic of its "model" file says.

usage: ab_misbehaviour.py ETPROF FAKE_RUNNER"""
import csv
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, hear_signals

hear_signals()
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
ARGS = ["--levels", "sme2,neon", "--blocks", "6", "--iterations", "8", "--warmup", "3", "--seed", "7",
        "--quiet", "--out", "run"]


def model(directory, *directives):
    path = pathlib.Path(directory) / "model.pte"
    path.write_bytes(b"\x10\0\0\0ET12" + "\n".join(("base sme2 1000000", "base neon 3000000", *directives)).encode()
                     + b"\n")
    return path


def strays(directory):
    """Processes that still run the fake on a model of this test a while later: what was killed needs a moment to go."""
    deadline = time.time() + 60
    while True:
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if directory.encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                pass
        if not found or time.time() > deadline:
            return found
        time.sleep(0.05)


def run(directory, *extra, timeout=600):
    return execute(ETPROF, "ab", "model.pte", *ARGS, "--runner", FAKE, *extra, cwd=directory, timeout=timeout)


def begun(tmp, ready):
    """A session as soon as READY() holds."""
    p = subprocess.Popen([ETPROF, "ab", "model.pte", *ARGS, "--runner", FAKE, "--timeout", "50"], cwd=tmp, text=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.time() + 120
    while time.time() < deadline:
        try:
            if ready():
                break
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    return p


def manifest(directory):
    return json.loads((pathlib.Path(directory) / "run" / "manifest.json").read_text())


def report_of(directory):
    return json.loads((pathlib.Path(directory) / "run" / "report.json").read_text())


def samples(directory):
    with open(pathlib.Path(directory) / "run" / "samples.csv", newline="") as f:
        return list(csv.DictReader(f))


def case(name, directives, exit_code, stderr_has=None, extra=(), check=None):
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, *directives)
        done = run(tmp, *extra)
        expect(done.returncode == exit_code, name,
               f"exit {done.returncode}, expected {exit_code}: {done.stderr[-400:]}")
        if stderr_has:
            expect(stderr_has in done.stderr + done.stdout, name, f"'{stderr_has}' not in: {done.stderr[-400:]}")
        left = strays(tmp)
        expect(not left, name, f"stray processes {left}")
        if check:
            check(tmp, done, name)


def all_there(tmp, done, name):
    m = manifest(tmp)
    expect(m["state"] == "finished", name, m["state"])
    expect(m["blocks_done"] == 6, name, m["blocks_done"])
    report = report_of(tmp)
    speedup = report["comparisons"][0]["speedup"]
    # The fake says 3 ms and 1 ms for every iteration: the ratio is exactly 3.
    expect(abs(speedup["estimate"] - 3) < 1e-5, name, speedup)
    expect(report["arms"][0]["median_ns"] in (1000000, 3000000), name, report["arms"][0])
    # The fake's traces are empty: there is no ledger, and the command says so.
    expect(report["ledgers"] == [] or all(
        sum(r["delta_ns"] for r in line["rows"]) == line["delta_ns"] for line in report["ledgers"]), name, "ledger")


def block_lost(tmp, done, name):
    m = manifest(tmp)
    expect(len(m["lost"]) >= 1, name, m["lost"])
    kept = {(row["block"], row["experiment"]) for row in samples(tmp) if row["phase"] == "timed"}
    expect(len(kept) >= 10, name, f"only {len(kept)} launches kept")


def dripped(tmp, done, name):
    block_lost(tmp, done, name)
    expect("of 300 iterations after" in manifest(tmp)["lost"][0]["detail"], name, manifest(tmp)["lost"])


def given_up(tmp, done, name):
    """An arm that crashes in every block is a finding of the answer, not only of the manifest."""
    done = execute(ETPROF, "analyze", "run", "--format", "json", cwd=tmp)
    findings = json.loads(done.stdout)["findings"]
    expect(any("was not launched again" in f["text"] and f["severity"] == "bad" for f in findings), name, findings)


def ruled_out_drift(wanted):
    def check(tmp, done, name):
        report = report_of(tmp)
        found = any("drift" in f["text"] for f in report["ruled_out"])
        expect(found == wanted, name, (report["ruled_out"], report["comparisons"]))
    return check


def withheld(reason):
    def check(tmp, done, name):
        report = report_of(tmp)
        expect(report["comparisons"][0]["withheld"] == reason, name, report["comparisons"][0])
        expect(report["comparisons"][0]["speedup"]["estimate"] is None, name, "estimate not withheld")
    return check


def not_deterministic(tmp, done, name):
    """Every launch has other outputs, at both levels: no feature is to blame."""
    report = report_of(tmp)
    expect(report["correctness"].get("not_deterministic") is True and report["correctness"]["ok"] is None,
           name, report["correctness"])
    kinds = {f["kind"] for f in report["findings"]}
    expect("not_deterministic" in kinds and "outputs_differ" not in kinds, name, kinds)
    expect(report["comparisons"][0]["withheld"] is None, name, report["comparisons"][0])
    expect("not deterministic" in done.stdout, name, done.stdout)


def stopped(reason, least, most):
    """The stop rule: why and where it ended, and an interval that says that it was looked at."""
    def check(tmp, done, name):
        m = manifest(tmp)
        report = report_of(tmp)
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


def says_how_many():
    """After six blocks of a session that goes on: how many the precision takes, and how surely."""
    with tempfile.TemporaryDirectory() as tmp:
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
    for r in samples(tmp):
        if r["phase"] == "timed":
            rows.setdefault(int(r["block"]), {}).setdefault(r["experiment"], []).append(int(r["duration_ns"]))
    return {b: (statistics.median(v["linux_sme2_on"]), statistics.median(v["linux_sme2_off"])) for b, v in rows.items()}


def interrupted(sig, name):
    """A signal in the middle: what was measured stays and can be analysed, no process is left."""
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, "on neon timed 6 hang")
        p = begun(tmp, lambda: manifest(tmp)["blocks_done"] >= 2)
        time.sleep(0.5)
        p.send_signal(sig)
        p.communicate(timeout=120)
        expected = -sig if sig == signal.SIGKILL else 128 + sig
        expect(p.returncode == expected, name, f"exit {p.returncode}, expected {expected}")
        left = strays(tmp)
        expect(not left, name, f"stray processes {left}")
        blocks = manifest(tmp)["blocks_done"]
        expect(blocks >= 2, name, blocks)
        again = execute(ETPROF, "analyze", "run", "--format", "json", cwd=tmp)
        expect(again.returncode in (0, 6), name, f"analyze after {name}: {again.returncode} {again.stderr}")
        if again.stdout:
            c = json.loads(again.stdout)["comparisons"][0]
            expect(2 <= c["speedup"]["blocks"] <= blocks and c["verdict"] == "unknown", name, c)


def resume(directory, *extra):
    return execute(ETPROF, "ab", "--resume", "run", "--quiet", "--runner", FAKE, *extra, cwd=directory)


def resumed():
    """kill -9, then --resume: the session that would have been, with the same order and nothing twice."""
    name = "resume after kill -9"
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as tmp:
        model(whole)
        expect(run(whole).returncode == 0, name, "the session to compare with failed")
        model(tmp, "on neon timed 6 hang")
        # The sixth launch of neon is reached: it would hang in the resumed session otherwise.
        count = pathlib.Path(tmp) / "model.pte.count"
        p = begun(tmp, lambda: manifest(tmp)["blocks_done"] >= 2
                  and count.read_text().splitlines().count("neon timed") >= 6)
        p.kill()
        p.communicate(timeout=120)
        before = manifest(tmp)
        expect(before["state"] == "running" and 2 <= before["blocks_done"] < 6, name, before["blocks_done"])
        shown = execute(ETPROF, "analyze", "run", cwd=tmp).stdout
        expect("report.html" not in shown and "Report   etprof analyze run --renew\n" in shown, name, shown)
        kept = samples(tmp)[:4]
        for words in (["model.pte"], ["--seed", "9"], ["--blocks", "3"], ["--levels", "neon"]):
            refused = resume(tmp, *words)
            expect(refused.returncode == 2 and "leave out" in refused.stderr, name, (words, refused.stderr))
        done = resume(tmp)
        expect(done.returncode == 0, name, f"exit {done.returncode}: {done.stderr[-400:]}")
        after, alone = manifest(tmp), manifest(whole)
        expect(after["state"] == "finished" and after["blocks_done"] == 6, name, after["blocks_done"])
        for key in ("seed", "order", "blocks", "iterations", "baseline"):
            expect(after["plan"][key] == alone["plan"][key], name, f"plan.{key} differs from the whole session's")
        expect(samples(tmp)[:4] == kept, name, "rows of committed blocks changed")
        # Rows without times: the same launches as in the whole session. Launch numbers may skip, order may not.
        shape = [[(r["experiment"], r["block"], r["iteration"], r["phase"]) for r in samples(d)] for d in (tmp, whole)]
        expect(sorted(shape[0]) == sorted(shape[1]), name, "rows differ from the whole session's")
        report = report_of(tmp)
        expect(abs(report["comparisons"][0]["speedup"]["estimate"] - 3) < 1e-5, name, report["comparisons"])
        again = resume(tmp)
        expect(again.returncode == 2 and "finished" in again.stderr, name, again.stderr)


def resume_refused():
    """A model that is not what it was: refused, and the folder stays as it is."""
    name = "resume with another model"
    with tempfile.TemporaryDirectory() as tmp:
        path = model(tmp, "on neon timed 4 hang")
        p = begun(tmp, lambda: manifest(tmp)["blocks_done"] >= 1)
        p.kill()
        p.communicate(timeout=120)
        before = (pathlib.Path(tmp) / "run" / "manifest.json").read_bytes()
        path.write_bytes(path.read_bytes() + b"# another\n")
        done = resume(tmp)
        expect(done.returncode == 2 and "not the model that was measured" in done.stderr, name,
               (done.returncode, done.stderr))
        expect((pathlib.Path(tmp) / "run" / "manifest.json").read_bytes() == before, name, "manifest changed")


def interrupted_early():
    """A signal before the first block is whole: the folder stays, the exit code is the signal's."""
    name = "SIGINT before the first block"
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, "on * timed 1 hang")
        p = begun(tmp, (pathlib.Path(tmp) / "run" / "manifest.json").exists)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        _, stderr = p.communicate(timeout=120)
        expect(p.returncode == 130, name, f"exit {p.returncode}: {stderr[-300:]}")
        expect(manifest(tmp)["state"] == "interrupted", name, manifest(tmp)["state"])
        left = strays(tmp)
        expect(not left, name, f"stray processes {left}")


def no_namespaces(name, done):
    missing = "unshare:" in done.stderr or "mount:" in done.stderr
    if missing:
        print(f"skipped: {name}: no user namespaces here ({done.stderr.strip()})")
    return missing


def full_disk():
    """Output in a file system of 300 kB, in a user and mount namespace of its own."""
    name = "full disk"
    script = ("mkdir small && mount -t tmpfs -o size=300k none small && cd small && "
              "cp ../model.pte . && \"$@\"; code=$?; ls run | head -20 >&2; exit $code")
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp)
        done = execute("unshare", "-rm", "sh", "-c", script, "sh", ETPROF, "ab", "model.pte",
                       *[a if a != "8" else "1000" for a in ARGS], "--runner", FAKE, cwd=tmp)
        if no_namespaces(name, done):
            return
        expect(done.returncode == 5, name, f"exit {done.returncode}: {done.stderr[-400:]}")
        expect("No space left" in done.stderr, name, done.stderr[-400:])
        expect("manifest.json" in done.stderr, name, done.stderr[-400:])


def no_proc():
    """Where /proc is not mounted, as in a bare chroot, that is said, and not that a runner is missing."""
    name = "no /proc"
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp)
        done = execute("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh", ETPROF, "ab",
                       "model.pte", *ARGS, "--runner", FAKE, cwd=tmp)
        if no_namespaces(name, done):
            return
        # The sanitizer of leaks needs /proc, for its options too: it ends with a code of its own.
        expected = 1 if "LeakSanitizer has encountered a fatal error" in done.stderr else 5
        expect(done.returncode == expected, name, f"exit {done.returncode}: {done.stderr[-400:]}")
        expect("/proc is not mounted here" in done.stderr, name, done.stderr[-400:])


def no_home():
    """In a folder that cannot be written, without a home, as containers run: the run folder is where --out says."""
    name = "no home"
    script = "mkdir here && mount -t tmpfs -o ro none here && cd here && exec \"$@\""
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp)
        words = [f"{tmp}/out" if a == "run" else a for a in ARGS]
        env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": "/proc", "TMPDIR": tmp}
        done = execute("unshare", "-rm", "sh", "-c", script, "sh", ETPROF, "ab", "../model.pte", *words, "--runner",
                       FAKE, cwd=tmp, env=env)
        if no_namespaces(name, done):
            return
        expect(done.returncode == 0, name, f"exit {done.returncode}: {done.stderr[-400:]}")
        expect(pathlib.Path(tmp, "out", "report.json").exists(), name, "left no report", done.stderr[-400:])


def read_only():
    name = "read-only folder"
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp)
        (pathlib.Path(tmp) / "run").write_text("a file where the folder should be")
        done = run(tmp)
        expect(done.returncode in (2, 5), name, f"exit {done.returncode}: {done.stderr}")
        expect("run" in done.stderr and len(done.stderr.strip().splitlines()) == 1, name, done.stderr)


case("well behaved", [], 0, check=all_there)
case("crash once", ["on neon timed 3 crash"], 6, check=block_lost)
case("crash always", ["on neon timed * crash"], 6)
case("precise at the first look", [], 0, extra=("--precision", "1%", "--blocks", "50"),
     check=stopped("precision", 6, 6))
says_how_many()
case("precise later", ["noise 60"], 0, extra=("--precision", "2.5%", "--blocks", "50"),
     check=stopped("precision", 8, 40))
case("not precise", ["noise 60"], 0, extra=("--precision", "0.1%", "--blocks", "8"), check=stopped("blocks", 8, 8))
case("given up", ["on sme2 timed 2 crash", "on sme2 timed 3 crash", "on sme2 timed 4 crash", "on sme2 timed 5 crash"],
     6,
     check=given_up)
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
interrupted_early()
interrupted(signal.SIGINT, "SIGINT")
interrupted(signal.SIGTERM, "SIGTERM")
interrupted(signal.SIGKILL, "SIGKILL")
resumed()
resume_refused()
full_disk()
no_proc()
no_home()
read_only()
finish("all as documented")
