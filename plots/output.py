"""stdout, which holds data and must take all of them, and where and how a file is written."""

import contextlib
import errno
import gzip
import io
import itertools
import os
from collections.abc import Iterator
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


_MOST_LINKS = 40  # as the kernel


def _destination(path: Path) -> tuple[Path, bool]:
    """What is written: of a link its target, also one that is not there yet; and whether it is a
    device, a FIFO or what a descriptor leads to (/dev/stdout), which is written to and never
    replaced. Raises OSError."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            break
        if path.parent.resolve().parts[:2] == ("/", "proc"):
            return path, True
        path = path.parent / path.readlink()
    return path, path.exists() and not path.is_file() and not path.is_dir()


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
    target, special = _destination(path)
    if special:
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder: name a file", str(path))
    temporary, file = _create_beside(target)
    file.close()
    temporary.unlink()


@contextlib.contextmanager
def opened_whole(path: Path) -> Iterator[TextIO]:
    """A text to write ``path`` with, in UTF-8, compressed where its name ends with .gz: a file gets
    its name only when all went well, so that nobody opens half of it. Raises OSError, before
    anything is written where that can be known."""
    check_writable(path)
    target, special = _destination(path)
    whole = io.StringIO()
    yield whole
    data = whole.getvalue().encode(errors="replace")
    if target.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    if special:
        with target.open("ab") as there:  # a file behind /dev/stdout may hold something already
            there.write(data)
        return
    temporary, file = _create_beside(target)
    try:
        with file:
            file.write(data)
        try:
            os.replace(temporary, target)
        except OSError as error:
            if error.errno != errno.EBUSY:  # of a file with a mount on it, as in a container
                raise
            target.write_bytes(data)
    finally:
        temporary.unlink(missing_ok=True)  # gone already after success
