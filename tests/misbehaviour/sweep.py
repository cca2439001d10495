# SPDX-License-Identifier: Apache-2.0
"""etprof sweep against a fake runner: planted effects come back, absent interactions are not claimed, cells that
fail stay alone, and the folder derives itself again.

The runner is tests/fakes/fake_runner.c. Its times are planted, so every expected figure is a quotient of them.

usage: sweep.py ETPROF FAKE_RUNNER MODELS (folder with example programs)"""
import csv
import json
import math
import pathlib
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE, MODELS = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
# Nanoseconds by (model, level, threads): int8 gains nothing over fp16 at sme2; 4 threads stop paying.
NEON = {1: 8_000_000, 2: 4_400_000, 4: 4_200_000}
PLANTED = {("fp16", "neon"): NEON, ("fp16", "sme2"): {t: v // 4 for t, v in NEON.items()},
           ("int8", "neon"): {t: v // 2 for t, v in NEON.items()},
           ("int8", "sme2"): {t: v // 4 for t, v in NEON.items()}}
ADDITIVE = {**PLANTED, ("int8", "sme2"): {t: v // 8 for t, v in NEON.items()}}  # no interaction at all


def model(directory, name, times, *directives):
    lines = [f"base {level} {ns} {threads}" for (m, level), by in times.items() if m == name
             for threads, ns in by.items()]
    path = pathlib.Path(directory) / f"net_{name}.pte"
    path.write_bytes(b"\x10\0\0\0ET12" + "\n".join((*lines, *directives)).encode() + b"\n")


def command(*extra, blocks=8, seed=7, trace=False):
    return [ETPROF, "sweep", "--models", "net_fp16.pte,net_int8.pte", "--levels", "sme2,neon", "--threads", "4,1,2",
            "--blocks", str(blocks), "--iterations", "8", "--warmup", "1", "--seed", str(seed), "--runner", FAKE,
            "--quiet", "--out", "run", "--format", "json", *([] if trace else ["--no-trace"]), *extra]


def run(directory, args, timeout=600):
    return subprocess.run(args, cwd=directory, capture_output=True, text=True, timeout=timeout, check=False)


def interactions(document):
    return {(x["of"], x["value"], x["with"], x["with_value"], *x["at"].values()): x for x in document["interactions"]}


def speedups(document):
    return {(x["model"], x["level"], x["threads"]): x for x in document["speedups"]}


def claims(document):
    return [s["text"] for s in document["sentences"] if s["id"].startswith("I")]


def a_wide_control_is_no_check_mark():
    """Two equal arms whose ratio is not known within a factor of two are nothing to trust."""
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED, "noise 990")
        args = command(blocks=2)
        args[args.index("--format") + 1] = "text"
        done = run(tmp, args)
        expect(done.returncode == 0 and "? A/A not known within 2×" in done.stdout, "a wide control", done.stdout)


def planted_exactly():
    name = "planted exactly"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        done = run(tmp, command(trace=True))
        expect(done.returncode == 0, name, f"exit {done.returncode}: {done.stderr[-400:]}")
        d = json.loads(done.stdout)
        for cell in d["cells"]:
            want = PLANTED[cell["model"], cell["level"]][cell["threads"]]
            expect(abs(cell["time_ns"] - want) <= 1, name, cell)
        for (m, level, threads), x in speedups(d).items():
            want = NEON[threads] / PLANTED[m, level][threads] / (2 if m == "int8" else 1)
            expect(abs(x["speedup"]["estimate"] - want) < 1e-5 * want, name, x)
            expect(x["verdict"] == "faster", name, x)
        for threads in (1, 2, 4):  # int8 ÷ fp16: 2 at neon, 1 at sme2
            x = interactions(d)["model", "int8", "level", "sme2", threads]
            expect(abs(x["ratio_of_ratios"]["estimate"] - 0.5) < 1e-5 and x["established"], name, x)
            mean = next(g for g in d["geometric_means"] if g["threads"] == threads)
            expect(abs(mean["speedup"]["estimate"] - 8 ** 0.5) < 1e-5, name, mean)  # of 4 and 2
        for x in d["interactions"]:
            expect(x["established"] == (x["with"] == "level"), name, x)
        expect(len(claims(d)) == 1 and "it is no faster than fp16" in claims(d)[0], name, claims(d))
        expect("int8 is 2.00× [2.00, 2.00] faster than fp16 at NEON" in claims(d)[0], name, claims(d))
        # 8 → 4.4 ms is 1.82×, 4.4 → 4.2 ms is 1.05×: below the 10 % that were asked for
        expect(all(s["knee"] == {"from": 2, "to": 2} for s in d["scaling"]), name, d["scaling"])
        winner_comes_first(tmp)
        folder_knows_itself(tmp, d, name)


def cards(text):
    """What stands before the facts: the first lines of each answer."""
    return [c.splitlines() for c in text.split("\n\ndesign ")[0].split("\n\n")[1:]]


def winner_comes_first(tmp):
    """Fastest of each model, by the planted times: fp16 and int8 both take 1.05 ms at sme2 with 4 threads."""
    name = "winner"
    first, second, mean = cards(run(tmp, [ETPROF, "analyze", "--full", "--renew", "run"]).stdout)
    expect(first[0] == "7.62× faster  [7.62, 7.62]  fp16: SME2 with 4 threads", name, first)  # 8 / 1.05
    detail = " ".join(first[2:])
    expect("1.050 ms against 8.000 ms at NEON with 1 thread" in detail, name, detail)
    expect("int8 at SME2 with 4 threads (1.050 ms)" in detail and "cannot be told from" in detail, name, detail)
    expect(second[0] == "3.81× faster  [3.81, 3.81]  int8: SME2 with 4 threads", name, second)  # 4 / 1.05
    expect("4.000 ms at NEON with 1 thread" in " ".join(second[2:]), name, second)
    expect("cannot be told from" not in " ".join(second[2:]), name, second)
    expect("geometric mean" in " ".join(mean), name, mean)


def winner_of_one_model():
    """The reference may be the fastest; two cells whose card says it already get no second one."""
    name = "winner of one model"
    with tempfile.TemporaryDirectory() as tmp:
        for m, times in (("slow", {("slow", "neon"): {1: 1_000_000, 2: 3_000_000},
                                   ("slow", "sme2"): {1: 2_000_000, 2: 4_000_000}}),):
            model(tmp, m, times)
        words = [ETPROF, "sweep", "net_slow.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                 "--warmup", "1", "--seed", "3", "--runner", FAKE, "--quiet", "--no-trace"]
        done = run(tmp, [*words, "--threads", "1,2", "--out", "two", "--full"])
        first, second = cards(done.stdout)
        expect(first[0] == "fastest  net_slow: NEON with 1 thread, the reference itself", name, first)
        expect("1.000 ms" in " ".join(first[1:]), name, first)
        expect(second[0].startswith("2.00× slower"), name, second)
        done = run(tmp, [*words, "--threads", "1", "--out", "one", "--full"])
        expect([c[0][:12] for c in cards(done.stdout)] == ["2.00× slower"], name, cards(done.stdout))
        done = run(tmp, [*words, "--threads", "1,2", "--baseline", "sme2", "--out", "turned", "--full"])
        turned = cards(done.stdout)
        expect(turned and turned[0][0].startswith("2.00× faster") and "net_slow: NEON" in " ".join(turned[0]) and
               "1.000 ms against 2.000 ms at SME2 with 1 thread" in " ".join(turned[0]), name, "another reference",
               turned, done.stderr)
        words[words.index("--blocks") + 1] = "2"
        shown = cards(run(tmp, [*words, "--threads", "1", "--out", "few", "--full"]).stdout)
        expect(any("2 of at least 6 blocks" in c[0] for c in shown) and not any("[" in c[0] for c in shown), name,
               "an interval of two blocks is given as if it said something", shown)


def folder_knows_itself(tmp, d, name):
    expect(run(tmp, [ETPROF, "verify", "run"]).returncode == 0, name, "verify")
    again = run(tmp, [ETPROF, "analyze", "--full", "--renew", "run", "--format", "json"])
    expect(json.loads(again.stdout) == d, name, "report says something else")
    expect(json.loads((pathlib.Path(tmp) / "run" / "sweep.json").read_text()) == d, name, "sweep.json")
    page = (pathlib.Path(tmp) / "run" / "report.html").read_text()
    expect("no faster than fp16" in page and "<svg" in page, name, "report.html")
    expect((pathlib.Path(tmp) / "run" / "sweep.svg").read_text().startswith("<svg"), name, "sweep.svg")
    expect(run(tmp, [ETPROF, "verify", "run"]).returncode == 0, name, "verify after report")
    document = pathlib.Path(tmp) / "run" / "sweep.json"
    document.write_text(document.read_text().replace("0.5", "0.6"))
    expect(run(tmp, [ETPROF, "verify", "run"]).returncode == 1, name, "an altered sweep.json went unnoticed")


def noisy(times, seed):
    """Launches up to 3 % apart and drift of 0.1 ms over the session."""
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, times, "noise 30", "drift 1000")
        done = run(tmp, command(seed=seed))
        expect(done.returncode == 0, "noisy", done.stderr[-300:])
        return json.loads(done.stdout)


def planted_with_noise():
    covered = checked = found = 0
    for seed in (1, 2, 3):
        d = noisy(PLANTED, seed)
        for threads in (1, 2, 4):
            r = interactions(d)["model", "int8", "level", "sme2", threads]["ratio_of_ratios"]
            covered += r["lo"] <= 0.5 <= r["hi"]
            checked += 1
        found += any("faster than fp16 at NEON" in c for c in claims(d))
    expect(found == 3, "planted with noise", f"claimed in {found} of 3 sweeps")
    # The fake's noise is a lattice, not chance; how often intervals hold the truth is unit.stats_factorial's matter.
    expect(covered >= checked - 2, "planted with noise", f"covered {covered} of {checked}")


def slower_with_noise():
    """The same with the models' times changed over: a sentence about what is slower gives the inverse, its ends too."""
    other = {"fp16": "int8", "int8": "fp16"}
    texts = [x["text"] for x in noisy({(other[m], level): by for (m, level), by in PLANTED.items()}, 1)["sentences"]]
    told = [(x, [float(n) for n in re.search(r"([\d.]+)× \[([\d.]+), ([\d.]+)\] slower than", x).groups()])
            for x in texts if "] slower than" in x]
    expect(told, "slower with noise", "no sentence", texts)
    for text, (estimate, lo, hi) in told:
        expect(1 < lo < estimate < hi, "slower with noise", text)


def absent_with_noise():
    claimed = sum(bool(claims(noisy(ADDITIVE, seed))) for seed in (4, 5, 6))
    expect(claimed == 0, "absent with noise", f"claimed in {claimed} of 3 sweeps")  # the rate: unit.stats_factorial


def failing_cells():
    for name, directive, empty in (("a cell that crashes", "on sme2 timed * crash 4", ("fp16", "sme2", 4)),
                                   ("the baseline cell crashes", "on neon timed * crash 1", ("fp16", "neon", 1))):
        with tempfile.TemporaryDirectory() as tmp:
            model(tmp, "fp16", PLANTED, directive)
            model(tmp, "int8", PLANTED)
            done = run(tmp, command(blocks=6))
            expect(done.returncode == 6, name, f"exit {done.returncode}: {done.stderr[-300:]}")
            d = json.loads(done.stdout)
            for cell in d["cells"]:
                is_empty = (cell["model"], cell["level"], cell["threads"]) == empty
                expect((cell["time_ns"] is None) == is_empty and (cell["lost"] > 0) == is_empty, name, cell)
            for key, x in speedups(d).items():
                touched = key[0] == empty[0] and key[2] == empty[2]
                expect((x["speedup"]["estimate"] is None) == touched, name, x)
            expect(any("every launch was lost (crash)" in s["text"] for s in d["sentences"]), name, d["sentences"])
            expect(run(tmp, [ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def wrong_outputs():
    name = "outputs differ in one model"
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, "fp16", PLANTED)
        model(tmp, "int8", PLANTED, "on sme2 traced * other_output")
        done = run(tmp, command(blocks=6, trace=True))
        expect(done.returncode == 1, name, f"exit {done.returncode}")
        d = json.loads(done.stdout)
        for (m, _, _), x in speedups(d).items():
            expect(x["withheld"] == ("outputs_differ" if m == "int8" else None), name, x)
            expect((x["speedup"]["estimate"] is None) == (m == "int8"), name, x)
        for x in (x for x in d["interactions"] if x["of"] == "model"):
            agree = x["at"].get("level") == "neon"  # all its cells are at the level whose outputs are the reference
            expect((x["ratio_of_ratios"]["estimate"] is None) != agree, name, x)
        expect(all(g["speedup"]["estimate"] is None for g in d["geometric_means"]), name,
               "a mean over a withheld model")
        shown = cards(run(tmp, [ETPROF, "analyze", "run", "--full"]).stdout)
        mean = next((c for c in shown if "mean" in " ".join(c)), [""])
        expect("withheld" in " ".join(mean), name, "the card of the mean does not say why there is none", mean)
        expect([m["correctness"]["ok"] for m in d["models"]] == [True, False], name, d["models"])


def wrong_outputs_in_a_cell():
    name = "outputs differ in one cell"
    bad = ("int8", "sme2", 4)
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, "fp16", PLANTED)
        model(tmp, "int8", PLANTED, "on sme2 traced * other_output 4")
        done = run(tmp, command(blocks=6, trace=True))
        expect(done.returncode == 1, name, f"exit {done.returncode}")
        d = json.loads(done.stdout)
        found = speedups(d)
        expect(bad in found and len(found) > 3, name, sorted(found))
        for key, x in found.items():
            expect(x["withheld"] == ("outputs_differ" if key == bad else None), name, x)
            expect((x["speedup"]["estimate"] is None) == (key == bad), name, x)
        expect([m["correctness"]["ok"] for m in d["models"]] == [True, False], name, d["models"])
        expect(any("ratios with it are withheld" in s["text"] for s in d["sentences"]), name, d["sentences"])


def resumed():
    name = "killed and resumed"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        p = subprocess.Popen(command(), cwd=tmp, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        manifest, deadline = pathlib.Path(tmp) / "run" / "manifest.json", time.time() + 120
        while time.time() < deadline:
            try:
                if json.loads(manifest.read_text())["blocks_done"] >= 2:
                    break
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        p.send_signal(signal.SIGKILL)
        p.wait()
        before = json.loads(manifest.read_text())
        done = run(tmp, [ETPROF, "sweep", "--resume", "run", "--runner", FAKE, "--quiet", "--format", "json"])
        expect(done.returncode == 0, name, f"exit {done.returncode}: {done.stderr[-300:]}")
        after = json.loads(manifest.read_text())
        expect(before["state"] == "running" and after["state"] == "finished", name, before["state"])
        expect(after["plan"]["sweep"] == before["plan"]["sweep"] == {"knee": 0.1}, name, after["plan"].get("sweep"))
        expect(after["plan"]["seed"] == before["plan"]["seed"], name, "another seed")
        expect(after["plan"]["order"][:2] == before["plan"]["order"][:2], name, "another order")
        expect(json.loads(done.stdout)["blocks"] == 8, name, "blocks")
        expect(run(tmp, [ETPROF, "verify", "run"]).returncode == 0, name, "verify")


def cut_short():
    """A block that an interruption cut short counts in no ratio, and so in no title."""
    name = "interrupted within a block"
    with tempfile.TemporaryDirectory() as tmp:
        model(tmp, "fp16", PLANTED, "on neon timed 7 hang")  # the baseline is launched twice a block: the fourth
        count, deadline = pathlib.Path(tmp) / "net_fp16.pte.count", time.time() + 120
        p = subprocess.Popen([ETPROF, "sweep", "net_fp16.pte", "--levels", "sme2,neon", "--threads", "1", "--blocks",
                              "8", "--iterations", "8", "--warmup", "1", "--seed", "7", "--runner", FAKE,
                              "--no-trace", "--no-kernels", "--out", "run"],
                             cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while (not count.exists() or count.read_text().count("neon timed") < 7) and time.time() < deadline:
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
        shown, said = p.communicate(timeout=120)
        with open(pathlib.Path(tmp) / "run" / "samples.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        cut = {r["experiment"].rsplit("_", 1)[1] for r in rows if r["block"] == "4" and r["phase"] == "timed"}
        expect(cut == {"on"}, name, "the fourth block has the candidate alone", cut)
        expect(p.returncode == 130 and "interrupted after 3 whole blocks" in said, name, p.returncode, said)
        expect("3 of at least 6 blocks" in shown, name, "the verdict", shown)
        expect(shown.splitlines()[0].endswith("1 thread count · 3 blocks"), name, "the title", shown.splitlines()[0])
        full = run(tmp, [ETPROF, "analyze", "--full", "--renew", "run"]).stdout
        expect("1 thread count, 3 blocks" in full and "4 blocks" not in full, name, "the report", full[:600])
        expect(json.loads((pathlib.Path(tmp) / "run" / "sweep.json").read_text())["blocks"] == 3, name, "sweep.json")


def balanced():
    """Every cell once in every block, and an even block is the reverse of the one before."""
    name = "balanced"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        run(tmp, command(blocks=6))
        order = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())["plan"]["order"]
        expect(len(order) == 6 and all(sorted(b) == list(range(12)) for b in order), name, order)
        expect(all(order[i + 1] == order[i][::-1] for i in (0, 2, 4)), name, order)
        expect(order[0] != order[2] and order[0] != sorted(order[0]), name, "no random order")


# Student's t, 97.5 %, from printed tables, by number of blocks.
T975 = {6: 2.57058, 8: 2.36462, 10: 2.26216, 12: 2.20099, 14: 2.16037, 16: 2.13145, 18: 2.10982, 20: 2.09302,
        22: 2.07961,
        24: 2.06866, 26: 2.05954, 28: 2.05183, 30: 2.04523, 32: 2.03951, 34: 2.03452, 36: 2.03011, 38: 2.02619,
        40: 2.02269}


def half_widths(tmp, blocks):
    """Per (model, threads): widened half-width of ln(neon ÷ sme2) over the first so many blocks, from the samples."""
    plan = json.loads((pathlib.Path(tmp) / "run" / "manifest.json").read_text())
    arms = {a["name"]: (a["model"], a["threads"], a["level"]) for a in plan["plan"]["arms"]}
    times = {}
    with open(pathlib.Path(tmp) / "run" / "samples.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["phase"] == "timed" and int(r["block"]) <= blocks:
                times.setdefault((arms[r["experiment"]], int(r["block"])), []).append(int(r["duration_ns"]))
    out = {}
    for m, t in {(m, t) for m, t, _ in arms.values()}:
        logs = [math.log(statistics.median(times[(m, t, "neon"), b]) / statistics.median(times[(m, t, "sme2"), b]))
                for b in range(1, blocks + 1)]
        out[m, t] = T975[blocks] * statistics.stdev(logs) / blocks ** 0.5 * (1 + 1.5 / blocks)
    return out


def precise():
    """--precision: stops at the first look at which every speedup is narrow enough, and its intervals say so."""
    name = "stops when precise"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED, "noise 60")
        done = run(tmp, command("--precision", "3.5%", blocks=40))
        d = json.loads(done.stdout)
        k = d["speedups"][0]["speedup"]["blocks"]
        expect(done.returncode == 0 and d["stop"] == {"reason": "precision", "precision": 0.035}, name, d["stop"])
        expect(6 < k < 40 and k % 2 == 0, name, k)  # noisier than one look takes
        limit = math.log1p(0.035)
        expect(max(half_widths(tmp, k).values()) <= limit < max(half_widths(tmp, k - 2).values()), name,
               (half_widths(tmp, k - 2), half_widths(tmp, k)))
        wanted = half_widths(tmp, k)
        models = [m["stem"] if "stem" in m else pathlib.Path(m["path"]).stem for m in d["models"]]
        for x in d["speedups"]:
            s = x["speedup"]
            half = [v for (m, t), v in wanted.items() if t == x["threads"] and x["model"] in models[m]][0]
            expect(abs(math.log(s["hi"] / s["estimate"]) - half) < 1e-5 and abs(s["widening"] - 1 - 1.5 / k) < 1e-5,
                   name, (x, half))
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED, "noise 60")
        d = json.loads(run(tmp, command("--precision", "0.1%", blocks=8)).stdout)
        expect(d["stop"]["reason"] == "blocks" and d["speedups"][0]["speedup"]["blocks"] == 8, name, d["stop"])
        again = run(tmp, [ETPROF, "sweep", "--resume", "run", "--precision", "1%"])
        expect(again.returncode == 2 and "leave out --precision" in again.stderr, name, again.stderr)


def emulated():
    """Times of an emulator: no ratio of any kind, whatever else the folder holds."""
    name = "emulated"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        measured = json.loads(run(tmp, command()).stdout)
        expect(all(x["speedup"]["estimate"] for x in measured["speedups"]), name, "nothing was measured to begin with")
        path = pathlib.Path(tmp) / "run" / "manifest.json"
        m = json.loads(path.read_text())
        m["device"]["emulated"] = True
        m["device"]["spec"] = "qemu"
        for a in m["plan"]["arms"]:
            a["emulated"] = True
        path.write_text(json.dumps(m))
        done = run(tmp, [ETPROF, "analyze", "--full", "--renew", "run", "--format", "json"])
        d = json.loads(done.stdout)
        expect(done.returncode == 0 and d["device"]["emulated"], name, (done.returncode, done.stderr))
        ratios = [x[key] for part in ("speedups", "steps", "interactions", "geometric_means") for x in d.get(part, [])
                  for key in ("speedup", "ratio_of_ratios") if key in x]
        expect(len(ratios) >= 6, name, d.keys())
        expect(all(r[k] is None for r in ratios for k in ("estimate", "lo", "hi")), name, ratios)
        expect(all(x["verdict"] == "unknown" and x["withheld"] == "emulated" for x in d["speedups"]), name,
               d["speedups"])
        expect(any("emulator" in s["text"] for s in d["sentences"]) and not claims(d), name, d["sentences"])
        shown = run(tmp, [ETPROF, "analyze", "--full", "--renew", "run"]).stdout
        expect("emulator" in shown and "4.00×" not in shown and "2.00×" not in shown, name, shown)


def real_programs():
    """Programs whose inputs differ are measured, but their times are not compared with each other."""
    name = "different inputs"
    with tempfile.TemporaryDirectory() as tmp:
        (pathlib.Path(tmp) / "x.bin").write_bytes(b"\0" * 16)
        for model_file in ("toy_cnn_xnnpack_fp32.pte", "image_encoder_xnnpack_fp32.pte"):
            shutil.copy(f"{MODELS}/{model_file}", tmp)  # the fake counts its launches beside the model
        args = [ETPROF, "sweep", "toy_cnn_xnnpack_fp32.pte", "image_encoder_xnnpack_fp32.pte",
                "--levels", "sme2,neon", "--threads", "1,64", "--blocks", "2", "--iterations", "8", "--no-trace",
                "--runner", FAKE, "--out", "run", "--format", "json"]
        done = run(tmp, [*args, "--inputs", "x.bin"])
        expect(done.returncode == 2 and "take different inputs" in done.stderr, name, (done.returncode, done.stderr))
        done = run(tmp, args)
        expect(done.returncode == 0, name, done.stderr[-300:])
        d = json.loads(done.stdout)
        expect(d["same_inputs"] is False, name, d["same_inputs"])
        expect(any("different inputs" in s["text"] for s in d["sentences"]), name, d["sentences"])
        expect(any("64 threads on" in s["text"] for s in d["sentences"]), name, d["sentences"])
        expect(all(x["verdict"] == "unknown" for x in d["speedups"]), name, "a verdict from two blocks")


def other_floats():
    """fp16 and int8 of one model take the same shapes in other types: that is the same work, and they are compared."""
    name = "other types of floats"
    with tempfile.TemporaryDirectory() as tmp:
        (pathlib.Path(tmp) / "x.bin").write_bytes(b"\0" * 16)
        for model_file in ("image_encoder_xnnpack_fp16.pte", "image_encoder_xnnpack_int8.pte"):
            shutil.copy(f"{MODELS}/{model_file}", tmp)
        args = [ETPROF, "sweep", "image_encoder_xnnpack_fp16.pte", "image_encoder_xnnpack_int8.pte", "--levels",
                "sme2,neon",
                "--blocks", "6", "--iterations", "8", "--no-trace", "--runner", FAKE, "--out", "run", "--format",
                "json"]
        done = run(tmp, [*args, "--inputs", "x.bin"])
        expect(done.returncode == 2 and "take different inputs" in done.stderr, name, (done.returncode, done.stderr))
        d = json.loads(run(tmp, args).stdout)
        expect(d["same_inputs"] is True, name, d["same_inputs"])
        expect(any(s["text"].startswith("fp16 takes float16, int8 float32: inputs of the same shapes")
                   for s in d["sentences"]),
               name, d["sentences"])
        shown = run(tmp, [ETPROF, "analyze", "--full", "--renew", "run", "-q"]).stdout
        expect("no interaction: over 6 blocks each factor does the same" in " ".join(shown.split()), name, shown[:900])


def method_first(program, name):
    """The bytes of PROGRAM with the method NAME before all others: entries of a flatbuffer's vector are offsets from
    where they stand."""
    def u32(at):
        return struct.unpack_from("<I", program, at)[0]

    def field(table, i):
        fields = table - struct.unpack_from("<i", program, table)[0] + 4
        return table + struct.unpack_from("<H", program, fields + 2 * i)[0]

    plans = field(u32(0), 1)
    plans += u32(plans)
    at = range(plans + 4, plans + 4 + 4 * u32(plans), 4)
    tables = [a + u32(a) for a in at]
    called = [u + u32(u) for u in (field(t, 0) for t in tables)]
    i = next(i for i, c in enumerate(called) if program[c + 4:c + 4 + u32(c)] == name.encode())
    changed = bytearray(program)
    for a, t in zip(at, [tables[i], *tables[:i], *tables[i + 1:]]):
        struct.pack_into("<I", changed, a, t - a)
    return bytes(changed)


def order_of_methods():
    """Both are measured by "forward", wherever it stands among their methods."""
    name = "order of methods"
    program = pathlib.Path(MODELS, "../../tests/data/llm/decoder_positions.pte").read_bytes()
    with tempfile.TemporaryDirectory() as tmp:
        pathlib.Path(tmp, "one.pte").write_bytes(program)
        pathlib.Path(tmp, "two.pte").write_bytes(method_first(program, "use_kv_cache"))
        done = run(tmp, [ETPROF, "sweep", "one.pte", "two.pte", "--levels", "sme2,neon", "--blocks", "2",
                         "--iterations", "8", "--no-trace", "--runner", FAKE, "--out", "run", "--format", "json"])
        expect(done.returncode == 0 and "different inputs" not in done.stderr, name, done.returncode, done.stderr)
        d = json.loads(done.stdout)
        expect(d["same_inputs"] is True, name, d["same_inputs"])


def one_of_each():
    """One level and one thread count leave nothing to compare, and it is said."""
    name = "nothing to compare"
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        d = json.loads(run(tmp, [ETPROF, "sweep", "net_fp16.pte", "net_int8.pte", "--levels", "sme2", "--blocks", "1",
                                 "--runner",
                                 FAKE, "--out", "run", "--format", "json"]).stdout)
        expect(any("nothing is compared here" in s["text"] for s in d["sentences"]), name, d["sentences"])


def refused():
    with tempfile.TemporaryDirectory() as tmp:
        for m in ("fp16", "int8"):
            model(tmp, m, PLANTED)
        for name, args, code, says in (
                ("unknown level", ["--levels", "sme2,fast"], 2, "unknown level fast"),
                ("level of another processor", ["--levels", "avx2,neon"], 5, "no level avx2"),
                ("threads twice", ["--threads", "2,1,2"], 2, "--threads 2 is given twice"),
                ("threads that are none", ["--threads", "0"], 2, "numbers from 1 to 1024"),
                ("unknown baseline", ["--baseline", "fast"], 2, "no arm is named 'fast'"),
                ("too many cells", ["--threads", ",".join(map(str, range(1, 18)))], 2, "more than 64 arms"),
                ("one model missing", ["--models", "nowhere.pte"], 5, "nowhere.pte")):
            base = [ETPROF, "sweep", "net_fp16.pte", "net_int8.pte", "--runner", FAKE, "--out", "run", "--quiet"]
            extra = args if "--levels" in args else [*args, "--levels", "sme2,neon"]
            done = run(tmp, [*base, *extra])
            expect(done.returncode == code and says in done.stderr, name, (done.returncode, done.stderr[-300:]))
            expect(not (pathlib.Path(tmp) / "run").exists(), name, "a folder was left")


for test in (planted_exactly, a_wide_control_is_no_check_mark, winner_of_one_model, planted_with_noise,
             slower_with_noise, absent_with_noise, failing_cells, wrong_outputs, wrong_outputs_in_a_cell, resumed,
             cut_short, balanced, precise, emulated, real_programs, other_floats, order_of_methods, one_of_each,
             refused):
    started = time.time()
    test()
    print(f"{test.__name__}: {time.time() - started:.1f} s")
finish("all as expected")
