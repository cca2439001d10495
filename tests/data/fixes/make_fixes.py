#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records one program before each kind of fix: what the test answer_fixes reads.

usage: tests/data/fixes/make_fixes.py ETPROF [--artifacts DIR]

Programs are those of bench/fixes/models.py, kept as run folders keep them (weights left out); two
recordings each of five inferences, at the best level of this machine, one thread. Times are those of
the machine they were recorded on; the test asks for structure, not for times."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = {
    "batch_norm": ["BatchNorm"],
    "batch_norm_portable": ["NormLayer", "--backend", "portable"],
    "reshape_chain": ["ReshapeChain"],
    "border_layout": ["BorderLayout"],
    "broadcast": ["Broadcast", "--no-transforms"],
    "clash": ["Clash"],
    "islands": ["Islands", "--dtype", "int8"],
    "layer_norm": ["Undelegated"],
    "odd_sizes": ["OddSizes"],
    "recurrent": ["Recurrent"],
    "unbind": ["Unbind"],
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("etprof")
    parser.add_argument("--artifacts", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="only these")
    args = parser.parse_args()
    env = {"ETPROF_RUNNER": str(ROOT / "build/bundle" / f"{os.uname().machine}-linux-gnu"), **os.environ}
    for name, what in PROGRAMS.items():
        if args.names and name not in args.names:
            continue
        with tempfile.TemporaryDirectory() as tmp:
            folder = (args.artifacts or pathlib.Path(tmp)) / "-".join(w.lstrip("-") for w in what)
            if not list(folder.glob("*.pte")):
                subprocess.run([args.etprof, "export", f"{ROOT}/bench/fixes/models.py:{what[0]}", *what[1:], "--quiet",
                                "--outdir", folder], check=True)
            run = pathlib.Path(tmp) / "run"
            subprocess.run([args.etprof, "ab", next(folder.glob("*.pte")), "--levels", best(args.etprof), "--blocks",
                            "2",
                            "--iterations", "5", "--quiet", "--out", run, "--format", "json"],
                           check=True, env=env, stdout=subprocess.DEVNULL)
            shutil.copyfile(next((run / "program").glob("*.pte")), HERE / f"{name}.pte")
            for dump in run.glob("*/*.etdump"):
                block = "_b2" if dump.stem.endswith("_b2") else ""
                shutil.copyfile(dump, HERE / f"{name}{block}.etdump")


def best(etprof):
    out = subprocess.run([etprof, "doctor", "levels", "--format", "json"], capture_output=True, check=True).stdout
    return next(level["name"] for level in json.loads(out)["levels"] if level["available"])


if __name__ == "__main__":
    main()
