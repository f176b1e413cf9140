"""Programs that the package runs, and commands that it suggests, quoted for a shell."""

import os
import shlex
import subprocess
from collections.abc import Sequence

from plots.errors import PlotsError


def command(*words: str | os.PathLike[str]) -> str:
    """("amasia", "merge", "my run.json") -> "amasia merge 'my run.json'"."""
    return shlex.join(os.fspath(word) for word in words)


def run(words: Sequence[str], **environment: str) -> str:
    """What a program prints. Raises PlotsError with its last line where it fails."""
    try:
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", errors="replace", check=False,
            env={**os.environ, **environment},
        )  # fmt: skip
    except OSError as error:
        raise PlotsError(f"{words[0]}: cannot be run ({error.strerror})") from None
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it printed nothing"]
        raise PlotsError(f"{words[0]} ended with {done.returncode}: {last[0]}")
    return done.stdout
