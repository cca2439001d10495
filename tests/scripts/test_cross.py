# SPDX-License-Identifier: Apache-2.0
"""Which cross compiler scripts/build-runner takes, and what it says without one. usage: test_cross.py PROJECT"""
import pathlib
import platform
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, new_folder, skip

ROOT = pathlib.Path(sys.argv[1]).resolve()
if platform.machine() in ("aarch64", "arm64") and sys.platform == "linux":
    skip("here aarch64-linux-gnu is no cross build")
NAMES = ("aarch64-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-none-linux-gnu")

tree = new_folder()
shutil.copytree(ROOT / "scripts", tree / "scripts")
# Says which compiler CMake is told, and stops there.
(tree / "scripts/sdk").write_text("#!/bin/sh\necho sdk\n")
tools = tree / "tools"
tools.mkdir()
for name in ("bash", "sed", "dirname", "mkdir", "python3", "rm", "cat", "flock", "sh", "env"):
    if shutil.which(name):
        (tools / name).symlink_to(shutil.which(name))
(tools / "cmake").write_text('#!/bin/sh\n[ "$1" != --version ] || { echo "cmake version 3.30.0"; exit 0; }\n'
                             'echo "$*"\nexit 3\n')
(tools / "cmake").chmod(0o755)

def build(system="Linux-x86_64", *names):
    for name in NAMES:
        for tool in ("gcc", "g++"):
            (tools / f"{name}-{tool}").unlink(missing_ok=True)
            if name in names:
                (tools / f"{name}-{tool}").symlink_to("/bin/sh")
    kernel, machine = system.split("-")
    (tools / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {kernel} || echo {machine}\n')
    (tools / "uname").chmod(0o755)
    return execute(shutil.which("bash"), tree / "scripts/build-runner", "aarch64-linux-gnu",
                   env={"PATH": str(tools), "HOME": str(tree)})

for system in ("Linux-x86_64", "Darwin-arm64"):
    for name in NAMES:
        done = build(system, name)
        expect(f"-DCMAKE_CXX_COMPILER={name}-g++" in done.stderr, system, name, done.returncode, done.stderr[-400:])
    done = build(system, *NAMES)
    expect("-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++" in done.stderr, system, "all", done.stderr[-400:])
    done = ended(build(system), 77, says="no aarch64-linux-gnu-gcc")
    expect(("on a Mac" in done.stderr) == (system == "Darwin-arm64"), system, "none", done.stderr)
finish()
