"""``python -m plots between``: how far rows move between runs, and whether the intervals hold."""

from __future__ import annotations

import argparse

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud
from plots.judge import between_runs


def _run(options: argparse.Namespace) -> int:
    text = between_runs.page(load_aloud(options.results))
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "between",
        "how far rows move between runs and GPUs, as Markdown",
        page_arguments,
        _run,
        (
            ("between results", "on the terminal"),
            ("between results -o docs/between-runs.md", "the page of the repository"),
        ),
        order=55,
    )
)
