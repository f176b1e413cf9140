"""``python -m plots reproduction``: the source documents beside our results."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import published, reproduction
from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument("--out", "-o", type=Path, help="a file (default: stdout)")


def _run(options: argparse.Namespace) -> int:
    base = options.out.parent if options.out else Path()
    text = reproduction.render(published.recorded([Path(p) for p in options.results]), base)
    if options.out is None:
        print(text, end="")
        return 0
    with written_whole(options.out) as file:
        file.write(text)
    return 0


register(
    Command(
        "reproduction",
        "every table of the source documents beside our results, as Markdown",
        _arguments,
        _run,
        (
            ("reproduction results", "on the terminal"),
            ("reproduction results -o docs/reproduction.md", "the page of the repository"),
        ),
        order=60,
    )
)
