"""What follows from the samples of a group, for files that tests make: the harness computes it of
those that it writes (harness/conclusions/recomputed.cpp, claim.cpp)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from plots.data import sessions
from plots.statistics.claims import NOT_RESOLVED, WITHIN_NOISE
from plots.statistics.intervals import corrected_confidence, median_interval

Record = dict[str, Any]
_BOUNDS = ("bytes", "operations", "dependency")


def median_record(values: Sequence[float] | np.ndarray, confidence: float) -> Record:
    values = np.asarray(values, dtype=float)
    of = median_interval(values, confidence)
    return {
        "median": of.median,
        "low": of.low,
        "high": of.high,
        "coverage": of.coverage,
        "n": len(values),
        "minimum": float(values.min()),
        "maximum": float(values.max()),
    }


def usable(row: Record) -> tuple[np.ndarray, np.ndarray]:
    """Rounds and times (ms) of the samples that count: throttled ones only where there are no
    others."""
    samples = row["samples"]
    rounds, times = np.asarray(samples["round"]), np.asarray(samples["time_ms"], dtype=float)
    throttled = np.asarray(samples["throttled"], dtype=bool)
    good = np.ones(len(times), bool) if throttled.all() else ~throttled
    return rounds[good], times[good]


def row_summaries(group: Record, confidence: float) -> Iterator[Record]:
    work, floor = group["work"], group.get("floor")
    for row in group["rows"]:
        times = usable(row)[1]
        if row["status"] != "ok" or not len(times):
            yield dict.fromkeys(("time_ms", "floor_fraction", "gflops", "gbytes_per_s"))
            continue
        record = median_record(times, confidence)
        moved = work["bytes_read"] + work["bytes_written"]
        yield {
            "time_ms": record,
            "floor_fraction": floor["floor_ms"] / record["median"] if floor else None,
            "gflops": 1e-6 * work["operations"] / record["median"],
            "gbytes_per_s": 1e-6 * moved / record["median"],
        }


def floor_of(work: Record, ceilings: Mapping[str, float]) -> Record | None:
    """The floor (ms) by these ceilings; None when one that it needs is not there."""

    def time_for(amount: float, name: str) -> float:
        return amount / ceilings[name] if amount > 0 else 0.0

    total = work["bytes_read"] + work["bytes_written"]
    written = work["bytes_written"] / total if total else 0.0
    copied = 2 * min(written, 1 - written)
    rest = "read_bandwidth" if written <= 0.5 else "write_bandwidth"
    try:
        times = {
            "bytes": time_for(total * copied, "copy_bandwidth")
            + time_for(total * (1 - copied), rest),
            "operations": time_for(work["operations"], f"{work['kind']}_rate"),
            "dependency": work["dependent_operations"] * ceilings.get("dependent_op_ns", math.nan)
            if work["dependent_operations"]
            else 0.0,
        }
    except KeyError:
        return None
    floor: Record = {f"{bound}_ms": 1e-6 * times[bound] for bound in _BOUNDS}
    floor["floor_ms"] = max(floor.values())
    floor["bound_by"] = max(_BOUNDS, key=lambda bound: floor[f"{bound}_ms"])
    return floor


def _viewed(row: Record) -> SimpleNamespace:
    return SimpleNamespace(**{"schedule": "", "spells": "", "config": "", **row}, record=row)


def pairs_of(rows: Sequence[Record]) -> list[tuple[Record, Record, str]]:
    """What is compared: a row, its reference, and the role of the comparison."""
    pairs = sessions.pairs_of([_viewed(row) for row in rows])
    return [(row.record, reference.record, role) for row, reference, role in pairs]


def _ratio_record(over: Any, under: Any, confidence: float) -> Record | None:
    """Of the quotients in the rounds that both have; None without any."""
    _, above, below = np.intersect1d(over[0], under[0], assume_unique=True, return_indices=True)
    if not len(above):
        return None
    of = median_interval(over[1][above] / under[1][below], confidence)
    return {
        "ratio": of.median,
        "low": of.low,
        "high": of.high,
        "coverage": of.coverage,
        "n": of.n,
        "resolved": of.coverage >= confidence and (of.low > 1 or of.high < 1),
    }


def comparisons_of(rows: Sequence[Record], joint_confidence: float) -> list[Record]:
    """The comparisons of a group as the file has them, in its order."""
    pairs = pairs_of(rows)
    confidence = corrected_confidence(joint_confidence, len(pairs))
    comparisons: list[Record] = []
    for row, reference, role in pairs:
        speedup = _ratio_record(usable(reference), usable(row), confidence)
        if speedup is None:
            continue
        named = (("schedule", row), ("against_schedule", reference))
        comparisons.append(
            {
                "variant": row["variant"],
                "role": role,
                "against": reference["variant"],
                **{name: of["schedule"] for name, of in named if of.get("schedule")},
                "control": row["repeat"] > 0,
                "speedup": speedup,
                "verdict": ("faster" if speedup["ratio"] > 1 else "slower")
                if speedup["resolved"]
                else NOT_RESOLVED,
            }
        )
    for comparison in comparisons:
        comparison["claim"] = claim_of(comparisons, comparison)
    return comparisons


# --- Claims ---------------------------------------------------------------------------------------


def within_noise_of(control: Mapping[str, Any], ratio: float) -> bool:
    """Whether a ratio is no farther from 1 than the farther end of a control that is told from
    itself, or inside of one that is not."""
    if control["resolved"]:
        most = max(control["high"], 1 / control["low"])
        return bool(1 / most <= ratio <= most)
    return bool(control["low"] <= ratio <= control["high"])


def claim_of(comparisons: Sequence[Record], comparison: Record) -> str:
    """The verdict after the A/A control of the group."""
    verdict = str(comparison["verdict"])
    if verdict == NOT_RESOLVED or comparison["control"]:
        return verdict

    def place(of: Record) -> tuple[str, Any]:
        role = of["role"] if of["role"] in ("iso", "cross") else "best"
        return role, of.get("schedule") if role == "cross" else None

    inside = any(
        within_noise_of(c["speedup"], comparison["speedup"]["ratio"])
        for c in comparisons
        if c["control"] and place(c) == place(comparison)
    )
    return WITHIN_NOISE if inside else verdict
