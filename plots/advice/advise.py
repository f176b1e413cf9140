"""Which strategy to choose: for each app and size the fastest one that was resolved, by how much,
at what cost, and from which size on.

Strategies are ranked by their overall speed-up, each at its best against baseline at its best. A
strategy may be fast because of the schedule that it was best with, which the baseline could have
had as well. So where baseline alone gains by that schedule (plots/judge/gains.py), the gain of
movement has to be resolved too. Strategies that ran faster than the one named are listed, each
with what would resolve it.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import LEAST_ROUNDS, LEAST_TOLD, Results, sizes_of
from plots.data.strategies import BY_NAME, code_lines, involved_lines, with_version
from plots.errors import PlotsError
from plots.judge.beside import times_beside
from plots.judge.gains import Gain, gains_of
from plots.prose import runs
from plots.statistics.claims import (
    INVALID,
    NOT_BETWEEN_RUNS,
    NOT_RESOLVED,
    UNDECIDED,
    WITHIN_NOISE,
    most_difference,
)
from plots.units import claimed_ratio, milliseconds


@dataclass(frozen=True)
class Advice:
    """The answer for one app, size, cache and launch mode.

    ``kind`` is what is no size in it, such as "mode=bf16": words that differ between the cases of
    the app; ``work`` is its bytes and operations. strategy is None when no strategy was found
    faster than baseline; ``outcome`` says why: "faster", "schedule" (some are, but none was found
    to be by the way it moves data), "not resolved", "baseline" (all others are slower) or "no
    comparison". ``rivals`` were faster too, with intervals that overlap the winner's. ``ahead``
    says of each strategy that ran faster than the winner, or than baseline where there is none, why
    it is not named. ``gain`` divides the winner's speed-up into schedule and movement, where that
    is known; of outcome "schedule", the largest one's. ``low`` and ``high`` are where a new run
    falls, where that is known; ``runs`` says what stands behind them. ``few_rounds`` is how many a
    group has that is not resolved, where a study would have gone on for more.
    """

    gpu: str
    app: str
    size: str
    size_label: str
    cache: str
    launch: str
    role: str
    outcome: str
    strategy: str | None = None
    ratio: float = np.nan
    low: float = np.nan
    high: float = np.nan
    median_ms: float = np.nan
    baseline_ms: float = np.nan
    rivals: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    few_rounds: int = 0
    tie: float = 0.0  # the share by which the undecided differ from baseline at most
    price: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())
    gain: Gain | None = None
    runs: str = ""
    kind: str = ""
    work: tuple[float, float] = (np.nan, np.nan)

    def sentence(self) -> str:
        """The advice in a sentence."""
        match self.outcome:
            case "faster":
                text = (
                    f"{self.strategy} ran {claimed_ratio(self.ratio, self.low, self.high)} "
                    f"faster than baseline ({milliseconds(self.median_ms)} against "
                    f"{milliseconds(self.baseline_ms)})"
                )
                if self.gain is not None:
                    text += f", which is {self.gain.product()}"
                if self.rivals:
                    text += f"; not distinguishable from {', '.join(self.rivals)}"
                text += f"; {self.runs}" if self.runs else ""
                return text + (f". Faster still: {'; '.join(self.ahead)}." if self.ahead else ".")
            case "schedule" if self.gain is not None:
                return (
                    "not resolved by movement: no strategy was found faster than baseline with the "
                    f"same schedule; {self.gain.strategy} ran {self.gain.total.text()} faster, "
                    f"{self.gain.product()}."
                    + (f" Faster still: {'; '.join(self.ahead)}." if self.ahead else "")
                )
            case "not resolved" if self.tie:
                return (
                    f"a tie: {', '.join(self.undecided)} and baseline differ by no more than "
                    f"{math.ceil(1000 * self.tie) / 10:.1f} %; no strategy was found faster."
                )
            case "not resolved":
                few = (
                    f" after {self.few_rounds} rounds, which are too few to tell"
                    if self.few_rounds
                    else ""
                )
                return (
                    f"not resolved{few}: no strategy was found faster than baseline; undecided: "
                    f"{', '.join(self.undecided)}."
                    + (f" Fastest measured: {self.ahead[0]}." if self.ahead else "")
                )
            case "baseline":
                return "baseline: every other strategy that ran is slower."
            case _:
                return "no comparison with baseline was recorded."


def _cost(row: Any, base: Any | None) -> tuple[str, ...]:
    def beside(name: str, unit: str, scale: float = 1) -> str | None:
        value = getattr(row, name)
        if not math.isfinite(value):
            return None
        text = f"{value / scale:.4g} {unit}"
        if base is not None and math.isfinite(getattr(base, name)):
            text += f" (baseline {getattr(base, name) / scale:.4g})"
        return text

    strategy = BY_NAME[row.strategy]
    parts = [
        beside("registers", "registers per thread"),
        beside("shared_bytes", "KiB shared memory per block", 1024),
        f"alignment {strategy.alignment}",
        f"needs {strategy.needs}",
    ]
    for count, what in ((code_lines, "in its own file"), (involved_lines, "in all files involved")):
        lines, of_baseline = (count(f"apps/{v}.cu") for v in (row.variant, f"{row.app}/baseline"))
        if lines is not None:
            text = f"{lines} lines {what}"
            parts.append(text + (f" (baseline {of_baseline})" if of_baseline is not None else ""))
    if math.isfinite(row.local_bytes) and row.local_bytes > 0:
        parts.append(f"{row.local_bytes:.0f} B of local memory per thread (spills)")
    return tuple(p for p in parts if p)


def _undecided_in_words(c: Any, rounds: int) -> str:
    """ "tma 1.17× [0.99, 1.19], not resolved; more rounds (--min-rounds 31 --max-rounds 31) may
    resolve it"."""
    gpus = "another GPU" if c.gpus <= 1 else "more GPUs"
    more = 2 * max(rounds, LEAST_ROUNDS) + 1
    remedies = {
        NOT_RESOLVED: f"more rounds (--min-rounds {more} --max-rounds {more})",
        NOT_BETWEEN_RUNS: f"more sessions (--sessions), on {gpus} of the model",
        WITHIN_NOISE: "a machine on which baseline differs less from itself, or another GPU",
    }
    text = f"{c.strategy} {claimed_ratio(c.ratio, c.low, c.high)}, {c.claim}"
    remedy = remedies.get(c.claim)
    return f"{text}; {remedy} may resolve it" if remedy else text


def _is_owed_to_the_schedule(gain: Gain) -> bool:
    """Whether baseline gains by the strategy's schedule, and the strategy was not found to gain
    beside it."""
    return gain.by_schedule.claim == "faster" and gain.by_movement.claim != "faster"


def _owed_to_the_schedule(gain: Gain) -> str:
    how = "slower" if gain.by_movement.resolved else "so that movement is not shown to gain"
    return (
        f"{gain.strategy} ran {gain.total.text()} faster overall, but with schedule "
        f"{gain.schedule} for both it is {gain.by_movement.text()}, {how}"
    )


def _beside(gain: Gain, rows: Sequence[Any]) -> list[str]:
    """What a reader with another schedule should know of the winner's."""
    remarks = []
    other = gain.at_baseline_schedule
    if other is not None:
        remarks.append(
            f"with {gain.baseline_schedule}, which baseline is best with, movement gains "
            f"{other.text()}; {gain.strategy} is best with {gain.schedule}"
        )
    else:
        wanted = ("matched", gain.strategy, gain.baseline_schedule)
        tried = (r.reason for r in rows if (r.role, r.strategy, r.schedule) == wanted and r.reason)
        why = next(tried, "it was not measured")
        remarks.append(
            f"{gain.strategy} is best with {gain.schedule}, baseline with "
            f"{gain.baseline_schedule}, with which {gain.strategy} has no time: {why}"
        )
    if gain.by_schedule.claim == "faster":
        remarks.append(
            f"baseline is faster with {gain.schedule} than with what the tuner chose for it, "
            f"{gain.baseline_schedule}: tune again at this size"
        )
    return remarks


# What an advice is made of.
_OF_ROW = ["group", "row", "app", "variant", "strategy", "role", "repeat", "status", "reason",
           "schedule", "geometry", "fallback", "registers", "shared_bytes",
           "local_bytes"]  # fmt: skip
_OF_COMPARISON = ["group", "variant", "strategy", "role", "control", "claim", "ratio", "low",
                  "high", "sessions", "gpus"]  # fmt: skip


def _by_group(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """The lines of each group. In lists, because a frame for each of hundreds of groups takes
    longer than what is done with it."""
    groups = defaultdict(list)
    for line in frame.itertuples(index=False):
        groups[line.group].append(line)
    return groups


def _tie(undecided: Sequence[Any]) -> float:
    """By how much these differ from baseline at most; 0 unless each is a tie."""
    most = [most_difference(c.low, c.high) for c in undecided if c.claim != INVALID]
    return max((m or 0.0 for m in most), default=0.0) if all(most) else 0.0


def _ahead(
    compared: Sequence[Any], rounds: int, of: float, owed: Sequence[Gain] = ()
) -> tuple[str, ...]:
    """What ran faster than a ratio and is not named, the fastest first."""
    said = {
        c.strategy: (c.ratio, _undecided_in_words(c, rounds))
        for c in compared
        if c.claim in UNDECIDED and c.ratio > of and not most_difference(c.low, c.high)
    }
    said |= {
        gain.strategy: (gain.total.ratio, _owed_to_the_schedule(gain))
        for gain in owed
        if gain.total.ratio > of
    }
    return tuple(text for _, text in sorted(said.values(), reverse=True))


def _libraries_beside(row: Any, rows: Sequence[Any], times: Mapping[str, float]) -> list[str]:
    return [
        f"{with_version(library.strategy, library.geometry)} takes "
        f"{milliseconds(times[library.row])}, "
        f"{times[library.row] / times[row.row]:.2f} of the time of {row.strategy}"
        + (", in a geometry of its own, not the original's" if row.role == "iso" else "")
        for library in rows
        if library.role == "comparator" and library.status == "ok"
    ]


def _one(
    rows: Sequence[Any],
    in_group: Sequence[Any],
    group: Any,
    role: str,
    gains: dict[str, Gain],
    times: Mapping[str, float],
) -> Advice:
    """The advice of a group from its rows and its comparisons; ``times`` are printed, by row."""
    rows = [row for row in rows if row.repeat == 0]
    of_role = {row.strategy: row for row in rows if row.role == role and row.status == "ok"}
    compared = [c for c in in_group if c.role == role]
    has_control = any(c.control for c in compared)
    # A comparison whose row failed, as in a file that was edited, recommends nothing.
    compared = [
        c for c in compared if not c.control and c.strategy in BY_NAME and c.strategy in of_role
    ]
    named = ("gpu", "app", "size", "size_label", "cache", "launch", "kind")
    where = {name: getattr(group, name) for name in named}
    where |= {"role": role, "work": (float(group.bytes), float(group.operations))}
    absences = tuple(
        f"{row.strategy} {row.status}" + (f": {row.reason}" if row.reason else "")
        for row in rows
        if row.role == role and row.status != "ok"
    )
    remarks = list(absences)
    if not has_control:
        remarks.append("no A/A control was run: a difference may be noise of the machine")
    undecided = tuple(c.strategy for c in compared if c.claim in UNDECIDED)
    faster = [c for c in compared if c.claim == "faster"]
    rounds = int(group.rounds)

    ahead = functools.partial(_ahead, compared, rounds)
    if not compared:
        others = sorted({c.role for c in in_group if not c.control} & {"iso", "best"})
        hints = tuple(f"compared at {other} only: --role {other}" for other in others)
        return Advice(**where, outcome="no comparison", remarks=absences + hints)
    if not faster:
        outcome = "not resolved" if undecided else "baseline"
        tie = _tie([c for c in compared if c.claim in UNDECIDED]) if rounds >= LEAST_TOLD else 0.0
        few = bool(undecided) and not tie and 0 < rounds < LEAST_ROUNDS
        return Advice(
            **where, outcome=outcome, undecided=undecided, ahead=ahead(1),
            remarks=tuple(remarks), few_rounds=rounds if few else 0, tie=tie,
        )  # fmt: skip
    known = [gains[c.strategy] for c in faster if c.strategy in gains]
    by_schedule = [gain for gain in known if _is_owed_to_the_schedule(gain)]
    owed = {gain.strategy for gain in by_schedule}
    faster = [c for c in faster if c.strategy not in owed]
    if not faster:
        largest = max(by_schedule, key=lambda gain: gain.total.ratio)
        remarks += [_owed_to_the_schedule(gain) for gain in by_schedule]
        return Advice(
            **where, outcome="schedule", undecided=undecided,
            ahead=ahead(largest.total.ratio), remarks=tuple(remarks), gain=largest,
        )  # fmt: skip
    best = max(faster, key=lambda c: c.ratio)
    winner = best.strategy
    rivals = [c.strategy for c in faster if c is not best and c.high >= best.low]
    # Those that ran faster are part of the sentence.
    remarks += [
        _owed_to_the_schedule(gain) for gain in by_schedule if gain.total.ratio <= best.ratio
    ]
    gain = gains.get(winner)
    if gain is not None and not gain.same_schedule:
        remarks += _beside(gain, rows)
    row, base = of_role[winner], of_role.get("baseline")
    remarks += _libraries_beside(row, rows, times)
    if row.fallback:
        remarks.append(f"{winner} fell back: {row.fallback}")
    return Advice(
        **where, outcome="faster", strategy=winner, ratio=float(best.ratio), low=float(best.low),
        high=float(best.high), median_ms=times[row.row],
        baseline_ms=times[base.row] if base is not None else np.nan, rivals=tuple(rivals),
        undecided=undecided, ahead=ahead(best.ratio, by_schedule), price=_cost(row, base),
        remarks=tuple(remarks), gain=gain, runs=runs(best.sessions, best.gpus),
    )  # fmt: skip


def _kinds_of(sizes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is no size in each of the sizes of an app, given with their parameters: the words in
    which they differ."""
    words = {s: {n: v for n, v in of.items() if isinstance(v, str)} for s, of in sizes.items()}
    names = sorted({name for of in words.values() for name in of})
    differing = [n for n in names if len({of.get(n, "") for of in words.values()}) > 1]
    return {
        size: " ".join(f"{n}={of[n]}" for n in differing if n in of) for size, of in words.items()
    }


def advise(results: Results, role: str = "best") -> list[Advice]:
    """One Advice per comparison group, by GPU, app, modes, kind, then size from small to large.

    Raises PlotsError when there is no group.
    """
    if results.groups.empty:
        raise PlotsError("no comparison group matches the selection")
    found = []
    gains: dict[str, dict[str, Gain]] = {}
    for gain in gains_of(results) if role == "best" else ():
        gains.setdefault(gain.group, {})[gain.strategy] = gain
    for gpu in results.gpus:
        of_gpu = results.where(gpu=gpu)
        rows = _by_group(of_gpu.rows[_OF_ROW])
        comparisons = _by_group(of_gpu.comparisons[_OF_COMPARISON])
        with_role = set(of_gpu.rows["group"][of_gpu.rows["role"] == role])
        times = times_beside(of_gpu)
        for name in sorted(set(of_gpu.groups["app"])):
            order = {size: i for i, size in enumerate(sizes_of(of_gpu.groups, name))}
            groups = of_gpu.groups[of_gpu.groups["app"] == name]
            kinds = _kinds_of(dict(zip(groups["size"], groups["parameters"], strict=True)))
            # Cases that ran in another role alone are no cases, where any ran in this one.
            ran = groups[groups["group"].isin(with_role)]
            groups = groups if ran.empty else ran
            groups = groups.assign(order=groups["size"].map(order), kind=groups["size"].map(kinds))
            by = ["cache", "launch", "kind", "order"]
            for group in groups.sort_values(by).itertuples():
                key = group.group
                of_group = rows.get(key, ()), comparisons.get(key, ())
                found.append(_one(*of_group, group, role, gains.get(key, {}), times))
    return found


def from_size_on(advice: list[Advice]) -> str:
    """From which size on the winner at the largest size is the choice; ``advice`` is of one GPU,
    app, mode and kind, from small to large."""
    last = advice[-1]
    largest = [a for a in advice if a.work == last.work]
    if len(largest) > 1:
        return (
            f"{len(largest)} cases have the largest size and differ in something else: what is the "
            "choice in one need not be in the next."
        )
    if last.outcome == "no comparison":
        return f"At the largest size ({last.size_label}) nothing was compared."
    if last.outcome == "schedule":
        return f"At the largest size ({last.size_label}) no strategy was found to gain by movement."
    if last.few_rounds:
        return (
            f"At the largest size ({last.size_label}) {last.few_rounds} rounds are too few to tell."
        )
    if last.strategy is None:
        text = f"At the largest size ({last.size_label}) no strategy was found faster"
        return f"{text}; {last.ahead[0]}." if last.ahead else f"{text}."
    ahead = f"; faster still at {last.size_label}: {last.ahead[0]}" if last.ahead else ""
    if len(advice) == 1:
        return f"Only one size was measured ({last.size_label}){ahead}."
    start = len(advice) - 1
    while start > 0:
        before = advice[start - 1]
        if last.strategy != before.strategy and last.strategy not in before.rivals:
            break
        start -= 1
    where = "at every size measured" if start == 0 else f"from {advice[start].size_label} on"
    # Where another ran fastest the sentence of that size names it first.
    ties = [a for a in advice[start:] if a.strategy != last.strategy]
    if len(ties) == 1:
        there, others = f"at {ties[0].size_label}", str(ties[0].strategy)
    elif ties:
        there = f"at {len(ties)} of these sizes"
        others = " or ".join(dict.fromkeys(str(a.strategy) for a in ties))
    if ties:
        tie = f"{others} ran fastest, and {last.strategy} is not distinguishable from it"
        ahead = f"; {there} {tie}{ahead}"
    return f"{last.strategy} is the choice {where}{ahead}."


def by_mode(advice: list[Advice]) -> list[list[Advice]]:
    """The advice split into runs of one GPU, app, cache and launch mode, and kind."""
    split: dict[tuple[str, ...], list[Advice]] = {}
    for a in advice:
        split.setdefault((a.gpu, a.app, a.cache, a.launch, a.kind), []).append(a)
    return list(split.values())


def as_text(results: Results, advice: list[Advice]) -> str:
    """The advice as plain text, with where its data are from."""
    lines: list[str] = []
    for block in by_mode(advice):
        first = block[0]
        dates = results.groups[
            (results.groups["gpu"] == first.gpu) & (results.groups["app"] == first.app)
        ]["date"]
        lines.append(
            f"{first.app} on {first.gpu} ({max(dates)[:10]}), {first.role} geometries, "
            f"{first.cache} cache, {first.launch} launches"
            + (f", {first.kind}" if first.kind else "")
        )
        for a in block:
            lines.append(f"  {a.size_label}: {a.sentence()}")
            if a.price:
                lines.append("    cost: " + "; ".join(a.price))
            lines += [f"    note: {remark}" for remark in a.remarks]
        lines += ["  " + from_size_on(block), ""]
    return "\n".join(lines).rstrip() + "\n"
