"""``python -m plots reproduction``: the source documents beside our results."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import published, reproduction
from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register


def _run(options: argparse.Namespace) -> int:
    base = options.out.parent if options.out else Path()
    text = reproduction.render(published.recorded([Path(p) for p in options.results]), base)
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "reproduction",
        "every table of the source documents beside our results, as Markdown",
        page_arguments,
        _run,
        (
            ("reproduction results", "on the terminal"),
            ("reproduction results -o docs/reproduction.md", "the page of the repository"),
        ),
        order=60,
    )
)
