# SPDX-License-Identifier: Apache-2.0
# `etprof export`: options, order of work, what is printed, exit codes.
from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import sys
import time
import traceback
from pathlib import Path

from ..errors import (
    CheckFailed,
    EnvironmentProblem,
    EtprofError,
    MissingPackage,
    NotEnoughData,
    UsageError,
)
from ..shown import safe

PRECISIONS = ("fp32", "fp16", "int8", "int8-dynamic", "int4", "8da4w", "8da8w")
DESCRIPTION = """\
Exports a PyTorch model to <model>_<backend>_<precision>.pte with its .etrecord and example inputs,
reloads it, runs it in the ExecuTorch runtime, compares it with eager PyTorch and says what was
delegated. A program that does not pass is kept as .pte.failed and the exit code is 1; one of which the
check proves nothing (eager answers zeros, or otherwise when it is asked twice) is kept as .pte.unproven, 3.

MODEL is one of
  NAME               a model folder; `etprof export --list` lists them (model_profiling/models/NAME)
  torchvision:NAME   random weights
  timm:NAME          random weights
  hf:CONFIG          a transformers model type or config.json, random weights
  executorch:NAME    one of ExecuTorch's own examples
  llm:NAME           a language model with its cache: stories15M, stories110M, llama3.2-1B,
                     qwen3-0.6B, or FILE.json (a config.json or params.json); random weights or --weights
  FILE.py:Class      a class with get_eager_model() and get_example_inputs()
  FOLDER             a model folder anywhere (a path with a slash)
"""
EXIT_CODES = """\
exit codes: 0 exported and checked; 1 the program does not compute what the model does; 2 usage,
unknown model; 3 the check proves nothing; 4 the model or a data file is broken or cannot be exported;
5 something is missing on this machine or cannot be written; 128+N ended by signal N; 70 a bug here
"""


class Interrupted(BaseException):
    def __init__(self, number):
        self.number = number


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message}; see etprof export --help")


def parser() -> argparse.ArgumentParser:
    p = Parser(
        prog="etprof export", description=DESCRIPTION, epilog=EXIT_CODES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("source", nargs="?", metavar="MODEL")
    p.add_argument("--model", metavar="MODEL", help="the same as the operand")
    p.add_argument("--list", action="store_true", help="list the models, and what is missing for them")
    p.add_argument("--new", metavar="NAME", help="start a model folder of your own in --dir")
    p.add_argument("--dir", type=Path, default=Path("model_profiling") / "models",
                   help="with --new (default model_profiling/models)")
    p.add_argument("--dtype", choices=PRECISIONS, default="fp32")
    p.add_argument("--backend", choices=("xnnpack", "portable"), default="xnnpack")
    p.add_argument("--outdir", "--out", type=Path, metavar="DIR",
                   help="the artifacts folder (default out_<model>/artifacts)")
    p.add_argument("--name", help="name the files so instead of after the model")
    p.add_argument("--method", action="append", default=[], metavar="NAME[=ATTR]",
                   help="export the module's method ATTR as NAME; repeat for several")
    p.add_argument("--dynamic-shape", action="append", default=[], metavar="INPUT:AXIS=MIN..MAX",
                   help="let an axis of an input vary; repeat for several")
    p.add_argument("--static", action="store_true", help="ignore the model's own dynamic shapes")
    p.add_argument("--calibrate", metavar="FILE.npz|N",
                   help="int8: real samples, or N random ones (default: the example inputs)")
    p.add_argument("--group-size", metavar="N|channel",
                   help="8da4w: weights share a scale in groups of N (default 32) or per channel")
    p.add_argument("--keep-float", action="append", default=[], metavar="MODULE,...",
                   help="int8, 8da4w and others: leave these modules of the model as they are; repeat for several")
    p.add_argument("--apply", action="append", default=[], metavar="FIX",
                   help="apply a fix recipe; `--apply list` shows them")
    p.add_argument("--no-transforms", dest="transforms", action="store_false",
                   help="leave out the XNNPACK backend's recommended graph passes")
    p.add_argument("--inline-delegates", action="store_true",
                   help="delegate data inside the flatbuffer instead of a segment")
    p.add_argument("--external-weights", action="store_true", help="weights in a .ptd beside it")
    p.add_argument("--save-graph", action="store_true", help="write <file>.graph.json")
    p.add_argument("--fallback", metavar="MODEL",
                   help="export this model instead when MODEL needs something that is missing")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="of weights and inputs (default 0)")
    p.add_argument("--tolerance", type=float, metavar="COSINE",
                   help="accept this agreement with eager instead of the precision's own limits")
    p.add_argument("--accept-unproven", action="store_true",
                   help="take a program of which the check proves nothing under its own name, exit code 0")
    p.add_argument("-f", "--format", choices=("text", "json"), default="text")
    p.add_argument("--verbose", action="store_true", help="show the libraries' own messages")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress, no hints")
    language = p.add_argument_group("language models (llm:NAME)")
    language.add_argument("--attention", choices=("plain", "fused"),
                          help="written out (default), or ExecuTorch's llama::custom_sdpa")
    language.add_argument("--context", type=int, metavar="N", help="tokens that the cache holds")
    language.add_argument("--weights", metavar="FILE",
                          help="safetensors (a file or folder) or a .pth checkpoint; else random ones")
    setup = p.add_argument_group("where torch and executorch come from")
    setup.add_argument("--python", metavar="PATH", help="an interpreter that has them")
    setup.add_argument("--pip-arg", action="append", default=[], metavar="ARG",
                       help="pass to pip when they are installed into .venv; repeat for several")
    setup.add_argument("--wheel-dir", metavar="DIR", help="look for their wheels here too")
    install = setup.add_mutually_exclusive_group()
    install.add_argument("--install", action="store_true",
                         help="install PyTorch and ExecuTorch (1.6 GB) where they are missing, without a question")
    install.add_argument("--no-install", action="store_true",
                         help="install nothing, what a model needs neither: say what is missing")
    setup.add_argument("--allow-cuda", action="store_true",
                       help="accept torch with CUDA where there is no CPU build, without a question")
    return p


def parse(argv):
    options = parser().parse_args(argv)
    if options.source and options.model and options.source != options.model:
        raise UsageError(f"two models: '{options.source}' and --model '{options.model}'")
    options.source = options.source or options.model
    if options.apply == ["list"]:
        return options
    if not options.source:
        raise UsageError("no model given; `etprof export --list` lists them")
    if options.backend == "portable" and options.dtype not in ("fp32", "fp16"):
        raise UsageError(f"--dtype {options.dtype} needs --backend xnnpack")
    if options.calibrate is not None and options.dtype != "int8":
        raise UsageError(f"--calibrate is for --dtype int8, this is {options.dtype}")
    options.keep_float = [name for words in options.keep_float for name in words.split(",") if name]
    if options.keep_float and options.dtype in ("fp32", "fp16"):
        raise UsageError(f"--keep-float is for a --dtype that quantises, this is {options.dtype}")
    if options.name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", options.name):
        raise UsageError(f"--name {options.name}: use letters, digits, '.', '_' and '-'")
    check_group(options)
    own = [f"--{n}" for n in ("attention", "context", "weights") if getattr(options, n) is not None]
    if own and not options.source.startswith("llm:"):
        raise UsageError(f"{own[0]} is for llm:NAME, this is {options.source}")
    if options.static and options.dynamic_shape:
        raise UsageError("--static and --dynamic-shape exclude each other")
    return options


def check_group(options):
    """--group-size as a number, 0 for a whole channel."""
    text = options.group_size
    if text is not None and options.dtype != "8da4w":
        raise UsageError(f"--group-size is for --dtype 8da4w, this is {options.dtype}")
    if text == "channel":
        options.group_size = 0
    elif text is not None and (not text.isdecimal() or int(text) == 0 or int(text) % 32):
        raise UsageError(f"--group-size {text}: expected a multiple of 32, or channel")
    else:
        options.group_size = int(text or 32)


class Talk:
    """Progress on stderr."""

    def __init__(self, quiet):
        self.quiet, self.start = quiet, time.monotonic()

    def __call__(self, text):
        if not self.quiet:
            print(safe(f"[{time.monotonic() - self.start:5.1f} s] {text}"), file=sys.stderr, flush=True)

    def warn(self, text):
        print(safe(f"etprof export: warning: {text}"), file=sys.stderr, flush=True)


def keep_stdout_clean():
    """Libraries print to descriptor 1; our answer goes to a copy of it made before they run."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)
    return answer


def signals():
    def stop(number, _frame):
        raise Interrupted(number)

    previous = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup and `&` in a script start us with some ignored, and mean it
        if signal.getsignal(number) != signal.SIG_IGN:
            previous[number] = signal.signal(number, stop)
    return previous


def main(argv) -> int:
    """Runs one export and returns the exit code; prints errors as one line."""
    previous = None
    verbose = "--verbose" in argv
    try:
        options = parse(argv)
        if options.apply == ["list"]:
            from .recipes import describe_all

            print(describe_all())
            return 0
        from ..bootstrap import have_packages, run_elsewhere

        if options.python or not have_packages():
            from .source import resolve

            resolve(options.source)  # what does not exist is refused before PyTorch is fetched for it
            return run_elsewhere(argv, options)
        previous = signals()
        answer = keep_stdout_clean()
        entry, tool, out = run_with_needs(options, argv, answer)
        print_answer(answer, options, entry, tool, out)
        answer.close()
        raise_for(entry, options, out)
        return 0
    except EtprofError as error:
        print(safe(f"etprof export: {error}"), file=sys.stderr)
        if verbose and error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        return error.exit_code
    except Interrupted as stop:
        print(f"etprof export: stopped by {signal.Signals(stop.number).name}; nothing was written",
              file=sys.stderr)
        return 128 + stop.number
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except Exception:
        traceback.print_exc()
        print("etprof export: this is a bug; please report the lines above", file=sys.stderr)
        return 70
    finally:
        for number, handler in (previous or {}).items():
            signal.signal(number, handler)


ADDED = "ETPROF_ADDED"  # what was installed for this very export, so that it is tried once


def run_with_needs(options, argv, answer):
    """The export. What a model needs is installed first where that is ours to do; then it begins anew."""
    from .. import bootstrap, restart
    from .job import run

    before = os.environ.pop(ADDED, "").split()
    options.may_install = not options.no_install and bootstrap.is_own(sys.executable)
    try:
        return run(options, Talk(options.quiet))
    except MissingPackage as error:
        if not options.may_install or set(error.modules) <= set(before):
            raise
        try:
            bootstrap.add_packages(sys.executable, error.modules, options.pip_arg, options.wheel_dir)
        except EnvironmentProblem as failure:
            if not options.fallback:
                raise EnvironmentProblem(f"{error}; installing failed: {failure}") from failure
            options.may_install = False
            return run(options, Talk(options.quiet))
        os.environ[ADDED] = " ".join([*before, *error.modules])
        os.dup2(answer.fileno(), 1)  # see keep_stdout_clean
        restart.again(sys.executable, "export", argv)


VERDICTS = {  # of a check that is not ok: what is wrong, and what to do about it
    "differs": ("the program does not agree with eager PyTorch", None),
    "not_run": ("the program does not run", "try --backend portable, or another precision"),
    "unproven": ("the check proves nothing",
                 "give weights and inputs with which the answer varies, or take the program as it is with "
                 "--accept-unproven"),
    "not_deterministic": ("the model is not deterministic, so that the check proves nothing",
                          "switch the drawing off (eval(), training=False), give the random numbers as an input, or "
                          "take the program as it is with --accept-unproven"),
}


def raise_for(entry, options, out):
    """The error of an export whose program was written and did not pass."""
    if entry["state"] == "ok" or (entry["state"] == "unproven" and options.accept_unproven):
        return
    check = next(c for c in entry["checks"] if not c["ok"] and (c["state"] in ("differs", "not_run"))
                 == (entry["state"] == "failed"))
    verdict, step = VERDICTS[check["state"]]
    kind = CheckFailed if entry["state"] == "failed" else NotEnoughData
    parts = [f"{verdict}: {check['why']}", parting_text(check), step or accepting(check),
             f"it was kept as {out / entry['kept_as']}"]
    raise kind("; ".join(p for p in parts if p))


def parting_text(check):
    """The first operator whose numbers part, where that was looked for."""
    found = check.get("parts_at")
    if not found:
        return None
    place = f" ({found['where']})" if found["where"] else ""
    far, before = ("infinities or NaN" if x is None else f"{x:.2g} of the largest value"
                   for x in (found["max_rel"], found["before"]))
    word = "first" if found["first"] else "most"
    return f"numbers part {word} at {found['operator']}{place}: {far} after it, {before} before it"


def accepting(check):
    """The option with which this agreement would pass, where a cosine says it."""
    cosines = [c["cosine"] for c in (check["against_same_precision"], check["against_fp32"],
                                     *check["other_shapes"], *check["steps"])]
    if any(c is None for c in cosines) or min(cosines) <= 0:
        return None
    return f"--tolerance {math.floor(min(cosines) * 1e4) / 1e4:g} accepts this agreement"


def print_answer(stream, options, entry, tool, out):
    if options.format == "json":
        document = {"schema": "etprof.export/1", "tool": tool, "outdir": str(out),
                    "artifacts": [entry]}
        json.dump(document, stream, indent=2, ensure_ascii=False, allow_nan=False)
        stream.write("\n")
        return
    from .text import render

    stream.write(render(entry, out))
