# SPDX-License-Identifier: Apache-2.0
"""etprof ab MODELS --runner-a A --runner-b B against a fake runner: planted differences between two builds come back
model by model, equal ones are not called different, and a model that one build cannot run stays alone.

The runner is tests/fakes/fake_runner.c; a build is a bundle that starts it with a name in its environment. Its times
are planted, so that every expected figure is a quotient of them.

usage: builds.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import csv
import hashlib
import json
import math
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from by_hand import looked_at, medians
from checks import expect, finish, hear_signals
from slow_operator import slowed

ETPROF, FAKE, SOURCE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
DUMP = pathlib.Path(SOURCE, "tests/data/mixed_xnnpack_fp32.etdump")


def build(name, version="1", **environment):
    """A bundle whose runner is told NAME and ENVIRONMENT."""
    environment = {"FAKE_ETDUMP_neon": DUMP, **environment}
    pathlib.Path(name).mkdir()
    words = ["/usr/bin/env", f"FAKE_SIDE={name}", *(f"{k}={v}" for k, v in environment.items()), FAKE]
    document = {"schema": "etprof.bundle/1", "triple": f"{platform.machine()}-linux-gnu",
                "executorch": {"version": version, "sha": ""}, "start": words, "direct": [FAKE], "env": {}, "bytes": 0,
                "files": []}
    pathlib.Path(name, "bundle.json").write_text(json.dumps(document))


def model(name, ns, *directives, noise=4):
    text = "\n".join((f"base * {ns}", f"noise {noise}", *directives))
    pathlib.Path(f"net_{name}.pte").write_bytes(b"\x10\0\0\0ET12" + text.encode() + b"\n")
    return f"net_{name}.pte"


def command(models, *extra, blocks=8, out="run"):
    return [ETPROF, "ab", *models, "--runner-a", "a", "--runner-b", "b", "--levels", "neon", "--blocks", str(blocks),
            "--iterations", "3", "--warmup", "1", "--seed", "7", "--quiet", "--format", "json", "--out", out, *extra]


def run(args):
    return subprocess.run(args, capture_output=True, text=True, timeout=600, check=False)


def said(done, name, code):
    expect(done.returncode == code, name, f"exit {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def adjusted(ps, dependent):
    """Benjamini and Hochberg 1995; with DEPENDENT Benjamini and Yekutieli 2001: times 1 + 1/2 + … + 1/n."""
    known = sorted(p for p in ps if p is not None)
    n = len(known)
    times = sum(1 / i for i in range(1, n + 1)) if dependent else 1
    return [None if p is None else min(min(1, known[j] * n * times / (j + 1)) for j in range(known.index(p), n))
            for p in ps]


def close(x, y, within=1e-5):
    return (x is None) == (y is None) and (x is None or abs(x - y) <= within * abs(y) + 1e-12)


def by_name(document):
    return {m["model"]: m for m in document["models"]}


def planted():
    name = "planted"
    build("a", "1.5.0")
    build("b", "1.5.1")
    files = [model("fast", 1_000_000, "side b base * 800000"), model("same", 2_000_000),
             model("slow", 1_000_000, "side b base * 1250000"), model("less", 1_000_000, "side b base * 990000")]
    d = said(run(command(files, blocks=12)), name, 0)
    expect([m["model"] for m in d["models"]] == ["fast", "same", "slow", "less"], name, "order")
    wanted = {"fast": (1.25, "faster"), "same": (1, "same"), "slow": (0.8, "slower"), "less": (1 / 0.99, "faster")}
    for key, m in by_name(d).items():
        ratio, verdict = wanted[key]
        expect(close(m["estimate"], ratio, 0.002) and m["lo"] <= m["estimate"] <= m["hi"], name, m)
        expect(m["verdict"] == verdict and m["blocks"] == 12 and m["outputs_agree"] is True, name, m)
        expect(m["blocks_to_find"] >= 6, name, m)
    comment = run([ETPROF, "analyze", "--full", "--renew", "run", "--format", "md"]).stdout
    expect(f"in 90 % of sessions of {max(m['blocks_to_find'] for m in d['models'])} blocks" in comment, name, comment)
    mean = math.prod(m["estimate"] for m in d["models"]) ** (1 / 4)
    expect(close(d["mean"]["estimate"], mean) and d["mean_models"] == 4, name, d["mean"], mean)
    rows = [*d["models"], d["mean"]]
    for row, q in zip(rows, adjusted([r["p"] for r in rows], False)):
        expect(close(row["q"], q), name, row, q)
    expect((d["a"]["executorch"], d["b"]["executorch"], d["same_build"]) == ("1.5.0", "1.5.1", False), name, d["a"])
    shown(name, d)
    document = pathlib.Path("run/builds.json")
    document.write_text(document.read_text().replace("0.8", "0.9"))
    expect(run([ETPROF, "verify", "run"]).returncode == 1, name, "an altered builds.json went unnoticed")


def shown(name, d):
    for words in (["verify", "run"], ["validate", "run"]):
        done = run([ETPROF, *words])
        expect(done.returncode == 0, name, words, done.stdout[-500:])
    expect(json.loads(run([ETPROF, "analyze", "run", "--format", "json"]).stdout) == d, name, "analyze differs")
    expect(json.loads(pathlib.Path("run/builds.json").read_text()) == d, name, "builds.json")
    comment = run([ETPROF, "analyze", "--full", "--renew", "run", "--format", "github"]).stdout
    for line in ("| `fast` | 1.0", "25 % faster", "25 % slower", "equal ± ", "**`geometric mean`**",
                 "Benjamini–Hochberg"):
        expect(line in comment, name, line, comment[:3000])
    table = run([ETPROF, "analyze", "--full", "--renew", "run", "--format", "csv"]).stdout.splitlines()
    expect(len(table) == 6 and table[0].startswith("model,a_ns,b_ns,speedup,lo,hi,q,verdict"), name, table)
    page = pathlib.Path("run/report.html").read_text()
    expect("25 % slower" in page and "geometric mean" in page, name, "report.html")


def operators():
    """One operator of build B takes 2,000 ticks longer; of the others nothing is claimed."""
    name = "operators"
    pathlib.Path("after.etdump").write_bytes(slowed(DUMP, "native_call_cumsum.out", 2000))
    build("a")
    build("b", FAKE_ETDUMP_neon=pathlib.Path("after.etdump").resolve())
    files = [model("one", 3178, "side b base * 5178"), model("two", 4178, "side b base * 6178")]
    d = said(run(command(files)), name, 0)
    expect((d["operators_compared"], d["operators_changed"]) == (6, 2), name, d["operators"])
    for o in d["operators"]:
        expect(o["label"] == "cumsum.out [1]" and o["b_ns"] - o["a_ns"] == 2000 == o["delta_ns"], name, o)
        expect(o["verdict"] == "slower" and o["q"] <= 0.05, name, o)
    comment = run([ETPROF, "analyze", "--full", "--renew", "run", "--format", "github"]).stdout
    expect("2 of 6 operators changed" in comment and "Benjamini–Yekutieli" in comment, name, comment)
    expect(len([r for r in comment.splitlines() if r.startswith("| `") and "cumsum" in r]) == 2, name, comment)


def equal_operators():
    name = "equal operators"
    build("a")
    build("b")
    d = said(run(command([model("one", 3178), model("two", 4178)])), name, 0)
    expect((d["operators_compared"], d["operators_changed"], d["operators"]) == (6, 0, []), name, d["operators"])


def one_build_cannot():
    """B crashes on one model, refuses another, gives another output in a third and dies in the middle of a fourth:
    their rows say so, no operator of them is claimed, and the others have their ratio."""
    name = "one build cannot"
    pathlib.Path("after.etdump").write_bytes(slowed(DUMP, "native_call_cumsum.out", 2000))
    build("a")
    build("b", FAKE_ETDUMP_neon=pathlib.Path("after.etdump").resolve())
    files = [model("fine", 3178, "side b base * 2542"), model("crash", 3178, "side b on * * * crash"),
             model("refused", 3178, "side b on * * * error:model"),
             model("output", 3178, "side b on * * * other_output"),
             model("dies", 3178, "side b on * timed 4+ crash", "side b on * traced 4+ crash"), model("last", 3178)]
    d = said(run(command(files)), name, 6)  # launches were lost
    rows = by_name(d)
    expect(len(rows) == 6, name, list(rows))
    expect(rows["fine"]["verdict"] == "faster" and rows["last"]["verdict"] == "same", name, rows)
    for key, word in (("crash", "crash"), ("refused", "refuse")):
        row = rows[key]
        expect(row["estimate"] is None and row["b_lost"] and word in row["b_lost"] and row["a_lost"] is None, name, row)
        expect(row["verdict"] == "unknown" and row["a_ns"] is not None and row["b_ns"] is None, name, row)
    expect(rows["output"]["withheld"] == "outputs_differ" and rows["output"]["estimate"] is None, name, rows["output"])
    expect(rows["output"]["outputs_agree"] is False, name, rows["output"])
    expect(0 < rows["dies"]["blocks"] < 6 and rows["dies"]["verdict"] == "unknown", name, rows["dies"])
    expect("crash" in str(rows["dies"]["b_lost"]), name, rows["dies"])
    expect(d["mean_models"] == sum(r["estimate"] is not None for r in rows.values()), name, d["mean_models"])
    for key, row in rows.items():
        compared = key in ("fine", "last")
        expect((row["operators"] == 3 and row["no_operators"] is None) == compared, name, row)
    expect({o["model"] for o in d["operators"] if o["verdict"] != "unknown"} == {"fine", "last"}, name, d["operators"])
    text = " ".join(run([ETPROF, "analyze", "--full", "--renew", "run"]).stdout.split())
    for words in ("B did not run it: crash", "B did not run it", "the builds' outputs differ beyond tolerance",
                  "B lost launches: crash", "not measured", "withheld"):
        expect(words in text, name, words, text[:3000])
    expect(run([ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def pairs(model):
    """In how many blocks both builds were timed, as the samples say."""
    with open("run/samples.csv", newline="") as f:
        seen = {(r["experiment"], r["block"]) for r in csv.DictReader(f) if r["phase"] == "timed"}
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
    rows = by_name(d)
    counts = {m: pairs(m) for m in rows}
    expect({m: row["blocks"] for m, row in rows.items()} == counts and set(counts.values()) <= {10, 11}, name, counts,
           rows)
    expect(rows["one"]["verdict"] == "same" and close(rows["two"]["estimate"], 2, 0.01), name, rows)
    expect(run([ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def extended():
    """Measured further after the result was known: intervals are wider for it, and it is said."""
    name = "extended"
    build("a")
    build("b")
    said(run(command([model("one", 1_000_000, "side b base * 800000", "noise 30")], blocks=6)), name, 0)
    d = said(run([ETPROF, "ab", "--extend", "run", "--blocks", "2", "--quiet", "--format", "json"]), name, 0)
    row, times = d["models"][0], sorted(medians("run").values(), key=sum)
    expect(row["blocks"] == 8 and len(times) == 2, name, row, len(times))
    found, wanted = [math.log(row[end]) for end in ("lo", "hi")], looked_at(times[1], times[0])  # B is the faster one
    expect(all(abs(x - y) < 1e-4 for x, y in zip(found, wanted)), name, found, wanted)
    text = " ".join(run([ETPROF, "analyze", "--full", "--renew", "run"]).stdout.split())
    expect("extended after 6 blocks, whose result was known" in text, name, text[:1500])


def same_build():
    name = "one build twice"
    build("a")
    pathlib.Path("b").symlink_to("a")
    d = said(run(command([model("one", 1_000_000)])), name, 0)
    expect(d["same_build"] is True and d["mean"] is None and d["models"][0]["verdict"] == "same", name, d)
    one = run([ETPROF, "analyze", "--full", "--renew", "run"]).stdout
    expect("byte for byte" in " ".join(one.split()), name, one)
    digest = hashlib.sha256(pathlib.Path("a/bundle.json").name.encode() + b"\0" +
                            pathlib.Path("a/bundle.json").read_bytes()).hexdigest()
    expect(d["a"]["sha256"] == digest == d["b"]["sha256"], name, d["a"], digest)


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
        done = run([ETPROF, *base, *words])
        expect(done.returncode == code and text in done.stderr, name, words, done.returncode, done.stderr)
        expect(not pathlib.Path("run").exists(), name, words, "left a folder")


hear_signals()
started = time.monotonic()
for case in (planted, operators, equal_operators, one_build_cannot, resumed, extended, same_build,
             refused):
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        case()
        os.chdir(SOURCE)
finish(f"all as expected, {time.monotonic() - started:.0f} s")
