"""OLD and NEW side by side: what tells whether two values differ.

Where sessions tell how far a value moves between runs, a difference is compared with that
(plots/statistics/between.py); else with the samples of one run on each side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy

from plots.data.load import Results, usable_times
from plots.data.sessions import Sessions, joined, offset_corrected, pool_of_all
from plots.errors import PlotsError
from plots.statistics.between import (
    Components,
    Estimate,
    Pool,
    SessionValue,
    difference,
    value_of,
)
from plots.statistics.intervals import (
    ends_of_logs,
    independent_p_value,
    independent_ratio,
    least_p_value,
)

CONFIDENCE = 0.95
CASE = ("app", "size", "cache", "launch")
MATCH = ("variant", "role", *CASE)
EDGE_CONFIDENCE = 0.9  # outside of an interval at this, a value that is not resolved is at the edge
BETWEEN_RUNS, ONE_RUN_EACH = "between runs", "one run each"
# Four digits show any difference that is larger. Equal samples say that they move by less than a
# reading tells, not that they do not move.
_LEAST_HALF_WIDTH = 1e-3


class NothingInCommonError(PlotsError):
    """Two sets of results of which no value can be compared, with why."""


@dataclass(frozen=True)
class Pair:
    """A value of each side. ``difference`` is of the logarithms, above 0 when NEW is better; where
    it is None, ``times`` (old, new) are compared as independent samples. ``values`` (old, new) are
    what the ratio is of."""

    new: Any
    old: Any
    values: tuple[float, float]
    difference: Estimate | None
    times: tuple[np.ndarray, np.ndarray] | None = None
    knows: str = BETWEEN_RUNS

    @cached_property
    def p_value(self) -> float:
        if self.difference is not None:
            return self.difference.p_value
        return independent_p_value(*self.times)

    def has_too_few_rounds(self, level: float) -> bool:
        """Whether even the clearest difference would not have been resolved."""
        return self.times is not None and least_p_value(min(map(len, self.times))) > level

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """Ratio, low, high."""
        if self.difference is not None:
            return math.exp(self.difference.value), *ends_of_logs(*self.difference.ends(confidence))
        ratio = independent_ratio(*self.times, confidence)
        return ratio.ratio, ratio.low, ratio.high


def _machines(results: Results) -> set[tuple[Any, ...]]:
    """Driver and build of each file: what sessions of one row agree in."""
    return {
        (
            p["device"]["driver_version"], p["device"]["runtime_version"], p["compiler"],
            p["cuda_compiler"], p["flags"], p["architectures"],
        )
        for p in results.files["provenance"]
    }  # fmt: skip


def _on_common_gpus(
    a: list[SessionValue], b: list[SessionValue]
) -> tuple[list[SessionValue], list[SessionValue]] | None:
    """The sessions on the GPUs of the side that has fewer, where the other side has all of these
    and more: effects of the GPUs cancel there. None where they cannot be chosen so."""
    of_a, of_b = {s.gpu for s in a}, {s.gpu for s in b}
    common = of_a & of_b
    if of_a == of_b or common not in (of_a, of_b):
        return None
    return [s for s in a if s.gpu in common], [s for s in b if s.gpu in common]


def _sessions_of(results: Results, quantity: str) -> Sessions:
    return results.point_sessions if quantity == "point" else results.sessions


class Sides:
    """OLD and NEW, each of one GPU model, with what their sessions, and those of ``more``, say of
    how far values move between runs. Raises PlotsError for a side of several GPUs."""

    def __init__(self, new: Results, old: Results, more: Sequence[Results] = ()) -> None:
        for results in (new, old):
            if len(results.gpus) != 1:
                raise PlotsError(
                    "expected results of one GPU on each side, found "
                    + (", ".join(results.gpus) or "none")
                )
        self.new, self.old, self._more = new, old, more

    @cached_property
    def _known(self) -> Callable[[str], Sessions]:
        """What is known of a quantity besides NEW. Values of the same code tell how far values
        move, too, where machines and builds agree, but not from what all of them differ by: that
        is what is to be judged."""
        new, old = self.new, self.old
        alike = new.gpus == old.gpus and len({*_machines(new), *_machines(old)}) == 1

        @cache
        def known(quantity: str) -> Sessions:
            mine, theirs = _sessions_of(new, quantity), _sessions_of(old, quantity)
            found = offset_corrected(theirs, mine, quantity) if alike else theirs
            return joined(found, *(_sessions_of(more, quantity) for more in self._more))

        return known

    @cached_property
    def _pool(self) -> Callable[[str, str, str], Pool]:
        @cache
        def pool(quantity: str, gpu: str, name: str) -> Pool:
            new = _sessions_of(self.new, quantity)
            return pool_of_all(quantity, gpu, name, self._known(quantity), new)

        return pool

    def _kind(self, quantity: str, gpu: str, sessions: Sessions, identity: str) -> Components:
        """What the others of its kind say of a value."""
        of_row = sessions.found.get(identity)
        if not of_row:
            return Components()
        return self._pool(quantity, gpu, of_row[0].pool).without(sessions.of(identity))

    def between(
        self, quantity: str, row: Any, other: Any
    ) -> tuple[Estimate, tuple[float, float]] | None:
        """OLD less NEW as sessions tell it, and both values; None where they do not."""
        new, old = (_sessions_of(side, quantity) for side in (self.new, self.old))
        mine, theirs = new.of(row.identity), old.of(other.identity)
        if not mine or not theirs:
            return None
        kind_of_old = self._kind(quantity, self.old.gpus[0], self._known(quantity), other.identity)
        kind_of_new = self._kind(quantity, self.new.gpus[0], new, row.identity)
        for a, b in filter(None, (_on_common_gpus(theirs, mine), (theirs, mine))):
            found = difference(a, kind_of_old, b, kind_of_new)
            if found is not None:
                return found, (value_of(a), value_of(b))
        return None

    @cached_property
    def new_times(self) -> dict[str, np.ndarray]:
        return _times_of(self.new)

    @cached_property
    def old_times(self) -> dict[str, np.ndarray]:
        return _times_of(self.old)

    def has_times(self, row: Any, other: Any) -> bool:
        """A summary without its samples cannot be compared."""
        return row.row in self.new_times and other.row in self.old_times

    def time_pair(self, row: Any, other: Any) -> Pair:
        """Two rows by their times."""
        found = self.between("time", row, other)
        if found is not None:
            return Pair(row, other, found[1], found[0])
        times = self.old_times[other.row], self.new_times[row.row]
        values = float(np.median(times[0])), float(np.median(times[1]))
        return Pair(row, other, values, None, times, ONE_RUN_EACH)

    def pair(
        self, quantity: str, row: Any, other: Any, said: tuple[Said, Said], *, less: bool
    ) -> Pair | None:
        """Two comparisons or points. ``said`` is what the run of each (old, new) says, ``less``
        whether less of it is better. None where neither sessions nor the two runs tell how far the
        value moves."""
        sign = 1 if less else -1
        found = self.between(quantity, row, other)
        if found is not None:
            d, values = found
            d, knows = Estimate(sign * d.value, d.deviation, d.degrees), BETWEEN_RUNS
        else:
            old, new = said
            if min(old.n, new.n) < 2:
                return None
            values, knows = (old.value, new.value), ONE_RUN_EACH
            d = Estimate(
                sign * math.log(old.value / new.value),
                math.hypot(old.error, new.error),
                max(1, min(old.n, new.n) - 1),
            )
        least = math.log1p(_LEAST_HALF_WIDTH) / _quantile(d.degrees)
        d = Estimate(d.value, max(d.deviation, least), d.degrees)
        return Pair(row, other, values, d, None, knows)


@dataclass(frozen=True)
class Said:
    """What a run says of a value: its standard deviation is of the logarithm."""

    value: float
    error: float
    n: int


def _quantile(degrees: float) -> float:
    return float(scipy.special.stdtrit(degrees, (1 + EDGE_CONFIDENCE) / 2))


def parts_of(results: Results) -> list[Results]:
    return [results, *filter(None, [results.cross])]


def _times_of(results: Results) -> dict[str, np.ndarray]:
    return {row: of for part in parts_of(results) for row, of in usable_times(part).items()}


def key_of(row: Any, columns: Sequence[str] = MATCH) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in columns)


def _extent(results: Results) -> str:
    """What a side has measured, to say why nothing of it matches."""
    apps = [
        f"{app} ({', '.join(sorted(set(of['cache'] + ' ' + of['launch'])))})"
        for app, of in results.groups.groupby("app")
    ]
    return ", ".join([*apps, *sorted(set(results.points["microbenchmark"]))]) or "no measurement"


def nothing_in_common(new: Results, old: Results) -> NothingInCommonError:
    return NothingInCommonError(
        "no row of one matches a row of the other (variant, role, size, modes): "
        f"{old.gpus[0]} has {_extent(old)}; {new.gpus[0]} has {_extent(new)}"
    )
