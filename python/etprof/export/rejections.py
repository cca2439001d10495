# SPDX-License-Identifier: Apache-2.0
# Why the partitioner left operators alone: its own words, and those of recipes that keep some off.
from __future__ import annotations

import logging


class RejectionLog(logging.Handler):
    """Collects why the XNNPACK partitioner refused nodes; it says so in its debug log only."""

    LOGGER = "executorch.backends.xnnpack"
    current = None

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.reasons: dict[str, str] = {}

    def emit(self, record):
        why = record.msg
        if getattr(why, "node", None) is not None and getattr(why, "reason", ""):
            self.reasons[why.node.name] = why.reason

    def __enter__(self):
        self._saved = []
        self._disabled = logging.root.manager.disable
        logging.disable(logging.NOTSET)
        for name in list(logging.root.manager.loggerDict):
            if name.startswith(self.LOGGER + ".partition"):
                logger = logging.getLogger(name)
                self._saved.append((logger, logger.level, logger.propagate))
                logger.setLevel(logging.DEBUG)
                logger.propagate = False
                logger.addHandler(self)
        RejectionLog.current = self
        return self

    def __exit__(self, *_):
        RejectionLog.current = None
        logging.disable(self._disabled)
        for logger, level, propagate in self._saved:
            logger.removeHandler(self)
            logger.setLevel(level)
            logger.propagate = propagate


def note_rejection(node, reason: str):
    """Lets a recipe's own refusal be found where the partitioner's are."""
    if RejectionLog.current is not None:
        RejectionLog.current.reasons[node.name] = reason
