# SPDX-License-Identifier: Apache-2.0
"""Holds every #include between rooms against the DEPS declared in their CMakeLists.txt, and keeps
files inside their size limit. Usage: check_layers.py SOURCE_DIR ROOMS_TXT"""
import pathlib
import re
import sys

LIMIT = 800
BANNED_NAMES = re.compile(r"^(utils?|misc|common|helpers?)\.")
BANNED_CALLS = re.compile(r"\b(system|popen|strcpy|strcat|sprintf|strtok|atoi|gets)\s*\(")
PLATFORM = re.compile(r"#\s*(?:el)?if.*(__linux__|__APPLE__|__ANDROID__|_WIN32)")
# isa describes processors and is compiled into runner and launcher too, so it may ask which one.
PLATFORM_ROOMS = {"os", "isa"}


def main() -> int:
    root, rooms_txt = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    allowed = {}
    for line in rooms_txt.read_text().splitlines():
        name, _, deps = line.partition(":")
        allowed[name] = set(deps.split()) | {name, "base"}
    problems = []
    files = [p for p in sorted((root / "src").rglob("*.[ch]"))]
    for path in files:
        room = path.relative_to(root / "src").parts[0]
        text = path.read_text()
        lines = text.splitlines()
        where = path.relative_to(root)
        if len(lines) > LIMIT:
            problems.append(f"{where}: {len(lines)} lines, limit {LIMIT}")
        if BANNED_NAMES.match(path.name):
            problems.append(f"{where}: name says nothing about the content")
        if not lines or "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            problems.append(f"{where}:1: SPDX line missing")
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s+"(\w+)/', line)
            if include and room != "cli" and include.group(1) not in allowed.get(room, set()):
                problems.append(f"{where}:{number}: room {room} may not use {include.group(1)}")
            if BANNED_CALLS.search(line):
                problems.append(f"{where}:{number}: banned call: {line.strip()}")
            if PLATFORM.search(line) and room not in PLATFORM_ROOMS:
                problems.append(f"{where}:{number}: platform test outside src/os")
    for problem in problems:
        print(problem)
    print(f"{len(files)} files in {len(allowed)} rooms, {len(problems)} problems")
    return 1 if problems or not files else 0


sys.exit(main())
