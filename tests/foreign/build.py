# SPDX-License-Identifier: Apache-2.0
"""Builds the test runners against the ExecuTorch SDK of scripts/sdk:
build.py [--executorch VERSION] TRIPLE FOLDER [VARIANT...]

Prints nothing; the runners are FOLDER/<variant>. 77 and a reason when there is no SDK or compiler.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VARIANTS = {
    "stock": [],
    "untraced": ["-DWITHOUT_TRACER"],
    "old": ["-DOLD_RELEASE"],
    "silent": ["-DWITHOUT_LOG", "-DWITHOUT_TRACER"],
    "limited": ["-DLIMITED"],
    "other": ["-DOTHER_BUILD=1", "-O0", "-frecord-gcc-switches"],
    "portable": ["-DPORTABLE"],
    "slower": ["-DSLOWER=20"],
    "text": [],
    "text_slow": ["-DSLOW"],
    "text_untraced": ["-DWITHOUT_TRACER"],
    "text_old": ["-DOLD_RELEASE"],
    "beside": [],
}
FOUND_BESIDE = {"beside"} # its libraries lie where it lies
LEFT_OUT = {"portable": ["_backend_xnnpack"]} # libraries that a variant is not linked to
PARTS = ["", "_kernels_optimized", "_kernels_quantized", "_backend_xnnpack", "_threadpool", "_etdump"]


class Missing(Exception):
    pass


def sdk(triple, version=None):
    done = execute(os.path.join(ROOT, "scripts", "sdk"), triple, *([version] if version else []))
    if done.returncode != 0:
        raise Missing("no ExecuTorch SDK for %s: %s" % (triple, (done.stderr.strip() or "?").splitlines()[-1]))
    return done.stdout.strip().splitlines()[-1]


def compiler(triple):
    name = "c++" if triple.split("-")[0] == os.uname().machine else triple + "-g++"
    try:
        subprocess.run([name, "--version"], stdout=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise Missing("no compiler " + name) from None
    return name


def selftest_model(name):
    """A model of the runner's self-test (linear, conv), from the C array it is embedded as."""
    with open(os.path.join(ROOT, "runner", "selftest", "models.h")) as f:
        body = re.search(r"k_selftest_%s\[\] = \{(.*?)\};" % name, f.read(), re.S).group(1)
    return bytes(int(b) for b in body.replace("\n", "").split(",") if b.strip())


def needed(target, sources, words):
    """Is TARGET not what these sources and words make?"""
    h = hashlib.sha256("\0".join(words).encode())
    for s in sources:
        with open(s, "rb") as f:
            h.update(f.read())
    key, path = h.hexdigest(), target + ".key"
    if os.path.exists(target) and os.path.exists(path) and open(path).read() == key:
        return None
    return key


def make(words, target, sources, key_words):
    key = needed(target, sources, key_words)
    if key is None:
        return
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(words), done.stdout))
    with open(target + ".key", "w") as f:
        f.write(key)


def build(triple, folder, variants, version=None):
    package, cxx = sdk(triple, version), compiler(triple)
    os.makedirs(folder, exist_ok=True)
    include = os.path.join(package, "include")
    base = [cxx, "-std=c++17", "-O2", "-Wno-deprecated-declarations"]
    engine_words = base + ["-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED",
                           "-DET_USE_THREADPOOL", "-isystem", include, "-isystem",
                           include + "/executorch/runtime/core/portable_type/c10"]
    engine = os.path.join(folder, "engine.o")
    header, flags = (os.path.join(HERE, name) for name in ("engine.h", "flags.h"))
    source = os.path.join(HERE, "engine.cpp")
    make(engine_words + ["-c", source, "-o", engine], engine, [source, header], engine_words)
    lib = os.path.join(package, "lib")
    for v in variants:
        front = os.path.join(HERE, "text_runner.cpp" if v.startswith("text") else "stock_runner.cpp")
        target = os.path.join(folder, v)
        words = base + VARIANTS[v]
        parts = [p for p in PARTS if p not in LEFT_OUT.get(v, [])]
        libraries = ["-L" + lib, "-Wl,--no-as-needed"] + ["-lexecutorch" + p for p in parts] + [
            "-Wl,-rpath," + ("$ORIGIN" if v in FOUND_BESIDE else lib), "-ldl"]
        sources = [front, header, flags, engine]
        make(words + [front, engine, "-o", target] + libraries, target, sources, words + libraries)


if __name__ == "__main__":
    try:
        given = sys.argv[1:]
        chosen = given[1] if given[0] == "--executorch" else None
        given = given[2:] if chosen else given
        build(given[0], given[1], given[2:] or list(VARIANTS), chosen)
    except Missing as reason:
        skip(reason)
