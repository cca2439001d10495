# SPDX-License-Identifier: Apache-2.0
"""A tree that keeps the rules is clean for tests/tools/lint.py and check_layers.py; each kind of sin planted in it is
found and named."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import execute, expect, finish, in_python_with, new_folder, skip
from words import RULES

in_python_with("clang_format", "ruff", "codespell_lib")
HEAD = {"c": "// SPDX-License-Identifier: Apache-2.0\n", "py": "# SPDX-License-Identifier: Apache-2.0\n",
        "sh": "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n"}
CLEAN = {
    "src/sum.c": HEAD["c"] + "int sum(int a, int b)\n{\n    return a + b;\n}\n",
    # Conditionals beside each other, one in a bracket that has closed, and question marks that are none.
    "src/less.c": HEAD["c"] + """#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) < (b) ? (b) : (a))
static const char k_ask[] = "a ? b ? c : d : e", k_mark = '?'; // why? how?
int less(int a, int b)
{
    int least[2] = {a < b ? a : b, a < 0 ? 0 : a}, most = (a < b ? b : a) + (b > 0 ? 1 : 0);
    least[a < 0 ? 0 : 1] = b < 0 ? most : LESS(a, k_ask[1]);
    if (MORE(a, b < 2 ? a : b)) {
        return a < k_mark ? least[0] : least[1];
    }
    return b < 3 ? least[1] : a;
}
""",
    # The formatter keeps the columns of a table aligned, whatever its width.
    "src/rows.c": HEAD["c"] + "static const struct row k_rows[] = {\n" + "".join(
        '    {%-30s %-59s %-11s %-13s},\n' % row for row in (
            ('"a",', f'"{"x" * 56}",', "1,", "2"),
            (f'"{"a" * 27}",', f'"{"x" * 11}",', "1000000000,", "2000000000000"))) + "};\n",
    "tools/one.py": HEAD["py"] + '"""One."""\nimport sys\n\nprint(sys.argv)\n',
    "tools/start": HEAD["sh"] + 'echo "$1"\n',
}
LONG_C = "int sum(int a, int b)\n{\n" + "    a += b;\n" * 79 + "    return a;\n}\n"
NESTED_C = HEAD["c"] + "int sign(int a, int b)\n{\n    return %s;\n}\n"
LONG_PY = "def one(a):\n" + "    a += 1\n" * 79 + "    return a\n"
# What is planted: the file, its text, what lint has to say.
SINS = {
    "formatting of C": ("src/sum.c", HEAD["c"] + "int sum(int a, int b) {\n  return a + b;\n}\n", "clang-format"),
    "a long line of C": ("src/sum.c", HEAD["c"] + f"#include <{'x' * 100}.h>\n", "113 columns, at most 100"),
    "a long function of C": ("src/sum.c", HEAD["c"] + LONG_C, "a function of 82 lines, at most 80"),
    "a number with an exponent": ("src/sum.c", HEAD["c"] + 'const char *k_form = "%.3g %%";\n', "%.3g shows 1e+06"),
    **{f"a conditional in another: {form}": ("src/sum.c", NESTED_C % form, "src/sum.c:4: a conditional in another")
       for form in ("a < 0 ? -1 : a > 0 ? 1 : 0", "a ? b ? 1 : 2 : 3", "a ? sign(0, b ? 1 : 2) : 3",
                    "sign(1, a ? b : 1) ? a : b", "a ? ((int[]){b ? 1 : 2})[0] : 3")},
    "a conditional in another of a macro": (
        "src/sum.c", HEAD["c"] + "#define SIGN(a) ((a) < 0 ? -1 : (a) > 0 ? 1 : 0)\n", "a conditional in another"),
    "a long file of C": ("src/sum.c", HEAD["c"] + "extern int a;\n" * 800, "801 lines, at most 800"),
    "a file of C without a licence": ("src/sum.c", "int sum(int a, int b);\n", "no SPDX-License-Identifier"),
    "a name that says nothing": ("src/helpers.c", HEAD["c"] + "int sum(int a, int b);\n", "a name that says nothing"),
    "an import nobody uses": ("tools/one.py", HEAD["py"] + "import os\n", "F401"),
    "a long line of Python": ("tools/one.py", HEAD["py"] + f"print('{'x ' * 60}')\n", "E501"),
    "a long function of Python": ("tools/one.py", HEAD["py"] + LONG_PY, "a function of 81 lines, at most 80"),
    "a check that never runs": ("tests/one.py", HEAD["py"] + "def one():\n    print()\n", "one is called nowhere"),
    "a long file of Python": ("tools/one.py", HEAD["py"] + "print()\n" * 800, "801 lines, at most 800"),
    "a script of Python without an ending": (
        "tools/two", "#!/usr/bin/env python3\n" + HEAD["py"] + "import os\n", "F401"),
    "an unquoted word in a script": ("tools/start", HEAD["sh"] + "rm -f $1\n", "SC2086"),
    "a word that is spelled otherwise": ("docs/one.md", "It reci" "eves a file.\n", "receives"),
    **{f"a riddle: {name}": ("docs/one.md", red + "\n", f"'{name}'") for name, _, red, _ in RULES},
    "a long script": ("tools/start", HEAD["sh"] + "echo\n" * 800, "802 lines, at most 800"),
}


# Words that library code does not say: one room of one file, with them and without.
WORDS = {
    "int *p = malloc(4);": "memory is the arena's", 'printf("%d", 1);': "library code neither prints",
    'const char *h = getenv("HOME");': "library code neither prints", "exit(1);": "library code neither prints",
    "json_t *j = json_loads(z, 0, 0);": "JSON is read by base/json_read.h",
    "const char *name = strrchr(path, '/');": "paths are taken apart by base/path.h",
    "goto end;": "a goto goes to done", "static int s_count = 0;": "a global that changes",
    "void etp_ab_x(etp_ab_session *s);": "a stage of a comparison gets the session const",
    "strcpy(a, b);": "banned call",
    'const char *time = strstr(sentence, " takes ");': "a text is looked into",
    'size_t end = etp_str_find(recipe, ETP_STR("; "));': "a text is looked into",
    'bool slow = strcmp(verdict, "slower") == 0;': "a closed set of ours is an enum",
}


def layers(line, question="What is in a room?"):
    tree = new_folder()
    (tree / "src/room").mkdir(parents=True)
    (tree / "include/etprof").mkdir(parents=True)
    rooms = ["room", *(f"room{i}" for i in range(6))]  # no room has more than a sixth
    (tree / "rooms.txt").write_text("".join(f"{room}:  |\n" for room in ("base", *rooms)))
    for room in ("base", "cli", *rooms):
        (tree / "src" / room).mkdir(exist_ok=True)
        (tree / "src" / room / "CMakeLists.txt").write_text(f"# (the license)\n# {question}\n")
    (tree / "docs").mkdir()
    (tree / "docs/architecture.md").write_text(
        "".join(f"| `{room}` | What is in a room? | – |\n" for room in ("base", "cli", *rooms)))
    for room in rooms[1:]:
        (tree / "src" / room / "one.c").write_text(HEAD["c"] + "\n" * 8)
    (tree / "src/room/one.c").write_text(f"{HEAD['c']}void one(void)\n{{\n    {line}\n}}\n")
    done = execute(sys.executable, ROOT / "tests/tools/check_layers.py", tree, tree / "rooms.txt")
    return done.returncode, done.stdout + done.stderr


def lint(files):
    tree = new_folder()
    for path, text in {**files, ".clang-format": (ROOT / ".clang-format").read_text()}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "--quiet"), ("add", "--all")):
        subprocess.run(["git", *words], cwd=tree, env=env, check=True)
    done = execute(sys.executable, ROOT / "tests/tools/lint.py", tree, env=env)
    return done.returncode, done.stdout + done.stderr


code, said = layers('static const char k_one[] = "printf(1)"; // malloc()')
expect(code == 0, "a clean room", code, said)
for line, word in WORDS.items():
    code, said = layers(line)
    expect(code == 1 and word in said, line, code, said)
code, said = layers("return;", "What is in a house?")
expect(code == 1 and "not with its question" in said, "a room with another question", code, said)
code, said = lint(CLEAN)
if code == 77:
    skip(said.strip().removeprefix("skipped: "))
expect(code == 0, "a clean tree", code, said)
for what, (path, text, word) in SINS.items():
    code, said = lint({**CLEAN, path: text})
    expect(code == 1 and word in said, what, code, said)
finish(f"{len(SINS) + len(WORDS)} kinds of sins found")
