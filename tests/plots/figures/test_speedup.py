"""What the speed-up figure shows."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from drawn import bars, heading
from matplotlib.patches import Rectangle

from plots.figures.speedup import speedup

MAIN = {"cache": "cold", "launch": "stream"}


def test_speedup_draws_each_comparison_where_it_belongs(paper):
    selected = paper.where(**MAIN)
    figure = speedup(selected)
    assert [ax.get_title(loc="left").split(":")[0] for ax in figure.axes] == [
        "hotspot, iso", "hotspot, best", "pathfinder, iso", "pathfinder, best",
    ]  # fmt: skip
    assert heading(figure).endswith("NVIDIA H200, 2026-11-21; cold cache, stream launches")
    iso, best = figure.axes[:2]
    assert iso.get_ylabel() == "speed-up over baseline" and iso.get_yscale() == "log"
    assert [t.get_text() for t in iso.get_xticklabels()] == [
        "rows=1024\ncols=1024", "rows=4096\ncols=4096", "rows=8192\ncols=8192",
    ]  # fmt: skip
    points = bars(iso)
    assert len(points) == 5 * 3
    for label, x, y, ends, filled in points:
        assert y == pytest.approx(synthetic.TYPICAL[label][0]) and filled
        half = 0.02 if round(x) == 0 else 0.006
        assert ends[:, 1] == pytest.approx([y * np.exp(-half), y * np.exp(half)])
    # At 4096, three strategies of best have no comparison but say why.
    assert len(bars(best)) == 5 * 3 - 3
    written = [t.get_text() for t in best.texts]
    assert any("1 failed" in t and "1 crashed" in t and "1 skipped" in t for t in written)
    assert {"1.31×", "1.22×"} <= set(written)


def test_speedup_shows_what_is_not_resolved_as_hollow(paper):
    best = speedup(paper.where(**MAIN)).axes[1]
    filled = {label: f for label, x, _, _, f in bars(best) if round(x) == 2}
    assert filled == {
        "register_bypass": False, "overlap": True, "drop_off": True, "tma": True, "dsm": True,
    }  # fmt: skip


def test_speedup_draws_the_noise_band(paper, load_groups):
    iso = speedup(paper.where(**MAIN)).axes[0]
    bands = [p for p in iso.patches if isinstance(p, Rectangle)]
    assert len(bands) == 3
    assert bands[0].get_y() == pytest.approx(1.0004 * np.exp(-0.003))
    assert bands[0].get_height() == pytest.approx(1.0004 * 2 * np.sinh(0.003))
    assert "A/A 0.997 to 1.003" in iso.get_title(loc="left")
    without = load_groups(synthetic.group("nw", {"n": 64}, 1.0, control=False))
    assert not speedup(without).axes[0].patches


def test_comparators_are_a_reference_and_no_strategy(load_groups):
    results = load_groups(synthetic.group("gemm", {"n": 64}, 1.0, comparator="cublas"))
    figure = speedup(results)
    assert all(label != "cublas" for ax in figure.axes for label, *_ in bars(ax))
    iso, best = ([x for x in ax.lines if x.get_label() == "cublas"] for ax in figure.axes)
    assert not iso and [x.get_ydata()[0] for x in best] == [pytest.approx(1.5)]
    assert best[0].get_linestyle() == "--"
    assert "cublas" in [t.get_text() for t in figure.legends[0].get_texts()]
