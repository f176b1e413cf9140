"""Exact, distribution-free intervals, as in harness/statistics/statistics.hpp.

Comparisons with the baseline were made by the harness. What it does not compare is compared here:
times from different groups (two files, or stream against graph), and two strategies of a table of
`amasia cross` with each other.
"""

from __future__ import annotations

import math
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


def _coverage(n: int, k: int) -> float:
    """1 - 2 P(Binomial(n, 1/2) < k); 0 from the middle on."""
    if 2 * k > n:
        return 0.0
    tail = sum(math.comb(n, i) for i in range(k))
    return (2**n - 2 * tail) / 2**n


def _stretched_rank(n: int, confidence: float, inflation: float) -> tuple[int, float]:
    """The rank for values that depend on each other, and what it covers."""
    k, coverage = _rank(n, confidence)
    if inflation == 1:
        return k, coverage
    stretch, middle = math.sqrt(inflation), 0.5 * (n + 1)
    stretched = math.floor(middle - (middle - k) * stretch)
    if stretched >= 1:
        return stretched, coverage
    return 1, _coverage(n, math.ceil(middle - (middle - 1) / stretch))


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 0; equal ones have the mean of theirs."""
    order = np.argsort(values)
    in_order = values[order]
    begins = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    ends = np.append(begins[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((begins + ends - 1) / 2, ends - begins)
    return ranks


def serial_correlation(values: Sequence[float] | np.ndarray) -> float:
    """Correlation of the ranks of the values with those of the values before them; 0 for fewer than
    three, or for equal ones."""
    n = len(values)
    if n < 3:
        return 0.0
    ranks = _mean_ranks(np.asarray(values)) - (n - 1) / 2
    squares = float(ranks @ ranks)
    return float(ranks[1:] @ ranks[:-1]) / squares if squares > 0 else 0.0


def variance_inflation(values: Sequence[float] | np.ndarray) -> float:
    """How many times as large the variance of a median is because each value depends on the one
    before (harness/statistics/serial_correlation.hpp)."""
    n = len(values)
    if n < 8:
        return 1.0
    r = serial_correlation(values)
    if (r + 1 / n) * math.sqrt(n) <= 1.645:  # by chance in one of 20
        return 1.0
    unbiased = min((n * r + 1) / (n - 4), 0.98)
    return (1 + unbiased) / (1 - unbiased)


def _median_of_ordered(values: np.ndarray) -> float:
    middle = len(values) // 2
    if len(values) % 2:
        return float(values[middle])
    return float(values[middle - 1] + values[middle]) / 2


def median_interval(
    sample: Sequence[float] | np.ndarray, confidence: float, inflation: float = 1
) -> Interval:
    """Median with the sign-test interval x(k), x(n+1-k).

    k is the largest with coverage 1 - 2 P(Binomial(n, 1/2) < k) of at least ``confidence``; when
    even the extremes cover less, they are returned and ``coverage`` says so. ``inflation``: how
    many times as large the variance is, because values depend on each other; k moves away from the
    middle by its square root, and where it would leave the sample, too little is covered.
    Raises ValueError for an empty sample or a confidence outside (0, 1).
    """
    values = np.sort(np.asarray(sample, dtype=float))
    n = len(values)
    if n == 0:
        raise ValueError("median of an empty sample")
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    k, coverage = _stretched_rank(n, confidence, inflation)
    low, high = float(values[k - 1]), float(values[n - k])
    return Interval(_median_of_ordered(values), low, high, coverage, n)


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
    reference: Sequence[float],
    candidate: Sequence[float],
    confidence: float,
    inflation: float = 1,
) -> Ratio:
    """The median of reference / candidate over rounds that both took part in. ``inflation``: as in
    :func:`median_interval`.

    Raises ValueError when the two have different lengths or none.
    """
    logs = np.log(np.asarray(reference, dtype=float)) - np.log(np.asarray(candidate, dtype=float))
    m = median_interval(logs, confidence, inflation)
    ratio, low, high = (float(np.exp(x)) for x in (m.median, m.low, m.high))
    return Ratio(ratio, low, high, m.coverage >= confidence)


def corrected_confidence(confidence: float, comparisons: int) -> float:
    """The confidence of each of several intervals that are to hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(1, comparisons)


def independent_p_value(reference: Sequence[float], candidate: Sequence[float]) -> float:
    """One less the largest confidence at which independent_ratio() tells the two apart; 1 where
    none does."""
    nothing, surely = 0.0, 1.0  # of the confidence: resolved at the first, not at the second
    if not independent_ratio(reference, candidate, 1e-9).resolved:
        return 1.0
    for _ in range(60):
        middle = (nothing + surely) / 2
        # Each side's median has the confidence (1 + middle) / 2, which must be a number below 1.
        if middle in (nothing, surely) or (1 + middle) / 2 >= 1:
            break
        if independent_ratio(reference, candidate, middle).resolved:
            nothing = middle
        else:
            surely = middle
    return 1 - nothing


def least_p_value(n: int) -> float:
    """What independent_p_value() gives for two samples of which the smaller has ``n`` values and
    nothing in common with the other."""
    return min(1.0, 2.0 ** (2 - n))


@dataclass(frozen=True)
class Discoveries:
    """Which of several hypotheses are refused, and the level that each had to reach."""

    found: tuple[bool, ...]
    level: float


def benjamini_hochberg(p_values: Sequence[float], rate: float) -> Discoveries:
    """The procedure of Benjamini and Hochberg (1995): of those that are refused, a share of
    ``rate`` at most is so wrongly, on average. Where many differ, each needs less than if it stood
    alone. With none refused, the level is what the first one would have needed.

    An interval at the confidence 1 - level is the one of Benjamini and Yekutieli (2005) that goes
    with it. Raises ValueError for a rate outside (0, 1).
    """
    if not 0 < rate < 1:
        raise ValueError("a rate must lie between 0 and 1")
    count = len(p_values)
    if count == 0:
        return Discoveries((), rate)
    refused = 0
    for rank, p in enumerate(sorted(p_values), 1):
        if p <= rate * rank / count:
            refused = rank
    level = rate * max(refused, 1) / count
    return Discoveries(tuple(refused > 0 and p <= level for p in p_values), level)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; the mean of speed-ups that does not depend on which one is the reference."""
    values = np.asarray(ratios, dtype=float)
    if len(values) == 0:
        raise ValueError("mean of no ratios")
    return float(np.exp(np.mean(np.log(values))))


def ends_of_logs(low: float, high: float) -> tuple[float, float]:
    """An interval of logarithms as one of values; one without bounds where few values make it so
    wide that it is no number any more."""
    with np.errstate(over="ignore"):
        return float(np.exp(low)), float(np.exp(high))
