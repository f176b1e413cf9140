"""Pictures of the report as SVG: drawn on all cores, each only once."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plots.data.cache import Cache, Digests
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


def draw_all(pictures: Mapping[str, Picture], cache: Cache) -> dict[str, Drawn]:
    """Draws every picture; the keys become prefixes of the ids in them, so no two may be equal.

    A picture whose function, arguments, name and label are those of an earlier one is taken from
    ``cache``. The others are drawn by one process per core.
    """
    global _under_way
    digests = Digests()
    keys: dict[str, str] = {}
    drawn: dict[str, tuple[str, str]] = {}
    for name, picture in pictures.items():
        function = f"{picture.draw.__module__}.{picture.draw.__qualname__}"
        arguments = digests.of(picture.arguments)
        keys[name] = cache.key("picture", name, picture.label, function, arguments)
        found = cache.find(keys[name])
        if found is not None:
            drawn[name] = (found.decode(), "")
    missing = [name for name in pictures if name not in drawn]
    _under_way = pictures
    try:
        for name, result in zip(missing, on_all_cores(_draw, missing), strict=True):
            drawn[name] = result
            if result[0]:
                cache.keep(keys[name], result[0].encode())
    finally:
        _under_way = MappingProxyType({})
    return {
        name: Drawn(picture.label, picture.fold, *drawn[name]) for name, picture in pictures.items()
    }
