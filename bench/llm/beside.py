# SPDX-License-Identifier: Apache-2.0
"""Prefill and decode of etprof's runner beside what others measure on the same program, in paired blocks: a bare loop
on the SDK, and ExecuTorch's TextLLMRunner."""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
import paired


def steps(o, decode, depth):
    """The calls of a phase as the runner takes them, written here: no buffer has to be put back, all that is read was
    written by the calls themselves."""
    def call(position, n):
        tokens = " ".join(str((position + i) * 7919 % 31991) for i in range(n))
        return f"call forward\nin 0 int64 1x{n} values {tokens}\nin 1 int64 1 values {position}\n"

    if not decode:
        return "etprof-steps 1\neach\n" + call(0, o.prefill)
    once = "once\n" + call(0, depth) if depth else ""
    return f"etprof-steps 1\n{once}each\n" + "".join(call(depth + i, 1) for i in range(o.decode))


def runner(o, bundle, level_words, decode, depth, folder):
    """Median nanoseconds of a call in etprof's runner, at a level."""
    path = Path(folder) / f"steps-{decode}-{depth}"
    path.write_text(steps(o, decode, depth))
    calls = o.decode if decode else 1
    env = dict(os.environ, ETPROF_MASK=paired.NOTHING_HIDDEN)
    words = [*level_words, os.path.join(bundle, "etprof-runner"), "--model", str(o.model), "--steps", str(path),
             "--threads", str(o.threads), *(["--kernels-lib", o.kernels_lib] if o.kernels_lib else [])]
    return paired.times(words, o.warmup * calls, o.repetitions * calls, env=env)[0]


def bare(o, bundle, build, decode, depth):
    words = [str(o.model), "decode" if decode else "prefill", str(o.decode if decode else o.prefill), str(depth),
             str(o.repetitions), str(o.warmup)]
    done = subprocess.run([os.path.join(build, "bare_text"), *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=paired.libraries(bundle))
    return statistics.median(int(x) for x in done.stdout.split())


def build_bare(build):
    cmake = paired.ROOT + "/.venv/bin/cmake"
    subprocess.run([cmake if os.path.exists(cmake) else "cmake", "--build", build, "--target", "bare_text"], check=True,
                   stdout=subprocess.DEVNULL)


def against_bare(o):
    """A block launches both for each phase, in alternating order."""
    bundle, build = paired.builds()
    build_bare(build)
    phases = [(f"prefill {o.prefill}", False, 0), *((f"decode @{d}", True, d) for d in o.depths)]
    values = {name: [] for name, _, _ in phases}
    with tempfile.TemporaryDirectory() as folder:
        for block in range(o.blocks):
            for name, decode, depth in phases:
                pair = {}
                for side in ((0, 1) if block % 2 == 0 else (1, 0)):
                    pair[side] = (bare(o, bundle, build, decode, depth) if side
                                  else runner(o, bundle, [], decode, depth, folder))
                values[name].append((pair[0], pair[1]))
            print(f"block {block + 1}", file=sys.stderr)
    missed = False
    for name, pairs in values.items():
        a, b = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        ratio, low, high = paired.ratio([math.log(x / y) for x, y in pairs])
        inside = abs(ratio - 1) <= 0.02
        missed = missed or not inside
        print(f"{name:12} etprof's runner {a / 1e6:.3f} ms · bare loop {b / 1e6:.3f} ms · {ratio:.4f} "
              f"[{low:.4f}, {high:.4f}] · within 2 %: {'yes' if inside else 'NO'}")
    return 1 if missed else 0


def against_text(o, launch):
    """A run launches TextLLMRunner and etprof's runner, in alternating order, nothing hidden. The whole of a decoded
    token is printed and not judged: it holds more than the program's calls, which are."""
    bundle = paired.builds()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(o.blocks):
            row = {}
            for side in ((0, 1) if block % 2 == 0 else (1, 0)):
                row[side] = (launch(o, None) if side else
                             tuple(runner(o, bundle, [], decode, o.prefill if decode else 0, folder) / 1e6
                                   for decode in (False, True)))
            rows.append((row[0], row[1]))
            print(f"run {block + 1}: " + json.dumps(rows[-1]), file=sys.stderr)
    missed = False
    # A token's decode holds the choice of the token, its text and a call into Python; what the program's own calls took
    # is in its statistics too, and that is what etprof's runner times.
    names = (f"prefill {o.prefill}", f"decode @{o.prefill}", "  its calls")
    for i, name in enumerate(names):
        a = statistics.median(r[0][min(i, 1)] for r in rows)
        b = statistics.median(r[1][i] for r in rows)
        if math.isnan(b):
            print(f"{name:12} this release's statistics do not say what the calls took")
            continue
        inside = abs(a - b) <= max(1.0, 0.03 * b) if i == 0 else abs(a - b) <= max(1.0 / o.decode, 0.03 * b)
        missed = missed or (not inside and i != 1)
        print(f"{name:12} etprof's runner {a:.3f} ms · TextLLMRunner {b:.3f} ms (its clock: 1 ms"
              f"{'' if i == 0 else f' over {o.decode} tokens'}) · {a - b:+.3f} ms, {100 * (a / b - 1):+.1f} % · "
              f"within its clock or 3 %: {'yes' if inside else 'NO'}")
    return 1 if missed else 0
