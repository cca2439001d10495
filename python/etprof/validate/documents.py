# SPDX-License-Identifier: Apache-2.0
"""JSON: is a file whole, without traps for readers, and as its schema says?"""
from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from etprof.errors import EnvironmentProblem
from etprof.validate.notes import File, Notes, text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

LEVELS = 16  # that documents of ours may be nested
FAULTS = {  # id: expected, what to do
    "json.empty": ("a document", "writing stopped before it began: make the file again"),
    "json.deep": ("a document of this kind", "it is not a file of this tool: remove it"),
    "json.duplicate_key": ("every key once", "readers disagree about which one counts: delete one, or make the file "
                           "again"),
    "json.utf8": ("UTF-8", "save it as UTF-8, or make the file again"),
    "json.truncated": ("a whole document", "the end is missing (disk full, interrupted copy): copy or make it again"),
    "json.nan": ("numbers, or null", "NaN is not JSON (Arm's kit writes it for a single run): replace it by null, or "
                 "make the file again"),
    "json.syntax": ("JSON", "undo the edit at that line, or make the file again"),
    "json.object": ("an object", "this is another kind of file: make it again"),
}
_CUT = re.compile(r'"(?:[^"\\]|\\.)*\\?|t|tr|tru|f|fa|fal|fals|n|nu|nul|-', re.DOTALL)  # of the last token


class Fault(Exception):
    def __init__(self, name: str, found: str) -> None:
        super().__init__(found)
        self.name, self.found = name, found


def note_fault(notes: Notes, file: str, fault: Fault, where: str = "") -> None:
    expected, fix = FAULTS[fault.name]
    notes.add(file, fault.name, False, where + fault.found, expected, fix)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise Fault("json.duplicate_key", f"key \"{next(k for k in keys if keys.count(k) > 1)}\" twice")
    return found


def _constant(name: str) -> NoReturn:
    raise Fault("json.nan", f"{name} in place of a number")


def _real(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Fault("json.syntax", f"the number {digits[:40]} is too large")
    return value


def _whole(digits: str) -> int:
    if len(digits) > 20 or not -2**63 <= int(digits) < 2**63:
        raise Fault("json.syntax", f"the number {digits[:40]} is too large")
    return int(digits)


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(LEVELS):
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)
                 if isinstance(inner, (dict, list))]
    return bool(level)


def parse(data: bytes) -> dict[str, Any] | list[Any]:
    """The object or list that DATA are, or a Fault."""
    if not data:
        raise Fault("json.empty", "the file is empty")
    try:
        source = data.decode("utf-8")
        found = json.loads(source, object_pairs_hook=_members, parse_constant=_constant, parse_float=_real,
                           parse_int=_whole)
    except UnicodeDecodeError as problem:
        raise Fault("json.utf8", f"byte {problem.start} is not UTF-8") from None
    except RecursionError:
        raise Fault("json.deep", f"JSON nested deeper than {LEVELS} levels") from None
    except json.JSONDecodeError as problem:
        cut = problem.pos >= len(source.rstrip()) or _CUT.fullmatch(source.rstrip(), problem.pos)
        said = problem.msg[:1].lower() + problem.msg[1:]
        raise Fault("json.truncated" if cut else "json.syntax", f"line {problem.lineno}: {said}") from None
    if not isinstance(found, (dict, list)):
        raise Fault("json.syntax", "line 1: neither an object nor a list")
    if _is_deep(found):
        raise Fault("json.deep", f"JSON nested deeper than {LEVELS} levels")
    if re.search(rb"\\u[dD][89a-fA-F]", data) and _has_half(found):
        raise Fault("json.syntax", "half a character (\\ud800 and the like)")
    return found


def _has_half(value: Any) -> bool:
    return bool(re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)))


# ---- schemas ----

SCHEMAS = Path(__file__).parents[1] / "schemas"


@functools.cache
def known() -> dict[str, dict[str, Any]]:
    found = {path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
             for path in SCHEMAS.glob("*.schema.json")}
    if not found:
        raise EnvironmentProblem(f"no JSON Schemas in {SCHEMAS}; install etprof again")
    return found


@functools.cache
def _validator(name: str) -> Validator:
    import jsonschema
    import referencing

    registry: Any = referencing.Registry().with_resources(  # a $ref names a file beside the schema
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in known().values())
    return jsonschema.Draft202012Validator(known()[name], registry=registry)


def _value(value: Any) -> str:
    """Long texts and whole objects are only described: the message has to stay a line."""
    if isinstance(value, str):
        size = len(value.encode("utf-8", "replace"))
        return f"text of {size} characters" if size > 60 else f'"{value}"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return json.dumps(value)


_LIMITS = {"minimum": "", "maximum": "", "exclusiveMinimum": "", "minItems": " entries", "maxItems": " entries",
           "minLength": " characters", "maxLength": " characters"}


def _problem(error: Any) -> tuple[str, str, str]:
    """id, found against expected, with the place."""
    place, rule, value = list(error.absolute_path), error.validator_value, error.instance
    name, found, expected = "schema.keyword", str(error.validator), "a keyword this validator knows"
    if error.validator == "oneOf":
        if error.context:  # of the last alternative: "exactly one of" would not say what to mend
            last = max(e.schema_path[0] for e in error.context)
            return _problem(next(e for e in error.context if e.schema_path[0] == last))
        name, found, expected = "schema.value", _value(value), "exactly one of the alternatives"
    elif error.validator == "type":
        name, found = "schema.type", _value(value)
        expected = rule if isinstance(rule, str) else " or ".join(rule)
    elif error.validator == "enum":
        name, found, expected = "schema.value", _value(value), "one of " + ", ".join(map(_value, rule))
    elif error.validator == "const":
        name, found, expected = "schema.name", _value(value), _value(rule)
    elif error.validator == "required":
        missing = next(key for key in rule if key not in value)
        name, found, expected = "schema.missing_key", "absent", f'key "{missing}"'
    elif error.validator == "additionalProperties":
        place.append(next(key for key in value if key not in error.schema.get("properties", {})))
        name, found, expected = "schema.unknown_key", "a key the schema does not have", "only known keys"
    elif error.validator == "unevaluatedProperties":
        place.append(next(key for key in value if repr(key) in error.message))
        name, found, expected = "schema.unknown_key", "a key the schema does not have", "only known keys"
    elif error.validator in _LIMITS:
        name, found = "schema.range", _value(value)
        expected = f"{error.validator} {rule}{_LIMITS[error.validator]}"
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    return name, f"{where or 'the document'}: {found}", expected


def _schema_of(notes: Notes, file: File, document: dict[str, Any]) -> str | None:
    """The schema's name: by the document's own word, else by the file's name. Arm's kit has a manifest.json too, in
    another form and without a "schema". A document of a later version is refused: held against an older schema it
    would be told nonsense."""
    own = text(document, "schema")
    if file.schema == "run" and not own:
        return "kit_manifest"
    if file.schema:
        return file.schema
    if not own:
        return "config" if "experiments" in document or "model" in document else None
    named = re.fullmatch(r"etprof\.(.+)/1", own)
    if named and named[1] in known():
        return named[1]
    notes.add(file.name, "schema.unknown", False, own, "a document that this version knows",
              "read it with the version of etprof that wrote it")
    return None


def check(notes: Notes, file: File, data: bytes) -> None:
    """A document is kept when it fits, so that checks across files never meet a missing key."""
    try:
        document = parse(data)
        if isinstance(document, list) and not file.schema:  # tables as lists
            notes.add(file.name, "json", True, f"{len(document)} entries", "JSON")
            return
        if not isinstance(document, dict):
            raise Fault("json.object", "no object")
    except Fault as fault:
        note_fault(notes, file.name, fault)
        return
    before, name = len(notes.checks), _schema_of(notes, file, document)
    if name is None:
        if len(notes.checks) == before:
            notes.add(file.name, "json", True, "sound, of no known kind", "JSON")
        return
    file.schema = name
    error = next(_validator(name).iter_errors(document), None)
    if error is None:
        file.json = document
        notes.add(file.name, "schema", True, "fits", f"as in {name}.schema.json")
        return
    problem, found, expected = _problem(error)
    again = "ask the version of etprof that wrote it" if problem == "schema.unknown_key" else "make the file again"
    notes.add(file.name, problem, False, found, expected, f"see schemas/{name}.schema.json; undo the edit, or {again}")


def check_lines(notes: Notes, file: File, data: bytes) -> None:
    """environment.jsonl: one object a line, with a type."""
    lines = data.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    for i, line in enumerate(lines, 1):
        try:
            document = parse(line)
        except Fault as fault:
            note_fault(notes, file.name, fault, f"line {i} of the file: ")
            return
        if text(document, "type") is None:
            notes.add(file.name, "environment.type", False, f"line {i}", 'objects with a "type"',
                      "environment.jsonl is raw: restore it from a copy, or measure again")
            return
    notes.add(file.name, "json", True, f"{len(lines)} lines", "one object a line")
