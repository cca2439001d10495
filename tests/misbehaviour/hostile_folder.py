# SPDX-License-Identifier: Apache-2.0
"""Run folders whose members lead out of them (symbolic links, to files, to folders, to nothing) or never end (FIFOs):
every verb refuses them, within seconds, and nothing outside is read or written.

usage: hostile_folder.py ETPROF FAKE_RUNNER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders
from checks import execute, expect, finish, new_folder

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
SECRET = b"secret-of-another-folder\n"
VERBS = [("analyze", "--full", "--renew"), ("verify",), ("validate",), ("stats",), ("kernels",),
         ("gate", "noise <= 1 %"),
         ("convert", "--to", "parquet", "--output", "out.parquet"),
         ("rerun",),
         ("explain", "F1"), ("whatif", "drop X"), ("ab", "--resume")]
MEMBERS = ["samples.csv", "environment.jsonl", "manifest.json", "derived.json", "report.json", "report.html",
           "roofs.json",
           "session.lock", "arm0/mixed_xnnpack_fp32_arm0_t1.etdump", "arm0/mixed_xnnpack_fp32_arm0_t1.log",
           "arm0/outputs/outputs.json", "program/mixed_xnnpack_fp32.pte", "arm1", "program", "notes.txt",
           "arm0/outputs"]


def call(directory, verb):
    args = [ETPROF, verb[0], *(["F1", "run"] if verb[0] == "explain" else [*verb[1:], "run"] if verb[0] == "ab"
                               else ["run", *verb[1:]])]
    try:
        return execute(*args, cwd=directory, stdin=subprocess.DEVNULL, text=False)
    except subprocess.TimeoutExpired:
        return None


def replace(path, outside, kind):
    path.parent.mkdir(parents=True, exist_ok=True)
    is_dir = path.is_dir()
    if is_dir:
        shutil.copytree(path, outside / "folder", dirs_exist_ok=True)
        shutil.rmtree(path)
    elif path.exists():
        shutil.copy(path, outside / "file")
        path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "dangling":
        path.symlink_to(outside / "new")
    else:
        path.symlink_to(outside / ("folder" if is_dir else "file"))


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
            and not p.is_symlink()}


def case(base, member, kind, state):
    tmp = new_folder()
    work, outside = tmp / "work", tmp / "outside"
    (outside / "folder").mkdir(parents=True)
    work.mkdir()
    (outside / "file").write_bytes(SECRET)
    shutil.copytree(base, work / "run")
    if state != "finished":
        text = (work / "run/manifest.json").read_text()
        (work / "run/manifest.json").write_text(text.replace('"state": "finished"', f'"state": "{state}"'))
    replace(work / "run" / member, outside, kind)
    before = contents(outside)
    for verb in VERBS if state == "finished" else [("ab", "--resume"), ("analyze", "--renew")]:
        done = call(work, verb)
        what = f"{verb[0]} with {member} as {kind} ({state})"
        expect(done is not None, what, "hangs")
        if done is None:
            continue
        expect(done.returncode not in (0, 3) and done.returncode > 0, what, f"exit {done.returncode}")
        expect(contents(outside) == before, what, "changed something outside the folder")
        before = contents(outside)
        expect(not (work / "out.parquet").exists(), what, "made a file")


def linked_folder_is_fine(base):
    """The folder itself may be named through a link: the user did."""
    with tempfile.TemporaryDirectory() as tmp:
        shutil.copytree(base, pathlib.Path(tmp) / "real")
        (pathlib.Path(tmp) / "run").symlink_to("real")
        for verb in (("analyze", "--full", "--renew"), ("verify",), ("validate",)):
            done = call(tmp, verb)
            expect(done is not None and done.returncode in (0, 1), "a link to the folder", verb, done and done.stderr)


def main():
    tmp = new_folder()
    base = run_folders.make(tmp / "base", 2)
    execute(ETPROF, "analyze", "--full", "--renew", "base", cwd=tmp, check=True, text=False)
    for member in MEMBERS:
        for kind in ("link", "dangling", "fifo"):
            case(base, member, kind, "finished")
    for member in MEMBERS[:2] + MEMBERS[7:8] + MEMBERS[8:9]:
        for kind in ("link", "dangling", "fifo"):
            case(base, member, kind, "interrupted")
    linked_folder_is_fine(base)
    finish()


main()
