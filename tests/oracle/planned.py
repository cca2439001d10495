# SPDX-License-Identifier: Apache-2.0
"""Planned memory in use at each instruction, as `etprof inspect` tells it: worked out by hand for the small fixtures,
from flatc's reading of them; and never more than the arenas that ExecuTorch's planner made, of which it fills most.

usage: planned.py ETPROF SOURCE_DIR"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

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
finish(f"{checked} methods")
