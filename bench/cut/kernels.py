#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels replaced in a copy of the runner's library: does `etprof ab --numerics` name the first operator that ran it?

usage: bench/cut/kernels.py ETPROF BUNDLE MODEL.pte...
  BUNDLE  a runner's folder for x86-64 (build/bundle/x86_64-linux-gnu)

A session of two blocks samples which kernel each operator runs, at avx2. In a copy of the bundle each of these kernels
in turn has its multiply-adds turned into negated ones (one byte of vfmadd231ps; needs objdump), and the two bundles are
held against each other. The truth is the earliest operator that was sampled in that kernel; one that is too short for
samples and lies before it runs the kernel, too, so another answer is to be looked at. Goal: every kernel's is named."""
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LEVEL = "avx2"
LIBRARY = "libexecutorch_backend_xnnpack.so"
ENV = {**os.environ, "ETPROF_NO_WAIT": "1"}


def ask(*words):
    done = subprocess.run([*map(str, words), "--format", "json"], capture_output=True, text=True, env=ENV)
    return json.loads(done.stdout) if done.stdout else sys.exit(done.stderr)


def sampled(etprof, model, run):
    """{kernel: [(delegate, node) of those who run it, in the program's order]}, and the kernels."""
    ask(etprof, "ab", model, "--levels", LEVEL, "--blocks", "2", "--iterations", "300", "--kernels", "always", "--out",
        run)
    arm = ask(etprof, "kernels", run)["arms"][0]
    dump = next(run.glob("*/*.etdump*"))
    rows = [o for o in ask(etprof, "ops", dump, "--pte", model)["operators"] if o["delegated"]]
    calls = sorted({(o["chain"], o["instruction"]) for o in rows})
    places = {(o["chain"], o["instruction"], o["name"]): (calls.index((o["chain"], o["instruction"])), o["node"])
              for o in rows}
    users = collections.defaultdict(list)
    for o in arm["operators"]:
        place = places.get((o["chain"], o["instruction"], o["name"]))
        if o["kernel"] and o["kernel_share"] > 0.9 and place:
            users[o["kernel"]].append(place)
    return {k: sorted(v) for k, v in users.items()}, [k for k in arm["kernels"] if k["module"] == LIBRARY]


def replaced(library, kernel):
    """The bytes of LIBRARY with KERNEL's multiply-adds negated; None: it has none, or they do not lie there."""
    data, changed = bytearray(library.read_bytes()), 0
    text = subprocess.run(["objdump", "-d", f"--start-address={kernel['offset']}",
                           f"--stop-address={kernel['offset'] + kernel['bytes']}", library],
                          capture_output=True, text=True, check=True).stdout
    for found in re.finditer(r"^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2} )+)\s*vfmadd231ps", text, re.M):
        code = bytes.fromhex(found[2].replace(" ", ""))
        at, opcode = int(found[1], 16), code.find(b"\xb8", 3)
        for shift in (0, -0x1000, -0x2000, -0x3000):  # segments begin on pages of their own
            if opcode > 0 and data[at + shift:at + shift + len(code)] == code:
                data[at + shift + opcode] = 0xbc
                changed += 1
                break
    return bytes(data) if changed else None


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return
    etprof, bundle, models = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    total = collections.Counter()
    for model in map(pathlib.Path, models):
        with tempfile.TemporaryDirectory() as scratch:
            users, kernels = sampled(etprof, model, pathlib.Path(scratch, "run"))
            for kernel in kernels:
                data = replaced(bundle / "sdk" / LIBRARY, kernel) if kernel["name"] in users else None
                if data is None:
                    continue
                other = pathlib.Path(scratch, "other")
                shutil.rmtree(other, ignore_errors=True)
                shutil.copytree(bundle, other, symlinks=True)
                (other / "sdk" / LIBRARY).write_bytes(data)
                document = json.loads((other / "bundle.json").read_text())
                for file in document["files"]:
                    if file["path"].endswith(LIBRARY):
                        file["sha256"] = hashlib.sha256(data).hexdigest()
                (other / "bundle.json").write_text(json.dumps(document))
                said = ask(etprof, "ab", model, "--levels", LEVEL, "--numerics", "--runner-a", bundle, "--runner-b",
                           other)
                blamed = re.match(r"node (\d+) \(\w+\)(?: of delegate (\d+))?", said["operator"] or "")
                place = (int(blamed[2] or 0), int(blamed[1])) if blamed else None
                named = "named" if place == users[kernel["name"]][0] else "another"
                total[named] += 1
                first = "delegate %d node %d" % users[kernel["name"]][0]
                print(f"{model.name}: {kernel['name']}, {len(users[kernel['name']])} operators, first {first}: "
                      f"{said['operator']}, {named}", flush=True)
    print(f"all: {dict(total)}")


main()
