"""The commands of ``python -m plots``: one module each, which registers a Command.

There is no other list to add it to.
"""

import sys

from plots.commands.registry import COMMANDS, Command, register
from plots.discovery import import_modules

import_modules(sys.modules[__name__])

__all__ = ["COMMANDS", "Command", "register"]
