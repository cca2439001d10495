# SPDX-License-Identifier: Apache-2.0
"""The two things that a step does: an export, and a measurement of programs in paired launches. Each is a verb of the
program, as it can be typed; what is there whole is not made again."""
from __future__ import annotations

import dataclasses
import shlex
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from etprof import errors, runs
from etprof.fix.told import Document, Told, manifest
from etprof.runfolders import read_json, sha256
from etprof.shown import printable
from etprof.verbs import error_of

INPUTS = ".pte.inputs/"  # of the program itself: another one brings its own
ANSWERED = (0, 1, 3, 6)  # exit codes with which `ab` may leave a whole session behind


class Stopped(BaseException):
    """A signal that ends this program."""

    def __init__(self, number: int) -> None:
        self.number = number


@dataclasses.dataclass(frozen=True)
class Program:
    path: str
    sha256: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class Refused:
    """An export that made no program: its exit code and its last words."""

    exit_code: int
    said: str


@dataclasses.dataclass
class Tools:
    program: str
    exporting: list[str]
    measuring: list[str]
    quiet: bool = False

    def say(self, text: str) -> None:
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def run(self, words: list[str]) -> tuple[int, str]:
        """(exit code, the last line that it said of itself). Progress goes on to standard error."""
        self.say(f"$ etprof {shlex.join(words)}")
        quiet = ["--quiet"] if self.quiet else []
        process = subprocess.Popen([self.program, *words, *quiet], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        mine, said = f"etprof {words[0]}: ", ""
        try:
            assert process.stderr
            for line in process.stderr:
                if line.startswith(mine) and not line.startswith(mine + "warning: "):
                    said = line[len(mine):].strip()
                elif not self.quiet:
                    sys.stderr.write(line)
                    sys.stderr.flush()
            code = process.wait()
        except BaseException:  # it is asked to end, once, and leaves what is whole
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.communicate()
            raise
        if code < 0 or code > 128:
            raise Stopped(abs(code) % 128)
        return code, said


def _entry(folder: Path) -> Program | None:
    """The checked program that an export left in FOLDER, whole."""
    try:
        entry = read_json(folder / "export.json")["artifacts"][0]
        file = folder / entry["kept_as"]
        inside = file.parent == folder and file.is_file() and not file.is_symlink()
        whole = inside and entry["kept_as"] == entry["file"] and sha256(file) == entry["sha256"]
        return Program(str(file), entry["sha256"], int(entry["bytes"])) if whole else None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def export(tools: Tools, folder: Path, command: list[str]) -> Program | Refused:
    """COMMAND as typed, into FOLDER. What is missing on this machine ends all."""
    found = _entry(folder)
    if found:
        return found
    code, said = tools.run(["export", *command[2:], "--outdir", str(folder), *tools.exporting])
    if code == errors.EnvironmentProblem.exit_code:
        raise errors.EnvironmentProblem(said or "the export failed")
    found = _entry(folder)
    return found if code == 0 and found else Refused(code, said or f"exit code {code}")


def _is_of(run: Path, programs: list[str]) -> bool:
    models = manifest(run)["models"]
    return [m["sha256"] for m in models] == [sha256(p) for p in programs]


def _plan_words(told: Told) -> list[str]:
    """What the session that told the fix was given, where it says something of another program, too."""
    words = ["--levels", told.level, "--threads", str(told.threads)]
    for key in ("method", "inputs", "cpus"):
        value = told.plan.get(key) or ""
        if value and not (key == "inputs" and INPUTS in value):
            words += [f"--{key}", value]
    return words + (["--device", told.device] if told.device not in ("", "local") else [])


def _start(run: Path, programs: list[str], told: Told | None, tools: Tools) -> list[str]:
    """The command that makes the session RUN whole."""
    if (run / "manifest.json").exists():
        skip = [f"--{name}=" for name in ("blocks", "precision", "budget", "iterations")]  # of the plan
        return ["ab", "--resume", str(run), *(w for w in tools.measuring if not w.startswith(tuple(skip)))]
    plan = _plan_words(told) if told else ["--levels", "best"]
    named = any(w.startswith("--device=") for w in tools.measuring)
    if named and "--device" in plan:
        plan = plan[:plan.index("--device")]
    return ["ab", *programs, *plan, *tools.measuring, "--out", str(run)]


def measure(tools: Tools, run: Path, programs: list[str], told: Told | None, unsure: Collection[str] = ()) -> str:
    """The folder of a finished session of PROGRAMS: RUN, or beside it when RUN is UNSURE or of other programs."""
    number, base = 1, run
    while (run / "manifest.json").exists() and (str(run) in unsure or not _is_of(run, programs)):
        number += 1
        run = base.with_name(f"{base.name}.{number}")
    if not (run / "manifest.json").exists() or manifest(run)["state"] != "finished":
        code, said = tools.run(_start(run, programs, told, tools))
        if code not in ANSWERED or manifest(run)["state"] != "finished":
            raise error_of(code)(f"measuring {programs[-1]} failed: {said or f'exit code {code}'}")
    return str(run)


def _gain(document: Document, text: str, comparison: Document) -> Document:
    """How much less an inference of the candidate takes, in time of the baseline's median."""
    arms = {arm["name"]: arm for arm in document["arms"]}
    before, after = arms[comparison["baseline"]]["median_ns"], arms[comparison["candidate"]]["median_ns"]
    speedup: dict[str, Any] = {key: comparison["speedup"][key] for key in ("estimate", "lo", "hi")}
    gain = {key: round(before * (1 - 1 / s)) if before and s else None for key, s in speedup.items()}
    return {"before_ns": before, "after_ns": after, "gain_ns": gain, "speedup": speedup,
            "verdict": comparison["verdict"], "withheld": comparison["withheld"],
            "why": text or None, "blocks": comparison["speedup"]["blocks"]}


def held_against(run: str, baseline: str, candidate: str) -> Document:
    """What the session RUN says of the program CANDIDATE against the program BASELINE."""
    by_model = {m["path"]: m["sha256"] for m in manifest(run)["models"]}
    arms = runs.open(run).document["arms"]
    names = {by_model.get(arm["model"]): arm["name"] for arm in arms}
    answer = runs.open(run, baseline=names[baseline])
    document = answer.document
    for typed, one in zip(answer.comparisons, document["comparisons"]):
        if one["candidate"] == names[candidate]:
            return _gain(document, typed.withheld_text, one)
    raise errors.BadInput(f"{run} does not compare its programs")
