"""The figure of styles on one chip."""

from __future__ import annotations

import pytest
import synthetic
from drawn import bars, heading

from plots.figures.styles import shown, styles


@pytest.fixture
def results(load_groups):
    return load_groups(
        synthetic.group("pathfinder", {"n": 64}, 1.0),
        synthetic.group("nw", {"n": 2048}, 1.0, seed=3),
        synthetic.group("nw", {"n": 512}, 1.0, seed=2),
        synthetic.group("nw", {"n": 512}, 1.0, launch="graph"),
    )


def test_every_case_of_the_mode_has_both_styles_with_their_intervals(results):
    figure = styles(results)
    (ax,) = figure.axes
    assert heading(figure).startswith("Styles on one chip\nNVIDIA H200, ")
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == ["nw, n=512", "nw, n=2048", "pathfinder, n=64"]
    assert len(bars(ax)) == 6
    cases = shown(results)
    gains = [c.gains[name] for c in cases for name in ("ampere", "all")]
    drawn = [bar.lines[0].get_xdata()[0] for bar in ax.containers]
    assert drawn == pytest.approx([g.ratio for g in gains])
    assert [t.get_text() for t in ax.texts] == [g.winner for g in gains]
    low, high = ax.get_xlim()
    assert low < min(g.low for g in gains) and max(g.high for g in gains) < high


def test_what_is_not_resolved_is_hollow(load_groups):
    equal = {name: (1.0, 1.0) for name in synthetic.TYPICAL}
    figure = styles(load_groups(synthetic.group("nw", {"n": 4}, 1.0, speedups=equal)))
    faces = {bar.lines[0].get_markerfacecolor() for bar in figure.axes[0].containers}
    assert faces == {"white"}
    full = styles(load_groups(synthetic.group("nw", {"n": 4}, 1.0)))
    assert "white" not in {b.lines[0].get_markerfacecolor() for b in full.axes[0].containers}
