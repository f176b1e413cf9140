"""The figure of one GPU over another."""

from __future__ import annotations

import pytest
from drawn import bars, heading

from plots.figures.generations import generations
from plots.papers import expect


def test_generations_figure_has_every_matching_row(two_gpus):
    measured = expect.compare(*two_gpus())
    figure = generations(measured, "two dates")
    assert heading(figure) == "NVIDIA H200 over NVIDIA A100-SXM4-40GB\ntwo dates"
    assert [len(bars(ax)) for ax in figure.axes] == [6, 6]
    for ax in figure.axes:
        lines = sorted(line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1
                       and len(line.get_xdata()) == 2)  # fmt: skip
        assert lines == pytest.approx([2.5, 4800 / 1555])
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "expected, measured ceilings: 2.50" in labels and "expected, datasheets: 3.09" in labels
