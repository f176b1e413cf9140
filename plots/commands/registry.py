"""What a command tells the command line about itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

OK = "0 done"
MISTAKE = "2 a mistake in the command or in a file"
OUTPUT = "5 stdout cannot be written"


@dataclass(frozen=True)
class Command:
    """A command of ``python -m plots``: ``arguments`` declares its options, ``run`` does it and
    returns the exit status. ``examples`` are (what follows "python -m plots", what it does)."""

    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    examples: tuple[tuple[str, str], ...]
    statuses: tuple[str, ...] = field(default=(OK, MISTAKE, OUTPUT))
    order: int = 0


_commands: dict[str, Command] = {}
COMMANDS: Mapping[str, Command] = MappingProxyType(_commands)


def register(command: Command) -> Command:
    """Makes a command known. Raises ValueError when its name is taken."""
    if command.name in _commands:
        raise ValueError(f"two commands are called {command.name}")
    _commands[command.name] = command
    return command
