# SPDX-License-Identifier: Apache-2.0
"""Which fix comes next, what stays, what is undone, and what all of them brought."""
from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from etprof import __version__, errors
from etprof.fix import told as answers
from etprof.fix import work
from etprof.fix.told import Document, Offer, Told
from etprof.runfolders import default_folder, read_json, sha256
from etprof.whole import opened

SCHEMA = "etprof.fix/1"
MOST_STEPS = 20
FASTER = "faster"
NOT_TOLD = 3


@dataclasses.dataclass
class Asked:
    operand: str  # a run folder or a program
    names: list[str] = dataclasses.field(default_factory=list)
    all: bool = False
    source: str | None = None
    out: str | None = None
    trust: bool = False


def _fixes_folder(path: str) -> Path:
    """Beside the runs of out_<model>; else beside a run folder."""
    if path.endswith(".pte"):
        return Path(default_folder(path, "")).parent / "fixes"
    run = Path(os.path.abspath(path))
    found = run.parents[1] / "fixes" if run.parent.name == "runs" else run.with_name(run.name + ".fixes")
    return found if os.path.isabs(path) else Path(os.path.relpath(found))


def _recorded(folder: Path) -> Document | None:
    """The unfinished record in FOLDER. None: FOLDER has no such record, or a step is a link and may lead out of it."""
    try:
        if any(entry.is_symlink() for entry in folder.iterdir()):
            return None
        found: Document = read_json(folder / "fix.json")
        _set_aside(found)
        return found if found["schema"] == SCHEMA and found["asked"] and found["state"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _set_aside(old: Document) -> list[str]:
    """Run folders that did not tell."""
    unsure = (str(s["run"]) for s in old["steps"] if s["run"] and _is_unsure(s))
    return sorted({*map(str, old["unsure"]), *unsure})


def _is_unsure(step: Document) -> bool:
    return any(m["verdict"] == "unknown" for m in (step["measured"], step["itself"]) if m)


def _goes_on(old: Document) -> bool:
    """Whether the same question is one of this session: it was interrupted, or did not tell."""
    return old["state"] != "finished" or exit_code(old) == NOT_TOLD


def _identity(asked: Asked) -> Document:
    """What makes two sessions the same, so that the second goes on with the first."""
    of = sha256(asked.operand if asked.operand.endswith(".pte") else os.path.join(asked.operand, "manifest.json"))
    return {"of": os.path.abspath(asked.operand), "sha256": of, "fixes": asked.names, "all": asked.all,
            "source": asked.source}


def _place(asked: Asked, identity: Document) -> Path:
    """A session of the same question that has no answer yet, else a folder of that name that nobody has."""
    wanted = Path(asked.out) if asked.out else _fixes_folder(asked.operand)
    number, folder = 1, wanted
    while folder.exists():
        old = _recorded(folder)
        if old and old["asked"] == identity and _goes_on(old):
            return folder
        if folder.is_dir() and not any(folder.iterdir()):
            return folder
        if asked.out:
            raise errors.UsageError(f"{folder} is not empty" + (
                ", and holds the finished steps of another question" if old else "") + ": give a new folder with --out")
        number += 1
        folder = wanted.with_name(f"{wanted.name}.{number}")
    return folder


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Two sessions at once would take each other's files for their own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as e:
        raise errors.EnvironmentProblem(f"cannot make {folder}: {e.strerror}") from e
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as e:
        raise errors.UsageError(f"another etprof fix works in {folder}") from e
    finally:
        os.close(handle)


def changed(command: list[str], changes: list[tuple[str, str]]) -> list[str]:
    """COMMAND with the fixes' options; a recipe is added, of another option there is one."""
    words = list(command)
    for option, value in changes:
        if option != "--apply" and option in words:
            at = words.index(option)
            del words[at:at + 2]
        words += [option, value]
    return words


def renamed(command: list[str], program: str) -> list[str]:
    """COMMAND for a program of another name than PROGRAM: arms are told apart by it."""
    model = re.split("_(?:xnnpack|portable)_", Path(program).stem, maxsplit=1)[0]
    return changed(command, [("--name", f"{model}_again")])


class Session:
    def __init__(self, asked: Asked, tools: work.Tools, folder: Path, identity: Document) -> None:
        self.asked, self.tools, self.folder = asked, tools, folder
        self.document: Document = {"schema": SCHEMA, "tool": {"version": __version__}, "state": "running",
                                   "folder": str(folder), "asked": identity, "before": None, "again": None,
                                   "unsure": [], "steps": [], "best": None, "total": None}
        old = _recorded(folder)
        self.document["unsure"] = _set_aside(old) if old else []
        self.unsure = [str(folder / run) for run in self.document["unsure"]]
        self.again: work.Program | None = None
        self.changes: list[tuple[str, str]] = []
        self.tried: set[tuple[str, str]] = set()

    def save(self, state: str | None = None) -> None:
        self.document["state"] = state or self.document["state"]
        text = json.dumps(self.document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            with opened(str(self.folder / "fix.json")) as file:
                file.write(text.encode())
        except OSError as e:
            raise errors.EnvironmentProblem(f"cannot write in {self.folder}: {e.strerror}") from e

    # ---- what is there before ----

    def begin(self) -> list[Offer]:
        asked = self.asked
        run = asked.operand
        if run.endswith(".pte"):
            run = work.measure(self.tools, self.folder / "before", [run], None)
        self.told: Told = answers.read(run)
        answers.check(self.told)
        chosen = answers.choose(self.told, asked.names)
        self.command = answers.source_of(self.told, asked.source, asked.trust)
        if answers.accepts_unproven(self.told):
            self.tools.exporting.append("--accept-unproven")
        self.current = work.Program(self.told.program, self.told.sha256, os.path.getsize(self.told.program))
        self.document["before"] = {"run": run, "arm": self.told.arm, "level": self.told.level,
                                   "threads": self.told.threads, "median_ns": self.told.median_ns,
                                   "program": dataclasses.asdict(self.current), "command": self.command}
        self.save()
        self.export_again()
        return chosen

    def export_again(self) -> None:
        """What the exporter of today makes of the old recipe: a fix is told apart from that."""
        command = renamed(self.command, self.told.program)
        found = work.export(self.tools, self.folder / "again", command)
        made = None if isinstance(found, work.Refused) else found
        same = made is not None and made.sha256 == self.told.sha256
        self.again = None if same else made
        self.document["again"] = {"command": command, "program": dataclasses.asdict(made) if made else None,
                                  "same_bytes": same, "said": found.said if isinstance(found, work.Refused) else None,
                                  "measured": None}
        self.save()

    # ---- steps ----

    def step(self, offer: Offer, run_of: str) -> None:
        """Exports with the fix, on top of those that helped, and measures against the program without it."""
        self.tried.add(offer.change)
        changes = [*self.changes, offer.change]
        command = changed(self.command, changes)
        name = f"{len(self.document['steps']) + 1}-{re.sub('[^A-Za-z0-9]+', '-', offer.change[1]).strip('-')}"
        fix = offer.fix
        step: Document = {
            "fix": offer.id, "told_by": run_of, "kind": fix["kind"], "text": fix["text"], "advice": fix["advice"],
            "predicted_ns": fix["gain_ns"], "estimate_ns": fix["estimate_ns"], "change": list(offer.change),
            "folder": name, "command": command, "of": self.current.sha256, "program": None, "run": None,
            "measured": None, "itself": None, "kept": False, "why": None}
        self.document["steps"].append(step)
        self.save()
        self.tools.say(f"{offer.id}  {fix['text']}")
        made = work.export(self.tools, self.folder / name, command)
        if isinstance(made, work.Refused):
            step["why"] = f"not exported: {made.said}"
        else:
            step["program"] = dataclasses.asdict(made)
            self.measure(step, made, changes)
        self.save()

    def measure(self, step: Document, made: work.Program, changes: list[tuple[str, str]]) -> None:
        if made.sha256 in (self.current.sha256, self.again.sha256 if self.again else None):
            step["why"] = "the export makes the same program"
            return
        # Only the program that was there before may differ from what the exporter makes of its recipe today.
        again = self.again if self.current.sha256 == self.told.sha256 else None
        arms = [self.current, made, *([again] if again else [])]
        self.save()
        run = work.measure(self.tools, self.folder / step["folder"] / "run", [p.path for p in arms], self.told,
                           self.unsure)
        step["run"] = os.path.relpath(run, self.folder)
        step["measured"] = work.held_against(run, self.current.sha256, made.sha256)
        itself = step["measured"]
        if again:
            itself = step["itself"] = work.held_against(run, again.sha256, made.sha256)
            self.document["again"]["measured"] = work.held_against(run, self.told.sha256, again.sha256)
        step["kept"] = itself["verdict"] == FASTER and step["measured"]["verdict"] == FASTER
        if step["kept"]:
            self.current, self.changes = made, changes
        elif again and self.document["again"]["measured"]["verdict"] == FASTER:
            self.current = again

    # ---- the whole ----

    def queue(self, chosen: list[Offer]) -> Iterator[tuple[Offer, str]]:
        """What was named, or with --all what the newest answer puts first and was not tried yet."""
        if not self.asked.all:
            yield from ((offer, self.told.folder) for offer in chosen)
            return
        offers, run_of = self.told.offers, self.told.folder
        while len(self.document["steps"]) < MOST_STEPS:
            offer = next((o for o in offers if o.change not in self.tried), None)
            if offer is None:
                return
            yield offer, run_of
            last = self.document["steps"][-1]
            if last["kept"]:
                run_of = str(self.folder / last["run"])
                offers = answers.read(run_of).offers

    def end(self) -> None:
        """The best program, against the one that was there before."""
        kept = [s for s in self.document["steps"] if s["kept"]]
        if self.current.sha256 == self.told.sha256:
            self.save("finished")
            return
        self.document["best"] = dataclasses.asdict(self.current)
        if not kept:
            self.document["total"] = self.document["again"]["measured"]
        elif len(kept) == 1 and kept[0]["of"] == self.told.sha256:
            self.document["total"] = kept[0]["measured"]
        else:
            run = work.measure(self.tools, self.folder / "total", [self.told.program, self.current.path], self.told)
            self.document["total"] = work.held_against(run, self.told.sha256, self.current.sha256)
        self.save("finished")

    def run(self) -> Document:
        for offer, run_of in self.queue(self.begin()):
            self.step(offer, run_of)
        self.end()
        return self.document


def exit_code(document: Document) -> int:
    """0: a fix helped; 3: the measurements cannot tell; 1: none helped."""
    if any(s["kept"] for s in document["steps"]):
        return 0
    return NOT_TOLD if any(_is_unsure(s) for s in document["steps"]) else 1


def fix(asked: Asked, tools: work.Tools) -> Document:
    """Applies and measures; the record of it, which is in its folder as fix.json."""
    if asked.all and asked.names:
        raise errors.UsageError("--all takes the fixes itself: give no names with it")
    if not os.path.exists(asked.operand):
        raise errors.EnvironmentProblem(f"{asked.operand}: no such file or folder")
    if not asked.operand.endswith(".pte") and not os.path.isfile(os.path.join(asked.operand, "manifest.json")):
        raise errors.UsageError(f"{asked.operand} is neither a run folder nor a .pte; 'etprof ab MODEL.pte' makes one")
    identity = _identity(asked)
    folder = _place(asked, identity)
    with _held(folder):
        session = Session(asked, tools, folder, identity)
        try:
            return session.run()
        except BaseException:
            if session.document["before"]:
                session.save("interrupted")
            raise
