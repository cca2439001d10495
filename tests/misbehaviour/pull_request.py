# SPDX-License-Identifier: Apache-2.0
"""examples/ci/pull_request.sh on a git repository with a commit that makes a model slower, and a comment's size.

usage: pull_request.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
SCRIPT = SOURCE / "examples/ci/pull_request.sh"
OPTIONS = ["--levels", "sme2,neon", "--blocks", "6", "--iterations", "4", "--warmup", "3", "--seed", "7", "--runner",
           FAKE]


def git(*words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True,
                   capture_output=True)


def commit(ns):
    pathlib.Path("model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 %d\nbase neon 3000000\n" % ns)
    git("add", "model.pte")
    git("commit", "--allow-empty", "-m", f"{ns} ns")


def measure(baseline, out):
    done = subprocess.run([SCRIPT, "model.pte", baseline, out, *OPTIONS], capture_output=True, text=True, check=False,
                          env={**os.environ, "ETPROF": str(ETPROF)}, timeout=600)
    path = pathlib.Path(out, "comment.md")
    return done.returncode, path.read_text() if path.is_file() else done.stderr


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    git("init", "-q")
    commit(1000000)
    code, comment = measure("none", "main")
    expect(code == 0 and "faster" in comment, "without a baseline", code, comment)
    commit(1000000)
    code, comment = measure("main/run", "same")
    expect(code == 0, "the same program is not slower", code, comment)
    commit(1300000)
    code, comment = measure("main/run", "slow")
    expect(code == 1, "30 % slower fails", code, comment)
    expect("linux_sme2_on" in comment and "<details>" in comment, comment[:600])
    expect(len(comment.encode()) <= 60000, len(comment))
    expect(subprocess.run([SCRIPT], capture_output=True, check=False).returncode == 2, "usage")
    done = subprocess.run([ETPROF, "analyze", SOURCE / "examples/runs/image_encoder_int8_qemu", "--format", "github"],
                          capture_output=True, check=True)
    expect(5000 < len(done.stdout) <= 60000 and done.stdout.count(b"<details>") == done.stdout.count(b"</details>"),
           "a comment's size", len(done.stdout))
    os.chdir("/")
finish("slower is told, the comment fits")
