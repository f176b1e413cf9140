"""``python -m plots reproduction``: the source documents beside our results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.documents import find_files
from plots.papers import published, reproduction


def _run(options: argparse.Namespace) -> int:
    base = options.out.parent if options.out else Path()
    found, notes = find_files([Path(p) for p in options.results])
    for note in notes:
        print(note, file=sys.stderr)
    text = reproduction.render(published.recorded(found), base)
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "reproduction",
        "every table of the source documents beside results, as Markdown",
        page_arguments,
        _run,
        (
            ("reproduction results", "on the terminal"),
            ("reproduction mine.json -o mine.md", "your own beside them"),
        ),
        order=60,
    )
)
