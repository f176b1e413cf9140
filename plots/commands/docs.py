"""``python -m plots docs``: what a clone keeps that is made of results, README's block with its
picture and docs/reproduction.md."""

import argparse
import sys

from plots.commands import command
from plots.commands.options import results_argument, written_whole
from plots.data.selection import load_aloud
from plots.errors import PlotsError
from plots.papers import reproduction
from plots.report import readme
from plots.tree import IN_A_CLONE, ROOT


@command(
    "what README and docs/reproduction.md have of results",
    results_argument,
    ("docs results", "written anew, after a measurement"),
    ("docs", "the same: results/ is what a clone has recorded"),
    order=50,
)
def _run(options: argparse.Namespace) -> int:
    if not IN_A_CLONE:
        raise PlotsError("this is no clone of Amasia's repository, which keeps these pages")
    results = load_aloud(options.results)
    for path in readme.write(results, ROOT / "README.md"):
        print(f"wrote {path}", file=sys.stderr)
    with written_whole(ROOT / "docs" / "reproduction.md") as file:
        file.write(reproduction.render(results, ROOT / "docs"))
    return 0
