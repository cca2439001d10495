# SPDX-License-Identifier: Apache-2.0
"""A word means the same in every verb: check_options.py ETPROF

Reads the options of all verbs as `etprof help VERB` prints them from the tables. One word has one kind of value, one
letter (or none), and a meaning that is written down here; one letter stands for one word."""
import pathlib
import re
import string
import subprocess
import sys

from checks import execute, expect, finish

ETPROF = sys.argv[1]
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
EVERYWHERE = {"quiet": "q", "help": "h", "format": "f"}
RAW = ("export", "skills", "mcp")  # another program parses their words
KIND = r"(?:[A-Z][A-Za-z0-9_]*(?:[^\sa-z]\S*)?|\{\S*\})(?![a-z])"
# What the values of a word may be called: a narrower word for the same kind of thing.
KINDS = {"NAME[=ATTR]": "NAME"}
# What each word says that several verbs have, as a pattern that all its help texts match. A new one needs a meaning.
MEANS = {
    "baseline": r"compared with|compare the others with|to start from",
    "blocks": r"^exactly K blocks",
    "budget": r"",
    "cool": r"",
    "cpus": r"",
    "data": r"external weights",
    "debug-buffer": r"^debug buffer written beside the dump",
    "decode": r"^text decoders: N tokens one by one",
    "device": r"^local|where to run|another device",
    "etrecord": r"record: adds source lines",
    "format": r"",
    "full": r"every section|also the (checks|files) that ",
    "help": r"",
    "inputs": r"^random:SEED, ones, FILE.npz",
    "iterations": r"timed iterations per launch",
    "levels": r"^levels",
    "limit": r"^with --format github",
    "list": r"^list the (runs|models)",
    "margin": r"same|not a regression",
    "method": r"method",
    "model": r"the same as the operand|this program instead",
    "model-id": r"column model_id",
    "name1": r"what to call (A|the first)",
    "name2": r"what to call (B|the second)",
    "no-install": r"^install nothing",
    "no-trace": r"latency alone",
    "out": r"run folder|write .*there|folder to make|artifacts folder|^\.\.\.",
    "output": r"write there instead of to standard output|file to write",
    "precision": r"interval",
    "plain": r"^keep recordings uncompressed",
    "prefill": r"^text decoders: a prompt",
    "prepare": r"",
    "phase": r"^only the phase of this name",
    "price": r"what each arm costs",
    "pte": r"^the program",
    "python": r"^an interpreter that has",
    "quiet": r"^no progress",
    "save": r"^give the finished run",
    "kernels": r"which kernels ran",
    "packed-cache": r"cache of packed weights",
    "custom-ops": r"library whose kernels the runner loads",
    "resume": r"^go on with an interrupted",
    "roofs-file": r"^roofs of the device",
    "runner": r"runner",
    "seed": r"^of (order|weights) and inputs",
    "table": r"^with --format csv: this table|which rows",
    "threads": r"^(threads|thread counts)",
    "timeout": r"^longest silence of a runner|longest time for one command",
    "title": r"^title of the report|heading",
    "trust": r"",
    "verbose": r"",
    "warmup": r"warm-up iterations",
}
def options(verb):
    """(letter, word, kind of value, help) of each option, from argparse's pages too."""
    text = execute(ETPROF, verb, "--help", check=True).stdout
    for entry in re.findall(r"^ {2,6}-.*(?:\n {20,}.*)*", text, re.M):
        entry = " ".join(entry.split())
        # "-x, --word KIND", as argparse has it "-x KIND, --word KIND" and "--word KIND, --other KIND".
        head = re.match(rf"(?:-(\w)(?: {KIND})?, )?((?:--[\w-]+(?: {KIND})?(?:, )?)+)", entry)
        for word, kind in re.findall(rf"--([\w-]+)(?: ({KIND}))?", head[2]):
            yield head[1], word, KINDS.get(kind, kind), entry[head.end():].strip()


def verbs():
    said = execute(ETPROF, "help", "--all", check=True).stdout
    return re.findall(r"^  ([a-z-]+) +\S", said, re.M)


found = {}
for verb in verbs():
    mine = list(options(verb))
    for word, letter in EVERYWHERE.items():
        if word == "format" and verb in ("convert", "mcp"):
            continue  # what they write is chosen by --to, files are files, messages are messages
        expect((letter, word) in {o[:2] for o in mine}, verb, f"has no -{letter}, --{word}")
    for letter, word, kind, told in mine:
        found.setdefault(word, []).append((verb, letter, kind, told))
letters = {}
for word, rows in sorted(found.items()):
    for verb, letter, _, _ in rows:
        if letter:
            letters.setdefault(letter, {}).setdefault(word, []).append(verb)
    if len(rows) == 1:
        continue
    for what, at in (("a letter", 1), ("a kind of value", 2)):
        given = {row[at] for row in rows} - ({None} if at == 1 else set())
        expect(len(given) <= 1 or word == "format", f"--{word}", f"has not one {what}: {given}",
               [(row[0], row[at]) for row in rows])
    if len({row[3] for row in rows}) > 1:  # the same text, of one row of a table that verbs share, means the same
        expect(word in MEANS, f"--{word}", "is in several verbs: write down what it means", [row[0] for row in rows])
    for verb, _, _, told in rows:
        expect(re.search(MEANS.get(word, ""), told), f"{verb} --{word}", f"means something else: {told}")
for letter, words in sorted(letters.items()):
    expect(len(words) == 1, f"-{letter}", f"stands for several words: {words}")
# The tables themselves: every letter that is taken, and what it stands for.
taken = {}
for verb in verbs():
    for letter in string.ascii_lowercase:
        if verb in RAW:
            continue
        # the word behind it ends every one of these commands before anything is done
        done = execute(ETPROF, verb, f"-{letter}", "1", "--no-such-word", stdin=subprocess.DEVNULL)
        if not re.search(rf"no option -+{letter}\b|has no --format", done.stderr):
            taken.setdefault(letter, set()).add(verb)
for letter, has in sorted(taken.items()):
    shown = {v for w in letters.get(letter, {}).values() for v in w}
    expect(has <= shown, f"-{letter}", "is taken and not shown in", sorted(has - shown))
# Colours are no option: the environment says where a pipe gets them.
for environment, colored in (({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "0"}, False), ({}, False),
                             ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False)):
    done = execute(ETPROF, "ops", DATA / "linear_xnnpack_fp32.etdump", env=environment, text=False)
    expect(done.returncode == 0 and (b"\x1b[" in done.stdout) == colored, "colours", environment, done.stdout[:200])
finish(f"{len(found)} words in {len(verbs())} verbs")
