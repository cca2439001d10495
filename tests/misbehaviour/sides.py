# SPDX-License-Identifier: Apache-2.0
"""A is the baseline: two sides with known times are given in either order to every verb that compares, and each ratio,
difference and pair of columns must turn with them, as calculated here by hand. Where a level is named (ab, run)
the order of the words says nothing: the lower level is the baseline unless --baseline names another.

usage: sides.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit"))
import fake_sessions
import kit_writer
import run_folders
from checks import expect, finish
from slow_operator import slowed

ETPROF, FAKE, SOURCE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
DATA = pathlib.Path(SOURCE, "tests/data")
DUMP = DATA / "mixed_xnnpack_fp32.etdump"
SLOW, FAST = 3_000_000, 1_000_000  # ns an inference of the fake runner
RATIO = SLOW / FAST
LONGER = 20_000  # ticks of 1 ns that the operator of slow.etdump takes longer
SHORT = ["--iterations", "4", "--warmup", "1", "--seed", "7", "--quiet", "--kernels", "never"]
asked = 0


def etprof(*words, code=(0, )):
    done = subprocess.run([ETPROF, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "ETPROF_RUNNER": FAKE, "LC_ALL": "C.UTF-8",
                                                         "COLUMNS": "200", "ETPROF_NO_WAIT": "1"})
    expect(done.returncode in code, *words, f"exit {done.returncode}", done.stderr[-400:], done.stdout[-400:])
    return done.stdout


def answer(*words, code=(0, )):
    text = etprof(*words, "--format", "json", code=code)
    return json.loads(text) if text else {}


def is_about(what, found, wanted, within=1e-4):
    """FOUND is WANTED; a ratio that stands on its head is not."""
    global asked
    asked += 1
    expect(found is not None and abs(found - wanted) <= within * abs(wanted) + 1e-12, what, "found", found, "wanted",
           wanted)


def model(name, *lines):
    return str(fake_sessions.model(f"{name}.pte", *lines))


def one(document, what):
    """Baseline, candidate and estimate of the only comparison."""
    expect(len(document["comparisons"]) == 1, what, document["comparisons"])
    c = document["comparisons"][0]
    return c["baseline"], c["candidate"], c["speedup"]["estimate"]


def orders():
    """(first, second, first's time ÷ second's)"""
    return (("slow", "fast", RATIO), ("fast", "slow", 1 / RATIO))


def screen_says(what, text, candidate, baseline, ratio):
    words = f"{max(ratio, 1 / ratio):.2f}× {'faster' if ratio > 1 else 'slower'} than"
    expect(re.search(rf"{candidate}.* is {words} .*{baseline}", text), what, f"no '{candidate} is {words} {baseline}'",
           text[:400])


# ---- sessions ------------------------------------------------------------------------------------

def two_models():
    """ab, and every verb that reads its folder."""
    for a, b, ratio in orders():
        what, out = f"ab {a} {b}", f"run_{a}_{b}"
        for name, ns in (("slow", SLOW), ("fast", FAST)):
            model(f"net_{name}", f"base * {ns}")
        text = etprof("ab", f"net_{a}.pte", f"net_{b}.pte", "--levels", "neon", "--blocks", 6, *SHORT, "--out", out)
        screen_says(what, text, b, a, ratio)
        first, second, estimate = one(answer("analyze", out), what)
        expect(a in first and b in second, what, first, second)
        is_about(what, estimate, ratio)
        s = answer("stats", f"{out}/samples.csv", "--baseline", first)
        is_about(f"stats {what}", s["comparisons"][0]["speedup"]["estimate"], ratio)
        g = answer("gate", out, "speedup >= 0.1")
        is_about(f"gate {what}", next(c for c in g["checks"] if c["id"].startswith("speedup"))["value"], ratio)
        page = etprof("analyze", "--full", "--renew", out, "--format", "md")
        expect(f"{ratio:.2f}×" in page, f"report {what}", page[:600])
        swapped = one(answer("analyze", out, "--baseline", second), what)
        expect(swapped[:2] == (second, first), f"--baseline {what}", swapped)
        is_about(f"--baseline {what}", swapped[2], 1 / ratio)


def levels():
    """Their order says nothing."""
    net = model("levels", f"base neon {SLOW}", f"base sme2 {FAST}")
    for words in ("sme2,neon", "neon,sme2"):
        d = answer("ab", net, "--levels", words, "--blocks", 6, *SHORT, "--out", f"levels_{words}")
        found = one(d, words)
        expect("off" in found[0] or "neon" in found[0], "ab --levels", words, found)
        is_about(f"ab --levels {words}", found[2], RATIO)
    d = answer("ab", net, "--levels", "neon,sme2", "--baseline", "sme2", "--blocks", 6, *SHORT, "--out", "based",
               code=(0, 1, 3))
    is_about("ab --baseline sme2", one(d, "based")[2], 1 / RATIO)
    threads = model("threads", f"base * {SLOW} 1", f"base * {FAST} 2")
    for words in ("1,2", "2,1"):
        d = answer("ab", threads, "--levels", "neon", "--threads", words, "--blocks", 6, *SHORT, "--out",
                   f"threads_{words}")
        is_about(f"ab --threads {words}", one(d, words)[2], RATIO)
    configs(net)


def arms_of_a_folder():
    """compare DIR:A DIR:B says of two arms what their session says, and nothing else."""
    said = run_folders.report("levels_sme2,neon")
    names = [said["comparisons"][0][key] for key in ("baseline", "candidate")]
    d = answer("compare", *(f"levels_sme2,neon:{name}" for name in names))
    expect(sorted(d["arms"], key=str) == sorted(said["arms"], key=str), "compare DIR:A DIR:B", "arms", d["arms"])
    for key in ("comparisons", "ledgers", "bottlenecks", "ruled_out", "not_ruled_out", "next_fixes", "findings",
                "environment"):
        expect(d[key] == said[key], "compare DIR:A DIR:B", key, d[key], "ab", said[key])
    turned = one(answer("compare", *(f"levels_sme2,neon:{name}" for name in names[::-1])), "turned")
    is_about("compare DIR:B DIR:A", turned[2], 1 / RATIO)


def contended_arms():
    """Arms that waited are measured again, by the same command that their session's own answer prints."""
    net = model("waits", f"base neon {SLOW}", f"base sme2 {FAST}", "waits * 60")
    text = " ".join(etprof("ab", net, "--levels", "sme2,neon", "--blocks", 6, *SHORT, "--out", "waits",
                           code=(0, 1, 3)).split())
    expect("To settle it: etprof rerun waits" in text, "ab that waited", text[:600])
    arms = sorted(p.name for p in pathlib.Path("waits").glob("linux*"))
    text = " ".join(etprof("compare", *(f"waits:{arm}" for arm in arms)).split())
    expect("To settle it: etprof rerun waits" in text, "compare of arms that waited", text[:600])


def configs(net):
    """run: the first of compare_pairs says it, whatever the experiments are called and wherever they stand."""
    arms = [{"name": "linux_alpha", "level": "sme2"}, {"name": "linux_beta", "level": "neon"}]
    for order in (arms, arms[::-1]):
        for base, other, ratio in (("linux_beta", "linux_alpha", RATIO), ("linux_alpha", "linux_beta", 1 / RATIO)):
            name = f"config_{order[0]['name']}_{base}"
            config = {"model": net, "experiments": [{**e, "runs": 4, "warmup": 1} for e in order], "blocks": 6,
                      "analysis": {"compare_pairs": [{"baseline": {"experiment": base, "threads": 1},
                                                      "candidate": {"experiment": other, "threads": 1}}]},
                      "output_root": name}
            pathlib.Path(f"{name}.json").write_text(json.dumps(config))
            found = one(answer("run", f"{name}.json", "--quiet", code=(0, 1, 3)), name)
            expect(found[:2] == (base, other), "run", name, found)
            is_about(f"run {name}", found[2], ratio)


def different_models():
    """Of two models that share next to nothing every form says so before any figure of the two."""
    other = next(pathlib.Path(SOURCE, "examples/runs/image_encoder_int8_qemu/linux_sme2_off").glob("*.etdump"))
    words, said = ("compare", DUMP, other), "are of two different models"
    for form in ("text", "md", "html"):
        text = " ".join(etprof(*words, "--format", form).split())
        text = text[text.find("<body"):] if form == "html" else text
        expect(0 <= text.find(said), form, "two models", text[:300])
        first = re.search(r"[0-9.]+ ?(×|µs|ms)\b|withheld|no speedup", text[:text.find(said)])
        expect(not first, form, "figures first", text[:300])
    findings = answer(*words)["findings"]
    expect(findings[0]["kind"] == "different_models" and said in findings[0]["text"], "json", findings[:1])
    same = answer("compare", DUMP, DUMP.with_name("mixed_xnnpack_fp32_load.etdump"))["findings"]
    expect(not any(f["kind"] == "different_models" for f in same), "one model", same)


def builds():
    for name, ns in (("slow", SLOW), ("fast", FAST)):
        fake_sessions.bundle(f"build_{name}", "/usr/bin/env", f"FAKE_SIDE={name}", FAKE, direct=FAKE, version=name)
        model(f"sided_{name}", f"base * {ns}")
    net = model("sided", f"base * {SLOW}", f"side fast base * {FAST}")
    for a, b, ratio in orders():
        what = f"ab --runner-a {a} --runner-b {b}"
        d = answer("ab", net, "--runner-a", f"build_{a}", "--runner-b", f"build_{b}", "--levels", "neon", "--blocks", 6,
                   *SHORT, "--out", f"builds_{a}", code=(0, 1, 3))
        is_about(what, one(d, what)[2], ratio)
        expect([x["build"] for x in d["arms"]] == ["A", "B"], what, d["arms"])
        is_about(what, d["arms"][0]["median_ns"] / d["arms"][1]["median_ns"], ratio)


def cells():
    """Models x levels x threads: each level over the baseline's of the same model and threads, and the table of the
    first screen with the times the runner was told."""
    lines = {"slow": (4 * SLOW, 3 * SLOW), "fast": (2 * SLOW, SLOW)}  # neon, sme2
    for name, (neon, sme2) in lines.items():
        model(f"cells_{name}", f"base neon {neon} 1", f"base neon {neon // 2} 2", f"base sme2 {sme2} 1",
              f"base sme2 {sme2 // 2} 2")
    for a, b, _ in orders():
        for levels_, threads in (("sme2,neon", "2,1"), ("neon,sme2", "1,2")):
            what = f"cells {a} {b} {levels_} {threads}"
            out = what.replace(" ", "_")
            d = answer("ab", f"cells_{a}.pte", f"cells_{b}.pte", "--levels", levels_, "--threads", threads,
                       "--blocks", 6, *SHORT, "--no-trace", "--out", out)
            arms, found = {x["name"]: x for x in d["arms"]}, {}
            for c in [*d["comparisons"], *d["within"]]:
                base, arm = arms[c["baseline"]], arms[c["candidate"]]
                if (base["model"], base["threads"]) == (arm["model"], arm["threads"]):
                    found[arm["model"], arm["threads"]] = c["speedup"]["estimate"], base["level"], arm["level"]
            expect(len(found) == 4, what, found)
            for (name, _), (estimate, base, level) in found.items():
                expect((base, level) == ("neon", "sme2"), what, base, level)
                neon, sme2 = lines[pathlib.Path(name).stem.removeprefix("cells_")]
                is_about(f"{what} {name}", estimate, neon / sme2)
            # Each level within its model and threads, 4/3 or 2; the other model is half or twice as fast and not asked.
            for rule, code in ((("speedup >= 1.3",), 0), (("speedup >= 1.4",), 1), ((), 0)):
                checks = [c for c in answer("gate", out, *rule, code=(code,))["checks"]
                          if c["id"].split(":")[0] in ("speedup", "verdict")]
                expect(len(checks) == 4, f"{what}: gate {rule}", checks)
            rows = etprof("analyze", out).split("Every cell")[1].splitlines()[1:5]
            told = {tuple(re.findall(r"(\w+), (\d) thread", row)[0]): re.findall(r"[\d.]+×?", row.split("thread")[1])
                    for row in rows}
            expect(len(told) == 4, what, rows)
            for (name, n), figures in told.items():
                neon, sme2 = (ns // int(n) for ns in lines[name])
                times = sorted((neon, sme2), reverse=True)
                is_about(f"{what} {name} {n}", float(figures[0]) / float(figures[1]), times[0] / times[1])
                is_about(f"{what} {name} {n}", float(figures[2].rstrip("×")), round(neon / sme2, 2))


def two_sessions():
    """compare, gate --against, report over both."""
    pathlib.Path("nights").mkdir()
    os.environ.update({f"FAKE_ETDUMP_{level}": str(DUMP) for level in ("base", "neon")})
    blocks = {"slow": 6, "fast": 7}  # one timed launch of an arm in each
    for name, ns in (("slow", SLOW), ("fast", FAST)):
        etprof("ab", model("night", f"base base {2 * SLOW}", f"base neon {ns}"), "--levels", "neon,base", "--blocks",
               blocks[name], *SHORT, "--out", f"nights/{name}")
    for name in ("slow", "fast"):  # begun in one second, with one seed: two sessions none the less
        path = pathlib.Path(f"nights/{name}/manifest.json")
        path.write_text(re.sub(r'("generated_at": ?")[^"]*', r"\g<1>2026-01-02T03:04:05Z", path.read_text()))
    for a, b, ratio in orders():
        d = answer("compare", f"nights/{a}:linux_neon", f"nights/{b}:linux_neon", "--name1", "A", "--name2",
                   "B", code=(0, 3))
        found = one(d, "compare")
        expect(found[:2] == ("A", "B"), "compare A B", found)
        is_about(f"compare {a} {b}", found[2], ratio)
        launches = [d["comparisons"][0].get(f"{side}_launches") for side in ("baseline", "candidate")]
        expect(launches == [blocks[a], blocks[b]], f"launches of compare {a} {b}", launches)
        g = answer("gate", f"nights/{b}", "--against", f"nights/{a}", code=(0, 1))
        check = next(c for c in g["checks"] if c["id"] == "against:linux_neon")
        expect(check["ok"] is (ratio > 1), f"gate {b} --against {a}", check)
        is_about(f"gate {b} --against {a}", check["value"], 1 / ratio)  # what is left of the time before


# ---- recordings ----------------------------------------------------------------------------------

def recordings():
    pathlib.Path("slow.etdump").write_bytes(slowed(DUMP, "native_call_cumsum.out", LONGER))
    pathlib.Path("fast.etdump").write_bytes(DUMP.read_bytes())
    for a, b, _ in orders():
        delta = -LONGER if a == "slow" else LONGER  # B − A
        for verb in ("analyze", "compare"):
            what = f"{verb} {a} {b}"
            d = answer(verb, f"{a}.etdump", f"{b}.etdump")
            first, second, estimate = one(d, what)
            expect((first, second) == (a, b), what, first, second)
            expect((estimate > 1) == (a == "slow"), what, estimate)
            ledger = d["ledgers"][0]
            expect((ledger["baseline"], ledger["candidate"], ledger["delta_ns"]) == (a, b, delta), what, ledger)
            op = next(o for o in d["operators"] if o["label"].startswith("cumsum"))
            is_about(what, op["speedup"][0], op["ns"][a] / op["ns"][b])
            expect(op["ns"]["slow"] - op["ns"]["fast"] == LONGER, what, op["ns"])
            category = next(c for c in d["categories"] if c["category"] == "Reduction")
            is_about(what, category["speedup"][0], op["ns"][a] / op["ns"][b])
        op_line = etprof("explain", op["id"], f"{a}.etdump", f"{b}.etdump")
        expect(f"{'+' if delta > 0 else '−'}20.00" in op_line, f"explain {a} {b}", op_line)
        at = etprof("compare", f"{a}.etdump", f"{b}.etdump")
        saved = re.search(r"^ +Whole inference +(\S+) +(\S+) +\S+ +(−?[\d.]+)", at, re.M)
        expect(saved and float(saved[3].replace("−", "-")) * 1000 == -delta, f"screen of compare {a} {b}", at)
        w = answer("whatif", f"{a}.etdump", f"{b}.etdump", "drop *cumsum*")
        expect(w["arm"] == b if "arm" in w else b in json.dumps(w), f"whatif {a} {b}", w)
        views(a, b, op["ns"])
        head = etprof("compare", f"{a}.etdump", f"{b}.etdump", "--format", "csv").splitlines()[0].split(",")
        at = [next(i for i, key in enumerate(head) if name in key) for name in (a, b)]
        expect(at[0] < at[1], f"compare --format csv {a} {b}", head)


def views(a, b, ns):
    """What others draw of both sides."""
    folded = etprof("convert", f"{a}.etdump", f"{b}.etdump", "--to", "folded")
    row = next(line for line in folded.splitlines() if "cumsum" in line)
    expect(row.split()[-2:] == [str(ns[a]), str(ns[b])], f"convert --to folded {a} {b}", row)
    negated = etprof("convert", f"{a}.etdump", f"{b}.etdump", "--to", "folded", "--negate")
    row = next(line for line in negated.splitlines() if "cumsum" in line)
    expect(row.split()[-2:] == [str(ns[b]), str(ns[a])], f"convert --to folded --negate {a} {b}", row)
    chrome = json.loads(etprof("convert", f"{a}.etdump", f"{b}.etdump", "--to", "chrome"))["traceEvents"]
    names = [e["args"]["name"] for e in chrome if e["name"] == "process_name"]
    expect(names[0] == f"baseline: {a}" and b in names[1], f"convert --to chrome {a} {b}", names)
    scope = json.loads(etprof("convert", f"{a}.etdump", f"{b}.etdump", "--to", "speedscope"))
    names = [p["name"] for p in scope["profiles"]]
    expect(a in names[0] and b in names[1], f"convert --to speedscope {a} {b}", names)


def timelines():
    files = {"slow": DATA / "kit_off_exec_all_runs_timeline.csv", "fast": DATA / "kit_on_exec_all_runs_timeline.csv"}
    took = {"slow": 1_305_000, "fast": 445_000}  # Method::execute of the tables
    for a, b, _ in orders():
        d = answer("compare", files[a], files[b], "--name1", "A", "--name2", "B")
        found = one(d, "compare")
        expect(found[:2] == ("A", "B"), "compare tables", found)
        is_about(f"compare tables {a} {b}", found[2], took[a] / took[b])


def programs():
    """inspect A --diff B: B − A."""
    size = {n: (DATA / f"linear_{n}_fp32.pte").stat().st_size for n in ("portable", "xnnpack")}
    for a, b in (("portable", "xnnpack"), ("xnnpack", "portable")):
        words = ("inspect", DATA / f"linear_{a}_fp32.pte", "--diff", DATA / f"linear_{b}_fp32.pte")
        row = answer(*words)["rows"][0]
        expect((row["name"], row["a"], row["b"]) == ("size", size[a], size[b]), f"inspect {a} --diff {b}", row)
        change = (size[b] - size[a]) / 1000
        shown = re.search(r"^file +size +([\d.]+) +([\d.]+) +([+−])([\d.]+)", etprof(*words), re.M)
        expect(shown and shown[3] == ("+" if change > 0 else "−") and abs(float(shown[4]) - abs(change)) < 0.001,
               f"inspect {a} --diff {b}", shown and shown[0], change)


def kit():
    """A folder of Arm's kit: what is called off is the baseline, in whatever order the files lie."""
    for number, (off, on) in enumerate((("mac_z_off", "mac_a_on"), ("mac_a_off", "mac_z_on"))):
        root = pathlib.Path(f"kit{number}")
        root.mkdir()
        pair = [kit_writer.standard("net", name, 1, factor) for name, factor in ((off, 1), (on, 3))]
        for e in pair:
            kit_writer.write_experiment(root, e)
        c, = answer("analyze", root)["comparisons"]
        expect((c["baseline"], c["candidate"]) == (pair[0].stem, pair[1].stem), "kit", c)
        medians = [statistics.median(e.latencies()) for e in pair]
        is_about("kit", c["traced_medians"], medians[0] / medians[1])


def what_settles():
    """Two arms of a session need more of its blocks; two sessions were never paired, however many blocks they have."""
    run_folders.make("few", 2, blocks=4)
    text = " ".join(etprof("compare", "few:arm1", "few:arm0").split())
    expect("(4 of at least 6 blocks)" in text and "To settle it: etprof ab --resume few --blocks " in text, text[:500])
    run_folders.make("other", 2, blocks=6, name="there")
    text = " ".join(etprof("compare", "few:arm1", "other:there1").split())
    expect("unknown: the launches were not paired" in text and "0 of at least" not in text, text[:500])


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    os.environ["HOME"] = scratch
    two_models()
    levels()
    arms_of_a_folder()
    contended_arms()
    different_models()
    builds()
    two_sessions()
    cells()
    recordings()
    timelines()
    programs()
    kit()
    what_settles()
    os.chdir("/")
finish(f"{asked} ratios turn with their sides")
