"""What the heat map shows."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_hex

from plots.report.heatmap import cell, heatmap
from plots.report.verdicts import verdicts

MAIN = {"cache": "cold", "launch": "stream"}


def test_a_row_is_a_verdict_and_its_winners_are_framed(load_groups):
    """gemm has a row for each arithmetic; a tie frames several, a baseline that wins itself."""
    sizes = [{"m": 64, "mode": mode} for mode in ("fp32", "bf16")]
    slow = {"baseline": (1, 1), "tma": (0.8, 0.8)}
    results = load_groups(
        *(synthetic.group("gemm", size, 1.0) for size in sizes),
        synthetic.group("lud", {"n": 64}, 1.0, speedups=slow),
    )
    figure = heatmap(results)
    ax, bar = figure.axes
    rows = [t.get_text().split("\n")[0] for t in ax.get_yticklabels()]
    assert rows == ["gemm fp32", "gemm bf16", "lud"]
    columns = [t.get_text().replace("\n", "") for t in ax.get_xticklabels()]
    framed = {
        (rows[round(p.get_y() + 0.43)], columns[round(p.get_x() + 0.45)])
        for p in ax.patches
        if p.get_label() == "winner"
    }
    assert framed == {(v.label, name) for v in verdicts(results) for name in v.winners}
    assert ("lud", "baseline") in framed and len(framed) == 3
    assert bar.get_ylabel() == "faster or slower than baseline"


def test_a_cell_without_a_claim_has_no_colour(paper):
    ax = heatmap(paper.where(**MAIN)).axes[0]
    undecided = [p for p in ax.patches if p.get_label() == "not resolved"]
    assert undecided and all(to_hex(p.get_facecolor()) == "#ffffff" for p in undecided)
    assert "(1.00×)" in [t.get_text() for t in ax.texts]


@pytest.mark.parametrize(("strategy", "kind"), [
    ("drop_off", "failed"), ("tma", "crashed"), ("dsm", "skipped"), ("overlap", "faster"),
    ("register_bypass", "not resolved"), ("baseline", "reference"),
])  # fmt: skip
def test_cells_of_rows_without_a_time(paper, strategy, kind):
    # Only the size with the odd rows, so that it is the main one.
    odd = paper.where(**MAIN, app="hotspot", size=next(
        s for s in paper.groups["size"] if "rows=4096" in s))  # fmt: skip
    (verdict,) = verdicts(odd)
    assert cell(odd, verdict, strategy).kind == kind


def test_colours_are_symmetric_in_the_logarithm(load_groups):
    speedups = {"baseline": (1, 1), "overlap": (2.0, 1.0), "tma": (0.5, 4.0)}
    results = load_groups(synthetic.group("nw", {"n": 64}, 1.0, speedups=speedups))
    norm = heatmap(results).axes[1]._colorbar.mappable.norm
    assert norm(np.log2(2.0)) - 0.5 == pytest.approx(0.5 - norm(np.log2(0.5)))
