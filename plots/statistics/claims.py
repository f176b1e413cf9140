"""What may be said of a comparison. Of one run harness/conclusions/comparison.cpp says it."""

from typing import Any

NOT_RESOLVED = "not resolved"
WITHIN_NOISE = "within A/A noise"
INVALID = "measurement invalid"  # of every comparison of a group that is not valid
# Resolved in its run, but the next run may well say the opposite (plots/data/sessions.py).
NOT_BETWEEN_RUNS = "not resolved between runs"
# Neither faster nor slower may be said.
UNDECIDED = (NOT_RESOLVED, WITHIN_NOISE, NOT_BETWEEN_RUNS, INVALID)


def invalidity_in(microbenchmark: Any) -> str:
    """Why what was measured is not valid, and what to do about it; "" when it is."""
    return "; ".join(f"{why.kind}: {why.reason}; {why.remedy}" for why in microbenchmark.invalid)


def has_too_few_rounds(comparison: Any) -> bool:
    """Whether a ratio is not resolved although its interval does not hold 1: that of few rounds is
    all that they are, and promises less than the confidence that was asked for."""
    apart = comparison.speedup.low > 1 or comparison.speedup.high < 1
    return comparison.verdict == NOT_RESOLVED and apart


_MOST_OF_A_TIE = 0.02  # most_of_a_tie of harness/conclusions/comparison.hpp


def most_difference(low: float, high: float) -> float | None:
    """Of an interval that holds 1 closely, the share by which the two differ at most: a tie; None
    of a wider one."""
    most = max(high, 1 / low) - 1 if low > 0 else _MOST_OF_A_TIE + 1
    return most if most <= _MOST_OF_A_TIE else None


def claim_between_runs(claim: str, low: float, high: float) -> str:
    """What may be said of a comparison of which a new session falls between ``low`` and ``high``;
    ``claim`` is what its own run lets one say."""
    return NOT_BETWEEN_RUNS if claim not in UNDECIDED and low <= 1 <= high else claim
