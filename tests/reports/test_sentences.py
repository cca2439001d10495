# SPDX-License-Identifier: Apache-2.0
"""test_sentences.py ETPROF TREE FAKE_RUNNER: no sentence of an answer contradicts another one or the tables it stands
beside.

Answers are taken over every pair of recordings of one model (those of the tree, and of the reference corpus where it
is), the example run and a session with a fake runner. Each finding, cause and fix is held against the rows it names, by
rules written here from the documents' fields alone. A kind of sentence for which there is no rule fails, so that a new
one gets its rule."""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish  # noqa: E402

ETPROF, TREE, FAKE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
CORPUS = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared" / "corpus"))
UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"([+−-]?\d+(?:\.\d+)?) (ns|µs|ms|s)\b"
RESOLUTION_NS = 1000  # XNNPACK records whole microseconds


def times(text):
    """Every time in TEXT as (ns, half of what its last digit stands for)."""
    out = []
    for digits, unit in re.findall(TIME, text):
        digits = digits.replace("−", "-")
        decimals = len(digits.partition(".")[2])
        out.append((float(digits) * UNITS[unit], 0.5 * 10**-decimals * UNITS[unit] * 1.001))
    return out


def percents(text):
    return [(float(p.replace("−", "-")) / 100, 0.5 * 10 ** -len(p.partition(".")[2]) / 100 * 1.001)
            for p in re.findall(r"([+−-]?\d+(?:\.\d+)?) %", text)]


def says(figures, value):
    return any(abs(figure - value) <= half for figure, half in figures)


class Answer:
    def __init__(self, name, document, text):
        self.name, self.d, self.text = name, document, text
        self.arms = {a["name"]: a for a in document["arms"]}
        self.operators = {o["id"]: o for o in document["operators"]}
        self.rows = {r["id"]: r for ledger in document["ledgers"] for r in ledger["rows"]}
        self.categories = {c["category"]: c for c in document["categories"]}

    def fail_unless(self, ok, *what):
        expect(ok, self.name, *what)

    def share(self, arm, *categories):
        shares = {c: self.categories[c]["arms"][arm]["share"] or 0 for c in self.categories}
        shares["Outside operators"] = 1 - sum(shares.values())
        return sum(shares.get(c, 0) for c in categories)

    def candidate(self):
        return self.d["comparisons"][0]["candidate"] if self.d["comparisons"] else self.d["arms"][0]["name"]


# ---- findings ------------------------------------------------------------------------------------

def slower(a, f):
    row = a.rows[f["evidence"][0]]
    figures = times(f["text"])
    a.fail_unless(row["label"] in f["text"], f["text"], "another operator than its row", row["label"])
    before = f["text"].partition(row["label"])[0]
    several = len(a.d["comparisons"]) > 1
    a.fail_unless(before.endswith(": ") == several and bool(before) == several, f["text"], "of which arm it is")
    for key in ("delta_ns", "lo_ns", "hi_ns"):
        a.fail_unless(says(figures[:3], row[key]), f["text"], key, row[key])
    if len(figures) >= 5:
        (before, h1), (after, h2) = figures[3:5]
        a.fail_unless(abs(before - after - row["delta_ns"]) <= h1 + h2, f["text"], "its ends differ by another time")


def called(a, arm):
    """What a sentence may call ARM: what was measured, a level, where that tells the arms apart; else its name."""
    return arm, (a.arms[arm]["level"] or arm).upper()


def layout(a, f):
    arm = next(n for n in a.arms if f["text"].startswith(called(a, n)))
    share = a.share(arm, "Data movement", "Quantize/convert")
    a.fail_unless(says(percents(f["text"]), share), f["text"], "the categories say", share)


def portable(a, f):
    held = 0
    for x in a.d["delegation"]:
        if any(f"of an inference of {n}" in f["text"] or f"({n}:" in f["text"] for n in called(a, x["arm"])):
            whole = x["delegated_ns"] + x["portable_ns"] + x["boundary_ns"] + x["rest_ns"]
            held += 1
            a.fail_unless(says(percents(f["text"]), x["portable_ns"] / whole), f["text"], x["arm"],
                          x["portable_ns"] / whole)
    a.fail_unless(held > 0, f["text"], "is about no arm", list(a.arms))


def above_roof(a, f):
    for arm in a.arms:
        held = [o for o in a.d["operators"] if (o["roof"].get(arm) or {}).get("verdict")]
        above = [o for o in held if o["roof"][arm]["verdict"] == "above-roof"]
        if not above or not f["text"].split(" % of ")[1].startswith(called(a, arm)):
            continue
        share = sum(o["ns"][arm] for o in above) / sum(o["ns"][arm] for o in held)
        worst = max(above, key=lambda o: o["roof"][arm]["efficiency"])
        a.fail_unless(says(percents(f["text"]), share), f["text"], "operators above their roof take", share)
        a.fail_unless(says(percents(f["text"]), worst["roof"][arm]["efficiency"]), f["text"], worst["id"])
        a.fail_unless(f["evidence"] == [worst["id"]], f["evidence"], "the most extreme is", worst["id"])
        a.fail_unless(not any(x["kind"] == "roof_gap" for x in a.d["next_fixes"]), f["text"], "a fix rests on roofs")
        return
    a.fail_unless(False, f["text"], "is about no arm", list(a.arms))


def off_feature(a, f):
    arm = a.d["engagement"]["arm"]
    ns = sum(a.operators[o]["ns"][arm] for o in f["evidence"])
    a.fail_unless(f["text"].startswith(f"{len(f['evidence'])} operator"), f["text"], "evidence has", len(f["evidence"]))
    a.fail_unless(says(percents(f["text"]), ns / a.arms[arm]["traced_ns"]), f["text"], "its operators take", ns)


def bottleneck(a, f):
    before, after = f["evidence"]
    b = next(b for b in a.d["bottlenecks"] if (b["before"], b["after"]) == (before, after))
    comparison = next(c for c in a.d["comparisons"] if c["candidate"] == b["candidate"])
    figures = percents(f["text"])
    for arm, category in ((comparison["baseline"], before), (comparison["candidate"], after),
                          (comparison["baseline"], after)):
        a.fail_unless(says(figures, a.share(arm, category)), f["text"], arm, category, a.share(arm, category))


def same_as_cause(cause):
    def rule(a, f):
        texts = [c["text"] for c in a.d["not_ruled_out"] if c["id"] == cause]
        a.fail_unless(any(t in f["text"] for t in texts), f["text"], "is not what the causes say", texts)
    return rule


def mean_of_few(a, f):
    figures = times(f["text"])
    held = [name for name, arm in a.arms.items()
            if says(figures, arm["traced_ns"]) and says(figures, arm["traced_median_ns"])]
    a.fail_unless(held, f["text"], "is of no arm", list(a.arms))


def left_out(a, f):
    far, runs = map(int, re.search(r"(\d+) of (\d+) executions", f["text"]).groups())
    held = [name for name, arm in a.arms.items()
            if arm["traced_runs"] >= runs and arm["traced_runs"] - arm["traced_kept"] >= far]
    a.fail_unless(0 < 4 * far <= runs and held, f["text"], "is of no arm", a.arms)


def plain(a, f):
    """Has no figure that a table of the answer holds."""


FINDINGS = {
    "slower": slower, "layout": layout, "portable": portable, "off_feature": off_feature, "bottleneck": bottleneck,
    "tracer": same_as_cause("tracer"), "thermal": same_as_cause("thermal"), "contention": same_as_cause("contention"),
    "statistics": plain, "clock_effect": plain, "waits": plain, "arm_fails": plain,
    "lost_launch": plain, "clock_jump": plain, "session_note": plain, "outputs_differ": plain,
    "outputs_not_compared": plain, "groupwise_4bit": plain, "decode_roof": plain, "above_roof": above_roof,
    "outputs_nan": plain, "no_execution": plain, "trace_not_used": plain, "program_not_used": plain,
    "samples_not_used": plain, "misnamed": plain, "folder_altered": plain, "program_differs": plain,
    "different_models": plain,
    "mean_of_few": mean_of_few, "left_out": left_out,
}


# ---- the rest of an answer -----------------------------------------------------------------------

def check_causes(a):
    out = {c["id"]: c["text"] for c in a.d["ruled_out"]}
    for cause in a.d["not_ruled_out"]:
        a.fail_unless(cause["id"] not in out, cause["text"], "beside", out.get(cause["id"]))
    for f in a.d["findings"]:
        a.fail_unless(f["kind"] not in out, f["text"], "beside ruled out:", out.get(f["kind"]))
        if f["kind"] == "statistics" and "drift" in f["text"]:
            a.fail_unless("drift" not in out, f["text"], "beside", out.get("drift"))
    for c in a.d["comparisons"]:
        control = c["control"]
        if "drift" in out:
            a.fail_unless(control and control["lo"] <= 1 <= control["hi"], out["drift"], control)
            for end in ("lo", "hi"):
                a.fail_unless(says(percents(out["drift"]), control[end] - 1), out["drift"], control)


def check_bottlenecks(a):
    for b in [b for b in a.d["bottlenecks"] if b["before_share"] is not None]:
        c = next(c for c in a.d["comparisons"] if c["candidate"] == b["candidate"])
        for arm, category, share in ((c["baseline"], b["before"], b["before_share"]),
                                     (c["candidate"], b["after"], b["after_share"])):
            a.fail_unless(abs(a.share(arm, category) - share) < 1e-5, "bottleneck", category, share, "table",
                          a.share(arm, category))
            largest = max([*a.categories, "Outside operators"], key=lambda n: a.share(arm, n))
            a.fail_unless(a.share(arm, largest) - share < 1e-5, "bottleneck", category, "but", largest, "is larger in",
                          arm)
    line = re.search(r"^bottleneck +(.*?)(?:; outside|\n\w|\n\n)", a.text, re.M | re.S)
    if line and a.d["bottlenecks"] and a.d["bottlenecks"][0]["before_share"] is not None:
        words = " ".join(line.group(1).split())
        b = a.d["bottlenecks"][0]
        figures = percents(words)
        a.fail_unless(("stays" in words) <= (b["before"] == b["after"]), words, b)
        for category, share in ((b["before"], b["before_share"]), (b["after"], b["after_share"])):
            a.fail_unless(category in words and says(figures, share), words, b)


def check_fixes(a):
    arm = a.candidate()
    whole = a.arms[arm]["median_ns"] or a.arms[arm]["traced_ns"]
    for fix in a.d["next_fixes"]:
        gain = fix["gain_ns"]
        known = [gain[k] for k in ("lo", "expected", "hi") if gain[k] is not None]
        a.fail_unless(known == sorted(known), fix["text"], gain)
        a.fail_unless(not known or known[-1] <= whole, fix["text"], "gains", known, "of an inference of", whole)
        operators = [a.operators[o] for o in fix["evidence"] if o in a.operators]
        if operators and "take" in fix["text"]:
            figures = times(fix["text"].partition("take")[2])[:1]
            sums = [sum(o[key][arm] or 0 for o in operators) for key in ("ns", "untraced_ns") if key in operators[0]]
            # a sum of rounded parts
            figures = [(v, h + len(operators)) for v, h in figures]
            a.fail_unless(not figures or any(says(figures, s) for s in sums), fix["text"], "its operators take", sums)


def check_ratios(a):
    """Nothing shorter than what the clock resolves has a ratio, in operators and categories alike."""
    for o in a.d["operators"]:
        names = [n for n, ns in o["ns"].items() if ns is not None]
        for candidate, ratio in zip((c["candidate"] for c in a.d["comparisons"]), o["speedup"]):
            if ratio is not None and o["delegated"]:
                short = [n for n in names if o["ns"][n] < RESOLUTION_NS]
                a.fail_unless(not short, o["label"], ratio, "times of", candidate,
                              "is below what XNNPACK's clock resolves", o["ns"])


# Members that are an estimate, where the two ends of its interval stand beside it.
ESTIMATES = (("estimate", "lo", "hi"), ("expected", "lo", "hi"), ("delta_ns", "lo_ns", "hi_ns"),
             ("macs_share", "macs_lo", "macs_hi"), ("time_share", "time_lo", "time_hi"))


def check_intervals(a):
    """Every estimate lies inside its own interval, wherever one stands in the document."""
    def look(where, value):
        if isinstance(value, list):
            for i, x in enumerate(value):
                look(f"{where}[{i}]", x)
        if not isinstance(value, dict):
            return
        for names in ESTIMATES:
            estimate, lo, hi = (value.get(n) for n in names)
            if None not in (estimate, lo, hi):
                room = 1e-5 * abs(estimate)  # of rounding to six digits
                a.fail_unless(lo - room <= estimate <= hi + room, where, names[0], estimate, "outside", lo, hi)
        for los, his, estimates in (("speedup_lo", "speedup_hi", "speedup"), ("ratio_lo", "ratio_hi", "ratio")):
            for lo, hi, estimate in zip(*(value.get(n) if isinstance(value.get(n), list) else [value.get(n)]
                                          for n in (los, his, estimates))):
                if None not in (lo, hi, estimate):
                    inside = lo * 0.99999 <= estimate <= hi * 1.00001
                    a.fail_unless(inside, where, estimates, estimate, "outside", lo, hi)
        for key, x in value.items():
            look(f"{where}.{key}", x)
    look("", a.d)


def check_roofs(a):
    """What lasted fewer than five ticks of XNNPACK's clock has no share of a roof."""
    for o in a.d["operators"]:
        for arm, place in (o.get("roof") or {}).items():
            short = o["delegated"] and o["ns"][arm] is not None and o["ns"][arm] < 5 * RESOLUTION_NS
            a.fail_unless(not short or place["efficiency"] is None, o["label"], "in", o["ns"][arm], "ns reaches",
                          place["efficiency"])


def check_words(a):
    strings = list(a.text.splitlines())

    def collect(value):
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, dict):
            for v in value.values():
                collect(v)
        elif isinstance(value, list):
            for v in value:
                collect(v)

    collect({k: a.d[k] for k in ("findings", "ruled_out", "not_ruled_out", "next_fixes", "engagement")})
    for s in strings:
        a.fail_unless(not re.search(r"\(null\)|\bnan\b|\binf\b|\b[0-9.]+e[+-]?[0-9]+\b", s), "not words for people:", s)
        for share, _ in percents(s) if re.search(r"% of (an|the) (inference|time)|of MACs", s) else []:
            a.fail_unless(-1.0001 <= share <= 1.0001, "more than the whole:", s)


def check_headline(a):
    for c in a.d["comparisons"]:
        if c["withheld"] or c["speedup"]["estimate"] is None:
            continue
        found = re.search(r"([0-9.]+)× \w+ +\[([0-9.]+), ([0-9.]+)\] +" + re.escape(c["candidate"]), a.text)
        if found:
            said = [float(x) for x in found.groups()]
            s = c["speedup"]
            true = [s["estimate"], s["lo"], s["hi"]]
            if "slower" in found.group(0):
                true = [1 / s["estimate"], 1 / s["hi"], 1 / s["lo"]]
            for x, y in zip(said, true):
                a.fail_unless(abs(x - y) <= 0.0051, found.group(0), s)


def check(a):
    for f in a.d["findings"]:
        rule = FINDINGS.get(f["kind"])
        a.fail_unless(rule, "no rule for findings of kind", f["kind"], f["text"])
        if rule:
            rule(a, f)
    for c in (check_causes, check_bottlenecks, check_fixes, check_ratios, check_intervals, check_roofs, check_words,
              check_headline):
        c(a)


# ---- answers -------------------------------------------------------------------------------------

def run(*arguments):
    done = subprocess.run([ETPROF, *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode in (0, 1, 6), "etprof", *arguments, "ended with", done.returncode, done.stderr[-300:])
    return done.stdout


def answer(name, *arguments):
    document = run(*arguments, "--format", "json")
    if document:
        check(Answer(name, json.loads(document), run(*arguments, "--full")))
        return 1
    return 0


def pairs(folder, programs):
    """Recordings of one program made on one kind of machine, the lower level first."""
    order = ["sse", "noavx512", "novnni", "full", "neon", "sme1", "sme2"]
    for program in sorted(programs.glob("*.pte")):
        dumps = {}
        for dump in folder.glob(f"{program.stem}.*.etdump"):
            kind, _, level = dump.name[len(program.stem) + 1:-len(".etdump")].partition("_")
            if level in order:
                dumps.setdefault(kind, []).append((order.index(level), dump))
        for of_kind in dumps.values():
            for (_, low), (_, high) in itertools.combinations(sorted(of_kind), 2):
                yield program, low, high


n = answer("tree", "compare", TREE / "tests/data/mixed_xnnpack_fp32.etdump",
           TREE / "tests/data/mixed_xnnpack_fp32_load.etdump",
           "--pte", TREE / "tests/data/mixed_xnnpack_fp32.pte")
DATA = TREE / "tests/data"
for name in ("linear_xnnpack_fp32", "fixes/clash"):
    n += answer(f"{name} below roofs", "analyze", DATA / f"{name}.etdump", "--pte", DATA / f"{name}.pte",
                "--roofs-file", DATA / "roofs/round.json")
n += answer("example", "analyze", TREE / "examples/runs/image_encoder_int8_qemu")
if (CORPUS / "dumps").is_dir():
    for program, low, high in pairs(CORPUS / "dumps", CORPUS / "models"):
        n += answer(f"{low.name} → {high.name}", "compare", low, high, "--pte", program)
with tempfile.TemporaryDirectory() as scratch:
    model = shutil.copy(TREE / "tests/data/linear_xnnpack_fp32.pte", scratch)  # the fake runner writes beside it
    subprocess.run([ETPROF, "ab", model, "--levels", "sme2,neon", "--runner", FAKE, "--blocks", "6", "--iterations",
                    "10", "--warmup", "2",
                    "--out", f"{scratch}/run"], capture_output=True, check=False, cwd=scratch, stdin=subprocess.DEVNULL)
    n += answer("session", "analyze", f"{scratch}/run")
finish(f"{n} answers say what their tables say")
