"""What a folder of results holds besides result files: whatever editors, other systems and other
programs leave there. It is passed over with a note.

And the record of an earlier version of the suite: ``results/<version>/<gpu>/``. It is read and
judged like any other file. Its code is not the code of this tree, so no row of it stands in one
table with a row of the current code. Where a folder has current results of the same GPU
(``results/<gpu>/``), a search of that folder finds those alone.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from pathlib import Path

from plots.tree import IN_A_CLONE

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


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


# --- The record of an earlier version -------------------------------------------------------------

CHECKSUMS = "SHA256SUMS"  # beside the folders of the GPUs: marks a frozen record
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_LISTED = re.compile(r"^[0-9a-f]{64}  (.+)$", re.MULTILINE)  # as sha256sum writes it


def _is_record(folder: Path) -> bool:
    return bool(_VERSION.fullmatch(folder.name)) and (folder / CHECKSUMS).is_file()


def version_of(path: Path) -> str:
    """The version that a file was frozen with; "" for any other file."""
    folder = path.absolute().parent.parent
    return folder.name if _is_record(folder) else ""


def is_superseded(path: Path, root: Path) -> bool:
    """Whether the folder ``root``, in which this file was found, has current results of its GPU."""
    if not version_of(path):
        return False
    record = path.absolute().parents[2]
    return record.is_relative_to(root.absolute()) and (record / path.parent.name).is_dir()


def _results_of(path: Path) -> Path:
    """The folder that holds the folder of the GPU, or that of the version."""
    up = 2 if version_of(path) else 1
    parents = path.parents if len(path.parents) > up else path.absolute().parents
    return parents[min(up, len(parents) - 1)]


def beside(paths: Iterable[Path]) -> list[Path]:
    """The frozen files in the folders of results that these files are from. A wheel has a part of
    those that the list names."""
    folders = {_results_of(path) for path in paths}
    return sorted(
        record / name
        for folder in folders
        for record in folder.glob("*.*.*")
        if _is_record(record)
        for name in _LISTED.findall((record / CHECKSUMS).read_text("utf-8", errors="replace"))
        if IN_A_CLONE or (record / name).is_file()
    )
