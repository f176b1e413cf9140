"""What the source documents print: inputs/published/.

inventory.csv says what answers each id, comparisons.csv which published value belongs to which of
ours (plots/papers/ours.py), from which cell, and what makes the two agree.
"""

import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from plots.errors import PlotsError
from plots.papers.specifications import FOLDER, printed_tables, spec_of_driver

RELATIONS = ("equal", "at least", "at most", "within")
BASES = ("value", "ratio", "effect", "share", "own share", "model", "table", "beside")


@cache
def located(path: Path) -> list[tuple[str, dict[str, str]]]:
    """The rows of a published CSV, each with "file:line"; comment lines start with '#'. Raises
    PlotsError for a row with a cell too many or too few."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = [(at, line) for at, line in enumerate(file, 1) if not line.startswith("#")]
    rows = csv.DictReader(line for _, line in lines)
    found = [(f"{path.name}:{at}", row) for (at, _), row in zip(lines[1:], rows, strict=True)]
    if wrong := next((place for place, of in found if None in (*of, *of.values())), ""):
        raise PlotsError(f"{wrong}: not as many cells as the head has")
    return found


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a published CSV."""
    return [row for _, row in located(path)]


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

    @property
    def kind(self) -> str:
        """ "same", "other", "self" or "none"; what follows it says why."""
        return self.method.partition(": ")[0]


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
    units: tuple[str, ...] = ()  # of ours, that it may be compared with
    place: str = ""  # file and line

    @property
    def theory(self) -> str:
        """The promised quantity that values are divided by; empty for none."""
        found = re.fullmatch(r"(?:(?:beside )?(?:own )?share |beside )(.+)", self.basis)
        return found[1] if found else ""

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


def _cell(row: dict[str, str], table: str, column: str, place: str) -> tuple[float, str]:
    """A published value and its unit. Raises PlotsError for one out of its column's range."""
    for of in read_csv(FOLDER / "columns.csv"):
        if fnmatch(table, of["table"]) and fnmatch(column, of["column"]):
            value, unit = float(row[column]), of["unit"].replace("its row", row.get("unit", ""))
            if not float(of["least"]) <= value <= float(of["most"]):
                raise PlotsError(
                    f"{place}: {table}, {column} is {value:g}, not within {of['least']} to "
                    f"{of['most']}"
                )
            return value, unit
    raise PlotsError(f"{place}: columns.csv has no unit and range of {table}, {column}")


def _published(row: dict[str, str], place: str) -> tuple[float, float, tuple[str, ...]]:
    """Low and high of a published value in our unit, and what that may be: of a cell, two cells
    divided, or a range of two columns."""
    wheres, columns = row["where"].split(" / "), row["column"].split(" / ")
    names = columns if len(columns) == 2 else columns[0].split("..")
    rows = [published_row(row["file"], where, place) for where in wheres]
    low, unit = _cell(rows[0], row["file"], names[0], place)
    high, _ = _cell(rows[-1], row["file"], names[-1], place)
    if len(columns) == 2:
        low = high = low / high
        unit = "ratio"
    scale = float(row["scale"])
    for of in read_csv(FOLDER / "units.csv"):
        if (of["published"], float(of["scale"])) == (unit, scale):
            return low * scale, high * scale, tuple(of["ours"].split(" or "))
    raise PlotsError(f'{place}: units.csv has nothing for "{unit}" times {row["scale"]}')


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
def comparisons(path: Path = FOLDER / "comparisons.csv") -> list[Comparison]:
    """Raises PlotsError, with file and line, for what is not as the head of the file says."""
    found = []
    for place, row in ((place, one) for place, of in located(path) for one in written_out(of)):
        low, high, units = _published(row, place)
        c = Comparison(
            row["id"], row["label"], row["gpu"], low, high, row["own"], row["relation"],
            float(row["tolerance"]), row["basis"], row["file"], row["where"], units, place,
        )  # fmt: skip
        if c.relation not in RELATIONS or c.kind.removeprefix("beside ") not in BASES:
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
    """What a published GPU (its name) or ours (provenance.device) promises: a quantity, or some
    multiplied and divided ("sms*clock"). None when it is not known."""
    result = 1.0
    for sign, name in re.findall(r"([*/]?)(\w+)", quantity):
        value = _promise(gpu, name) if isinstance(gpu, str) else _own_promise(gpu, name)
        if not value:
            return None
        result = result / value if sign == "/" else result * value
    return result
