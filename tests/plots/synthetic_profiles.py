"""Synthetic profiles of synthetic results: valid by the schema, with whatever was to be counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plots.data import schema

# A row that takes 900 cycles, waits half of them for memory and issues in a quarter; the profiler
# adds a tenth. Its clock has 1000 cycles in a microsecond.
TYPICAL = {
    "time_ms": 1e-3,
    "cycles": 1000.0,
    "sm_busy": 0.9,
    "busiest_cycles": 900.0,
    "issue_slots": 0.25,
    "instructions": 100_000.0,
    "occupancy": 0.5,
    "dram_read_bytes": 4e6,
    "dram_write_bytes": 1e6,
    "dram_use": 0.4,
    "l2_use": 0.3,
    "shared_passes": 20_000.0,
    "shared_conflicts": 0.0,
}
STALLS = {
    "selected": 0.1, "not_selected": 0.1, "long_scoreboard": 0.5, "barrier": 0.2, "wait": 0.1,
}  # fmt: skip


def counters(stalls: Mapping[str, float] | None = None, **changes: float | None) -> dict[str, Any]:
    """Counters like TYPICAL but for ``changes``; None is what was not counted."""
    values: dict[str, Any] = {name: None for name in schema.scalars("counters")}
    values |= TYPICAL
    values |= changes
    return {**values, "stalls": dict(STALLS if stalls is None else stalls)}


Counted = Callable[[dict[str, Any]], dict[str, Any] | None]


def document(results: dict[str, Any], counted: Counted) -> dict[str, Any]:
    """The profile of the rows of a result document: of each what ``counted`` says of it."""
    groups = [
        {
            "key": group["key"],
            "preset": group["preset"],
            "seed": group["seed"],
            "rows": [
                {
                    "variant": row["variant"],
                    "role": row["role"],
                    "config": row["config"],
                    "schedule": row.get("schedule") or "",
                    "status": row["status"],
                    "reason": row.get("reason") or "",
                    "source_digest": row.get("source_digest") or "",
                    "counters": counted(row) if row["status"] == "ok" else None,
                }
                for row in group["rows"]
                if not row.get("repeat")
            ],
            "warnings": [],
        }
        for group in results["groups"]
    ]
    return {
        "schema": "amasia-profile",
        "version": 2,
        "provenance": {**results["provenance"], "argv": ["amasia", "profile"]},
        "profiler": "Nsight Compute 2025.3.1.0",
        "groups": groups,
    }
