# SPDX-License-Identifier: Apache-2.0
"""A working directory full of programs and Python modules that etprof could take for its own: none may run.

usage: workdir.py ETPROF"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

etprof = str(pathlib.Path(sys.argv[1]).resolve())
PROGRAMS = (".cache/qemu/root/usr/bin/qemu-aarch64", ".venv/bin/python", ".venv/bin/python3", "etprof", "etprof-launch",
            "etprof-runner", "qemu-aarch64", "qemu-aarch64-static", "adb", "ssh", "python3", "python", "pip")
# What Python, pip, venv and our own package import, and names that only packages have.
MODULES = ("argparse", "json", "importlib", "runpy", "site", "sitecustomize", "usercustomize", "subprocess", "tempfile",
           "pathlib", "venv", "ensurepip", "pip", "etprof", "registry", "errors", "models", "torch", "executorch",
           "torchao", "torchvision", "numpy", "dataclasses", "signal", "logging")
VERBS = (("--version",), ("doctor", "levels"), ("doctor", "devices"), ("doctor",),
         ("validate", "setup"), ("models",), ("skills",),
         ("models", "--format", "json"), ("export", "--help"), ("export", "toy_cnn", "--dtype", "int8"))


def hostile(folder, marks):
    for name in PROGRAMS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # It answers as the real ones do, so that whoever starts it goes on to use it.
        path.write_text(f"#!/bin/sh\n: >'{marks}/{name.replace('/', '_')}'\necho 'qemu-aarch64 version 10.1.0'\n")
        path.chmod(0o755)
    (folder / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    for name in MODULES:
        text = f"open({str(marks / (name + '.py'))!r}, 'w').close()\nraise SystemExit('hostile {name}')\n"
        (folder / f"{name}.py").write_text(text)


def run(words, cwd, **env):
    done = execute(etprof, *words, cwd=cwd, env=env, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


top = new_folder()
where, marks, home = (top / name for name in ("here", "marks", "home"))
for folder in (where, marks, home):
    folder.mkdir()
# No index: the exporter's set-up runs up to the point where it would fetch something.
env = {"HOME": str(home), "LC_ALL": "C.UTF-8", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null",
       "ETPROF_VENV": str(home / "venv")}
system = ":".join(p for p in os.environ["PATH"].split(":") if p.startswith("/"))
usual = {words: run(words, home, PATH=system, **env)[0] for words in VERBS}
hostile(where, marks)
for path in ("$PATH", ".:$PATH", ":$PATH", "$PATH:"):
    for words in VERBS:
        code, text = run(words, where, PATH=path.replace("$PATH", system), **env)
        what = f"PATH={path} etprof {' '.join(words)}"
        found = sorted(p.name for p in marks.iterdir())
        expect(not found, what, "these ran", " ".join(found))
        expect(code == usual[words], what, f"{code}, elsewhere {usual[words]}", text[-300:])
        for p in marks.iterdir():
            p.unlink()
# An empty entry of PYTHONPATH is the working directory, and nobody means that.
for words in (("models",), ("export", "toy_cnn")):
    run(words, where, PATH=system, PYTHONPATH=":" + str(home), **env)
    expect(not list(marks.iterdir()), "PYTHONPATH=: etprof", *words, [p.name for p in marks.iterdir()])
# The check can fail: what is asked for does run.
run(("export", "toy_cnn", "--python", "./python3"), where, PATH=system, **env)
expect([p.name for p in marks.iterdir()] == ["python3"], "--python ./python3 is asked for", list(marks.iterdir()))
shutil.rmtree(marks)
finish()
