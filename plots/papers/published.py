"""What the source documents print: inputs/published/.

inventory.csv says what answers each id, comparisons.csv which published value belongs to which of
ours (plots/papers/ours.py), from which cell, and what makes the two agree.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from plots.errors import PlotsError
from plots.papers.specifications import FOLDER, printed_tables, spec_of_driver
from plots.tree import ROOT

RELATIONS = ("equal", "at least", "at most", "within")
BASES = ("value", "ratio", "share", "own share", "table", "beside")


@cache
def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a published CSV; comment lines start with '#'."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines))


@cache
def printed_rows(table: str) -> list[dict[str, str]]:
    """The rows of a table that a document prints."""
    return list(csv.DictReader(printed_tables()[table].splitlines()))


@dataclass(frozen=True)
class Item:
    """One id of the inventory."""

    id: str
    source: str
    where: str
    what: str
    study: str
    by: str
    points: str  # that amasia study takes of them
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
class Inconsistency:
    """What a document says against itself or another, under the id of the inventory it is about."""

    id: str
    source: str
    text: str


@cache
def inconsistencies() -> tuple[Inconsistency, ...]:
    """All of them, in the order of the inventory."""
    sources = {item.id: item.source for item in inventory()}
    told = read_csv(FOLDER / "inconsistencies.csv")
    return tuple(Inconsistency(row["id"], sources[row["id"]], row["text"]) for row in told)


@dataclass(frozen=True)
class Comparison:
    """A published value (``low`` = ``high``) or range, the selector of ours, and what makes the two
    agree; the head of comparisons.csv explains the words."""

    id: str
    label: str
    gpu: str
    low: float
    high: float
    own: str
    relation: str = "equal"
    tolerance: float = 0  # in percent
    basis: str = "value"
    file: str = ""
    where: str = ""

    @property
    def theory(self) -> str:
        """The promised quantity that values are divided by; empty for none."""
        for kind in ("own share ", "share ", "beside "):
            if self.basis.startswith(kind):
                return self.basis.removeprefix(kind)
        return ""

    @property
    def kind(self) -> str:
        """``basis`` without its quantity."""
        return self.basis.removesuffix(self.theory).strip()


def conditions(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(";") if part)


def published_row(file: str, where: str, place: str) -> dict[str, str]:
    """The only row of a printed table that meets the conditions. Raises PlotsError otherwise."""
    wanted = conditions(where)
    matching = [r for r in printed_rows(file) if all(r.get(k) == v for k, v in wanted.items())]
    if len(matching) != 1:
        raise PlotsError(f"{place}: {len(matching)} rows of {file} match, not one")
    return matching[0]


def _published(row: dict[str, str], place: str) -> tuple[float, float]:
    """Low and high of a published value: a cell, two cells divided, or a range of two columns."""
    wheres, columns = row["where"].split(" / "), row["column"].split(" / ")
    cells = [published_row(row["file"], where, place) for where in wheres]
    if len(columns) == 2:
        value = float(cells[0][columns[0]]) / float(cells[-1][columns[1]])
        return value, value
    names = columns[0].split("..")
    low, high = float(cells[0][names[0]]), float(cells[0][names[-1]])
    return low, high


def written_out(row: dict[str, str]) -> Iterator[dict[str, str]]:
    """The rows that one with lists stands for: {1=a|b} and {1}, see the head of comparisons.csv."""
    text = "\0".join(row.values())
    lists = {name: of.split("|") for name, of in re.findall(r"\{(\w+)=([^}]*)\}", text)}
    sizes = {name[0]: len(of) for name, of in lists.items()}
    loops = sorted(sizes, reverse=True)
    for turn in itertools.product(*(range(sizes[loop]) for loop in loops)):
        at = dict(zip(loops, turn, strict=True))
        chosen = {name: of[at[name[0]]] for name, of in lists.items()}
        cells = re.sub(r"\{(\w+)(=[^}]*)?\}", lambda m, now=chosen: now[m[1]], text).split("\0")
        yield dict(zip(row, cells, strict=True))


@cache
def comparisons() -> list[Comparison]:
    found = []
    rows = read_csv(FOLDER / "comparisons.csv")
    for row in (one for of in rows for one in written_out(of)):
        place = f"{row['id']} ({row['label']})"
        low, high = _published(row, place)
        scale = float(row["scale"])
        c = Comparison(
            row["id"], row["label"], row["gpu"], low * scale, high * scale, row["own"],
            row["relation"], float(row["tolerance"]), row["basis"], row["file"], row["where"],
        )  # fmt: skip
        if c.relation not in RELATIONS or c.kind not in BASES:
            raise PlotsError(f"{place}: expected a relation and a basis that are known")
        if c.gpu and architecture(c.gpu) is None:
            raise PlotsError(f'{place}: the architecture of "{c.gpu}" is not known')
        found.append(c)
    return found


def _promise(gpu: str, quantity: str) -> float | None:
    for row in read_csv(FOLDER / "theory.csv"):
        if row["gpu"] == gpu and row["quantity"] == quantity:
            return float(row["value"])
    return None


def architecture(gpu: str) -> int | None:
    """Compute capability times 10 of a GPU whose values are published."""
    found = _promise(gpu, "architecture")
    return None if found is None else int(found)


def _own_promise(device: Any, quantity: str) -> float | None:
    spec = spec_of_driver(device.name)
    if quantity == "sms":
        return float(device.sm_count)
    if quantity == "clock":
        return device.max_clock_mhz * 1e-3
    if quantity == "memory" and spec:
        return spec.bandwidth_gb_s
    return _promise(device.name, quantity)


def theory(quantity: str, gpu: Any) -> float | None:
    """What a published GPU (its name) or ours (provenance.device) promises: a quantity of
    theory.csv, or some of them multiplied and divided ("sms*clock"). None when it is not known."""
    result = 1.0
    for sign, name in re.findall(r"([*/]?)(\w+)", quantity):
        value = _promise(gpu, name) if isinstance(gpu, str) else _own_promise(gpu, name)
        if not value:
            return None
        result = result / value if sign == "/" else result * value
    return result
