"""Styles on one chip: what programming as for Volta, Ampere and Hopper is worth on the same GPU.

The hardware is the same for all of them, so that the difference is software: the part of a new
GPU's gain that needs new code (plots/papers/generations.py has the other part). A style is the best
of the strategies that its architecture brought. The best of several is named after it was measured;
its interval allows for that: the intervals of all that could have been named hold together, so that
the largest of their ends hold for the best.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from plots.data.load import Results, Sampled, paired_times, samples_by_row
from plots.data.sessions import Sessions, rows_in
from plots.data.strategies import NAMES, STRATEGIES
from plots.statistics import special
from plots.statistics.between import SessionValue, new_session
from plots.statistics.claims import NOT_RESOLVED
from plots.statistics.intervals import (
    benjamini_hochberg,
    corrected_confidence,
    ends_of_logs,
    geometric_mean,
    median_interval,
)

CONFIDENCE = 0.95

# An interval whose ends differ by more than this factor says nothing that is worth its ink: there
# are too few rounds, or too few GPUs, for as many comparisons.
WIDEST = 2.0

BASELINE = "baseline"
# What came with cp.async (sm_80), and with the bulk copies and clusters of sm_90.
AMPERE = tuple(s.name for s in STRATEGIES if s.native_from == 80)
HOPPER = tuple(s.name for s in STRATEGIES if s.native_from == 90)


class Ratio(Protocol):
    """The logarithm of a ratio, how surely it is above and below 0, and its interval."""

    @property
    def value(self) -> float: ...

    def p_above(self) -> float: ...  # one-sided: of seeing this where it is not above

    def p_below(self) -> float: ...

    def ends(self, confidence: float) -> tuple[float, float]: ...


@dataclass(frozen=True)
class OneRun:
    """Logarithms of the ratios of the rounds of one run, by the sign test, and the interval of its
    A/A control: inside it nothing is
    distinguishable."""

    logs: tuple[float, ...]
    noise: tuple[float, float] = (math.nan, math.nan)

    @property
    def value(self) -> float:
        return float(np.median(self.logs))

    def _p(self, count: int) -> float:
        if self.noise[0] <= self.value <= self.noise[1]:
            return 1.0
        return float(special.bdtrc(count - 1, len(self.logs), 0.5)) if count else 1.0

    def p_above(self) -> float:
        return self._p(sum(log > 0 for log in self.logs))

    def p_below(self) -> float:
        return self._p(sum(log < 0 for log in self.logs))

    def ends(self, confidence: float) -> tuple[float, float]:
        found = median_interval(self.logs, confidence)
        # Too few rounds for this confidence: nothing is known of the ends.
        return (found.low, found.high) if found.coverage >= confidence else (-math.inf, math.inf)


@dataclass(frozen=True)
class Known:
    """A ratio that is so by definition: of a strategy to itself."""

    value: float = 0.0

    def p_above(self) -> float:
        return 1.0

    def p_below(self) -> float:
        return 1.0

    def ends(self, _: float) -> tuple[float, float]:
        return self.value, self.value


@dataclass(frozen=True)
class Best:
    """The largest over the lines of the smallest in each: the best candidate, each counted by what
    it has left beside its strongest rival. ``names`` are the candidates."""

    names: tuple[str, ...]
    lines: tuple[tuple[Ratio, ...], ...]

    @property
    def _count(self) -> int:
        return sum(not isinstance(e, Known) for line in self.lines for e in line)

    @property
    def value(self) -> float:
        return max(min(e.value for e in line) for line in self.lines)

    @property
    def winner(self) -> str:
        """The candidate with that value."""
        values = [min(e.value for e in line) for line in self.lines]
        return self.names[values.index(max(values))]

    @property
    def p_value(self) -> float:
        """Two-sided, of a best that is neither above nor below 0."""
        above = min(max(e.p_above() for e in line) for line in self.lines)
        below = max(min(e.p_below() for e in line) for line in self.lines)
        return min(1.0, 2 * self._count * min(above, below))

    def ends(self, confidence: float) -> tuple[float, float]:
        """An interval that holds for the best, whichever that is (Bonferroni)."""
        each = corrected_confidence(confidence, self._count)
        ends = [[e.ends(each) for e in line] for line in self.lines]
        return (
            max(min(low for low, _ in line) for line in ends),
            max(min(high for _, high in line) for line in ends),
        )

    @property
    def knows(self) -> str:
        """ "between runs" where sessions tell how far each of its ratios moves, else "one run"."""
        one = any(isinstance(e, OneRun) for line in self.lines for e in line)
        return "one run" if one else "between runs"


@dataclass(frozen=True)
class StyleGain:
    """A gain of one style over another in one case. ``claim`` is "faster", "slower" or "not
    resolved", corrected for all cases that are shown together."""

    winner: str
    ratio: float
    low: float
    high: float
    claim: str
    knows: str

    @property
    def resolved(self) -> bool:
        return self.claim != NOT_RESOLVED

    @property
    def known(self) -> bool:
        """Its interval tells something."""
        return self.high <= WIDEST * self.low


# What is asked of each case: column -> what it says.
QUESTIONS = {
    "ampere": "the best cp.async strategy over baseline",
    "hopper": "the best of tma and dsm over the best of all others",
    "all": "the best of all strategies over baseline",
    "movement": "the same, counting no strategy for more than its gain with baseline at the same "
    "schedule",
}


@dataclass(frozen=True)
class Case:
    """The answers for one app, size and mode on one GPU; None where it cannot be asked, because no
    strategy of the style was measured or its file has no schedules."""

    gpu: str
    group: str
    app: str
    size: str
    size_label: str
    cache: str
    launch: str
    gains: dict[str, StyleGain | None]


def _differences(sessions: Sessions, one: str, other: str | None = None) -> list[SessionValue]:
    """Sessions of a ratio, or of the quotient of two with a common baseline."""
    mine = sessions.found.get(one, ())
    if other is None:
        return [m.session for m in mine]
    theirs = {(m.session.gpu, m.date): m.session for m in sessions.found.get(other, ())}
    both = [
        (m.session, theirs[m.session.gpu, m.date])
        for m in mine
        if (m.session.gpu, m.date) in theirs
    ]
    return [SessionValue(a.gpu, a.value - b.value, math.hypot(a.error, b.error)) for a, b in both]


# What is asked of a comparison and of a row: all columns of hundreds of small frames take seconds.
_OF_COMPARISON = ["group", "gpu", "app", "strategy", "role", "schedule", "against_schedule",
                  "control", "identity", "noise_low", "noise_high"]  # fmt: skip
_OF_ROW = ["group", "row", "repeat", "identity"]


class _Group:
    """The comparisons of one group, its rows by their identity, and the samples of all rows. In
    lists, because a frame for each of hundreds of groups takes longer than what is done with
    it."""

    def __init__(
        self,
        sessions: Sessions,
        comparisons: list[Any],
        rows: Mapping[str, str],
        samples: Mapping[str, Sampled],
    ) -> None:
        self.sessions, self.comparisons = sessions, comparisons
        self._rows, self._samples = rows, samples
        # Several questions are about the same two strategies.
        self._known_ratios: dict[tuple[str, str | None], Ratio | None] = {}
        plain = [c for c in comparisons if not c.control]
        self.best = {c.strategy: c for c in plain if c.role == "best" and c.strategy in NAMES}
        # With the strategy's own schedule on both sides: the gain of movement alone.
        self.matched = {
            c.strategy: c
            for c in plain
            if c.role == "matched"
            and c.strategy in self.best
            and c.schedule == self.best[c.strategy].schedule
        }

    def _sampled(self, identity: str) -> Sampled | None:
        return self._samples.get(self._rows.get(identity, ""))

    def ratio(self, one: Any, other: Any | None) -> Ratio | None:
        """Of a comparison with the baseline, or of two strategies through their common baseline:
        between runs where that is known, else from the rounds of the run."""
        key = one.identity, None if other is None else other.identity
        if key not in self._known_ratios:
            self._known_ratios[key] = self._ratio(one, other)
        return self._known_ratios[key]

    def _ratio(self, one: Any, other: Any | None) -> Ratio | None:
        both = [one.identity] if other is None else [one.identity, other.identity]
        sessions = _differences(self.sessions, *both)
        known = sessions and new_session(sessions, self.sessions.kind_of(*both))
        if known:
            return known
        mine, reference = rows_in(one.identity)
        theirs = reference if other is None else rows_in(other.identity)[0]
        sides = [self._sampled(theirs), self._sampled(mine)]
        times = None if None in sides else paired_times(*sides)
        if times is None or not len(times[0]):
            return None
        noise = (math.log(one.noise_low), math.log(one.noise_high))
        return OneRun(tuple((np.log(times[0]) - np.log(times[1])).tolist()), noise)

    def over_baseline(self, strategies: Sequence[str], by_movement: bool) -> Best | None:
        """The best of several over the baseline; by movement none counts for more than its gain
        with the schedule that both have. None where that was not measured of one that gains more
        in all than the best by movement, so that it may be the best."""
        names, lines, not_told = [], [], []
        for name in strategies:
            if name not in self.best:
                continue
            line = [self.ratio(self.best[name], None)]
            same = self.best[name].schedule == self.best[name].against_schedule
            if by_movement and (not self.best[name].schedule):
                return None
            if by_movement and not same:
                if name not in self.matched:
                    not_told += [estimate.value for estimate in line if estimate is not None]
                    continue
                line.append(self.ratio(self.matched[name], None))
            if all(estimate is not None for estimate in line):
                names.append(name)
                lines.append(tuple(e for e in line if e is not None))
        best = Best(tuple(names), tuple(lines)) if lines else None
        if best is None or max(not_told, default=-math.inf) > max(best.value, 0):
            return None
        return best

    def over_others(self, strategies: Sequence[str]) -> Best | None:
        """The best of several over the best of all others, the baseline among them."""
        names, lines = [], []
        others = [name for name in self.best if name not in (*strategies, BASELINE)]
        for name in strategies:
            if name not in self.best:
                continue
            line = [self.ratio(self.best[name], None)]
            line += [self.ratio(self.best[name], self.best[other]) for other in others]
            if all(estimate is not None for estimate in line):
                names.append(name)
                lines.append(tuple(e for e in line if e is not None))
        return Best(tuple(names), tuple(lines)) if lines else None


def _by_group(results: Results) -> dict[str, _Group]:
    """What was compared and timed in each group with comparisons and samples."""
    samples = {row: (rounds, *of) for row, rounds, *of in samples_by_row(results)}
    compared: dict[str, list[Any]] = defaultdict(list)
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for c in results.comparisons[_OF_COMPARISON].itertuples():
        compared[c.group].append(c)
    for r in results.rows[_OF_ROW].itertuples():
        if r.repeat == 0:
            rows[r.group].setdefault(r.identity, r.row)
    sampled = set(results.samples["group"].unique())
    return {
        name: _Group(results.sessions, of, rows[name], samples)
        for name, of in compared.items()
        if name in sampled
    }


def _or_baseline(best: Best | None) -> Best | None:
    """The same with the baseline among the candidates, so that it is never below 1."""
    if best is None:
        return None
    return replace(best, names=(*best.names, BASELINE), lines=(*best.lines, (Known(),)))


def _asked(group: _Group) -> dict[str, Best | None]:
    others = (*AMPERE, *HOPPER)
    return {
        "ampere": group.over_baseline(AMPERE, by_movement=False),
        "hopper": group.over_others(HOPPER),
        "all": _or_baseline(group.over_baseline(others, by_movement=False)),
        "movement": _or_baseline(group.over_baseline(others, by_movement=True)),
    }


def _gain(best: Best, found: bool, level: float) -> StyleGain:
    low, high = ends_of_logs(*best.ends(1 - level))
    value = best.value
    claim = ("faster" if value > 0 else "slower") if found else NOT_RESOLVED
    return StyleGain(best.winner, math.exp(value), low, high, claim, best.knows)


def cases_of(results: Results, confidence: float = CONFIDENCE) -> list[Case]:
    """The styles in every group with a row of the baseline at its best. Of all gains that are
    resolved a share of 1 - ``confidence`` at most is so wrongly, on average (Benjamini and
    Hochberg over all cases and questions); the intervals are those that go with it."""
    by_group = _by_group(results)
    asked: list[tuple[Any, dict[str, Best | None]]] = []
    for of in results.groups.itertuples():
        group = by_group.get(of.group)
        if group is not None and set(group.best) - {BASELINE}:
            asked.append((of, _asked(group)))
    bests = [b for _, answers in asked for b in answers.values() if b is not None]
    discoveries = benjamini_hochberg([b.p_value for b in bests], 1 - confidence)
    found = iter(discoveries.found)
    cases = []
    for of, answers in asked:
        gains = {
            name: None if best is None else _gain(best, next(found), discoveries.level)
            for name, best in answers.items()
        }
        where = {n: getattr(of, n) for n in ("gpu", "group", "app", "size", "size_label")}
        cases.append(Case(**where, cache=of.cache, launch=of.launch, gains=gains))
    return cases


def any_case(results: Results, cache: str, launch: str) -> bool:
    """Whether cases_of() finds one in a mode; it takes long to say which."""
    of = results.groups
    wanted = set(of.loc[(of["cache"] == cache) & (of["launch"] == launch), "group"])
    wanted &= set(results.samples["group"].unique())
    compared = results.comparisons
    compared = compared[~compared["control"] & (compared["role"] == "best")]
    styled = compared["strategy"].isin(set(NAMES) - {BASELINE})
    return bool((styled & compared["group"].isin(wanted)).any())


@dataclass(frozen=True)
class Summary:
    """A question over several cases: the geometric mean of the gains, the smallest and the largest,
    and how many are faster, slower and not resolved."""

    n: int
    mean: float
    least: float
    most: float
    faster: int
    slower: int

    @property
    def undecided(self) -> int:
        return self.n - self.faster - self.slower


def summary(cases: Sequence[Case], question: str) -> Summary | None:
    """None where no case has an answer."""
    gains = [g for case in cases if (g := case.gains[question]) is not None]
    if not gains:
        return None
    ratios = [g.ratio for g in gains]
    return Summary(
        len(gains),
        geometric_mean(ratios),
        min(ratios),
        max(ratios),
        sum(g.claim == "faster" for g in gains),
        sum(g.claim == "slower" for g in gains),
    )
