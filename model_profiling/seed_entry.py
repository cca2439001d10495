# SPDX-License-Identifier: Apache-2.0
"""The one way in which the entries of scripts/, export/ and tools/ work: flags of Arm's kit are
translated, then etprof takes the place of this process. Nothing is computed here."""
import argparse
import csv
import itertools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
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


def then(*words):
    """Runs it and goes on, unless it failed."""
    print("+ etprof " + " ".join(map(str, words)), file=sys.stderr, flush=True)
    code = subprocess.run([etprof(), *map(str, words)], check=False).returncode
    if code:
        sys.exit(code if code > 0 else 128 - code)


def fresh(folder):
    """model_profiling/FOLDER, or FOLDER.2, .3 … when it is taken: earlier results stay."""
    names = (f"{ROOT}/model_profiling/{folder}{f'.{k}' if k > 1 else ''}" for k in itertools.count(1))
    return next(n for n in names if not os.path.exists(n))


def has_torch():
    """Would `etprof export` find PyTorch without installing it?"""
    venv = ROOT / ".venv/bin/python"
    python = os.environ.get("ETPROF_PYTHON") or (str(venv) if venv.exists() else sys.executable)
    look = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('executorch')))"
    os.environ["ETPROF_PYTHON"] = python
    return subprocess.run([python, "-c", look], check=False).returncode == 0


def options(*table):
    """Each entry: (name, keywords of add_argument). Abbreviations are refused, as etprof does."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name, keywords in table:
        parser.add_argument(name, **keywords)
    return parser.parse_args()


def side(text):
    """Which of the two a file or a name is of: "off", "on", or None."""
    found = re.findall(r"(?<![a-z])(on|off)(?![a-z])", str(text or "").lower())
    return found[-1] if found else None


def off_first(files, names):
    """The baseline is *off*. The kit's documents give its first tool *on* first and call it SME2-Off:
    what a file is called wins over what it is labelled."""
    if [side(f) for f in files] == ["on", "off"]:
        say("the second file is of SME2 off: it is taken as the baseline")
        files, names = files[::-1], names[::-1]
    if [side(f) for f in files] == ["off", "on"] and [side(n) for n in names] == ["on", "off"]:
        say("the names contradict the files and are swapped")
        names = names[::-1]
    return files, names


def level_of(table):
    """The CPU-feature level that a table of a run folder is of: in its own column, else by the manifest; None: neither
    says it."""
    path = pathlib.Path(table).resolve()
    try:
        with path.open(newline="") as f:
            level = next(csv.DictReader(f), {}).get("level")
        if level and level != "unknown":
            return level
        arms = json.loads((path.parents[1] / "manifest.json").read_text())["plan"]["arms"]
        return next((a["level"] for a in arms if a["name"] == path.parent.name), None)
    except (OSError, ValueError, TypeError, KeyError, IndexError, csv.Error):
        return None


def what_ran(files, names, proven=False):
    """Names with the level beside them where they speak of SME2 and the run was of something else, or nothing says of
    what: a figure of x86 must not be quoted as one of SME2. PROVEN: the tables themselves show what ran."""
    levels = [level_of(f) for f in files]
    called = [n or pathlib.Path(f).resolve().parent.name for f, n in zip(files, names)]
    speaks = any(re.search("sme", n, re.I) for n in called)
    if not speaks or any(level and level.startswith("sme") for level in levels) or (proven and not all(levels)):
        return names
    names = called
    levels = [level or "level unknown" for level in levels]
    say(f"nothing shows that SME2 ran here: {', '.join(f'{n}: {level}' for n, level in zip(names, levels))}")
    return [f"{n} ({level})" for n, level in zip(names, levels)]


def kernels_of(log):
    """What was sampled beside a log of a run folder: etprof's runner writes no list of XNNPACK's kernels into it."""
    path = pathlib.Path(log).resolve()
    table = path.with_name(re.sub(r"(_b\d+)?(_sampled)?$", "", path.stem) + "_kernels.csv")
    if path.suffix != ".log" or not table.is_file() or not (path.parents[1] / "manifest.json").is_file():
        return log
    say(f"{log} is of etprof's runner: the kernels that ran are in {table.name} beside it")
    return str(table)


def program_of(record, strict):
    """The record's options. It leads to source lines by way of its program; without that, or unread,
    it is left out with a warning, as in the kit, unless STRICT."""
    stem = record[:-len(".etrecord")] if record.endswith(".etrecord") else record
    for program in (stem, stem + ".pte"):
        if program.endswith(".pte") and os.path.isfile(program) and os.path.isfile(record):
            return ["--pte", program, "--etrecord", record]
    say(f"{record} is not used: " + ("it does not exist" if not os.path.isfile(record) else
                                     f"its program {stem.removesuffix('.pte')}.pte is not beside it"))
    if strict:
        sys.exit(5)
    return []


def host():
    return "mac" if platform.system() == "Darwin" else "linux"


def folder_here(path):
    """The documents are written on a Mac. Elsewhere a run that was never made there is this machine's own."""
    own = re.sub(r"/runs/mac(?=/|$)", f"/runs/{host()}", path)
    if own != path and not os.path.exists(path) and os.path.isdir(own):
        say(f"{path} is not there, and this is {platform.system()}: {own} is read")
        return own
    if not os.path.exists(path):
        here = "android" if re.search(r"/runs/android(?=[/.]|$)", path) else "mac"
        scripts = f"{ROOT}/model_profiling/scripts"
        say(f"{path} is not there: python {scripts}/{here}_pipeline.py --config CONFIG makes it")
        sys.exit(2)
    return path


FLAG, NEEDED, TEXT = {"action": "store_true"}, {"required": True}, {}


def twin_here(config):
    """Of a config for a Mac the one that is the same for this machine, if there is one."""
    path = pathlib.Path(config)
    twin = path.with_name(re.sub(r"^mac(?=[_.])", host(), path.name))
    return twin if twin.name != path.name and twin.is_file() else None


def pipeline(wanted):
    """A Mac's is this machine, Android's is adb, unless the config has a device of its own. `etprof run` refuses
    a config whose names are of another platform."""
    o = options(("--config", NEEDED), ("--only", {"nargs": "+", "default": []}), ("--analysis-only", FLAG),
                ("--verbose", FLAG), ("--remote-device", TEXT))
    named = of_mac = False
    try:
        text = pathlib.Path(o.config).read_text()
        named = "device" in json.loads(text)
        of_mac = '"mac_' in text or "/runs/mac" in text
    except (OSError, ValueError, TypeError):
        pass  # etprof says what is wrong with it
    if wanted == "mac" != host() and twin_here(o.config):
        say(f"this is {platform.system()}, not macOS: {twin_here(o.config)} is the same config for this machine")
    elif wanted == "mac" != host() and of_mac:
        say(f"this is {platform.system()}, not macOS, and the config names mac: "
            f"model_profiling/configs/templates/{host()}_template.json is the template for this machine")
    words = ["run", o.config]
    if o.remote_device:
        words += ["--device", f"adb:{o.remote_device}"]
    elif not named and not o.analysis_only:
        words += ["--device", {"mac": "local", "android": "adb"}[wanted]]
    words += [w for name in o.only for w in ("--only", name)]
    if o.analysis_only:
        os.environ["ETPROF_NEWEST"] = "1"  # a config names where runs go, not a run
    words += [] if o.analysis_only else ["--plain"]  # the documents go on with the timelines, by their names
    become(*words, *["--analysis-only"] * o.analysis_only, *["--full"] * o.verbose)
