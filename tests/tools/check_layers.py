# SPDX-License-Identifier: Apache-2.0
"""Holds every #include between rooms, that of a public header included, against the DEPS declared in their
CMakeLists.txt (both ways: what is declared is used). Usage: check_layers.py SOURCE_DIR ROOMS_TXT"""
import pathlib
import re
import sys

BANNED_CALLS = re.compile(r"\b(system|popen|strcpy|strcat|sprintf|strtok|atoi|gets)\s*\(")
PLATFORM = re.compile(r"#\s*(?:el)?if.*(__linux__|__APPLE__|__ANDROID__|_WIN32)")
# isa describes processors and is compiled into runner and launcher too, so it may ask which one.
PLATFORM_ROOMS = {"os", "isa"}
PUBLIC = {"formats": "bundled dtype etdump etrecord flat_tensor npz pte xnnpack", "base": "arena bytes error version",
          "convert": "tables", "operators": "operators", "program": "program", "stats": "stats", "trace": "trace"}
ROOM_OF = {header: room for room, headers in PUBLIC.items() for header in headers.split()}


def main() -> int:
    root, rooms_txt = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    allowed = {}
    for line in rooms_txt.read_text().splitlines():
        name, _, deps = line.partition(":")
        allowed[name] = set(deps.split()) | {name, "base"}
    problems, used = [], {}
    files = [*sorted((root / "src").rglob("*.[ch]")), *sorted((root / "include/etprof").glob("*.h"))]
    for path in files:
        public = path.is_relative_to(root / "include")
        room = ROOM_OF[path.stem] if public else path.relative_to(root / "src").parts[0]
        text = path.read_text()
        lines = text.splitlines()
        where = path.relative_to(root)
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s+(?:"(\w+)/|<etprof/(\w+)\.h>)', line)
            other = include and (include.group(1) or ROOM_OF[include.group(2)])
            used.setdefault(room, set()).add(other)
            if other and room != "cli" and other not in allowed.get(room, set()):
                problems.append(f"{where}:{number}: room {room} may not use {other}")
            if BANNED_CALLS.search(line):
                problems.append(f"{where}:{number}: banned call: {line.strip()}")
            if PLATFORM.search(line) and room not in PLATFORM_ROOMS:
                problems.append(f"{where}:{number}: platform test outside src/os")
    for room, deps in allowed.items():
        for other in sorted(deps - used.get(room, deps) - {room, "base"}):
            problems.append(f"src/{room}/CMakeLists.txt: DEPS names {other}, which room {room} does not use")
    for problem in problems:
        print(problem)
    print(f"{len(files)} files in {len(allowed)} rooms, {len(problems)} problems")
    return 1 if problems or not files else 0


sys.exit(main())
