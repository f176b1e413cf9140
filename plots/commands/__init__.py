"""The commands of ``python -m plots``: one module each, which registers a Command of its name.

There is no other list to add it to.
"""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plots.tree import Registry, import_modules

OK = "0 done"
MISTAKE = "2 a mistake in the command or in a file"
OUTPUT = "5 stdout cannot be written"
Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A command of ``python -m plots``: ``arguments`` declares its options, ``run`` does it and
    returns the exit status. ``examples`` are (what follows "python -m plots", what it does)."""

    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Run
    examples: tuple[tuple[str, str], ...]
    statuses: tuple[str, ...]
    order: int


COMMANDS = Registry[Command]("commands")


def command(
    summary: str,
    arguments: Callable[[argparse.ArgumentParser], None],
    *examples: tuple[str, str],
    order: int,
    statuses: tuple[str, ...] = (OK, MISTAKE, OUTPUT),
) -> Callable[[Run], Run]:
    """Registers the function below it as the command of its module's name."""

    def registered(run: Run) -> Run:
        name = run.__module__.rpartition(".")[2]
        COMMANDS.register(Command(name, summary, arguments, run, examples, statuses, order))
        return run

    return registered


def load_commands(name: str | None = None) -> Mapping[str, Command]:
    """The commands, with that of ``name`` if there is one. The others are then not imported: what
    they import, such as matplotlib, takes as long as the rest of a start."""
    if name in {module.name for module in pkgutil.iter_modules(__path__)}:
        importlib.import_module(f"{__name__}.{name}")
    if name not in COMMANDS:
        import_modules(sys.modules[__name__])
    return COMMANDS
