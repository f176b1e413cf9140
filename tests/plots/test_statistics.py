"""Exact intervals on known vectors: the numbers that harness/statistics/statistics.hpp gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from plots.statistics.intervals import (
    benjamini_hochberg,
    ends_of_logs,
    geometric_mean,
    independent_p_value,
    independent_ratio,
    least_p_value,
    median_interval,
    ratio_of_rounds,
    spread_of_rounds,
)


@pytest.mark.parametrize(
    ("values", "confidence", "found", "coverage"),
    [
        # P(B < 2) = 11/1024: x(2) to x(9) cover 1 - 22/1024.
        ([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.95, (5.5, 2, 9, 10), 1 - 22 / 1024),
        ([1, 1, 1, 2, 2, 2, 3, 3, 3], 0.95, (2, 1, 3, 9), 1 - 2 * 10 / 512),
        ([4, 2, 3], 0.95, (3, 2, 4, 3), 0.75),
        ([5], 0.9, (5, 5, 5, 1), 0),
    ],
)
def test_interval_of_a_median(values, confidence, found, coverage):
    m = median_interval(values, confidence)
    assert (m.median, m.low, m.high, m.n) == found
    assert m.coverage == pytest.approx(coverage)


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
    r = ratio_of_rounds(slow, fast, 0.99)
    assert r.low < 1.02 < r.high < 1.03 and r.resolved
    assert not independent_ratio(slow, fast, 0.99).resolved
    back = ratio_of_rounds(fast, slow, 0.99)
    assert (back.low, back.high) == pytest.approx((1 / r.high, 1 / r.low))
    assert not ratio_of_rounds([2, 2, 2], [1, 1, 1], 0.95).resolved  # too few to cover that
    with pytest.raises(ValueError):
        ratio_of_rounds([], [], 0.95)
    with pytest.raises(ValueError):
        ratio_of_rounds([1, 2, 3], [1, 2], 0.95)


def test_coverage_is_kept():
    """Of 400 intervals at 90 %, at least 90 % (less four standard errors) hold the true median."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        m = median_interval(rng.exponential(size=25), 0.9)
        hits += m.low <= np.log(2) <= m.high
    assert hits >= 400 * 0.9 - 4 * np.sqrt(400 * 0.9 * 0.1)


def test_the_false_discovery_rate_as_its_authors_show_it():
    """Benjamini and Hochberg (1995), section 3.2."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
         0.5719, 0.6528, 0.7590, 1.0]  # fmt: skip
    found = benjamini_hochberg(p, 0.05)
    assert found.found == (True,) * 4 + (False,) * 11
    assert found.level == pytest.approx(0.05 * 4 / 15)
    none = benjamini_hochberg([0.5, 0.9, 0.2, 1], 0.05)
    assert not any(none.found) and none.level == pytest.approx(0.0125)
    assert benjamini_hochberg([0.03, 0.031, 0.9], 0.05).found == (True, True, False)
    with pytest.raises(ValueError, match="rate"):
        benjamini_hochberg([0.5], 1.0)


def test_a_p_value_is_where_the_interval_begins_to_exclude():
    a = np.linspace(1, 1.9, 10)
    b = np.concatenate([[1.45], np.linspace(1.65, 2.45, 9)])
    p = independent_p_value(a, b)
    assert 0.001 < p < 0.5
    assert independent_ratio(a, b, 1 - p - 1e-9).resolved
    assert not independent_ratio(a, b, 1 - p + 1e-9).resolved
    assert independent_p_value(a, a) == 1
    assert independent_p_value(a[:9], a[:9] + 5) == pytest.approx(least_p_value(9)) == 2.0**-7
    # Beyond what a confidence can be told from 1.
    many = np.linspace(1, 1.9, 200)
    assert 0 <= independent_p_value(many, many + 5) < 1e-15


# The harness is held to the same file (tests/harness/statistics/interval_rule_test.cpp).
CASES = json.loads((Path(__file__).parent / "interval_cases.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_intervals_of_rounds_are_those_of_the_harness(case):
    values, confidence = np.array(case["values"]), case["confidence"]
    of = spread_of_rounds(values[None], confidence)
    for name in ("low", "high", "coverage"):
        assert getattr(of, name)[0] == pytest.approx(case[name], rel=1e-9), name
    ratio = ratio_of_rounds(values, np.ones(len(values)), confidence)
    assert ratio.ratio == pytest.approx(case["ratio"], rel=1e-9)
    assert (ratio.low, ratio.high) == pytest.approx((case["low"], case["high"]), rel=1e-9)
    assert ratio.resolved == case["resolved"]


def test_several_series_are_judged_as_each_alone():
    rng = np.random.default_rng(8)
    series = np.exp(np.round(0.01 * rng.standard_normal((50, 31)).cumsum(axis=1), 2))
    together = spread_of_rounds(series, 0.99)
    for i, values in enumerate(series):
        alone = spread_of_rounds(values[None], 0.99)
        assert [column[i] for column in together] == pytest.approx([c[0] for c in alone])


def test_an_interval_of_logs_may_have_no_bounds():
    assert ends_of_logs(0.0, np.log(2)) == pytest.approx((1, 2))
    assert ends_of_logs(-1e4, 1e4) == (0, np.inf)  # two sessions of few samples, asked for 99.99 %
