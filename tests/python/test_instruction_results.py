"""Recorded results of microbench/instruction are plausible: an instruction that folded away, or one
clock read too early, would be outside what the hardware can do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plots.data.documents import text_of
from plots.tree import ROOT

# (instruction, sequence) -> cycles of one warp between which any GPU from Volta on must lie. A
# scheduler starts one instruction per cycle and has 16 or 32 lanes for these, 4 or fewer for MUFU.
BOUNDS = {
    ("fma.rn.f32", "dependent"): (3.5, 6.5),
    ("fma.rn.f32", "independent"): (0.95, 2.6),
    ("add.u32", "dependent"): (3.5, 6.5),  # IADD3 or IMAD.IADD
    ("add.u32", "independent"): (0.95, 2.6),
    ("tanh.approx.f32", "dependent"): (10, 60),  # one MUFU
    ("tanh.approx.f32", "independent"): (3.8, 20),
    ("popc.b32", "dependent"): (6, 40),
    ("add.f64", "dependent"): (6, 80),
}


def implausible(rows: list[dict[str, Any]]) -> list[str]:
    """What is wrong with measured rows of instruction/*, a sentence each."""
    wrong = []
    latency: dict[str, float] = {}
    interval: dict[str, float] = {}
    branches: set[str] = set()
    for row in rows:
        if row["value"] is None:
            continue
        at, median = row["at"], row["value"]["median"]
        name = ", ".join(f"{k}={v}" for k, v in at.items())
        if not median > 0:
            wrong.append(f"{name}: {median}")
        low, high = BOUNDS.get((at.get("ptx"), at.get("sequence")), (0, float("inf")))
        if not low <= median <= high:
            wrong.append(f"{name}: {median} is not between {low} and {high}")
        if "sequence" in at:
            (latency if at["sequence"] == "dependent" else interval)[at["ptx"]] = median
            if " BRA" in (row.get("remark") or ""):
                branches.add(at["ptx"])
    for ptx in latency.keys() & interval.keys():
        # Half as much again: what copies between registers and calls may add to eight chains.
        # Twice with branches: a chain settles on values that go one way, eight operands go both.
        if interval[ptx] > (2 if ptx in branches else 1.5) * latency[ptx]:
            wrong.append(f"{ptx}: an interval of {interval[ptx]} over a latency of {latency[ptx]}")
    return wrong


def test_what_cannot_be_is_found() -> None:
    for ptx, sequence, median, found in (
        ("add.u32", "dependent", 2.0, True),  # two fused into one
        ("fma.rn.f32", "independent", 0.5, True),  # more than a scheduler starts
        ("not.b32", "dependent", -3.0, True),  # a clock read too early
        ("fma.rn.f32", "dependent", 4.1, False),
    ):
        row = {"at": {"ptx": ptx, "sequence": sequence}, "value": {"median": median}}
        assert bool(implausible([row])) == found, (ptx, median)


RECORDED = sorted((ROOT / "results").rglob("instruction.json.gz"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_recorded_results_are_plausible(path: Path) -> None:
    measured = json.loads(text_of(path))["microbenchmarks"]
    assert measured and all(m["name"].startswith("instruction/") for m in measured)
    for m in measured:
        assert implausible(m["rows"]) == []
