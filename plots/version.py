"""The version of the suite, from where it is written: pyproject.toml."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path


def version() -> str:
    """ "0.1.0": of the sources beside this package, else of the installed package."""
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if path.is_file():
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        if project["name"] == "amasia":
            return str(project["version"])
    return importlib.metadata.version("amasia")
