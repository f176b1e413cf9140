"""A synthetic recording of the study with known answers, with whatever it is to have found."""

from __future__ import annotations

from typing import Any

import numpy as np
import synthetic

from plots.advice.effects import RESOURCES

# Strategy -> thousandths more than the baseline, as in tests/effects/effects_apps.cu.
PLANTS = {
    "baseline": 0, "register_bypass": 0, "overlap": 3, "drop_off": 10, "tma": -10, "dsm": -10,
}  # fmt: skip
LIBRARIES = {"none": 0, "three_percent": 30}


def _row(variant: str, role: str, plant: int, rounds: int, repeat: int = 0) -> dict[str, Any]:
    row = synthetic.timed_row(variant, role, 1.0, rounds=rounds, repeat=repeat)
    row["geometry"] = {"thousandths_more": plant}
    return row


def planted_group(number: int, noise: float = 0.001, rounds: int = 15) -> dict[str, Any]:
    """A group of the app planted: the times are those of the work, with a normal scatter of
    ``noise`` of each row's own."""
    size = {"thousands": 4, "group": number, "kind": "bytes", "blocks": 132}
    g = synthetic.group("planted", size, 1.0, rounds=rounds)
    rows = []
    for role in ("iso", "best"):
        rows += [_row(f"planted/{s}", role, plant, rounds) for s, plant in PLANTS.items()]
        rows.append(_row("planted/baseline", role, 0, rounds, repeat=1))
    rows += [_row(f"planted/{s}", "comparator", plant, rounds) for s, plant in LIBRARIES.items()]
    random = np.random.default_rng(number)
    for row in rows:
        plant = row["geometry"]["thousandths_more"]
        scatter = np.exp(noise * random.standard_normal(rounds))
        row["samples"]["time_ms"] = (0.1 * (1 + plant / 1000) * scatter).tolist()
    g["rows"] = rows
    synthetic.summarise(g)
    return g


def dosed_group(base: str, amounts: dict[str, float], binds: str | None = None) -> dict[str, Any]:
    """A group of the app dosed: its time in units is the largest of ``amounts``, or that of the one
    that ``binds``."""
    rounds = 15
    g = synthetic.group("dosed", {"blocks": 132, "base": base}, 1.0, rounds=rounds)
    doses = [("iso", "", 0)]
    doses += [(f"{r}-{units}", r, units) for r in RESOURCES for units in (20, 40, 80)]
    rows = []
    random = np.random.default_rng(len(base))
    for schedule, resource, units in doses:
        row = synthetic.timed_row("dosed/baseline", "cross", 1.0, rounds=rounds, schedule=schedule)
        given = {**amounts, resource: amounts.get(resource, 0) + units}
        units_taken = given[binds] if binds else max(given[r] for r in RESOURCES)
        scatter = np.exp(1e-4 * random.standard_normal(rounds))
        row["samples"]["time_ms"] = (1e-3 * units_taken * scatter).tolist()
        rows.append(row)
    g["rows"] = rows
    # The floor's share of each, by the ceilings of the synthetic file.
    ceilings = {c["name"]: c["value"] for c in synthetic.ceilings()}
    g["work"] = {
        "operations": amounts["operations"] * 1e-6 * ceilings["fp32_rate"] * 1e9,
        "kind": "fp32",
        "bytes_read": amounts["bytes"] * 1e-6 * ceilings["read_bandwidth"] * 1e9,
        "bytes_written": 0.0,
        "dependent_operations": amounts["barriers"] * 50e-9 / (ceilings["dependent_op_ns"] * 1e-9),
    }
    synthetic.summarise(g)
    return g


def dosed_groups() -> list[dict[str, Any]]:
    """Every kernel of the study, each bound by what it says."""
    only = [
        dosed_group(f"only_{r}", {**dict.fromkeys(RESOURCES, 0.0), r: 400.0}) for r in RESOURCES
    ]
    return [
        dosed_group("bytes", {"bytes": 400, "operations": 200, "barriers": 200}),
        dosed_group("operations", {"bytes": 200, "operations": 400, "barriers": 200}),
        dosed_group("barriers", {"bytes": 8, "operations": 8, "barriers": 400}),
        dosed_group("barriers_beside", {"bytes": 200, "operations": 200, "barriers": 400}),
        *only,
    ]


def recording(groups: list[dict[str, Any]]) -> dict[str, Any]:
    """A result file of the study."""
    document = synthetic.document(groups)
    document["provenance"].update(study="effects", argv=["amasia-effects", "effects"])
    return synthetic.signed(document)


def contest(chosen: str = "less-5", equal: tuple[str, ...] = ()) -> dict[str, Any]:
    """A tuning file with a search for the one planted winner, one for either of two, one with
    none."""

    def entry(
        variant: str, names: list[str], config: str, equal: tuple[str, ...]
    ) -> dict[str, Any]:
        table = [{"config": name, "status": "ok", "reason": ""} for name in names]
        return {
            "device": "NVIDIA H200",
            "variant": variant,
            "config": config,
            "equal": list(equal),
            "table": table,
        }

    same = [f"same-{i}" for i in range(8)]
    return {
        "schema": "amasia-tuning",
        "version": 2,
        "entries": [
            entry("contest/baseline", ["same-0", "less-5", "same-6"], chosen, equal),
            entry("contest/overlap", same, "same-3", tuple(s for s in same if s != "same-3")),
            entry("contest/drop_off", ["same-0", "less-2", "less-6"], "less-6", ("less-2",)),
        ],
    }
