# SPDX-License-Identifier: Apache-2.0
"""etprof ab MODEL --executorch A,B against a fake runner: what a release changed is planted, and each is named by one
command. The bundles are those of builds.py; what the Python package makes of published wheels is tested in
release_bundles.py.

usage: releases.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import execute, expect, finish, new_folder
from slow_operator import slowed

ETPROF, FAKE, SOURCE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
DATA = pathlib.Path(SOURCE, "tests/data")
DUMP = DATA / "mixed_xnnpack_fp32.etdump"
MB = 1_000_000
FOLDERS = "printf '%s\\n' \"$PWD/a\" \"$PWD/b\""  # what the Python package answers


def build(name, version, dump=DUMP, **more):
    dumps = [f"FAKE_ETDUMP_{level}={pathlib.Path(dump).resolve()}" for level in ("neon", "none")]
    fake_sessions.bundle(name, "/usr/bin/env", f"FAKE_SIDE={name}", *dumps, FAKE, direct=FAKE, version=version,
                         wheel={"file": "x.whl", "sha256": name * 64}, **more)


def measured(*directives, versions="1.4.1,1.5.1", level="neon", extra=(), python=FOLDERS, of="net.pte"):
    """(exit code, answer, first screen, standard error) of one command."""
    fake_sessions.model("net.pte", "noise 4", *directives)
    pathlib.Path("python").write_text(f"#!/bin/sh\necho \"$@\" >asked\n{python}\n")
    pathlib.Path("python").chmod(0o755)
    words = [ETPROF, "ab", of, "--executorch", versions, "--levels", level, "--blocks", "8", "--iterations",
             "3", "--warmup", "1", "--seed", "7", "--out", "run", "--format", "json", *extra]
    done = execute(*words, env={**os.environ, "ETPROF_PYTHON": str(pathlib.Path("python").resolve())})
    screen = execute(ETPROF, "analyze", "run").stdout
    return done.returncode, json.loads(done.stdout) if done.stdout else None, " ".join(screen.split()), done.stderr


def sentence(document):
    return next((f["text"] for f in document["findings"] if f["text"].startswith("what ")), "")


def named(name, document, screen, *words):
    text = sentence(document)
    for word in ("what ExecuTorch 1.5.1 changed against ExecuTorch 1.4.1: ", *words):
        expect(word in text, name, word, text)
    expect(" ".join(text.split()) in screen, name, "not on the first screen", text, screen)


def slower_operator():
    name = "one slower operator"
    pathlib.Path("after.etdump").write_bytes(slowed(DUMP, "native_call_cumsum.out", 2000))
    build("a", "1.4.1+cpu")  # as its version.py says
    build("b", "1.5.1+cpu", "after.etdump")
    code, d, screen, err = measured("side a base * 3178", "side b base * 5178")
    expect(code == 0 and "releases   ExecuTorch 1.4.1,1.5.1: " in err, name, code, err)
    expect(pathlib.Path("asked").read_text().split()[2:] == ["releases", "1.4.1,1.5.1"], name, "asked")
    named(name, d, screen, "takes 1.63× as long", "1 operator takes longer, most cumsum.out [1] (+2.000 µs)")
    arms = [(a["build"], a["executorch"]) for a in d["arms"]]
    expect(arms == [("A", "1.4.1"), ("B", "1.5.1")], name, arms)
    manifest = run_folders.manifest("run")
    hashes = [b["wheel_sha256"] for b in manifest["plan"]["builds"]]
    expect(hashes == ["a" * 64, "b" * 64], name, manifest["plan"]["builds"])


def doubled_packing():
    name = "doubled packing"
    build("a", "1.4.1")
    build("b", "1.5.1")
    code, d, screen, err = measured("base * 3178", "side a load * 10000000", "side b load * 22000000",
                                    f"side a memory * {40 * MB} {32 * MB} {4 * MB}",
                                    f"side b memory * {80 * MB} {64 * MB} {4 * MB}")
    expect(code == 0, name, code, err)
    named(name, d, screen, "takes as long", "loading 10.00 ms → 22.00 ms",
          "packed weights and operators 16.0 MB → 32.0 MB")  # half of what is dirty, as the fake says


def silent_fallback():
    name = "silent fallback"
    build("a", "1.4.1", DATA / "linear_xnnpack_fp32.etdump")
    build("b", "1.5.1", DATA / "linear_portable_fp32.etdump")
    code, d, screen, err = measured("side a base * 3178", "side b base * 6356")
    expect(code == 0, name, code, err)
    named(name, d, screen, "takes 2× as long", "left the delegate, outside it now runs ")


def another_kernel():
    name = "another kernel"
    pathlib.Path("after.etdump").write_bytes(DUMP.read_bytes().replace(b"(NC, F32) GEMM", b"(NC, F32) GEMV"))
    build("a", "1.4.1")
    build("b", "1.5.1", "after.etdump")
    code, d, screen, err = measured("base * 3178")
    expect(code == 0, name, code, err)
    named(name, d, screen, "runs another kernel, Fully Connected (NC, F32) GEMM",
          "→ Fully Connected (NC, F32) GEMV")


def nothing():
    name = "nothing changed"
    build("a", "1.4.1")
    build("b", "1.5.1")
    _, d, screen, _ = measured("base * 3178")
    named(name, d, screen, "takes as long; nothing else changed beyond doubt")


def refused_program():
    """A release that does not load the program is a row of the answer, with its words."""
    for side, version in (("b", "1.5.1"), ("a", "1.4.1")):
        tmp = new_folder()
        os.chdir(tmp)
        build("a", "1.4.1")
        build("b", "1.5.1")
        code, d, screen, err = measured("base * 3178", f"side {side} on * * * error:load")
        expect(code == 6 and d, side, code, err)
        arms = {a["executorch"]: a["launches"] for a in d["arms"]} if d else {}
        expect(arms.get(version) == 0 and sum(arms.values()) > 0, side, arms)
        expect(f"ExecuTorch {version} could not be measured" in screen, side, screen)
        os.chdir(SOURCE)


def python_runtimes():
    name = "Python runtimes"
    build("a", "1.4.1", python=True)
    build("b", "1.5.1", python=True)
    code, d, _, err = measured("base * 3178", level="best")
    expect(code == 6, name, code, err)  # the fake's CPU has SME, of which this recording shows nothing
    told = [f["text"] for f in d["findings"] if "Python runtime" in f["text"]]
    expect(len(told) == 1, name, told)
    expect(all(a["traced_ns"] for a in d["arms"]), name, "recorded")


def no_tracer():
    name = "no tracer"
    build("a", "1.4.1", python=True, tracer=False)
    build("b", "1.5.1", python=True, tracer=True)
    code, d, screen, err = measured("side a base * 3178", "side b base * 6356", level="best")
    expect(code == 0, name, code, err)
    named(name, d, screen, "takes 2× as long")
    told = [f["text"] for f in d["findings"] if "the wheel of ExecuTorch 1.4.1 was built without" in f["text"]]
    expect(len(told) == 1 and not any(a["traced_ns"] for a in d["arms"]), name, told)


def exported():
    """Each release exports the source: what the exporter changed stands beside what the runtime did."""
    name = "exported"
    build("a", "1.4.1")
    build("b", "1.5.1")
    for version, base in (("1.4.1", 3178), ("1.5.1", 6356)):
        fake_sessions.model(f"toy_exporter{version}.pte", "noise 4", f"base * {base}")
    python = f"{FOLDERS}; printf '%s\\n' \"$PWD/toy_exporter1.4.1.pte\" \"$PWD/toy_exporter1.5.1.pte\""
    code, d, screen, err = measured(python=python, of="net")
    expect(code == 0, name, code, err)
    asked = pathlib.Path("asked").read_text().split()
    expect(asked[2:] == ["releases", "1.4.1,1.5.1", "net"], name, asked)
    found = {(c["baseline"][3:16], c["candidate"][3:16], c["candidate"][-1]): c for c in d["comparisons"]}
    runtime = found["_exporter1.4.", "_exporter1.4.", "b"]
    exporter = found["_exporter1.4.", "_exporter1.5.", "a"]
    expect(runtime["verdict"] == "same" and abs(exporter["speedup"]["estimate"] - 0.5) < 0.01, name, d["comparisons"])
    for words in ("exporter1.4.1, ExecuTorch 1.5.1", "exporter1.5.1, ExecuTorch 1.4.1"):
        expect(words in screen, name, words, screen)
    for given, code, words in ((("net", "net.pte"), 2, "releases export one source: give net alone"),
                               (("none.pte",), 5, "none.pte")):
        done = execute(ETPROF, "ab", *given, "--executorch", "1.4.1,1.5.1",
                       env={**os.environ, "ETPROF_PYTHON": str(pathlib.Path("python").resolve())})
        expect(done.returncode == code and words in done.stderr, name, given, done.stderr)


def refused_words():
    for extra, versions, python, code, words in (
        (("--runner", FAKE), "1.4.1,1.5.1", ":", 2, "leave out --runner"),
        (("--runner-a", FAKE), "1.4.1,1.5.1", ":", 2, "leave out --runner"),
        ((), "1.4,1.5", "echo 'no such release' >&2; exit 5", 5, "no such release"),
        ((), "1.4,1.5", "echo 'not two versions' >&2; exit 2", 2, "not two versions"),
    ):
        found, _, _, err = measured("base * 1", versions=versions, extra=extra, python=python)
        expect(found == code and words in err, words, found, err)
    build("a", "1.4.1", python=True)
    build("b", "1.5.1")
    found, _, _, err = measured("base * 1")
    expect(found == 2 and "give two builds of one kind" in err, "kinds", found, err)
    pathlib.Path("b/bundle.json").write_text(pathlib.Path("a/bundle.json").read_text())
    found, _, _, err = measured("base * 1", extra=("--kernels", "always"))
    expect(found != 0 and "--kernels always" in err, "sampled", found, err)
    found, _, _, err = measured("base * 1")  # at neon: a level that hides something
    expect(found != 0 and "leave out --levels neon" in err, "levels", found, err)


for case in (slower_operator, doubled_packing, silent_fallback, another_kernel, nothing, refused_program,
             python_runtimes, no_tracer, exported, refused_words):
    scratch = new_folder()
    os.chdir(scratch)
    case()
    os.chdir(SOURCE)
finish("all as expected")
