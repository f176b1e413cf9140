"""The figure of DPX throughput against blocks."""

from __future__ import annotations

import pytest
import synthetic

from plots.data.load import load
from plots.figures.dpx_blocks import dpx_blocks, drops


def test_dpx_blocks_has_a_curve_per_form_and_marks_the_multiples(save):
    (ax,) = dpx_blocks(load([save(synthetic.dpx_like())])).axes
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "viaddmax_s16x2_relu: DPX function", "viaddmax_s16x2_relu: plain C"
    ]  # fmt: skip
    assert [t.get_text() for t in ax.texts] == ["1 × 132", "2 × 132"]
    assert ax.get_ylim()[0] == 0


def test_what_one_block_more_costs_is_computed(save):
    assert drops(load([save(synthetic.dpx_like())])) == pytest.approx(
        {"dpx": 1 - 133 / 264, "plain": 1 - 133 / 264}
    )
