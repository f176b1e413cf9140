"""``python -m plots effects``: what is found of effects that are known beforehand."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots import effects, effects_page, style
from plots.commands.options import results_argument, written_whole
from plots.commands.registry import Command, register
from plots.figures.detection import PICTURE, digest_of
from plots.figures.detection import detection as draw
from plots.selection import load_aloud


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    parser.add_argument(
        "--out", "-o", type=Path, help=f"a file, with {PICTURE} beside it (default: stdout)"
    )


def _run(options: argparse.Namespace) -> int:
    study = effects.study_in(load_aloud(options.results), [Path(p) for p in options.results])
    text = effects_page.render(study)
    if options.out is None:
        print(text, end="")
        return 0
    with written_whole(options.out) as file:
        file.write(text)
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
