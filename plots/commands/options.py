"""Arguments that several commands share, and how they print and write."""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pandas as pd

from plots.data.selection import Selection
from plots.errors import PlotsError
from plots.output import opened_whole
from plots.units import amount

RESULTS = "results"  # where a clone has the recorded files


def results_argument(parser: argparse.ArgumentParser) -> None:
    """Result files or folders."""
    parser.add_argument(
        "results", nargs="*", default=[RESULTS], help="result files, or folders of them"
    )


def page_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of a command that writes one text."""
    results_argument(parser)
    parser.add_argument("--out", "-o", type=Path, help="output file (default: stdout)")


def print_or_write(text: str, out: Path | None) -> None:
    """A text to stdout, or whole into the file ``out``."""
    if out is None:
        print(text, end="")
        return
    with written_whole(out) as file:
        file.write(text)


def selection_arguments(parser: argparse.ArgumentParser, gpu: str = "the newest") -> None:
    """Which GPU (``gpu`` says which without a choice), app and modes of the files."""
    parser.add_argument("--gpu", help=f"name of the GPU, or a unique part of it (default: {gpu})")
    parser.add_argument("--app", help="one app (default: all)")
    parser.add_argument("--cache", choices=["cold", "hot"], help="one cache mode")
    parser.add_argument("--launch", choices=["stream", "graph"], help="one launch mode")


def selection_of(options: argparse.Namespace) -> Selection:
    """What the arguments select."""
    chosen = {k: getattr(options, k, None) for k in ("gpu", "app", "cache", "launch")}
    return Selection(tuple(options.results), **chosen)


def print_table(frame: pd.DataFrame) -> None:
    """A frame on stdout."""
    with pd.option_context("display.width", 200, "display.max_columns", 30):
        print(frame.to_string(index=False, float_format=amount, na_rep="–"))


def cannot_write(path: Path, error: OSError) -> PlotsError:
    return PlotsError(f"{path}: cannot be written ({error.strerror})")


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[TextIO]:
    """As opened_whole(), and reports what was written. A place that cannot be written is refused
    before the work is done. Raises PlotsError."""
    try:
        with opened_whole(path) as file:
            yield file
    except OSError as error:
        raise cannot_write(path, error) from None
    print(f"wrote {path}", file=sys.stderr)
