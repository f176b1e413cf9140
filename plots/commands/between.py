"""``python -m plots between``: how far rows move between runs, and whether the intervals hold."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import between_runs
from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register
from plots.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument("--out", "-o", type=Path, help="a file (default: stdout)")


def _run(options: argparse.Namespace) -> int:
    text = between_runs.page(load_aloud(options.results))
    if options.out is None:
        print(text, end="")
        return 0
    with written_whole(options.out) as file:
        file.write(text)
    return 0


register(
    Command(
        "between",
        "how far rows move between runs and GPUs, as Markdown",
        _arguments,
        _run,
        (
            ("between results", "on the terminal"),
            ("between results -o docs/between-runs.md", "the page of the repository"),
        ),
        order=55,
    )
)
