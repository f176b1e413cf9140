"""Pictures of the report as SVG, drawn on all cores."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plots.errors import PlotsError
from plots.figures import Picture, style
from plots.parallel import on_all_cores


@dataclass(frozen=True)
class Drawn:
    """A picture ready to stand in HTML; ``reason`` instead of ``svg`` when there is nothing to
    draw."""

    label: str
    fold: str = ""
    svg: str = ""
    reason: str = ""


# What is under way. A forked worker finds it here, with its frames, without copying any.
_under_way: Mapping[str, Picture] = MappingProxyType({})


def _draw(name: str) -> tuple[str, str]:
    """(svg, reason) of a picture under way."""
    picture = _under_way[name]
    if not gc.isenabled():
        gc.collect(0)  # the figure before this one, whose parts refer to each other
    try:
        figure = picture.draw(*picture.arguments)
        return style.inline_svg(figure, name, picture.label), ""
    except PlotsError as error:
        return "", str(error)


def draw_all(pictures: Mapping[str, Picture]) -> dict[str, Drawn]:
    """Draws every picture, by one process per core; the keys become prefixes of the ids in them, so
    no two may be equal."""
    global _under_way
    _under_way = pictures
    try:
        drawn = on_all_cores(_draw, list(pictures))
    finally:
        _under_way = MappingProxyType({})
    return {
        name: Drawn(picture.label, picture.fold, *of)
        for (name, picture), of in zip(pictures.items(), drawn, strict=True)
    }
