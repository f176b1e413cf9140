"""The figure of one GPU over another."""

from __future__ import annotations

import pytest
from drawn import bars, heading

from plots.figures.generations import MOST_CASES, cases, generations
from plots.papers import expect


def test_a_case_shows_hardware_and_best_on_best_beside_what_was_expected(two_gpus):
    measured = expect.compare(*two_gpus())
    figure = generations(measured, "two dates")
    assert heading(figure) == "NVIDIA H200 over NVIDIA A100-SXM4-40GB\ntwo dates"
    (ax,) = figure.axes
    ((app, ratio, _, ends, _),) = bars(ax)
    best = measured.best.iloc[0]
    assert (app, ratio) == ("nw", pytest.approx(best["ratio"]))
    assert ends[:, 0] == pytest.approx([best["low"], best["high"]])
    dots = [x.get_xdata()[0] for x in ax.lines if x.get_marker() == "o"]
    assert dots == [pytest.approx(best["hardware"])]
    expected = [x.get_xdata()[0] for x in ax.lines if x.get_linestyle() in ("-", "--")
                and len(x.get_xdata()) == 2]  # fmt: skip
    assert expected == pytest.approx([2.5, 4800 / 1555])
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "expected, measured ceilings: 2.50" in labels and "expected, datasheets: 3.09" in labels


def test_there_is_room_for_a_few_cases_of_each_app(two_gpus):
    measured = expect.compare(*two_gpus())
    many = measured.best.loc[measured.best.index.repeat(40)].reset_index(drop=True)
    many["app"] = ["nw", "lud"] * 20
    many.loc[30:, ["app", "cache"]] = ("gemm", "hot")
    object.__setattr__(measured, "best", many)
    shown = cases(measured)
    assert len(shown) == MOST_CASES and {c.app for c in shown} == {"nw", "lud", "gemm"}
