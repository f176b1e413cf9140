"""``python -m plots docs``: what a clone keeps that is made of results, README's block with its
picture and docs/reproduction.md."""

import argparse
import difflib
import sys
from pathlib import Path

from plots.commands import MISTAKE, OK, OUTPUT, command
from plots.commands.options import results_argument, written_whole
from plots.data.load import Results
from plots.data.selection import load_aloud
from plots.errors import PlotsError
from plots.papers import reproduction
from plots.report import readme
from plots.tree import IN_A_CLONE, ROOT

_REPRODUCTION = Path("docs") / "reproduction.md"


def _kept_in_the_repository(results: Results, root: Path, check: bool) -> int:
    """Writes what the repository keeps, or says what of it differs: 1 if anything does."""
    page, text = root / _REPRODUCTION, reproduction.render(results, root / "docs")
    if not check:
        for path in readme.write(results, root / "README.md"):
            print(f"wrote {path}", file=sys.stderr)
        with written_whole(page) as file:
            file.write(text)
        return 0
    old = page.read_text(encoding="utf-8").splitlines() if page.is_file() else []
    lines = difflib.unified_diff(
        old, text.splitlines(), _REPRODUCTION.as_posix(), "results", lineterm="", n=0
    )
    differences = [*readme.check(results, root / "README.md"), *lines]
    if differences:
        print("\n".join(differences))
        print("Pages differ from the results; run: python -m plots docs", file=sys.stderr)
    return 1 if differences else 0


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if what a clone keeps differs"
    )


@command(
    "what README and docs/reproduction.md have of results",
    _arguments,
    ("docs results", "written anew, after a measurement"),
    ("docs results --check", "for a test: exit 1 if a kept page differs"),
    order=50,
    statuses=(OK, "1 a kept page differs (--check)", MISTAKE, OUTPUT),
)
def _run(options: argparse.Namespace) -> int:
    if not IN_A_CLONE:
        raise PlotsError("this is no clone of Amasia's repository, which keeps these pages")
    return _kept_in_the_repository(load_aloud(options.results), ROOT, options.check)
