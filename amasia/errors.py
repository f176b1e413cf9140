"""What can keep ``compare`` from an answer. Exceptions of a callable come back as they are, and bad
arguments as ValueError and TypeError."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amasia.result import Result


class AmasiaError(RuntimeError):
    """Any of the below."""


class LibraryMissing(AmasiaError):
    """libamasia_compare was not found, or is of another version than this package."""


class NoDevice(AmasiaError):
    """No GPU that can be measured on; the message has the reason."""


class NotMeasured(AmasiaError):
    """An implementation has no time: its work is not on the stream, or it took the device down.
    ``result`` has what was measured of the others."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class WrongResult(NotMeasured):
    """The verification refused the outputs of an implementation."""


class NotSaved(AmasiaError):
    """All was measured, and ``out`` could not be written. ``result`` has everything, ``path`` is
    where it was written instead, None where that was not possible either."""

    def __init__(self, message: str, result: Result, path: Path | None) -> None:
        super().__init__(message)
        self.result = result
        self.path = path
