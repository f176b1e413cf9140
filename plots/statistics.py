"""Exact, distribution-free intervals, as in harness/statistics/statistics.hpp.

Comparisons with the baseline were made by the harness. What it does not compare is compared here:
times from different groups (two files, or stream against graph), and two strategies of a table of
`amasia cross` with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr


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
    ks = np.arange(1, n // 2 + 1)
    coverages = 1 - 2 * bdtr(ks - 1, n, 0.5)
    enough = ks[coverages >= confidence]
    k = int(enough[-1]) if len(enough) else 1
    coverage = max(0.0, float(1 - 2 * bdtr(k - 1, n, 0.5)))
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


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; the mean of speed-ups that does not depend on which one is the reference."""
    values = np.asarray(ratios, dtype=float)
    if len(values) == 0:
        raise ValueError("mean of no ratios")
    return float(np.exp(np.mean(np.log(values))))
