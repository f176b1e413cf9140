"""The version of the suite, from where it is written: pyproject.toml."""

from __future__ import annotations

import importlib.metadata

from plots.tree import PROJECT


def version() -> str:
    """ "0.1.0": of the sources beside this package, else of the installed package."""
    return str(PROJECT["version"]) if PROJECT else importlib.metadata.version("amasia")
