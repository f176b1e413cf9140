"""``python -m plots examples``: kernels outside the suite, advice beside outcome."""

from __future__ import annotations

import argparse

from plots.advice import examples
from plots.commands.options import page_arguments, print_or_write, written_whole
from plots.commands.registry import Command, register
from plots.errors import PlotsError, nearest


def _arguments(parser: argparse.ArgumentParser) -> None:
    page_arguments(parser)
    parser.add_argument(
        "--ask", metavar="EXAMPLE",
        help="ask the twins in RESULTS and write advice.json and advice.md of an example, once for "
        "each GPU",
    )  # fmt: skip
    parser.add_argument("--gpu", help="whose twins to ask (default: the newest)")


def _ask(options: argparse.Namespace) -> None:
    name = options.ask
    if name not in examples.names():
        raise PlotsError(f"no example {name!r}; {nearest(name, examples.names())}")
    path = examples.FOLDER / name / "advice.json"
    answers = examples.read_advice(path) if path.exists() else []
    advice = examples.ask(name, options.results, options.gpu)
    if advice.gpu in [a.gpu for a in answers]:
        raise PlotsError(
            f"{path}: the twins of {advice.gpu} were asked and are not asked twice (remove the "
            "answer if the kernel was not measured there since)"
        )
    answers.append(advice)
    with written_whole(path) as file:
        file.write(examples.as_json(answers))
    with written_whole(path.with_suffix(".md")) as file:
        file.write(examples.advice_page(name, answers))


def _run(options: argparse.Namespace) -> int:
    if options.ask:
        _ask(options)
        return 0
    text = examples.page(results=options.results)
    print_or_write(text, options.out)
    return 0


register(
    Command(
        "examples",
        "kernels outside the suite: what the twin said of them, and what was measured",
        _arguments,
        _run,
        (
            ("examples results -o docs/examples.md", "the page of the repository"),
            ("examples results --ask softmax", "asks before an example is measured, once"),
        ),
        order=25,
        in_a_clone=True,
    )
)
