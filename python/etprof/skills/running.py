# SPDX-License-Identifier: Apache-2.0
"""Did each step of a playbook do what it should? Runs commands without a shell, up to the first that fails."""
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import IO

from etprof.errors import UsageError
from etprof.restart import clean_path
from etprof.runfolders import default_folder, newest_run
from etprof.skills.reading import RUN, Command, Skill

TAIL_BYTES = 1500
GRACE_S = 8.0  # from asking a command to end to ending it: whole blocks stay, devices are set back


def show_run(command: Command, platform: str) -> None:
    """Puts the folder, as it would be now, into what is shown of a command that is not run."""
    if command.run_of is None:
        return
    try:
        folder = newest_run(command.run_of, platform)
    except UsageError:  # the name that a run would get
        folder = default_folder(command.run_of, platform)
    command.shown = command.shown.replace(RUN, folder)


def _tail(*files: IO[bytes]) -> str:
    """The last lines of what was printed, whole, errors after data."""
    parts = []
    for file in files:
        skipped = max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES)
        file.seek(skipped)
        text = file.read()
        parts.append(text.partition(b"\n")[2] if skipped else text)
    return b"".join(parts).decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The command and its children: asked first, ended when they do not."""
    for number, grace_s in ((signal.SIGINT, GRACE_S), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
            return


def _start(command: Command, words: list[str], program: str, timeout_s: float) -> None:
    """What it prints goes into files: memory does not grow with it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        # Entries of model_profiling/ look for etprof in their environment: the same one runs there.
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=log, start_new_session=True,
                                   env={**os.environ, "ETPROF": program})
        try:
            code = process.wait(timeout_s)
        except BaseException:  # the time is over, or this program is being ended
            _end(process)
            raise
        command.exit_code = code if code >= 0 else 128 - code
        command.ok = code == 0
        command.output = None if command.ok else _tail(out, log)


def _run(command: Command, program: str, platform: str, timeout_s: float) -> None:
    command.ok, command.exit_code = False, -1  # until it has succeeded
    begun = time.monotonic_ns()
    try:
        folder = newest_run(command.run_of, platform) if command.run_of is not None else ""
        words = [word.replace(RUN, folder) for word in command.words]
        command.shown = command.shown.replace(RUN, folder)
        # "etprof" in a playbook is the program that printed it, whatever PATH has.
        path = clean_path(os.environ.get("PATH", ""))
        start = program if words[0] == "etprof" else shutil.which(words[0], path=path)
        if start is None and "/" not in words[0]:
            raise UsageError(f"{words[0]} is not in PATH")
        begun = time.monotonic_ns()
        _start(command, [start or words[0], *words[1:]], program, timeout_s)
    except subprocess.TimeoutExpired:
        command.output = f"it did not end within {timeout_s:g} s; --timeout allows more\n"
    except (UsageError, OSError) as problem:
        command.output = f"{problem}\n"
    command.wall_ns = time.monotonic_ns() - begun


def run(skills: list[Skill], program: str, platform: str, timeout_s: float,
        told: Callable[[Skill, Command], None]) -> str | None:
    """Runs the commands in the working directory, up to and including the first that fails; the id of its skill."""
    for skill in skills:
        skill.ok = True
        for command in skill.commands:
            told(skill, command)
            _run(command, program, platform, timeout_s)
            told(skill, command)
            if not command.ok:
                skill.ok = False
                return skill.id  # later playbooks rest on what this one should have made
    return None
