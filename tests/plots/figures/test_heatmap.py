"""What the heat map shows."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_hex

from plots.figures import style
from plots.figures.heatmap import cell, heatmap

MAIN = {"cache": "cold", "launch": "stream"}


def test_heatmap_has_all_36_cells_twice_and_says_what_each_is(paper):
    built = {"gemm/tma", *(f"{a}/{s}" for a in ("hotspot", "pathfinder") for s in style.COLOURS)}
    figure = heatmap(paper.where(**MAIN), built)
    iso, best, bar = figure.axes
    kinds = [p.get_label() for p in iso.patches]
    assert len(kinds) == 36 and kinds.count("reference") == 2
    assert kinds.count("not built") == 4 * 6 - 1 and kinds.count("not run") == 1
    assert kinds.count("faster") == 2 * 3 and kinds.count("slower") == 2 * 2
    assert [p.get_hatch() for p in iso.patches if p.get_label() == "not built"] == ["////"] * 23
    unresolved = [p for p in best.patches if p.get_label() == "not resolved"]
    assert len(unresolved) == 2
    assert all(to_hex(p.get_facecolor()) == "#ffffff" for p in unresolved)
    assert "1.00×\nnot resolved" in [t.get_text() for t in best.texts]
    assert [t.get_text().split("\n")[0] for t in iso.get_yticklabels()] == [
        "nw", "lud", "hotspot", "pathfinder", "histogram", "gemm",
    ]  # fmt: skip
    assert bar.get_ylabel() == "speed-up over baseline"


@pytest.mark.parametrize(("strategy", "kind"), [
    ("drop_off", "failed"), ("tma", "crashed"), ("dsm", "skipped"), ("overlap", "faster"),
    ("register_bypass", "not resolved"), ("baseline", "reference"),
])  # fmt: skip
def test_cells_of_rows_without_a_time(paper, strategy, kind):
    # Only the size with the odd rows, so that it is the main one.
    odd = paper.where(**MAIN, app="hotspot", size=next(
        s for s in paper.groups["size"] if "rows=4096" in s))  # fmt: skip
    assert cell(odd, "hotspot", strategy, "best", set())[0] == kind


def test_heatmap_colours_are_symmetric_in_the_logarithm(load_groups):
    speedups = {"baseline": (1, 1), "overlap": (2.0, 1.0), "tma": (0.5, 4.0)}
    results = load_groups(synthetic.group("nw", {"n": 64}, 1.0, speedups=speedups))
    figure = heatmap(results, set())
    mappable = figure.axes[2]._colorbar.mappable
    assert mappable.norm(np.log2(2.0)) - 0.5 == pytest.approx(0.5 - mappable.norm(np.log2(0.5)))
