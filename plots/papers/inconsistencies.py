"""Where the source documents contradict themselves or each other.

The documents do not change any more: what does not agree in them was worked out of their tables
(inputs/published/) once, and is kept as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plots.papers.published import inventory, read_csv


@dataclass(frozen=True)
class Inconsistency:
    """What a document says against itself or another, under the id of the inventory it is about."""

    id: str
    source: str
    text: str


@cache
def inconsistencies() -> tuple[Inconsistency, ...]:
    """All of them, in the order of the inventory."""
    sources = {item.id: item.source for item in inventory()}
    told = read_csv(Path(__file__).with_suffix(".csv"))
    return tuple(Inconsistency(row["id"], sources[row["id"]], row["text"]) for row in told)
