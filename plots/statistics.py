"""Exact, distribution-free intervals, as in harness/statistics/statistics.hpp.

Comparisons with the baseline were made by the harness. What it does not compare is compared here:
times from different groups (two files, or stream against graph), and two strategies of a table of
`amasia cross` with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True)
class Interval:
    """A median with order statistics around it; ``coverage`` is what they really cover."""

    median: float
    low: float
    high: float
    coverage: float
    n: int


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval; ``covered``: the samples were enough for the confidence asked."""

    ratio: float
    low: float
    high: float
    covered: bool

    @property
    def resolved(self) -> bool:
        """The interval excludes 1. One that covers too little resolves nothing."""
        return self.covered and (self.low > 1 or self.high < 1)


@cache
def _rank(n: int, confidence: float) -> tuple[int, float]:
    """The largest k whose interval x(k), x(n+1-k) covers at least ``confidence``, and what it
    covers; k = 1 when none does. In whole numbers: a coverage may equal the confidence exactly."""
    total = 2**n
    binomial = tail = 1  # C(n, k - 1), and the sum of those up to it
    best = 1, (total - 2 * tail) / total
    for k in range(2, (n + 1) // 2 + 1):
        binomial = binomial * (n - k + 2) // (k - 1)
        tail += binomial
        coverage = (total - 2 * tail) / total
        if coverage < confidence:
            break
        best = k, coverage
    return best


def median_interval(sample: Sequence[float], confidence: float) -> Interval:
    """Median with the sign-test interval x(k), x(n+1-k).

    k is the largest with coverage 1 - 2 P(Binomial(n, 1/2) < k) of at least ``confidence``; when
    even the extremes cover less, they are returned and ``coverage`` says so.
    Raises ValueError for an empty sample or a confidence outside (0, 1).
    """
    values = np.sort(np.asarray(sample, dtype=float))
    n = len(values)
    if n == 0:
        raise ValueError("median of an empty sample")
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    k, coverage = _rank(n, confidence)
    low, high = float(values[k - 1]), float(values[n - k])
    return Interval(float(np.median(values)), low, high, coverage, n)


def independent_ratio(
    reference: Sequence[float], candidate: Sequence[float], confidence: float
) -> Ratio:
    """median(reference) / median(candidate) of two independent samples.

    Each median gets an interval at (1 + confidence) / 2 (Bonferroni), so the quotient of their ends
    covers at least ``confidence``.
    """
    each = (1 + confidence) / 2
    top = median_interval(reference, each)
    bottom = median_interval(candidate, each)
    return Ratio(
        top.median / bottom.median,
        top.low / bottom.high,
        top.high / bottom.low,
        min(top.coverage, bottom.coverage) >= each,
    )


def paired_ratio(
    reference: Sequence[float], candidate: Sequence[float], confidence: float
) -> Ratio:
    """The median of reference / candidate over rounds that both took part in.

    Raises ValueError when the two have different lengths or none.
    """
    logs = np.log(np.asarray(reference, dtype=float)) - np.log(np.asarray(candidate, dtype=float))
    m = median_interval(logs, confidence)
    ratio, low, high = (float(np.exp(x)) for x in (m.median, m.low, m.high))
    return Ratio(ratio, low, high, m.coverage >= confidence)


def corrected_confidence(confidence: float, comparisons: int) -> float:
    """The confidence of each of several intervals that are to hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(1, comparisons)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; the mean of speed-ups that does not depend on which one is the reference."""
    values = np.asarray(ratios, dtype=float)
    if len(values) == 0:
        raise ValueError("mean of no ratios")
    return float(np.exp(np.mean(np.log(values))))
