"""``python -m plots generations``: docs/generations.md, hardware gain apart from software gain."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import generations_page, style
from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register
from plots.figures.styles import PICTURE, digest_of
from plots.figures.styles import styles as draw
from plots.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--out", "-o", type=Path, help=f"a file, with {PICTURE} beside it (default: stdout)"
    )


def _run(options: argparse.Namespace) -> int:
    results = load_aloud(options.results)
    text = generations_page.render(results)
    if options.out is None:
        print(text, end="")
        return 0
    with written_whole(options.out) as file:
        file.write(text)
    gpus = generations_page.gpus_of(results)
    if gpus:
        newest = results.where(gpu=gpus[-1])
        style.save(draw(newest), options.out.parent / PICTURE, digest_of(newest))
    return 0


register(
    Command(
        "generations",
        "what hardware gains from GPU to GPU, and what software on one, as Markdown",
        _arguments,
        _run,
        (
            ("generations results", "on the terminal"),
            ("generations results -o docs/generations.md", "the page of the repository"),
        ),
        order=25,
    )
)
