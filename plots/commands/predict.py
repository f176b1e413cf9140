"""``python -m plots predict``: docs/prediction.md, times and gains before anything runs."""

from __future__ import annotations

import argparse

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud
from plots.prediction import page


def _run(options: argparse.Namespace) -> int:
    text = page.render(load_aloud(options.results))
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "predict",
        "times and gains from microbenchmarks and traits, and how far off they are, as Markdown",
        page_arguments,
        _run,
        (
            ("predict results", "on the terminal"),
            ("predict results -o docs/prediction.md", "the page of the repository"),
        ),
        order=26,
    )
)
