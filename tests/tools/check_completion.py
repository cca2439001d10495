# SPDX-License-Identifier: Apache-2.0
"""What a shell offers, and how long the first help is: check_completion.py ETPROF

Completion of bash is asked by bash; what zsh and fish are given is read as text (they need not be here). Words that an
option takes are those that other pages list: levels of `etprof doctor levels`, formats of `convert --help`, kinds of
devices of `etprof ab --help`."""
import os
import re
import subprocess
import sys

from checks import execute, expect, finish

ETPROF = os.path.abspath(sys.argv[1])
AT = {"ab": "--levels", "roofs": "--device", "convert": "--to"}


def said(*words):
    done = execute(ETPROF, *words, check=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    return done.stdout


def bash(script, *words):
    ask = 'eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _etprof; printf "%s\\n" "${COMPREPLY[@]}"'
    done = execute("bash", "-c", ask, "bash", script, "etprof", *words, check=True)
    return done.stdout.split()


def expected():
    """The words of each option, from what other pages say."""
    page = " ".join(said("convert", "--help").split())
    formats = re.search(r"--to FORMAT [^:]*: ((?:[\w-]+, )+[\w-]+)", page)
    device = re.search(r"--device \S+ +(.*?) --", " ".join(said("ab", "--help").split()))
    levels = set(re.findall(r"^\| `?([a-z0-9_]+)`? \|", said("doctor", "levels", "--format", "md"), re.M)) - {"level"}
    expect(formats and device and levels, "pages that list words", formats, device, levels)
    kinds = {"ssh:" if kind == "ssh" else kind for kind in ("local", "adb", "ssh", "qemu") if kind in device[1]}
    expect(len(kinds) == 4, "kinds of devices", device[1])
    # `levels` lists those of this machine; what is measured may be another device.
    return {"--to": set(formats[1].split(", ")), "--levels": levels | {"sme2", "sme1", "neon", "vnni", "avx2"},
            "--device": kinds}


def completions(wanted):
    script, zsh, fish = (said("help", "--completion", shell) for shell in ("bash", "zsh", "fish"))
    for verb, option in (*AT.items(), ("ab", "--device")):
        words = wanted[option]
        expect(words <= set(bash(script, verb, option, "")), "bash", verb, option, bash(script, verb, option, ""))
        line = re.search(rf"^complete -c etprof -n '\w+ {verb}' -l {option[2:]}\b.*", fish, re.M)
        given = re.search(r"-a '([^']*)'", line[0]) if line else None
        expect(given and words <= set(given[1].split()), "fish", verb, option, line and line[0])
        part = zsh.split(f"\n    {verb})\n")[1].split(" ;;\n")[0]
        row = next((r for r in part.splitlines() if f"{option}[" in r or f"{option}}}'[" in r), "")
        given = set(re.sub(r"\\", "", row.rpartition(":")[2] if ":(" not in row else row.rpartition(":(")[2])
                    .strip("') ").split())
        expect({w.rstrip(":") for w in words} <= {w.rstrip(":") for w in given}, "zsh", verb, option, row)
    for verb in re.findall(r"^  ([a-z-]+) +\S", said("help", "--all"), re.M):
        expect(verb in bash(script, verb[:2]) and f"-a {verb} " in fish and f"'{verb}:" in zsh, "no verb", verb)


def helps():
    """-h is at most 15 lines of 80 columns; --help of what measures has its options in groups, `help` its verbs."""
    page = said("help", "--all")
    for verb in re.findall(r"^  ([a-z-]+) +\S", page, re.M):
        lines = said(verb, "-h").splitlines()
        expect(verb == "export" or len(lines) <= 15, verb, f"-h has {len(lines)} lines")
    for group in ("measure", "explain", "files", "set-up and check"):
        expect(f"\n{group}\n  " in page, "help", "no group", group)
    for verb in ("ab",):
        groups = re.findall(r"^([a-z][^\n]*)\n  +-", said(verb, "--help"), re.M)
        expect(len(groups) >= 4, verb, "--help", groups)


completions(expected())
helps()
finish("words are completed in three shells, and the first help is short")
