# SPDX-License-Identifier: Apache-2.0
"""Every program of bench/ is in bench/README.md and answers --help at once, with its usage and its goal or purpose:
also where no Python package is installed, since whoever asks for help has not yet read what is needed.

usage: bench_help.py PROJECT"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
failures = 0
listed = set(re.findall(r"`(bench/[^ `]+)", (ROOT / "bench/README.md").read_text()))
there = {str(p.relative_to(ROOT)) for p in (ROOT / "bench").rglob("*") if p.is_file() and os.access(p, os.X_OK)}
bare = tempfile.TemporaryDirectory(prefix="etprof-bench-help-")
python = pathlib.Path(bare.name) / "python3"
python.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -S \"$@\"\n") # without site-packages
python.chmod(0o755)
os.environ["PATH"] = bare.name + os.pathsep + os.environ["PATH"]
for program in sorted(listed | there):
    if program not in listed or program not in there:
        failures += 1
        print(f"{program}: {'not in bench/README.md' if program in there else 'no executable file'}")
        continue
    try:
        done = subprocess.run([ROOT / program, "--help"], capture_output=True, text=True, timeout=600, cwd=ROOT,
                              check=False)
    except subprocess.TimeoutExpired:
        failures += 1
        print(f"{program} --help: began to work")
        continue
    if done.returncode or f"usage: {program}" not in done.stdout.replace(".venv/bin/python ", "") or done.stderr:
        failures += 1
        print(f"{program} --help: exit {done.returncode}\n{done.stdout[:300]}{done.stderr[-300:]}")
print(f"{failures} failures" if failures else f"{len(listed)} programs")
sys.exit(1 if failures else 0)
