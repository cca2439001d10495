#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_readme.py ETPROF TREE FAKE_RUNNER [--write]: what README shows as the answer of a session is what this tool
prints of it, and its eight commands work as they are written.

tests/data/session.tar.xz is that session as it was measured, but for three things: its recordings are not compressed
each by itself, the folder it was measured in reads /home/user/etprof, and the outputs are left out. Those of both arms
had the same SHA-256, which the manifest keeps and this test looks at; any two equal files stand in for them.
With --write README's block is renewed."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder  # noqa: E402

ETPROF, TREE, FAKE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
README = TREE / "README.md"
FOLDER = "out_image_encoder/runs/linux"


def unpack(tmp):
    with tarfile.open(TREE / "tests/data/session.tar.xz") as archive:
        archive.extractall(tmp / FOLDER)
    manifest = json.loads((tmp / FOLDER / "manifest.json").read_text())
    hashes = {}
    for file in manifest["files"]:
        if "/outputs/" in file["path"]:
            hashes.setdefault(pathlib.Path(file["path"]).name, set()).add(file["sha256"])
    expect(set(hashes) == {"output-0.bin", "outputs.json"} and all(len(h) == 1 for h in hashes.values()),
           "the outputs of both arms were the same", hashes)
    for arm in manifest["plan"]["arms"]:
        outputs = tmp / FOLDER / arm["name"] / "outputs"
        outputs.mkdir()
        (outputs / "output-0.bin").write_bytes(b"\0\0\0\x3f\0\0\x80\x3f" * (32 * 32 * 32))
        (outputs / "outputs.json").write_text(json.dumps({"outputs": [
            {"index": 0, "file": "output-0.bin", "dtype": "float32", "shape": [1, 64, 32, 32],
             "dim_order": [0, 1, 2, 3], "bytes": 4 * 64 * 32 * 32}]}))
    # Of the raw files those that the archive has.
    kept = [f for f in manifest["files"] if (tmp / FOLDER / f["path"]).exists() and "/outputs/" not in f["path"]]
    (tmp / FOLDER / "manifest.json").write_text(json.dumps({**manifest, "files": kept}))
    return manifest


def show(tmp):
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp), "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
    done = subprocess.run([ETPROF, "analyze", "out_image_encoder"], cwd=tmp, env=env, capture_output=True, timeout=300,
                          check=False)
    expect(done.returncode == 0, "exit", done.returncode, done.stderr.decode())
    return done.stdout.decode()


def commands_of(tmp, text):
    """FOLDER, model.pte, a.pte and b.pte are there under these names; the runner is a fake, whose times mean nothing.
    What exports needs PyTorch: here only that its command is taken."""
    block = re.search(r"## Nine commands\n+```\n(.*?)```", text, re.S).group(1)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    expect(len(commands) == 9 and all(c[0] == "etprof" for c in commands), "nine commands", commands)
    shutil.copytree(tmp / FOLDER, tmp / "FOLDER")
    for name in ("model", "a", "b"):
        shutil.copy(TREE / "examples/models/image_encoder_xnnpack_int8.pte", tmp / f"{name}.pte")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp), "LC_ALL": "C.UTF-8", "COLUMNS": "80", "ETPROF_RUNNER": FAKE}
    for words in commands:
        more = ["-h"] if words[1] in ("export", "fix") else []
        done = subprocess.run([ETPROF, *words[1:], *more], cwd=tmp, env=env, capture_output=True, timeout=600,
                              check=False, stdin=subprocess.DEVNULL)
        expect(done.returncode == 0 and done.stdout, *words, "exit", done.returncode, done.stderr.decode()[-400:])


tmp = new_folder()
command = unpack(tmp)["command"]
printed = show(tmp)
text = README.read_text()
commands_of(tmp, text)
start = text.index("$ etprof ab ")
end = text.index("```", start)
wanted = f"$ {command}\n{printed}"
if "--write" in sys.argv:
    README.write_text(text[:start] + wanted + text[end:])
else:
    expect(text[start:end] == wanted, "README shows another answer; test_readme.py with --write renews it",
           f"\n{wanted}--- README\n{text[start:end]}")
expect(len(printed.splitlines()) <= 30, f"{len(printed.splitlines())} lines")
expect(max(map(len, printed.splitlines())) <= 80, "a line of more than 80 columns")
finish()
