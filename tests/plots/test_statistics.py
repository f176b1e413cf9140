"""Exact intervals on known vectors: the numbers that harness/statistics/statistics.hpp gives."""

from __future__ import annotations

import numpy as np
import pytest

from plots.statistics import geometric_mean, independent_ratio, median_interval, paired_ratio


def test_interval_of_ten_values():
    # P(B < 2) = 11/1024: x(2) to x(9) cover 1 - 22/1024.
    m = median_interval([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.95)
    assert (m.median, m.low, m.high, m.n) == (5.5, 2, 9, 10)
    assert m.coverage == pytest.approx(1 - 22 / 1024)


def test_interval_of_an_odd_sample_with_ties():
    m = median_interval([1, 1, 1, 2, 2, 2, 3, 3, 3], 0.95)
    assert (m.median, m.low, m.high) == (2, 1, 3)
    assert m.coverage == pytest.approx(1 - 2 * 10 / 512)


def test_too_few_values_say_what_they_cover():
    m = median_interval([4, 2, 3], 0.95)
    assert (m.low, m.high) == (2, 4) and m.coverage == pytest.approx(0.75)
    assert median_interval([5], 0.9).coverage == 0
    assert not independent_ratio([2, 2, 2], [1, 1, 1], 0.95).resolved


def test_wrong_arguments():
    with pytest.raises(ValueError):
        median_interval([], 0.95)
    with pytest.raises(ValueError):
        median_interval([1], 1.0)
    with pytest.raises(ValueError):
        geometric_mean([])


def test_ratio_of_independent_samples():
    slow, fast = np.linspace(2.0, 2.1, 41), np.linspace(1.0, 1.05, 41)
    r = independent_ratio(slow, fast, 0.95)
    assert r.ratio == pytest.approx(2.0)
    assert r.low < 2 < r.high and r.resolved
    assert not independent_ratio(slow, slow, 0.95).resolved


def test_ratio_of_pairs_does_not_see_what_both_share():
    rng = np.random.default_rng(3)
    drift = np.exp(0.3 * rng.standard_normal(31))
    slow, fast = 1.02 * drift * np.exp(0.001 * rng.standard_normal(31)), drift
    r = paired_ratio(slow, fast, 0.99)
    assert r.low < 1.02 < r.high < 1.03 and r.resolved
    assert not independent_ratio(slow, fast, 0.99).resolved
    back = paired_ratio(fast, slow, 0.99)
    assert (back.low, back.high) == pytest.approx((1 / r.high, 1 / r.low))
    assert not paired_ratio([2, 2, 2], [1, 1, 1], 0.95).resolved  # too few to cover that
    with pytest.raises(ValueError):
        paired_ratio([], [], 0.95)
    with pytest.raises(ValueError):
        paired_ratio([1, 2, 3], [1, 2], 0.95)


def test_coverage_is_kept():
    """Of 400 intervals at 90 %, at least 90 % (less four standard errors) hold the true median."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        m = median_interval(rng.exponential(size=25), 0.9)
        hits += m.low <= np.log(2) <= m.high
    assert hits >= 400 * 0.9 - 4 * np.sqrt(400 * 0.9 * 0.1)


def test_geometric_mean():
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([0.5, 2]) == pytest.approx(1)
