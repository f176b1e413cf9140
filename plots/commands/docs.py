"""``python -m plots docs``: pages made of results.

The repository keeps README's block with its picture, and docs/reproduction.md. The other
pages are made on demand.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from pathlib import Path, PurePosixPath

from plots.commands.options import results_argument, written_whole
from plots.commands.registry import MISTAKE, OK, OUTPUT, Command, register
from plots.data.load import Results
from plots.data.selection import load_aloud
from plots.errors import PlotsError
from plots.judge import between_runs
from plots.papers import reproduction
from plots.report import readme
from plots.tree import IN_A_CLONE, ROOT

_REPRODUCTION = Path("docs") / "reproduction.md"
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def _reproduction(results: Results, folder: Path) -> str:
    return reproduction.render(results, folder)


def _with_links(text: str, name: str, folder: Path) -> str:
    """Links of a page to files of the repository are those of docs/: they lead there from
    ``folder``. Other pages stand beside it."""
    here = PurePosixPath("docs") / PurePosixPath(name).parent

    def led(link: re.Match[str]) -> str:
        target = ROOT / os.path.normpath(here / link[1])
        if not target.exists():
            return link[0]
        return f"]({os.path.relpath(target, (folder / name).parent)}{link[2] or ''})"

    return _LINK.sub(led, text)


def _write_all(results: Results, folder: Path) -> None:
    """Every page."""
    name = "between-runs.md"
    pages = {name: _with_links(between_runs.page(results), name, folder)}
    if results.documents:
        pages["reproduction.md"] = _reproduction(results, folder)
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with written_whole(folder / name) as file:
            file.write(text)


def _kept_in_the_repository(results: Results, root: Path, check: bool) -> int:
    """Writes what the repository keeps, or says what of it differs: 1 if anything does."""
    page, text = root / _REPRODUCTION, _reproduction(results, root / "docs")
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
        "--out", "-o", type=Path, metavar="FOLDER",
        help="for all pages (without it: README's block with its picture, and "
        "docs/reproduction.md, in a clone)",
    )  # fmt: skip
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if what a clone keeps differs"
    )


def _run(options: argparse.Namespace) -> int:
    if options.out and options.check:
        raise PlotsError("--check looks at what a clone keeps: expected it without --out")
    if not options.out and not IN_A_CLONE:
        raise PlotsError("this is no clone of Amasia's repository: name a folder with --out FOLDER")
    results = load_aloud(options.results)
    if options.out:
        _write_all(results, options.out)
        return 0
    return _kept_in_the_repository(results, ROOT, options.check)


register(
    Command(
        "docs",
        "pages made of results, as Markdown",
        _arguments,
        _run,
        (
            ("docs results --out out/pages", "all pages, to be read"),
            ("docs results --check", "for a test: exit 1 if a kept page differs"),
        ),
        statuses=(OK, "1 a kept page differs (--check)", MISTAKE, OUTPUT),
        order=50,
    )
)
