"""Our value beside a published one: what a selector of comparisons.csv, or an expression of
several, takes of the result files of one GPU.

The head of comparisons.csv explains the words. A value is None where the files do not have it.
"""

from __future__ import annotations

import itertools
import operator
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plots.data.documents import Recorded
from plots.data.sessions import size_text
from plots.errors import PlotsError
from plots.papers.published import conditions, published_row, theory
from plots.statistics.claims import has_too_few_rounds
from plots.units import interval_digits

Files = Sequence[Recorded]


@dataclass(frozen=True)
class Own:
    """A value of ours, the file it is from and, of an app, the cell. ``low`` and ``high``: its
    interval; ``n``: of how many samples or rounds. Both None where it is made of several values."""

    value: float
    unit: str
    file: str
    cell: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None


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


KINDS = ("point", "best", "count", "finding", "ceiling", "speedup", "derived")
_MODES = ("cache", "launch", "schedule")
_SWEPT = re.compile(r"(least|mean|most) (.+) over (\w+)=(\S+)")
_EXPRESSION = re.compile(r"= (?P<terms>.+?)(?: in (?P<unit>\S+))?")


def swept(own: str) -> tuple[str, list[str]]:
    """What is taken of several selectors, "least", "mean" or "most", and each of them written out;
    "" and the only one where nothing is swept."""
    if (of := _SWEPT.fullmatch(own)) is None:
        return "", [own]
    each = [f"{of[3]}={value}" for value in of[4].split(",")]
    if of[2].startswith("= "):
        return of[1], [of[2].replace("]", f";{at}]") for at in each]
    return of[1], [" / ".join(f"{s};{at}" for s in of[2].split(" / ")) for at in each]


def selectors(own: str) -> list[Selector]:
    """One selector, the numerator and denominator, or those of an expression or a sweep. Raises
    PlotsError."""
    if len(several := swept(own)[1]) > 1:
        return [s for one in several for s in selectors(one)]
    if _EXPRESSION.fullmatch(own):
        return [s for text in re.findall(r"\[(.+?)\]", own) for s in selectors(text)]
    return [_selector(text) for text in own.split(" / ")]


def _selector(text: str) -> Selector:
    kind, name, rest = [*text.split(" ", 2), "", ""][:3]
    if kind not in KINDS or not name:
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


def _speedup(file: Recorded, s: Selector) -> Own | None:
    """Of several groups of the cell, that of most rounds."""
    found = []
    for group in (g for g in file.document.groups if not g.invalid):
        key = group.key
        cell = {k: str(v) for k, v in key.size.items()}
        cell |= {"cache": key.cache, "launch": key.launch}
        for c in group.comparisons:
            of_it = not c.control and (c.variant, c.role) == (s.name, s.quantity)
            if of_it and s.meets(cell | {"schedule": c.schedule}):
                words = [size_text(key.size, ", "), key.cache, key.launch, c.role]
                words += [c.schedule] if "schedule" in s.at else []
                r = c.speedup
                digits = interval_digits(r.low, r.high)
                interval = f"[{r.low:.{digits}f}; {r.high:.{digits}f}]"
                claim = c.claim or c.verdict
                few = has_too_few_rounds(c)
                words.append(f"{claim}: too few rounds" if few else f"{claim} {interval}")
                ends = (r.ratio, r.ratio) if few else (r.low, r.high)
                found.append(Own(r.ratio, "x", file.path, ", ".join(words), *ends, r.n))
    return max(found, key=lambda own: own.n, default=None)


def _value_of(row: Any, s: Selector, file: str) -> tuple[Own | None, str]:
    if row.value is None:
        return None, f"{row.status}: {row.reason}"
    if s.gbytes_per_s and row.clock_mhz is None:
        return None, ""
    scale = row.clock_mhz * 1e-3 if s.gbytes_per_s else 1
    value, low, high = (scale * x for x in (row.value.median, row.value.low, row.value.high))
    unit = "GB/s" if s.gbytes_per_s else row.unit
    return Own(value, unit, file, "", low, high, row.value.n), ""


def _rows(file: Recorded, s: Selector) -> Iterator[Any]:
    """The points of a file that a selector is of."""
    for m in file.document.microbenchmarks:
        if m.name == s.name:
            yield from (r for r in m.rows if r.quantity == s.quantity and s.meets(r.at))


def _only(found: Sequence[Any], s: Selector, file: Recorded) -> None:
    if len(found) > 1:
        raise PlotsError(f"{s.kind} {s.name} {s.quantity}: {len(found)} values in {file.path}")


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
        _only(of, s, file)
        return (Own(of[0].value, of[0].unit, file.path) if of else None), ""
    found = [_value_of(row, s, file.path) for row in _rows(file, s)]
    why = next((reason for _, reason in found if reason), "")
    owns = [own for own, _ in found if own is not None]
    if s.kind == "count":
        return (Own(len(owns), "", file.path) if found else None), why
    if s.kind == "point":
        _only(found, s, file)
        return (found[0][0] if found else None), why
    return max(owns, key=lambda own: own.value, default=None), why


def row_of(files: Files, own: str) -> Any:
    """The recorded row of a point, with its remark and proof; None when no file has it."""
    s = selectors(own)[0]
    return next((row for file in files for row in _rows(file, s)), None)


def _first(files: Files, s: Selector) -> tuple[Own | None, str]:
    """From the first file that has it, of more than one round where any has."""
    if s.kind == "derived":
        if s.name not in DERIVATIONS:
            raise PlotsError(f'"derived {s.name}": no such value')
        return DERIVATIONS[s.name](files, s.quantity), ""
    why, single = "", None
    for file in files:
        found, reason = _select(file, s)
        why = why or reason
        if found is not None and found.n != 1:
            return found, why
        single = single or found
    return single, why


def own_value(files: Files, own: str) -> tuple[Own | None, str]:
    """The value of a selector, of two that are divided, of an expression or of a sweep; with the
    reason when there is none."""
    what, several = swept(own)
    if what:
        of_each = [own_value(files, one) for one in several]
        owns = [found for found, _ in of_each if found is not None]
        if len(owns) < len(several):
            return None, next((reason for _, reason in of_each if reason), "")
        if what == "mean":
            return _made_of(owns, _mean), ""
        return {"least": min, "most": max}[what](owns, key=lambda o: o.value), ""
    expression = _EXPRESSION.fullmatch(own)
    values, why = [], ""
    for s in selectors(own):
        found, reason = _first(files, s)
        why = why or reason
        if found is None:
            return None, why
        values.append(found)
    if expression:
        at = itertools.count()
        terms = re.sub(r"\[.+?\]", lambda _: f"v{next(at)}", expression["terms"])

        def made(*of: float) -> float:
            return float(eval(terms, FUNCTIONS, {f"v{i}": value for i, value in enumerate(of)}))

        return _made_of(values, made, expression["unit"]), ""
    if len(values) == 1:
        return values[0], ""
    if not values[1].value:
        return None, why
    first, second = values
    unit = "x" if first.unit == second.unit else f"{first.unit}/{second.unit}"
    return replace(_made_of(values, operator.truediv, unit), cell=first.cell), ""


def _mean(*values: float) -> float:
    return statistics.fmean(values)


def _made_of(owns: Sequence[Own], function: Callable[..., float], unit: str | None = "") -> Own:
    """What is made of several, with the widest interval that theirs allow: the function rises or
    falls in each of them. Of more than thirteen it has none, their ends would be too many."""
    value, first = function(*(own.value for own in owns)), owns[0]
    n = min((own.n for own in owns if own.n is not None), default=None)
    ends = [(own.low, own.high) for own in owns]
    if len(owns) > 13 or any(None in pair for pair in ends):
        return Own(value, unit or first.unit, first.file, n=n)
    corners = [function(*corner) for corner in itertools.product(*ends)]
    return Own(value, unit or first.unit, first.file, "", min(corners), max(corners), n)


# What an expression of inputs/published/ may call: Python's arithmetic on selectors in brackets.
FUNCTIONS = {"min": min, "max": max, "mean": _mean, "__builtins__": {}}


_PLACE = re.compile(r"\{([^{}]*?)(?::([^{}:]*))?\}")


def filled(text: str, files: Files) -> str:
    """``text`` with our values in place of {selector:format}, without the sentences of which a file
    lacks one."""
    missing = False

    def fill(match: re.Match[str]) -> str:
        nonlocal missing
        own, _ = own_value(files, match[1])
        missing = missing or own is None
        return "" if own is None else format(own.value, match[2] or ".3g")

    told = []
    for sentence in re.split(r"(?<=[.:]) (?=[A-Z`])", text):
        missing = False
        made = _PLACE.sub(fill, sentence)
        told += [] if missing else [made]
    return " ".join(told)


def _promise(files: Files, quantity: str) -> Own | None:
    """What theory.csv and the data sheet promise of this GPU."""
    value = theory(quantity, files[0].device) if files else None
    return None if value is None else Own(value, "", "")


def _device(files: Files, arguments: str) -> Own | None:
    """What the device tells: "name unit", or "name unit divisor"."""
    name, unit, *divisor = arguments.split()
    if not files:
        return None
    value = float(getattr(files[0].device, name)) / float(*divisor or [1])
    return Own(value, unit, files[0].path)


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


def _printed(_: Files, arguments: str) -> Own:
    """A cell of a published table: "file|where|column"."""
    file, where, column = arguments.split("|")
    return Own(float(published_row(file, where, arguments)[column]), "", "")


def _baselines(files: Files) -> Iterator[tuple[Recorded, Any, str, Any]]:
    """Of each valid group the baseline at iso, and its control: file, key, cell and row."""
    for file in files:
        for group in (g for g in file.document.groups if not g.invalid):
            key = group.key
            cell = ", ".join([key.app, size_text(key.size, ", "), key.cache, key.launch])
            for row in group.rows:
                if row.status == "ok" and (row.variant, row.role) == (f"{key.app}/baseline", "iso"):
                    yield file, key, cell, row


def _baseline_spread(files: Files, which: str) -> Own | None:
    """The standard deviation of baseline at iso, cold, in percent of its mean: of the "median" row
    or of the one with the "most"."""
    found = []
    for file, key, cell, row in _baselines(files):
        of_study = file.document.provenance.study == "paper" and key.cache == "cold"
        if of_study and len(row.samples) > 1:
            times = row.samples.time_ms
            spread = 100 * float(np.std(times, ddof=1) / np.mean(times))
            found.append(Own(spread, "%", file.path, cell))
    found.sort(key=lambda own: own.value)
    return found[-1 if which == "most" else len(found) // 2] if found else None


def _run_spread(files: Files, app: str) -> Own | None:
    """The standard deviation over runs of an app's baseline at iso, in percent of its mean, each
    run by its median: of the cell with most runs, three at least."""
    cells: dict[tuple[str, str], list[float]] = {}
    for file, key, cell, row in _baselines(files):
        if key.app == app and row.repeat == 0:
            cells.setdefault((file.path, cell), []).append(row.time_ms.median)
    (path, cell), medians = max(cells.items(), key=lambda of: len(of[1]), default=(("", ""), []))
    if len(medians) < 3:
        return None
    spread = 100 * float(np.std(medians, ddof=1) / np.mean(medians))
    return Own(spread, "%", path, f"{cell}, {len(medians)} runs")


DERIVATIONS: dict[str, Callable[[Files, str], Own | None]] = {
    function.__name__[1:]: function
    for function in (_promise, _device, _full_rate, _printed, _baseline_spread, _run_spread)
}
