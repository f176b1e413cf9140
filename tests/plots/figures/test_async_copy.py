"""When an asynchronous copy pays."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_hex, to_rgb

from plots.data.load import load
from plots.figures.async_copy import async_copy, gains
from plots.figures.style import COLOURS


def test_the_asynchronous_copies_have_four_panels(async_copy_file):
    roof, barrier, pipeline, low = async_copy(load([async_copy_file])).axes
    assert len(roof.lines) == 2 * 6 + 1 and roof.get_yscale() == "log"
    assert [t.get_text() for t in pipeline.get_legend().texts] == ["0.25 op/byte", "16 op/byte"]
    # Of the tiles 512 B to 32 KiB: a tenth slower at the first, level at 16 KiB.
    first = barrier.lines[0].get_ydata()
    assert first[0] == pytest.approx(0.9) and first[5] == pytest.approx(1.0)
    plain = low.lines[0].get_ydata()
    assert plain[0] == pytest.approx(100 * (1 / 0.7 - 1)) and low.lines[1].get_ydata()[0] == 0


def test_an_intensity_has_no_colour_of_a_strategy_and_differs_in_grey_print(async_copy_file):
    _, barrier, pipeline, _ = async_copy(load([async_copy_file])).axes
    for ax in (barrier, pipeline):
        lines = [line for line in ax.lines if "op/byte" in str(line.get_label())]
        inks = [to_hex(line.get_color()) for line in lines]
        assert not set(inks) & {to_hex(ink) for ink in COLOURS.values()}
        lightness = [float(np.dot(to_rgb(ink), (0.2126, 0.7152, 0.0722))) for ink in inks]
        assert lightness == sorted(lightness) and len({x.get_linestyle() for x in lines}) == 2


def test_the_gains_in_the_prose_are_the_datas(save):
    document = synthetic.async_copy_like()
    (m,) = (m for m in document["microbenchmarks"] if m["name"] == "async_copy/intensity")
    before = gains(load([save(document)]))
    for row in m["rows"]:
        if row["at"]["mechanism"] == "bulk" and row["at"]["occupancy"] == "full":
            value = 2 * row["value"]["median"]
            row.update(synthetic.micro_row(row["at"], value, row["quantity"], row["unit"]))
    after = gains(load([save(document)]))
    assert after["bulk"] == pytest.approx(2 * before["bulk"])
    assert after.drop("bulk").tolist() == before.drop("bulk").tolist() and "plain" not in after
