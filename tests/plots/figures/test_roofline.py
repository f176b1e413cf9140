"""What the roofline shows."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from drawn import markers, texts

from plots.data.load import load
from plots.errors import PlotsError
from plots.figures.roofline import roofline

MAIN = {"cache": "cold", "launch": "stream"}


def test_roofline_puts_rates_over_intensities_under_the_ceilings(paper):
    figure = roofline(paper.where(**MAIN))
    (ax,) = figure.axes
    found = markers(ax)
    assert len(found) == 2 * 12  # hotspot and pathfinder at their main size, iso and best
    _, y, filled = found["hotspot overlap best"]
    cells = 8192 * 8192 * 5
    assert y == pytest.approx(3 * cells / (2.3 / 2 / 1.22) / 1e6, rel=0.01) and filled
    assert not found["hotspot overlap iso"][2]
    # Both do 3 operations on 5 bytes: the columns stand side by side around that.
    apps = {name: [x for at, (x, _, _) in found.items() if at.startswith(name)]
            for name in ("hotspot", "pathfinder")}  # fmt: skip
    assert max(apps["pathfinder"]) < min(apps["hotspot"]) or (
        max(apps["hotspot"]) < min(apps["pathfinder"])
    )
    centres = np.exp([np.mean(np.log(xs)) for xs in apps.values()])
    assert np.sqrt(centres.prod()) == pytest.approx(3 / 5)
    labels = texts(figure)
    assert {"hotspot\n0.6", "pathfinder\n0.6"} <= set(labels)
    assert "fp32 65.1 T/s" in labels
    assert any(t.startswith("device memory, copy 4.28 TB/s") for t in labels)
    # The slope ends where it meets the highest level.
    ends = [line.get_xydata()[-1] for line in ax.lines]
    assert any(end == pytest.approx([65100 / 4280, 65100]) for end in ends)
    # The bar at what the floor allows.
    of_size = paper.groups[paper.groups["size_label"] == "rows=8192 cols=8192"]
    floor_ms = of_size["floor_ms"].iloc[0]
    (bar,) = [line for line in ax.lines if line.get_label() == "hotspot floor"]
    assert bar.get_ydata()[0] == pytest.approx(3 * cells / floor_ms / 1e6)


def test_roofline_has_a_column_per_mode_of_arithmetic(load_groups):
    sizes = [{"m": m, "mode": mode} for m, mode in ((64, "fp32"), (128, "fp32"), (64, "bf16"))]
    groups = [synthetic.group("gemm", size, 1.0, comparator="cublas") for size in sizes]
    groups[2]["preset"] = "quick"
    figure = roofline(load_groups(*groups))
    labels = {t.split("\n")[1] for t in texts(figure) if t.startswith("gemm")}
    assert labels == {"fp32", "bf16"}
    assert "gemm\nfp32 cublas comparator" in markers(figure.axes[0])


def test_roofline_without_times_or_ceilings(load_groups, save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    group["floor"] = None
    document = synthetic.document([group])
    document["ceilings"] = []
    assert len(markers(roofline(load([save(document)])).axes[0])) == 12
    for row in group["rows"]:
        synthetic.fail(row, "crashed", "x")
    with pytest.raises(PlotsError, match="no times"):
        roofline(load([save(synthetic.document([group]))]))
