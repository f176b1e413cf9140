"""The figure of expected speed-ups."""

from __future__ import annotations

import pytest
from drawn import heading
from matplotlib.colors import to_hex

from plots.figures import style
from plots.figures.expectation import expectation
from plots.papers import expect


def test_expectation_figure_shows_the_paper():
    figure = expectation(expect.published_table(), "source of it")
    (ax,) = figure.axes
    assert "source of it" in heading(figure)
    assert [t.get_text() for t in ax.get_yticklabels()][2] == "A100 over V100"
    assert "expected 1.38, measured 1.34, below" in [t.get_text() for t in ax.texts]
    expected = [line for line in ax.lines if line.get_label() == "expected"]
    assert [line.get_xdata()[0] for line in expected] == pytest.approx(
        expect.published_table()["expected"].tolist()
    )
    inks = [to_hex(c.lines[0].get_color()) for c in ax.containers]
    short = style.ALARM_COLOUR.lower()
    assert [ink == short for ink in inks] == [False, False, True, True, False, True]
