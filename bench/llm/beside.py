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


def runner(o, bundle, decode, depth, folder, repetitions):
    """Nanoseconds of each call in etprof's runner after its warm-up."""
    path = Path(folder) / f"steps-{decode}-{depth}"
    path.write_text(steps(o, decode, depth))
    calls = o.decode if decode else 1
    env = dict(os.environ, ETPROF_MASK=paired.NOTHING_HIDDEN)
    words = [os.path.join(bundle, "etprof-runner"), "--model", str(o.model), "--steps", str(path),
             "--threads", str(o.threads), *(["--kernels-lib", o.kernels_lib] if o.kernels_lib else [])]
    return paired.each(words, o.warmup * calls, repetitions * calls, env=env)


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
                    pair[side] = (bare(o, bundle, build, decode, depth) if side else
                                  statistics.median(runner(o, bundle, decode, depth, folder, o.repetitions)))
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


def without_bursts(values):
    """Mean of those that no burst of something else fell into. A clock that cuts to whole milliseconds is right on the
    mean, not in the median; so both sides are means."""
    usual = statistics.median(values)
    return statistics.fmean(v for v in values if v <= 1.5 * usual)


def theirs(answers):
    """Milliseconds by TextLLMRunner's statistics: the prompt and a token as a whole, and what Module::execute took for
    each. ANSWERS are in turn a prompt alone and a prompt with its tokens: their difference is the tokens' calls."""
    alone, whole = answers[0::2], answers[1::2]
    if {a.tokens for a in alone} != {0} or min(a.tokens for a in whole) < 1:
        sys.exit("the answers are not in turn without tokens and with some")
    prompt = without_bursts([a.calls for a in alone])
    tokens = statistics.fmean(a.tokens for a in whole)
    return (without_bursts([a.prefill for a in alone + whole]), without_bursts([a.decode / a.tokens for a in whole]),
            prompt, (without_bursts([a.calls for a in whole]) - prompt) / tokens)


def ours(o, bundle, folder):
    """The same four of etprof's runner, which times Method::execute alone: the first two are the last two."""
    prompt = without_bursts(runner(o, bundle, False, 0, folder, o.answers)) / 1e6
    calls = runner(o, bundle, True, o.prefill, folder, o.answers)
    tokens = without_bursts([statistics.fmean(calls[i:i + o.decode]) for i in range(0, len(calls), o.decode)]) / 1e6
    return prompt, tokens, prompt, tokens


def against_text(o, launch):
    """A run launches TextLLMRunner and etprof's runner, in alternating order, nothing hidden. Judged is like with like:
    the program's calls. The whole holds more (a prompt: its tokens made and the first one chosen; a token: its choice,
    its text and a call into Python), is printed, and is not judged."""
    bundle = paired.builds()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(o.blocks):
            row = {}
            for side in ((0, 1) if block % 2 == 0 else (1, 0)):
                row[side] = theirs(launch(o, None, "--prompt_alone")) if side else ours(o, bundle, folder)
            rows.append((row[0], row[1]))
            print(f"run {block + 1}: " + json.dumps(rows[-1]), file=sys.stderr)
    missed = False
    names = (f"prefill {o.prefill}, whole", f"decode @{o.prefill}, whole", f"prefill {o.prefill}, call",
             f"decode @{o.prefill}, calls")
    for i, name in enumerate(names):
        a, b = (statistics.median(r[side][i] for r in rows) for side in (0, 1))
        if math.isnan(b):
            sys.exit("this release's statistics do not say what the calls took")
        ratio, low, high = paired.ratio([math.log(r[0][i] / r[1][i]) for r in rows])
        inside = abs(a - b) <= 1.0 and abs(ratio - 1) <= 0.03
        missed = missed or (not inside and i > 1)
        print(f"{name:19} etprof's runner {a:.4f} ms · TextLLMRunner {b:.4f} ms · {a - b:+.4f} ms · {ratio:.4f} "
              f"[{low:.4f}, {high:.4f}]"
              + (f" · within 1 ms and 3 %: {'yes' if inside else 'NO'}" if i > 1 else " · not the same thing"))
    return 1 if missed else 0
