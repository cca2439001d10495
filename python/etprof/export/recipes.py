# SPDX-License-Identifier: Apache-2.0
# Fix recipes: changes to the module, its inputs, its traced graph or the partitioner that keep the
# numbers and change the operators.
from __future__ import annotations

from ..errors import UsageError


class Fix:
    """One recipe. Each hook may leave its part alone; none may change what the model computes."""

    name = ""
    summary = ""
    rewrites_graph = False

    def on_module(self, module):
        return module

    def on_inputs(self, inputs):
        return inputs

    def on_graph(self, graph_module) -> int:
        """Rewrites the traced graph in place; returns how many places changed."""
        return 0

    def partitioners(self):
        """The partitioners to use instead of the default ones, or None."""
        return None


def all_fixes() -> dict:
    return {cls.name: cls for cls in Fix.__subclasses__()}


def find(name: str) -> Fix:
    fixes = all_fixes()
    if name not in fixes:
        from .source import suggest

        raise UsageError(f"--apply {name}: no such recipe{suggest(name, fixes)}; "
                         "`--apply list` shows them")
    return fixes[name]()


def describe_all() -> str:
    return "\n".join(f"{name:16} {cls.summary}" for name, cls in sorted(all_fixes().items()))
