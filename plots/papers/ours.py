"""Our value beside a published one: what a selector of comparisons.csv, or an expression of
several, takes of the result files of one GPU.

The head of comparisons.csv explains the words. A value is None where the files do not have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plots.data.documents import Recorded
from plots.data.load import memory_gb_s
from plots.errors import PlotsError
from plots.papers import specifications
from plots.papers.published import (
    Comparison,
    comparisons,
    conditions,
    inventory,
    published_row,
    theory,
)
from plots.statistics.claims import has_too_few_rounds
from plots.units import interval_digits

Files = Sequence[Recorded]


@dataclass(frozen=True)
class Own:
    """A value of ours, the file it is from and, of an app, the cell."""

    value: float
    unit: str
    file: str
    cell: str = ""


# --- Selectors ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Selector:
    """What a comparison takes of the result files."""

    kind: str
    name: str
    quantity: str = ""
    gbytes_per_s: bool = False
    at: dict[str, str] = field(default_factory=dict)

    def command(self) -> str:
        """The amasia command that records a speed-up's case, without --out."""
        app = self.name.split("/")[0]
        size = ",".join(f"{k}={v}" for k, v in self.at.items() if k not in _MODES)
        modes = f"--cache {self.at['cache']} --launch {self.at['launch']}"
        return f"run {app} --size {size} --roles {self.quantity} {modes}"

    def meets(self, at: dict[str, str]) -> bool:
        return all(at.get(name, "") == value for name, value in self.at.items())


_MODES = ("cache", "launch", "schedule")
_EXPRESSION = re.compile(r"= (?P<terms>.+?)(?: in (?P<unit>\S+))?")


def selectors(own: str) -> list[Selector]:
    """One selector, the numerator and denominator, or those of an expression. Raises PlotsError."""
    if _EXPRESSION.fullmatch(own):
        return [s for text in re.findall(r"\[(.+?)\]", own) for s in selectors(text)]
    return [_selector(text) for text in own.split(" / ")]


def _selector(text: str) -> Selector:
    kind, name, rest = [*text.split(" ", 2), "", ""][:3]
    if kind not in ("point", "best", "finding", "ceiling", "speedup", "derived") or not name:
        raise PlotsError(f'"{text}": no selector')
    if kind in ("ceiling", "derived"):
        return Selector(kind, name, rest if kind == "derived" else "")
    quantity, _, conditions_ = rest.partition("|" if "|" in rest else " ")
    if not conditions_:
        raise PlotsError(f'"{text}": too short for {kind}')
    at = conditions(conditions_)
    if kind == "speedup" and not {"cache", "launch"} < set(at):
        raise PlotsError(f'"{text}": a speed-up is of a size, a cache and a launch mode')
    return Selector(kind, name, quantity.removesuffix(":gbs"), quantity.endswith(":gbs"), at)


def size_text(size: dict[str, Any]) -> str:
    """The members of a size that say something: "rows=8192, cols=8192"."""
    return ", ".join(f"{k}={v}" for k, v in size.items() if v not in ("", None))


def _speedup(file: Recorded, s: Selector) -> Own | None:
    for group in file.document.groups:
        key = group.key
        cell = {k: str(v) for k, v in key.size.items()}
        cell |= {"cache": key.cache, "launch": key.launch}
        for c in () if group.invalid else group.comparisons:
            if c.control or (c.variant, c.role) != (s.name, s.quantity):
                continue
            if s.meets(cell | {"schedule": c.schedule}):
                words = [size_text(key.size), key.cache, key.launch, c.role]
                words += [c.schedule] if "schedule" in s.at else []
                r = c.speedup
                digits = interval_digits(r.low, r.high)
                interval = f"[{r.low:.{digits}f}; {r.high:.{digits}f}]"
                claim = c.claim or c.verdict
                few = has_too_few_rounds(c)
                words.append(f"{claim}: too few rounds" if few else f"{claim} {interval}")
                return Own(r.ratio, "x", file.path, ", ".join(words))
    return None


def _value_of(row: Any, s: Selector, file: str) -> tuple[Own | None, str]:
    if row.value is None:
        return None, f"{row.status}: {row.reason}"
    if not s.gbytes_per_s:
        return Own(row.value.median, row.unit, file), ""
    if row.clock_mhz is None:
        return None, ""
    return Own(row.value.median * row.clock_mhz * 1e-3, "GB/s", file), ""


def _rows(file: Recorded, s: Selector) -> Iterator[Any]:
    """The points of a file that a selector is of."""
    for m in file.document.microbenchmarks:
        if m.name == s.name:
            yield from (r for r in m.rows if r.quantity == s.quantity and s.meets(r.at))


def _select(file: Recorded, s: Selector) -> tuple[Own | None, str]:
    """The value, or the reason why this file has none."""
    if s.kind == "speedup":
        return _speedup(file, s), ""
    if s.kind in ("ceiling", "finding"):
        of = [
            f
            for m in file.document.microbenchmarks
            for f in m.findings
            if m.name == s.name and f.quantity == s.quantity and s.meets(f.at)
        ]
        if s.kind == "ceiling":
            of = [ceiling for ceiling in file.document.ceilings if ceiling.name == s.name]
        return (Own(of[0].value, of[0].unit, file.path) if of else None), ""
    found = [_value_of(row, s, file.path) for row in _rows(file, s)]
    why = next((reason for _, reason in found if reason), "")
    owns = [own for own, _ in found if own is not None]
    if s.kind == "point":
        return (found[0][0] if found else None), why
    return max(owns, key=lambda own: own.value, default=None), why


def row_of(files: Files, own: str) -> Any:
    """The recorded row of a point, with its remark and proof; None when no file has it."""
    s = selectors(own)[0]
    return next((row for file in files for row in _rows(file, s)), None)


def _first(files: Files, s: Selector) -> tuple[Own | None, str]:
    """From the first file that has it."""
    if s.kind == "derived":
        if s.name not in DERIVATIONS:
            raise PlotsError(f'"derived {s.name}": no such value')
        return DERIVATIONS[s.name](files, s.quantity), ""
    why = ""
    for file in files:
        found, reason = _select(file, s)
        why = why or reason
        if found is not None:
            return found, why
    return None, why


def own_value(files: Files, own: str) -> tuple[Own | None, str]:
    """The value of a selector, of two that are divided, or of an expression; with the reason when
    there is none."""
    expression = _EXPRESSION.fullmatch(own)
    values, why = [], ""
    for s in selectors(own):
        found, reason = _first(files, s)
        why = why or reason
        if found is None:
            return None, why
        values.append(found)
    if expression:
        found = evaluated(files, expression["terms"])
        first = values[0] if values else Own(0, "", "")
        return Own(float(found), expression["unit"] or first.unit, first.file), ""
    if len(values) == 1:
        return values[0], ""
    if not values[1].value:
        return None, why
    above, below = values
    unit = "x" if above.unit == below.unit else f"{above.unit}/{below.unit}"
    return Own(above.value / below.value, unit, above.file, above.cell), ""


FUNCTIONS = {"abs": abs, "min": min, "max": max, "__builtins__": {}}


def evaluated(files: Files, terms: str) -> Any:
    """A number, or whether a condition holds: Python's arithmetic on selectors in brackets. None
    where a value is missing. The expressions are those of inputs/published/, and of nobody else."""
    values: dict[str, float] = {}

    def name_of(selector: re.Match[str]) -> str:
        own, _ = own_value(files, selector[1])
        values[name := f"v{len(values)}"] = np.nan if own is None else own.value
        return name

    text = re.sub(r"\[(.+?)\]", name_of, terms)
    if any(np.isnan(value) for value in values.values()):
        return None
    return eval(text, FUNCTIONS, values)


_PLACE = re.compile(r"\{([^{}]*?)(?::([^{}:]*))?\}")


def filled(text: str, files: Files) -> str:
    """``text`` with our values in place of {selector:format}; empty when a file lacks one."""
    missing = False

    def fill(match: re.Match[str]) -> str:
        nonlocal missing
        own, _ = own_value(files, match[1])
        missing = missing or own is None
        return "" if own is None else format(own.value, match[2] or ".3g")

    result = _PLACE.sub(fill, text)
    return "" if missing else result


# --- Values that no single row holds --------------------------------------------------------------


def _mma_cells(files: Files) -> Iterator[tuple[Comparison, Comparison, Own | None, Own | None]]:
    """The dense cells of Luo et al., Table VII, that an H800 measured (throughput of mma), and the
    sparse ones, with our values."""
    cells = {c.label: c for c in comparisons() if c.id == "000-18" and c.gpu == "H800"}
    for label, dense in cells.items():
        if "sparse" not in label:
            sparse = cells[f"{label} sparse"]
            yield dense, sparse, own_value(files, dense.own)[0], own_value(files, sparse.own)[0]


def _mma_mean_share(files: Files, _: str) -> Own | None:
    cells = [(own, theory(dense.theory, files[0].device) if files else None)
             for dense, _, own, _ in _mma_cells(files)]  # fmt: skip
    if any(own is None or not peak for own, peak in cells):
        return None
    return Own(float(np.mean([own.value / peak for own, peak in cells])), "x", cells[-1][0].file)


def _sparse_mean_gain(files: Files, _: str) -> Own | None:
    cells = [(own, sparse) for *_, own, sparse in _mma_cells(files)]
    if any(own is None or sparse is None for own, sparse in cells):
        return None
    gains = [sparse.value / own.value for own, sparse in cells]
    return Own(float(np.mean(gains)), "x", cells[-1][0].file)


def _device(files: Files, name: str) -> Own | None:
    if not files:
        return None
    device = files[0].device
    value, unit = {
        "sm_count": (device.sm_count, "SMs"),
        "max_clock_mhz": (device.max_clock_mhz, "MHz"),
        "memory_gb": (device.memory_bytes * 2.0**-30, "GiB"),
        "memory_bus_bits": (device.memory_bus_bits, "bit"),
        "bandwidth_gb_s": (memory_gb_s(device.memory_clock_mhz, device.memory_bus_bits), "GB/s"),
        "l2_kib": (device.l2_bytes / 1024, "KiB"),
    }[name]
    return Own(float(value), unit, files[0].path)


# Operations per clock and SM of dense products at the full rate of compute capability 9.0.
_FULL_RATE = {"f16": 4096, "bf16": 4096, "tf32": 2048, "e4m3": 8192, "e5m2": 8192, "s8": 8192}


def _full_rate(files: Files, arguments: str) -> Own | None:
    """Of the throughput rows of a wgmma microbenchmark, the least share of the full rate at the
    clock that the GPU held, in percent ("share"), or that clock in GHz ("slowest", "fastest")."""
    what, name = arguments.split()
    shares, clocks, paths = [], [], []
    for file in files:
        for row in _rows(file, Selector("point", name, "throughput")):
            if row.at.get("input") not in _FULL_RATE or row.value is None or not row.clock_mhz:
                continue
            clock = row.clock_mhz * 1e6
            full = _FULL_RATE[row.at["input"]] * (2 if row.at.get("mode") == "sparse" else 1)
            share = row.value.median * 1e12 / (clock * file.device.sm_count * full)
            shares.append(100 * share)
            clocks.append(clock * 1e-9)
            paths.append(file.path)
    if not shares:
        return None
    values = {"share": min(shares), "slowest": min(clocks), "fastest": max(clocks)}
    return Own(values[what], "%" if what == "share" else "GHz", paths[0])


def _same_sign(files: Files, name: str) -> Own | None:
    """Of the ratios of an id, how many are on the published side of 1 ("signs <id>"), or how many
    there are ("all <id>")."""
    what, wanted = name.split()
    ratios = [c for c in comparisons() if c.id == wanted and c.kind == "ratio"]
    owns = [own_value(files, c.own)[0] for c in ratios]
    if None in owns:
        return None
    same = [(own.value > 1) == (c.low > 1) for own, c in zip(owns, ratios, strict=True)]
    return Own(float(len(same) if what == "all" else sum(same)), "cells", "")


def _printed(_: Files, arguments: str) -> Own:
    """A cell of a published table: "file|where|column"."""
    file, where, column = arguments.split("|")
    return Own(float(published_row(file, where, arguments)[column]), "", "")


def _drop_off_apps(files: Files, _: str) -> Own | None:
    apps = {i.by[4:] for i in inventory() if i.where == "Fig 4" and i.by.startswith("app ")}
    rows = [
        (file.path, row.variant)
        for file in files
        for group in file.document.groups
        for row in group.rows
        if row.role == "iso" and row.status == "ok"
    ]
    found = {a: path for a in apps for path, variant in rows if variant == f"{a}/drop_off"}
    return Own(float(len(found)), "benchmarks", found[min(found)]) if found else None


def _baseline_spread(files: Files, _: str) -> Own | None:
    """The largest standard deviation of baseline at iso, cold, in percent of its mean."""
    found = []
    for file in (file for file in files if file.document.provenance.study == "paper"):
        for group in (g for g in file.document.groups if g.key.cache == "cold" and not g.invalid):
            key = group.key
            cell = ", ".join([key.app, size_text(key.size), key.cache, key.launch])
            for row in group.rows:
                ran = row.status == "ok" and len(row.samples) > 1
                if ran and row.role == "iso" and row.variant.endswith("/baseline"):
                    times = row.samples.time_ms
                    spread = 100 * float(np.std(times, ddof=1) / np.mean(times))
                    found.append(Own(spread, "%", file.path, cell))
    return max(found, key=lambda own: own.value, default=None)


def _pair(arguments: str) -> Iterable[specifications.Spec]:
    return map(specifications.find_spec, arguments.split(" over "))


def _paper_balance(_: Files, arguments: str) -> Own:
    precision, name = arguments.split(" ", 1)
    return Own(specifications.find_spec(name).balance(precision), "byte/FLOP", "")


def _paper_density(_: Files, arguments: str) -> Own:
    one, other = _pair(arguments)
    return Own(one.density() / other.density(), "x", "")


def _paper_expected(_: Files, arguments: str) -> Own:
    what, pair = arguments.split(" ", 1)
    e = specifications.expect_specs(*_pair(pair))
    values = {"flop": e.flop_ratio, "bandwidth": e.bandwidth_ratio, "expected": e.expected}
    return Own(values[what], "x", "")


DERIVATIONS: dict[str, Callable[[Files, str], Own | None]] = {
    function.__name__[1:]: function
    for function in (
        _mma_mean_share, _sparse_mean_gain, _device, _full_rate, _same_sign, _printed,
        _drop_off_apps, _baseline_spread, _paper_balance, _paper_density, _paper_expected,
    )
}  # fmt: skip
