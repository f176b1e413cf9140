"""stdout, which holds data and must take all of them, and where and how a file is written."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO


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
    """``stream``, whose errors are OutputError. A closed one, which is None, takes nothing.
    Characters that its encoding does not have are shown as "?"."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        # What a test puts in its place may have no encoding.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")

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
    mounted: bool = False  # a file with a mount on it, as in a container: rewritten in place


_MOST_LINKS = 40  # as the kernel
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def _is_mount_point(path: Path) -> bool:
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    points = (line.split(b" ")[4] for line in lines if line.count(b" ") > 4)
    plain = {_ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), point) for point in points}
    return os.fsencode(path.resolve()) in plain


def destination_of(path: Path) -> Destination:
    """As destination_of() of harness/text/file.hpp. Raises OSError."""
    target = path
    for _ in range(_MOST_LINKS):
        if not target.is_symlink():
            break
        # /dev/stdout, /dev/fd/1 and their like: what stands behind the descriptor, if it is a file
        # at all, is not ours to replace.
        if target.parent.resolve().parts[:2] == ("/", "proc"):
            return Destination(path, special=True)
        target = target.parent / target.readlink()
    special = target.exists() and not target.is_file() and not target.is_dir()
    return Destination(target, special, mounted=target.is_file() and _is_mount_point(target))


def _create_beside(path: Path) -> tuple[Path, BinaryIO]:
    """A new file in the folder of ``path``. Its name is short, so that every name that the file
    system takes can be written. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in itertools.count():
        name = path.with_name(f".amasia-{os.getpid()}-{attempt}.tmp")
        with contextlib.suppress(FileExistsError):
            return name, name.open("xb")
    raise AssertionError("there is always one more name")


def check_writable(path: Path) -> None:
    """Before the work that is to be written to ``path`` is done. Creates missing folders, changes
    nothing else. Raises OSError."""
    destination = destination_of(path)
    target = destination.path
    if destination.special:
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder: name a file", str(path))
    if destination.mounted:
        target.open("ab").close()
        return
    temporary, file = _create_beside(target)
    file.close()
    temporary.unlink()


@contextlib.contextmanager
def opened_whole(path: Path) -> Iterator[TextIO]:
    """A text to write ``path`` with, in UTF-8, compressed where its name ends with .gz: a file gets
    its name only when all went well, so that nobody opens half of it. Of a link the target is
    written, a device or a FIFO is written to, and a file with a mount on it is rewritten in place.
    Raises OSError, before anything is written where that can be known."""
    check_writable(path)
    destination = destination_of(path)
    target = destination.path
    whole = io.StringIO()
    yield whole
    data = whole.getvalue().encode(errors="replace")
    if target.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    if destination.special or destination.mounted:
        # To append: a regular file behind /dev/stdout may hold something already.
        with target.open("ab" if destination.special else "wb") as there:
            there.write(data)
        return
    temporary, file = _create_beside(target)
    try:
        with file:
            file.write(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # gone already after success
