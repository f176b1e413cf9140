"""Importing every module of a package, so that what registers itself needs no list elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def import_modules(package: ModuleType) -> None:
    """Imports all modules of ``package``, in the order of their names. Each is imported once."""
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        importlib.import_module(f"{package.__name__}.{module.name}")
