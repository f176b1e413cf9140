"""The source documents' inventory and how our recorded results stand beside it.

The same rules as harness/published/reproduction_table.cpp: inventory.csv says what answers each id,
comparisons.csv which published value belongs to which of ours.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from plots.errors import PlotsError
from plots.strategies import ROOT

FOLDER = ROOT / "inputs" / "published"
NOTABLE = 1.5  # a ratio further off than this, either way, needs an explanation


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a published CSV; comment lines start with '#'."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines))


@dataclass(frozen=True)
class Item:
    """One id of the inventory."""

    id: str
    source: str
    where: str
    what: str
    study: str
    by: str
    method: str
    remark: str

    def answers(self) -> list[str]:
        """Microbenchmarks, an app ("app hotspot") or "ceilings"."""
        return [self.by] if self.by.startswith("app ") else self.by.split()

    def built(self) -> bool:
        """Whether the repository has what measures it."""
        return any(_source_of(name).exists() for name in self.answers())


def _source_of(name: str) -> Path:
    if name.startswith("app "):
        return ROOT / "apps" / name[4:] / "baseline.cu"
    return ROOT / "microbench" / (name if name == "ceilings" else f"{name}.cu")


@cache
def inventory() -> list[Item]:
    return [Item(**row) for row in read_csv(FOLDER / "inventory.csv")]


@dataclass(frozen=True)
class Comparison:
    """A published value and the selector of ours."""

    id: str
    label: str
    published: float
    own: str


def _conditions(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(";") if part)


@cache
def comparisons() -> list[Comparison]:
    found = []
    for row in read_csv(FOLDER / "comparisons.csv"):
        wanted = _conditions(row["where"])
        matching = [
            r
            for r in read_csv(FOLDER / f"{row['file']}.csv")
            if all(r.get(k) == v for k, v in wanted.items())
        ]
        if len(matching) != 1:
            raise PlotsError(f"{row['id']} ({row['label']}): {len(matching)} rows match, not one")
        value = float(matching[0][row["column"]]) * float(row["scale"])
        found.append(Comparison(row["id"], row["label"], value, row["own"]))
    return found


@dataclass(frozen=True)
class Own:
    """A value of ours and the file it is from."""

    value: float
    unit: str
    file: str


@dataclass(frozen=True)
class Recorded:
    """One result file, as parsed JSON, and its path to link to."""

    path: str
    document: dict[str, Any]


def _fulfils(at: dict[str, str], wanted: dict[str, str]) -> bool:
    return all(at.get(name, "") == value for name, value in wanted.items())


def _select(file: Recorded, selector: str) -> tuple[Own | None, str]:
    """The value, or the reason why this file has none."""
    document = file.document
    kind, name, *rest = selector.split(" ", 3)
    if kind == "ceiling":
        for ceiling in document["ceilings"]:
            if ceiling["name"] == name:
                return Own(ceiling["value"], ceiling["unit"], file.path), ""
        return None, ""
    if kind == "speedup":
        for group in document["groups"]:
            for c in group["comparisons"]:
                if c["variant"] == name and c["role"] == rest[0] and not c["control"]:
                    return Own(c["speedup"]["ratio"], "x", file.path), ""
        return None, ""
    quantity, wanted = rest[0], _conditions(rest[1])
    for m in document.get("microbenchmarks") or []:
        if m["name"] != name:
            continue
        if kind == "finding":
            for f in m["findings"]:
                if f["quantity"] == quantity and _fulfils(f["at"], wanted):
                    return Own(f["value"], f["unit"], file.path), ""
            continue
        plain = quantity.removesuffix(":gbs")
        for row in m["rows"]:
            if row["quantity"] != plain or not _fulfils(row["at"], wanted):
                continue
            if not row.get("value"):
                return None, f"{row['status']}: {row.get('reason', '')}"
            value, unit = row["value"]["median"], row["unit"]
            if plain != quantity:
                if row.get("clock_mhz") is None:
                    return None, ""
                value, unit = value * row["clock_mhz"] * 1e-3, "GB/s"
            return Own(value, unit, file.path), ""
    return None, ""


def own_value(files: Iterable[Recorded], own: str) -> tuple[Own | None, str]:
    """From the first file that has it; two selectors with " / " between are divided."""
    selectors = own.split(" / ")
    why = ""
    for file in files:
        values = []
        for selector in selectors:
            value, reason = _select(file, selector)
            why = why or reason
            values.append(value)
        if None in values:
            continue
        first = values[0]
        assert first is not None
        if len(values) == 1:
            return first, ""
        second = values[1]
        assert second is not None
        return Own(first.value / second.value, "x", file.path), ""
    return None, why


def recorded(paths: Sequence[Path]) -> list[Recorded]:
    """Result files under these paths; of one GPU, the study "paper" first, then by date."""
    found = []
    for path in paths:
        candidates = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for candidate in candidates:
            try:
                document = json.loads(candidate.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise PlotsError(f"{candidate}: expected a result file ({error})") from None
            if isinstance(document, dict) and document.get("schema") == "amasia-result":
                found.append(Recorded(candidate.as_posix(), document))
    newest = sorted(found, key=lambda f: f.document["provenance"]["date_utc"], reverse=True)
    return sorted(newest, key=lambda f: f.document["provenance"]["study"] != "paper")


def gpus_of(files: Iterable[Recorded]) -> list[str]:
    """GPU names, newest architecture first."""
    known = {
        f.document["provenance"]["device"]["name"]: f.document["provenance"]["device"][
            "compute_capability"
        ]
        for f in files
    }
    return sorted(known, key=lambda name: (-known[name], name))
