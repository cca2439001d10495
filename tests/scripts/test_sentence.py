# SPDX-License-Identifier: Apache-2.0
"""No shell script of the tree ends without a sentence: into a copy of each a command is planted that fails as silently
as one can, first of all and inside its own functions, and the copy must name file, line and command.
usage: test_sentence.py PROJECT"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

ROOT = pathlib.Path(sys.argv[1]).resolve()
FOLDERS = ("scripts", "model_profiling/scripts", ".ci", "bench")
# What the whole project died of once: a program that is not there, at the head of a pipe, into a variable.
PLANT = "planted=$(no-such-program-at-all --version 2>/dev/null | sed -n 1p)"


def shell_scripts():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and re.match(rb"#!.*\bbash\b", path.open("rb").readline()):
                yield path.relative_to(ROOT)


def run(tree, script, *words, **env):
    return execute("bash", tree / script, *words, cwd=tree, stdin=subprocess.DEVNULL,
                   env={k: v for k, v in os.environ.items() if not k.startswith("ETPROF_")} | env)


def said(done, script, line, what):
    expect(done.returncode == 127, script, what, f"exit {done.returncode}", done.stderr[-500:])
    sentence = [s for s in done.stderr.splitlines() if re.search(rf"{re.escape(script.name)}: line {line}: ", s)]
    expect(len(sentence) == 1, script, what, f"no one sentence for line {line}", repr(done.stderr[-800:]))
    expect(sentence and "no-such-program-at-all" in sentence[0] and "127" in sentence[0], script, what, sentence)


tree = new_folder()
for name in FOLDERS:
    shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
scripts = list(shell_scripts())
expect(len(scripts) >= 15, f"only {len(scripts)} shell scripts found")
for script in scripts:
    text = (ROOT / script).read_text().splitlines()
    sourced = [n for n, line in enumerate(text) if re.match(r"\. .*/strict\.sh\"?$", line)]
    expect(len(sourced) == 1, script, "does not source strict.sh once")
    if not sourced:
        continue
    before = [s for s in text[:sourced[0]] if s.strip() and not s.startswith("#") and not s.startswith("cd ")]
    expect(not before, script, "does something before it sources strict.sh", before)
    # First of all.
    planted = [*text[:sourced[0] + 1], PLANT, *text[sourced[0] + 1:]]
    (tree / script).write_text("\n".join(planted) + "\n")
    said(run(tree, script), script, sourced[0] + 2, "first of all")
    # In a function, which is called at the end of what has been read by then.
    planted = [*text[:sourced[0] + 1], "deep() {", "    local planted", f"    {PLANT}", "    return 0", "}",
               "deep", *text[sourced[0] + 1:]]
    (tree / script).write_text("\n".join(planted) + "\n")
    said(run(tree, script), script, sourced[0] + 4, "in a function")
    shutil.copy(ROOT / script, tree / script)
# A subshell hands its failure on, and one sentence comes of it; one that was foreseen is none.
probe = tree / "scripts" / "probe"
for body, line in (("( cd / && no-such-program-at-all 2>/dev/null )", 3),
                   ("cat <(true) | no-such-program-at-all 2>/dev/null", 3)):
    probe.write_text(f'#!/usr/bin/env bash\n. "$(dirname "${{BASH_SOURCE[0]}}")/strict.sh"\n{body}\n')
    said(run(tree, probe.relative_to(tree)), pathlib.Path("scripts/probe"), line, body)
probe.write_text('#!/usr/bin/env bash\n. "$(dirname "${BASH_SOURCE[0]}")/strict.sh"\nfalse || true\nif false; then '
                 ':; fi\n! true || echo fine\n')
done = run(tree, "scripts/probe")
expect(done.returncode == 0 and not done.stderr, "foreseen failures", done.stderr)
# The very case: no cmake and no ninja anywhere. Python's environment is a stand-in, pip notes what it is asked.
tools = tree / "tools"
tools.mkdir()
for name in ("bash", "sed", "sort", "head", "mkdir", "dirname", "env", "rm", "ln", "uname", "printf", "cat"):
    (tools / name).symlink_to(shutil.which(name))
(tools / "python3").write_text(
    "#!/usr/bin/env bash\n"
    'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n'
    'if [ "$2" = pip ]; then echo "$*" >>"$PIP_LOG"; fi\nexit 0\n')
(tools / "python3").chmod(0o755)
(tools / "cp").symlink_to(shutil.which("cp"))
probe.write_text('#!/usr/bin/env bash\n. "$(dirname "${BASH_SOURCE[0]}")/strict.sh"\n'
                 '. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"\nmake_venv\necho "goes on"\n')
done = execute(shutil.which("bash"), probe, cwd=tree,
               env={"PATH": str(tools), "HOME": str(tree), "PIP_LOG": str(tree / "pip.log")})
expect(done.returncode == 0 and "goes on" in done.stdout, "without cmake", done.returncode, done.stderr)
asked = (tree / "pip.log").read_text() if (tree / "pip.log").exists() else ""
expect("--require-hashes" in asked and "requirements/build.txt" in asked, "without cmake",
       f"pip was asked: {asked!r}")
# And where pip cannot give it, a sentence says what to do.
shutil.rmtree(tree / ".venv", ignore_errors=True)
text = (tools / "python3").read_text()
(tools / "python3").write_text(text.replace('>>"$PIP_LOG"; fi', '>>"$PIP_LOG"; exit 1; fi'))
done = execute(shutil.which("bash"), probe, cwd=tree,
               env={"PATH": str(tools), "HOME": str(tree), "PIP_LOG": str(tree / "pip.log")})
expect(done.returncode == 5 and "cmake 3.28 or newer" in done.stderr, "pip gives nothing", done.returncode,
       done.stderr)
finish(f"{len(scripts)} scripts")
