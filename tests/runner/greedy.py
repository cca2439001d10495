#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A text decoder chooses the same 64 tokens at every level of this CPU, attention written out or fused; where levels
differ, the first difference is named: greedy.py ETPROF SOURCE"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
GREEDY = os.path.join(SOURCE, "bench", "llm", "greedy")


def module():
    sys.dont_write_bytecode = True  # it has no suffix: nothing of it belongs beside it
    loader = importlib.machinery.SourceFileLoader("greedy", GREEDY)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("greedy", loader))
    loader.exec_module(made)
    return made


def check_difference():
    same = ([5, 6, 7, 5], [0.5, 0.25, 0.125, 1.0])
    other = ([5, 6, 2, 9], [0.5, 0.25, 0.125, 1.0])
    lines, different = module().compare({"sse": same, "avx2": other, "vnni": same})
    expect(different and lines == ["avx2 against sse: token 3 is 2, not 7, which led by 0.125",
                                   "vnni against sse: 4 tokens equal",
                                   "3 different tokens; the closest was decided by 0.125"], "a difference", lines)
    expect(not module().compare({"sse": same, "vnni": same})[1], "no difference", "is told")


def main():
    check_difference()
    told = subprocess.run([ETPROF, "levels", "--format", "json"], capture_output=True, text=True, check=True).stdout
    levels = [x["name"] for x in json.loads(told)["levels"] if x["available"] and x["switchable"]][::-1]
    if len(levels) < 2:
        skip("this CPU has one level only")
    for name in ("decoder_plain", "decoder_fused"):
        done = subprocess.run([GREEDY, os.path.join(SOURCE, "tests", "data", "llm", f"{name}.pte"), "--levels",
                               ",".join(levels), "--prompt", "1", "--tokens", "64"], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        expect(done.returncode == 0, name, done.stdout, done.stderr[-500:])
        expect(lines[:-1] == [f"{x} against {levels[0]}: 64 tokens equal" for x in levels[1:]], name, lines)
        expect(lines and int(lines[-1].split()[0]) > 1, name, "says one word for ever", lines)
    finish()


main()
