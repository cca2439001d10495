# SPDX-License-Identifier: Apache-2.0
"""Planned memory in use at each instruction, as `etprof inspect` tells it: worked out by hand for the small fixtures,
from flatc's reading of them; and never more than the arenas that ExecuTorch's planner made, of which it fills most.
The picture on pages has its boxes where that reading puts them.

usage: planned.py ETPROF SOURCE_DIR; 77 = no browser here, the picture was not looked at"""
import json
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools"), str(TESTS / "reports")]
import browser  # noqa: E402
from checks import FAILURES, expect, finish, new_folder  # noqa: E402

ETPROF, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
DATA, CORPUS = SOURCE / "tests/data", SOURCE / "../shared/corpus/models"
# name: (bytes in use at each instruction, bytes that are kept)
BY_HAND = {
    # permute_copy [0 → 3], linear [2, 3 → 7]; inputs 2: 2×4, outputs 7: 2×3, the copy 4×3, floats
    "linear_portable_fp32": ([32 + 48, 32 + 48 + 24], 0),
    # a delegate [0 → 1], cumsum [1 → 2], a delegate [2 → 5]: 2×4, 2×3, 2×3, 2×2 floats
    "mixed_xnnpack_fp32": ([32 + 24, 24 + 24, 24 + 16], 0),
    "linear_xnnpack_fp32": ([32 + 24], 0),
}
# Keys and values of 2 layers × 2 heads × 64 positions × 16 floats; written in place, by copies at the end, with views.
KEPT = dict.fromkeys(("decoder_plain", "decoder_embedding", "decoder_portable"), 2 * 2 * 2 * 64 * 16 * 4)
# name: boxes as (first instruction, first behind, place, bytes, colour: 1 held where most is in use, 8 not), by flatc
BOXES = {
    "mixed_xnnpack_fp32": [(0, 1, 0, 32, 1), (0, 2, 32, 24, 1), (1, 3, 0, 24, 8), (2, 3, 32, 16, 8)],
    "linear_portable_fp32": [(0, 2, 0, 48, 1), (0, 2, 80, 32, 1), (1, 2, 48, 24, 1)],
}
# The wide drawing has its steps from 60 to 842 and its bytes from 308 up to 48, a line of names above.
LEFT, RIGHT, UPPER, LOWER = 60, 842, 48, 308


def told(path):
    done = subprocess.run([ETPROF, "inspect", path, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["methods"]


for name, (live, kept) in BY_HAND.items():
    memory = told(DATA / f"{name}.pte")[0]["memory"]
    expect(memory["live_bytes"] == live and memory["kept_bytes"] == kept, name, memory)
    expect(memory["peak_bytes"] == max(live) and memory["peak_instruction"] == live.index(max(live)), name, memory)
for name, kept in KEPT.items():
    memory = next(m for m in told(DATA / f"llm/{name}.pte") if m["name"] == "forward")["memory"]
    expect(memory["kept_bytes"] == kept, name, memory["kept_bytes"])
text = subprocess.run([ETPROF, "inspect", DATA / "llm/decoder_portable.pte"], capture_output=True, text=True,
                      check=True).stdout
for words in ("kept          32.8 kB from call to call", "an earlier call       the next call"):
    expect(words in text, "text", words, text)


def drawn(session, page):
    """The wide drawing of a plan on PAGE: its boxes, the line of what is in use, where the mark stands."""
    session.open(page)
    plan = session.run("""var found = Array.from(document.querySelectorAll('figure.chart')).find(function (f) {
        return f.textContent.trim().indexOf('Planned memory of forward') === 0; });
      return found.querySelector('svg.wide').outerHTML;""")
    boxes = [tuple(float(v) for v in found) for found in re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="seg f(\d+)"', plan)]
    line = [(command, [float(v) for v in rest.split()]) for command, rest in
            re.findall(r"([MLH])([\d. ]+)", re.search(r'class="wh" d="([^"]+)"', plan).group(1))]
    return sorted(boxes), line, float(re.search(r'class="s5" d="M([\d.]+)', plan).group(1))


def near(found, expected):
    return len(found) == len(expected) and all(abs(a - b) <= 0.06 for a, b in zip(found, expected))


def check_picture(session, name, page):
    live, most = BY_HAND[name][0], max(place + size for _, _, place, size, _ in BOXES[name])
    step, byte = (RIGHT - LEFT) / len(live), (LOWER - UPPER) / most
    boxes, line, mark = drawn(session, page)
    expected = sorted((LEFT + first * step, LOWER - (place + size) * byte, (end - first) * step, size * byte, colour)
                      for first, end, place, size, colour in BOXES[name])
    expect(len(boxes) == len(expected) and all(map(near, boxes, expected)), name, "boxes", boxes, expected)
    corners = []
    for i, used in enumerate(live):
        corners += [("L" if i else "M", [LEFT + i * step, LOWER - used * byte]), ("H", [LEFT + (i + 1) * step])]
    expect([a for a, _ in line] == [a for a, _ in corners] and
           all(near(a, b) for (_, a), (_, b) in zip(line, corners)), name, "in use", line, corners)
    expect(near([mark], [LEFT + (live.index(max(live)) + 0.5) * step]), name, "the most", mark)


checked = 0
for path in sorted([*DATA.rglob("*.pte"), *CORPUS.glob("*.pte")]):
    for method in told(path):
        memory, planned = method["memory"], sum(method["planned_bytes"])
        if "peak_bytes" in memory:
            expect(0 < memory["peak_bytes"] <= planned, path.name, method["name"], memory["peak_bytes"], planned)
            # What is little is mostly the planner's alignment.
            expect(memory["peak_bytes"] >= 0.7 * planned or planned < 4096, path.name, method["name"],
                   memory["peak_bytes"], planned)
            checked += 1
expect(checked > 20, "too few programs", checked)
if FAILURES:  # which a skip would hide
    finish()
tmp = new_folder()
with browser.Session(browser.find()) as session:
    page = tmp / "page.html"
    for name in BOXES:
        subprocess.run([ETPROF, "analyze", DATA / f"{name}.etdump", "--pte", DATA / f"{name}.pte", "--price", "-o",
                        page], check=True)
        check_picture(session, name, page)
finish(f"{checked} methods")
