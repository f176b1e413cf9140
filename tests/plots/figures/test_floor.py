"""What time against the floor shows."""

from __future__ import annotations

import pytest

from plots.figures.floor import floor

MAIN = {"cache": "cold", "launch": "stream"}


def test_floor_bars_are_the_fractions(paper):
    figure = floor(paper.where(**MAIN))
    assert len(figure.axes) == 6 and not figure.axes[5].get_visible()  # 5 panels in 2 columns
    ax = figure.axes[2]
    assert "hotspot, rows=8192 cols=8192\nfloor 0.371 ms, bound by memory traffic" in (
        ax.get_title(loc="left")
    )
    assert ax.get_xlabel() == "floor / time, %"
    widths = {c.get_label(): c.patches[0].get_width() for c in ax.containers}
    assert len(widths) == 12
    # baseline at best takes 1.15 ms, tma is 1.31 times faster, iso half as fast as best.
    share = 100 * 0.371 / 1.15
    assert widths["baseline best"] == pytest.approx(share, rel=0.01)
    assert widths["tma best"] == pytest.approx(share * 1.31, rel=0.01)
    assert widths["baseline iso"] == pytest.approx(share / 2, rel=0.01)
    assert ax.get_xlim()[1] > 100
    assert "best: crashed" in [t.get_text() for t in figure.axes[1].texts]
