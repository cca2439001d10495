# SPDX-License-Identifier: Apache-2.0
"""Runs one golden case of the command line.

usage: run_case.py ETPROF CASE_DIR [--update]

A case is a folder with `cmd` (a line of arguments, split like a shell does but run without one) and
the expected `stdout`, `stderr` and `exit` (absent = empty, 0). In cmd, @DATA@ is tests/data and
@TMP@ a new empty folder; both are written back as such in the output before comparing. A line of
`stdout` or `stderr` that is "..." stands for any number of lines. A case of a verb in Python is skipped where a package
that `scripts/check` installs (with --quick it does not) is missing."""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def matches(expected: str, actual: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*" if line == "...\n" else re.escape(line)
        for line in expected.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, actual) is not None


def main() -> int:
    etprof, case = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    update = "--update" in sys.argv[3:]
    data = str(case.resolve().parent.parent / "data")
    with tempfile.TemporaryDirectory() as tmp:
        words = shlex.split((case / "cmd").read_text(), comments=True)
        words = [w.replace("@DATA@", data).replace("@TMP@", tmp) for w in words]
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([etprof, *words], cwd=tmp, env=env, capture_output=True, timeout=600,
                              stdin=subprocess.DEVNULL, check=False)
        found = {}
        for name, raw in (("stdout", done.stdout), ("stderr", done.stderr)):
            text = raw.decode("utf-8", "backslashreplace")
            found[name] = text.replace(tmp, "@TMP@").replace(data, "@DATA@")
        found["exit"] = f"{done.returncode}\n"
    lacks = re.search(r"\w+ needs the Python package \w+", found["stderr"])
    wanted = (case / "stderr").read_text() if (case / "stderr").exists() else ""
    if lacks and lacks[0] not in wanted:
        print(f"skipped: {lacks[0]}")
        return 77
    failed = False
    for name, text in found.items():
        path = case / name
        default = "0\n" if name == "exit" else ""
        expected = path.read_text() if path.exists() else default
        if update and not matches(expected, text):
            if text == default:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
        elif not matches(expected, text):
            failed = True
            print(f"--- {name} expected\n{expected}--- {name} found\n{text}---")
    return int(failed)


sys.exit(main())
