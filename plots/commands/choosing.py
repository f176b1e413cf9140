"""``python -m plots choosing``: docs/choosing.md, which strategy to try first."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import choosing
from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register
from plots.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument("--out", "-o", type=Path, help="a file (default: stdout)")


def _run(options: argparse.Namespace) -> int:
    text = choosing.render(load_aloud(options.results))
    if options.out is None:
        print(text, end="")
        return 0
    with written_whole(options.out) as file:
        file.write(text)
    return 0


register(
    Command(
        "choosing",
        "which strategy to try first, and what the record says for and against it, as Markdown",
        _arguments,
        _run,
        (
            ("choosing results", "on the terminal"),
            ("choosing results -o docs/choosing.md", "the page of the repository"),
        ),
        order=24,
    )
)
