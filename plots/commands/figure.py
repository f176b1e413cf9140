"""``python -m plots figure``: one figure as a file."""

import argparse
import sys
from pathlib import Path

from plots.commands import command
from plots.commands.options import (
    cannot_write,
    results_argument,
    selection_arguments,
    selection_of,
)
from plots.errors import PlotsError, nearest
from plots.figures import FIGURES, style
from plots.report import heatmap  # noqa: F401, registers its figure, which shows verdicts

_SUFFIXES = (".svg", ".png", ".pdf")


def drawable() -> list[str]:
    """The figures in order."""
    return [kind.name for kind in sorted(FIGURES.values(), key=lambda kind: kind.order)]


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the figure, one of --list")
    results_argument(parser)
    selection_arguments(parser)
    parser.add_argument("--out", "-o", type=Path, help=".svg, .png or .pdf (default: NAME.svg)")
    parser.add_argument("--list", action="store_true", help="the figures, and what each shows")


@command(
    "one figure",
    _arguments,
    ("figure speedup results --app nw -o nw.png", "one app, in the mode of the papers"),
    ("figure --list", "what can be drawn"),
    order=40,
)
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
    selection = selection_of(options)
    figure = FIGURES[options.name].draw(selection)
    if ignored := selection.ignored():
        choices = ", ".join(f"--{name}" for name in ignored)
        raise PlotsError(f"the figure {options.name} shows the same whatever {choices} says")
    path = options.out or Path(f"{options.name}.svg")
    if path.suffix.lower() not in _SUFFIXES:
        raise PlotsError(f"{path}: expected a file name that ends in {', '.join(_SUFFIXES)}")
    try:
        style.save(figure, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    print(f"wrote {path}", file=sys.stderr)
    return 0
