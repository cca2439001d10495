# SPDX-License-Identifier: Apache-2.0
"""Runs each fuzz target for a while, one after the other at the lowest priority, and adds what it executed to the
totals.

usage: nightly.py BIN TOTALS SECONDS [TARGET …]

BIN holds fuzz_NAME of the preset "fuzz". TOTALS (totals.tsv) has a line per target: executions, seconds,
findings. New inputs are kept beside TOTALS in corpus-grown/NAME and begin the next night; inputs that end a target
are kept in findings/. Exit code 1: a target ended badly."""
import os
import pathlib
import re
import subprocess
import sys
import time

BIN, TOTALS, SECONDS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
GROWN, FINDINGS = TOTALS.parent / "corpus-grown", TOTALS.parent / "findings"


def read():
    rows = [line.split("\t") for line in TOTALS.read_text().splitlines()[1:]] if TOTALS.exists() else []
    return {name: [int(n) for n in numbers] for name, *numbers in rows}


def write(totals):
    rows = ["\t".join(map(str, (name, *counts))) for name, counts in sorted(totals.items())]
    lines = ["target\texecutions\tseconds\tfindings", *rows]
    new = TOTALS.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n")
    new.replace(TOTALS)


def run(name):
    grown = GROWN / name
    grown.mkdir(parents=True, exist_ok=True)
    FINDINGS.mkdir(exist_ok=True)
    begin = time.monotonic()
    done = subprocess.run([str(BIN / f"fuzz_{name}"), f"-max_total_time={SECONDS}", "-print_final_stats=1",
                           "-rss_limit_mb=2048",
                           "-timeout=30", f"-artifact_prefix={FINDINGS}/{name}-", str(grown), str(CORPUS / name)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace", check=False)
    executed = (re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
                or re.findall(r"^#(\d+)", done.stderr, re.M))
    if done.returncode != 0 or not executed:
        print(f"{name}: exit code {done.returncode}\n{done.stderr[-4000:]}", flush=True)
    failed = int(done.returncode != 0 or not executed)
    return int(executed[-1]) if executed else 0, round(time.monotonic() - begin), failed


os.nice(15)
bad = 0
for target in sys.argv[4:] or sorted(p.name[5:] for p in BIN.glob("fuzz_*") if os.access(p, os.X_OK)):
    found = run(target)
    everything = read()  # anew: another one may run beside this one
    everything[target] = [a + b for a, b in zip(everything.get(target, [0, 0, 0]), found)]
    write(everything)
    bad += found[2]
    print(f"{target}: {found[0]} executions in {found[1]} s, {everything[target][0]} so far", flush=True)
sys.exit(bad > 0)
