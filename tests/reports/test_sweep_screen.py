# SPDX-License-Identifier: Apache-2.0
"""test_sweep_screen.py ETPROF FAKE_RUNNER: what `etprof sweep` prints in a terminal is one screen of at most thirty
lines. A fake runner takes times that are chosen here, so that the fastest cells, every time and every ratio are known
beforehand; --full has the sections, at 60, 80, 120 and 200 columns no line is too long, without UTF-8 it is ASCII."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders  # noqa: E402
from checks import expect, finish  # noqa: E402

ETPROF, FAKE = map(os.path.abspath, sys.argv[1:3])
# Nanoseconds by model, level and number of threads.
TIMES = {"small": {("sme2", 1): 250_000, ("sme2", 2): 200_000, ("neon", 1): 1_000_000, ("neon", 2): 500_000},
         "large": {("sme2", 1): 2_000_000, ("sme2", 2): 1_250_000, ("neon", 1): 5_000_000, ("neon", 2): 4_000_000}}


def in_terminal(tmp, *words, width=80, locale="C.UTF-8"):
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG")}
    done = subprocess.run([ETPROF, *words, "--quiet"], cwd=tmp, env={**env, "COLUMNS": str(width), "LC_ALL": locale},
                          capture_output=True, timeout=600, check=False)
    expect(done.returncode == 0, words, f"exit {done.returncode}", done.stderr.decode()[-400:])
    return done.stdout.decode("utf-8")


def measure(tmp, out, *words, models=tuple(TIMES), more=None):
    for model in models:
        lines = "".join(f"base {level} {ns} {threads}\n" for (level, threads), ns in TIMES[model].items())
        lines += (more or {}).get(model, "")
        (tmp / f"{model}.pte").write_bytes(b"\x10\0\0\0ET12" + lines.encode())
    return in_terminal(tmp, "sweep", *(f"{m}.pte" for m in models), "--runner", FAKE, "--iterations", "4", "--warmup",
                       "1", "--seed", "3", "--out", out, *words)


def rows(text):
    """Of the table of cells: what stands in each row, by its first words."""
    part = text.split("Every cell")[1].split("\n\n")[0].splitlines()[1:]
    return {re.split(r"\s{2,}", line.strip())[0]: re.split(r"\s{2,}", line.strip())[1:] for line in part}


def four_cells(tmp):
    words = ("--levels", "sme2,neon", "--threads", "1,2", "--blocks", "6")
    text = measure(tmp, "out", *words)
    lines = text.splitlines()
    expect(len(lines) <= 30, "lines", len(lines), text)
    expect(lines[0] == "2 models × 2 levels × 2 thread counts · 6 blocks", "title", lines[0])
    told = " ".join(text.split())
    for said in ("small: SME2 with 2 threads is 5.00× faster than NEON with 1 thread 1.000 → 0.200 ms "
                 "95 % [5.00, 5.00] the fastest of all",
                 "large: SME2 with 2 threads is 4.00× faster than NEON with 1 thread 5.000 → 1.250 ms"):
        expect(said in told, "the fastest of each model", said, text)
    found = rows(text)
    for model, times in TIMES.items():
        for n, label in ((1, f"{model}, 1 thread"), (2, f"{model}, 2 threads")):
            neon, sme2 = times["neon", n], times["sme2", n]
            expect(found[label][:3] == [f"{neon / 1e6:.3f}", f"{sme2 / 1e6:.3f}", f"{neon / sme2:.2f}×"], label, found)
    mean = (4 * 2.5) ** 0.5
    expect(found["Geometric mean, 1 thread"] == [f"{mean:.2f}×"], "mean", found)
    expect(re.search(r"^Every cell, ms +NEON +SME2 +speedup$", text, re.M), "columns", text)
    expect("Trust " in text and "Report   out/report.html\n" in text, "why and where", text)
    for command in re.findall(r"^(?:More)? +(etprof .*)$", text, re.M):
        done = subprocess.run([ETPROF, *shlex.split(command)[1:]], cwd=tmp, capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and "\nGeometric mean over the models\n" in done.stdout, command, done.stderr)
    # Both levels, for the reason that `ab` has for the same runner.
    proof = re.findall(r"(NEON|SME2) not proven(: names do not tell)?", told)
    expect(sorted(proof) == [(level, ": names do not tell") for level in ("NEON", "SME2")], "not proven", proof, text)
    full = measure(tmp, "whole", *words, "--full")
    proof = re.findall(r"^ *(?:not proven)? +(NEON|SME2): (names do not tell)$", full, re.M)
    expect(sorted(proof) == [("NEON", "names do not tell"), ("SME2", "names do not tell")], "--full", proof, full)
    expect("\nThreads and levels\n" in full and "\nReproduce\n" in full, "--full", full[:300])
    expect(in_terminal(tmp, "analyze", "out") == text, "analyze shows the same")
    wide = in_terminal(tmp, "analyze", "out", width=200)
    for width in (60, 120, 200):
        shown = in_terminal(tmp, "analyze", "out", width=width)
        expect(all(len(line) <= width and line == line.rstrip() for line in shown.splitlines()), width, shown)
        words_of = lambda text: set(re.findall(r"[A-Za-z.]+", text))  # noqa: E731
        cut = words_of(shown) - words_of(wide)
        expect(not cut, width, "words that are not in the wide form", cut)
    plain = in_terminal(tmp, "analyze", "out", locale="C")
    expect(plain.isascii() and "5.00x faster" in plain, "ASCII", plain)


def others(tmp):
    """One model, one level, more levels than columns, more rows than lines, too few blocks."""
    text = measure(tmp, "one", "--levels", "sme2,neon", "--threads", "1", "--blocks", "6", models=("small", ))
    expect(re.search(r"^  SME2 is 4\.00× faster than NEON {3}1\.000 → 0\.250 ms {3}95 % \[", text, re.M), "one", text)
    expect("fastest of all" not in text and rows(text)["1 thread"][:3] == ["1.000", "0.250", "4.00×"], "one", text)
    text = measure(tmp, "level", "--levels", "neon", "--threads", "1,2", "--blocks", "6", models=("small", ))
    expect("NEON with 2 threads is 2.00× faster than NEON with 1 thread" in text, "one level", text)
    text = measure(tmp, "few", "--levels", "sme2,neon", "--threads", "1,2", "--blocks", "2")
    expect("5.00×, unknown (2 of at least 6 blocks)" in " ".join(text.split()), "few", text)
    expect("faster than" not in text, "few", text)
    expect(rows(text)["small, 1 thread"][-1] == "unknown", "few", rows(text))
    text = measure(tmp, "many", "--levels", "sme2,neon", "--threads", "1,2,3,4,5,6,7", "--blocks", "1")
    expect(len(text.splitlines()) <= 30 and "and 4 more: --full" in text, "many", text)


def waiting(tmp):
    """One model waited for a CPU: nothing of that is told of the other, and the cell that is repeated is named."""
    text = measure(tmp, "waits", "--levels", "sme2,neon", "--threads", "1", "--blocks", "6",
                   more={"large": "waits sme2 14\nwaits neon 3\n"})
    told = " ".join(text.split())
    expect("W1 other programs had the CPU for 14 % of the time of large at SME2: no ratio is made of it" in told, text)
    expect(rows(text)["large"][-1] == "withheld" and rows(text)["small"][2] == "4.00×", rows(text))
    expect("other programs ran (1/2 pairs)" in told and re.search(r"A/A [^ ]+ to [^ ]+ % of small at NEON", told), text)
    text = measure(tmp, "both", "--levels", "sme2,neon", "--threads", "1", "--blocks", "6", "--full",
                   more={"large": "waits sme2 14\nwaits neon 3\n", "small": "waits sme2 12\n"})
    told = " ".join(text.split())
    expect("for 14 % of the time of large at SME2 and for less of 1 more cell: no ratio is made of them" in told, text)
    for model, share in ("small", "12"), ("large", "14"):
        told_of = rf"{model}: SME2 against NEON: other programs \([^)]*up to {share}(\.0)? %"
        expect(re.search(told_of, told), model, text)


def of_models(tmp):
    """Two models at levels vnni and avx2. VNNI is the name of a feature, too: where nothing shows that it ran, only the
    level has that name. Each cell is compared with that of its own model, in every document."""
    folder = run_folders.make(tmp / "models", 4, blocks=6, sweep=True)
    document = json.loads((folder / "manifest.json").read_text())
    document["models"].append({**document["models"][0], "stem": "other"})
    document["plan"]["baseline"] = 1
    for k, arm in enumerate(document["plan"]["arms"]):
        arm.update(level=("vnni", "avx2")[k % 2], threads=1, model=k // 2)
    (folder / "manifest.json").write_text(json.dumps(document))
    text = in_terminal(tmp, "analyze", "models")
    expect("level vnni" in text and not re.search(r"\bVNNI\b", text), "level, not feature", text)
    in_terminal(tmp, "analyze", "models", "--renew")
    answer = json.loads((folder / "report.json").read_text())
    told = [(c["candidate"], c["baseline"]) for c in answer["comparisons"]]
    expect(told == [("arm0", "arm1"), ("arm2", "arm3")], "pairs", told)
    for c, arms in zip(answer["comparisons"], ((0, 1), (2, 3))):
        ratio = (1000000 + 1000 * arms[1]) / (1000000 + 1000 * arms[0])
        expect(abs(c["speedup"]["estimate"] / ratio - 1) < 1e-4, "of its own model", c["speedup"], ratio)
    for op in answer["operators"]:
        known = [k for k in range(4) if op["ns"].get(f"arm{k}") is not None]
        expect(known in ([0, 1], [2, 3], [0, 1, 2, 3]), "operators of one model", known)


with tempfile.TemporaryDirectory(prefix="etp-") as name:
    four_cells(pathlib.Path(name))
    of_models(pathlib.Path(name))
    waiting(pathlib.Path(name))
    others(pathlib.Path(name))
finish("a sweep is one screen")
