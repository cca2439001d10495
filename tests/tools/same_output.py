# SPDX-License-Identifier: Apache-2.0
"""same_output.py OLD_BUILD NEW_BUILD [FOLDER...]: do two builds of etprof answer alike, byte for byte?

How a refactoring is proven: build the tree before and after, name both build folders. Every verb that reads is run in
every format over every model, recording, record, table and run folder of this tree (and of ETPROF_CORPUS, of
../shared/corpus where it is, and of the FOLDERs): standard output, standard error, exit code, and all files written are
compared. What measures cannot be compared; a session with the fake runner, made once, stands for it. Differences are
printed; --keep DIR keeps both outputs of each. Ends with 1 when there are any."""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import phase_folders
import run_folders

TREE = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ("text", "json", "csv", "md")


def each_format(*arguments, formats=FORMATS):
    return [[*arguments, "--format", f] for f in formats]


def of_file(path):
    """Commands that read PATH alone."""
    name, path = path.name, str(path)
    if name.endswith((".pte", ".ptd", ".bpte")):
        yield from each_format("inspect", path)
        yield ["inspect", path, "--tree"]
        yield ["validate", path, "--format", "json"]
    elif name.endswith(".etrecord"):
        yield from each_format("inspect", path)
    elif name.endswith(".etdump"):
        yield from each_format("ops", path, formats=(*FORMATS, "inspector", "inspector-json"))
        yield from each_format("inspect", path)
        yield from each_format("analyze", path)
        yield ["analyze", path, "--full"]
        yield ["analyze", path, "--out", "made"]
        yield ["validate", path, "--format", "json"]
        for to in ("chrome", "speedscope", "folded"):
            yield ["convert", path, "--to", to, "-o", f"made.{to}"]
    elif name.endswith(".csv"):
        yield from each_format("stats", path)
    elif name.endswith(".json"):
        yield ["validate", path, "--format", "json"]


def of_pairs(programs, dumps):
    """Commands over a program with its recordings, and over pairs of these."""
    for program in programs:
        mine = sorted(d for d in dumps if d.name.split(".")[0] == program.stem)
        for dump in mine:
            yield ["ops", str(dump), "--pte", str(program), "--format", "json"]
            yield ["inspect", str(program), "--etdump", str(dump)]
            yield ["convert", str(dump), "--pte", str(program), "--to", "chrome", "-o", "made.json"]
            record = program.with_suffix(".etrecord")
            if record.exists():
                yield ["ops", str(dump), "--pte", str(program), "--etrecord", str(record), "--format", "json"]
        for a, b in itertools.combinations(mine, 2):
            yield ["compare", str(a), str(b), "--pte", str(program), "--format", "json"]
        for a, b in list(itertools.combinations(mine, 2))[:2]:
            yield from each_format("compare", str(a), str(b), "--pte", str(program), formats=("text", "csv", "md"))
            yield ["compare", str(a), str(b), "--pte", str(program), "--full"]
            yield ["compare", str(a), str(b), "--pte", str(program), "--out", "made"]
            yield ["whatif", str(a), str(b), "drop transpose*", "conv* x2", "--format", "json"]
            for claim in ("F1", "N1", "drift", "boundary", "op0"):
                yield ["explain", claim, str(a), str(b)]
            yield ["convert", str(a), str(b), "--to", "chrome", "-o", "made.json"]
        if len(mine) > 2:
            yield ["analyze", *map(str, mine[:4]), "--format", "json"]
            yield ["analyze", *map(str, mine[:4])]


def of_folder(folder):
    """Commands over a run folder; each gets its own copy."""
    for verb in ("analyze", "validate", "verify", "stats", "kernels"):
        yield from each_format(verb, folder)
    yield ["analyze", folder, "--full"]
    yield ["analyze", folder, "--proof"]
    yield ["analyze", folder, "--out", "made"]
    yield from each_format("gate", folder, "speedup >= 1", "noise <= 1 %")
    yield ["gate", folder, "speedup >= 1", "--junit", "made.xml"]
    yield ["whatif", folder, "drop transpose*", "threads 2"]
    for claim in ("", "F1", "F2", "N1", "N2", "drift", "tracer", "thermal", "boundary", "op1"):
        yield ["explain", *([claim] if claim else []), folder]
    for to in ("parquet", "chrome", "folded"):
        yield ["convert", folder, "--to", to, "-o", f"made.{to}"]
    yield ["analyze", folder, folder, "--format", "md"]
    for pair in ("arm0 arm1", "linux_avx2 linux_sse", "linux_sme2 linux_neon"):
        a, b = pair.split()
        yield from each_format("compare", f"{folder}:{a}", f"{folder}:{b}")
        yield ["compare", f"{folder}:{a}", f"../../../made/arms:{b}", "--format", "json"]
    yield ["compare", folder, str(TREE / "tests/data/mixed_xnnpack_fp32.etdump"), "--format", "json"]


def of_words():
    """Commands that need no file."""
    yield ["help", "--all"]
    for topic in ("exit-codes", "levels", "formats"):
        yield ["help", topic]
    for shell in ("bash", "zsh", "fish"):
        yield ["help", "--completion", shell]
    verbs = ("ab run analyze compare explain whatif gate report convert validate verify rerun kernels "
             "ops inspect stats export doctor roofs").split()
    for verb in verbs:
        yield ["help", verb]
        yield ["help", "--man", verb]
        if verb == "export":  # Python's; what they need would be installed
            continue
        if verb not in ("doctor", "roofs"):
            yield [verb]
        yield [verb, "--no-such-option"]
        yield [verb, "/no/such/file"]


class Side:
    def __init__(self, build, scratch, name):
        self.etprof = str(pathlib.Path(build).resolve() / "bin/etprof")
        self.root = scratch / name
        self.root.mkdir()

    def run(self, number, arguments, folder):
        """(what came out, as one list of named bytes). The working directory has the same name on both sides."""
        work = self.root / str(number) / "work"
        work.mkdir(parents=True)
        if folder:
            shutil.copytree(folder, work / "folder", symlinks=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                       "SOURCE_DATE_EPOCH": "0"}
        done = subprocess.run([self.etprof, *arguments], cwd=work, env=environment, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=600)
        here = str(work).encode()
        out = {"exit": str(done.returncode).encode(), "stdout": done.stdout.replace(here, b"WORK"),
               "stderr": done.stderr.replace(here, b"WORK").replace(self.etprof.encode(), b"etprof")}
        for path in sorted(work.rglob("*")):
            if path.is_file() and not path.is_symlink():
                out[str(path.relative_to(work))] = path.read_bytes().replace(here, b"WORK")
        shutil.rmtree(work.parent)
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old"), parser.add_argument("new")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    old_build = pathlib.Path(options.old).resolve()
    places = [TREE / "tests/data", TREE / "examples", *options.folders]
    corpus = pathlib.Path(os.environ.get("ETPROF_CORPUS", TREE.parent / "shared/corpus"))
    places += [corpus] if corpus.is_dir() else []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        session = scratch / "session"
        model = shutil.copy(TREE / "tests/data/linear_xnnpack_fp32.pte", scratch)  # the fake runner writes beside it
        subprocess.run([old_build / "bin/etprof", "ab", model, "--levels", "sme2,neon",
                        "--runner", old_build / "bin/fake_runner", "--blocks", "6", "--iterations", "8", "--warmup",
                        "2",
                        "--seed", "1", "--out", session], capture_output=True, check=False, stdin=subprocess.DEVNULL,
                       cwd=scratch)
        made = scratch / "made"
        run_folders.make(made / "arms", 3, blocks=6)
        phase_folders.make(made / "phases", lambda phase, level, threads, model: 1000000 + 1000 * len(phase + level))
        phase_folders.make(made / "cells", lambda *arm: 1000000 + 1000 * len(str(arm)), threads=(1, 2),
                           models=("m0", "m1"))
        files = sorted({p for place in places for p in place.rglob("*") if p.is_file()
                        and not (p.parent / "manifest.json").exists()
                        and not (p.parent.parent / "manifest.json").exists()})
        folders = sorted({p.parent for place in [*places, session, made] for p in place.rglob("manifest.json")})
        cases = [(arguments, None) for arguments in of_words()]
        cases += [(arguments, None) for path in files for arguments in of_file(path)]
        cases += [(a, None) for a in of_pairs([f for f in files if f.suffix == ".pte"],
                                              [f for f in files if f.suffix == ".etdump"])]
        cases += [(arguments, folder) for folder in folders for arguments in of_folder("folder")]
        sides = [Side(options.old, scratch, "a"), Side(options.new, scratch, "b")]

        def compare(case):
            number, (arguments, folder) = case
            old, new = (side.run(number, arguments, folder) for side in sides)
            differ = [name for name in sorted(set(old) | set(new)) if old.get(name) != new.get(name)]
            if differ and options.keep:
                for side, out in (("old", old), ("new", new)):
                    for name in differ:
                        path = options.keep / f"{number:05}" / side / name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(out.get(name, b""))
            return number, arguments, differ, sum(map(len, old.values()))

        failed = total = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, arguments, differ, size in pool.map(compare, enumerate(cases)):
                total += size
                if differ:
                    failed += 1
                    print(f"{number:05} differs in {', '.join(differ)}: etprof {' '.join(arguments)}", flush=True)
    print(f"{len(cases)} commands over {len(files)} files and {len(folders)} run folders, {total} bytes: "
          f"{failed} differ" if failed else
          f"{len(cases)} commands over {len(files)} files and {len(folders)} run folders, {total} bytes: all the same")
    return 1 if failed else 0


sys.exit(main())
