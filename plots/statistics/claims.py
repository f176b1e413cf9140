"""What may be said of a comparison. The harness says it (harness/results/claim.cpp).

The rule stands here once more for files of version 1, which do not have the word, and to check the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

NOT_RESOLVED = "not resolved"
WITHIN_NOISE = "within A/A noise"
INVALID = "measurement invalid"  # of every comparison of a group that is not valid
# Resolved in its run, but the next run may well say the opposite (plots/data/sessions.py).
NOT_BETWEEN_RUNS = "not resolved between runs"
# Neither faster nor slower may be said.
UNDECIDED = (NOT_RESOLVED, WITHIN_NOISE, NOT_BETWEEN_RUNS, INVALID)


_NOT_VALID = "not valid: "  # begins the warning of a microbenchmark that was disturbed


def invalidity_in(microbenchmark: Mapping[str, Any]) -> str:
    """Why what was measured is not valid, and what to do about it; "" when it is."""
    for warning in microbenchmark["warnings"]:
        if warning.startswith(_NOT_VALID):
            return str(warning.removeprefix(_NOT_VALID))
    return ""


def controls_of(
    comparisons: Sequence[dict[str, Any]], comparison: dict[str, Any]
) -> list[dict[str, Any]]:
    """The A/A controls, among the comparisons of the same group, that a comparison is held
    against: iso, and each schedule of a cross table, have their own; all else has that of the
    baseline at its best."""
    role = comparison["role"]
    role = role if role in ("iso", "cross") else "best"
    schedule = comparison.get("schedule")
    return [
        c
        for c in comparisons
        if c["control"] and c["role"] == role and (role != "cross" or c.get("schedule") == schedule)
    ]


def has_too_few_rounds(comparison: dict[str, Any]) -> bool:
    """Whether a ratio is not resolved although its interval does not hold 1: that of few rounds is
    all that they are, and promises less than the confidence that was asked for."""
    speedup = comparison["speedup"]
    apart = speedup["low"] > 1 or speedup["high"] < 1
    return comparison["verdict"] == NOT_RESOLVED and apart


_MOST_OF_A_TIE = 0.02  # most_of_a_tie of harness/results/claim.hpp


def most_difference(low: float, high: float) -> float | None:
    """Of an interval that holds 1 closely, the share by which the two differ at most: a tie; None
    of a wider one."""
    most = max(high, 1 / low) - 1 if low > 0 else _MOST_OF_A_TIE + 1
    return most if most <= _MOST_OF_A_TIE else None


def claim_between_runs(claim: str, low: float, high: float) -> str:
    """What may be said of a comparison of which a new session falls between ``low`` and ``high``;
    ``claim`` is what its own run lets one say."""
    return NOT_BETWEEN_RUNS if claim not in UNDECIDED and low <= 1 <= high else claim


def no_farther(ratio: float, itself: Mapping[str, Any]) -> bool:
    """Whether a ratio is no farther from 1 than the farther end of a row's difference from itself,
    in either direction: which of the two ran first is no property of theirs."""
    most = max(itself["high"], 1 / itself["low"])
    return bool(1 / most <= ratio <= most)


def _contains(interval: Mapping[str, Any], ratio: float) -> bool:
    return bool(interval["low"] <= ratio <= interval["high"])


def within_noise_of(control: Mapping[str, Any], ratio: float) -> bool:
    """The same of a control; one that is not told from itself has its interval."""
    return no_farther(ratio, control) if control["resolved"] else _contains(control, ratio)


def within_own_noise(comparison: dict[str, Any]) -> bool:
    """Whether a ratio is no farther from 1 than the row is from itself, where the rounds in which
    it ran twice tell the two apart."""
    itself = comparison.get("itself")
    if not itself or not itself["resolved"]:
        return False
    return no_farther(comparison["speedup"]["ratio"], itself)


def _claim_by(
    within: Callable[[Mapping[str, Any], float], bool],
    comparisons: Sequence[dict[str, Any]],
    comparison: dict[str, Any],
) -> str:
    verdict = comparison["verdict"]
    if verdict == NOT_RESOLVED or comparison["control"]:
        return str(verdict)
    ratio = comparison["speedup"]["ratio"]
    noise = [c["speedup"] for c in controls_of(comparisons, comparison)]
    inside = any(within(n, ratio) for n in noise) or within_own_noise(comparison)
    return WITHIN_NOISE if inside else str(verdict)


def claim_of(comparisons: Sequence[dict[str, Any]], comparison: dict[str, Any]) -> str:
    """The verdict after the A/A control among the comparisons of the same group, and the row's
    own."""
    return _claim_by(within_noise_of, comparisons, comparison)


def earlier_claim_of(comparisons: Sequence[dict[str, Any]], comparison: dict[str, Any]) -> str:
    """What earlier programs said, and their files have: only a ratio inside of the control's
    interval was within its noise, also where that told the baseline from itself."""
    return _claim_by(_contains, comparisons, comparison)


def set_claims(group: dict[str, Any]) -> None:
    """Those of the comparisons of a valid group, in place."""
    for comparison in group["comparisons"] if not group.get("invalid") else ():
        comparison["claim"] = claim_of(group["comparisons"], comparison)
