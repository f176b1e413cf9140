"""What figures share."""

from __future__ import annotations

import pytest

from plots.figures import style
from plots.figures.common import ratio_axis


@pytest.mark.parametrize("ends", [(0.999, 1.001), (0.97, 1.3), (0.5, 2.2), (0.9, 30), (0.001, 5)])
def test_ratio_axes_have_a_few_plain_ticks_and_contain_everything(ends):
    figure = style.new_figure(3)
    ax = figure.subplots()
    ratio_axis(ax, ends)
    low, high = ax.get_ylim()
    assert low < ends[0] and high > ends[1]
    ticks = [t for t in ax.get_yticks() if low <= t <= high]
    assert 1 in ticks and 1 <= len(ticks) <= 12
