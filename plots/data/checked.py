"""Which contents of result files have been looked through already, so that reading them is reading
alone.

``results/checked.sha256`` has the SHA-256 of each result file of the repository, as ``sha256sum
--check`` takes it, and on its first line that of the schema by which they were found sound. A test
looks all of them through again. A file that was changed by one bit is not among them, and is looked
through as any other.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from plots.data import schema
from plots.tree import IN_A_CLONE, ROOT

FOLDER = ROOT / "results"
LIST = FOLDER / "checked.sha256"


def _first_line() -> str:
    return f"# sound by a schema of {hashlib.sha256(schema.SCHEMA_PATH.read_bytes()).hexdigest()}"


def listed(paths: Sequence[Path]) -> str:
    """The list of these files of FOLDER. Raises OSError."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(FOLDER).as_posix()}"
        for path in sorted(paths)
    ]
    return "\n".join([_first_line(), *lines]) + "\n"


@functools.cache
def contents() -> frozenset[bytes]:
    """SHA-256 of each; none outside a clone of the repository, or where the schema is another one
    by now."""
    try:
        first, *lines = LIST.read_text(encoding="utf-8").splitlines() if IN_A_CLONE else ("",)
        if first != _first_line():
            return frozenset()
        return frozenset(bytes.fromhex(line.split(maxsplit=1)[0]) for line in lines)
    except (OSError, ValueError, IndexError):
        return frozenset()
