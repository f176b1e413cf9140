"""Pictures of the report as SVG, drawn on all cores."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from types import MappingProxyType

from matplotlib.figure import Figure

from plots.errors import PlotsError
from plots.figures import style
from plots.parallel import on_all_cores

Drawer = Callable[[], Figure]

# What is being drawn. A forked worker finds it here, with its frames, without copying any.
_pending: Mapping[str, Drawer] = MappingProxyType({})


def _draw(name: str) -> str:
    if not gc.isenabled():
        gc.collect(0)  # the figure before this one, whose parts refer to each other
    try:
        return style.svg(_pending[name]())
    except PlotsError as error:
        return str(error)


def draw_all(pictures: Mapping[str, Drawer]) -> dict[str, str]:
    """Each picture as SVG; where there is nothing to draw, the reason. One process per core."""
    global _pending
    _pending = pictures
    try:
        return dict(zip(pictures, on_all_cores(_draw, list(pictures)), strict=True))
    finally:
        _pending = MappingProxyType({})
