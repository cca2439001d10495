# SPDX-License-Identifier: Apache-2.0
"""What an answer proposes, and what it brought: `etprof.open(…).fixes[0].apply()`."""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from typing import Any

from etprof import errors
from etprof.fix import words
from etprof.verbs import error_of, program


@dataclasses.dataclass(frozen=True)
class Fix:
    """A change of the model or its export: gains are of an inference, EXPECTED_NS None where nothing tells it.

    >>> etprof.open("out_x").fixes[0].expected_ns
    """

    id: str
    kind: str
    text: str
    lo_ns: int | None
    expected_ns: int | None
    hi_ns: int | None
    share: float | None
    command: str | None
    advice: str | None
    folder: str = dataclasses.field(repr=False)

    def apply(self, *, blocks: int = 0, iterations: int = 0, device: str | None = None,
              runner: str | os.PathLike[str] | None = None, source: str | None = None,
              out: str | os.PathLike[str] | None = None, trust: bool = False, progress: bool = True) -> Fixed:
        """Exports with this fix, checks the outputs and measures old against new, as `etprof fix`.

        >>> etprof.open("out_x").fixes[0].apply().gain_ns
        """
        if not self.folder:
            raise errors.UsageError("this answer is not a run folder's, which names its program: measure one with "
                                    "etprof.ab")
        given = {"blocks": blocks, "iterations": iterations, "device": device, "runner": runner, "source": source,
                 "out": out}
        more = [f"--{name}={os.fspath(v) if isinstance(v, os.PathLike) else v}" for name, v in given.items() if v]
        more += ["--trust"] if trust else []
        return Fixed(_run([self.folder, self.id, *more], progress))


class Fixed:
    """What applying a fix brought. DOCUMENT is `fix.json` (etprof.fix/1).

    >>> print(etprof.open("out_x").fixes[0].apply())
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @property
    def _step(self) -> dict[str, Any]:
        return self.document["steps"][0]  # type: ignore[no-any-return]

    @property
    def _gain(self) -> dict[str, Any]:
        found = self._step["measured"]
        return found["gain_ns"] if found else {}

    @property
    def gain_ns(self) -> int | None:
        """What an inference takes less than with the program before; None where the measurement does not tell."""
        return self._gain.get("estimate")

    @property
    def lo_ns(self) -> int | None:
        return self._gain.get("lo")

    @property
    def hi_ns(self) -> int | None:
        return self._gain.get("hi")

    @property
    def kept(self) -> bool:
        """Whether it is faster, than an export without the fix, too."""
        return bool(self._step["kept"])

    @property
    def program(self) -> str | None:
        """The .pte with the fix; None: it could not be exported, and the text says why."""
        found = self._step["program"]
        return found["path"] if found else None

    @property
    def run_folder(self) -> str | None:
        """Of the session that measured it."""
        found = self._step["run"]
        return os.path.join(self.document["folder"], found) if found else None

    def __str__(self) -> str:
        return words.render(self.document)

    def __repr__(self) -> str:
        return f"<etprof.Fixed {words.outcome(self._step)}>"


def _run(asked: list[str], progress: bool) -> dict[str, Any]:
    """`etprof fix` as a child in a session of its own, so that it is asked to end once."""
    quiet = [] if progress else ["--quiet"]
    process = subprocess.Popen([program(), "fix", *asked, "--format", "json", *quiet], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               env={"ETPROF_PYTHON": sys.executable, **os.environ}, start_new_session=True)
    said = ""
    try:
        assert process.stderr and process.stdout
        for line in process.stderr:
            if line.startswith("etprof fix: "):
                said = line[len("etprof fix: "):].strip()
            elif progress:
                print(line, end="", file=sys.stderr, flush=True)
        text = process.stdout.read()
        code = process.wait()
    except BaseException as e:
        process.send_signal(signal.SIGINT)
        process.communicate()
        if isinstance(e, KeyboardInterrupt):
            raise errors.Interrupted("interrupted; the same call goes on") from None
        raise
    if not text.startswith("{"):
        raise error_of(code)(said or f"etprof fix ended with exit code {code}")
    return json.loads(text)  # type: ignore[no-any-return]
