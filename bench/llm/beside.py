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
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
import paired


class Place(NamedTuple):
    """Where the programs of a comparison are."""
    bundle: str
    build: str
    folder: str     # for what is written
    tokenizer: str
    files: list     # what TextLLMRunner needs without an interpreter; none: it cannot be had so


def call(position, tokens):
    """A call as the runner takes it, written here."""
    return (f"call forward\nin 0 int64 1x{len(tokens)} values {' '.join(map(str, tokens))}\n"
            f"in 1 int64 1 values {position}\n")


def steps(o, decode, depth):
    """The calls of a phase: no buffer has to be put back, all that is read was written by the calls themselves."""
    def tokens(position, n):
        return [(position + i) * 7919 % 31991 for i in range(n)]

    if not decode:
        return "etprof-steps 1\neach\n" + call(0, tokens(0, o.prefill))
    once = "once\n" + call(0, tokens(0, depth)) if depth else ""
    return f"etprof-steps 1\n{once}each\n" + "".join(call(depth + i, tokens(depth + i, 1)) for i in range(o.decode))


def answers(o):
    """The calls of two answers of TextLLMRunner, in its order: a prompt alone, then a prompt with its tokens. Its
    prompt is one letter again and again. A call with another number of tokens than the one before has more to do."""
    prompt = call(0, [97] * o.prefill)
    return "etprof-steps 1\neach\n" + 2 * prompt + "".join(call(o.prefill + i, [97]) for i in range(o.decode))


def runner(o, bundle, script, calls, folder, repetitions):
    """Nanoseconds of each call in etprof's runner after its warm-up; a repetition of SCRIPT is so many CALLS."""
    path = Path(folder) / "steps"
    path.write_text(script)
    env = dict(os.environ, ETPROF_MASK=paired.NOTHING_HIDDEN)
    words = [os.path.join(bundle, "etprof-runner"), "--model", str(o.model), "--steps", str(path),
             "--threads", str(o.threads), *(["--custom-ops", o.custom_ops] if o.custom_ops else [])]
    return paired.each(words, o.warmup * calls, repetitions * calls, env=env)


def bare(o, bundle, build, decode, depth):
    words = [str(o.model), "decode" if decode else "prefill", str(o.decode if decode else o.prefill), str(depth),
             str(o.repetitions), str(o.warmup)]
    done = subprocess.run([os.path.join(build, "bare_text"), *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=paired.libraries(bundle))
    return statistics.median(int(x) for x in done.stdout.split())


def build_target(build, *names):
    cmake = paired.ROOT + "/.venv/bin/cmake"
    subprocess.run([cmake if os.path.exists(cmake) else "cmake", "--build", build, "--target", *names], check=True,
                   stdout=subprocess.DEVNULL)


def against_bare(o):
    """A block launches both for each phase, in alternating order."""
    bundle, build = paired.builds()
    build_target(build, "bare_text")
    phases = [(f"prefill {o.prefill}", False, 0), *((f"decode @{d}", True, d) for d in o.depths)]
    values = {name: [] for name, _, _ in phases}
    with tempfile.TemporaryDirectory() as folder:
        for block in range(o.blocks):
            for name, decode, depth in phases:
                pair = {}
                for side in ((0, 1) if block % 2 == 0 else (1, 0)):
                    pair[side] = (bare(o, bundle, build, decode, depth) if side else statistics.median(
                        runner(o, bundle, steps(o, decode, depth), o.decode if decode else 1, folder, o.repetitions)))
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


def calls_of(alone, whole, tokens):
    """Milliseconds of the prompt's call and of a token's, by those of answers ALONE and of answers with TOKENS: their
    difference is the tokens' calls."""
    prompt = without_bursts(alone)
    return prompt, (without_bursts(whole) - prompt) / tokens


def theirs(answers):
    """Milliseconds by TextLLMRunner's statistics: the prompt and a token as a whole, and what Module::execute took for
    each. ANSWERS are in turn a prompt alone and a prompt with its tokens."""
    alone, whole = answers[0::2], answers[1::2]
    if {a.tokens for a in alone} != {0} or min(a.tokens for a in whole) < 1:
        sys.exit("the answers are not in turn without tokens and with some")
    tokens = statistics.fmean(a.tokens for a in whole)
    return (without_bursts([a.prefill for a in alone + whole]), without_bursts([a.decode / a.tokens for a in whole]),
            *calls_of([a.calls for a in alone], [a.calls for a in whole], tokens))


def ours(o, bundle, folder):
    """The same four of etprof's runner, which times Method::execute alone: the first two are the last two."""
    n = 2 + o.decode
    ms = [ns / 1e6 for ns in runner(o, bundle, answers(o), n, folder, o.answers)]
    alone, whole = ms[0::n], [sum(ms[i + 1:i + n]) for i in range(0, len(ms), n)]
    return 2 * calls_of(alone, whole, o.decode)


def loop(ns, o):
    """The two judged ones of a plain loop's nanoseconds: alone and whole in turn."""
    ms = [n / 1e6 for n in ns]
    return calls_of(ms[0::2], ms[1::2], o.decode)


def loop_alone(o, bundle, build):
    """The plain loop in a process of its own, with the files that etprof's runner loads."""
    words = [os.path.join(build, "text_calls"), str(o.model), str(o.prefill), str(o.decode), str(o.answers)]
    env = dict(paired.libraries(bundle), OMP_NUM_THREADS="1")  # the library's attention asks OpenMP, as in the runner
    done = subprocess.run([*words, *([o.custom_ops] if o.custom_ops else [])], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=env)
    return loop((int(x) for x in done.stdout.split()), o)


def package(o, folder):
    """A tokenizer for the program, and the files that TextLLMRunner needs without an interpreter; none: in vain."""
    path = os.path.join(folder, "tokenizer.json")
    words = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py"), "package",
             str(o.model), path]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return path, done.stdout.split("\n")[:-1]


def theirs_alone(o, place, parse):
    """TextLLMRunner in a process without an interpreter, with the SDK's files that etprof's runner loads."""
    words = [os.path.join(place.build, "text_calls"), str(o.model), str(o.prefill), str(o.decode), str(o.answers),
             *place.files, os.path.join(place.build, "libtext_theirs.so")]
    env = dict(paired.libraries(place.bundle), TOKENIZER=place.tokenizer, OMP_NUM_THREADS="1")
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return theirs(parse(done.stdout)[2:])


def row_of(o, place, launch, parse, block):
    """A run: etprof's runner, TextLLMRunner under Python and, where it can be had, without (four figures each), the
    plain loop in the process with Python and alone (two)."""
    row = {}

    def python():
        answers, ns = launch(o, os.path.join(place.build, "libtext_inside.so"), "--prompt_alone")
        row["python"], row["inside"] = theirs(answers), loop(ns, o)

    def plain():
        row["runner"], row["alone"] = ours(o, place.bundle, place.folder), loop_alone(o, place.bundle, place.build)
        if place.files:
            row["text"] = theirs_alone(o, place, parse)

    for side in ((plain, python) if block % 2 == 0 else (python, plain)):
        side()
    return row


NAMES = {"runner": "etprof's runner", "text": "TextLLMRunner", "python": "TextLLMRunner under Python",
         "inside": "a loop under Python", "alone": "a loop alone"}


def judge(rows, name, a, b, i, goal=True):
    """Whether A is within 1 ms and 3 % of B, by their figure I (the calls' are the last two); prints it."""
    x, y = (statistics.median(r[side][i] for r in rows) for side in (a, b))
    if math.isnan(x + y):
        sys.exit("this release's statistics do not say what the calls took")
    ratio, low, high = paired.ratio([math.log(r[a][i] / r[b][i]) for r in rows])
    inside = abs(x - y) <= 1.0 and abs(ratio - 1) <= 0.03
    verdict = f" · within 1 ms and 3 %: {'yes' if inside else 'NO'}" if goal else ""
    print(f"{name:19} {NAMES[a]} {x:.4f} ms · {NAMES[b]} {y:.4f} ms · {x - y:+.4f} ms · {ratio:.4f} "
          f"[{low:.4f}, {high:.4f}]{verdict}")
    return inside


def report(rows, o):
    """Prints what ROWS say; whether etprof's runner is as near to TextLLMRunner as it has to be."""
    peer = "text" if "text" in rows[0] else "python"
    phases = ((-2, f"prefill {o.prefill}"), (-1, f"decode @{o.prefill}"))
    print("judged: the calls")
    good = [judge(rows, name, "runner", peer, i) for i, name in phases]
    if peer == "text":
        print("as its package has it, under Python; and the part of the process: the same runner, the same loop")
        for a, b in (("runner", "python"), ("text", "python"), ("alone", "inside")):
            for i, name in phases:
                judge(rows, name, a, b, i, goal=a == "runner")
    print("the runners against a plain loop where they are")
    for a, b in (("runner", "alone"), (peer, "alone" if peer == "text" else "inside")):
        for i, name in phases:
            judge(rows, name, a, b, i, goal=False)
    print("the whole, with tokenizer, choice and text on their side: not the same thing")
    for i, name in phases:
        judge(rows, name, "runner", peer, i - 2, goal=False)
    return all(good)


def against_text(o, launch, parse):
    """A run launches TextLLMRunner and etprof's runner, in alternating order, nothing hidden. Judged is like with like:
    the program's calls, the same ones in the same order, in processes without an interpreter. The whole holds more (a
    prompt: its tokens made and the first one chosen; a token: its choice and its text), is printed, and is not judged.
    So is TextLLMRunner as its Python package runs it: a plain loop makes the calls in both places, which tells the
    runners apart from the processes that they are in."""
    bundle, build = paired.builds()
    build_target(build, "text_calls", "text_inside", "text_theirs")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(bundle, build, folder, *package(o, folder))
        if not place.files:
            print("this Python is no library: TextLLMRunner is measured under Python alone", file=sys.stderr)
        for block in range(o.blocks):
            rows.append(row_of(o, place, launch, parse, block))
            print(f"run {block + 1}: " + json.dumps(rows[-1]), file=sys.stderr)
    return 0 if report(rows, o) else 1
