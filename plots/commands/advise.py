"""``python -m plots advise``: which strategy to choose, at what price."""

from __future__ import annotations

import argparse

from plots.advise import advise, as_text
from plots.commands.options import results_argument, selection_arguments, selection_of
from plots.commands.registry import Command, register


def _arguments(parser: argparse.ArgumentParser) -> None:
    results_argument(parser)
    selection_arguments(parser)
    parser.add_argument(
        "--role", choices=["iso", "best"], default="best", help="geometries to choose among"
    )


def _run(options: argparse.Namespace) -> int:
    results = selection_of(options).all_modes()
    print(as_text(results, advise(results, role=options.role)), end="")
    return 0


register(
    Command(
        "advise",
        "which strategy to choose, at what price",
        _arguments,
        _run,
        (
            ("advise results --app hotspot", "one app, in every mode recorded"),
            ("advise mine.json --cache cold --role iso", "in the geometry of the original code"),
        ),
        order=30,
    )
)
