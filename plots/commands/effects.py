"""``python -m plots effects``: what is found of effects that are known beforehand."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots.advice import effects, effects_page
from plots.commands.options import page_arguments, print_or_write
from plots.commands.registry import Command, register
from plots.data.profiles import load_profiles
from plots.data.selection import load_aloud
from plots.figures import style
from plots.figures.detection import detection as draw
from plots.figures.detection import digest_of, picture_of


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser, picture_of("GPU"))


def _run(options: argparse.Namespace) -> int:
    paths = [Path(p) for p in options.results]
    studies = effects.studies_in(load_aloud(options.results), paths)
    print_or_write(effects_page.render(studies, load_profiles(paths)), options.out)
    if options.out is None:
        return 0
    for study in studies:
        to = options.out.parent / picture_of(study.gpu)
        style.save(draw(study.effects), to, digest_of(study.effects))
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
