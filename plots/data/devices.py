"""What provenance.device says of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def memory_gb_s(device: Mapping[str, Any]) -> float:
    """GB/s that the memory's clock and bus allow, with two transfers per clock."""
    return 2e-3 * float(device["memory_clock_mhz"]) * float(device["memory_bus_bits"]) / 8
