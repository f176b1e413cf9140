"""``python -m plots figure``: one figure as a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from plots.commands.options import (
    results_argument,
    selection_arguments,
    selection_of,
    write_figure,
)
from plots.commands.registry import Command, register
from plots.data.selection import EVERY_SIZE
from plots.errors import PlotsError, nearest
from plots.figures import FIGURES, style

_WIDTHS = (3, 40)  # inches: half a page to a poster


def drawable() -> list[str]:
    """The figures that a selection of results is enough for, in order."""
    kinds = [kind for kind in FIGURES.values() if kind.of_selection is not None]
    places = {kind.name: (kind.chapter.place if kind.chapter else 99, kind.order) for kind in kinds}
    return sorted(places, key=lambda name: (places[name], name))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the figure, one of --list")
    results_argument(parser)
    selection_arguments(parser)
    parser.add_argument(
        "--size",
        help='one size, e.g. "rows=10000,cols=10000", or all, for the figures with a panel per app '
        "and size and for samples (default: the main size of each app)",
    )
    parser.add_argument("--out", "-o", type=Path, help=".svg, .png or .pdf (default: NAME.svg)")
    parser.add_argument(
        "--width", type=float, metavar="INCHES",
        help="as wide as a column: 7.1 is both of a two-column page (default: the figure's own)",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="the figures, and what each shows")


def _run(options: argparse.Namespace) -> int:
    names = drawable()
    if options.list:
        width = max(len(name) for name in names)
        for name in names:
            print(f"{name:<{width}}  {FIGURES[name].summary}")
        return 0
    if options.name is None:
        raise PlotsError("figure needs a name: " + ", ".join(names))
    if options.name not in names:
        raise PlotsError(f'no figure "{options.name}"; {nearest(options.name, names, 3)}')
    draw = FIGURES[options.name].of_selection
    assert draw is not None
    least, most = _WIDTHS
    if options.width is not None and not least <= options.width <= most:
        raise PlotsError(f"expected {least} to {most} inches as --width, not {options.width:g}")
    selection = selection_of(options)
    figure = style.drawn_at(lambda: draw(selection), options.width)
    if ignored := selection.ignored():
        choices = ", ".join(f"--{name}" for name in ignored)
        raise PlotsError(f"the figure {options.name} shows the same whatever {choices} says")
    write_figure(figure, options.out or Path(f"{options.name}.svg"))
    if FIGURES[options.name].at_main_sizes and options.size is None:
        print(f"each app at its main size (--size {EVERY_SIZE}: at every)", file=sys.stderr)
    return 0


register(
    Command(
        "figure",
        "one figure",
        _arguments,
        _run,
        (
            ("figure speedup results --app nw -o nw.png", "one app, in the mode of the papers"),
            ("figure --list", "what can be drawn"),
        ),
        order=40,
    )
)
