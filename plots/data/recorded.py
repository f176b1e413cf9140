"""What of a result file may stand beside a published value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Recorded:
    """One result file, as parsed JSON, and its path to link to."""

    path: str
    document: dict[str, Any]

    @property
    def device(self) -> dict[str, Any]:
        return self.document["provenance"]["device"]


_OF_A_SPREAD = ("baseline", "iso")  # the rows of which plots/papers/derived.py takes the samples


_OF_A_COMPARISON = ("variant", "role", "schedule", "control", "claim", "verdict")


def _abridged_comparison(comparison: dict[str, Any]) -> dict[str, Any]:
    speedup = {name: comparison["speedup"][name] for name in ("ratio", "low", "high")}
    kept = {name: comparison[name] for name in _OF_A_COMPARISON if name in comparison}
    return {**kept, "speedup": speedup}


def _abridged_row(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in ("variant", "role", "schedule", "status") if name in row}
    if (row["variant"].rpartition("/")[2], row["role"]) == _OF_A_SPREAD:
        kept["samples"] = {"time_ms": np.asarray(row["samples"]["time_ms"]).tolist()}
    return kept


def abridged(document: dict[str, Any]) -> dict[str, Any]:
    """What of a result file may stand beside a published value: a tenth of it, so that it can be
    kept where the file was read and nobody has to read the file again."""
    groups = [
        {
            **{name: group[name] for name in ("key", "invalid") if name in group},
            "rows": [_abridged_row(row) for row in group["rows"]],
            "comparisons": [_abridged_comparison(c) for c in group["comparisons"]],
        }
        for group in document["groups"]
    ]
    microbenchmarks = [
        {
            "name": m["name"],
            "findings": m["findings"],
            "rows": [
                {name: of for name, of in row.items() if name not in ("samples", "evidence")}
                for row in m["rows"]
            ],
        }
        for m in document.get("microbenchmarks") or []
    ]
    ceilings = [{name: c[name] for name in ("name", "value", "unit")} for c in document["ceilings"]]
    return {
        "provenance": document["provenance"],
        "ceilings": ceilings,
        "groups": groups,
        "microbenchmarks": microbenchmarks,
    }
