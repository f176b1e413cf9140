"""What was computed once from the same bytes is not computed again.

An entry's name is the digest of everything that decides its content, the package's own code
included, so that an entry can only be absent, never out of date. Without a folder to write to
everything is computed anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import tempfile
import time
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from plots.tree import PACKAGE, ROOT

_DAYS_KEPT = 30  # since an entry was last used
_LIBRARIES = ("fastjsonschema", "jsonschema", "matplotlib", "numpy", "pandas", "scipy")


def default_folder() -> Path | None:
    """$XDG_CACHE_HOME/amasia, or ~/.cache/amasia; None for a user who has no home, as `docker run
    --user N` makes one."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "amasia"
    except RuntimeError:
        return None


@functools.cache
def code_digest() -> bytes:
    """Digest of the package's sources, of the data it reads beside result files, and of the
    versions of what it computes with."""
    digest = hashlib.sha256()
    inputs = [*(ROOT / "inputs").rglob("*.csv"), *(ROOT / "schema").glob("*.json")]
    for base, paths in ((PACKAGE, PACKAGE.rglob("*.py")), (ROOT, inputs)):
        for path in sorted(paths):
            digest.update(f"{path.relative_to(base).as_posix()} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.digest()


class Digests:
    """Digests of what figures are drawn from, each frame read once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}

    def of(self, value: Any) -> bytes:
        """Equal for equal content. Raises TypeError for what has no content to compare."""
        if isinstance(value, pd.DataFrame) or is_dataclass(value):
            known = self._known.get(id(value))
            if known is None:
                # The value is kept, so that its id is not given to another one.
                known = self._known[id(value)] = (value, self._compute(value))
            return known[1]
        return self._compute(value)

    def _compute(self, value: Any) -> bytes:
        digest = hashlib.sha256(f"{type(value).__module__}.{type(value).__qualname__}\n".encode())
        match value:
            case pd.DataFrame():
                digest.update(pickle.dumps(value.reset_index(drop=True), protocol=5))
            case list() | tuple():
                for item in value:
                    digest.update(self.of(item))
            case str() | int() | float() | None:
                digest.update(repr(value).encode("utf-8", "backslashreplace"))
            case _ if is_dataclass(value):
                for field in (field for field in fields(value) if field.compare):
                    digest.update(self.of(getattr(value, field.name)))
            case _:
                raise TypeError(f"{type(value).__qualname__} has no digest")
        return digest.digest()


class Cache:
    """Bytes by key in a folder; None as folder: nothing is kept and nothing found."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.hits = 0
        self.misses = 0

    def key(self, *parts: bytes | str) -> str:
        """The name of an entry that these parts decide."""
        digest = hashlib.sha256(code_digest())
        for part in parts:
            content = part.encode("utf-8", "backslashreplace") if isinstance(part, str) else part
            digest.update(f"{len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()

    def find(self, key: str) -> bytes | None:
        """The entry's content; None when it is not there or was damaged."""
        content = None
        if self._folder is not None:
            path = self._folder / key[:2] / key
            with contextlib.suppress(OSError):
                stored = path.read_bytes()
                check, content = stored[:32], stored[32:]
                if hashlib.sha256(content).digest() != check:
                    content = None
                else:
                    os.utime(path)  # when it was last used
        self.hits += content is not None
        self.misses += content is None
        return content

    def keep(self, key: str, content: bytes) -> None:
        """Keeps an entry, all of it or nothing; where that is not possible, it is not kept."""
        if self._folder is None:
            return
        folder = self._folder / key[:2]
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(content).digest() + content)
                os.replace(name, folder / key)
            except OSError:
                os.unlink(name)

    def forget_unused(self) -> None:
        """Removes what nobody asked for in a month."""
        if self._folder is None:
            return
        oldest = time.time() - _DAYS_KEPT * 24 * 3600
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
