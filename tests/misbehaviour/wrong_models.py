# SPDX-License-Identifier: Apache-2.0
"""Files that are no program, and a program without its weights: one line says what they are and what to do, before the
runner is started.

usage: wrong_models.py ETPROF SOURCE_ROOT"""
import os
import pathlib
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

ETPROF, ROOT = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
EXTERNAL = pathlib.Path(ROOT, "tests/data/linear_portable_fp32_external.pte")


def main():
    tmp = new_folder()
    runner = tmp / "etprof-runner"
    runner.write_text(f"#!/bin/sh\ntouch '{tmp}/started'\nexit 3\n")
    runner.chmod(0o755)
    for suffix in ("pt", "pt2"):
        with zipfile.ZipFile(tmp / f"m.{suffix}", "w") as archive:
            archive.writestr("archive/data.pkl", b"x")
    (tmp / "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(16))
    (tmp / "m.py").write_text("import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n")
    (tmp / "short.pte").write_bytes(b"ET12")
    (tmp / "empty.pte").write_bytes(b"")
    (tmp / "m.ptd").write_bytes(pathlib.Path(ROOT, "tests/data/linear_external.ptd").read_bytes())
    cases = (("m.pt", 4, "a zip archive, as torch.save and torch.export write them"),
             ("m.pt2", 4, "export it to a .pte first"),
             ("m.tflite", 4, "a LiteRT (TensorFlow Lite) model"),
             ("m.py", 4, "Python source: 'etprof export FILE.py:CLASS'"),
             ("m.ptd", 4, "a .ptd data file"),
             ("short.pte", 4, "only 4 bytes"),
             ("empty.pte", 4, "is empty"),
             (EXTERNAL, 2, "keeps weights in data files (.ptd): 2 of 2 tensors are missing (fc.weight, fc.bias)"))
    for model, code, words in cases:
        for verb in ("ab",):
            done = execute(ETPROF, verb, model, "--runner", runner, "--out", tmp / "out", cwd=tmp,
                           stdin=subprocess.DEVNULL, env={**os.environ, "HOME": str(tmp)})
            what = f"{verb} {pathlib.Path(model).name}"
            expect(done.returncode == code, what, "exit code", done.returncode, "expected", code)
            expect(words in done.stderr, what, "says", done.stderr)
            expect(len(done.stderr.splitlines()) == 1, what, "says more than a line", done.stderr)
            expect(not (tmp / "started").exists(), what, "started the runner")
            (tmp / "started").unlink(missing_ok=True)
    done = execute(ETPROF, "ab", EXTERNAL, "--data", tmp / "m.ptd", "--runner", runner, "--out", tmp / "o", cwd=tmp)
    expect((tmp / "started").exists(), "with its weights the runner is not started", done.stderr)
    finish(f"{len(cases)} files are told apart before anything is launched")


if __name__ == "__main__":
    main()
