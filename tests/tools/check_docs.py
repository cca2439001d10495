# SPDX-License-Identifier: Apache-2.0
"""check_docs.py ETPROF SOURCE_DIR: README, docs/, its index and its glossary are short, the index has every page, every
page opens with its question, links lead somewhere, the session in the README looks like the screen that the tool shows
today, and -h of each verb is short."""
import os
import pathlib
import re
import sys

from checks import execute, expect, finish

ETPROF, TREE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
PYTHON = ("export", "skills", "mcp")  # verbs whose options it parses
README_LINES, SCREEN_LINES, SCREEN_COLUMNS = 100, 30, 80
PAGES, PAGE_LINES, INDEX_ROWS, GLOSSARY_ROWS = 25, 3500, 20, 25  # of docs/, without what tools write


def prose(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.S)


def anchors(page):
    """What a heading is called in a link: as GitHub makes it."""
    heads = re.findall(r"^#+ +(.*?) *$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page):
    for target, _, anchor in (link.partition("#") for link in re.findall(r"\]\(([^)\s]+)[^)]*\)", prose(page))):
        if re.match(r"[a-z]+:", target):
            continue
        at = page.parent / target if target else page
        expect(at.exists(), page.relative_to(TREE), "leads nowhere", target)
        if anchor and at.suffix == ".md" and at.exists():
            expect(anchor in anchors(at), page.relative_to(TREE), "no such heading", f"{target}#{anchor}")


def session():
    """What `scripts/demo` shows, held against a screen of today: its headings, its length, its width."""
    text = (TREE / "README.md").read_text()
    blocks = [b for b in re.findall(r"```\n(.*?)```", text, re.S) if "etprof ab examples/" in b]
    expect(len(blocks) == 1, "README", "one session", len(blocks))
    shown = blocks[0].split("etprof ab examples/", 1)[1].split("\n", 1)[1] if blocks else ""
    lines = shown.splitlines()
    expect(10 < len(lines) <= SCREEN_LINES, "README", f"a session of {len(lines)} lines")
    expect(all(len(line) <= SCREEN_COLUMNS for line in lines), "README", "a line of the session is too long")
    now = execute(ETPROF, "compare", "tests/data/mixed_xnnpack_fp32.etdump",
                  "tests/data/mixed_xnnpack_fp32_load.etdump", cwd=TREE, env={"LC_ALL": "C.UTF-8"}, check=True).stdout
    for word in ("Where it came from, ", "What to do next", "Trust ", "More ", "Whole inference", "with recording on"):
        expect(word in shown and word in now, "README", "its session and the tool's differ", word)
    expect(re.search(r"^  \S.* is \d+\.\d\d× faster than \S.*95 % \[", shown, re.M), "README", "no headline")


def brief_help():
    brief, verbs = (re.findall(r"^  ([a-z-]+) +\S", execute(ETPROF, "help", *words, check=True).stdout, re.M)
                    for words in ((), ("--all",)))
    expect(len(brief) <= 16 and set(brief) <= set(verbs), "help", "its short form", brief)
    written = {name for path in (TREE / "src/cli").glob("cmd_*.c")
               for name in re.findall(r'^ {4}\.name = "([a-z-]+)"', path.read_text(), re.M)}
    expect(written and written == set(verbs), "help", "its verbs and those of src/cli differ", written ^ set(verbs))
    for verb in verbs:
        for width in ("60", "80", "200", ""):
            env = {"PATH": os.environ["PATH"]} | ({"COLUMNS": width} if width else {})
            text = execute(ETPROF, verb, "-h", check=True, env=env).stdout
            lines = text.splitlines()
            expect(len(lines) <= (20 if width == "60" else 15) and f"'etprof {verb} --help'" in text, verb, "-h", width,
                   f"{len(lines)} lines", text)
            long = [x for x in lines if len(x) > int(width or 500) and " " in x.strip()]
            long = [x for x in long if width == "80" or not x.startswith("e.g.")]  # a command to copy
            expect(not long or verb in PYTHON and width == "", verb, "-h", width, "too long", long)
        if verb in PYTHON:
            continue
        for width in (60, 80):
            text, wide = (execute(ETPROF, verb, "--help", check=True,
                                  env={"PATH": os.environ["PATH"], "COLUMNS": str(w)}).stdout
                          for w in (width, 400))
            long = [x for x in text.split("examples")[0].splitlines() if len(x) > width and " " in x.strip()]
            expect(not long, verb, "--help", width, "too long", long)
            expect(text.isascii(), verb, "--help", "not ASCII, and it does not know the locale")
            expect(text.split() == wide.split(), verb, "--help", width, "other words than in a wide terminal")


def agents():
    """AGENTS.md names files, presets, tests and verbs that are there."""
    text = (TREE / "AGENTS.md").read_text()
    code = re.findall(r"```\n(.*?)```", text, re.S)
    code += re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    words = {word.rstrip(",;") for part in code for word in part.split()}
    paths = {w for w in words if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)+|[\w-]+\.(md|py|txt)", w)}
    paths = {p for p in paths if not p.startswith("build/")}
    expect(len(paths) >= 8, "AGENTS.md", "paths", paths)
    for path in sorted(paths):
        found = list(TREE.glob(path.rstrip("/"))) or list((TREE / "src").glob(path)) or list(TREE.glob(f"**/{path}"))
        expect(found, "AGENTS.md", "there is no", path)
    presets = (TREE / "CMakePresets.json").read_text()
    for preset in re.findall(r"--preset (\w+)", text):
        expect(f'"name": "{preset}"' in presets, "AGENTS.md", "no preset", preset)
    verbs = set(re.findall(r"`etprof ([a-z-]+)", text))
    expect({"gate", "mcp", "skills"} <= verbs, "AGENTS.md", "verbs", verbs)
    for verb in verbs:
        done = execute(ETPROF, verb, "-h")
        expect(done.returncode == 0, "AGENTS.md", "no verb", verb)
    for test in re.findall(r"\btests? ((?:`\w+`(?:\s+and\s+|,\s+)?)+)", text):
        for name in re.findall(r"\w+", re.sub(r"\band\b", " ", test)):
            lists = "".join(p.read_text() for p in TREE.glob("tests/**/CMakeLists.txt"))
            expect(re.search(rf"(NAME |etp_script_test\(){name} ", lists), "AGENTS.md", "no test", name)


def notes():
    """docs/run-folder.md names what a session can notice, as the table of names has it."""
    table = re.search(r"^NAMES\(note,(.*?)\)", (TREE / "src/store/names.c").read_text(), re.M | re.S)
    words = re.findall(r'"(\w+)"', table[1])
    page = (TREE / "docs/run-folder.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| `notes[]"))
    expect(len(words) > 15, "names of notes", words)
    for word in words:
        expect(f"`{word}`" in row, "docs/run-folder.md", "does not name the note", word)


def written(page):
    """The lines of a page that nobody's tool wrote: those in front of the mark, which stands on the line above."""
    return re.split(r"^<!-- made by .* -->$", page.read_text(), flags=re.M)[0].count("\n")


def rows(page):
    table = re.findall(r"^\|.*\|$", prose(page), re.M)[2:]
    return [row for row in table if not re.fullmatch(r"\| \*\*\w[\w-]*\*\* \|[ |]*", row)]  # without headings of parts


def size(pages):
    expect(len(pages) <= PAGES, "docs", f"{len(pages)} pages, at most {PAGES}: which ask one question?")
    lines = sum(written(page) for page in pages)
    expect(lines <= PAGE_LINES, "docs", f"{lines} lines, at most {PAGE_LINES}")
    for name, most in (("README.md", INDEX_ROWS), ("glossary.md", GLOSSARY_ROWS)):
        n = len(rows(TREE / "docs" / name))
        expect(0 < n <= most, f"docs/{name}", f"{n} rows, at most {most}")
    return lines


def main():
    brief_help()
    notes()
    agents()
    readme = TREE / "README.md"
    n = len(readme.read_text().splitlines())
    expect(n <= README_LINES, "README", f"{n} lines, at most {README_LINES}")
    index = (TREE / "docs/README.md").read_text()
    pages = sorted((TREE / "docs").glob("*.md"))
    lines = size(pages)
    for page in pages:
        head = page.read_text().splitlines()
        question = head[0].endswith("?") or (len(head) > 2 and re.fullmatch(r"\*[^*]+\?\*", head[2]))
        expect(head[0].startswith("# ") and question, page.name, "does not open with the question it answers")
        indexed = page.name == "README.md" or f"]({page.name})" in index
        expect(indexed, page.name, "is not in the index")
        links(page)
    links(readme)
    links(TREE / "bench/README.md")
    links(TREE / "bench/results.md")
    session()
    finish(f"{len(pages)} pages, {lines} lines that are written by hand")


main()
