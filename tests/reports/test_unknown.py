# SPDX-License-Identifier: Apache-2.0
"""test_unknown.py ETPROF TREE FAKE_RUNNER: wherever an answer says "unknown", the reason stands beside it.

Every reading verb is asked about the recordings, tables and folders of the tree (of the reference corpus too, where
it is) and about sessions with a fake runner; in all text that comes out, golden answers included, each "unknown" is
followed by its reason, or is part of a sentence that is listed here with where it says why."""
import csv
import itertools
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder

ETPROF, TREE, FAKE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
CORPUS = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared" / "corpus"))
DATA = TREE / "tests/data"
# "unknown: why", "unknown:…y" (shortened), "unknown (3 of at least 6 blocks)", "unknown, each row says why"
REASON = re.compile(r"unknown(:[ …]| \(|, each row says why)\S*")
# Sentences with "unknown" in their middle, and what in them is the reason.
SENTENCES = [re.compile(p) for p in (
    r"(dumps alone|timelines in CSV|its)[:,]?.*\b(are|is) unknown",  # the kind of file is why
    r"different or unknown (builds|days)|unknown (builds|days or machines)",  # of sides that the line names
    r"unknown\W+\S+: the fastest is unknown",  # a card's title: the line below it has the reason
    r"how much of it is unknown → ",  # the fix's formula, named beside it, says what is missing
    r"unknown without (byte counts|bytes|roofs)",
    r"its thread count is unknown, 1 is assumed",
    r"operators? of unknown work|those of unknown work",  # operators of the user's own: nobody knows their shapes
    r"\| unknown in \||unknown in( |$)",  # the title of a count
    r"one is unknown",
    r"the size of an operand is unknown|shares are unknown|levels are unknown|level is unknown",
    r"unknown (level|key|option|verb|union)",  # something that was typed or read, and that nothing is called
    r"device unknown\. nothing is read",
    r"^\W*ruled\s+suspect\s+unknown$",  # the same title, wrapped
    r"\bunknown(?= *(\| )? *unknown(: | \(|…))|(?<=  )unknown…",  # gate: what was found says why, shortened or not
    r"\"verdict\": \"unknown\".*\"why\": \"",
    r"against .* unknown: \d",  # the line to quote: "(no interval)" or the interval follows
    r"yes, no or unknown|(slower|not),? (or )?unknown|unknown, withheld|unknown and errors|is unknown is null",  # help
)]
asked = lines = 0


def look(what, text):
    global lines
    text = re.sub(r"(?<=\w)\n +(?=\S)", " ", text)  # text is wrapped at 80 columns
    for line in text.splitlines():
        rest = line
        for sentence in SENTENCES:
            rest = sentence.sub("", rest)
        lines += "unknown" in line
        expect("unknown" not in REASON.sub("", rest), what, f"no reason beside: {line.strip()[:200]}")


def ask(*words, cwd=None):
    global asked
    for form in ("text", "md"):
        done = subprocess.run([ETPROF, *map(str, words), "--format", form], cwd=cwd, capture_output=True, text=True,
                              check=False, timeout=300)
        asked += done.returncode in (0, 1, 3, 6)
        look(" ".join(map(str, words))[-160:], done.stdout)


def stats_tables(tmp):
    """Samples of one block, of three, and of nine that overlap: each is unknown for another reason."""
    draw = random.Random(3)
    for blocks, spread in ((1, 1), (3, 1), (9, 40)):
        path = tmp / f"samples{blocks}.csv"
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(("experiment", "block", "launch", "iteration", "phase", "start_ns", "duration_ns"))
            for number, (block, arm) in enumerate(itertools.product(range(1, blocks + 1), ("a", "b"))):
                base = 1000000 * (1 + draw.uniform(-spread, spread) / 100)
                for i in range(5):
                    out.writerow((arm, block, number, i, "timed", number * 10**8 + i * 10**7, int(base + i)))
        ask("stats", path)


def sessions(tmp):
    """Few blocks and noisy ones, states and turns: what a fake runner says is the machine."""
    model = tmp / "model.pte"
    model.write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 1010000\nload sme2 7000000\nwarm sme2 4 150\n"
                      b"noise 60\n")
    for name, words in (("few", ("--blocks", "2")), ("noisy", ("--blocks", "7"))):
        done = subprocess.run([ETPROF, "ab", model, "--runner", FAKE, "--levels", "sme2,neon", "--iterations", "4",
                               "--warmup", "1", "--seed", "7", "--quiet", "--out", name, *words], cwd=tmp,
                              capture_output=True, text=True, check=False, timeout=300)
        expect(done.returncode in (0, 3), name, done.returncode, done.stderr)
        look(name, done.stdout)
        for verb in ("analyze",):
            ask(verb, name, cwd=tmp)
        ask("gate", name, "speedup >= 1", cwd=tmp)
        ask("stats", tmp / name / "samples.csv")
    subprocess.run([ETPROF, "ab", model, "--runner", FAKE, "--levels", "sme2,neon", "--threads", "1,2", "--blocks",
                    "2", "--iterations", "4", "--warmup", "1", "--quiet", "--out", "swept"], cwd=tmp, check=False,
                   capture_output=True, timeout=300)
    ask("analyze", "--full", "--renew", "swept", cwd=tmp)


def shapes(tmp):
    """Operators of shapes that no number holds: their share of nothing is none."""
    path = tmp / "shapes.pte"
    content = (DATA / "linear_portable_fp32.pte").read_bytes()
    for sizes, said in (((2, 4), None), ((2, 3), ": 100.0 % of the data moved (without those of unknown work)"),
                        ((4, 3), ", all operators of unknown work")):
        content = content.replace(struct.pack("<3i", 2, *sizes), struct.pack("<3i", 2, 2**31 - 1, 2**31 - 1))
        path.write_bytes(content)
        ask("inspect", path)
        done = subprocess.run([ETPROF, "inspect", path], capture_output=True, text=True, check=False, timeout=60)
        shown = " ".join(done.stdout.split())
        expect(said is None or f"2 kernel calls outside delegates{said} " in shown, "shapes", done.returncode, shown)


def recordings():
    for home in (DATA, CORPUS / "dumps"):
        dumps = sorted(home.glob("*.etdump")) if home.is_dir() else []
        for dump in dumps[:12]:
            ask("analyze", dump, "--full")
        for pair in list(itertools.combinations(dumps[:8], 2))[::3]:
            ask("compare", *pair, "--full")


def main():
    for golden in sorted((TREE / "tests/cli").glob("*/stdout")):
        if (golden.parent / "cmd").read_text().find("json") < 0:
            look(golden.parent.name, golden.read_text())
    recordings()
    name = new_folder()
    shapes(name)
    stats_tables(name)
    sessions(name)
    # Without the corpus there are 32.
    expect(asked >= 32 and lines >= 60, f"{asked} answers with {lines} lines that say unknown: too few to tell")
    finish(f"{asked} answers, {lines} lines that say unknown, each with its reason")


main()
