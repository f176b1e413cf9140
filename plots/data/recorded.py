"""What of a result file may stand beside a published value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True)
class Recorded:
    """One result file as plain JSON, abridged, and its path to link to."""

    path: str
    document: dict[str, Any]

    @property
    def device(self) -> dict[str, Any]:
        return self.document["provenance"]["device"]


_OF_A_SPREAD = ("baseline", "iso")  # the rows of which plots/papers/derived.py takes the samples


_OF_A_COMPARISON = ("variant", "role", "schedule", "control", "claim", "verdict")


def _abridged_comparison(comparison: Any) -> dict[str, Any]:
    speedup = {name: getattr(comparison.speedup, name) for name in ("ratio", "low", "high")}
    kept = {name: getattr(comparison, name) for name in _OF_A_COMPARISON}
    return {**kept, "speedup": speedup}


def _abridged_row(row: Any) -> dict[str, Any]:
    kept = {name: getattr(row, name) for name in ("variant", "role", "schedule", "status")}
    if (row.variant.rpartition("/")[2], row.role) == _OF_A_SPREAD:
        kept["samples"] = {"time_ms": row.samples.time_ms.tolist()}
    return kept


def _abridged_point(row: Any) -> dict[str, Any]:
    absent = {"reason": "", "value": None, "clock_mhz": None}
    plain = msgspec.to_builtins(row)
    return {**absent, **{n: of for n, of in plain.items() if n not in ("samples", "evidence")}}


def abridged(file: Any) -> dict[str, Any]:
    """What of a result file, as read_document() gives it, may stand beside a published value."""
    groups = [
        {
            "key": msgspec.to_builtins(group.key),
            "invalid": msgspec.to_builtins(group.invalid),
            "rows": [_abridged_row(row) for row in group.rows],
            "comparisons": [_abridged_comparison(c) for c in group.comparisons],
        }
        for group in file.groups
    ]
    microbenchmarks = [
        {
            "name": m.name,
            "findings": msgspec.to_builtins(m.findings),
            "rows": [_abridged_point(row) for row in m.rows],
        }
        for m in file.microbenchmarks
    ]
    ceilings = [
        {name: getattr(c, name) for name in ("name", "value", "unit")} for c in file.ceilings
    ]
    return {
        "provenance": msgspec.to_builtins(file.provenance),
        "ceilings": ceilings,
        "groups": groups,
        "microbenchmarks": microbenchmarks,
    }
