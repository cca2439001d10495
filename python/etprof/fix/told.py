# SPDX-License-Identifier: Apache-2.0
"""What does a run folder say of a program: what it is, how it was exported, which fixes are offered, what was
measured?"""
from __future__ import annotations

import dataclasses
import os
import re
import shlex
from pathlib import Path
from typing import Any

from etprof import made, runs
from etprof.errors import BadInput, UsageError
from etprof.runfolders import read_json, sha256

EXPORT = ("etprof", "export")
PACKAGED = re.compile(r"(executorch|timm|torchvision):[\w.]+")  # models whose code is an installed package's
UNKNOWN_SOURCE = "MODEL"  # what a printed command says where the source is not known

Document = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Offer:
    """A fix that an export makes. CHANGE is the option that it adds, with its value."""

    id: str
    fix: Document  # of next_fixes in etprof.ab/1
    change: tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Told:
    folder: str
    program: str
    sha256: str
    command: list[str]  # that exported it; empty: not known
    arm: str
    level: str
    threads: int
    median_ns: int | None
    device: str
    plan: Document
    offers: list[Offer]
    others: dict[str, str]  # fixes that no export makes: what to do instead


def manifest(folder: str | os.PathLike[str]) -> Document:
    path = Path(folder, "manifest.json")
    try:
        found: Document = read_json(path)
        if not found["schema"].startswith("etprof.run/"):
            raise ValueError("it is not of etprof.run/1")
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise BadInput(f"{path} cannot be read: {getattr(e, 'strerror', None) or e}") from e
    return found


def _offers(document: Document) -> tuple[list[Offer], dict[str, str]]:
    offers, others = [], {}
    for fix in document["next_fixes"]:
        words = shlex.split(fix["command"] or "")
        if tuple(words[:2]) == EXPORT and len(words) >= 5:
            offers.append(Offer(fix["id"], fix, (words[-2], words[-1])))
        else:
            others[fix["id"]] = fix["recipe"]
    return offers, others


def _arm(document: Document) -> Document:
    """The one that fixes are of: the candidate of the first comparison."""
    name = document["comparisons"][0]["candidate"] if document["comparisons"] else document["arms"][0]["name"]
    return next(arm for arm in document["arms"] if arm["name"] == name)


def read(folder: str, baseline: str | None = None) -> Told:
    """Of the arm that the first comparison's candidate is."""
    kept = manifest(folder)
    if not kept["models"]:
        raise BadInput(f"{folder} has no program: it was made from recordings alone")
    document = runs.open(folder, baseline=baseline).document
    if not document["arms"]:
        raise BadInput(f"{folder} has no measured arm")
    arm = _arm(document)
    model = next((m for m in kept["models"] if m["path"] == arm["model"]), kept["models"][0])
    offers, others = _offers(document)
    # An export.json may be anybody's: a command with options that say more than what the program is is not printed.
    known = any(shlex.split(offer.fix["command"])[2] != UNKNOWN_SOURCE for offer in offers)
    command = [str(word) for word in model.get("command") or ()] if known else []
    return Told(folder, model["path"], model["sha256"], command, arm["name"], arm["level"], arm["threads"],
                arm["median_ns"], kept["device"]["spec"], kept["plan"], offers, others)


def check(told: Told) -> None:
    """Whether the program can be measured again as it was."""
    if not os.path.isfile(told.program):
        raise BadInput(f"{told.program}, which {told.folder} is of, is not there any more: export it again, or give "
                       "the program: etprof fix FILE.pte")
    if sha256(told.program) != told.sha256:
        raise BadInput(f"{told.program} is not the file any more that {told.folder} is of (another SHA-256): measure "
                       f"what is there: etprof fix {shlex.quote(told.program)}")
    phases = [key for key in ("prefill", "decode", "shape") if told.plan.get(key)]
    if phases:
        raise UsageError(f"{told.folder} was measured in phases (--{phases[0]}), and fix measures whole inferences: "
                         "measure the program without them")
    if told.plan.get("data"):
        raise UsageError(f"{told.program} has its weights in other files (--data), which fix does not export yet: "
                         "use the printed commands")
    if "," in told.level:
        raise UsageError(f"{told.arm} hides single features of the CPU, and fix measures at a level: "
                         "measure the program at one")


def source_of(told: Told, given: str | None, trusted: bool) -> list[str]:
    """The command that made the program, as far as it is known. It may be anybody's, and run a model's code."""
    if told.command and not given:
        source = told.command[2]
        if not (trusted or PACKAGED.fullmatch(source) or made.noted(told.sha256, told.command)):
            raise UsageError(f"the export.json beside {told.program} names the model {source}, whose Python code an "
                             "export runs, and no export here made that program: look at it; --trust uses it, "
                             "--source MODEL says what you exported")
        return told.command
    first = told.offers[0] if told.offers else None
    if given and first:
        # Of a program without export.json the printed commands repeat what its name says; the fix is their end.
        words = told.command or shlex.split(first.fix["command"])[:-2]
        return [*EXPORT, given, *words[3:]]
    raise UsageError(f"no export.json beside {told.program} says how it was exported (etprof export writes one): give "
                     "the model as you gave it to etprof export: --source MODEL")


def accepts_unproven(told: Told) -> bool:
    """Whether the program was taken though its check proves nothing: then the same is asked of those with fixes."""
    try:
        path = Path(told.program).with_name("export.json")
        entries = read_json(path)["artifacts"]
        return any(e["sha256"] == told.sha256 and e["options"]["accept_unproven"] is True for e in entries)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def choose(told: Told, names: list[str]) -> list[Offer]:
    """Those that are asked for; without names the first."""
    if not told.offers and not names:
        more = "; ".join(f"{name}: {text}" for name, text in told.others.items())
        raise UsageError(f"{told.folder} offers no fix that a new export applies" + (f" ({more})" if more else ""))
    offers = {offer.id: offer for offer in told.offers}
    for name in names:
        if name in told.others:
            raise UsageError(f"etprof fix cannot apply {name}, which needs more than a new export: {told.others[name]}")
        if name not in offers:
            known = ", ".join(offers) or "none that a new export applies"
            raise UsageError(f"no fix {name} in {told.folder}; it has {known}")
    return [offers[name] for name in names] or told.offers[:1]
