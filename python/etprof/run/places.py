# SPDX-License-Identifier: Apache-2.0
"""JSON whose values know where they stand, so that every mistake in a config is told with its place."""
from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from etprof.errors import BadInput, FileProblem

_MOST_BYTES = 1 << 20
_DEEPEST = 16
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s,:{}\[\]"]+')


def _edits(a: str, b: str) -> int:
    """Letters to put in, take out or exchange, until A is B."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for k, y in enumerate(b, 1):
            above, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, above + (x != y))
    return row[-1]


def near(name: str, known: Iterable[str]) -> str:
    """What a message about an unknown NAME ends with: the nearest of the KNOWN, if two letters away or less."""
    edits, best = min(((_edits(name[:60], other), other) for other in known), key=lambda found: found[0])
    # Two slips of the finger, and fewer than the word has letters: else each short word is like every other.
    return f'; did you mean "{best}"?' if edits <= 2 and edits < len(name) else ""


class Node:
    """A value, its byte position and the path to it; without a value it is not there."""

    def __init__(self, value: Any, at: int, where: str, members: Any = (), keys: dict[str, int] | None = None):
        self.value, self.at, self.where, self._members, self._keys, self._there = value, at, where, members, keys, True

    def __bool__(self) -> bool:
        return self._there

    def fail(self, text: str) -> NoReturn:
        problem = BadInput(text)
        problem.byte = self.at
        raise problem

    def wrong(self, expected: str) -> NoReturn:
        self.fail(f"{self.where or 'the config'} is not {expected}")

    def member(self, key: str) -> Node:
        if isinstance(self.value, dict) and key in self.value:
            found: Node = self._members[key]
            return found
        absent = Node(None, self.at, key)
        absent._there = False
        return absent

    def items(self) -> list[Node]:
        return list(self._members)

    def known(self, keys: Iterable[str], homes: Mapping[str, Iterable[str]]) -> None:
        """A key that nobody knows is an error: one that is mistyped would silently leave its default in force."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
        for key in self.value:
            if key in keys:
                continue
            inside, place = self.where or "the config", Node(None, (self._keys or {})[key], "")
            slip = near(key, keys)
            home = next((name for name, others in homes.items() if key in others), None)
            if slip:
                place.fail(f'{inside} has no key "{key:.60}"{slip}')
            if home:
                place.fail(f'"{key}" does not belong in {inside} but {home}')
            place.fail(f'{inside} has no key "{key:.60}" (see docs/measure.md)')

    def text(self) -> str | None:
        if not self:
            return None
        s = self.value
        if not isinstance(s, str) or not s or re.search("[\0\ud800-\udfff]", s):  # no name of a file
            self.wrong("a text")
        if "REPLACE_" in s or re.search("<.*>", s, re.S):  # what templates leave to be filled in
            self.fail(f'{self.where} still holds the placeholder "{s:.80}": put the real one in, or let '
                      "'etprof run --init MODEL.pte' write the config")
        return s

    def count(self, least: int, most: int) -> int:
        v = self.value
        if isinstance(v, bool) or not isinstance(v, int) or not least <= v <= most:
            self.fail(f"{self.where} is not a whole number from {least} to {most}")
        return v


class _Reader:
    def __init__(self, text: str):
        self.text, self.tokens, self.byte, self.char = text, list(_TOKEN.finditer(text)), 0, 0
        self.next = 0

    def at(self, token: re.Match[str]) -> int:
        """Positions only grow, so each piece is counted once."""
        self.byte += len(self.text[self.char:token.start()].encode())
        self.char = token.start()
        return self.byte

    def node(self, where: str, depth: int) -> Node:
        token = self.tokens[self.next]
        self.next, at = self.next + 1, self.at(token)
        if token[0] not in "{[":
            return Node(json.loads(token[0]), at, where)
        if depth == _DEEPEST:
            Node(None, at, "").fail(f"no JSON: nested deeper than {_DEEPEST} levels")
        return (self.object if token[0] == "{" else self.list)(where, at, depth + 1)

    def object(self, where: str, at: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        keys: dict[str, int] = {}
        while self.tokens[self.next][0] != "}":
            token = self.tokens[self.next]
            key, self.next = json.loads(token[0]), self.next + 1
            if key in keys:
                line = self.text.count("\n", 0, token.start()) + 1
                Node(None, self.at(token), "").fail(f"no JSON: line {line}: the key {token[0]} stands there twice")
            keys[key] = self.at(token)
            members[key] = self.node(f"{where}.{key}" if where else key, depth)
        self.next += 1
        return Node({k: m.value for k, m in members.items()}, at, where, members, keys)

    def list(self, where: str, at: int, depth: int) -> Node:
        members: list[Node] = []
        while self.tokens[self.next][0] != "]":
            members.append(self.node(f"{where}[{len(members)}]", depth))
        self.next += 1
        return Node([m.value for m in members], at, where, members)


def read(path: str) -> Node:
    """The root of the JSON in the file PATH."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as e:
        raise FileProblem(f"cannot open {path}: {e.strerror}") from e
    if len(raw) > _MOST_BYTES:
        raise BadInput(f"{path}: has more than {_MOST_BYTES} bytes, which no config needs")
    try:
        text = raw.decode()

        def refuse(word: str) -> NoReturn:
            at = next(token.start() for token in _TOKEN.finditer(text) if token[0] == word)
            raise json.JSONDecodeError(f"{word} cannot be in JSON", text, at)

        json.loads(text, parse_constant=refuse)
        return _Reader(text).node("", 0)
    except json.JSONDecodeError as e:
        at = len(e.doc[:e.pos].encode())
        raise BadInput(f"{path}: no JSON: line {e.lineno}: {e.msg} (at byte {at})") from e
    except UnicodeDecodeError as e:
        raise BadInput(f"{path}: no JSON: not UTF-8 (at byte {e.start})") from e
    except RecursionError as e:
        raise BadInput(f"{path}: no JSON: nested deeper than {_DEEPEST} levels") from e
