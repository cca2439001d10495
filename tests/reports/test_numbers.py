# SPDX-License-Identifier: Apache-2.0
"""test_numbers.py ETPROF TREE FAKE_RUNNER: numbers that people read have no exponent ("1e+06", "7.7e-05").

Looks at the golden texts of the command line, and at what the verbs print (text, Markdown, the words of a page) of
recordings and of sessions whose figures are as extreme as they come: arms that differ by a factor of 10^9, samples that
differ in the twelfth digit, rules of the gate a million times off. CSV and JSON are for programs. With the reference
corpus (ETPROF_CORPUS or ../shared/corpus) what `analyze` says of each of its recordings, too."""
import html
import os
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders  # noqa: E402
from checks import expect, finish, new_folder, unpack  # noqa: E402

ETPROF, TREE, FAKE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
DATA = TREE / "tests/data"
EXPONENT = re.compile(r"(?<![\w+/])\d+(?:\.\d+)?[eE][+-]?\d+\b(?![\w/-])")
FOR_PROGRAMS = re.compile(r"--format (json|csv|inspector)|--to |--completion|--man")
looked = 0


def look(what, text):
    global looked
    looked += 1
    for line in text.splitlines():
        found = EXPONENT.search(re.sub(r"'[^']*'", "", line))  # what the user typed is said as he typed it
        expect(not found, what, found and found[0], line.strip()[:160])


def words_of(page):
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "\n", page))


def etprof(*words):
    done = subprocess.run([ETPROF, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=300,
                          check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "ETPROF_RUNNER": FAKE})
    expect(done.returncode not in (2, 70) and done.returncode >= 0, *words, done.returncode, done.stderr[-300:])
    look(" ".join(map(str, words)), done.stdout + done.stderr)
    return done.stdout


def goldens():
    for case in sorted((TREE / "tests/cli").iterdir()):
        if case.is_dir() and not FOR_PROGRAMS.search((case / "cmd").read_text()):
            for name in ("stdout", "stderr"):
                if (case / name).exists():
                    look(f"{case.name}/{name}", (case / name).read_text())


def every_form(verb, *words, text=("--full", )):
    etprof(verb, *words, *text)
    etprof(verb, *words, "--format", "md")
    page = subprocess.run([ETPROF, verb, *map(str, words), "--format", "html"], capture_output=True, text=True,
                          timeout=300, check=False).stdout
    expect("</html>" in page, verb, *words, "no page")
    look(f"{verb} --format html", words_of(page))


def session(name, neon, base, *more, noise=0):
    model = pathlib.Path(f"{name}.pte")
    model.write_bytes(b"\x10\0\0\0ET12" + f"base neon {neon}\nbase base {base}\nnoise {noise}\n".encode())
    etprof("ab", model, "--levels", "neon,base", "--blocks", 6, "--iterations", 4, "--warmup", 1, "--seed", 7, "--out",
           name, *more)
    every_form("analyze", name)
    for verb in ("analyze", "explain", "stats"):
        etprof(verb, name if verb != "stats" else f"{name}/samples.csv")
    etprof("gate", name, "speedup >= 0.000001", "speedup <= 123456789", "noise <= 0.00001 %", "noise <= 12345 %",
           "latency <= 100000 s", "memory <= 1 GB")
    etprof("gate", name, "--against", name, "--margin", "100000%")


def tables():
    rows = ["experiment,block,launch,iteration,phase,start_ns,duration_ns"]
    for block in range(1, 13):
        for arm, ns in (("on", 1000000000), ("off", 1000000001)):
            rows += [f"{arm},{block},{2 * block},{i},timed,{i},{ns + (block % 3)}" for i in range(4)]
    pathlib.Path("close.csv").write_text("\n".join(rows) + "\n")
    etprof("stats", "close.csv", "--baseline", "off")


def other_verbs():
    """Of the sessions above and of recordings: what else prints figures."""
    every_form("analyze", "apart", "few", text=())
    every_form("analyze", DATA / "kit/flat")
    every_form("compare", DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32_load.etdump")
    every_form("analyze", DATA / "mixed_xnnpack_fp32.etdump", "--pte", DATA / "mixed_xnnpack_fp32.pte", "--roofs-file",
               DATA / "roofs/round.json")
    with tarfile.open(DATA / "session.tar.xz") as archive:
        unpack(archive, "sampled")
    every_form("analyze", "sampled")
    for words in (("whatif", "sampled", "drop *"), ("kernels", "sampled"), ("explain", "N1", "sampled"),
                  ("explain", "op1", "sampled"), ("gate", "sampled", "op1.ns <= 0.2 ms", "share GEMM <= 5 %"),
                  ("inspect", DATA / "mixed_xnnpack_fp32.pte", "--etdump", DATA / "mixed_xnnpack_fp32.etdump")):
        etprof(*words)


def corpus():
    root = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared/corpus"))
    dumps = sorted(root.glob("dumps/**/*.etdump"))
    if not dumps:
        print(f"skipped: no corpus in {root} (ETPROF_CORPUS)", flush=True)
    for dump in dumps:
        every_form("analyze", dump)


for line in ("±7.7e-05 %", "(89 to 3.7e+05)", "1e+03 %"):
    assert EXPONENT.search(line), line
for line in ("op1e5 a1e5", "0x1e-5f", "sha 81e5e2", "linux/1e5"):
    assert not EXPONENT.search(line), line
goldens()
scratch = new_folder()
os.chdir(scratch)
session("apart", 7, 7000000000)
session("turned", 7000000000, 7)
session("noisy", 1000, 1000, noise=90)
session("few", 1000000, 1300000, "--blocks", 2)
tables()
phase_folders.make(pathlib.Path("phases"), lambda p, level, t, m: {"avx2": 5, "sse": 100000000}[level])
every_form("analyze", "phases")
every_form("analyze", TREE / "examples/runs/image_encoder_int8_qemu")
for dump in sorted(DATA.glob("fixes/*.etdump"))[:6] + [DATA / "mixed_xnnpack_fp32.etdump"]:
    every_form("analyze", dump, "--pte", dump.with_name(dump.stem.removesuffix("_b2") + ".pte"))
    etprof("ops", dump)
other_verbs()
corpus()
os.chdir("/")
finish(f"{looked} texts have no exponents")
