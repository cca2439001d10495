# SPDX-License-Identifier: Apache-2.0
"""A host that never answers, or that never stops: connecting over ssh has a deadline and a budget too.

usage: connecting.py ETPROF"""
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = str(pathlib.Path(__file__).resolve().parents[1] / "data" / "linear_xnnpack_fp32.pte")
CONNECT_S = 30  # CONNECT_NS of src/device/ssh.c
# What the client does, at which of its calls; whether it has to be noticed at once.
CLIENTS = {
    "silent about its configuration": ("-G", "sleep 600", False),
    "silent while it connects": ("-M", "sleep 600", False),
    "a word now and then": ("-M", "while :; do echo x; sleep 1; done", False),
    "deaf to signals": ("-M", "trap '' TERM INT HUP; while :; do sleep 1; done", False),
    "a configuration without end": ("-G", "exec yes", True),
    "a greeting without end": ("-M", "exec yes", True),
    "errors without end": ("-M", "exec yes >&2", True),
    "a farewell without end": ("-O", "exec yes", True),
}


def start(folder, call, does, *words):
    folder.mkdir()
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\ncase " $* " in *" {call} "*) {does};; *" -G "*|*" -M "*) exit 0;; esac\nexit 255\n')
    ssh.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.Popen([ETPROF, *(words or ["roofs"]), "--device", "ssh:board"], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


tmp = new_folder()
began = time.monotonic()
children = {what: start(tmp / str(i), *does[:2]) for i, (what, does) in enumerate(CLIENTS.items())}
for what, child in sorted(children.items(), key=lambda c: not CLIENTS[c[0]][2]):
    out, err = child.communicate(timeout=300)
    took = time.monotonic() - began
    expect(child.returncode == 5, what, child.returncode, out, err)
    expect("ssh board" in err and "connection" in err, what, err)
    expect(took < CONNECT_S - 5 if CLIENTS[what][2] else took < 4 * CONNECT_S, what, "took", round(took, 1), "s")
began = time.monotonic()
hurried = start(tmp / "hurried", "-M", "sleep 600", "ab", MODEL, "--timeout", "2")
out, err = hurried.communicate(timeout=300)
took = time.monotonic() - began
expect(hurried.returncode == 5 and "ssh board" in err and took < CONNECT_S - 5, "--timeout", took, out, err)
finish()
