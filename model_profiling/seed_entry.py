# SPDX-License-Identifier: Apache-2.0
"""The one way in which the entries of scripts/, export/ and tools/ work: flags of Arm's kit are
translated, then etprof takes the place of this process. Nothing is computed here."""
import argparse
import os
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def say(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def missing(what, instead):
    say(f"etprof cannot do this yet: {what}; {instead}")
    sys.exit(5)


def etprof():
    """$ETPROF, this tree's build, then PATH."""
    built = sorted(ROOT.glob("build/*/bin/etprof"), key=lambda p: p.stat().st_mtime)
    for path in (os.environ.get("ETPROF"), ROOT / "etprof", *built[-1:], shutil.which("etprof")):
        if path and os.access(path, os.X_OK):
            return str(path)
    say("no etprof here: build it with bash model_profiling/scripts/setup_repo.sh, or set ETPROF")
    sys.exit(5)


def become(*words):
    program = etprof()
    print("+ etprof " + " ".join(map(str, words)), file=sys.stderr, flush=True)
    os.execv(program, [program, *map(str, words)])


def options(*table):
    """Each entry: (name, keywords of add_argument). Abbreviations are refused, as etprof does."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name, keywords in table:
        parser.add_argument(name, **keywords)
    return parser.parse_args()


FLAG, NEEDED, TEXT = {"action": "store_true"}, {"required": True}, {}


def pipeline(wanted, device=()):
    o = options(("--config", NEEDED), ("--only", {"nargs": "+", "default": []}), ("--analysis-only", FLAG),
                ("--verbose", FLAG), ("--remote-device", TEXT))
    if wanted == "mac" and platform.system() != "Darwin":
        say(f"this is {platform.system()}, not macOS: the local device is measured")
    words = ["run", o.config, *device]
    words += [w for name in o.only for w in ("--only", name)]
    words += ["--analysis-only"] * o.analysis_only + ["--full"] * o.verbose
    become(*words, *(["--remote-device", o.remote_device] if o.remote_device else []))
