# SPDX-License-Identifier: Apache-2.0
"""Which files may a client name? Those below the allowed folders, links followed."""
from __future__ import annotations

import os
import stat

from etprof.mcp.refused import Refused

BESIDE = (".etrecord", ".inputs")  # what verbs read beside a program without being told


class Places:
    """ROOTS are folders; relative paths begin in FOLDER."""

    def __init__(self, roots: list[str], folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.roots = [os.path.realpath(os.path.join(self.folder, root)) for root in roots] or [self.folder]

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
        return os.path.join(self.existing(above), name)

    def arm(self, path: str) -> str:
        """A recording, a run folder, or DIR:ARM, an arm of a run. The verb splits a path that is not there at its last
        colon, and so does this."""
        folder, colon, name = path.rpartition(":")
        if os.path.lexists(os.path.join(self.folder, path)) or not colon or "/" in name or not folder or not name:
            return self.existing(path)
        return f"{self.existing(folder)}:{name}"

    def _beside(self, program: str) -> None:
        stem, dot, end = program.rpartition(".")
        if dot + end != ".pte":
            return
        for beside in (f"{base}{kind}" for base in (program, stem) for kind in BESIDE):
            if os.path.lexists(beside):
                real = os.path.realpath(beside)
                self._inside(f"{beside} (a link to {real})" if os.path.islink(beside) else beside, real)
