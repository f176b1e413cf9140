"""The version and the modules of the package, and where the files lie that it reads beside result
files: published tables and data sheets, schemas, and the sources whose lines are counted.

In a clone of the repository they are the repository's own. A wheel carries those that are read by
commands for everybody, under the paths that they have there (pyproject.toml says which).
"""

import importlib.metadata
import pkgutil
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TypeVar

PACKAGE = Path(__file__).resolve().parent


def _project_of(folder: Path) -> dict[str, object] | None:
    """The table [project] of the repository at ``folder``; None where that is something else."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        return None
    project = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    return project if project.get("name") == "amasia" else None


PROJECT = _project_of(PACKAGE.parent)
IN_A_CLONE = PROJECT is not None

# The repository; where this package was installed from a wheel, what that carried of it.
ROOT = PACKAGE.parent if IN_A_CLONE else PACKAGE / "carried"


def version() -> str:
    """ "0.1.0": of the sources beside this package, else of the installed package."""
    return str(PROJECT["version"]) if PROJECT else importlib.metadata.version("amasia")


Entry = TypeVar("Entry")


class Registry(dict[str, Entry]):
    """What the modules of a package register, by its ``name``; ``what`` is the word for it."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def register(self, entry: Entry) -> Entry:
        """Makes an entry known. Raises ValueError when its name is taken."""
        if entry.name in self:
            raise ValueError(f"two {self.what} are called {entry.name}")
        self[entry.name] = entry
        return entry


def import_modules(package: ModuleType) -> None:
    """Imports all modules of ``package``, in the order of their names, so that
    what registers itself needs no list elsewhere. Each is imported once."""
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        importlib.import_module(f"{package.__name__}.{module.name}")
