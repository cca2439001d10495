# SPDX-License-Identifier: Apache-2.0
"""Is the list of a session's options in docs/options.md that of src/store/options.def, and does the help of each verb
show just its options? What is typed of them comes to the Python package, where that carries the verb out.
Usage: check_option_list.py SOURCE_DIR ETPROF, or SOURCE_DIR --write to write the list."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS = "where field type key limit ab run fix resume name letter arg help".split()
VERBS = ("ab", "run", "fix")
OWN = {"fix": {"out", "runner", "trust"}}  # options of the verb that mean something else
TYPED = {"TEXT": ("x", "x"), "COUNT": ("3", "3"), "RATIO": ("0.5", "0.5%"), "TIME": ("1.5h", "5400s"),
         "FLAG": (None, None)}  # and what the package is given


def split(text):
    """The arguments of one OPTION(...): commas inside texts do not separate."""
    parts = re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^",])+', text)
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', p)) if '"' in p else p.strip(" ()\n") for p in parts]


def rows(source):
    text = (source / "src/store/options.def").read_text()
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    found = []
    for call in re.findall(r"OPTION\((.*?)\)\n(?=OPTION|#undef)", text, flags=re.S):
        row = dict(zip(COLUMNS, split(call), strict=True))
        found.append(row)
    return found


def page_of(options):
    lines = ["| Option | manifest | with `--resume` | |", "|---|---|---|---|"]
    for o in options:
        if not any(o[v] == "1" for v in VERBS):
            continue
        short = f"`-{o['letter'].strip(chr(39))}`, " if o["letter"] != "0" else ""
        arg = "" if o["arg"] == "NULL" else " " + o["arg"]
        place = {"PLAN": "plan.", "REQUESTED": "plan.asked."}.get(o["where"])
        cells = [f"{short}`--{o['name']}{arg}`", f"`{place}{o['key']}`" if place else "",
                 "✓" if o["resume"] == "1" else "", o["help"].replace("|", "\\|")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def given(etprof, verb, options, folder):
    """The words that the package is started with when all of the OPTIONS are typed."""
    fake = folder / "python"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    words = [f"--{o['name']}" + (f"={TYPED[o['type']][0]}" if TYPED[o["type"]][0] else "") for o in options]
    done = subprocess.run([etprof, verb, str(folder), *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "ETPROF_PYTHON": str(fake)})
    return done.stdout.splitlines() or [f"exit {done.returncode}: {done.stderr}"]


def main():
    source = pathlib.Path(sys.argv[1])
    options = rows(source)
    page = source / "docs/options.md"
    head, mark, old = page.read_text().partition("<!-- made by tests/tools/check_option_list.py --write -->\n")
    new = page_of(options)
    if sys.argv[2:] == ["--write"]:
        page.write_text(head + mark + new)
        return 0
    problems = []
    if not mark or old != new:
        problems.append("docs/options.md is not what options.def says: run check_option_list.py . --write")
    for verb in VERBS:
        text = subprocess.run([sys.argv[2], "help", verb], capture_output=True, text=True, check=True).stdout
        shown = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", text, flags=re.M))
        for o in options:
            if o["name"] not in OWN.get(verb, ()) and (o["name"] in shown) != (o[verb] == "1"):
                problems.append(f"help {verb}: --{o['name']} is {'there' if o['name'] in shown else 'missing'}")
            if o[verb] == "1" and o["help"] not in " ".join(text.split()):
                problems.append(f"help {verb}: --{o['name']} has another text")
    for verb in VERBS[1:]:
        mine = [o for o in options if o[verb] == "1"]
        with tempfile.TemporaryDirectory() as folder:
            words = given(sys.argv[2], verb, mine, pathlib.Path(folder))
        for o in mine:
            value = TYPED[o["type"]][1]
            if f"--{o['name']}" + (f"={value}" if value else "") not in words:
                problems.append(f"{verb} --{o['name']}: the package is given {' '.join(words)}")
    print(*problems, f"{len(options)} options, {len(problems)} problems", sep="\n")
    return 1 if problems or len(options) < 20 else 0


sys.exit(main())
