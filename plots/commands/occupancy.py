"""``python -m plots occupancy``: which gains go with more or fewer blocks on an SM, and why."""

from __future__ import annotations

import argparse

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud
from plots.judge import occupancy


def _run(options: argparse.Namespace) -> int:
    print_or_write(occupancy.page(load_aloud(options.results)), options.out)
    return 0


register(
    Command(
        "occupancy",
        "which gains go with more or fewer blocks on an SM, as Markdown",
        page_arguments,
        _run,
        (
            ("occupancy results", "on the terminal"),
            ("occupancy results -o docs/occupancy.md", "the page of the repository"),
        ),
        order=56,
    )
)
