"""``python -m plots readme``: README's picture and table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from plots.commands.options import results_argument
from plots.commands.registry import MISTAKE, OK, OUTPUT, Command, register
from plots.data.selection import load_aloud
from plots.report import readme


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument("--readme", type=Path, default=Path("README.md"), help="the file to change")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if different")


def _run(options: argparse.Namespace) -> int:
    results = load_aloud(options.results)
    if not options.check:
        for path in readme.write(results, options.readme):
            print(f"wrote {path}", file=sys.stderr)
        return 0
    differences = readme.check(results, options.readme)
    if differences:
        print("\n".join(differences))
        print("README differs from the results; run: python -m plots readme", file=sys.stderr)
    return 1 if differences else 0


register(
    Command(
        "readme",
        "README's picture and table from the results",
        _arguments,
        _run,
        (
            ("readme results", "writes both"),
            ("readme results --check", "for a test: whether they are those of the results"),
        ),
        statuses=(OK, "1 README differs (--check)", MISTAKE, OUTPUT),
        order=50,
        in_a_clone=True,
    )
)
