"""The latency ladder."""

from __future__ import annotations

from plots.data.load import load
from plots.figures.latency import latency


def test_the_latency_ladder_shows_every_operator_and_the_capacity(memory_file):
    (ax,) = latency(load([memory_file])).axes
    assert ax.get_legend_handles_labels()[1] == ["ld.ca (every level)", "ld.cg (L2 only)"]
    assert ax.get_xlabel() == "footprint" and "L1 ends" in [t.get_text() for t in ax.texts]
    assert ax.get_xscale() == "log"
