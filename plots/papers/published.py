"""The source documents' inventory, what they print, and where ours stands in the result files.

inventory.csv says what answers each id, comparisons.csv which
published value belongs to which of ours, from which cell, and what makes the two agree.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from plots.data.devices import memory_gb_s
from plots.data.documents import find_files, read_document
from plots.data.recorded import Recorded, abridged
from plots.errors import PlotsError
from plots.papers.specifications import spec_of_driver
from plots.statistics.claims import has_too_few_rounds
from plots.tree import ROOT
from plots.units import interval_digits

FOLDER = ROOT / "inputs" / "published"

RELATIONS = ("equal", "at least", "at most", "within")
BASES = ("value", "ratio", "share", "own share", "table", "beside")


@cache
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


def _conditions(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(";") if part)


def published_row(file: str, where: str, place: str) -> dict[str, str]:
    """The only row of a published CSV that meets the conditions. Raises PlotsError otherwise."""
    wanted = _conditions(where)
    rows = read_csv(FOLDER / f"{file}.csv")
    matching = [r for r in rows if all(r.get(k) == v for k, v in wanted.items())]
    if len(matching) != 1:
        raise PlotsError(f"{place}: {len(matching)} rows of {file}.csv match, not one")
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


@cache
def comparisons() -> list[Comparison]:
    found = []
    for row in read_csv(FOLDER / "comparisons.csv"):
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


@dataclass(frozen=True)
class Selector:
    """What a comparison takes of the result files."""

    kind: str
    name: str
    quantity: str = ""
    gbytes_per_s: bool = False
    at: dict[str, str] = field(default_factory=dict)

    def command(self) -> str:
        """What of amasia records the cell of a speed-up, without where to."""
        app = self.name.split("/")[0]
        size = ",".join(f"{k}={v}" for k, v in self.at.items() if k not in _MODES)
        modes = f"--cache {self.at['cache']} --launch {self.at['launch']}"
        if self.quantity == "cross":
            return f"cross {app} --size {size} {modes}"
        return f"run {app} --size {size} --roles {self.quantity} {modes}"


_MODES = ("cache", "launch", "schedule")


def selectors(own: str) -> list[Selector]:
    """One selector, or the numerator and denominator. Raises PlotsError."""
    found = []
    for text in own.split(" / "):
        words = text.split(" ", 2)
        kind, name, rest = words[0], words[1] if len(words) > 1 else "", ""
        if len(words) > 2:
            rest = words[2]
        if kind not in ("point", "best", "finding", "ceiling", "speedup", "derived") or not name:
            raise PlotsError(f'"{text}": no selector')
        if kind == "ceiling":
            found.append(Selector(kind, name))
        elif kind == "derived":
            found.append(Selector(kind, name, rest))
        else:
            quantity, _, conditions = rest.partition("|" if "|" in rest else " ")
            if not conditions:
                raise PlotsError(f'"{text}": too short for {kind}')
            gbs = quantity.endswith(":gbs")
            at = _conditions(conditions)
            if kind == "speedup" and not {"cache", "launch"} < set(at):
                raise PlotsError(f'"{text}": a speed-up is of a size, a cache and a launch mode')
            found.append(Selector(kind, name, quantity.removesuffix(":gbs"), gbs, at))
    return found


@dataclass(frozen=True)
class Own:
    """A value of ours, the file it is from and, of an app, the cell."""

    value: float
    unit: str
    file: str
    cell: str = ""


def _fulfils(at: dict[str, str], wanted: dict[str, str]) -> bool:
    return all(at.get(name, "") == value for name, value in wanted.items())


def size_text(size: dict[str, Any]) -> str:
    """The members of a size that say something: "rows=8192, cols=8192"."""
    return ", ".join(f"{k}={v}" for k, v in size.items() if v not in ("", None))


def _speedup(file: Recorded, s: Selector) -> Own | None:
    for group in file.document["groups"]:
        if group.get("invalid"):
            continue
        key = group["key"]
        cell = {k: str(v) for k, v in key["size"].items()}
        cell |= {"cache": key["cache"], "launch": key["launch"]}
        for c in group["comparisons"]:
            if c["control"] or c["variant"] != s.name or c["role"] != s.quantity:
                continue
            if _fulfils(cell | {"schedule": c.get("schedule") or ""}, s.at):
                words = [size_text(key["size"]), key["cache"], key["launch"], c["role"]]
                words += [c["schedule"]] if "schedule" in s.at else []
                r = c["speedup"]
                digits = interval_digits(r["low"], r["high"])
                interval = f"[{r['low']:.{digits}f}; {r['high']:.{digits}f}]"
                claim = c.get("claim") or c["verdict"]
                few = has_too_few_rounds(c)
                words.append(f"{claim}: too few rounds" if few else f"{claim} {interval}")
                return Own(r["ratio"], "x", file.path, ", ".join(words))
    return None


def _value_of(row: dict[str, Any], s: Selector, file: str) -> tuple[Own | None, str]:
    if not row.get("value"):
        return None, f"{row['status']}: {row.get('reason', '')}"
    value, unit = row["value"]["median"], row["unit"]
    if s.gbytes_per_s:
        if row.get("clock_mhz") is None:
            return None, ""
        value, unit = value * row["clock_mhz"] * 1e-3, "GB/s"
    return Own(value, unit, file), ""


def select(file: Recorded, s: Selector) -> tuple[Own | None, str]:
    """The value, or the reason why this file has none."""
    if s.kind == "ceiling":
        for ceiling in file.document["ceilings"]:
            if ceiling["name"] == s.name:
                return Own(ceiling["value"], ceiling["unit"], file.path), ""
        return None, ""
    if s.kind == "speedup":
        return _speedup(file, s), ""
    why = ""
    best: Own | None = None
    for m in file.document.get("microbenchmarks") or []:
        if m["name"] != s.name:
            continue
        if s.kind == "finding":
            for f in m["findings"]:
                if f["quantity"] == s.quantity and _fulfils(f["at"], s.at):
                    return Own(f["value"], f["unit"], file.path), ""
            continue
        for row in m["rows"]:
            if row["quantity"] != s.quantity or not _fulfils(row["at"], s.at):
                continue
            own, reason = _value_of(row, s, file.path)
            why = why or reason
            if s.kind == "point":
                return own, why
            if own and (best is None or own.value > best.value):
                best = own
    return best, why


def row_of(files: Iterable[Recorded], own: str) -> dict[str, Any] | None:
    """The recorded row of a point, with its remark and proof; None when no file has it."""
    s = selectors(own)[0]
    for file in files:
        for m in file.document.get("microbenchmarks") or []:
            for row in m["rows"] if m["name"] == s.name else []:
                if row["quantity"] == s.quantity and _fulfils(row["at"], s.at):
                    return row
    return None


def _promise(gpu: str, quantity: str) -> float | None:
    for row in read_csv(FOLDER / "theory.csv"):
        if row["gpu"] == gpu and row["quantity"] == quantity:
            return float(row["value"])
    return None


def architecture(gpu: str) -> int | None:
    """Compute capability times 10 of a GPU whose values are published."""
    found = _promise(gpu, "architecture")
    return None if found is None else int(found)


def _own_promise(device: dict[str, Any], quantity: str) -> float | None:
    spec = spec_of_driver(device["name"])
    if quantity == "sms":
        return float(device["sm_count"])
    if quantity == "clock":
        return device["max_clock_mhz"] * 1e-3
    if quantity == "memory" and spec:
        return spec.bandwidth_gb_s
    return _promise(device["name"], quantity)


def theory(quantity: str, gpu: str | dict[str, Any]) -> float | None:
    """What a published GPU (its name) or ours (provenance.device) promises: a quantity of
    theory.csv, or some of them multiplied and divided ("sms*clock"). None when it is not known."""
    result = 1.0
    for sign, name in re.findall(r"([*/]?)(\w+)", quantity):
        value = _promise(gpu, name) if isinstance(gpu, str) else _own_promise(gpu, name)
        if not value:
            return None
        result = result / value if sign == "/" else result * value
    return result


def recorded(paths: Sequence[Path]) -> list[Recorded]:
    """Result files under these paths, in_order(). Each is checked as load() checks it: raises
    PlotsError, ResultFileError."""
    found = [
        Recorded(path.as_posix(), abridged(read_document(path))) for path in find_files(paths)[0]
    ]
    return in_order(found)


def in_order(files: Iterable[Recorded]) -> list[Recorded]:
    """The study "paper" first, then by date, the newest first."""
    newest = sorted(files, key=lambda f: f.document["provenance"]["date_utc"], reverse=True)
    return sorted(newest, key=lambda f: f.document["provenance"]["study"] != "paper")


def gpus_of(files: Iterable[Recorded]) -> list[str]:
    """GPU names: newest architecture first, of one architecture the one with more apps recorded,
    then the one with the faster memory, then the one with more recorded. What several sessions have
    counts once."""
    architecture: dict[str, float] = {}
    memory: dict[str, float] = {}
    apps: dict[str, set[str]] = {}
    recorded: dict[str, set[tuple[str, ...]]] = {}
    for f in files:
        name = f.device["name"]
        architecture[name], memory[name] = f.device["compute_capability"], memory_gb_s(f.device)
        apps.setdefault(name, set()).update(g["key"]["app"] for g in f.document["groups"])
        mine = recorded.setdefault(name, set())
        for group in f.document["groups"]:
            key = json.dumps(group["key"], sort_keys=True)
            mine |= {(key, r["variant"], r["role"], r.get("schedule", "")) for r in group["rows"]}
        for m in f.document.get("microbenchmarks", []):
            mine |= {(m["name"], json.dumps(r["at"], sort_keys=True)) for r in m["rows"]}

    def rank(name: str) -> tuple[float | str, ...]:
        counted = len(apps[name]), memory[name], len(recorded[name])
        return (-architecture[name], *(-n for n in counted), name)

    return sorted(architecture, key=rank)
