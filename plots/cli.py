"""The command line: ``python -m plots COMMAND``. The commands are the modules of plots/commands.

Data go to stdout, what was written and what was left out to stderr.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# What a notebook sets for the programs that it starts names a backend of its own Python; all that
# is drawn here is drawn to files. Before anything imports matplotlib.
os.environ["MPLBACKEND"] = "agg"

from plots import __version__
from plots.commands import Command, load_commands
from plots.errors import PlotsError, nearest
from plots.output import DataStream, OutputError

_SCRIPT = "amasia-plots"  # pyproject.toml, [project.scripts]


class _Help(argparse.RawDescriptionHelpFormatter):
    """Says the default of an option where there is one and the text does not say it already."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=98)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        value = action.default
        if value in (None, False, argparse.SUPPRESS):
            return action.help
        shown = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        return f"{action.help} (default: {shown})"


class _Parser(argparse.ArgumentParser):
    """One line on a mistake, like every other error of the package; usage only on --help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, formatter_class=_Help)

    def error(self, message: str) -> None:
        raise PlotsError(f"{message} (see {self.prog} --help)")


def _program() -> str:
    """How this was called: by plots.sh, as the installed script, or as the module."""
    if called := os.environ.get("AMASIA_PLOTS_CALLED"):
        return called
    return _SCRIPT if Path(sys.argv[0]).stem == _SCRIPT else "python -m plots"


def _epilog(command: Command) -> str:
    examples = [f"  {_program()} {text}\n      {what}" for text, what in command.examples]
    statuses = [f"  {status}" for status in command.statuses]
    return "\n".join(["examples:", *examples, "", "exit status:", *statuses])


def parser(known: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser of these commands."""
    root = _Parser(
        prog=_program(),
        description="Figures, report and advice from results.",
        epilog=f"{_program()} COMMAND --help: its options, exit status and two examples",
    )
    root.add_argument("--version", action="version", version=f"amasia plots {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in sorted(known.values(), key=lambda c: (c.order, c.name)):
        of_command = commands.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=_epilog(command),
        )
        command.arguments(of_command)
        of_command.set_defaults(run=command.run)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    stdout = DataStream(sys.stdout)
    try:
        with contextlib.redirect_stdout(stdout):
            try:
                return _run(arguments)
            finally:
                # Not left to the end of the program, which cannot say what is wrong any more.
                stdout.flush()
    except OutputError as error:
        print(f"plots: {error}", file=sys.stderr)
        stdout.give_up()
        return 5
    except BrokenPipeError:  # | head
        stdout.give_up()
        return 0


def _run(arguments: list[str]) -> int:
    try:
        first = next((a for a in arguments if not a.startswith("-")), None)
        known = load_commands(first)
        if first is not None and first not in known:
            raise PlotsError(f'no command "{first}"; {nearest(first, known)}')
        options = parser(known).parse_args(arguments)
        return options.run(options)
    except BrokenPipeError:
        raise
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        if error.filename is None:
            raise
        print(f"plots: {PlotsError(f'{error.filename}: {error.strerror}')}", file=sys.stderr)
        return 2
    except PlotsError as error:
        print(f"plots: {error}", file=sys.stderr)
        return 2
