"""The commands of ``python -m plots``: one module each, which registers a Command of its name.

There is no other list to add it to.
"""

import importlib
import pkgutil
import sys
from collections.abc import Mapping

from plots.commands.registry import COMMANDS, Command, register
from plots.discovery import import_modules


def load_commands(name: str | None = None) -> Mapping[str, Command]:
    """The commands, with that of ``name`` if there is one. The others are then not imported: what
    they import, such as matplotlib, takes as long as the rest of a start."""
    if name in {module.name for module in pkgutil.iter_modules(__path__)}:
        importlib.import_module(f"{__name__}.{name}")
    if name not in COMMANDS:
        import_modules(sys.modules[__name__])
    return COMMANDS


__all__ = ["COMMANDS", "Command", "load_commands", "register"]
