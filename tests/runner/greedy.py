# SPDX-License-Identifier: Apache-2.0
"""A text decoder chooses the 64 tokens that eager PyTorch chose, at every level of this CPU, attention written out or
fused; where one differs, the first difference is named: greedy.py ETPROF SOURCE"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
GREEDY = os.path.join(SOURCE, "bench", "llm", "greedy")
DATA = pathlib.Path(SOURCE, "tests", "data", "llm")


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


def speak(name, levels, reference):
    return execute(GREEDY, DATA / f"{name}.pte", "--levels", ",".join(levels), "--prompt", "1", "--tokens", "64",
                   "--reference", reference)


def main():
    check_difference()
    told = execute(ETPROF, "doctor", "levels", "--format", "json", check=True).stdout
    levels = [x["name"] for x in json.loads(told)["levels"] if x["available"] and x["switchable"]][::-1]
    if len(levels) < 2:
        skip("this CPU has one level only")
    eager = json.loads((DATA / "expected.json").read_text())["greedy"]
    expect(len(eager["tokens"]) == 64 and len(set(eager["tokens"])) > 3, "PyTorch says few words", eager["tokens"])
    with tempfile.TemporaryDirectory() as folder:
        said = pathlib.Path(folder, "eager.json")
        said.write_text(json.dumps(eager))
        for name in ("decoder_plain", "decoder_fused"):
            done = speak(name, levels, said)
            expect(done.returncode == 0, name, done.stdout, done.stderr[-500:])
            expect(done.stdout.splitlines()[:-1] == [f"{x} against eager.json: 64 tokens equal" for x in levels], name,
                   done.stdout)
        at = min(range(8), key=lambda i: eager["margins"][i])
        eager["tokens"][at] ^= 1  # not what PyTorch chose: each level is told, and it is no success
        said.write_text(json.dumps(eager))
        done = speak("decoder_plain", levels[:1], said)
        expect(done.returncode == 1 and f"token {at + 1} is {eager['tokens'][at] ^ 1}, not {eager['tokens'][at]}, "
               "which led by " in done.stdout, "another reference", done.returncode, done.stdout)
        said.write_text(json.dumps(eager | {"prompt": [4]}))
        done = speak("decoder_plain", levels[:1], said)
        expect(done.returncode == 2 and "after [4], asked for 64 after [3]" in done.stderr, "another prompt",
               done.returncode, done.stderr)
    finish()


main()
