"""The strategies as Python knows them are those of variants/strategy.hpp, colours included."""

from __future__ import annotations

import re

from plots.data.strategies import (
    NAMES,
    ROOT,
    STRATEGIES,
    built_variants,
    code_lines,
    involved_lines,
)
from plots.figures import style


def test_the_same_table_as_the_header():
    header = (ROOT / "variants" / "strategy.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(\w+)",\s*(\d+),\s*(\d+),\s*\d+,', header)
    assert [(s.name, s.runs_from, s.native_from) for s in STRATEGIES] == [
        (name, int(runs), int(native)) for name, runs, native in rows
    ]


def test_every_strategy_has_its_own_colour_and_marker():
    assert set(style.COLOURS) == set(style.MARKERS) == set(NAMES)
    assert len({style.colour(n) for n in NAMES}) == len({style.marker(n) for n in NAMES}) == 6
    assert style.colour("cublas") == style.colour("cub") == style.COMPARATOR_COLOUR
    assert style.COMPARATOR_COLOUR not in style.COLOURS.values()


def test_code_lines_leave_out_comments_and_blanks(tmp_path):
    file = tmp_path / "apps" / "nw" / "tma.cu"
    file.parent.mkdir(parents=True)
    file.write_text("// why\n\nint a;\n  // more\nint b;  // here\n", encoding="utf-8")
    assert code_lines("apps/nw/tma.cu", tmp_path) == 2
    assert code_lines("apps/nw/cublas.cu", tmp_path) is None
    (file.parent / "helper.cu").write_text("", encoding="utf-8")
    assert built_variants(tmp_path) == {"nw/tma"}


def test_involved_lines_follow_the_includes_of_the_app_and_of_the_ways_to_move(tmp_path):
    files = {
        "apps/nw/tma.cu": '#include "apps/nw/kernel.cuh"\n#include "harness/app.hpp"\nint a;\n',
        "apps/nw/kernel.cuh": '// why\n#include "variants/ring.hpp"\n#include <cmath>\nint b;\n',
        "apps/nw/unused.cuh": "int c;\n",
        "variants/ring.hpp": '#include "apps/nw/kernel.cuh"\nint d;\n\nint e;\n',
        "harness/app.hpp": "int f;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert involved_lines("apps/nw/tma.cu", tmp_path) == 3 + 3 + 3
    assert involved_lines("apps/nw/cublas.cu", tmp_path) is None


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
