"""Bandwidth against bytes in flight."""

from __future__ import annotations

from plots.data.load import load
from plots.figures.in_flight import in_flight


def test_bandwidth_against_bytes_in_flight_has_both_levels(memory_file):
    memory, l2 = in_flight(load([memory_file])).axes
    assert len(memory.containers) == len(l2.containers) == 3
    assert "95 % at 27 KiB" in [t.get_text() for t in memory.texts] and not l2.texts
