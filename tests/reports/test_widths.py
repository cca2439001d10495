# SPDX-License-Identifier: Apache-2.0
"""test_widths.py ETPROF TREE: what reading verbs print in terminals of 60, 80, 120 and 200 columns.

No line is longer than the terminal, but for a command to copy and a single name that is longer itself; no word is
broken (a name of more than 24 columns may go on below, behind what joins its parts); a figure stays beside its unit."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder, unpack  # noqa: E402

ETPROF, TREE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
DATA = TREE / "tests/data"
WIDTHS = (60, 80, 120, 200)
LONG = 24  # columns of a name that may be broken
SHORT = {"recorded", "from"}  # the first screen's narrow note; its title without the unit behind a comma
DRAWN = re.compile(r"[█▉▊▋▌▍▎▏▓▒░▚╱╳·▞◦═┆─┈▁▂▃▄▅▆▇]+")


def show(words, width, cwd):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    done = subprocess.run([ETPROF, *map(str, words)], cwd=cwd, capture_output=True, timeout=300, check=False,
                          stdin=subprocess.DEVNULL, env={**env, "COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
    expect(done.returncode in (0, 1, 3), *words, "exit", done.returncode, done.stderr.decode()[-300:])
    return done.stdout.decode()


def pieces(word):
    """What a long name may be taken apart into: runs of the parts that its joints leave."""
    parts = re.findall(r".+?(?:::|[/,_=](?=.)|-(?!\d)|$)", word)
    return {"".join(parts[i:k]) for i in range(len(parts)) for k in range(i + 1, len(parts) + 1)}


def look(words, cwd):
    wide = show(words, 400, cwd)
    known = set(wide.split()) | SHORT
    for word in list(known):
        known |= pieces(word) if len(word) > LONG else set()
    units = set(re.findall(r"\d (?:%|ns|µs|ms|kB|MB|GB)(?=[\s,.;)]|$)", wide))
    for width in WIDTHS:
        text = show(words, width, cwd)
        for line in text.splitlines():
            name = re.fullmatch(r"(\s*(\w+:)?\s*)\S+", line)  # alone in its line
            expect(len(line) <= width or name or line.startswith("    "), *words, "at", width, "a line of", len(line),
                   line)
        cut = {w for w in text.split() if not DRAWN.fullmatch(w)} - known - {"\\"}
        expect(not cut, *words, "at", width, "broken words", sorted(cut))
        for figure in units:
            expect(figure in text or not re.search(rf"{figure[0]}\n\s*{re.escape(figure[2:])}", text), *words, "at",
                   width, "a figure without its unit", figure)


tmp = new_folder()
with tarfile.open(DATA / "session.tar.xz") as archive:
    unpack(archive, tmp / "out/runs/linux")
for line in ("analyze out", "analyze out --full", "analyze out --proof", "stats out", "kernels out",
             "gate out", "explain out", "explain N1 out", "explain F1 out", "explain op35 out", "verify out",
             "whatif out", "doctor levels", "help", "help --all", "help exit-codes"):
    more = ["drop transpose*"] if line.startswith("whatif") else ["speedup >= 1.3"] if "gate" in line else []
    look([*line.split(), *more], tmp)
mixed = DATA / "mixed_xnnpack_fp32"
look(["ops", f"{mixed}.etdump", "--pte", f"{mixed}.pte"], tmp)
look(["inspect", f"{mixed}.pte"], tmp)
look(["inspect", f"{mixed}.pte", "--etrecord", f"{mixed}.etrecord", "--tree"], tmp)
look(["inspect", TREE / "examples/models/image_encoder_xnnpack_int8.pte", "--tree"], tmp)
look(["inspect", f"{mixed}.etrecord"], tmp)
look(["analyze", DATA / "kit/flat"], tmp)
look(["compare", f"{mixed}.etdump", f"{mixed}_load.etdump", "--pte", f"{mixed}.pte", "--full"], tmp)
finish()
