"""``python -m plots report``: one self-contained HTML file."""

import argparse
from pathlib import Path

from plots.commands import command
from plots.commands.options import results_argument, written_whole
from plots.data.selection import load_aloud
from plots.report.page import render


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--out", "-o", type=Path, default=Path("report.html"), help="the file to write"
    )


@command(
    "the whole answer in one HTML file",
    _arguments,
    ("report results", "the recorded results, as report.html"),
    ("report mine.json results --out both.html", "beside one's own"),
    order=10,
)
def _run(options: argparse.Namespace) -> int:
    results = load_aloud(options.results)
    with written_whole(options.out) as file:
        file.write(render(results))
    return 0
