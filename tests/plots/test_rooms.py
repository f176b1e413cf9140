"""Rooms of plots/ import downwards only, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from plots.tree import PACKAGE

# Of each room those that it may import from; modules that lie in no room are for all.
ROOMS = {
    "statistics": set(),
    "data": {"statistics"},
    "judge": {"statistics", "data"},
    "advice": {"statistics", "data", "judge"},
    "papers": {"statistics", "data", "judge"},
    "figures": {"statistics", "data", "judge", "advice", "papers"},
    "report": {"statistics", "data", "judge", "advice", "papers", "figures"},
    "commands": {"statistics", "data", "judge", "advice", "papers", "figures", "report"},
}


def _name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(folder: Path) -> dict[str, set[str]]:
    """module -> the modules of the package that it imports when it runs, anywhere in its code."""
    paths = {_name(path, folder): path for path in folder.rglob("*.py")}

    def of(tree: ast.AST) -> Iterator[str]:
        if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
            return
        if isinstance(tree, ast.Import):
            yield from (alias.name for alias in tree.names)
        elif isinstance(tree, ast.ImportFrom) and tree.module:
            for alias in tree.names:
                inner = f"{tree.module}.{alias.name}"
                yield inner if inner in paths else tree.module
        for node in ast.iter_child_nodes(tree):
            yield from of(node)

    return {
        name: {other for other in of(ast.parse(path.read_text("utf-8"))) if other in paths} - {name}
        for name, path in paths.items()
    }


def upwards(found: dict[str, set[str]]) -> list[str]:
    """The imports of a room from one that it may not know."""
    return [
        f"{name} imports {other}"
        for name, others in sorted(found.items())
        for other in sorted(others)
        if (room := name.split(".")[1:2]) and room[0] in ROOMS
        if (there := other.split(".")[1:2]) and there[0] in ROOMS
        if there[0] not in ROOMS[room[0]] | {room[0]}
    ]


def test_no_room_imports_from_one_above_it():
    assert upwards(imports(PACKAGE)) == []


def test_every_folder_is_a_room():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert folders == ROOMS.keys()


def test_no_modules_import_each_other_in_a_circle():
    assert len(list(TopologicalSorter(imports(PACKAGE)).static_order())) > 50
