"""``python -m plots reproduction``: the source documents beside our results."""

import argparse
from pathlib import Path

from plots.commands import command
from plots.commands.options import page_arguments, print_or_write
from plots.data.selection import load_aloud
from plots.papers import reproduction


@command(
    "every table of the source documents beside ours, as Markdown",
    page_arguments,
    ("reproduction results", "on the terminal"),
    ("reproduction mine.json -o mine.md", "your own beside them"),
    order=60,
)
def _run(options: argparse.Namespace) -> int:
    base = options.out.parent if options.out else Path()
    text = reproduction.render(load_aloud(options.results), base)
    print_or_write(text, options.out)
    return 0
