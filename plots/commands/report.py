"""``python -m plots report``: one self-contained HTML file."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register
from plots.data.cache import Cache, default_folder
from plots.data.load import find_files, load
from plots.data.profiles import paths_beside
from plots.data.selection import tell
from plots.report.page import render
from plots.tree import PACKAGE, ROOT


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--out", "-o", type=Path, default=Path("report.html"), help="the file to write"
    )
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="draw everything anew, and keep nothing in $XDG_CACHE_HOME/amasia or ~/.cache/amasia",
    )


def _page_key(cache: Cache, paths: list[str]) -> str:
    """What decides the page: its template, the apps that it counts the lines of, and the
    bytes and names of the result files and of the profiles beside them."""
    found, notes = find_files([Path(path) for path in paths])
    ours = [
        *(PACKAGE / "report" / "templates").iterdir(),
        *(path for suffix in ("cu", "cuh", "hpp") for path in ROOT.glob(f"apps/*/*.{suffix}")),
        *ROOT.glob("variants/**/*.hpp"),
        *ROOT.glob("variants/**/*.cuh"),
    ]
    parts: list[bytes | str] = ["page", *notes]
    for path in [*sorted(ours), *found, *paths_beside(found)]:
        parts += [str(path), hashlib.sha256(path.read_bytes()).digest()]
    return cache.key(*parts)


def _page_of(paths: list[str], cache: Cache) -> str:
    """The report of files and folders, from ``cache`` when it was made before; what was left out is
    told on stderr. Raises PlotsError."""
    key = _page_key(cache, paths)
    stored = cache.find(key)
    if stored is None:
        keeping: list[Callable[[], object]] = []
        results = load(paths, cache, keeping)
        page = {"notes": results.notes, "html": render(results, cache, keeping)}
        cache.keep(key, json.dumps(page).encode())
        cache.forget_unused()
    else:
        page = json.loads(stored)
    tell(page["notes"])
    return page["html"]


def _run(options: argparse.Namespace) -> int:
    cache = Cache(None if options.no_cache else default_folder())
    with written_whole(options.out) as file:
        file.write(_page_of(options.results, cache))
    return 0


register(
    Command(
        "report",
        "one self-contained HTML file",
        _arguments,
        _run,
        (
            ("report results", "the recorded results, as report.html"),
            ("report mine.json results --out both.html", "beside one's own"),
        ),
        order=10,
    )
)
