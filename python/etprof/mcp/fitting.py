# SPDX-License-Identifier: Apache-2.0
"""How does a document become small enough for a model's context? Its longest lists become shorter; it is never cut in
the middle, and what was left out is counted."""
from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

from etprof.mcp.refused import Refused

LIMIT, PARTS_LIMIT = 12_000, 100_000  # characters: unasked, and of parts that were asked for


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parts_of(document: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    """Only the members that PARTS name; "operators[20:40]": of a list those items."""
    found = {"schema": document["schema"]}
    for part in parts:
        name, _, span = part.partition("[")
        if name not in document:
            raise Refused(f"the document has no {name}; it has {', '.join(document)}")
        found[name] = document[name]
        if span:
            first, last = (int(number) if number else None for number in span.rstrip("]").split(":"))
            if not isinstance(document[name], list):
                raise Refused(f"{name} is not a list; ask for {name}")
            found[name] = document[name][first:last]
    return found


def _lists(value: object, path: str) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, list):
        yield path, value
        for item in value:
            yield from _lists(item, f"{path}[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}" if path else key)


def fit(document: dict[str, Any], limit: int) -> tuple[dict[str, Any], dict[str, int]]:
    """DOCUMENT in at most LIMIT characters, and how many items of which lists are not in it. The longest list loses its
    second half; a member goes as a whole where no list makes up much of what is too long."""
    small = copy.deepcopy(document)
    left_out: dict[str, int] = {}
    while (size := len(text_of(small))) > limit:
        lists = [(len(text_of(items)), path, items) for path, items in _lists(small, "") if len(items) > 1]
        members = [(len(text_of(value)), name) for name, value in small.items() if name != "schema"]
        length, path, longest = max(lists, key=lambda found: found[0], default=(0, "", []))
        if length * 4 > size - limit:
            kept = len(longest) // 2
            left_out[path] = left_out.get(path, 0) + len(longest) - kept
            del longest[kept:]
        elif members:
            name = max(members)[1]
            left_out = {p: n for p, n in left_out.items() if re.split(r"[.\[]", p, maxsplit=1)[0] != name}
            left_out[name] = len(document[name]) if isinstance(document[name], (list, dict)) else 1
            del small[name]
        else:
            break
    return small, left_out
