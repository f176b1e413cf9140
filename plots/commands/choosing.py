"""``python -m plots choosing``: docs/choosing.md, which strategy to try first."""

from __future__ import annotations

import argparse

from plots.advice import choosing
from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud


def _run(options: argparse.Namespace) -> int:
    text = choosing.render(load_aloud(options.results))
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "choosing",
        "which strategy to try first, and what the record says for and against it, as Markdown",
        page_arguments,
        _run,
        (
            ("choosing results", "on the terminal"),
            ("choosing results -o docs/choosing.md", "the page of the repository"),
        ),
        order=24,
    )
)
