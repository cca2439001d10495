# SPDX-License-Identifier: Apache-2.0
"""Which programs did this machine export, and how? An export.json may be anybody's, and a model is Python code: what it
names is exported again only when an export here noted it in the user's own state folder, where sessions note their run
folders."""
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path


def state_dir() -> str | None:
    """Where the user's programs keep what they know, by the rule of XDG."""
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if state.startswith("/"):
        return f"{state}/etprof"
    return f"{home}/.local/state/etprof" if home.startswith("/") else None


def _place(sha256: str, command: Sequence[str]) -> Path | None:
    state = state_dir()
    text = json.dumps(["etprof export", sha256, *command])
    return Path(state, "made", hashlib.sha256(text.encode()).hexdigest()) if state else None


def note(sha256: str, command: Sequence[str]) -> None:
    """That COMMAND made the program of that hash here. Without such a note --trust is asked for, no more."""
    place = _place(sha256, command)
    try:
        if place:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    except OSError:
        pass


def noted(sha256: str, command: Sequence[str]) -> bool:
    place = _place(sha256, command)
    return place is not None and place.is_file()
