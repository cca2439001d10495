# SPDX-License-Identifier: Apache-2.0
"""The playbooks where an agent looks for skills: a folder each, with SKILL.md, whose front matter has the name of the
folder and what the skill is for."""
from __future__ import annotations

import re
from pathlib import Path

from etprof.skills.reading import Skill


def _folder(skill: Skill) -> str:
    """ "etprof-run-profiling" of "run_profiling"."""
    return "etprof-" + re.sub(r"[_ ]", "-", skill.name)


def _body(skill: Skill, skills: list[Skill]) -> str:
    """Without the front matter, which is the playbook's own; links lead to where the others are now, those to other
    files lose their target."""
    places = {f"{s.id}.md": f"../{_folder(s)}/SKILL.md" for s in skills}

    def link(found: re.Match[str]) -> str:
        return f"]({places.get(found[1].rpartition('/')[2], found[1])})"

    return re.sub(r"\]\(([^)]*)\)", link, skill.text.split("\n---\n", 1)[1])


def _settings(skill: Skill) -> str:
    said = ", ".join(f"`{{{name}}}` ({value})" for name, value in skill.settings.items())
    behind = f" What stands in braces is a setting, `--set NAME=VALUE`: {said}." if said else ""
    return f"\n`etprof skills run {skill.id}` executes the steps and gates below.{behind}\n"


def install(skills: list[Skill], folder: str) -> None:
    for skill in skills:
        place = Path(folder, _folder(skill))
        place.mkdir(parents=True, exist_ok=True)
        head = f'---\nname: {_folder(skill)}\ndescription: "etprof: {skill.description}"\n---\n'
        (place / "SKILL.md").write_text(head + _settings(skill) + _body(skill, skills), encoding="utf-8")
