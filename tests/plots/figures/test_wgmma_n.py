"""Widths of wgmma."""

from __future__ import annotations

from plots.data.load import load
from plots.figures.wgmma_n import least_interval, wgmma_n


def test_widths_of_wgmma_have_rates_and_cycles(memory_file):
    rates, cycles = wgmma_n(load([memory_file])).axes
    assert len(rates.containers) == 6 and len(cycles.containers) == 4
    assert "n / 2: the units are busy" in cycles.get_legend_handles_labels()[1]


def test_the_least_interval_is_that_of_a_in_registers(memory_file):
    results = load([memory_file])
    points = results.points
    found = [
        median
        for at, quantity, median in zip(
            points["at"], points["quantity"], points["median"], strict=True
        )
        if quantity == "interval" and at.get("a") == "registers" and at["mode"] == "dense"
    ]
    assert least_interval(results) == (min(found) if found else None)
