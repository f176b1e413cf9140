"""Where the files lie that the package reads beside result files: published tables and data sheets,
schemas, and the sources whose lines are counted.

In a clone of the repository they are the repository's own. A wheel carries those that are read by
commands for everybody, under the paths that they have there (pyproject.toml says which).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

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
