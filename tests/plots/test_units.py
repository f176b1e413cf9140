"""Numbers as people read them."""

from __future__ import annotations

import numpy as np
import pytest

from plots.units import claimed_ratio, milliseconds, times


def test_numbers_as_people_read_them():
    assert [milliseconds(v) for v in (0.0137, 0.115, 2.0, 234.4, 5600.0, np.nan)] == [
        "13.7 µs", "0.115 ms", "2.00 ms", "234 ms", "5.60 s", "–",
    ]  # fmt: skip
    assert [times(v) for v in (1.184, 12.34, 250.0)] == ["1.18×", "12.3×", "250×"]


@pytest.mark.parametrize(
    ("ratio", "low", "high", "text"),
    [
        (1.31, 1.301, 1.322, "1.31× [1.30, 1.32]"),
        (1.004, 1.0012, 1.0071, "1.004× [1.001, 1.007]"),
        (1.0004, 1.00012, 1.00071, "1.0004× [1.0001, 1.0007]"),
        (0.998, 0.9951, 0.9996, "0.9980× [0.9951, 0.9996]"),
        (1.2004, 1.2001, 1.2009, "1.200× [1.200, 1.201]"),
        (0.27, 0.27, 0.27, "0.27× [0.27, 0.27]"),
        (12.34, 12.2, 12.5, "12.3× [12.20, 12.50]"),
    ],
)
def test_a_claim_has_the_digits_that_it_needs(ratio, low, high, text):
    assert claimed_ratio(ratio, low, high) == text
