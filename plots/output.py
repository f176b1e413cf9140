"""stdout, which holds data and must take all of them, and where a file is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO


class OutputError(Exception):
    """stdout cannot take the data: one line, and exit status 5."""


@contextlib.contextmanager
def _told_apart() -> Iterator[None]:
    """An error of stdout as one that no file can raise. A reader that went away is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"stdout cannot be written: {error.strerror}") from None


class DataStream:
    """``stream``, whose errors are OutputError. A closed one, which is None, takes nothing."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if self._stream is None:
            raise OutputError("stdout cannot be written: it is closed")
        with _told_apart():
            return self._stream.write(text)

    def flush(self) -> None:
        if self._stream is not None:
            with _told_apart():
                self._stream.flush()

    def give_up(self) -> None:
        """What is still kept for it goes nowhere, so that the end of the program does not try it
        again."""
        # There is no descriptor where a test stands in for it.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@dataclass(frozen=True)
class Destination:
    """What a name on the command line stands for. Symbolic links are followed, also to a target
    that is not there yet: it is the target that is written, the link stays."""

    path: Path  # without links
    special: bool = False  # a device, a FIFO or a descriptor: written to, never replaced


_MOST_LINKS = 40  # as the kernel


def destination_of(path: Path) -> Destination:
    """As destination_of() of harness/text/file.hpp. Raises OSError."""
    target = path
    for _ in range(_MOST_LINKS):
        if not target.is_symlink():
            break
        target = target.parent / target.readlink()
        # /dev/stdout and its like: what stands behind the descriptor, if it is a file at all, is
        # not ours to replace.
        if target.parts[:2] == ("/", "proc"):
            return Destination(path, special=True)
    special = target.exists() and not target.is_file() and not target.is_dir()
    return Destination(target, special)
