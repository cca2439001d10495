# SPDX-License-Identifier: Apache-2.0
"""What does a tool take? Kinds of operands: how a client is told of them (JSON Schema), and the word of a verb that a
value becomes. A path is judged against the allowed folders; a text of any other kind matches a pattern that no path
outside the working directory and no option can match."""
from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from etprof.mcp.places import Places
from etprof.mcp.refused import Refused

MOST_ITEMS, MOST_CHARACTERS, MOST_NUMBER = 64, 4096, 1e12


@dataclasses.dataclass(frozen=True)
class Kind:
    """PATTERN: what a text other than a path must match. JUDGE: which check a path goes through."""

    said: str
    type: str = "string"
    pattern: str | None = None
    words: tuple[str, ...] = ()
    judge: Callable[[Places, str], str] | None = None

    def schema(self) -> dict[str, object]:
        found: dict[str, object] = {"type": self.type}
        if self.pattern:
            found["pattern"] = f"^(?:{self.pattern})$"
        if self.words:
            found["enum"] = list(self.words)
        if self.type in ("integer", "number"):
            found["minimum"] = 0
        return found


# No separator of folders, nothing that a verb reads as an option or a shell as a home folder.
_WORD = r"[^-/\\.~\s\x00-\x1f][^/\\\x00-\x1f]{0,199}"
FILE = Kind("a file", judge=Places.existing)
RUN = Kind("a run folder or a recording", judge=Places.existing)
ARM_OF_RUN = Kind("a run folder, a recording, or RUN:ARM", judge=Places.arm)
NEW = Kind("a folder to make", judge=Places.new)
ID = Kind("an id such as F1, N1, op7 or tracer", pattern=r"[A-Za-z][A-Za-z0-9_-]{0,63}")
LEVEL = Kind("a level such as sme2, neon, avx2", pattern=r"[a-z][a-z0-9_]{0,31}")
ARM = Kind("an arm or a level", pattern=_WORD)
PHASE = Kind("a phase such as decode@256", pattern=r"[A-Za-z][A-Za-z0-9@ _]{0,39}")
DEVICE = Kind("local, adb, adb:SERIAL, ssh:HOST or qemu",
              pattern=r"local|adb(?::[A-Za-z0-9][A-Za-z0-9.:_-]*)?|ssh:[A-Za-z0-9][A-Za-z0-9._@:-]*|"
                      r"qemu(?::[A-Za-z0-9][A-Za-z0-9_,=+-]*)?")
CHANGE = Kind("'fix N1', 'drop GLOB', 'back GLOB', 'scale GLOB N', 'GLOB at-roof' or 'threads N'",
              pattern=rf"fix N\d{{1,4}}|(?:drop|back) {_WORD}|scale {_WORD} \d+(?:\.\d+)?|{_WORD} at-roof|"
                      r"threads \d{1,4}")
RULE = Kind("a rule such as 'speedup >= 1.3', 'op35.ns ARM <= 0.2 ms' or 'category(\"GEMM\").share <= 30 %'",
            pattern=r"[A-Za-z][^/\\\x00-\x1f]{0,199}?(?:<=|>=)\s*\d[\d.]*(?:e-?\d+)?\s*(?:[A-Za-zµ%×]{0,3}|tok/s)")
# The exporter runs the code of a FILE.py:Class and of a folder, and reads FILE.json.
MODEL = Kind("a name that 'etprof export --list' lists",
             pattern=r"(?:[a-z]{1,16}:)?(?!.*\.(?:py|json)$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
RECIPE = Kind("a recipe's name", pattern=r"[a-z][a-z0-9-]{0,63}")
GROUP = Kind("a number, or channel", pattern=r"\d{1,6}|channel")
DTYPE = Kind("a precision", words=("fp32", "fp16", "int8", "int8-dynamic", "int4", "8da4w", "8da8w"))
WHEN = Kind("always, never or auto", words=("always", "never", "auto"))
CACHE = Kind("a state of the cache", words=("off", "cold", "warm"))
COUNT = Kind("a whole number", type="integer")
DECODE = Kind("N tokens, or N@D,... at each depth D", pattern=r"\d{1,9}(?:@\d{1,9}(?:,\d{1,9}){0,31})?")
NUMBER = Kind("a number", type="number")
FLAG = Kind("true or false", type="boolean")
PART = Kind("a member of the document, or a range of its list",
            pattern=r"[a-z][a-z0-9_]{0,63}(?:\[\d{0,9}:\d{0,9}\])?")


@dataclasses.dataclass(frozen=True)
class Operand:
    """OPTION: None: a word of its own, in the order of the tool's table."""

    name: str
    kind: Kind
    option: str | None
    help: str
    required: bool = False
    many: bool = False

    def schema(self) -> dict[str, object]:
        one = self.kind.schema()
        whole = {"type": "array", "items": one, "maxItems": MOST_ITEMS} if self.many else one
        return {**whole, "description": self.help}


def input_schema(operands: Sequence[Operand]) -> dict[str, object]:
    """A model that invents a parameter is told so, instead of measuring something else than it meant."""
    return {"type": "object", "properties": {o.name: o.schema() for o in operands},
            "required": [o.name for o in operands if o.required], "additionalProperties": False}


def _text(operand: Operand, value: object) -> str:
    if not isinstance(value, str):
        raise Refused(f"{operand.name} takes text, {operand.kind.said}; found {value!r:.60}")
    if not value or len(value) > MOST_CHARACTERS or value.startswith("-") or re.search(r"[\x00-\x1f]", value):
        raise Refused(f"{operand.name} is empty, longer than {MOST_CHARACTERS} characters, begins with '-' or has a "
                      "control character")
    return value


def _word(operand: Operand, value: object, places: Places) -> str:
    kind = operand.kind
    if kind.type in ("integer", "number"):
        whole = kind.type == "integer"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) \
                or not 0 <= value <= MOST_NUMBER:  # nor what is not a number
            raise Refused(f"{operand.name} takes {kind.said}, 0 or more; found {value!r:.60}")
        return f"{value:.15g}"  # whole numbers without a point, as options take them
    text = _text(operand, value)
    if kind.judge:
        return kind.judge(places, text)
    fits = text in kind.words if kind.words else re.fullmatch(kind.pattern or "", text)
    if not fits:
        raise Refused(f"{operand.name} takes {' or '.join(kind.words) or kind.said}; found {text!r:.120}")
    # A verb takes the name of an existing file for a path, and this operand was not checked as one.
    if operand.option is None and os.path.lexists(os.path.join(places.work, text)):
        raise Refused(f"{operand.name} takes {kind.said}; {text!r:.120} is the name of a file")
    # Options that are lists split their value at commas: one item must not become two.
    if operand.option and operand.many and "," in text:
        raise Refused(f"{operand.name} takes one of them in each item; found {text!r:.120}")
    return text


def _words(operand: Operand, value: object, places: Places) -> Iterator[str]:
    if operand.kind is FLAG:
        if not isinstance(value, bool):
            raise Refused(f"{operand.name} takes true or false; found {value!r:.60}")
        yield from [operand.option or ""] if value else []
        return
    if operand.many and (not isinstance(value, list) or not 0 < len(value) <= MOST_ITEMS):
        raise Refused(f"{operand.name} takes a list of 1 to {MOST_ITEMS} items; found {value!r:.60}")
    for item in value if isinstance(value, list) and operand.many else [value]:
        yield from [operand.option] if operand.option else []
        yield _word(operand, item, places)


def words_of(operands: Sequence[Operand], arguments: Mapping[str, object], places: Places) -> list[str]:
    """The words of a verb. Refused: something is missing, unknown, of another kind, or outside the allowed folders."""
    known = [operand.name for operand in operands]
    for name in arguments:
        if name not in known:
            raise Refused(f"there is no parameter {name!r:.60}; known are {', '.join(known) or 'none'}")
    found: list[str] = []
    for operand in operands:
        value = arguments.get(operand.name)
        if value is not None:  # null is a parameter that was left out
            found += _words(operand, value, places)
        elif operand.required:
            raise Refused(f"{operand.name} is missing: {operand.help}")
    if any(operand.kind is NEW and arguments.get(operand.name) is None for operand in operands):
        places.unnamed(found)
    return found
