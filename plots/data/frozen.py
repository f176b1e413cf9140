"""The record of an earlier version of the suite: ``results/<version>/<gpu>/``.

It is read and judged like any other file. Its code is not the code of this tree, so no row of it
stands in one table with a row of the current code. Where a folder has current results of the same
GPU (``results/<gpu>/``), a search of that folder finds those alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

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
    """The frozen files in the folders of results that these files are from."""
    folders = {_results_of(path) for path in paths}
    return sorted(
        record / name
        for folder in folders
        for record in folder.glob("*.*.*")
        if _is_record(record)
        for name in _LISTED.findall((record / CHECKSUMS).read_text("utf-8", errors="replace"))
    )
