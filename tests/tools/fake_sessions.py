# SPDX-License-Identifier: Apache-2.0
"""Sessions of the fake runner (tests/fakes/fake_runner.c), whose "model" is a text that says what it does."""
import json
import pathlib
import platform
import subprocess
import time

from checks import expect

BASE = ("base sme2 1000000", "base neon 3000000")  # ns of an inference at a level


def text(*directives):
    """The bytes of a "model" of DIRECTIVES; without any, of BASE."""
    return b"\x10\0\0\0ET12" + "".join(f"{line}\n" for line in directives or BASE).encode()


def model(path, *directives):
    pathlib.Path(path).write_bytes(text(*directives))
    return pathlib.Path(path)


def words(out="run", levels="sme2,neon", blocks=6, iterations=8, warmup=3):
    """What etprof ab is told beside its model and its runner."""
    return ["--levels", levels, "--blocks", blocks, "--iterations", iterations, "--warmup", warmup, "--seed", 7,
            "--quiet", "--out", out]


def bundle(folder, *start, direct=None, version="1", files=(), **more):
    """A build of a runner that begins with the words START; FILES of it have hashes."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    start = [str(word) for word in start]
    (folder / "bundle.json").write_text(json.dumps(
        {"schema": "etprof.bundle/1", "triple": f"{platform.machine()}-linux-gnu",
         "executorch": {"version": version, "sha": ""}, "start": start, "direct": [str(direct or start[0])], "env": {},
         "bytes": sum(f["bytes"] for f in files), "files": list(files), **more}))


def begun(args, ready, **options):
    """A process of ARGS as soon as READY() holds, whose files may lack or be half written until then."""
    process = subprocess.Popen([str(a) for a in args], **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE,
                                                          "text": True, **options})
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        try:
            if ready():
                return process
        except (OSError, ValueError):
            pass
        time.sleep(0.01)
    expect(False, "never ready", *args)
    return process
