"""What a folder of results holds besides result files: whatever editors, other systems and other
programs leave there. It is passed over with a note.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_MOST_NOTES = 8


class Note(str):
    """A sentence about files. ``kind`` is set where there may be dozens, ``of``: what it is
    about."""

    kind: str
    of: str

    def __new__(cls, text: str, kind: str = "", of: str = "") -> Note:
        note = super().__new__(cls, text)
        note.kind, note.of = kind, of
        return note


def what_it_is(path: Path) -> str:
    """ "a pipe": what is there instead of a regular file; "" for one. Raises OSError."""
    return _KINDS.get(stat.S_IFMT(path.stat().st_mode), "")


JSON_NAMES = ("*.json", "*.json.gz")


def json_files(folder: Path, *patterns: str) -> tuple[list[Path], list[str]]:
    """The regular files of such names (JSON_NAMES if none are given) in a folder and below it, and
    a note for each other thing of such a name but folders, which are searched."""
    files, notes = [], []
    for path in sorted(p for pattern in patterns or JSON_NAMES for p in folder.rglob(pattern)):
        try:
            kind = what_it_is(path)
        except FileNotFoundError:
            kind = "a link to nothing"
        except OSError as error:
            kind = f"not to be read ({error.strerror})"
        if not kind:
            files.append(path)
        elif kind != "a folder":
            notes.append(f"{path} is {kind} and was left out.")
    return files, notes


def shortened(notes: Sequence[str]) -> list[str]:
    """The first notes of many, and how many more there are."""
    if len(notes) <= _MOST_NOTES + 1:
        return list(notes)
    more = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], f"{more} more files are no results and were left out."]
