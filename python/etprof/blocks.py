# SPDX-License-Identifier: Apache-2.0
"""The Inspector's event blocks: which events has a block, and what is known of each?"""
from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class PerfData:
    """Milliseconds."""

    raw: list[float]
    p10: float
    p50: float
    p90: float
    avg: float
    min: float
    max: float


@dataclasses.dataclass(frozen=True)
class Event:
    """PERF_DATA is None where nothing was timed."""

    name: str
    perf_data: PerfData | None
    op_types: list[str]
    delegate_debug_identifier: int | str | None
    stack_traces: dict[str, str]
    module_hierarchy: dict[str, dict[str, tuple[str, str]]]
    is_delegated_op: bool | None
    delegate_backend_name: str | None
    debug_data: list[Any]
    start_time: list[int] | None


@dataclasses.dataclass(frozen=True)
class EventBlock:
    name: str
    events: list[Event]


def event_blocks(rows: list[dict[str, Any]], places: list[int]) -> list[EventBlock]:
    """ROWS of the Inspector, block by block: PLACES has the block of each."""
    names = [f.name for f in dataclasses.fields(Event)][2:]
    blocks: list[EventBlock] = []
    for row, place, before in zip(rows, places, [-1, *places]):
        if place != before:
            blocks.append(EventBlock(row["event_block_name"], []))
        times = None if row["raw"] is None else PerfData(
            row["raw"], *(row[f"{s} (ms)"] for s in ("p10", "p50", "p90", "avg", "min", "max")))
        blocks[-1].events.append(Event(row["event_name"], times, **{name: row[name] for name in names}))
    return blocks
