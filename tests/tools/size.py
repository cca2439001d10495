# SPDX-License-Identifier: Apache-2.0
"""How large is the tree, and how much of it does a verb need? Prints each figure beside its limit.

usage: size.py SOURCE_DIR BUILD_DIR [VERB]

With VERB: its lines by room, and for each file of which others hang the lines that only it brings.

A verb needs the objects that its own one refers to, and what these refer to in turn (nm's symbols), without the table
of all verbs. A static function counts as called once where its name stands twice in its file."""
import collections
import pathlib
import re
import subprocess
import sys

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
VERB = sys.argv[3] if len(sys.argv) > 3 else None
ETPROF = BUILD / "bin/etprof"
CORE = ("src", "include", "runner/launcher")
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
STATIC = re.compile(r"^static (?:inline )?(?:const )?[\w ]+?[ *](\w+)\([^;{]*\)\s*\{", re.MULTILINE)


def tracked(*folders):
    return subprocess.run(["git", "ls-files", *folders], cwd=SOURCE, capture_output=True, text=True,
                          check=True).stdout.splitlines()


def files(*folders, ends=(".c", ".h")):
    return [SOURCE / name for name in tracked(*folders) if name.endswith(ends)]


def lines(paths):
    """Of text; programs and recordings have none."""
    found = (path.read_bytes() for path in paths)
    return sum(data.count(b"\n") for data in found if b"\0" not in data)


def code(path):
    """The text of PATH without comments and what stands in quotes."""
    return TOKENS.sub(" ", path.read_text(encoding="utf-8"))


def symbols(path):
    """What an object defines for others, and what it takes from them."""
    said = subprocess.run(["gcc-nm", "-g", path], capture_output=True, text=True, check=True).stdout
    defined, taken = set(), set()
    for line in said.splitlines():
        kind, name = line.split()[-2:]
        (taken if kind in "Uwv" else defined).add(name)
    return defined, taken


class Objects:
    def __init__(self):
        self.taken, self.owner = {}, {}
        for path in sorted((BUILD / "src").rglob("*.c.o")):
            source = SOURCE / "src" / re.sub(r"CMakeFiles/[^/]+\.dir/|\.o$", "", str(path.relative_to(BUILD / "src")))
            if source.exists() and source not in self.taken:
                defined, self.taken[source] = symbols(path)
                self.owner.update(dict.fromkeys(defined, source))

    def of(self, verb, without=None):
        """The sources that VERB needs, were there no WITHOUT."""
        found, waiting = set(), [SOURCE / f"src/cli/cmd_{verb}.c"]
        while waiting:
            source = waiting.pop()
            if source not in found and source != without and source.name != "commands.c":
                found.add(source)
                waiting += [self.owner[s] for s in self.taken[source] if s in self.owner]
        return found


def types(texts, pattern):
    found = re.findall(r"^typedef (?:struct|enum) (\w+)|^\} (\w+);", "\n".join(texts), re.MULTILINE)
    return len({name for pair in found for name in pair if re.fullmatch(pattern, name)})


def called_once(texts):
    once = both = 0
    for text in texts:
        words = collections.Counter(re.findall(r"\w+", text))
        for name in set(STATIC.findall(text)):
            both += 1
            once += words[name] == 2
    return 100 * once / both


def of_program(*words):
    return subprocess.run([ETPROF, *words], capture_output=True, text=True, check=True).stdout


def graph(objects, verb, least=200):
    needed = objects.of(verb)
    rooms = collections.Counter()
    for source in needed:
        rooms[source.relative_to(SOURCE / "src").parts[0]] += lines([source])
    for room, n in rooms.most_common():
        print(f"{n:>7,}  {room}")
    brought = {source: needed - objects.of(verb, without=source) for source in needed}
    for n, source in sorted(((lines(of), source) for source, of in brought.items() if len(of) > 1), reverse=True):
        if n >= least:
            names = sorted(str(other.relative_to(SOURCE / "src")) for other in brought[source] - {source})
            print(f"{n:>7,}  {source.relative_to(SOURCE / 'src')}: {', '.join(names[:8])}{' …' * (len(names) > 8)}")


def main():
    core = files(*CORE)
    texts = [code(path) for path in core]
    conditionals = sum(len(re.findall(r"\?", text)) for text in texts)
    objects = Objects()
    if VERB:
        graph(objects, VERB)
        return
    rows = [("lines of src, include, launcher", lines(core), 92_000, False)]
    for verb, limit in (("ops", 18), ("inspect", 18), ("analyze", 40), ("ab", 52)):
        rows.append((f".c lines that {verb} links", lines(objects.of(verb)), limit * 1000, False))
    rows += [
        ("types etp_ab*", types(texts, r"etp_ab\w*"), 25, False),
        ("structs etp_session*, etp_settings", types(texts, r"etp_session\w*|etp_settings"), 6, False),
        ("lines per conditional expression", lines(core) // conditionals, 120, True),
        ("static functions called once, %", round(called_once(texts)), 40, False),
        ("verbs", len(re.findall(r"^  [a-z][\w-]+ +\S", of_program("help", "--all"), re.MULTILINE)), 26, False),
        ("options of ab", len(re.findall(r"^ +(?:-\w, +)?--\w", of_program("ab", "--help"), re.MULTILINE)), 32, False),
        ("lines of tests", lines(files("tests", ends="")), 60_000, False),
        ("top-level folders", len({name.split("/")[0] for name in tracked() if "/" in name}), 14, False),
        ("bytes of CHANGELOG", (SOURCE / "CHANGELOG.md").stat().st_size, 4_000, False),
    ]
    for title, found, limit, least in rows:
        mark = "ok" if (found >= limit if least else found <= limit) else "over"
        print(f"{title:36} {found:>9,}  {'≥' if least else '≤'} {limit:>7,}  {'' if mark == 'ok' else mark}".rstrip())


main()
