# SPDX-License-Identifier: Apache-2.0
"""Names and words that hold control sequences: nothing that etprof prints, to either stream, moves the cursor, colours,
hides or reorders; tables for spreadsheets begin no cell with a formula.

usage: control_sequences.py ETPROF FAKE_RUNNER SOURCE_ROOT"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders
from checks import ended, execute, expect, finish, new_folder

ETPROF, FAKE, ROOT = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m\u202egnp\x08\x08"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printed(what, done):
    """Both streams are text: valid UTF-8, without controls but line breaks (a progress line may return to its
    start)."""
    for name, data in (("stdout", done.stdout), ("stderr", done.stderr)):
        try:
            text = data.decode()
        except UnicodeDecodeError as e:
            expect(False, what, name, f"no UTF-8: {e}")
            continue
        expect(not re.search(r"^\s*(::[a-z]|##\[)", text, re.M), what, name, "a line is a command of CI", text[:200])
        found = RAW.search(text.replace("\r", "") if name == "stderr" else text)
        expect(not found, what, name, repr(text[max(0, found.start() - 30):found.end() + 10]) if found else "")


def call(tmp, *args, **env):
    return execute(os.fsencode(ETPROF), *(a if isinstance(a, bytes) else str(a).encode() for a in args), cwd=tmp,
                   stdin=subprocess.DEVNULL, env={**os.environ, **env}, text=False)


def manifests(tmp):
    edits = {
        "state": lambda m: m.update(state=EVIL),
        "schema": lambda m: m.update(schema="etprof.run/" + EVIL),
        "device": lambda m: m["device"].update(spec=EVIL),
        "model": lambda m: m["models"][0].update(path=EVIL, stem="m\u202e"),
        "level": lambda m: m["plan"]["arms"][0].update(level=EVIL),
        "command": lambda m: m.update(command=EVIL),
        "notes": lambda m: m.update(notes=[{"id": "x", "text": EVIL}]),
        "facts": lambda m: m["device"]["facts"].update({EVIL: EVIL}),
        "lost": lambda m: m.update(lost=[{"arm": 0, "block": 1, "launch": 1, "attempt": 1, "recovered": False,
                                          "kind": "timed",
                                          "reason": "crash", "detail": EVIL}]),
        "platform": lambda m: m["device"].update(platform=EVIL),
        "a key": lambda m: m.update({EVIL: 1}),
    }
    base = run_folders.make(tmp / "base", 2)
    for what, change in edits.items():
        shutil.rmtree(tmp / "run", ignore_errors=True)
        shutil.copytree(base, tmp / "run")
        manifest = run_folders.manifest(base)
        change(manifest)
        (tmp / "run" / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False))
        for verb in (["analyze", "run", "--full"], ["verify", "run"], ["validate", "run"],
                     ["rerun", "run"],
                     ["ab", "--resume", "run"], ["stats", "run"], ["history", "run"], ["gate", "run", "noise <= 1 %"],
                     ["analyze", "run", "--format", "json"], ["stats", "run", "--format", "json"],
                     ["history", "run", "--format", "json"]):
            printed(f"{verb[0]} with {what}", call(tmp, *verb))


def files(tmp):
    name = ("x" + EVIL + ".etdump").encode()
    (tmp / "d").mkdir()
    (tmp / "d" / os.fsdecode(b"bad\xff\xfe\x1b[2J.etdump")).write_bytes(b"no dump")
    (tmp / os.fsdecode(name)).write_bytes(b"no dump")
    (tmp / "s.csv").write_text(f"experiment,block,iteration,duration_ns\n{EVIL},1,0,{EVIL}\n")
    (tmp / "c.json").write_text(json.dumps({"model": EVIL, "experiments": [{"name": EVIL, EVIL: 1}]},
                                           ensure_ascii=False))
    for args in (["ops", name], ["analyze", name], ["analyze", "d"], ["inspect", name], [EVIL], ["ab", EVIL],
                 ["analyze", "--" + EVIL],
                 ["stats", "s.csv"], ["run", "c.json"], ["validate", "c.json"], ["validate", name],
                 ["compare", name, EVIL], ["kernels", name], ["explain", EVIL, "d"], ["whatif", "d", EVIL],
                 ["ab", "m.pte", "--device", EVIL],
                 ["convert", name, "--to", EVIL], ["history", name], ["gate", "d", EVIL]):
        printed(f"{args[0]!r} of hostile names", call(tmp, *args))


def programs(tmp):
    """What a runner and adb say."""
    for kind, text in (("stdout", EVIL), ("stderr", EVIL),
                       ("json", '{"type":"error","code":"x","message":"' + EVIL.encode("unicode_escape").decode()
                        + '"}')):
        runner = tmp / "etprof-runner"
        runner.write_text(f"#!/bin/sh\nprintf '%s\\n' '{text}'{' >&2' if kind == 'stderr' else ''}\nexit 3\n")
        runner.chmod(0o755)
        (tmp / "m.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1\n")
        printed(f"a runner's {kind}", call(tmp, "ab", "m.pte", "--runner", runner, "--blocks", "1", "--out",
                                           f"o-{kind}"))
    adb = tmp / "adb"
    adb.write_text(
        f"#!/bin/sh\nprintf 'List of devices attached\\n%s\\tdevice\\n' '{EVIL}'\nprintf '%s' '{EVIL}' >&2\n"
    )
    adb.chmod(0o755)
    printed("devices", call(tmp, "doctor", "devices", PATH=f"{tmp}:{os.environ['PATH']}"))
    printed("ab on adb", call(tmp, "ab", "m.pte", "--device", "adb", PATH=f"{tmp}:{os.environ['PATH']}"))


def typed(tmp):
    """What was typed comes back in messages of every verb, of C and of Python."""
    word = "x\n::error::y\x1b[2J"
    for words in (("export", "--new", word), ("export", word), ("export", "m", "--out", word, "--backend", word),
                  ("history", word), ("history", "--since", word), ("validate", word), ("skills", word),
                  ("skills", "run", word), ("mcp", word), ("convert", word, "--to", "parquet"), ("ab", word),
                  ("ab", word, "--levels", word), ("gate", word), ("gate", ".", "--against", word), ("run", word),
                  ("analyze", word), ("explain", word, word), ("doctor", word), ("stats", word), ("roofs", word),
                  ("verify", word), ("ops", word), ("inspect", word), ("kernels", word), (word,), ("help", word)):
        printed(f"typed: {words[:2]}", call(tmp, *words))


def recordings(tmp):
    """Names of operators of the same length: none begins a line that a CI runner obeys, in any form."""
    dump = (pathlib.Path(ROOT) / "tests/data/mixed_xnnpack_fp32.etdump").read_bytes()
    names = {b"DELEGATE_CALL": b"\n::error::xyz", b"native_call_cumsum.out": "::error::\u202ea\ufe0fbc".encode()}
    for old, new in names.items():
        expect(dump.count(old) > 0 and len(new) <= len(old), "the recording has other names", old)
        dump = dump.replace(old, new.ljust(len(old), b"x"))
    (tmp / "h.etdump").write_bytes(dump)
    for args in (["ops", "h.etdump"], ["ops", "h.etdump", "--format", "csv"], ["ops", "h.etdump", "--format", "md"],
                 ["ops", "h.etdump", "--format", "inspector"],
                 ["analyze", "h.etdump"], ["analyze", "h.etdump", "--full"], ["inspect", "h.etdump"],
                 *(["convert", "h.etdump", "--to", to] for to in ("chrome", "folded", "speedscope"))):
        done = ended(call(tmp, *args), 0)
        printed(" ".join(args), done)
        lines = [line for line in done.stdout.decode().splitlines() if re.match(r'\s*"?::error', line)]
        expect(not lines and "\ufe0f" not in done.stdout.decode(), " ".join(args), "a command to CI", lines)


def spreadsheets(tmp):
    """Names that a spreadsheet would run: level and experiment of a folder, kit's names of a dump."""
    base = run_folders.make(tmp / "run", 2, name="=cmd")
    manifest = run_folders.manifest(base)
    for arm in manifest["plan"]["arms"]:
        arm["level"] = "@sse"
    manifest["models"][0]["stem"] = "-model"
    (base / "manifest.json").write_text(json.dumps(manifest))
    ended(call(tmp, "analyze", "--full", "--renew", "run"), 0)
    seen = 0
    tables = [(p.name, p.read_text()) for p in base.rglob("*.csv") if p.name != "samples.csv"]
    tables.append(("history", call(tmp, "history", "run", "--format", "csv").stdout.decode()))
    for name, text in tables:
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                seen += 1
                risky = cell[:1] in ("=", "+", "-", "@") and not re.fullmatch(r"[+-][0-9.eE+-]+", cell)
                expect(not risky, name, "a cell begins with", cell[:20])
    expect(seen > 50, "spreadsheets", f"only {seen} cells were seen")


def one_place():
    """Nobody else in the command line writes to standard error."""
    for path in pathlib.Path(ROOT, "src", "cli").glob("*.c"):
        if path.name != "say.c":
            expect(not re.search(r"fprintf\(stderr|fput[sc]\([^;]*stderr\)|perror\(", path.read_text()), path.name,
                   "prints by itself")


for part in (manifests, files, typed, programs, recordings, spreadsheets):
    tmp = new_folder()
    part(tmp)
one_place()
finish()
