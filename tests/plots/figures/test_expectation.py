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


def test_what_stays_below_differs_by_shape_and_word_and_not_by_colour_alone():
    table = expect.published_table()
    (ax,) = expectation(table, "x").axes
    shapes = {}
    for container in ax.containers:
        line = container.lines[0]
        (mean,) = line.get_xdata()
        row = table[table["measured_mean"] == mean].iloc[0]
        shapes.setdefault(row["measured_mean"] < row["expected"], set()).add(line.get_marker())
    assert len(shapes) == 2 and not shapes[True] & shapes[False]
    below = [t.get_text() for t in ax.texts if t.get_text().endswith(", below")]
    assert len(below) == int((table["measured_mean"] < table["expected"]).sum()) > 0
