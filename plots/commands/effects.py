"""``python -m plots effects``: what is found of effects that are known beforehand."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import effects, effects_page, style
from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.figures.detection import PICTURE, digest_of
from plots.figures.detection import detection as draw
from plots.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser, PICTURE)


def _run(options: argparse.Namespace) -> int:
    study = effects.study_in(load_aloud(options.results), [Path(p) for p in options.results])
    text = effects_page.render(study)
    print_or_write(text, options.out)
    if options.out is None:
        return 0
    if study is not None:
        style.save(draw(study.effects), options.out.parent / PICTURE, digest_of(study.effects))
    return 0


register(
    Command(
        "effects",
        "what is found of planted effects, as Markdown",
        _arguments,
        _run,
        (
            ("effects results", "on the terminal"),
            ("effects results -o docs/detection.md", "the page of the repository"),
        ),
        order=65,
    )
)
