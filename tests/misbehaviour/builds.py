# SPDX-License-Identifier: Apache-2.0
"""etprof ab MODELS --runner-a A --runner-b B against a fake runner: planted differences between two builds come back
within each model, equal ones are not called different, and a model that one build cannot run has no ratio.

The runner is tests/fakes/fake_runner.c; a build is a bundle that starts it with a name in its environment. Its times
are planted, so that every expected figure is a quotient of them.

usage: builds.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import hashlib
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from by_hand import looked_at, medians
from checks import ended, execute, expect, finish, hear_signals, new_folder
from slow_operator import slowed

ETPROF, FAKE, SOURCE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
DUMP = pathlib.Path(SOURCE, "tests/data/mixed_xnnpack_fp32.etdump")


def build(name, version="1", **environment):
    """A bundle whose runner is told NAME and ENVIRONMENT."""
    environment = {"FAKE_ETDUMP_neon": DUMP, **environment}
    fake_sessions.bundle(name, "/usr/bin/env", f"FAKE_SIDE={name}", *(f"{k}={v}" for k, v in environment.items()),
                         FAKE, direct=FAKE, version=version)


def model(name, ns, *directives, noise=4):
    return fake_sessions.model(f"net_{name}.pte", f"base * {ns}", f"noise {noise}", *directives)


def command(models, *extra, blocks=8, out="run"):
    return [ETPROF, "ab", *models, "--runner-a", "a", "--runner-b", "b", "--levels", "neon", "--blocks", str(blocks),
            "--iterations", "3", "--warmup", "1", "--seed", "7", "--quiet", "--format", "json", "--out", out, *extra]


def run(args):
    return execute(*args)


def said(done, name, code):
    expect(done.returncode == code, name, f"exit {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def close(x, y, within=1e-5):
    return (x is None) == (y is None) and (x is None or abs(x - y) <= within * abs(y) + 1e-12)


def by_model(document):
    """B against A of each model: {"fast": comparison}."""
    arms = {a["name"]: a for a in document["arms"]}
    found = {}
    for c in (*document["comparisons"], *document["within"]):
        a, b = arms[c["baseline"]], arms[c["candidate"]]
        if a["model"] == b["model"]:
            expect((a["build"], b["build"]) == ("A", "B"), "builds", a, b)
            found[re.sub(r"^net_|\.pte$", "", pathlib.Path(b["model"]).name)] = c
    return found


def folder_of(document, model, build):
    return next(f"run:{a['name']}" for a in document["arms"]
                if a["build"] == build and model in a["model"])


def planted():
    name = "planted"
    build("a", "1.5.0")
    build("b", "1.5.1")
    files = [model("fast", 1_000_000, "side b base * 800000"), model("same", 2_000_000),
             model("slow", 1_000_000, "side b base * 1250000"), model("less", 1_000_000, "side b base * 985000")]
    d = said(run(command(files, blocks=12)), name, 0)
    wanted = {"fast": (1.25, "faster"), "same": (1, "same"), "slow": (0.8, "slower"), "less": (1 / 0.985, "faster")}
    rows = by_model(d)
    expect(set(rows) == set(wanted), name, list(rows))
    for key, (ratio, verdict) in wanted.items():
        found = rows[key]["speedup"]
        expect(close(found["estimate"], ratio, 0.002) and found["lo"] <= found["estimate"] <= found["hi"], name, found)
        expect(rows[key]["verdict"] == verdict and found["blocks"] == 12, name, key, rows[key])
        # The same two arms alone say the same.
        pair = [folder_of(d, key, side) for side in "AB"]
        alone = json.loads(run([ETPROF, "compare", *pair, "--format", "json"]).stdout)["comparisons"][0]
        expect(alone["speedup"] == found and alone["verdict"] == verdict, name, key, alone, rows[key])
    shown(name, d)
    gates(name)


def shown(name, d):
    for words in (["verify", "run"], ["validate", "run"]):
        ended(run([ETPROF, *words]), 0)
    expect(json.loads(run([ETPROF, "analyze", "run", "--format", "json"]).stdout) == d, name, "analyze differs")
    lines = run([ETPROF, "analyze", "run"]).stdout.splitlines()
    expect(any(re.search(r"ExecuTorch 1\.5\.0 +ExecuTorch 1\.5\.1 +speedup", line) for line in lines), name, lines)
    for words in ("fast  .*1.25×", "same  .*1.00×  same", "slow  .*0.80×  slower", "less  .*1.02×"):
        expect(any(re.search(words, line) for line in lines), name, words, lines)


def gates(name):
    """B is judged within each model, and no model against another."""
    for rule, code in (((), 1), (("speedup >= 0.75",), 0), (("speedup >= 0.99",), 1)):
        done = ended(run([ETPROF, "gate", "run", *rule, "--format", "json"]), code)
        checks = [c for c in json.loads(done.stdout)["checks"] if c["id"].startswith(("verdict:", "speedup:"))]
        expect(len(checks) == 4, name, rule, checks)
        text = run([ETPROF, "gate", "run", *rule]).stdout
        expect("_neon_b" not in text, name, rule, "names of arms", text)
        no = [c["id"] for c in checks if c["ok"] is False]
        expect(len(no) == code and all("slow" in n for n in no), name, rule, no)


def operators():
    """One operator of build B takes 2,000 ticks longer; of the others nothing is claimed."""
    name = "operators"
    pathlib.Path("after.etdump").write_bytes(slowed(DUMP, "native_call_cumsum.out", 2000))
    build("a")
    build("b", FAKE_ETDUMP_neon=pathlib.Path("after.etdump").resolve())
    files = [model("one", 3178, "side b base * 5178"), model("two", 4178, "side b base * 6178")]
    d = said(run(command(files)), name, 0)
    for key in ("one", "two"):
        pair = [folder_of(d, key, side) for side in "AB"]
        rows = json.loads(run([ETPROF, "compare", *pair, "--format", "json"]).stdout)["ledgers"][0]["rows"]
        slower = [(r["label"], r["delta_ns"]) for r in rows if r["q"] is not None and r["delta_ns"]]
        expect(slower == [("cumsum.out [1]", 2000)], name, key, rows)


def one_build_cannot():
    """B crashes on one model, refuses another, gives another output in a third and dies in the middle of a fourth:
    none of them has a ratio, what happened is said, and the others have theirs."""
    name = "one build cannot"
    build("a")
    build("b")
    files = [model("fine", 3178, "side b base * 2542"), model("crash", 3178, "side b on * * * crash"),
             model("refused", 3178, "side b on * * * error:model"),
             model("output", 3178, "side b on * * * other_output"),
             model("dies", 3178, "side b on * timed 4+ crash", "side b on * traced 4+ crash"), model("last", 3178)]
    d = said(run(command(files)), name, 6)  # launches were lost
    rows = by_model(d)
    expect(rows["fine"]["verdict"] == "faster" and rows["last"]["verdict"] == "same", name, rows)
    expect("crash" not in rows and "refused" not in rows, name, list(rows))
    for key, word in (("crash", "crash"), ("refused", "refuse"), ("dies", "crash")):
        lost = [x for x in d["lost"] if key in x["arm"] and x["arm"].endswith("_b")]
        expect(lost and word in str(lost), name, key, d["lost"])
    output = rows["output"]
    expect(output["withheld"] == "outputs_differ" and output["speedup"]["estimate"] is None, name, output)
    expect(0 < rows["dies"]["speedup"]["blocks"] < 6 and rows["dies"]["verdict"] == "unknown", name, rows["dies"])
    expect(run([ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def pairs(model):
    """In how many blocks both builds were timed, as the samples say."""
    seen = {(r["experiment"], r["block"]) for r in run_folders.samples("run", "timed")}
    blocks = {b for _, b in seen}
    arms = {e for e, _ in seen if f"{model}_" in e}
    expect(len(arms) == 2, "two builds", arms)
    return sum(all((arm, b) in seen for arm in arms) for b in blocks)


def resumed():
    """Nothing of it is left to chance by the moment at which the signal comes: what there is of a block that was cut
    short counts for the models that both builds had run by then, and no figure is disturbed."""
    name = "interrupted and resumed"
    build("a")
    build("b")
    files = [model("one", 20_000_000, noise=0), model("two", 30_000_000, "side b base * 15000000", noise=0)]
    words = [w for w in command(files, blocks=10) if w != "--quiet"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("block") and " 2/10" in line:
            process.send_signal(signal.SIGINT)
    process.stderr.close()
    code = process.wait(timeout=600)
    bundle = pathlib.Path("b/bundle.json")
    before = bundle.read_text()
    if code == 0:  # it was quicker than we were
        return
    bundle.write_text(before.replace('"version": "1"', '"version": "2"'))
    refused = run([ETPROF, "ab", "--resume", "run", "--quiet"])
    expect(refused.returncode != 0 and "a build" in refused.stderr, name, refused.returncode, refused.stderr)
    bundle.write_text(before)
    d = said(run([ETPROF, "ab", "--resume", "run", "--quiet", "--format", "json"]), name, 0)
    rows = by_model(d)
    counts = {m: pairs(m) for m in rows}
    expect({m: row["speedup"]["blocks"] for m, row in rows.items()} == counts, name, counts, rows)
    expect(set(counts.values()) <= {10, 11}, name, counts)
    expect(rows["one"]["verdict"] == "same" and close(rows["two"]["speedup"]["estimate"], 2, 0.01), name, rows)
    expect(run([ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def extended():
    """Measured further after the result was known: intervals are wider for it, and it is said."""
    name = "extended"
    build("a")
    build("b")
    said(run(command([model("one", 1_000_000, "side b base * 800000", "noise 30")], blocks=6)), name, 0)
    d = said(run([ETPROF, "ab", "--resume", "run", "--blocks", "2", "--quiet", "--format", "json"]), name, 0)
    row, times = by_model(d)["one"], sorted(medians("run").values(), key=sum)
    expect(row["speedup"]["blocks"] == 8 and len(times) == 2, name, row, len(times))
    wanted = looked_at(times[1], times[0])  # B is the faster one
    found = [math.log(row["speedup"][end]) for end in ("lo", "hi")]
    expect(all(abs(x - y) < 1e-4 for x, y in zip(found, wanted)), name, found, wanted)
    text = " ".join(run([ETPROF, "analyze", "--full", "--renew", "run"]).stdout.split())
    expect("extended after 6 blocks whose result had been seen" in text, name, text[:1500])


def same_build():
    name = "one build twice"
    build("a")
    pathlib.Path("b").symlink_to("a")
    d = said(run(command([model("one", 1_000_000)])), name, 0)
    expect(by_model(d)["one"]["verdict"] == "same", name, d)
    digest = hashlib.sha256(pathlib.Path("a/bundle.json").name.encode() + b"\0" +
                            pathlib.Path("a/bundle.json").read_bytes()).hexdigest()
    manifest = run_folders.manifest("run")
    expect([b["sha256"] for b in manifest["plan"]["builds"]] == [digest, digest], name, manifest["plan"]["builds"])
    expect("builds_same" in {n["id"] for n in manifest["notes"]}, name, manifest["notes"])
    one = " ".join(run([ETPROF, "analyze", "--full", "run"]).stdout.split())
    expect("byte for byte" in one, name, one)


def refused():
    name = "refused"
    build("a")
    build("b")
    pathlib.Path("broken").mkdir()
    pathlib.Path("broken/bundle.json").write_text("{")
    pathlib.Path("stock").write_bytes(b"\x7fELF" + b"\0" * 60 + b"model_path\0num_executions\0")
    pathlib.Path("stock").chmod(0o755)
    one = model("one", 1_000_000)
    base = ["ab", one, "--levels", "neon", "--blocks", "6", "--quiet", "--out", "run"]
    for words, code, text in (
        (["--runner-a", "a"], 2, "--runner-a and --runner-b go together"),
        (["--runner-b", "b"], 2, "--runner-a and --runner-b go together"),
        (["--runner-a", "a", "--runner-b", "b", "--runner", FAKE], 2, "leave out --runner"),
        (["--runner-a", "a", "--runner-b", "b", "--threads", "1,2"], 2, "one number of threads"),
        (["--runner-a", "a", "--runner-b", "b", "--baseline", "neon"], 2, "leave out --baseline"),
        (["--runner-a", "a", "--runner-b", "none"], 5, "none does not exist"),
        (["--runner-a", "a", "--runner-b", "broken"], 5, "bundle.json"),
        (["--runner-a", "a", "--runner-b", "stock"], 2, "is an executor_runner and a is not"),
    ):
        ended(run([ETPROF, *base, *words]), code, says=text)
        expect(not pathlib.Path("run").exists(), name, words, "left a folder")


hear_signals()
started = time.monotonic()
for case in (planted, operators, one_build_cannot, resumed, extended, same_build, refused):
    tmp = new_folder()
    os.chdir(tmp)
    case()
    os.chdir(SOURCE)
finish(f"all as expected, {time.monotonic() - started:.0f} s")
