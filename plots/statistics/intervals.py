"""Exact, distribution-free intervals, as in harness/statistics/statistics.hpp.

Comparisons with the baseline were made by the harness. What it does not compare is compared here:
times from different groups (two files, or stream against graph), and two strategies of one table
of schedules (`amasia run --roles cross`).
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # its special functions are imported when one is first used


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


_LEAST_DEPENDENT = 8  # values: of fewer a correlation says next to nothing
_LEAST_EFFECTIVE = 3.0  # independent values that as many dependent ones are worth at least


def _serial_correlations(series: np.ndarray) -> np.ndarray:
    """Of each row of at least two values, the correlation of their ranks with those of the values
    before them; 0 for equal ones."""
    ranks = pd.DataFrame(series).rank(axis=1).to_numpy() - (series.shape[1] + 1) / 2
    squares = (ranks * ranks).sum(axis=1)
    with_next = (ranks[:, 1:] * ranks[:, :-1]).sum(axis=1)
    return np.where(squares > 0, with_next / np.maximum(squares, 0.5), 0.0)


def _inflation(r: float | np.ndarray, n: int) -> np.ndarray:
    """(1 + r) / (1 - r), of an r without its bias."""
    unbiased = np.clip((n * r + 1) / (n - 4), 0.0, 0.98)
    return (1 + unbiased) / (1 - unbiased)


def _is_chance(r: float | np.ndarray, n: int) -> np.ndarray:
    """Whether independent values have such an r in 19 of 20 series."""
    return (r + 1 / n) * math.sqrt(n) <= 1.645


def median_interval(sample: Sequence[float] | np.ndarray, confidence: float) -> Interval:
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


def _student_ends(
    series: np.ndarray, confidence: float, inflation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval that Student's t gives, and at least the extremes."""
    n = series.shape[1]
    logs = np.log(series)
    effective = np.maximum(n / inflation, _LEAST_EFFECTIVE)
    quantile = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2))
    mean, half = logs.mean(axis=1), quantile * logs.std(axis=1, ddof=1) / np.sqrt(effective)
    low, high = (np.exp(np.clip(mean + sign * half, -700, 700)) for sign in (-1, 1))
    return np.minimum(low, series.min(axis=1)), np.maximum(high, series.max(axis=1))


class Spread(NamedTuple):
    """Of each of several samples: the two values in the middle (one twice, of an odd number), ends
    and coverage of the interval of the median."""

    lower: np.ndarray
    upper: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coverage: np.ndarray


def spread_of_rounds(series: np.ndarray, confidence: float) -> Spread:
    """Of positive values in the order of the rounds, a series in each row, by the rule
    ``effective`` (harness/statistics/statistics.hpp): ranks, moved apart where rounds resemble
    the ones before; Student's t with the effective number of rounds where no ranks are left."""
    count, n = series.shape
    k, covered = _rank(n, confidence)
    k_moved, without = np.full(count, k), np.zeros(count, dtype=bool)
    if n >= _LEAST_DEPENDENT:
        r = _serial_correlations(series)
        estimated, middle = _inflation(r, n), 0.5 * (n + 1)

        def ranks(inflation: np.ndarray) -> np.ndarray:
            return np.floor(middle - (middle - k) * np.sqrt(inflation)).astype(int)

        without = (ranks(estimated) < 1) | (covered < confidence)
        k_moved = np.maximum(ranks(np.where(_is_chance(r, n), 1.0, estimated)), 1)
    ordered, rows = np.sort(series, axis=1), np.arange(count)
    low, high = ordered[rows, k_moved - 1], ordered[rows, n - k_moved]
    coverage = np.where(without, confidence, covered)
    if without.any():
        ends = _student_ends(series[without], confidence, estimated[without])
        low[without], high[without] = ends
    middles = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    return Spread(*middles, low, high, coverage)


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


def ratio_of_rounds(
    reference: Sequence[float] | np.ndarray,
    candidate: Sequence[float] | np.ndarray,
    confidence: float,
) -> Ratio:
    """The median of reference / candidate over rounds that both took part in, in their order.

    Raises ValueError when the two have different lengths or none.
    """
    ratios = np.asarray(reference, dtype=float) / np.asarray(candidate, dtype=float)
    if len(ratios) == 0:
        raise ValueError("a ratio of no rounds")
    spread = Spread(*(float(of[0]) for of in spread_of_rounds(ratios[None], confidence)))
    ratio = math.sqrt(spread.lower) * math.sqrt(spread.upper)
    return Ratio(ratio, spread.low, spread.high, spread.coverage >= confidence)


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
    count = max(1, len(p_values))
    ranked = enumerate(sorted(p_values), 1)
    refused = max((rank for rank, p in ranked if p <= rate * rank / count), default=0)
    level = rate * max(refused, 1) / count
    return Discoveries(tuple(refused > 0 and p <= level for p in p_values), level)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; the mean of speed-ups that does not depend on which one is the reference."""
    values = np.asarray(ratios, dtype=float)
    if len(values) == 0:
        raise ValueError("mean of no ratios")
    return float(np.exp(np.mean(np.log(values))))


_MOST_LOG = math.log(sys.float_info.max)


def ends_of_logs(low: float, high: float) -> tuple[float, float]:
    """An interval of logarithms as one of values; one without bounds where few values make it so
    wide that it is no number any more."""
    return math.exp(low), math.exp(high) if high < _MOST_LOG else math.inf
