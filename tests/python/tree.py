"""The files of this tree, without what builds and tools leave there."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci")).resolve()

MADE = {".git", ".venv", ".cuda", ".ccache", "build", "out", "__pycache__"}
MADE |= {".pytest_cache", ".ruff_cache"}


def files_of(root: Path) -> list[str]:
    """Relative to the root."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
    return sorted(found)
