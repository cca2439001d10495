# SPDX-License-Identifier: Apache-2.0
"""What do the playbooks say? Front matter, commands with their settings filled in, selection by name and number.

A playbook begins with front matter between "---": YAML, of which lines "key: value" and the mapping "settings:" with
indented lines are understood, values plain or in double quotes. Its fenced blocks "```sh step" and "```sh gate" hold
one command per line. Words are split at blanks, "…" keeps them together, {name} is replaced by a setting. {run} is the
newest run folder of the model that the setting pte names, looked up when the command is started."""
from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from etprof import restart, system
from etprof.errors import BadInput, EnvironmentProblem, UsageError

FOLDERS = ("agent_skill_ml_profiling", "agentic-kits")
LAST = ("readme", "setup-agent", "pipeline-agent", "validation-agent")  # behind those with numbers
RUN = "{run}"
SETTING_DEPTH = 3  # a default may be made of other defaults; one made of itself ends here
KNOWN = "01 to 08, readme, setup-agent, pipeline-agent, validation-agent"
# Others read the front matter as YAML: what is plain text here must be plain text there.
PLAIN = re.compile(r"""[^"'{\[&*!|>%@`#,?-](?:(?!: | #).)*(?<!:)""")
QUOTED = re.compile(r'"([^"\\]*)"')


@dataclasses.dataclass
class Command:
    gate: bool
    line: int  # in the playbook
    words: list[str]
    shown: str
    run_of: str | None = None  # the words hold {run}: of this .pte
    ok: bool | None = None  # None: it was not run
    exit_code: int | None = None  # 128 + N after signal N; -1 when it did not start
    wall_ns: int | None = None
    output: str | None = None  # end of what a failed one printed


@dataclasses.dataclass
class Skill:
    id: str  # name of its file
    folder: str
    text: str
    name: str = ""
    description: str = ""
    next: str | None = None
    minutes: int = 0
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    commands: list[Command] = dataclasses.field(default_factory=list)
    ok: bool | None = None


def platform() -> str:
    """As run folders call this system."""
    if hasattr(sys, "getandroidapilevel"):
        return "android"
    return "mac" if sys.platform == "darwin" else "linux"


def playbooks() -> Iterator[Path]:
    """The files, in the order of the chain: of the source tree, or of the installation that this package is in."""
    places = (Path(restart.ROOT).parent, Path(system.TREE, "share", "etprof"))
    home = next((p for p in places if (p / FOLDERS[0]).is_dir()), None)
    if home is None:
        raise EnvironmentProblem(f"no folder {FOLDERS[0]} in {places[0]}; install etprof again")
    yield from sorted((home / FOLDERS[0]).glob("0*.md"))
    yield from (home / folder / f"{name}.md" for name in LAST for folder in FOLDERS
                if (home / folder / f"{name}.md").is_file())


class _Reader:
    """Reads one playbook, line by line."""

    def __init__(self, path: Path, given: Mapping[str, str]) -> None:
        self.skill = Skill(path.stem, path.parent.name, path.read_text(encoding="utf-8"))
        self._given, self._line, self._in_settings = given, 0, False

    def _wrong(self, why: str) -> BadInput:
        return BadInput(f"{self.skill.id}:{self._line}: {why}")

    def read(self) -> Skill:
        block, rest = "start", self.skill.text.splitlines()
        for self._line, line in enumerate(rest, 1):
            if block in ("start", "front") and line == "---":
                block = "front" if block == "start" else "text"
            elif block == "start":
                break
            elif block == "front":
                self._front(line)
            elif line.startswith("```"):
                # A block that is neither step nor gate is text: its lines are shown and never run.
                opened = {"```sh step": "step", "```sh gate": "gate"}.get(line, "other")
                block = opened if block == "text" else "text"
            elif block in ("step", "gate") and line.strip(" ") and not line.startswith("#"):
                self._command(line, block == "gate")
        if block != "text" or not self.skill.name or not self.skill.description:
            raise BadInput(f"{self.skill.id}: expected front matter with name and description, and closed blocks")
        return self.skill

    def _front(self, line: str) -> None:
        if line == "settings:":
            self._in_settings = True
            return
        key, colon, raw = (part.strip(" ") for part in line.partition(":"))
        if not colon or not key:
            raise self._wrong(f"front matter without a colon: {line}")
        quoted = QUOTED.fullmatch(raw)
        if not quoted and not PLAIN.fullmatch(raw):
            raise self._wrong(f"{key}: put the value in double quotes: {raw}")
        value, indented = (quoted[1] if quoted else raw), line.startswith("  ")
        if indented and self._in_settings:
            if key in self.skill.settings:
                raise self._wrong(f"the setting {key} is there twice")
            self.skill.settings[key] = value
            return
        self._in_settings = False
        if indented or key not in ("name", "description", "next", "minutes"):
            raise self._wrong(f"unknown key {key}")
        if key == "minutes" and not value.isdigit():
            raise self._wrong(f"minutes: {value} is not a number")
        setattr(self.skill, key, int(value) if key == "minutes" else value)

    def _value(self, name: str) -> str | None:
        if name == "platform":  # of the machine, or of the phone that was set
            return self._given.get(name, platform())
        # A setting can be given only where the playbook has a default for it: the front matter lists what can be set.
        own = self.skill.settings.get(name)
        return None if own is None else self._given.get(name, own)

    def _filled(self, text: str, depth: int = 0) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1]
            said = self._value(name)
            # The folder of a run is not there when the playbook is read: the step before this one makes it.
            if said is None and name == "run" and "pte" in self.skill.settings:
                return RUN
            if said is None or depth > SETTING_DEPTH:
                raise self._wrong(f"no setting for {{{name}}}")
            return self._filled(said, depth + 1)

        return re.sub(r"\{([^}]*)\}?", value, text)

    def _command(self, line: str, gate: bool) -> None:
        # Split first and filled in afterwards: a value with a blank in it stays one word.
        found = [(m[1] is not None, self._filled(m[0].strip('"') if m[1] is not None else m[0]))
                 for m in re.finditer(r'"([^"]*)"?|[^ ]+', line)]
        shown = " ".join(f'"{word}"' if quoted else word for quoted, word in found)
        run_of = self._filled("{pte}") if RUN in shown else None
        self.skill.commands.append(Command(gate, self._line, [word for _, word in found], shown, run_of))


def _chosen(known: list[Skill], item: str) -> list[Skill]:
    first, dash, last = (part.strip(" ") for part in item.partition("-"))
    last = last if dash else first
    if re.fullmatch(r"\d\d", first) and re.fullmatch(r"\d\d", last) and first <= last:
        found = [s for s in known if re.match(r"\d\d_", s.id) and first <= s.id[:2] <= last]
        whole = len(found) == int(last) - int(first) + 1  # else a range would silently do less than it says
    else:
        found = [s for s in known if item in (s.id, s.name)]
        whole = bool(found)
    if not whole:
        raise UsageError(f"no skill {item}; 'etprof skills' lists them: {KNOWN}")
    return found


def select(selection: str | None, given: Mapping[str, str]) -> list[Skill]:
    """Those that SELECTION names ("04", "01-07", "03,05", "run_profiling", "setup-agent"), None: all, filled in."""
    known = [_Reader(path, given).read() for path in playbooks()]
    items = [] if selection is None else [item.strip(" ") for item in selection.split(",")]
    found = known if selection is None else [s for item in items for s in _chosen(known, item)]
    for name in given:
        if name != "platform" and not any(name in s.settings for s in found):
            raise UsageError(f"no skill of these has a setting '{name}'; their front matter lists what can be set "
                             "(etprof skills NAME)")
    return found
