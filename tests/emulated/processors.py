# SPDX-License-Identifier: Apache-2.0
"""x86-64 processors that this machine is not: unit tests and the runner under qemu-x86_64's CPU models.

What a model can do is taken from its maker's documents: Nehalem and Westmere know no AVX, Sandy Bridge no AVX2,
Haswell and Zen have it. QEMU emulates no AVX-512 and, in old versions, no SHA and no PREFETCHW bit.

usage: processors.py BIN_FOLDER ETPROF_LAUNCH BUNDLE"""
import json
import os
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from checks import ended, execute, expect, finish, skip

# model: the levels it has, words its flags must hold, words they must not
MODELS = {
    "Nehalem": (["sse"], {"sse4_2", "popcnt"}, {"avx", "aes", "avx2", "avx512f"}),
    "Westmere": (["sse"], {"sse4_2", "aes"}, {"avx", "avx2", "avx512f"}),
    "Denverton": (["sse"], {"sse4_2", "movbe"}, {"avx", "avx2", "fma3", "avx512f"}),
    "Haswell": (["sse", "avx2"], {"avx", "avx2", "fma3", "bmi2"}, {"avx512f", "avx512vnni"}),
    "EPYC": (["sse", "avx2"], {"avx2", "fma3", "sse4a"}, {"avx512f", "avx512vnni"}),
}
TESTS = ("isa_cpu", "isa_x86", "isa_level", "isa_text", "isa_name", "wire_lines", "wire_cmd")
AVX2 = ("x86_64:avx512vnni,gfni,avx512bf16,avx512fp16,amx_bf16,amx_tile,amx_int8,amx_fp16,avx512f,avx512pf,avx512er,"
        "avx512cd,avx512dq,avx512bw,avx512vl,avx512ifma,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,"
        "avx512vp2intersect,avx512_4vnniw,avx512_4fmaps,avx10_1,avx10_2")
MASKS = {"sse": AVX2 + ",avx,f16c,fma3,avx2,avxvnni", "avx2": AVX2}


def emulator():
    for name in ("qemu-x86_64", "qemu-x86_64-static"):
        if shutil.which(name):
            return shutil.which(name)
    ours = execute(ROOT / "scripts" / "qemu")
    beside = os.path.join(os.path.dirname(ours.stdout.strip()), "qemu-x86_64")
    if ours.returncode == 0 and os.access(beside, os.X_OK):
        return beside
    skip("no qemu-x86_64; on Debian: apt-get install qemu-user")
    return None


def run(words, text="", **env):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("ETPROF_")}
    return execute(*words, input=text, env={**plain, **env})


def unit_tests(qemu, model, folder):
    ran = 0
    for name in TESTS:
        test = os.path.join(folder, "test_" + name)
        if os.access(test, os.X_OK):
            ended(run([qemu, "-cpu", model, test]), 0, 77)
            ran += 1
    expect(ran >= 5, "only %d of the tests are there" % ran)


def flags_of(qemu, model, launch):
    done = run([qemu, "-cpu", model, launch, "--probe"])
    words = set(done.stdout.strip().split(":")[-1].split(","))
    has, lacks = MODELS[model][1:]
    expect(done.returncode == 0 and has <= words, model, "lacks", sorted(has - words))
    expect(not words & lacks, model, "has", sorted(words & lacks))


def levels(qemu, model, bundle):
    """Every level this processor has can be set and computes; the next one is refused."""
    runner = os.path.join(bundle, "etprof-runner")
    program = str(ROOT / "tests" / "data" / "mixed_xnnpack_fp32.pte")
    for level, mask in MASKS.items():
        done = run([qemu, "-cpu", model, runner, "--model", program, "--level", level], "run 3\n", ETPROF_MASK=mask)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if level in MODELS[model][0]:
            expect(done.returncode == 0 and lines[-1].get("n") == 3, model, level, done.stdout[-400:]
                   + done.stderr[-400:])
            seen = lines[0].get("flags", "x86_64:none").split(":")[1].split(",")
            expect(not set(seen) & set(mask.split(":")[1].split(",")), model, level, "what is hidden is seen", seen)
        else:
            expect(done.returncode == 1 and lines[-1].get("code") == "level", model, level, "should be refused",
                   done.stdout[-300:])


def main():
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("the programs to emulate are x86-64 Linux ones")
    qemu = emulator()
    folder, launch, bundle = sys.argv[1:]
    known = run([qemu, "-cpu", "help"]).stdout
    for model in MODELS:
        expect(model in known, "this qemu-x86_64 knows no", model)
        unit_tests(qemu, model, folder)
        flags_of(qemu, model, launch)
        if os.path.isdir(bundle):
            levels(qemu, model, bundle)
    if not os.path.isdir(bundle):
        print("left out: the runner, which is not built (scripts/build-runner)")
    finish("%d processors as expected" % len(MODELS))


if __name__ == "__main__":
    main()
