"""Energy of the tensor cores."""

from __future__ import annotations

import pytest

from plots.data.load import load
from plots.figures.tensor_energy import tensor_energy, zeros_over_random


def test_energy_has_a_bar_per_load_the_dearest_at_the_bottom(memory_file):
    (ax,) = tensor_energy(load([memory_file])).axes
    bars = ax.patches
    assert len(bars) == 4
    widths = [bar.get_width() for bar in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(700 / 820)
    assert " 700 W, 820 TFLOP/s" in [t.get_text() for t in ax.texts]


def test_zeros_are_set_against_random_data_of_the_same_type(memory_file):
    power = zeros_over_random(load([memory_file]), "power")
    assert len(power) and (power > 0).all()
    assert zeros_over_random(load([memory_file]), "no such quantity").empty
