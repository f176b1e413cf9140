"""What a strategy gains at its best, divided into what its schedule gains and what its way of
moving data gains (as harness/conclusions/comparison.cpp)."""

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from plots.data.load import Results, strategy_order
from plots.statistics.claims import UNDECIDED
from plots.units import claimed_ratio, interval_digits, times

SAME_SCHEDULE = "the same schedule"  # the claim of a schedule gain that is 1 by definition


@dataclass(frozen=True)
class Part:
    """A gain with its interval and what may be said of it (plots/statistics/claims.py)."""

    ratio: float
    low: float
    high: float
    claim: str

    @property
    def resolved(self) -> bool:
        """Faster or slower may be said."""
        return self.claim in ("faster", "slower")

    def text(self) -> str:
        """ "1.14× [1.13, 1.15]", or "1.01× [0.99, 1.02], not resolved"."""
        text = claimed_ratio(self.ratio, self.low, self.high)
        return f"{text}, {self.claim}" if self.claim in UNDECIDED else text


NO_SCHEDULE_GAIN = Part(1, 1, 1, SAME_SCHEDULE)


@dataclass(frozen=True)
class Gain:
    """Of one strategy in one group. Each ratio was measured in pairs in the same rounds, so that
    ``total`` is ``by_schedule`` times ``by_movement`` but for noise.

    ``total`` is the strategy at its best against the baseline at its best; ``by_schedule`` the
    baseline with the strategy's schedule against the baseline at its best, 1 where both are best
    with the same schedule; ``by_movement`` both with the strategy's schedule;
    ``at_baseline_schedule`` both with the baseline's, None where the strategy has no such row.
    """

    gpu: str
    group: str
    app: str
    size: str
    size_label: str
    cache: str
    launch: str
    strategy: str
    schedule: str
    baseline_schedule: str
    total: Part
    by_schedule: Part
    by_movement: Part
    at_baseline_schedule: Part | None

    @property
    def same_schedule(self) -> bool:
        """Both are best with one schedule: all of the total is movement."""
        return self.schedule == self.baseline_schedule

    @property
    def nature(self) -> str:
        """What the total mostly is, "movement" or "schedule"; "not resolved" where the gain of
        movement is not."""
        if not self.by_movement.resolved:
            return "not resolved"
        if self.same_schedule or not self.by_schedule.resolved:
            return "movement"
        schedule, movement = math.log(self.by_schedule.ratio), math.log(self.by_movement.ratio)
        return "schedule" if abs(schedule) > abs(movement) else "movement"

    def product(self) -> str:
        """ "1.10 schedule × 1.14 [1.13, 1.15] movement", what the total consists of."""
        movement = self.by_movement
        if self.same_schedule:
            return "all movement, with the same schedule"
        part = self.by_schedule
        digits = interval_digits(part.low, part.high) if part.resolved else 2
        text = claimed_ratio(movement.ratio, movement.low, movement.high).replace("×", "", 1)
        said = f" ({movement.claim})" if movement.claim in UNDECIDED else ""
        return f"{times(part.ratio, digits)[:-1]} schedule × {text} movement{said}"


def part_of(comparison: Any) -> Part:
    """The gain that a line of Results.comparisons is."""
    return Part(
        float(comparison.ratio), float(comparison.low), float(comparison.high), comparison.claim
    )


def gains_of(results: Results) -> list[Gain]:
    """Of every strategy whose gain by movement was measured, by group and strategy; empty for files
    without schedules."""
    compared = results.comparisons[~results.comparisons["control"]]
    matched: dict[tuple[str, str, str, str], Any] = {}
    for c in compared[compared["role"] == "matched"].itertuples():
        matched[c.group, c.variant, c.schedule, c.against_schedule] = c
    best = compared[(compared["role"] == "best") & (compared["variant"] != compared["against"])]
    best = best[(best["schedule"] != "") & (best["against_schedule"] != "")]
    found: dict[str, dict[str, Gain]] = defaultdict(dict)
    for c in best.itertuples():
        theirs, ours = c.schedule, c.against_schedule
        total = part_of(c)
        if theirs == ours:
            by_schedule, by_movement, at_baseline = NO_SCHEDULE_GAIN, total, total
        else:
            schedule_gain = matched.get((c.group, c.against, theirs, ours))
            movement_gain = matched.get((c.group, c.variant, theirs, theirs))
            if schedule_gain is None or movement_gain is None:
                continue
            by_schedule, by_movement = part_of(schedule_gain), part_of(movement_gain)
            other = matched.get((c.group, c.variant, ours, ours))
            at_baseline = None if other is None else part_of(other)
        where = {
            name: getattr(c, name)
            for name in ("gpu", "group", "app", "size", "size_label", "cache", "launch", "strategy")
        }
        found[c.group][c.strategy] = Gain(
            **where,
            schedule=theirs,
            baseline_schedule=ours,
            total=total,
            by_schedule=by_schedule,
            by_movement=by_movement,
            at_baseline_schedule=at_baseline,
        )
    return [of[name] for of in found.values() for name in strategy_order(of)]
