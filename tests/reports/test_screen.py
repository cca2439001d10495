# SPDX-License-Identifier: Apache-2.0
"""test_screen.py ETPROF TREE FAKE_RUNNER: the first screen of an answer in a terminal.

Sessions with a fake runner take times that are chosen here, so that the headline is known beforehand; the figures of
the table are held against the recordings' document. At 60, 80, 120 and 200 columns no line is too long and no word is
cut, at 80 it is at most 30 lines, and without UTF-8 it is ASCII."""
import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402
import phase_folders  # noqa: E402
import run_folders  # noqa: E402
from checks import expect, finish, new_folder, unpack  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "misbehaviour"))
from slow_operator import slowed  # noqa: E402

ETPROF, TREE, FAKE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
DATA = TREE / "tests/data"
WIDTHS = (60, 80, 120, 200)
TITLES = ("Where it ", "What to do next", "Trust ", "Report ", "More ")


def run(*words, width=80, locale="C.UTF-8", cwd=None, **more):
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG")}
    env.update(COLUMNS=str(width), LC_ALL=locale, **more)
    done = subprocess.run([ETPROF, *map(str, words)], cwd=cwd, env=env, capture_output=True, timeout=300, check=False)
    return done.stdout.decode("utf-8"), done.stderr.decode("utf-8"), done.returncode


def measure(tmp, name, script, *words, **more):
    model = tmp / f"{name}.pte"
    model.write_bytes(b"\x1c\0\0\0ET12" + f"\n{script}\n".encode())
    text, talk, code = run("ab", model, "--runner", FAKE, "--iterations", "5", "--warmup", "1", "--out", tmp / name,
                           *words, cwd=tmp, **more)
    return text, talk, code


def features(tmp):
    """Arms that hide one feature each: what each brings is the share of the time without it, 1 - 400/800 and so on.
    One whose interval says nothing beyond noise brings what it brings; the table below has the same figures."""
    script = "base * 400000\nbase sme1 800000\nbase -i8mm 500000\nnoise 4"
    text, talk, code = measure(tmp, "features", script, "--hide", "sme2,i8mm", "--blocks", "8", "--kernels", "never",
                               "--no-trace")
    expect(code == 0, f"features: exit {code}: {talk}")
    rows = {line.split()[0]: line for line in text.splitlines() if "%" in line and "[" in line}
    for name, share in (("SME2", 50.0), ("I8MM", 20.0)):
        found = re.search(r"([\d.]+) %\s+\[([\d.]+), ([\d.]+)\]", rows.get(name, ""))
        expect(found, f"features: no row of {name} in\n{text}")
        if found:
            told, lo, hi = map(float, found.groups())
            expect(abs(told - share) < 1 and lo <= told <= hi, f"{name} brings {told} [{lo}, {hi}], not {share}")
    expect("SME2 brings most: it saves 50." in text, f"features: no headline in\n{text}")
    expect("slower than best" not in text, f"features: told twice\n{text}")
    # Hiding SME takes SME2 along: where both cost the same, the one that hides less is told.
    script = "base * 400000\nbase sme1 800000\nbase neon 800000\nnoise 4"
    both = measure(tmp, "both", script, "--hide", "sme,sme2", "--blocks", "8", "--kernels", "never", "--no-trace")[0]
    expect("SME2 brings most: it saves 50." in both, f"features: what is hidden along is credited in\n{both}")
    script = "base * 400000\nbase sme1 500000\nbase neon 800000\nnoise 4"
    more = measure(tmp, "more", script, "--hide", "sme,sme2", "--blocks", "8", "--kernels", "never", "--no-trace")[0]
    expect("SME and what needs it bring most: they save 50." in more, f"features: not told in\n{more}")
    # Intervals that touch do not make one feature as large as the largest: its figure lies below that one's interval.
    script = "base * 400000\nbase sme1 789000\nbase neon 800000\nnoise 12"
    near = measure(tmp, "near", script, "--hide", "sme,sme2", "--blocks", "6", "--kernels", "never", "--no-trace")[0]
    told = {w: [float(x) for x in r] for w, *r in re.findall(r"^  (SME2?) .*? ([\d.]+) %  +\[([\d.]+),", near, re.M)}
    most = "SME and what needs it bring most" if told["SME2"][0] < told["SME"][1] else "SME2 brings most"
    expect(most in near, f"features: {told} in\n{near}")
    few = measure(tmp, "few_blocks", script, "--hide", "sme,sme2", "--blocks", "4", "--kernels", "never",
                  "--no-trace")[0]
    expect("no verdict yet: 4 of at least 6 blocks" in few and "no feature" not in few, f"features: too few in\n{few}")
    # Against an arm that lacks a feature itself no other's ratio is that of one feature.
    lacks = run("analyze", tmp / "features", "--baseline", "linux_-sme2")[0]
    expect("brings" not in lacks and "faster than no sme2" in lacks, f"features: another baseline in\n{lacks}")
    table = run("analyze", tmp / "features", "--full")[0]
    expect("What each feature brings" in table, "features: --full has no table")
    # Rows of what was hidden together are no parts of a sum, in any form. SME hides SME2 along, I8MM and SME2 nothing.
    words = "the rows do not add up"
    for form in ([], ["--full"], ["--format", "md"], ["--format", "html"]):
        said = re.sub(r"\s+", " ", run("analyze", tmp / "more", *form)[0])
        expect(words in said, "features: a sum", form, said[:900])
        expect(words not in re.sub(r"\s+", " ", run("analyze", tmp / "features", *form)[0]), "features: no sum", form)
        expect(not form or "SME and what needs it" in said.split("What each feature brings")[-1], "features: row", form)
    # What is to be mended is what people run, the arm with all features, not the first one without.
    times = {"best": 900000, "-i8mm": 2000000, "-sme2": 950000}
    phase_folders.make(tmp / "subject", lambda p, level, t, m: times[level], phases=(),
                       levels=("-i8mm", "-sme2", "best"))
    asked = json.loads(run("whatif", tmp / "subject", "drop fully*", "--format", "json")[0])
    document = json.loads((run("analyze", tmp / "subject", "--format", "json"))[0])
    expect(asked["arm"] == document["engagement"]["arm"] == "linux_best", "features: fixes of", asked["arm"])
    expect(asked["against_baseline"] is None, "features: the arm against itself", asked["against_baseline"])
    # Kernels are those of that arm: there is no other for them to be held against.
    kernels = re.search(r"^Kernel insights\n.*?^Next|\Z", run("analyze", tmp / "subject", "--full")[0], re.M | re.S)[0]
    expect(re.search(r"^Fully Connected.* GEMM +– ", kernels, re.M), "features: kernels against themselves", kernels)
    # An arm without SME2 is not one at the level of another name, and the arm with all features is no stand-in for it.
    refused = run("compare", f"{tmp / 'subject'}:best", f"{tmp / 'subject'}:sme1")
    expect(refused[2] == 2 and "has no arm 'sme1', or several" in refused[1],
           "features: an arm that is not there", refused)
    back = run("whatif", tmp / "subject", "back fully*")
    expect(back[2] == 2 and "no baseline to go back to" in back[1], "features: back", back)


def one_rule(tmp):
    """An operator that takes 2 µs more in every other block of an arm, and is all of its category: neither has a
    speedup, and nothing is said to be saved, in any form. What is left is exact."""
    times = {"avx2": 1000000, "sse": 1500000}
    root = phase_folders.make(tmp / "rule", lambda p, level, t, m: times[level], phases=())
    for block in (2, 4, 6):
        path = next(root.glob(f"linux_avx2/*_b{block}.etdump"))
        path.write_bytes(slowed(DATA / f"{run_folders.MODEL}.etdump", "native_call_cumsum.out", 2000))
        run_folders.record(root)
    document = json.loads(run("analyze", root, "--format", "json")[0])
    part = next(c for c in document["categories"] if c["category"] == "Reduction")
    own = [o for o in document["operators"] if o["category"] == "Reduction"]
    expect(len(own) == 1 and part["speedup"] == own[0]["speedup"] == [None], "one rule", part, own)
    expect(part["speedup_hi"][0] > 2 * part["speedup_lo"][0], "one rule: the fixture", part)
    for form in ("md", "html", "text"):
        told = run("analyze", root, "--format", form, *["--full"] * (form == "text"))[0]
        expect("0.19×" not in told and "0.18×" not in told, "one rule", form)
    expect(re.search(r"^  Reduction +0\.227 +1\.227 +– +–  differs by block$", run("analyze", root)[0], re.M),
           "one rule: saved", run("analyze", root)[0])
    asked = run("explain", own[0]["id"], root)[0]
    expect("with AVX2 differs by block: anything from 0.0859× to 1.19×" in asked, "one rule: explain", asked)


def alone(tmp):
    """One arm: each phase has its name beside its time, and what other programs took of it is a mark of trust."""
    times = {"prefill 16": 8000000, "decode @0": 2000000}
    phases = (phase_folders.PREFILL, phase_folders.DECODE)
    root = phase_folders.make(tmp / "alone", lambda p, level, t, m: times[p], phases=phases, levels=("avx2", ))
    text = run("analyze", root)[0]
    for phase, time in (("prefill 16", "8.000 ms"), ("decode @0", "2.000 ms")):
        expect(f"\n  {phase}: AVX2 takes {time} an inference" in text, "alone: phases", text)
    expect("other programs ran" not in text, "alone: quiet", text)
    run_folders.contend(root, "linux_avx2_decode0", 0.4)
    text = run("analyze", root)[0]
    expect("✗ other programs ran" in text.split("\nTrust ")[-1], "alone: no mark", text)
    expect("\n  decode @0: other programs had the CPU for" in text, "alone: of which phase", text)


def on_terminal(columns, locale, *words, **more):
    """What a program writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG", "COLUMNS")}
    process = subprocess.Popen([ETPROF, *map(str, words)], env={**env, "LC_ALL": locale, **more}, stdin=theirs,
                               stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # nobody has the terminal any more
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return said.decode("utf-8"), process.wait(60)


def live(tmp, columns, locale):
    """While it measures: one line that is written over itself, with a bar, the block, the ratio and the time left."""
    name = f"live{columns}{locale}"
    model = tmp / f"{name}.pte"
    model.write_bytes(b"\x1c\0\0\0ET12\nbase neon 1000000\nbase base 1730000\n")
    said, code = on_terminal(columns, locale, "ab", model, "--runner", FAKE, "--levels", "neon,base", "--blocks", "6",
                             "--iterations", "5", "--warmup", "1", "--out", tmp / name)
    expect(code == 0, name, f"exit {code}", said)
    states = [s.split("\n")[0].rstrip() for s in said.replace("\r\n", "\n").split("\r")[1:]]
    full, empty = ("█", "·") if locale == "C.UTF-8" else ("#", ".")
    bars = [re.fullmatch(rf"({re.escape(full)}*)({re.escape(empty)}*) (\d)/6(.*)", s) for s in states]
    bars = [b for b in bars if b]
    expect({b[3] for b in bars} == set("123456"), name, "not every block has its state", states)
    expect(all(len(b[1] + b[2]) == 12 for b in bars) and len({len(b[1]) for b in bars}) > 4, name,
           "a bar that does not grow", states)
    expect([len(b[1]) for b in bars] == sorted(len(b[1]) for b in bars), name, "a bar that shrinks", states)
    expect(all(len(b[0]) < columns for b in bars), name, "a line that the terminal would wrap", states)
    times = "×" if locale == "C.UTF-8" else "x"
    known = [re.search(rf"(\d\.\d\d){times} \[(\d\.\d\d), (\d\.\d\d)\]", b[4]) for b in bars if b[3] >= "4"]
    expect(known and all(k and 1.7 <= float(k[2]) <= float(k[1]) <= float(k[3]) <= 1.76 for k in known), name,
           "the ratio so far and its interval", states)
    expect(not any("[" in b[4] for b in bars if b[3] in "12"), name, "an interval of one block", states)
    expect(all(re.search(r"  \d+ (s|min) left$", b[4]) for b in bars if b[3] in "23"), name, "the time left", states)
    expect(not re.search(r"\de[+-]?\d|nan|inf", " ".join(b[4] for b in bars)), name, "no number", states)
    expect(locale == "C.UTF-8" or said.isascii(), name, "not ASCII", said)
    expect("NEON is 1.73" in said, name, "no answer below", said)


def told_elsewhere(folder, said, told):
    """The page, the Markdown report and the picture leave the parts out where the terminal does, with its sentence; the
    table is folded away, and the page gives no gains."""
    run("analyze", folder, "--renew")
    picture = "operator_breakdown_stacked.svg"
    shown = {name: (folder / name).read_text() for name in ("report.html", "report.md", picture)}
    for name, text in shown.items():
        text = pages.words(text) if name.endswith(".html") else text
        expect((said in " ".join(text.split())) == (not told), folder.name, name, "are parts withheld?")
    fold = "Recorded times, mostly the cost of recording"
    part = shown["report.md"].split("## Where the time goes", 1)[1].split("\n## ", 1)[0]
    expect((fold + "</summary>" in part) == (not told) and "| category |" in part, folder.name, "no fold", part[:600])
    expect(told or part.index(fold) < part.index("| category |"), folder.name, "the table stands before its fold")
    expect(part.count("<details") == part.count("</details"), folder.name, "folds that do not end", part)
    order = [b["text"] if b["kind"] == "fold" else b["kind"] for b in pages.section(shown["report.html"], "categories")
             if b["kind"] in ("fold", "table")]
    expect(order == [fold] * (not told) + ["table"], folder.name, "the page folds the table away", order)
    expect(('class="gain"' in shown["report.html"]) == told, folder.name, "gains of recorded times on the page")
    expect(("<rect" in shown[picture].split("<g transform")[1]) == told, folder.name, "bars")


def look(name, *words):
    """The screen of `etprof WORDS` at every width; gives that of 80 columns."""
    shown = {}
    for width in WIDTHS:
        text, talk, code = run(*words, width=width)
        expect(code in (0, 3) and text, name, width, f"exit {code}", talk)
        shown[width] = text
        for line in text.splitlines():
            alone = re.fullmatch(r"\s*('.*'|\S+)( \\)?", line)  # one word of a shell, which cannot be broken
            expect(len(line) <= width or alone or re.match(r"^\s*\S+\s+\S{30,}$", line), name,
                   f"a line of {len(line)} columns at {width}", line)
            expect(line == line.rstrip(), name, width, "blanks at the end of a line", repr(line))
        at = [text.find(f"\n{t}") for t in TITLES]
        found = [x for x in at if x >= 0]
        expect(found == sorted(found), name, width, "its parts stand in another order", at)
        expect(not re.search(r"(?<![\w./-])-\d|\d+x\b", re.sub(r"\S*/\S*|'[^']*'", "", text)), name, width,
               "a minus or a times sign of ASCII in UTF-8", text)
        expect(not re.search(r"\d(\.\d+)?e[+-]?\d", re.sub(r"\S*/\S*", "", text)), name, width, "scientific notation")
    expect(len(shown[80].splitlines()) <= 30, name, f"{len(shown[80].splitlines())} lines")
    wide = set(re.findall(r"\S+", shown[200]))
    notes = {"recorded", "\\", "←", "from"}  # short forms, a command that goes on, "came from, ms"
    cut = {w for w in re.findall(r"\S+", shown[60]) if not re.fullmatch(r"[█▉▊▋▌▍▎▏]+", w)} - wide - notes
    expect(not cut, name, "words that are not in the wide form", cut)
    for width in WIDTHS:
        expect(commands(shown[width]) == commands(shown[200]), name, width, "a command that no shell puts together",
               commands(shown[width]), commands(shown[200]))
    plain = run(*words, locale="C")[0]
    expect(plain.isascii(), name, "not ASCII", [c for c in plain if not c.isascii()])
    expect("? new" not in plain, name, "ASCII", "an arrow that nobody reads", plain)
    expect(len(plain.splitlines()) <= 32, name, "ASCII", len(plain.splitlines()))
    return shown[80]


def commands(text):
    """What a shell makes of the commands, as words."""
    lines = re.sub(r" \\\n\s+", " ", text).splitlines()
    return [shlex.split(line) for line in lines if line.strip().startswith("etprof ")]


def figures(text):
    """The rows of the table "Where it came from" as label → numbers."""
    rows = {}
    part = text.split("Where it came from")[1].split("\n\n")[0].splitlines()[1:]
    for line in part:
        label, rest = re.match(r"  (\S+(?: \S+)*)\s{2,}(.*)", line).groups()
        rows[label] = [float(x.replace("−", "-")) for x in re.findall(r"(?<![\d.])−?\d+\.\d+(?![\d.]*×)", rest)][:3]
    return rows


def held_steps(name, document, text):
    """Each step's gain stands in the unit of the table above, with at most three digits, as the document has it. What
    gains less than one per cent, and single operators to send back, have no line."""
    arm = next(a for a in document["arms"] if a["name"] == document["engagement"]["arm"])
    least = 0.01 * (arm["median_ns"] or arm["traced_ns"])
    fixes = [f for f in document["next_fixes"] if f["kind"] != "slower" and
             (f["gain_ns"]["hi"] if f["gain_ns"]["expected"] is None else f["gain_ns"]["expected"]) >= least]
    unit = re.search(r"^Where it \w+(?: from,)? +(\S+)", text, re.M).group(1)
    steps = re.findall(r"^  (N\d+) +(−|at most |under )([\d.]+) (\S+) ", text, re.M)
    expect(len(steps) == min(len(fixes), 3), name, "steps without a gain", steps, len(fixes))
    for (label, sign, figure, shown), fix in zip(steps, fixes):
        ns = fix["gain_ns"]["hi" if sign == "at most " else "expected"]
        scale, half = {"s": 1e9, "ms": 1e6, "µs": 1e3}[shown], 0.51 * 10 ** -len(figure.partition(".")[2])
        expect(label == fix["id"] and shown == unit and len(figure.replace(".", "").lstrip("0")) <= 3, name, label,
               figure, shown, unit)
        expect(float(figure) > 0, name, label, "a step that gains nothing", figure)
        expect(abs(ns) < float(figure) * scale if sign == "under " else abs(ns / scale - float(figure)) <= half, name,
               label, figure, shown, ns)


def held_against_document(name, folder, text):
    document = json.loads(run("analyze", folder, "--format", "json")[0])
    c = document["comparisons"][0]
    unit = {"s": 1e9, "ms": 1e6, "µs": 1e3}[re.search(r"Where it came from, (\S+)", text).group(1)]
    rows = figures(text)
    for part in document["categories"]: # a fifth of an inference is never "Everything else"
        share = part["arms"][c["candidate"]]["share"]
        expect((share or 0) < 0.2 or part["category"] in rows, name, part["category"], share, rows)
    whole = [document_arm["traced_ns"] for document_arm in
             sorted(document["arms"], key=lambda a: a["name"] != c["baseline"])]
    before, after, saved = rows.pop("Whole inference")
    half = 0.51 * 10 ** -len(str(before).split(".")[1]) + 0.0006
    expect(abs(before * unit - whole[0]) <= half * unit and abs(after * unit - whole[1]) <= half * unit, name,
           "the whole inference", before, after, whole)
    expect(abs(sum(r[0] for r in rows.values()) - before) <= half * len(rows), name, "the rows' sum", rows, before)
    for label, row in rows.items():
        if len(row) == 2: # below the clock
            expect(label in ("GEMM", "Everything else"), name, label, "nothing is saved", rows)
            continue
        expect(abs(row[0] - row[1] - row[2]) <= 3 * half, name, label, "saved is not the difference", row)
    for category in document["categories"]:
        if category["category"] in rows:
            ns = [category["arms"][a]["ns"] for a in (c["baseline"], c["candidate"])]
            expect(all(abs(x * unit - y) <= half * unit for x, y in zip(rows[category["category"]], ns)), name,
                   category["category"], rows[category["category"]], ns)
    expect(abs(before - after - saved) <= 3 * half, name, "the whole gain", before, after, saved)
    held_steps(name, document, text)


tmp = new_folder()
for terminal in ((80, "C.UTF-8"), (60, "C.UTF-8"), (80, "C")):
    live(tmp, *terminal)
dumps = {"FAKE_ETDUMP_neon": str(DATA / "mixed_xnnpack_fp32.etdump"),
         "FAKE_ETDUMP_base": str(DATA / "mixed_xnnpack_fp32_load.etdump")}
fast = "base neon 1000000\nbase base 1730000"
text, talk, code = measure(tmp, "fast", fast, "--levels", "neon,base", "--blocks", "6", **dumps)
expect(re.search(r"^  NEON is 1\.73× faster than Armv8.0 NEON {2,}1\.730 → 1\.000 ms {2,}95 % \[1\.7\d, 1\.7\d\]$",
                 text, re.M),
       "faster", text)
expect(text.splitlines()[0].endswith("· 6 blocks"), "title", text.splitlines()[0])
expect("Report" in text and f"{tmp}/fast/report.html" in text.replace(os.path.realpath(tmp), str(tmp)), "report",
       text)
expect(look("faster", "analyze", tmp / "fast") == text, "ab and analyze differ", text)
held_against_document("faster", tmp / "fast", text)
full = run("analyze", tmp / "fast", "--full")[0]
expect("grade A: the same build, one session" in full and "design" not in full, "--full",
       full[:400])
why = re.search(r"^why +(.*?)\n\S", full, re.M | re.S).group(1)
expect("tracer" not in why, "--full", "the tracer is a reason", why)
for section in ("Answer", "Where the time goes", "Operators", "Reproduce"):
    expect(f"\n{section}\n──" in full, "--full", "no section", section)

listed = run("explain", tmp / "fast")[0]
for line in ("N1 ", "thermal ", "op"):
    expect(f"\n{line}" in listed, "explain FOLDER", f"does not list {line}", listed)
# the Inspector's mean of the recording that NEON is given here
expect(re.search(r"^op\d+ +227 ns, [\d.]+ % of a recorded inference: cumsum", listed, re.M), "explain FOLDER",
       "an operator's time", listed)

slow = "slow in a folder whose name fills a line and isn't one word"
text = measure(tmp, slow, "base neon 2000000\nbase base 1000000", "--levels", "neon,base", "--blocks", "6")[0]
expect("  NEON is 2.00× slower than Armv8.0 NEON" in text and "1.000 → 2.000 ms" in text, "slower", text)
full = run("analyze", tmp / slow, "--full")[0]
expect("2.00× slower" in full and "0.50× slower" not in full, "slower --full", full[:400])
listed = run("explain", tmp / slow)[0]
expect("\nF1 " in listed, "explain FOLDER", "does not list F1", listed)
shown = commands(look("slower", "analyze", tmp / slow))
about = [c for c in shown if any("folder" in word for word in c)]
expect(about and all(c[-1] == str(tmp / slow) or c[-2] == str(tmp / slow) for c in about), "slower",
       "a command does not name the folder", shown)
for c in about:
    expect(run(*c[1:])[2] in (0, 3), "slower", "a command that is not taken", c)
text = measure(tmp, "same", "base neon 1000000\nbase base 1000000", "--levels", "neon,base", "--blocks", "6")[0]
expect("  NEON is as fast as Armv8.0 NEON" in text, "same", text)
measured = measure(tmp, "few", fast, "--levels", "neon,base", "--blocks", "3")
text = measured[0]
expect("faster than" not in text and "unknown (3 of at least 6 blocks)" in " ".join(text.split()), "few", text)
expect(re.search(r"To settle it: etprof ab --resume \S+ --blocks \d+", " ".join(text.split())), "few",
       "no command that would settle it", text)
expect("3 of at least 6 blocks: the verdict will be unknown" in measured[1], "few", "not said before", measured[1])
expect(re.search(r"^block +2/3  neon 1\.73× \[1\.7\d, 1\.7\d\]", measured[1], re.M), "few",
       "no plain line of progress", measured[1])
look("few", "analyze", tmp / "few")
talk = measure(tmp, "wide", f"{fast}\nnoise 60", "--levels", "neon,base", "--precision", "0.5%", "--blocks", "7",
               "--seed", "3")[1]
told = re.findall(r"^precision .* after (\d+) blocks; ±0\.5 % .*", talk, re.M)
expect(told == ["6"], "wide", "what is expected is said from six blocks on", told, talk)
for budget, told in (("1s", "ends before the first block"), ("9s", "the budget has room for")):
    model = tmp / f"budget{budget}.pte"
    model.write_bytes(b"\x1c\0\0\0ET12" + f"\n{fast}\n".encode())
    text, talk, code = run("ab", model, "--runner", FAKE, "--levels", "neon,base", "--budget", budget, "--out",
                           tmp / f"budget{budget}", cwd=tmp)
    needed = re.search(r"--budget (\d+)s (?:would do|has room for the 6)", talk)
    expect(told in talk and needed and float(needed.group(1)) > 9, "budget", budget, code, talk)
    expect((code == 2) == (budget == "1s") and (tmp / f"budget{budget}").is_dir() == (budget != "1s"), "budget",
           budget, f"exit {code}", talk)
text = measure(tmp, "three", fast + "\nbase dotprod 1200000", "--levels", "neon,dotprod,base", "--blocks", "6")[0]
for words in ("NEON is 1.73× faster than Armv8.0 NEON", "NEON dotprod is 1.44× faster than Armv8.0 NEON"):
    expect(words in text, "three", text)
look("three", "analyze", tmp / "three")

PHASES = ("prefill 16", "decode @0", "decode @32")
tmp = new_folder()  # figures below a headline of several phases say which one they are of
os.chdir(tmp)  # commands of the same length wherever it is
for name, blocks in (("phases", 6), ("phases, too few", 3)):
    phase_folders.make(tmp / name,
                       lambda p, level, t, m: {"avx2": 500000, "sse": 1000000}[level], blocks=blocks)
    text = look(name, "analyze", name)
    for phase in PHASES:
        expect(re.search(rf"^  {phase}: AVX2 ", text, re.M), name, f"no headline of {phase}", text)
    folders = [w for c in commands(text) for w in c if "phases" in w]
    expect(folders and all(os.path.isdir(w) for w in folders), name,
           "a shell takes the folder's name apart", folders)
    for title in ("Where it came from", "What to do next"):
        expect(re.search(rf"^{title}, in prefill 16\b", text, re.M), name, f"{title}: of which phase?", text)
    expect(("To settle it: etprof ab --resume " in text) == (blocks < 6), name, "the command that would settle it",
           text)

# Ratios 1 and 2: exp(0.347 ± 12.7 × 0.347) reaches 115, which is chance and no figure to read.
phase_folders.make(tmp / "two", lambda p, level, t, m: [1000000, 500000] if level == "avx2" else 1000000,
                   phases=None, blocks=2)
text = look("two", "analyze", "two")
full = run("analyze", "two", "--full")[0]
for shown in (text, full):
    expect("no interval yet" in shown and not re.search(r"1\d\d\.\d", shown.split("Where ")[0]), "two",
           "ends that mean nothing", shown[:400])

# Headlines of phases after the third are a line each, and take the place of categories.
depths = [phase_folders.DEEP | {"name": f"decode @{d}", "depth": d} for d in (32, 64, 128, 256)]
for name, blocks, times in (("many", 2, [1000000, 500000]), ("many decided", 6, 500000)):
    phase_folders.make(tmp / name, lambda p, level, t, m, times=times: times if level == "avx2" else 1000000,
                       phases=[phase_folders.PREFILL, phase_folders.DECODE, *depths], blocks=blocks)
    text = look(name, "analyze", name)
    for words in ("first token 1.000 → 0.", "decode @32: ", "Everything else", "Whole inference", "N1"):
        expect(words in text, name, f"no '{words}'", text)
    for depth in (64, 128, 256):
        said = "1.41×, unknown (2 of at least 6 blocks)"
        said = "2.00× faster than SSE   95 % [2.00, 2.00]" if blocks == 6 else said
        expect(re.search(rf"^  decode @{depth}: AVX2 .*{re.escape(said)}$", text, re.M), name, depth, text)
phase_folders.make(tmp / "threads", lambda p, level, t, m: 1000000 // t, phases=None, levels=("avx2", ),
                   threads=(1, 2))
text = look("threads", "analyze", "threads")
expect("AVX2, 2 threads" in text.split("Trust")[1] and "arm clean" not in text, "threads", "two arms of one name",
       text)

def twice(p, level, t, m):
    return 500000 if level == "avx2" else 1000000

# Where recording takes longer than the inference, most of what was recorded is recording: no part is a figure.
for name, times, levels in (("light", 1.9, ("avx2", "sse")), ("next to none", 1.05, ("avx2", "sse")),
                            ("dear", 7.67, ("avx2", "sse")),
                            ("dear alone", 7.67, ("avx2", ))):
    phase_folders.make(tmp / name, twice, phases=None, levels=levels, recording=lambda p, times=times: times)
    text, adds = look(name, "analyze", name), f"recording adds {100 * times - 100:.0f} %"
    title = "Where it came from" if len(levels) > 1 else "Where it goes"
    said = f"{title} is not shown: {adds} to an inference"
    expect((said in " ".join(text.split())) == (times >= 2), name, "whether parts are withheld is not said", text)
    expect(("Whole inference" in text) == (times < 2), name, "parts of a recording", text)
    # Recorded wholes have a ratio of their own, which is not the headline's.
    whole = re.search(r"^  Whole inference.*", text, re.M)
    expect(not whole or ("×" in whole.group()) == (times < 1.1 and len(levels) > 1), name, "whole", whole)
    expect(bool(re.search(r"^  N\d+ +(−|at most |under )\d", text, re.M)) == (times < 2), name, "gains", text)
    expect(len(levels) == 1 or times < 1.1 or adds in text.split("Trust")[1], name, "no mark", text)
    full = " ".join(run("analyze", name, "--full", width=200)[0].split())
    told_elsewhere(tmp / name, said, times < 2)
    expect(len(levels) == 1 or ("most of them is recording" in full) == (times >= 2), name, "--full", full)
# One arm: its time with the interval, and the largest part first.
phase_folders.make(tmp / "alone", twice, phases=None, levels=("avx2", ))
text = look("alone", "analyze", "alone")
expect(re.search(r"takes 500\.\d µs an inference +95 % \[\d+\.\d µs, \d+\.\d µs\]", text), "alone", text)
rows = re.findall(r"^  .*?(\d+) %  █+", text.split("Everything else")[0], re.M)
expect(rows and rows == sorted(rows, key=int, reverse=True), "alone", "the largest part first", text)
phase_folders.make(tmp / "dear later", twice, recording=lambda p: 7.67 if p == "decode @0" else 1)
text = look("dear later", "analyze", "dear later").split("Where it came from")[0]
first, later = re.split(r"^  decode @32: ", text.split("decode @0: ")[1], maxsplit=1, flags=re.M)
expect("Outside operators" not in first and re.search(r"Outside operators \d+ %", later), "dear later",
       "what most of a phase is, by its recording", text)
os.chdir(TREE)

with tempfile.TemporaryDirectory() as tmp:  # every file of a session cut off: warnings take the place of steps
    with tarfile.open(DATA / "session.tar.xz") as archive:
        unpack(archive, tmp)
    full = run("analyze", tmp, "--full", width=200)[0]  # arms are called what they are, where no command asks for more
    why = re.search(r"^why +(.*?)\n\S", full, re.M | re.S).group(1)  # what recording adds differs by 0.18 ms here
    expect("tracer" not in why and "without recording" in why, "session", "the tracer is a reason", why)
    named = [line for line in full.splitlines() if re.search(r"linux_(vnni|avx2)\b(?!/)", line)] # paths apart
    expect([line.split()[:2] for line in named] == [["linux_avx2", "AVX2"], ["linux_vnni", "VNNI"]], "--full",
           "an experiment's name outside the table that says what it is", named)
    steps = json.loads(run("analyze", tmp, "--format", "json")[0])["next_fixes"]  # as the text says they are ranked
    worth = [f for f in steps if f["kind"] != "threads" and (f["share"] is None or f["share"] >= 0.005)]
    # what a command of the exporter does, then what is done by hand, then a distance to a roof
    rank = [(2 if f["kind"] == "roof_gap" else int(not f["recipe"].startswith("etprof export ")),
             -(f["gain_ns"]["expected"] if f["gain_ns"]["lo"] else min(f["gain_ns"]["hi"], f["concerns_ns"])))
            for f in worth]
    expect(steps[:len(worth)] == worth and rank == sorted(rank) and len(rank) > 3, "order of fixes", rank)
    why = re.search(r"^why .*", full, re.M)[0]
    expect(set(re.findall(r"\d (ns|µs|ms|s)\b", why)) == {"ms"}, "--full", "parts of one sum in several units", why)
    for about in ("N1", "op1"):
        named = [w for w in run("explain", about, tmp)[0].split() if w.startswith("linux_")]
        expect(not named, "explain", about, named)
    expect("linux_" not in run("whatif", tmp, "drop transpose*")[0], "whatif", "an experiment's name")
    text = run("kernels", tmp, width=200)[0]  # C++ names as people write them, a row for each function
    shown = re.sub(r"^problem: .*\n", "", text, flags=re.M)  # that raw files were cut, with a path
    expect("linux_" not in shown, "kernels", "an experiment's name", shown[:900])
    named = re.findall(r"^VNNI +(\S+::\S+) ", text, re.M)
    expect("torch::executor::repeat_tensor" in named and len(named) == len(set(named)) and "_ZN" not in text,
           "kernels", "names", named, text[-600:])
    few = pathlib.Path(tmp, "few")  # VNNI's samples but the first 40, of which a few are XNNPACK's
    shutil.copytree(tmp, few, ignore=lambda at, names: [n for n in names if n == "few"])
    for path in few.glob("linux_vnni/*.samples"):
        path.write_text("".join(path.read_text().splitlines(True)[:41]))
    text = run("analyze", few)[0]
    expect("? level vnni not proven: too few samples" in text, "few", text)
    shutil.rmtree(few)
    bare = pathlib.Path(tmp, "bare")  # outputs of an 8-bit program that differ by 3 %, and no recording says what it is
    shutil.copytree(tmp, bare, ignore=lambda at, names: [n for n in names if n.endswith(".etdump") or n == "bare"])
    for arm, value in (("linux_avx2", 0.5), ("linux_vnni", 0.515)):
        (bare / arm / "outputs").mkdir()
        (bare / arm / "outputs/output-0.bin").write_bytes(struct.pack("<2f", value, 2 * value) * 32)
        (bare / arm / "outputs/outputs.json").write_text(json.dumps({"outputs": [
            {"index": 0, "file": "output-0.bin", "dtype": "float32", "shape": [1, 64], "dim_order": [0, 1],
             "bytes": 256}]}))
    expect("✓ outputs agree" in run("analyze", bare)[0], "an 8-bit program without recordings", run("analyze", bare)[0])
    shutil.rmtree(bare / "program")
    expect("outputs agree" not in run("analyze", bare)[0], "as float32 it is wrong")
    shutil.rmtree(bare)
    manifest = pathlib.Path(tmp, "manifest.json")  # a word of a later version: the folder is read all the same
    now = re.sub(r'"sampling": "\w+"', '"sampling": "tomorrow"', manifest.read_text())
    expect(now.count('"tomorrow"') >= 1, "later", "what says why sampling ended")
    manifest.write_text(now)
    expect("faster than" in run("analyze", tmp)[0], "later", "not read")
    odd = "/home/user/my models/it's a net.pte"  # a shell takes the commands about it as they are printed
    manifest.write_text(re.sub(r'"/home/user/[^"]*\.pte"', json.dumps(odd), now))
    told = re.findall(r"(etprof ab .*--threads 1,\d+)$", run("analyze", tmp, "--full", width=400)[0], re.M)
    expect(told and all(shlex.split(command)[2] == odd for command in told), "a model whose path has blanks", told)
    manifest.write_text(now)
    for torn in ("linux_avx2/*_b3.etdump", "linux_vnni/*_b2.etdump", "linux_vnni/*.code", "program/*.pte"):
        for path in pathlib.Path(tmp).glob(torn):
            os.truncate(path, 300)
    text = look("torn", "analyze", tmp)
    traces = len([p for p in pathlib.Path(tmp).glob("linux_*/*") if ".etdump" in p.name])
    wanted = ["program", f"2 of {traces} traces", "samples of level vnni"]
    told = re.findall(r"^  F\d+ (program|\S+(?: of \d+)? traces?|samples of level vnni) not used[:;] ",
                      re.sub(r"([:;])\n", r"\1 ", text), re.M)
    expect(told == wanted[:len(told)] and told, "torn", "warnings", wanted, text)
    found = json.loads(run("analyze", tmp, "--format", "json")[0])["findings"]
    unused = [f["text"] for f in found if f["kind"] == "trace_not_used"]
    expect(len(unused) == 1 and "; the first: linux_vnni/" in unused[0] and "_b2.etdump" in unused[0], "torn",
           "traces are not said once", unused)
    expect(len(told) == 3 or f"\n  and {3 - len(told)} more: --full\n" in text, "torn", "the others", text)
    expect(len(re.findall(r"^  N\d ", text, re.M)) == 1, "torn", "steps", text)

tmp = new_folder()  # of a folder of Arm's kit whose name a shell would take apart
kit = pathlib.Path(tmp, "what the kit's run left")
shutil.copytree(DATA / "kit/flat", kit)
told = [c for c in commands(run("analyze", kit)[0]) if c[1] == "compare"]
expect(told and all(len(c) == 4 and os.path.isfile(c[2]) and os.path.isfile(c[3]) for c in told), "kit", told)

tmp = new_folder()
features(tmp)
one_rule(tmp)
alone(tmp)

cut = run("analyze", DATA / "linear_xnnpack_fp32.etdump")[0]  # its linear takes no whole microsecond
expect(re.search(r"^  GEMM +up to \d+\.\d+ +up to \d\d %", cut, re.M), "below the clock", cut)
# Against a linear of portable code (a clock of nanoseconds): what it gained lies around the delegate's call too, so
# neither row is credited with it, and the two are one part of the reason.
portable, delegated = DATA / "linear_portable_fp32.etdump", DATA / "linear_xnnpack_fp32.etdump"
for pair in ((delegated, delegated), (portable, delegated)):
    told = run("compare", *pair)[0]
    for row in ("GEMM", "Everything else"):
        line = next((x for x in told.splitlines() if x.startswith(f"  {row} ")), "")
        expect(re.search(r"below the clock$", line) and "█" not in line, "below the clock", pair, told)
        expect(len(re.findall(r" −?\d+\.\d+", line)) == 2, "below the clock: what was saved", pair, told)
told = re.sub(r"\s+", " ", run("compare", portable, delegated, "--full")[0])
expect("why short + boundary +" in told and " short GEMM: below what the clock resolves" in told,
       "below the clock: why", told)
# What took less than its clock can have cut off (two linears, up to 1 µs each) has no bar, and says up to how much
# it may be.
mixed = json.loads(run("analyze", DATA / "mixed_xnnpack_fp32_load.etdump", "--format", "json")[0])
gemm = next(c for c in mixed["categories"] if c["category"] == "GEMM")["arms"]["mixed_xnnpack_fp32_load"]
told = run("analyze", DATA / "mixed_xnnpack_fp32_load.etdump")[0]
line = next(x for x in told.splitlines() if x.startswith("  GEMM "))
expect(0 < gemm["ns"] < gemm["cut_ns"], "below the clock: the fixture", gemm)
expect(f"up to {(gemm['ns'] + gemm['cut_ns']) / 1000:.2f} " in line and "█" not in line, line)
expect(line.endswith("  below the clock"), line)
expect("2 operators below the clock" in re.sub(r"\s+", " ", run("analyze", DATA / "mixed_xnnpack_fp32_load.etdump",
                                                                    "--full")[0]), "below the clock: --full")
look("emulated", "analyze", TREE / "examples/runs/image_encoder_int8_qemu")
expect("×" not in run("analyze", TREE / "examples/runs/image_encoder_int8_qemu")[0], "an emulator's times are given")
for dump in ("mixed_xnnpack_fp32", "linear_portable_fp32", "fixes/broadcast", "fixes/islands"):
    about = ("analyze", DATA / f"{dump}.etdump")
    if dump.startswith("fixes/"):  # these have a step that hardly pays
        about += ("--pte", DATA / f"{dump}.pte")
    held_steps(dump, json.loads(run(*about, "--format", "json")[0]), look(dump, *about))
many = ("analyze", DATA / "fixes/unbind.etdump", "--pte", DATA / "fixes/unbind.pte")
expect(len(re.findall(r"^N\d+ +[a-z_]+ ", run(*many, "--full")[0], re.M)) > 3, "many steps", "the case has no more")
expect(len(re.findall(r"^  N\d+ ", look("many steps", *many), re.M)) == 3, "many steps", "not the three first")
look("two dumps", "compare", DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32_load.etdump", "--pte",
     DATA / "mixed_xnnpack_fp32.pte")
finish()
