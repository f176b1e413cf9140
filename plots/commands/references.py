"""``python -m plots references``: intervals that a regression test holds new runs against."""

from __future__ import annotations

import argparse

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud
from plots.report import references


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser)
    parser.add_argument("--study", default="quick", help="whose rows (default: quick)")


def _run(options: argparse.Namespace) -> int:
    print_or_write(references.text(load_aloud(options.results), options.study), options.out)
    return 0


register(
    Command(
        "references",
        "prediction intervals of recorded rows, as JSON for ReFrame",
        _arguments,
        _run,
        (
            ("references results", "on the terminal"),
            (
                "references results -o sites/reframe/references.json",
                "for the repository; with your own results, for your site",
            ),
        ),
        order=58,
    )
)
