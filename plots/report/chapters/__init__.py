"""The chapters below the apps: one module each, which registers itself.

A module of this package that registers a Part is a chapter of the report. There is no other list to
add it to.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from plots.data.load import Results
from plots.report.embedded import Embedded
from plots.tree import Registry, import_modules


@dataclass(frozen=True)
class Part:
    """A chapter: ``body`` writes it, and gives the page the tables and figures that it shows. An
    empty one is left out. ``name`` is its anchor; chapters stand by ascending ``order``."""

    name: str
    heading: str
    body: Callable[[Results, Embedded], Markup]
    order: int


_parts = Registry[Part]("chapters")
register = _parts.register


def parts() -> list[Part]:
    """All chapters in order."""
    return sorted(_parts.values(), key=lambda part: (part.order, part.name))


import_modules(sys.modules[__name__])
