# SPDX-License-Identifier: Apache-2.0
"""check_docs.py ETPROF SOURCE_DIR: the README is short, the index has every page, every page opens with its question,
links lead somewhere, the session in the README looks like the
screen that the tool shows today, and -h of each verb is short."""
import pathlib
import re
import subprocess
import sys

from checks import expect, finish

ETPROF, TREE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
README_LINES, SCREEN_LINES, SCREEN_COLUMNS = 130, 30, 80


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not re.match(r"[a-z]+:", target):
            expect((page.parent / target).exists(), page.relative_to(TREE), "leads nowhere", target)


def session():
    """What `scripts/demo` shows, held against a screen of today: its headings, its length, its width."""
    text = (TREE / "README.md").read_text()
    blocks = [b for b in re.findall(r"```\n(.*?)```", text, re.S) if "etprof ab examples/" in b]
    expect(len(blocks) == 1, "README", "one session", len(blocks))
    shown = blocks[0].split("etprof ab examples/", 1)[1].split("\n", 1)[1] if blocks else ""
    lines = shown.splitlines()
    expect(10 < len(lines) <= SCREEN_LINES, "README", f"a session of {len(lines)} lines")
    expect(all(len(line) <= SCREEN_COLUMNS for line in lines), "README", "a line of the session is too long")
    now = subprocess.run([ETPROF, "compare", "tests/data/mixed_xnnpack_fp32.etdump",
                          "tests/data/mixed_xnnpack_fp32_load.etdump"], cwd=TREE, capture_output=True, text=True,
                         env={"LC_ALL": "C.UTF-8"}, check=True).stdout
    for word in ("Where it came from, ", "What to do next", "Trust ", "More ", "Whole inference", "with recording on"):
        expect(word in shown and word in now, "README", "its session and the tool's differ", word)
    expect(re.search(r"^  \S.* is \d+\.\d\d× faster than \S.*95 % \[", shown, re.M), "README", "no headline")


def brief_help():
    verbs = re.findall(r"^  ([a-z]+) +\S", subprocess.run([ETPROF, "help"], capture_output=True, text=True,
                                                        check=True).stdout, re.M)
    expect(len(verbs) >= 29, "help", "verbs are missing", verbs)
    for verb in verbs:
        if verb not in ("export", "models"):  # Python parses their options
            text = subprocess.run([ETPROF, verb, "-h"], capture_output=True, text=True, check=True).stdout
            expect(len(text.splitlines()) <= 15 and f"'etprof {verb} --help'" in text, verb, "-h", text)


def main():
    brief_help()
    readme = TREE / "README.md"
    n = len(readme.read_text().splitlines())
    expect(n <= README_LINES, "README", f"{n} lines, at most {README_LINES}")
    index = (TREE / "docs/README.md").read_text()
    pages = sorted((TREE / "docs").glob("*.md"))
    for page in pages:
        head = page.read_text().splitlines()
        question = head[0].endswith("?") or (len(head) > 2 and re.fullmatch(r"\*[^*]+\?\*", head[2]))
        expect(head[0].startswith("# ") and question, page.name, "does not open with the question it answers")
        expect(page.name == "README.md" or f"]({page.name})" in index, page.name, "is not in the index")
        links(page)
    links(readme)
    session()
    finish(f"{len(pages)} pages")


main()
