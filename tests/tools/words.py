# SPDX-License-Identifier: Apache-2.0
"""How sentences are written here, as far as a pattern can tell: kinds of sentences that readers have to solve before
they can use them. Each has one that was found and had to go, which the test of scripts/lint plants. lint.py holds
every message, help text, page and public header against them."""
import ast
import re

# name, pattern, a sentence that has to be found, how it is said instead
RULES = [
    ("X is no Y",
     r"(?<![Tt]here )(?<!it )\b(?:is|are) no (?!longer|more|less|better|worse|faster|slower|later|earlier)[a-z]",
     "times of an emulator are no roofs", "is not a Y"),
    ("is nothing that", r"\b(?:is|are) nothing (?:that|which|who)\b", "that is nothing that devices can do", "cannot"),
    ("Who does X can", r"(?:^|[.:;(] )Who [a-z][^.?]*(?:[.;]|$)", "Who has built already can use CMake alone",
     "If you have"),
    ("is not told", r"\b(?:is|are|was|were) not told\b", "the ratio is not told", "is not shown"),
    ("too little for", r"\btoo little (?:for|to)\b", "one digit is too little for this", "needs at least two"),
    ("whoever", r"\b(?:[Ww]ho(?:so)?ever|(?:some|no)body who)\b", "whoever has it can check it", "you, anyone"),
    ("only it", r"\bonly (?:it|them) [a-z]+", "sending only it back", "it alone"),
    ("what has none", r"\b[Ww]hat (?:has|have|had) none\b", "what has none stays away", "name the thing"),
]
COMPILED = [(name, re.compile(pattern, re.MULTILINE), better) for name, pattern, _, better in RULES]
QUOTED = re.compile(r'"((?:\\.|[^"\\\n])*)"')
PAGES = ("docs/", "README.md", "CONTRIBUTING.md", "SECURITY.md", "agent_skill_ml_profiling/", "agentic-kits/",
         "model_profiling/", "examples/", "bench/README.md")


def in_python(text):
    """Its strings, each with its line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def in_c(text):
    """Its strings: neighbours are one sentence."""
    sentence, begin = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        found = QUOTED.findall(line.split(" // ")[0])
        if not found and sentence:
            yield begin, sentence
            sentence = ""
        for part in found:
            begin = begin if sentence else number
            sentence += part
    yield begin, sentence


def texts(name, text):
    """What of the file NAME people read, as (line, text)."""
    if name.startswith("src/") and name.endswith((".c", ".h", ".def")):
        yield from in_c(text)
    elif name.startswith("python/") and name.endswith(".py"):
        yield from in_python(text)
    elif name.startswith("include/") or (name.startswith(PAGES) and name.endswith(".md")):
        yield from enumerate(text.splitlines(), 1)


def riddles(name, text):
    """(line, what is wrong) for each sentence of a kind that RULES has."""
    for line, words in texts(name, text):
        for rule, pattern, better in COMPILED:
            found = pattern.search(words)
            if found:
                yield line, f"'{rule}' ({better}): …{words[max(0, found.start() - 40):found.end() + 40]}…"
