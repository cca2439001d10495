# SPDX-License-Identifier: Apache-2.0
"""Which files may a client name? Those below the allowed folders, links followed."""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence

from etprof.mcp.refused import Refused

BESIDE = (".etrecord", ".inputs")  # what verbs read beside a program without being told
MOST_MEMBERS = 100_000  # of a folder that is judged


class Places:
    """ROOTS are folders; relative paths begin in FOLDER, and verbs work in WORK."""

    def __init__(self, roots: list[str], folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.roots = [os.path.realpath(os.path.join(self.folder, root)) for root in roots] or [self.folder]
        self.work = self.folder if self.allowed(self.folder) else self.roots[0]

    def allowed(self, real: str) -> bool:
        """REAL is absolute and without links. A root ends where its name ends: /data holds /data/x, not /database."""
        return any(real == root or real.startswith(root.rstrip("/") + "/") for root in self.roots)

    def _inside(self, path: str, real: str) -> str:
        if not self.allowed(real):
            others = " or another of the allowed folders" if len(self.roots) > 1 else ""
            raise Refused(f"{path} lies outside the folders that this server may touch; "
                          f"give an absolute path below {self.roots[0]}{others}")
        return real

    def existing(self, path: str) -> str:
        """A file or folder that is there, as it may be used: absolute, links followed."""
        place = os.path.join(self.folder, path)
        try:
            real = os.path.realpath(place, strict=True)
            mode = os.stat(real).st_mode
        except OSError as problem:
            # Outside the allowed folders the answer is the same for a file that exists and one that does not.
            self._inside(path, os.path.realpath(place))
            raise Refused(f"{path}: no such file or folder; relative paths begin in {self.folder}") from problem
        self._inside(path, real)
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise Refused(f"{path} is neither a file nor a folder")
        if stat.S_ISDIR(mode):
            self._members(real)
        else:
            self._beside(real)
        return real

    def new(self, path: str) -> str:
        """A file or folder that may be made: its parent is there. A link to nothing would be followed by who makes
        it."""
        place = os.path.join(self.folder, path)
        if os.path.lexists(place):
            return self.existing(path)
        above, name = os.path.split(place)
        if name in ("", ".", ".."):
            raise Refused(f"{path} does not end with the name of a folder")
        return os.path.join(self._folder(above), name)

    def unnamed(self, words: Sequence[str]) -> None:
        """Where a verb puts what nobody named a folder for: into out_MODEL where it works, or into the first folder of
        such a name above a program."""
        models = [re.sub(r"[^A-Za-z0-9.]+", "_", word.rpartition("/")[2].rpartition(":")[2]) for word in words]
        held = [f"{self.work}/{name}" for name in os.listdir(self.work) if name.startswith("out_") and any(
            model.startswith(re.sub(r"[^A-Za-z0-9.]+", "_", name[4:])) for model in models)]
        for parts in (word.split("/") for word in words):
            held += ["/".join(parts[:at + 1]) for at in range(len(parts) - 1) if parts[at].startswith("out_")][:1]
        for folder in (f"{base}{below}" for base in held for below in ("", "/runs", "/artifacts")):
            if not self.allowed(os.path.realpath(folder)):
                raise Refused(f"{folder}, where the answer may be kept, lies outside the folders that this server may "
                              "touch; name another folder")

    def arm(self, path: str) -> str:
        """A recording, a run folder, or DIR:ARM, an arm of a run. The verb splits a path that is not there at its last
        colon, and so does this."""
        folder, colon, name = path.rpartition(":")
        if os.path.lexists(os.path.join(self.folder, path)) or not colon or "/" in name or not folder or not name:
            return self.existing(path)
        arm = f"{self.existing(folder)}:{name}"
        return self.existing(arm) if os.path.lexists(arm) else arm  # links followed, it may be the name of another

    def _folder(self, path: str) -> str:
        """One that something is made in: what else is in it is of no interest."""
        real = self._inside(path, os.path.realpath(os.path.join(self.folder, path)))
        if not os.path.isdir(real):
            raise Refused(f"{path}: no such folder; relative paths begin in {self.folder}")
        return real

    def _link(self, path: str) -> str:
        real = os.path.realpath(path)
        return self._inside(f"{path} (a link to {real})" if os.path.islink(path) else path, real)

    def _beside(self, program: str) -> None:
        stem = os.path.splitext(program)[0]
        self._link(os.path.join(os.path.dirname(program), "export.json"))
        for beside in (f"{base}{kind}" for base in (program, stem) for kind in BESIDE):
            if os.path.isdir(real := self._link(beside)):
                self._members(real)

    def _members(self, folder: str) -> None:
        """Verbs read what lies in a folder by its name, links followed."""
        waiting, seen, left = [folder], {folder}, MOST_MEMBERS
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    listed = [entry for entry, _ in zip(entries, range(left))]
            except OSError:
                continue  # who reads it says so
            left -= len(listed)
            if left <= 0:
                raise Refused(f"{folder} has more than {MOST_MEMBERS} files and folders")
            for entry in listed:
                real = self._link(entry.path) if entry.is_symlink() else entry.path
                if entry.is_dir() and real not in seen:
                    seen.add(real)
                    waiting.append(real)
