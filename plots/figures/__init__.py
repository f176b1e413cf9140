"""The figures: modules with the drawing, the prose around it and its registration.

A module of this package that registers a FigureKind is a figure of the command line and, if it is
of a microbenchmark, of the report. There is no other list to add it to.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.data.selection import Selection
from plots.figures.style import styled
from plots.tree import Registry, import_modules

_LAUNCHES = {"stream": "stream launches", "graph": "graph launches"}


def mode_name(cache: str, launch: str) -> str:
    """ "cold cache, stream launches"."""
    return f"{cache} cache, {_LAUNCHES[launch]}"


@dataclass(frozen=True)
class FigureKind:
    """A figure: ``draw`` makes it for ``python -m plots figure NAME``.

    Of a figure of a ``microbenchmark``, ``draw_points`` makes it of all results of one GPU. The
    report shows it where that was run, with the sentences of ``reading``, by ascending ``order``.
    """

    name: str
    summary: str
    draw: Callable[[Selection], Figure]
    order: int = 0
    microbenchmark: str = ""
    draw_points: Callable[[Results], Figure] | None = None
    reading: Callable[[Results], Sequence[str]] | None = None


FIGURES = Registry[FigureKind]("figures")
register = FIGURES.register


def microbenchmark_figure(
    microbenchmark: str, summary: str, order: int, reading: Callable[[Results], Sequence[str]]
) -> Callable[[Callable[[Results], Figure]], Callable[[Results], Figure]]:
    """Registers the function below it, which draws the points of one microbenchmark, by its name;
    it draws in the suite's style."""

    def registered(draw: Callable[[Results], Figure]) -> Callable[[Results], Figure]:
        draw = styled(draw)
        of_gpu = lambda selection: draw(selection.of_gpu())  # noqa: E731
        name = draw.__name__
        register(FigureKind(name, summary, of_gpu, order, microbenchmark, draw, reading))
        return draw

    return registered


def of_microbenchmarks(results: Results) -> list[FigureKind]:
    """The figures of the microbenchmarks that were run, in order."""
    there = set(results.points["microbenchmark"])
    found = [kind for kind in FIGURES.values() if kind.microbenchmark in there]
    return sorted(found, key=lambda kind: (kind.order, kind.name))


import_modules(sys.modules[__name__])
