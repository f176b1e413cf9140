"""The figure of balance and density."""

from __future__ import annotations

import numpy as np

from plots.figures.balance import balance
from plots.papers import specifications


def test_balance_figure_has_each_gpu_in_both_precisions():
    specs = specifications.datasheet_specs()
    figure = balance(specs, "datasheets")
    of_balance, of_density = figure.axes
    points = [line for line in of_balance.lines if line.get_label() == "fp32"]
    assert [line.get_xdata()[0] for line in points] == [s.balance() for s in specs]
    with_fp64 = [s for s in specs if np.isfinite(s.density("fp64"))]
    assert (
        len([x for x in of_density.lines if x.get_label() == "fp64"]) == len(with_fp64) < len(specs)
    )
    assert (
        "bytes per FLOP" in of_balance.get_xlabel() and "GFLOP/s per mm²" in of_density.get_xlabel()
    )
