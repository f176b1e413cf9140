"""Who may include whom: the rooms of the C++ sources, read from their #include lines.

`violations(root)` is what test_structure.py asserts to be empty.
"""

from __future__ import annotations

import graphlib
import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}
# The folders that hold the suite's C++. tests/ may include anything, and nothing may include it.
TOP = ("variants", "inputs", "harness", "apps", "microbench", "examples")

# The rooms of the harness from the ground up: a room includes rooms of lower lines only. no_gpu
# defines what gpu declares, for a build without CUDA. The front door's sources may use text.
HARNESS = (
    ("text",),
    ("statistics",),
    ("evidence",),
    ("results",),
    ("conclusions",),
    ("published",),
    ("plan", "report", "user_kernel"),
    ("process",),
    ("gpu",),
    ("no_gpu",),
    ("session",),
    ("implementations",),
    ("cli",),
    ("gbench",),
    ("main",),
)
LEVEL = {name: level for level, names in enumerate(HARNESS) for name in names}

FRONT_DOOR = "harness/*.hpp"
FRONT_DOOR_SOURCES = "harness/*.cpp"

# Folders that are none of the tree's.
MADE = {".git", ".venv", ".cuda", ".ccache", "build", "out", "__pycache__"}
MADE |= {".pytest_cache", ".ruff_cache"}

# Written by the build, so no file of the tree.
GENERATED = re.compile(r"[a-z_]+\.inc")

INCLUDE = re.compile(r"\s*#\s*include(?:_next)?\b\s*(.*)")
NAMED = re.compile(r'[<"]([^>"]+)[>"]')


@dataclass(frozen=True)
class Include:
    """One #include line whose file belongs to the tree."""

    file: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.target}"


def files_of(root: Path) -> list[str]:
    """The files of the tree, relative to it, without what builds and tools leave there."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def sources(root: Path) -> list[str]:
    """The C++ and CUDA files of the rooms, relative to `root`."""
    found = (path for top in TOP for path in (root / top).rglob("*") if path.suffix in SUFFIXES)
    return sorted(path.relative_to(root).as_posix() for path in found)


def room(file: str) -> str:
    """The room a file stands in: an app, a room of the harness, a folder of another top."""
    parts = file.split("/")
    if parts[0] == "harness" and len(parts) == 2:
        return FRONT_DOOR if file.endswith((".hpp", ".cuh")) else FRONT_DOOR_SOURCES
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def read_includes(root: Path) -> tuple[list[Include], list[str]]:
    """The #include lines between files of the tree, and complaints about those that name none."""
    found, complaints = [], []
    for file in sources(root):
        text = (root / file).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            directive = INCLUDE.match(line)
            if not directive:
                continue
            named = NAMED.match(directive[1])
            if not named:
                complaints.append(
                    f"{file}:{number}: an #include that names no file: {line.strip()}"
                )
                continue
            target = named[1]
            beside = (root / file).parent / target
            if (root / target).is_file():
                found.append(Include(file, number, target))
            elif beside.is_file() and beside.resolve().is_relative_to(root.resolve()):
                path = beside.resolve().relative_to(root.resolve()).as_posix()
                # An app outside the tree has no other way to name its own.
                if not file.startswith("examples/"):
                    complaints.append(
                        f'{file}:{number}: "{target}" should be named from the root: {path}'
                    )
                found.append(Include(file, number, path))
            elif directive[1].startswith('"') and not GENERATED.fullmatch(target):
                complaints.append(f'{file}:{number}: there is no file "{target}"')
    return found, complaints


def obstacle(file: str, target: str) -> str:
    """Why `file` must not include `target`; empty when it may."""
    own, other = room(file), room(target)
    top, other_top = own.split("/")[0], other.split("/")[0]
    if other_top not in TOP:
        return f"{top}/ includes nothing of {other_top}/"
    if other == FRONT_DOOR_SOURCES or not target.endswith((".hpp", ".cuh")):
        return "sources are not included"
    if top == "variants":
        return (
            "" if other_top == "variants" else "variants/ is the ground and includes nothing else"
        )
    if top == "inputs":
        return "" if other_top in ("inputs", "variants") else "inputs/ includes variants/ only"
    if other_top in ("variants", "inputs") or other == FRONT_DOOR:
        return ""
    if own == FRONT_DOOR:
        return "the front door includes no room"
    if top == "examples":
        return "" if other == own else "an example includes its own files and what is installed"
    if top in ("apps", "microbench"):
        if other_top == "harness":
            return f"{top}/ includes of the harness its front door only, harness/*.hpp"
        if other_top != top:
            return f"{top}/ includes nothing of {other_top}/"
        if top == "microbench" or other in (own, "apps/common"):
            return ""
        return "apps/common is for all apps" if own == "apps/common" else "no app includes another"
    if other_top != "harness":
        return f"harness/ knows nothing of {other_top}/"
    if own == FRONT_DOOR_SOURCES:
        return "" if other == "harness/text" else "the front door's sources use no room but text"
    name, other_name = own.split("/")[1], other.split("/")[1]
    for unknown in (name, other_name):
        if unknown not in LEVEL:
            return f"harness/{unknown} has no place in the order of rooms (HARNESS)"
    if name == other_name or LEVEL[other_name] < LEVEL[name]:
        return ""
    return f"{name} does not stand above {other_name}"


def circle(arrows: Iterable[tuple[str, str]]) -> list[str]:
    """A circle of a directed graph as a list of nodes; empty when there is none."""
    after: dict[str, list[str]] = {}
    for start, end in arrows:
        after.setdefault(start, []).append(end)
    try:
        graphlib.TopologicalSorter(after).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]  # told from each node to the one before
    return []


def circle_of(arrows: dict[tuple[str, str], Include]) -> list[str]:
    """A circle, with the file and line of an include that closes it."""
    nodes = circle(arrows)
    if not nodes:
        return []
    closing = max((arrows[pair] for pair in itertools.pairwise(nodes)), key=str)
    return [f"{closing.file}:{closing.line}: closes a circle: {' -> '.join(nodes)}"]


def circles(includes: list[Include]) -> list[str]:
    """A circle among files, and one among rooms."""
    pairs = ((i, (room(i.file), room(i.target))) for i in includes)
    rooms = {pair: include for include, pair in pairs if pair[0] != pair[1]}
    return [*circle_of({(i.file, i.target): i for i in includes}), *circle_of(rooms)]


def upward(includes: list[Include]) -> list[str]:
    """Includes against the direction, each as `file:line: target: why not`."""
    found = []
    for include in includes:
        reason = obstacle(include.file, include.target)
        if reason:
            found.append(f"{include}: {reason}")
    return found


def violations(root: Path) -> list[str]:
    """Everything that is wrong with the includes, each line beginning with file:line."""
    includes, complaints = read_includes(root)
    return [*complaints, *upward(includes), *circles(includes)]
