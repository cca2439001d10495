#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a run folder with many rows of samples out of the example's: two arms, six blocks.

usage: bench/convert/samples.py FOLDER ROWS"""
import json
import pathlib
import random
import sys

RUN = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"
BLOCKS, LEVELS = 6, ("sme2", "neon")


def main(folder, rows):
    rng = random.Random(1)
    m = json.loads((RUN / "manifest.json").read_text())
    m["files"], m["results"], m["blocks_done"] = [], [], BLOCKS
    plan = m["plan"]
    plan["arms"] = [dict(plan["arms"][0], name=level, level=level, prefix=level) for level in LEVELS]
    plan.update(blocks=BLOCKS, baseline=1, iterations=plan["iterations"][:2],
                order=[[b % 2, 1 - b % 2] for b in range(BLOCKS)])
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(m))
    (folder / "environment.jsonl").write_text("")
    each, clock = rows // (BLOCKS * len(LEVELS)), 4065825193551
    with (folder / "samples.csv").open("w") as out:
        out.write("experiment,block,launch,iteration,phase,start_ns,duration_ns\n")
        for launch in range(BLOCKS * len(LEVELS)):
            block = launch // len(LEVELS)
            name = LEVELS[plan["order"][block][launch % len(LEVELS)]]
            for i in range(each):
                took = round(rng.lognormvariate(14, 0.01))
                out.write(f"{name},{block + 1},{launch + 1},{i},{'warmup' if i < 3 else 'timed'},{clock},{took}\n")
                clock += took + 700


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
