"""``python -m plots generations``: docs/generations.md, hardware gain apart from software gain."""

from __future__ import annotations

import argparse

from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.selection import load_aloud
from plots.figures import style
from plots.figures.styles import PICTURE, digest_of
from plots.figures.styles import styles as draw
from plots.papers import generations_page


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser, PICTURE)


def _run(options: argparse.Namespace) -> int:
    results = load_aloud(options.results)
    text = generations_page.render(results)
    print_or_write(text, options.out)
    if options.out is None:
        return 0
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
