"""``python -m plots strategies``: docs/strategies/, a page per strategy."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots.advice import strategy_pages
from plots.commands.options import print_or_write, results_argument
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--out", "-o", type=Path, metavar="FOLDER", help="for a page each (default: stdout)"
    )


def _run(options: argparse.Namespace) -> int:
    for name, text in strategy_pages.pages(load_aloud(options.results)).items():
        print_or_write(text, options.out and options.out / name)
    return 0


register(
    Command(
        "strategies",
        "what each strategy is, costs and won, as Markdown",
        _arguments,
        _run,
        (
            ("strategies results", "on the terminal"),
            ("strategies results -o docs/strategies", "the pages of the repository"),
        ),
        order=24,
    )
)
