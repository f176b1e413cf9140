"""The package itself: rooms, processes, strategies as the program has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from plots.data.strategies import (
    NAMES,
    ROOT,
    STRATEGIES,
    built_variants,
    code_lines,
    involved_lines,
)
from plots.figures import style
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


# --- Strategies -----------------------------------------------------------------------------------


def test_the_same_table_as_the_header():
    header = (ROOT / "variants" / "strategy.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(\w+)",\s*(\d+),\s*(\d+),\s*\d+,', header)
    assert [(s.name, s.runs_from, s.native_from) for s in STRATEGIES] == [
        (name, int(runs), int(native)) for name, runs, native in rows
    ]


def test_lines_of_code_and_of_all_that_is_included_of_the_app_and_of_the_ways_to_move(tmp_path):
    files = {
        "apps/nw/tma.cu": '#include "apps/nw/kernel.cuh"\n#include "harness/app.hpp"\n\nint a;\n',
        "apps/nw/kernel.cuh": '  // why\n#include "variants/ring.hpp"\n#include <cmath>\nint b;\n',
        "apps/nw/helper.cu": "",
        "apps/nw/unused.cuh": "int c;\n",
        "variants/ring.hpp": '#include "apps/nw/kernel.cuh"\nint d;\n\nint e;  // here\n',
        "harness/app.hpp": "int f;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert code_lines("apps/nw/tma.cu", tmp_path) == 3
    assert involved_lines("apps/nw/tma.cu", tmp_path) == 3 + 3 + 3
    assert code_lines("apps/nw/cublas.cu", tmp_path) is None
    assert involved_lines("apps/nw/cublas.cu", tmp_path) is None
    assert built_variants(tmp_path) == {"nw/tma"}


def simulated(hex_colour, matrix):
    """The colour as a dichromat sees it: Vienot, Brettel, Mollon 1999, on linear RGB."""
    rgb = [int(hex_colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    return [sum(m * v for m, v in zip(row, linear, strict=True)) for row in matrix]


def test_colours_are_told_apart_by_colour_blind_readers():
    protan = [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]
    deutan = [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]
    for matrix in (protan, deutan):
        seen = [simulated(style.colour(n), matrix) for n in NAMES]
        for i, a in enumerate(seen):
            for b in seen[i + 1 :]:
                assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 0.1
