# SPDX-License-Identifier: Apache-2.0
"""Holds every #include between rooms, that of a public header included, against the DEPS and the PRIVATE headers
declared in their CMakeLists.txt (both ways: what is declared is used), refuses circles of rooms and of headers, a
room that holds too much, and one that does not begin with its question. Usage: check_layers.py SOURCE_DIR ROOMS_TXT"""
import pathlib
import re
import sys

from check_circles import circles

ROOM_SHARE = 6  # no room has more than a sixth of the lines
FLOORS = 11  # of the rooms, each above all that it uses; cli is the top one
BANNED_CALLS = re.compile(r"\b(system|popen|strcpy|strcat|sprintf|strtok|atoi|gets)\s*\(")
# What CONTRIBUTING.md forbids: the words, what is said, and where they may stand all the same. os talks to the system
# for all; roofs are compiled into the runner, which has no arena.
FORBIDDEN = [(re.compile(words), said, places) for words, said, places in (
    (r"\b(malloc|calloc|realloc|strdup)\s*\(", "memory is the arena's", ("src/base/arena.c", "src/os/", "src/roofs/")),
    (r"\b(v?f?printf|f?puts|putchar|perror|getenv|_?exit|abort)\s*\(",
     "library code neither prints nor exits nor reads the environment", ("src/cli/", "src/os/")),
    (r"\bjson_load\w*\s*\(", "JSON is read by base/json_read.h", ("src/base/json_read.c",)),
    (r"\bjson_(pack|v?sprintf|dump\w*|stringn?|array|object|integer|real|boolean|\w+_new)\s*\(",
     "JSON is written by base/json.h", ("src/store/named.c",)),  # there a hash is taken of what was read
    (r"\bstrrchr\s*\(.*'/'|\[[\w.]+ - 1\] [!=]= '/'", "paths are taken apart by base/path.h",
     ("src/base/path.c",)),
    (r"\bgoto (?!done;)", "a goto goes to done", ()),
    (r"(?<!const )\betp_ab_session \*s[,)]", "a stage of a comparison gets the session const",
     ("src/compare/keep.c", "src/compare/session.", "src/judge/open.c")),
    (r"^\s*static (?!.*\bconst\b)[^(){}]*(=[^=].*|;)$", "a global that changes", ("src/os/posix/", "src/os/linux/")),
)]
# How docs/architecture.md says that something is not known: what other ways look like, and where they are something
# else. Times of stats are below 0; an extent of numbers begins at the least there is.
UNKNOWNS = [(re.compile(words), said, places) for words, said, places in (
    (r"\bINT64_MIN\b", "a time that is not known is ETP_NS_UNKNOWN",
     ("src/base/number.", "include/etprof/analysis.h")),
    (r"_(ns|bytes)\b[^=<>!&|?]*(==|!=|(?<![=<>!])=|<|>|>=)\s*-1\b", "a time that is not known is ETP_NS_UNKNOWN",
     ("src/stats/", "src/study/stats/", "include/etprof/stats.h")),
    (r"\b(ratio|share|speedup|estimate)\b[^=<>!&|?]*(==|!=|(?<![=<>!])=)\s*-1\b", "a ratio that is not known is NAN",
     ()),
    (r"(==|!=|(?<![=<>!])=|return)\s*UINT32_MAX\b", "an index that is not known is ETP_NO_INDEX",
     ("src/flatbuf/repeat.c", "src/program/sizing_kernel.c",  # bits
      "src/stats/analyze.c", "src/stats/plan.c", "src/study/stats/",  # blocks: out of reach
      "src/measure/stop.c")),
)]
# The words of an enum, as its table of names has them: they are compared as the enum. So is every closed set of ours:
# where a word is compared, it is somebody else's (of a file, a command line, the runner), or a key of an open list, and
# stands here. A few rooms are all about words of others.
NAMED = re.compile(r"^NAMES\(\w+,([^)]*)\)|const char \*etp_\w+_name\(etp_\w+ \w+\)\s*\{(.*?)\n\}", re.M | re.S)
COMPARED = re.compile(r'\b(?:strcmp|etp_str_eqz)\s*\([^";]*, "([^"]+)"\)')
WORD = re.compile(r"[a-z][a-z0-9_-]*")
WORDS_OF_OTHERS = {"cli", "device", "kit", "os"}
READS_WORDS = {"cli/cmd_doctor.c": "levels", "cli/complete.c": "device",
               "compare/counters.c": "counters counters_fix", "convert/fleet_rows.c": "local",
               "device/adb.c": "device", "device/device.c": "qemu", "device/list.c": "device",
               "device/remote_state.c": "boost governor load power",
               "explain/kernels_name.c": "xx",
               "inspect/kernels/log.c": "transposec",
               "isa/text.c": "none", "judge/fixes/layout.c": "expand_copy permute_copy transpose_copy",
               "judge/fixes/whatif.c": "at-roof back drop fix scale threads", "judge/fixes/work.c": "any",
               "measure/launch.c": "run", "measure/plan.c": "each",
               "measure/roofs.c": "frequency_max_khz", "operators/table.c": "copy",
               "program/program.c": "forward", "stats/samples_csv.c": "timed control traced",
               "store/roofs_read.c": "schema", "store/rows_read.c": "virtual_machine", "store/settings.c": "ones",
               "study/gate/gate.c": "macs time", "trace/timeline.c": "portable"}
# Prose is never parsed: who says something knows it as fields, and each form makes its sentence of them. A room that
# looks into texts reads what others wrote; in the rest a text that is looked into is a name, a path or a word of
# others, and its lines are counted here.
READING = {"base", "os", "binary", "isa", "wire", "operators", "flatbuf", "formats", "trace", "program", "store",
           "device", "measure", "session", "explain", "inspect", "convert", "report", "cli", "roofs", "stats"}
LOOKS_INTO = re.compile(r"\b(?:str(?:str|chr|rchr|n?casecmp|ncmp|pbrk|spn|cspn|tok|sep)|mem(?:chr|mem)"
                        r"|etp_str_(?:find|starts|ends))\s*\(")
READS_TEXTS = {
    "compare/arms.c": (3, "names of arms, versions of releases"),
    "compare/counters.c": (1, "what a manifest has of counters: a word, then why"),
    "compare/load.c": (6, "paths"),
    "compare/names.c": (2, "names of models"),
    "compare/operands.c": (1, "an operand as it was typed"),
    "compare/outputs.c": (1, "data types of operators"),
    "compare/phases.c": (1, "names of phases"),
    "integrity/verify.c": (6, "paths"),
    "judge/decoder.c": (2, "names of operators"),
    "judge/fixes/found.c": (3, "the name of a program's file"),
    "judge/fixes/layout.c": (1, "families of operators"),
    "judge/grade.c": (1, "paths"),
    "judge/language.c": (1, "names of operators"),
    "kit/combined.c": (1, "paths"),
    "kit/files.c": (6, "names of files"),
    "kit/folder.c": (6, "files of others"),
    "kit/folder_text.c": (2, "names of others"),
    "kit/latency.c": (3, "tables of others"),
    "library/fleet.c": (1, "paths"),
    "show/operator_facts.c": (1, "names of operators"),
    "show/times.c": (2, "names of operators; the unit behind a figure"),
    "machine/doctor.c": (1, "what a runner has of counters: a word, then why"),
    "study/gate/gate.c": (4, "rules as they were typed, and ids of checks"),
    "study/gate/members.c": (3, "rules as they were typed"),
    "study/stats/samples.c": (1, "names of arms"),
}
# JSON is read by base/json_read and written by base/json, in the runner and the launcher too. A member that a text
# spells out is a second writer, a brace that is looked for a second reader, but here (the places that no longer need
# their line are refused as well). Texts of a JSON Schema, which tables of documents hold, are known by its words.
SPELT_MEMBER = re.compile(r'(?:(?<!\\)"|[{,]\s*)\\"[\w%.*]+\\"\s*:\s*(?:[\[{\d%-]|\\"|"|true\b|false\b|null\b)')
SCHEMA_WORD = re.compile(r'\\"(?:type|items|properties|required|minimum)\\"')
LOOKS_FOR_BRACE = re.compile(r"[=!]= '\{'")
LOADS = re.compile(r"\bjson_load\w*\s*\(")
JSON_BY_HAND = {
    "src/base/json_read.c": "the reader",
    "src/wire/parse.c": "lines of the runner, read by the runner too, which has no jansson and allocates nothing here",
    "src/formats/etrecord.c": "what a tree would cost, before the reader makes it",
    "src/integrity/verify.c": "a manifest of one constant, for files that are computed once more",
    "runner/src/crash.cpp": "in a signal handler, where the C library may be what has crashed",
}
STRING = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
PLATFORM = re.compile(r"#\s*(?:el)?if.*(__linux__|__APPLE__|__ANDROID__|_WIN32)")
# isa and roofs are about processors and are compiled into the runner too, so they may ask which one.
PLATFORM_ROOMS = {"os", "isa", "roofs"}
PUBLIC = {"base": "arena buffer bytes error version", "explain": "join",
          "formats": "bundled dtype etdump etrecord flat_tensor npz pte xnnpack", "convert": "fleet tables",
          "library": "analysis measurement reply", "operators": "operators", "os": "mapping", "report": "output",
          "program": "program", "stats": "stats", "trace": "trace"}
UMBRELLA = "etprof"  # includes every public header, and nothing of ours includes it
ROOM_OF = {header: room for room, headers in PUBLIC.items() for header in headers.split()}


def rooms_of(rooms_txt):
    """({room: rooms it may use}, {room: its private headers}) as the build wrote them down."""
    allowed, private = {}, {}
    for line in rooms_txt.read_text().splitlines():
        name, _, rest = line.partition(":")
        deps, _, headers = rest.partition("|")
        allowed[name] = set(deps.split()) | {name, "base"}
        private[name] = {f"{name}/{header}" for header in headers.split()}
    return allowed, private


def floors_of(allowed):
    """{room: 1 where it uses none, else one above the highest of those it uses}; no circles, which others find."""
    floors = dict.fromkeys(allowed, 1)
    for _ in allowed:
        floors = {room: 1 + max((floors[dep] for dep in deps if dep in floors and dep != room), default=0)
                  for room, deps in allowed.items()}
    return floors


def walls(root, allowed, private):
    """Problems with who includes whom."""
    problems, used, reach, graph, lines_of = [], {}, {}, {}, {}
    files = [*sorted((root / "src").rglob("*.[ch]")), *sorted((root / "include/etprof").glob("*.h"))]
    owner = {header: room for room, headers in private.items() for header in headers}
    for path in files:
        public = path.is_relative_to(root / "include")
        if public and path.stem == UMBRELLA:
            continue
        room = ROOM_OF[path.stem] if public else path.relative_to(root / "src").parts[0]
        lines = path.read_text().splitlines()
        where = path.relative_to(root)
        lines_of[room] = lines_of.get(room, 0) + len(lines)
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s+(?:"((\w+)/[\w./]+)"|<etprof/(\w+)\.h>)', line)
            if not include:
                continue
            header, other = include.group(1), include.group(2) or ROOM_OF[include.group(3)]
            used.setdefault(room, set()).add(other)
            reach.setdefault(header, set()).add(room)
            if path.suffix == ".h" and header and not public:
                graph.setdefault(str(path.relative_to(root / "src")), set()).add(header)
            if room != "cli" and other not in allowed.get(room, set()):
                problems.append(f"{where}:{number}: room {room} may not use {other}")
            if owner.get(header, room) != room:
                problems.append(f"{where}:{number}: {header} is private to {owner[header]}")
    for room, deps in allowed.items():
        for other in sorted(deps - used.get(room, deps) - {room, "base"}):
            problems.append(f"src/{room}/CMakeLists.txt: DEPS names {other}, which room {room} does not use")
        headers = {str(p.relative_to(root / "src")) for p in (root / "src" / room).rglob("*.h")}
        for header in sorted(headers - private[room]):
            if reach.get(header, {room}) <= {room}:
                problems.append(f"src/{room}/CMakeLists.txt: no other room includes {header}: list it as PRIVATE")
        for header in sorted(private[room] - headers):
            problems.append(f"src/{room}/CMakeLists.txt: PRIVATE names {header}, which is not there")
        if lines_of.get(room, 0) * ROOM_SHARE > sum(lines_of.values()):
            every = sum(lines_of.values())
            problems.append(f"src/{room}: {lines_of[room]} of {every} lines, more than one in {ROOM_SHARE}")
    floors = floors_of({"base": set(), **{room: deps - {"base"} if room == "base" else deps
                                          for room, deps in allowed.items()}})
    top = max(floors.values(), default=0) + ("cli" not in floors)
    if top > FLOORS:
        chain = sorted((floor, room) for room, floor in floors.items() if floor >= FLOORS - 1)
        problems.append(f"rooms stand on {top} floors, more than {FLOORS}: {chain}; one depends on another too much")
    every = {header: to & set(graph) for header, to in graph.items()}
    for part in circles({room: deps - {room} for room, deps in allowed.items()}) + circles(every):
        problems.append(f"a circle: {' '.join(part)}")
    return problems, len(files)


def words(root):
    """Problems within one file."""
    problems = []
    for path in [*sorted((root / "src").rglob("*.[ch]")), *sorted((root / "include/etprof").glob("*.h"))]:
        lines = path.read_text().splitlines()
        where = path.relative_to(root)
        room = path.relative_to(root).parts[1]
        for number, line in enumerate(lines, 1):
            if BANNED_CALLS.search(line):
                problems.append(f"{where}:{number}: banned call: {line.strip()}")
            bare = STRING.sub('""', line)
            problems += [f"{where}:{number}: {said}: {line.strip()}" for pattern, said, places in FORBIDDEN + UNKNOWNS
                         if pattern.search(bare) and not str(where).startswith(places or ("-",))]
            if PLATFORM.search(line) and room not in PLATFORM_ROOMS:
                problems.append(f"{where}:{number}: platform test outside src/os")
    return problems


def json_by_hand(root):
    """JSON that is read or written beside the two that do, and places listed for it that do not."""
    found = {}
    for path in sorted(p for top in ("src", "include", "runner") for p in (root / top).rglob("*")
                       if p.suffix in (".c", ".h", ".cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if (SPELT_MEMBER.search(line) and not SCHEMA_WORD.search(line)) or LOOKS_FOR_BRACE.search(line) \
                    or LOADS.search(STRING.sub('""', line)):
                found.setdefault(path.relative_to(root).as_posix(), []).append(f"{number}: {line.strip()}")
    return [f"{where}:{line}: JSON is read by base/json_read.h and written by base/json.h; what has to do without "
            "stands in JSON_BY_HAND of check_layers.py, with its reason"
            for where, lines in found.items() if where not in JSON_BY_HAND for line in lines] + \
           [f"tests/tools/check_layers.py: JSON_BY_HAND names {where}, which needs it no longer"
            for where in JSON_BY_HAND if where not in found and (root / where).exists()]


def closed_sets(root):
    """Words that are compared as texts: of enums, or of no enum although they are ours."""
    texts = {p.relative_to(root / "src").as_posix(): p.read_text() for p in sorted((root / "src").rglob("*.c"))}
    names = {word for text in texts.values() for table in NAMED.findall(text)
             for word in re.findall(r'"([^"]+)"', "".join(table))}
    problems = []
    for where, text in texts.items():
        for word in sorted({*COMPARED.findall(text)} - {*READS_WORDS.get(where, "").split()}):
            if word in names:
                problems.append(f'src/{where}: "{word}" is a word of an enum: compare that')
            elif WORD.fullmatch(word) and where.split("/")[0] not in WORDS_OF_OTHERS:
                problems.append(f'src/{where}: "{word}" is compared as a text: a closed set of ours is an enum, a word '
                                "of others stands in READS_WORDS of check_layers.py")
    known = {(where, word) for where, text in texts.items() for word in COMPARED.findall(text)}
    return problems + [f"tests/tools/check_layers.py: READS_WORDS names {word} in {where}, where it is not compared"
                       for where, given in READS_WORDS.items() for word in given.split()
                       if (where, word) not in known and READS_WORDS.keys() & texts.keys()] # else a tree of its test


def prose(root):
    """Texts that are looked into where sentences are made."""
    problems = []
    for path in sorted((root / "src").rglob("*.c")):
        where = path.relative_to(root / "src").as_posix()
        if where.split("/")[0] in READING:
            continue
        lines = [f"{number}: {line.strip()}" for number, line in enumerate(path.read_text().splitlines(), 1)
                 if LOOKS_INTO.search(STRING.sub('""', line))]
        known, _ = READS_TEXTS.get(where, (0, ""))
        if len(lines) > known:
            problems += [f"src/{where}:{line}: a text is looked into: what our own sentences say is a field, a word of "
                         "others is counted in READS_TEXTS of check_layers.py" for line in lines]
        elif len(lines) < known:
            problems.append(f"tests/tools/check_layers.py: READS_TEXTS counts {known} lines in {where}, which has "
                            f"{len(lines)}")
    return problems


def questions(root, rooms):
    """Problems with what a room says of itself: its CMakeLists.txt begins with its question in docs/architecture.md."""
    asked = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| .+? \|$", (root / "docs/architecture.md").read_text(), re.M))
    problems = [f"docs/architecture.md: no question for room {room}" for room in sorted({*rooms, "cli"} - set(asked))]
    for room, question in asked.items():
        path = root / "src" / room / "CMakeLists.txt"
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        says = " ".join(line.lstrip("# ") for line in lines[:4] if line.startswith("#"))
        if not says.startswith(question):
            problems.append(f"src/{room}/CMakeLists.txt: begins with {says[:60]!r}, not with its question in "
                            f"docs/architecture.md: {question}")
    return problems


def main() -> int:
    root, rooms_txt = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    allowed, private = rooms_of(rooms_txt)
    problems, files = walls(root, allowed, private)
    problems += words(root) + json_by_hand(root) + closed_sets(root) + prose(root) + questions(root, allowed)
    for problem in problems:
        print(problem)
    print(f"{files} files in {len(allowed)} rooms, {len(problems)} problems")
    return 1 if problems or not files else 0


sys.exit(main())
