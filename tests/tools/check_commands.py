# SPDX-License-Identifier: Apache-2.0
"""Every command that the tool prints is one that it accepts.

usage: check_commands.py ETPROF SOURCE_DIR

Collects "etprof VERB …" from the strings of the sources (C and Python) and from what the verbs print of the recordings
in tests/data, and reads each against what exists: the verb, its options, the values of those that take a word, the
recipes of `etprof export --apply`. `--self-test` shows that it can fail."""
import ast
import json
import pathlib
import re
import sys

from checks import execute, expect, finish

WORD = re.compile(r"""'[^']*'|"[^"]*"|[^\s'"`()→·|]+""")
# Where a sentence goes on behind a command: two words of plain text.
END = re.compile(
    r"[`;→·|]|&&|\s(?:measures|measure|shows|says|lists|does|names|with|and|or|for|in|is|to|of|from|repeats)\s"
    r"|, |: |\.\s|\.$|\)$|\n"
)


def helps(etprof):
    """{verb: (options that take no value, options that take one: None or their words)}"""
    text = execute(etprof, "help", "--all", check=True).stdout
    verbs = re.findall(r"^  ([a-z-]+) +\S", text, re.M)
    found = {"help": dict.fromkeys(("--all", "--man", "--completion"), "")}
    for verb in verbs:
        page = execute(etprof, verb, "--help").stdout
        options = {}
        for line in re.findall(r"^ +(?:-\w(?: [A-Z=]+)?, )?(--[a-z0-9-]+.*)$", page, re.M):
            for name, value in re.findall(r"(--[a-z0-9-]+)[ =]?(\{[^}]*\}|\[?[A-Z][^\s]*)?",
                                          re.split(r"\s{2,}", line)[0]):
                options[name] = value
        # argparse shows options that say nothing of themselves in its usage alone
        for name, value in re.findall(r"\[(--[a-z0-9-]+)(?: (\{[^}]*\}|[A-Z][^\]]*))?\]", page):
            options.setdefault(name, value)
        found[verb] = options
    return found


def recipes(root):
    code = "import json; from etprof.export.recipes import all_fixes; print(json.dumps(sorted(all_fixes())))"
    out = execute(sys.executable, "-c", code, cwd=root / "python", check=True).stdout
    return set(json.loads(out))


def c_strings(text):
    """String literals with their neighbours joined, as the compiler joins them."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield "".join(part.encode().decode("unicode_escape",
                                           "replace").encode("latin-1", "replace").decode("utf-8", "replace")
                      for part in re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))


def python_strings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(v.value if isinstance(v, ast.Constant) else "X" for v in node.values)


def commands_in(text):
    for at in re.finditer(r"(?<![\w/-])etprof ([a-z]+(?:-[a-z]+)*)\b(?! ?:)", text):
        rest = text[at.start(1):]
        quote = text[at.start() - 1] if at.start() and text[at.start() - 1] in "'`" else None
        end = rest.find(quote) if quote and (quote == "`" or rest.count("'") == 1) else -1
        stop = END.search(rest)
        end = end if end > 0 else stop.start() if stop else len(rest)
        yield rest[:end].strip()


def problem(command, verbs, known):
    """What is wrong with COMMAND, or None."""
    words = [w.strip("'\"").rstrip(".,") for w in WORD.findall(command)]
    if words[0] not in verbs:
        return None if len(words) == 1 or not words[1].startswith("-") else f"no verb {words[0]}"
    options, i = verbs[words[0]], 1
    while i < len(words):
        word = words[i]
        i += 1
        if not word.startswith("--"):
            continue
        name, _, value = word.partition("=")
        if name not in options and name != "--help":
            return f"{words[0]} has no option {name}"
        takes = options.get(name)
        if not takes or takes.startswith("["):
            continue
        if not value:
            if i >= len(words):
                return None  # an option is being named
            value, i = words[i], i + 1
        if value.startswith("%") or value in ("X", "FIX", "NAME", "FORMAT"):
            continue
        if (
            takes.startswith("{")
            and value not in takes[1:-1].split(",")
            and not re.fullmatch(r"[\w|-]+\|[\w|-]+", value)
        ):
            return f"{name} does not take {value}"
        if name == "--apply" and value not in known | {"list"}:
            return f"there is no recipe {value}"
    return None


def printed(etprof, root):
    """(what was run, what it printed) for the recordings of the tree, also with names that say nothing."""
    data = root / "tests/data"
    dumps = sorted((data / "fixes").glob("*[!2].etdump")) + [data / "mixed_xnnpack_fp32.etdump",
                                                             data / "linear_xnnpack_fp32.etdump"]
    for dump in dumps:
        program = dump.with_suffix(".pte")
        again = dump.with_name(dump.stem + "_b2.etdump")
        more = [str(again)] if again.exists() else []
        for words in (["analyze", dump, *more, "--pte", program, "--full"], ["analyze", dump], ["inspect", program],
                      ["explain", "N1", dump, "--pte", program], ["ops", dump, "--pte", program]):
            done = execute(etprof, *words)
            yield f"{words[0]} {dump.name}", done.stdout + done.stderr


def self_test(verbs, known):
    for command in ("export MODEL --apply dynshape", "analyze DIR --loud", "export MODEL --dtype int7", "fly --high",
                    "ab model.pte --apply gelu-tanh"):
        expect(problem(command, verbs, known), "not noticed", command)
    for command in ("export MODEL --dtype int8 --apply fold-expand", "whatif DIR 'drop transpose*'",
                    "ab model.pte --threads 1,2", "analyze"):
        expect(problem(command, verbs, known) is None, "wrongly refused", command)


def main():
    etprof, root = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs, known = helps(etprof), recipes(root)
    self_test(verbs, known)
    texts = [(f.relative_to(root), s) for f in sorted((root / "src").rglob("*.c")) for s in c_strings(f.read_text())]
    texts += [(f.relative_to(root), s) for f in sorted((root / "python/etprof").rglob("*.py"))
              for s in python_strings(f.read_text())]
    texts += list(printed(etprof, root))
    count = 0
    for where, text in texts:
        for command in commands_in(text):
            count += 1
            wrong = problem(command, verbs, known)
            expect(not wrong, where, f"'etprof {command}'", wrong)
    for where, text in texts:  # recipes named without their command
        for name in re.findall(r"--apply ([a-z][a-z-]+)", text):
            expect(name in known | {"list", "shows"}, where, f"there is no recipe {name}")
    expect(count > 100, "only", count, "commands were found")
    source = (root / "src/judge/fixes/factors.h").read_text()
    table = set(re.findall(r'"([a-z-]+)"', re.search(r"ETP_FIX_RECIPES\(X\)(.*?)\n\n", source, re.S)[1]))
    expect(table == known, "src/judge/fixes/factors.h knows other recipes than the exporter", table ^ known)
    finish(f"{count} commands, all as the tool takes them")


main()
