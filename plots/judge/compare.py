"""Two sets of results, OLD and NEW: what became faster or slower, what is the same, and why.

Times, speed-ups and points of microbenchmarks are judged by one rule (plots/judge/sides.py). Of all
differences of a kind that are called so, a share of 1 - CONFIDENCE at most is wrong, on average
(Benjamini and Hochberg).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import Results
from plots.data.sessions import case_text
from plots.judge.causes import Causes, differences_of
from plots.judge.sides import (
    CONFIDENCE,
    EDGE_CONFIDENCE,
    MATCH,
    ONE_RUN_EACH,
    Pair,
    Said,
    Sides,
    key_of,
    nothing_in_common,
    parts_of,
)
from plots.statistics.between import LEAST_ROWS, log_error
from plots.statistics.claims import invalidity_in
from plots.statistics.intervals import benjamini_hochberg, geometric_mean

SAME_WITHIN = 0.05  # an interval that reaches farther from 1 does not tell that a value is the same


class Outcome(StrEnum):
    """What became of a value of OLD in NEW."""

    FASTER = "faster"
    SLOWER = "slower"
    LARGER = "larger"  # of a speed-up, and of a point of which more is neither better nor worse
    SMALLER = "smaller"
    SAME = "same"
    EDGE = "same, at the edge"
    NOT_RESOLVED = "not resolved"
    NOT_VALID = "not valid"
    FAILED = "failed"  # a wrong result or a crash
    NOT_POSSIBLE = "not possible"


CHANGED = (Outcome.FASTER, Outcome.SLOWER, Outcome.LARGER, Outcome.SMALLER)
REPEATED = (Outcome.SAME, Outcome.EDGE)


_BY_SCHEDULE, _BY_CONFIG = ("matched", "cross"), ("candidate", "counterpart")


def _within_role(row: Any) -> str:
    """What tells the rows, or comparisons, of a variant in one role apart. A best row is the best
    of each side."""
    if row.role in _BY_SCHEDULE:
        return str(row.schedule)
    return str(getattr(row, "config", "")) if row.role in _BY_CONFIG else ""


def _rows_by_key(results: Results) -> dict[tuple[Any, ...], Any]:
    """Every row but the A/A controls, whatever its status."""
    found: dict[tuple[Any, ...], Any] = {}
    for part in parts_of(results):
        for row in part.rows[part.rows["repeat"] == 0].itertuples():
            found.setdefault((*key_of(row), _within_role(row)), row)
    return found


def _comparisons_by_key(results: Results) -> dict[tuple[Any, ...], Any]:
    columns = (*MATCH, "schedule", "against", "against_schedule")
    found: dict[tuple[Any, ...], Any] = {}
    for part in parts_of(results):
        for c in part.comparisons[~part.comparisons["control"]].itertuples():
            if c.identity:
                found.setdefault(key_of(c, columns), c)
    return found


def _at(point: Any) -> str:
    return ",".join(f"{name}={value}" for name, value in point.at.items())


def _points_by_key(results: Results) -> dict[tuple[Any, ...], Any]:
    return {(p.microbenchmark, _at(p), p.quantity): p for p in results.points.itertuples()}


def case_of(row: Any) -> str:
    """ "nw n=8192 cold stream"."""
    return f"{row.app} {row.size} {row.cache} {row.launch}"


@dataclass(frozen=True)
class Value:
    """A value of OLD beside that of NEW. ``ratio`` is above 1 when NEW is better; of a speed-up,
    and of a point of which more is neither better nor worse, it is NEW over OLD."""

    outcome: Outcome
    quantity: str  # "time", "speed-up", or that of a point
    app: str  # or the microbenchmark
    name: str  # "nw/tma (best)", "memory/latency [footprint=1024]"
    at: str = ""  # the case; "" of a point
    strategy: str = ""
    unit: str = "ms"
    old: float = math.nan
    new: float = math.nan
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    knows: str = ""
    gb_s: float = math.nan  # of a time: the compulsory traffic over that of NEW
    of_floor: float = math.nan  # share of the floor that NEW reaches
    cause: str = ""  # likely, of a change; or why the value is not judged
    is_other_code: bool = False
    too_few_rounds: bool = False

    @property
    def is_judged(self) -> bool:
        return not math.isnan(self.ratio)


@dataclass(frozen=True)
class Comparison:
    """All values of OLD that NEW has, too; ``differences`` is what differs of the machines and
    builds, ``warnings`` what to know about the values."""

    old_gpu: str
    new_gpu: str
    values: list[Value]
    differences: list[str]
    warnings: list[str]
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)

    def of(self, *outcomes: Outcome) -> list[Value]:
        return [value for value in self.values if value.outcome in outcomes]

    def means(self) -> list[tuple[str, float, int, float, float]]:
        """By app: the geometric mean of the ratios of its times, how many, least and most."""
        ratios = defaultdict(list)
        for v in self.values:
            if v.quantity == "time" and v.is_judged:
                ratios[v.app].append(v.ratio)
        return [(app, geometric_mean(of), len(of), min(of), max(of)) for app, of in ratios.items()]

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(
            [vars(v) for v in self.values], columns=list(Value.__dataclass_fields__)
        )


def kind_of(value: Value) -> str:
    """ "time", "speed-up" or "point"."""
    return value.quantity if value.quantity in ("time", "speed-up") else "point"


@dataclass(frozen=True)
class Filter:
    """Which values are compared: ``only`` are globs of whole names of cases ("nw * cold stream") or
    microbenchmarks."""

    app: str | None = None
    strategy: str | None = None
    only: tuple[str, ...] = ()

    def takes(self, app: str, strategy: str, name: str) -> bool:
        return (
            self.app in (None, app)
            and self.strategy in (None, strategy)
            and (not self.only or any(fnmatchcase(name, glob) for glob in self.only))
        )


def _outcome(named: _Named, found: bool, level: float, threshold: float) -> Outcome:
    ratio, low, high = named.pair.interval(EDGE_CONFIDENCE)
    if found:
        better, worse = named.words
        changed = max(ratio, 1 / ratio) - 1 >= threshold
        return (better if ratio > 1 else worse) if changed else Outcome.SAME
    if named.pair.has_too_few_rounds(level):
        return Outcome.NOT_RESOLVED
    if not low <= 1 <= high:
        return Outcome.EDGE
    most = max(high, 1 / low) - 1 if low > 0 else math.inf
    return Outcome.SAME if most <= max(threshold, SAME_WITHIN) else Outcome.NOT_RESOLVED


_TIME = (Outcome.FASTER, Outcome.SLOWER)
_OTHER = (Outcome.LARGER, Outcome.SMALLER)


@dataclass(frozen=True)
class _Named:
    """A pair with what names it, and the words for a ratio above 1 and for one below."""

    pair: Pair
    value: dict[str, Any]
    words: tuple[Outcome, Outcome] = _TIME


class _Comparer:
    def __init__(self, sides: Sides, wanted: Filter) -> None:
        self.sides, self.wanted = sides, wanted
        self.unjudged: list[Value] = []
        self.only: tuple[list[str], list[str]] = ([], [])  # in OLD, in NEW

    def _takes(self, row: Any) -> bool:
        return self.wanted.takes(row.app, row.strategy, case_of(row))

    def times(self) -> Iterator[_Named]:
        new, old = _rows_by_key(self.sides.new), _rows_by_key(self.sides.old)
        for key, row in new.items():
            if key not in old and _has_run(row) and self._takes(row):
                self.only[1].append(f"{_name_of(row)} at {case_of(row)}")
        for key, other in old.items():
            if not (_has_run(other) and self._takes(other)):
                continue
            named = {
                "quantity": "time", "app": other.app, "strategy": other.strategy,
                "name": _name_of(other), "at": case_of(other),
            }  # fmt: skip
            row = new.get(key)
            if row is None:
                self.only[0].append(f"{named['name']} at {named['at']}")
            elif not _has_run(row):
                self.unjudged.append(_not_run(row, old=float(other.median), **named))
            elif self.sides.has_times(row, other):
                pair = self.sides.time_pair(row, other)
                took = pair.values[1]
                named["gb_s"] = 1e-6 * row.bytes / took
                named["of_floor"] = row.floor_ms / took
                yield _Named(pair, named)

    def speedups(self) -> Iterator[_Named]:
        new, old = _comparisons_by_key(self.sides.new), _comparisons_by_key(self.sides.old)
        for key, other in old.items():
            row = new.get(key)
            if row is None or not self._takes(other):
                continue
            said = _said_by_run(other), _said_by_run(row)
            pair = self.sides.pair("ratio", row, other, said, less=False)
            named = {
                "quantity": "speed-up", "app": other.app, "strategy": other.strategy, "unit": "x",
                "name": f"{_name_of(other)} over {other.against}", "at": case_of(other),
            }  # fmt: skip
            yield from self._told(pair, named, said, _OTHER)

    def points(self) -> Iterator[_Named]:
        new, old = _points_by_key(self.sides.new), _points_by_key(self.sides.old)
        for key, other in old.items():
            name = other.microbenchmark
            if not other.median > 0 or not self.wanted.takes(name, "", name):
                continue
            named = {
                "quantity": other.quantity, "app": name, "name": f"{name} [{_at(other)}]",
                "unit": other.unit,
            }  # fmt: skip
            row = new.get(key)
            if row is None:
                self.only[0].append(f"{named['name']} {other.quantity}")
            elif not row.median > 0:
                self.unjudged.append(_not_run(row, old=float(other.median), **named))
            else:
                said = _said_by_point(other), _said_by_point(row)
                larger = other.larger_is_better
                words = _TIME if isinstance(larger, (bool, np.bool_)) else _OTHER
                pair = self.sides.pair("point", row, other, said, less=larger is False)
                yield from self._told(pair, named, said, words)

    def _told(
        self, pair: Pair | None, named: dict[str, Any], said: tuple[Said, Said],
        words: tuple[Outcome, Outcome],
    ) -> Iterator[_Named]:  # fmt: skip
        if pair is not None:
            yield _Named(pair, named, words)
            return
        old, new = (of.value for of in said)
        why = "one sample, then or now, does not tell how far values move; a file with more does"
        self.unjudged.append(Value(Outcome.NOT_VALID, **named, old=old, new=new, cause=why))

    def not_valid(self) -> Iterator[Value]:
        """What both have, and at least one only from a disturbed measurement."""
        sides = (("OLD", self.sides.old), ("NEW", self.sides.new))
        has = {which: _cases_and_names(side) for which, side in sides}
        for which, side in sides:
            _, other = has["NEW" if which == "OLD" else "OLD"]
            seen: set[tuple[str, ...]] = set()
            for app, strategy, name, at, why in _disturbed(side):
                known = at or app
                key = (name, at)
                if known in has[which][0] or known not in other or key in seen:
                    continue
                if self.wanted.takes(app, strategy, known):
                    seen.add(key)
                    cause = f"in {which}: {why}"
                    yield Value(Outcome.NOT_VALID, "time" if at else "point", app, name, at,
                                strategy, cause=cause)  # fmt: skip


def _cases_and_names(results: Results) -> tuple[set[str], set[str]]:
    """Cases and microbenchmarks of a side: those with a valid measurement, and all."""
    valid = set(results.points["microbenchmark"])
    for part in parts_of(results):
        valid |= {case_of(g) for g in part.groups.itertuples()}
    return valid, valid | {at or app for app, _, _, at, _ in _disturbed(results)}


def _disturbed(results: Results) -> Iterator[tuple[str, str, str, str, str]]:
    """App (or microbenchmark), strategy, name, case and why, of rows in groups that are not valid
    and of microbenchmarks that are left out."""
    paths = set(results.files["path"])
    for document in (document for path, document in results.documents if path in paths):
        for group in (group for group in document.groups if group.invalid):
            key, why = group.key, group.invalid[0]
            at = case_text(key)
            for row in (row for row in group.rows if row.status == "ok"):
                strategy = row.variant.split("/", 1)[1]
                name = f"{row.variant} ({row.role})"
                yield key.app, strategy, name, at, f"{why.reason}; {why.remedy}"
        for m in document.microbenchmarks:
            if why := invalidity_in(m):
                yield m.name, "", m.name, "", why


def _has_run(row: Any) -> bool:
    return row.status == "ok" and not math.isnan(row.median)


def _name_of(row: Any) -> str:
    return f"{row.variant} ({' '.join(filter(None, (row.role, _within_role(row))))})"


def _not_run(row: Any, **named: Any) -> Value:
    outcome = Outcome.FAILED if row.status in ("failed", "crashed") else Outcome.NOT_POSSIBLE
    return Value(outcome, **named, cause=f"{row.status}: {row.reason or 'no time'}")


def _said_by_run(c: Any) -> Said:
    return Said(float(c.run_ratio), log_error(c.run_low, c.run_high, c.coverage), int(c.n))


def _said_by_point(p: Any) -> Said:
    return Said(float(p.median), log_error(p.low, p.high, p.coverage), int(p.n))


def _judged(named: Sequence[_Named], causes: Causes, threshold: float) -> list[Value]:
    """Of one kind of value, all together."""
    discoveries = benjamini_hochberg([n.pair.p_value for n in named], 1 - CONFIDENCE)
    values = []
    for n, found in zip(named, discoveries.found, strict=True):
        outcome = _outcome(n, found, discoveries.level, threshold)
        ratio, low, high = n.pair.interval(1 - discoveries.level)
        cause, is_other = causes.of(n.pair)
        few = not found and n.pair.has_too_few_rounds(discoveries.level)
        values.append(
            Value(
                outcome, **n.value, old=n.pair.values[0], new=n.pair.values[1], ratio=ratio,
                low=low, high=high, knows=n.pair.knows, is_other_code=is_other,
                cause=cause if outcome in CHANGED else "too few rounds" if few else "",
                too_few_rounds=few,
            )
        )  # fmt: skip
    return values


def _moved_together(values: Iterable[Value]) -> Iterator[str]:
    """Apps of which most times of unchanged code moved one way."""
    by_app = defaultdict(list)
    for v in values:
        if v.quantity == "time" and v.is_judged and not v.is_other_code:
            by_app[v.app].append(v)
    for app, of in by_app.items():
        counts = Counter(v.outcome for v in of)
        word = max(_TIME, key=lambda outcome: counts[outcome])
        if len(of) < LEAST_ROWS or 2 * counts[word] <= len(of):
            continue
        by = float(np.median([v.ratio for v in of]))
        by = by if word is Outcome.FASTER else 1 / by
        amount = f"{100 * (by - 1):.1f} %" if by < 1.1 else f"{by:.3g}x"
        yield (
            f"{counts[word]} of {len(of)} times of {app} with unchanged code became {word}, by "
            f"{amount} in the median. The cause is the machine, its clock or the build, and it is "
            f"part of every other difference of {app}"
        )


def _rounds_for(level: float) -> int:
    """The least number of rounds on each side that may reach this level."""
    return math.ceil(2 - math.log2(level))


def _warnings(sides: Sides, values: Sequence[Value]) -> Iterator[str]:
    yield from _moved_together(values)
    seeds = [
        {case_of(g): g.seed for part in parts_of(side) for g in part.groups.itertuples()}
        for side in (sides.old, sides.new)
    ]
    if any(seeds[1].get(case, seed) != seed for case, seed in seeds[0].items()):
        yield "the seeds of the inputs differ"
    times = [v for v in values if v.quantity == "time" and v.is_judged]
    few = sum(v.too_few_rounds for v in times)
    if few:
        rate = 1 - CONFIDENCE
        yield (
            f"{few} of {len(times)} times have too few rounds to resolve any difference: "
            f"{_rounds_for(rate)} rounds on each side are enough where all of them differ, "
            f"{_rounds_for(rate / len(times))} where one does (amasia run --min-rounds, or fewer "
            "cases)"
        )
    one_run = sum(v.knows == ONE_RUN_EACH for v in values)
    if one_run:
        yield (
            f"{one_run} of {sum(v.is_judged for v in values)} values are judged by one run on each "
            "side, and a plain re-run may differ by more: give files of repeated runs (amasia run "
            "--sessions, amasia merge), or --sessions FILE"
        )


def compare(
    new: Results, old: Results, *, more: Sequence[Results] = (), wanted: Filter = Filter(),
    threshold: float = 0.0,
) -> Comparison:  # fmt: skip
    """Every value that both have. ``more``: repeated runs, which tell how far values move.
    ``threshold``: a change of a smaller share is none. Raises PlotsError for a side of several
    GPUs, NothingInCommonError when nothing matches."""
    sides = Sides(new, old, more)
    comparer = _Comparer(sides, wanted)
    differences = differences_of(new, old)
    causes = Causes(sides, differences)
    values: list[Value] = []
    for named in (comparer.times(), comparer.speedups(), comparer.points()):
        values += _judged(list(named), causes, threshold)
    values += [*comparer.unjudged, *comparer.not_valid()]
    if not values:
        raise nothing_in_common(new, old)
    return Comparison(
        old.gpus[0], new.gpus[0], values, differences,
        list(_warnings(sides, values)), *comparer.only,
    )  # fmt: skip


def tally(values: Sequence[Value]) -> str:
    """ "3 faster, 1 slower, 38 same": what there is of the outcomes, in their order."""
    counts: Mapping[Outcome, int] = Counter(v.outcome for v in values)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome])
