"""Commands that the package suggests, quoted so that they can be pasted into a shell."""

from __future__ import annotations

import os
import shlex


def command(*words: str | os.PathLike[str]) -> str:
    """("amasia", "merge", "my run.json") -> "amasia merge 'my run.json'"."""
    return shlex.join(os.fspath(word) for word in words)
