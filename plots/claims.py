"""What may be said of a comparison. The harness says it (harness/results/claim.cpp).

The rule stands here once more for files of version 1 only, which do not have the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NOT_RESOLVED = "not resolved"
WITHIN_NOISE = "within A/A noise"
UNDECIDED = (NOT_RESOLVED, WITHIN_NOISE)  # neither faster nor slower may be said


def claim_of(comparisons: Sequence[dict[str, Any]], comparison: dict[str, Any]) -> str:
    """The verdict after the A/A control among the comparisons of the same group."""
    verdict = comparison["verdict"]
    if verdict == NOT_RESOLVED or comparison["control"]:
        return verdict
    # A comparator is held against the baseline at its best.
    role = "best" if comparison["role"] == "comparator" else comparison["role"]
    ratio = comparison["speedup"]["ratio"]
    inside = any(
        c["control"] and c["role"] == role and c["speedup"]["low"] <= ratio <= c["speedup"]["high"]
        for c in comparisons
    )
    return WITHIN_NOISE if inside else verdict
