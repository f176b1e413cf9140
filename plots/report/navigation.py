"""What the page's first line leads to: every chapter in order, and within some of them what a
reader looks for by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Entry:
    """A link to the heading ``anchor`` of the page."""

    label: str
    anchor: str


@dataclass(frozen=True)
class Line:
    """Links that belong together under ``label``, which is a link itself where it has an anchor."""

    label: str
    anchor: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Menu:
    """Lines of links under one word of the navigation."""

    label: str
    lines: tuple[Line, ...]

    def anchors(self) -> list[str]:
        """All that it leads to."""
        lines = [line.anchor for line in self.lines if line.anchor]
        return lines + [entry.anchor for line in self.lines for entry in line.entries]


def menu(label: str, lines: Iterable[Line]) -> list[Menu]:
    """The menu of the lines that lead anywhere; none without one."""
    kept = tuple(line for line in lines if line.entries)
    return [Menu(label, kept)] if kept else []


def by_family(gpu: str, several: bool, named: Sequence[tuple[str, str]]) -> list[Line]:
    """(name, anchor) of microbenchmarks: a line for each family, which is the first part of a
    name; with the GPU before it, where there are several."""
    lines = []
    for family, of_family in groupby(named, lambda pair: pair[0].split("/", 1)[0]):
        label = f"{gpu}, {family}" if several else family
        entries = tuple(Entry(name.split("/", 1)[-1], anchor) for name, anchor in of_family)
        lines.append(Line(label, "", entries))
    return lines
