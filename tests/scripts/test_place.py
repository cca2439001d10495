# SPDX-License-Identifier: Apache-2.0
"""A tree that was moved or copied builds where it stands, with the Python environment that lies in it.
usage: test_place.py PROJECT"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder, skip

ROOT = pathlib.Path(sys.argv[1]).resolve()
for tool in ("cmake", "ninja"):
    if not shutil.which(tool):
        skip(f"no {tool}")

LISTS = """cmake_minimum_required(VERSION 3.28)
project(place LANGUAGES NONE)
file(READ answer.txt answer)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS answer.txt)
file(CONFIGURE OUTPUT answer CONTENT "@answer@ @CMAKE_SOURCE_DIR@")
"""
PRESETS = """{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
 "binaryDir": "${sourceDir}/build/release"}]}"""


def do(tree, words):
    """Runs WORDS after the tree's set-up."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("ETPROF_")}
    done = execute("bash", "-c", f". scripts/strict.sh; . scripts/setup.sh; {words}", cwd=tree,
                   stdin=subprocess.DEVNULL, env=env)
    expect(done.returncode == 0, tree.name, words, done.stderr[-1500:])
    return done


def answer(tree):
    return (tree / "build/release/answer").read_text().split()


folder = new_folder()
first = folder / "first"
(first / "scripts").mkdir(parents=True)
for name in ("setup.sh", "strict.sh"):
    shutil.copy(ROOT / "scripts" / name, first / "scripts")
shutil.copytree(ROOT / "scripts/requirements", first / "scripts/requirements")
(first / "CMakeLists.txt").write_text(LISTS)
(first / "CMakePresets.json").write_text(PRESETS)
(first / "answer.txt").write_text("one")
# The environment has a script of its own, as cmake's and pip's are.
do(first, "python3 -m venv .venv && make_venv && build_preset release")
program = first / ".venv/bin/program"
program.write_text(f"#!{first}/.venv/bin/python\nimport sys\nprint(sys.prefix)\n")
program.chmod(0o755)
expect(answer(first) == ["one", str(first)], answer(first))
# Nothing is built again that stands where it was.
marker = first / "build/release/kept"
marker.write_text("")
do(first, "build_preset release")
expect(marker.exists(), "an unmoved build was thrown away")
# Copied: the old one is still there, and would be built in its place.
second = first.parent / "second"
shutil.copytree(first, second, symlinks=True)
(second / "answer.txt").write_text("two")
said = do(second, "make_venv; build_preset release").stderr
expect("was built for" in said, "says nothing about the old place", said)
expect(answer(second) == ["two", str(second)], "copied", answer(second))
expect(answer(first) == ["one", str(first)], "the copy built in its original", answer(first))
found = execute(second / ".venv/bin/program").stdout.strip()
expect(found == str(second / ".venv"), "a copied environment's program runs in", found)
found = execute(first / ".venv/bin/program").stdout.strip()
expect(found == str(first / ".venv"), "the original environment's program runs in", found)
# Moved: the old one is gone.
third = first.parent / "a third, with spaces"
second.rename(third)
do(third, "make_venv; build_preset release")
expect(answer(third)[0] == "two" and " ".join(answer(third)[1:]) == str(third), "moved", answer(third))
found = execute(third / ".venv/bin/python", third / ".venv/bin/program")
expect(found.stdout.strip() == str(third / ".venv"), "a moved environment's program runs in", found.stdout,
       found.stderr)
# By another name of the same folder it is the same place.
link = first.parent / "link"
link.symlink_to(first)
said = do(link, "build_preset release").stderr
expect(marker.exists() and "was built for" not in said, "a symbolic link to the tree is another place", said)
# So it is in a folder of links to what lies in it, as tests of the set-up make one.
links = first.parent / "links"
links.mkdir()
for path in first.iterdir():
    (links / path.name).symlink_to(path)
said = do(links, "build_preset release").stderr
expect(marker.exists() and "was built for" not in said, "a folder of links to the tree is another place", said)
expect(answer(first) == ["one", str(first)], "a folder of links took the tree's build", answer(first))
finish()
