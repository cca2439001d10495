# SPDX-License-Identifier: Apache-2.0
# Text of others made safe to show, as src/base/shown.c does it.
import re

_WORDS = ("error|warning|notice|debug|group|endgroup|add-mask|add-matcher|add-path|remove-matcher|set-env|set-output|"
          "stop-commands|save-state|echo|internal-set-repo-path")
_COMMAND = re.compile(rf"(:)(?=:(?:{_WORDS})(?![a-z-]))|(#)(?=#(?:\[|vso\[))", re.IGNORECASE)


def printable(text: str) -> str:
    """Names come from files of others: no control reaches a terminal, no command the runner of a CI service."""
    return safe("".join(ch if ch.isprintable() else "?" for ch in text))


def safe(text: str) -> str:
    """The same for a text of several lines."""
    shown = "".join(ch if ch.isprintable() or ch in "\n\t" else "?" for ch in text)
    return _COMMAND.sub(lambda found: found[0] + "'", shown)
