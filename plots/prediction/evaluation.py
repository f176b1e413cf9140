"""The model held against what was recorded.

Every app is left out in turn: what is fitted (model.Constants) and how wide intervals are is
learnt from the other apps, and never from the app that is predicted. Widths are of residuals that
were made the same way: of an app that was left out, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plots.advice.twin import Answer, Between, Twin, answers_left_out, answers_to_unseen
from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.prediction.model import Constants, Machine, Parts, combined, parts_of
from plots.prediction.traits import Row, family_of, numbers

ROLES = ("iso", "best", "matched", "cross")
WITHIN = 0.05  # a choice that costs no more than this share is as good as the best
CONFIDENCE = 0.9  # of intervals

# Where the constants are looked for: from parts that hide nothing to a hard maximum, and from an
# empty launch to sixteen latencies of memory beyond it.
POWERS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, math.inf)
TRIPS = tuple(0.5 * i for i in range(33))


# --- What is known of the rows --------------------------------------------------------------------


def row_of(record: Any, parameters: dict[str, Any]) -> Row:
    """What is known of a recorded row before it runs: never its times."""

    def known(value: float, otherwise: float) -> float:
        return otherwise if value is None or math.isnan(value) else float(value)

    return Row(
        app=record.app, strategy=record.strategy, schedule=record.schedule, size=parameters,
        geometry=numbers(record.geometry), movement=numbers(record.movement),
        config=record.config, cache=record.cache, launch=record.launch,
        blocks_per_sm=known(record.blocks_per_sm, 1), threads=known(record.threads, 256),
        cluster=known(record.cluster_blocks, 1), spilled=known(record.local_bytes, 0),
    )  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Recorded rows of one GPU, one line each in ``frame`` (app, family, strategy, group, schedule
    and so on, ``measured`` in ms), and beside it what the model makes of their traits.
    ``undeclared`` counts rows of which no traits are declared, by app and schedule."""

    frame: pd.DataFrame
    parts: tuple[Parts, ...]
    undeclared: Counter[str]

    def launches(self) -> np.ndarray:
        return np.array([p.launch for p in self.parts])

    def trips(self) -> np.ndarray:
        return np.array([p.trip for p in self.parts])

    def hosts(self) -> np.ndarray:
        return np.array([p.host for p in self.parts])

    def of_launches(self) -> dict[float, np.ndarray]:
        """power -> ms of the launches of each row."""
        sizes = [p.wait.size for p in self.parts]
        starts = np.cumsum([0, *sizes[:-1]])
        resources = np.concatenate([p.resources() for p in self.parts], axis=1)
        beside = np.concatenate([p.beside for p in self.parts])
        return {
            power: np.add.reduceat(combined(resources, power, beside), starts) for power in POWERS
        }


_COLUMNS = ["app", "family", "size", "size_label", "cache", "launch", "strategy", "group",
            "schedule", "role", "config", "floor", "measured", "carried"]  # fmt: skip


def rows_of(results: Results, gpu: str, machine: Machine) -> Rows:
    """Every verified row of the strategies, `amasia cross` included; the second baseline of a
    group, its control, is none."""
    lines: list[list[Any]] = []
    parts: list[Parts] = []
    undeclared: Counter[str] = Counter()
    for part in (results, results.cross):
        if part is None:
            continue
        groups = {g.group: g for g in part.groups[part.groups["gpu"] == gpu].itertuples()}
        rows = part.rows[part.rows["gpu"] == gpu]
        chosen = rows["role"].isin(ROLES) & (rows["repeat"] == 0) & (rows["status"] == "ok")
        for r in rows[chosen & (rows["median"] > 0)].itertuples():
            group = groups[r.group]
            row = row_of(r, group.parameters)
            family = family_of(row)
            if family is None:
                undeclared[f"{r.app} {r.schedule or r.config}"] += 1
                continue
            found = parts_of(
                machine, family.phases(machine, row), r.launch, bool(group.launch_blocked)
            )
            if not np.isfinite(found.resources()).all():
                undeclared[f"{r.app} {r.schedule}, at a rate that is not recorded"] += 1
                continue
            parts.append(found)
            # A schedule without a name: the config of the original is one, any other geometry is.
            schedule = r.schedule or ("iso" if r.role == "iso" else r.geometry)
            lines.append(
                [r.app, family.name, r.size, r.size_label, r.cache, r.launch, r.strategy, r.group,
                 schedule, r.role, r.config, float(r.floor_ms), float(r.median),
                 float(r.carried)]
            )  # fmt: skip
    return Rows(pd.DataFrame(lines, columns=_COLUMNS), tuple(parts), undeclared)


# --- Fitting, with apps left out ------------------------------------------------------------------


class Fitter:
    """Constants for any choice of apps, and the times that they give."""

    def __init__(self, rows: Rows) -> None:
        frame = rows.frame
        self._apps = frame["app"].to_numpy()
        self._families = (frame["app"] + " " + frame["family"]).to_numpy()
        self._log = np.log(frame["measured"].to_numpy())
        self._launches, self._trips = rows.launches(), rows.trips()
        self._hosts = rows.hosts()
        self._by_power = rows.of_launches()

    def times(self, constants: Constants) -> np.ndarray:
        """ms of every row."""
        taken = self._by_power[constants.power] + self._launches + constants.trips * self._trips
        return np.maximum(taken, self._hosts)

    def without(self, *apps: str) -> Constants:
        """The constants with the least absolute error, the median of each family and the mean of
        those, of all apps but these."""
        kept = ~np.isin(self._apps, apps)
        families = [kept & (self._families == f) for f in sorted(set(self._families[kept]))]
        best, least = Constants(), math.inf
        trips = np.array(TRIPS)[:, None]
        for power, taken in self._by_power.items():
            errors = []
            for mask in families:
                times = taken[mask] + self._launches[mask] + trips * self._trips[mask]
                times = np.log(np.maximum(times, self._hosts[mask]))
                errors.append(np.median(np.abs(times - self._log[mask]), axis=1))
            means = np.mean(errors, axis=0) if errors else np.zeros(len(TRIPS))
            at = int(np.argmin(means))
            if means[at] < least:
                best, least = Constants(power, TRIPS[at]), float(means[at])
        return best


def quantiles(values: np.ndarray, families: np.ndarray, at: Sequence[float]) -> list[float]:
    """Quantiles in which every family has the same weight, however many rows it has."""
    if not len(values):
        return [math.nan for _ in at]
    counts = Counter(families)
    weights = np.array([1 / counts[f] for f in families])
    order = np.argsort(values, kind="stable")
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return [float(np.interp(q, reached, values[order])) for q in at]


def _ends(values: np.ndarray, families: np.ndarray) -> tuple[float, float]:
    low, high = quantiles(values, families, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return low, high


@dataclass(frozen=True)
class LeftOut:
    """``rows`` with predicted, low and high, each predicted without its app; ``constants`` that did
    so, by app. ``nested``: by app, the predictions of all rows without that app and without their
    own, from whose residuals the app's intervals are made; NaN of the app itself."""

    rows: pd.DataFrame
    constants: dict[str, Constants]
    nested: dict[str, np.ndarray]


def left_out(rows: Rows) -> LeftOut:
    """Predicts every row from the other apps."""
    fitter = Fitter(rows)
    frame = rows.frame.copy()
    apps = frame["app"].to_numpy()
    families = (frame["app"] + " " + frame["family"]).to_numpy()
    measured = frame["measured"].to_numpy()
    predicted, low, high = (np.full(len(frame), np.nan) for _ in range(3))
    bound = np.full(len(frame), "", dtype=object)
    constants: dict[str, Constants] = {}
    nested: dict[str, np.ndarray] = {}
    known = list(dict.fromkeys(apps))
    pairs = {
        frozenset((a, b)): fitter.times(fitter.without(a, b))
        for i, a in enumerate(known)
        for b in known[:i]
    }
    for app in known:
        mine = apps == app
        constants[app] = fitter.without(app)
        predicted[mine] = fitter.times(constants[app])[mine]
        nested[app] = np.full(len(frame), np.nan)
        for other in known:
            if other != app:
                theirs = apps == other
                nested[app][theirs] = pairs[frozenset((app, other))][theirs]
        residuals = np.log(measured[~mine] / nested[app][~mine])
        ends = _ends(residuals, families[~mine])
        low[mine], high[mine] = (predicted[mine] * math.exp(end) for end in ends)
        for i in np.flatnonzero(mine):
            bound[i] = rows.parts[i].bound_by(constants[app])
    frame = frame.assign(predicted=predicted, low=low, high=high, bound=bound)
    return LeftOut(frame, constants, nested)


# --- Gains and advice -----------------------------------------------------------------------------

_CASE = ["group", "schedule"]  # an app, size, cache and launch mode; and a schedule of it


def _one_of_each(frame: pd.DataFrame) -> pd.DataFrame:
    """One row of each strategy of a case: where several configs were measured, the one predicted to
    be the fastest; then in the order of the strategies, so that a tie is no choice. ``beside`` is
    what was measured, as it stands beside rows of another session (Results.rows: carried)."""
    order = {name: i for i, name in enumerate(NAMES)}
    placed = frame.assign(
        place=frame["strategy"].map(order), beside=frame["measured"] * frame["carried"]
    )
    placed = placed.sort_values([*_CASE, "place", "predicted", "config"], kind="stable")
    return placed.drop_duplicates([*_CASE, "strategy"])


def _gains(frame: pd.DataFrame) -> pd.DataFrame:
    rows = _one_of_each(frame)
    base = rows[rows["strategy"] == "baseline"].set_index(_CASE)
    others = rows[rows["strategy"] != "baseline"]
    others = others[pd.MultiIndex.from_frame(others[_CASE]).isin(base.index)]
    at = pd.MultiIndex.from_frame(others[_CASE])
    gains = {
        name: base[of].reindex(at).to_numpy() / others[of].to_numpy()
        for name, of in (("measured", "beside"), ("predicted", "predicted"))
    }
    kept = ["app", "family", "size", "size_label", "cache", "launch", "strategy", *_CASE]
    return others[kept].assign(**gains).reset_index(drop=True)


def gains_of(found: LeftOut) -> pd.DataFrame:
    """Movement gains, a line per strategy and case with a baseline at the same schedule:
    ``measured`` and ``predicted``, and ``low`` and ``high`` from the residuals of other apps."""
    gains = _gains(found.rows)
    gains["low"], gains["high"] = np.nan, np.nan
    for app, predicted in found.nested.items():
        others = found.rows.assign(predicted=predicted)
        others = _gains(others[others["app"] != app])
        residuals = np.log(others["measured"] / others["predicted"]).to_numpy()
        ends = _ends(residuals, (others["app"] + " " + others["family"]).to_numpy())
        mine = gains["app"] == app
        for name, end in zip(("low", "high"), ends, strict=True):
            gains.loc[mine, name] = gains.loc[mine, "predicted"] * math.exp(end)
    return gains


def advice_of(frame: pd.DataFrame) -> pd.DataFrame:
    """A line per case in which several strategies were measured: ``first``, the strategy predicted
    to be the fastest, ``best``, the fastest, ``cost``, what the first takes over the best, less
    1."""
    lines = []
    for (group, schedule), case in _one_of_each(frame).groupby(_CASE, sort=False):
        if len(case) < 2:
            continue
        first = case.loc[case["predicted"].idxmin()]
        best = case.loc[case["beside"].idxmin()]
        times = {s: float(t) for s, t in zip(case["strategy"], case["beside"], strict=True)}
        lines.append(
            {
                "app": first["app"], "family": first["family"], "group": group,
                "schedule": schedule, "size_label": first["size_label"],
                "strategies": len(case), "first": first["strategy"], "best": best["strategy"],
                "cost": float(first["beside"] / best["beside"] - 1), "times": times,
            }
        )  # fmt: skip
    columns = ["app", "family", "group", "schedule", "size_label", "strategies", "first", "best",
               "cost", "times"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns)


# --- Figures --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors, and in how many cases the interval held the truth."""

    count: int
    median: float
    ninetieth: float
    covered: float


def errors_of(
    measured: Iterable[float],
    predicted: Iterable[float],
    ends: tuple[Iterable[float], Iterable[float]] | None = None,
) -> Errors:
    """Of predictions; NaN of none."""
    truth, said = (np.asarray(list(side), dtype=float) for side in (measured, predicted))
    if not len(truth):
        return Errors(0, math.nan, math.nan, math.nan)
    errors = np.abs(said / truth - 1)
    covered = math.nan
    if ends is not None:
        low, high = (np.asarray(list(side), dtype=float) for side in ends)
        covered = float(np.mean((low <= truth) & (truth <= high)))
    return Errors(len(truth), float(np.median(errors)), float(np.quantile(errors, 0.9)), covered)


def errors_in(frame: pd.DataFrame) -> Errors:
    """Of a frame with measured, predicted, low and high."""
    return errors_of(frame["measured"], frame["predicted"], (frame["low"], frame["high"]))


@dataclass(frozen=True)
class Advice:
    """How good the strategy named first is, over cases."""

    cases: int
    within: int  # it costs at most WITHIN more than the best
    mean_cost: float

    @property
    def share(self) -> float:
        return self.within / self.cases if self.cases else math.nan


def quality(advice: pd.DataFrame) -> Advice:
    """Of lines of advice_of()."""
    cost = advice["cost"].to_numpy(dtype=float)
    return Advice(
        len(cost), int((cost <= WITHIN).sum()), float(cost.mean()) if len(cost) else math.nan
    )


def always(advice: pd.DataFrame, strategy: str) -> Advice:
    """The same of one strategy whatever the case, over the cases in which it was measured."""
    cost = [t[strategy] / min(t.values()) - 1 for t in advice["times"] if strategy in t]
    return quality(pd.DataFrame({"cost": cost}))


# --- The twin -------------------------------------------------------------------------------------


def twins_left_out(twins: Sequence[Twin]) -> tuple[pd.DataFrame, int]:
    """Each recorded twin of a GPU asked for from the others: a line per strategy with the gain
    (measured, predicted, low, high) and the time (time, predicted_time), ``first`` and ``cost`` of
    the strategy named; and how many the others could not answer for."""
    return _twins_asked(twins, ((of, said, at) for at, of, said in answers_left_out(twins)))


def twins_unseen(twins: Sequence[Twin], unseen: Sequence[Twin]) -> tuple[pd.DataFrame, int]:
    """The same of twins of that GPU from which no answer is made."""
    return _twins_asked(twins, ((of, said, None) for of, said in answers_to_unseen(twins, unseen)))


def _twins_asked(
    twins: Sequence[Twin], asked: Iterable[tuple[Twin, Answer | None, int | None]]
) -> tuple[pd.DataFrame, int]:
    """Of each a twin, what was said of it, and its number among ``twins`` if it is one of them."""
    lines: list[dict[str, Any]] = []
    unanswered = 0
    # Of time per byte, which twins of all sizes share.
    times = Between(twins, lambda of, m: math.log(m.time_ms / float(of.traits["mebibytes"])))
    for line, (twin, said, number) in enumerate(asked):
        if said is None:
            unanswered += 1
            continue
        true = {**twin.times, "baseline": 1.0}
        cost = max(true.values()) / true.get(said.first, math.nan) - 1
        for choice in said.choices:
            name = choice.measured.strategy
            mine = twin.strategies.get(name)
            if mine is None or not mine.ok:
                continue
            time = times.said_of(name, twin.traits, number)
            is_base = name == "baseline"
            lines.append(
                {
                    "twin": line, "strategy": name,
                    "measured": math.nan if is_base else mine.ratio,
                    "predicted": math.nan if is_base else choice.measured.ratio,
                    "low": choice.measured.low, "high": choice.measured.high,
                    "time": mine.time_ms,
                    "predicted_time": math.nan if isinstance(time, str)
                    else float(twin.traits["mebibytes"]) * math.exp(time[0]),
                    "first": said.first, "cost": cost,
                }
            )  # fmt: skip
    columns = ["twin", "strategy", "measured", "predicted", "low", "high", "time",
               "predicted_time", "first", "cost"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns), unanswered


# --- From one GPU to another ----------------------------------------------------------------------


@dataclass(frozen=True)
class Transfer:
    """A GPU predicted from the times of another one and the microbenchmarks of both: rows of the
    same config, with ``measured``, ``predicted`` and ``unchanged`` (the time on the other GPU).
    ``borrowed``: what the GPU's own record lacks and the other's stands for."""

    gpu: str
    of: str
    rows: pd.DataFrame
    unmatched: int
    borrowed: tuple[str, ...]
    machine: Machine
    home: Machine


_SAME = ["app", "size", "cache", "launch", "strategy", "role", "schedule", "config"]


def transfer(
    results: Results, home: str, machine: Machine, constants: dict[str, Constants], gpu: str
) -> Transfer:
    """Predicts ``gpu`` from ``home``: each time by the ratio of what the model says of the two."""
    there, borrowed = Machine.with_fallback(results, gpu, machine)
    lines = []
    here = rows_of(results, home, machine)
    # Traits as they were known at home: blocks of an SM and the like are of the same code.
    same = rows_of(results, home, there)
    own = rows_of(results, gpu, there)
    truth = {
        tuple(key): value for *key, value in own.frame[[*_SAME, "measured"]].itertuples(index=False)
    }
    order = here.frame[[*_SAME, "family", "measured"]].itertuples(index=False)
    for (*key, family, measured), before, after in zip(order, here.parts, same.parts, strict=True):
        found = truth.get(tuple(key))
        if found is None:
            continue
        using = constants.get(key[0], Constants())
        ratio = after.time(using) / before.time(using)
        lines.append([*key, family, found, measured * ratio, measured, before.bound_by(using)])
    columns = [*_SAME, "family", "measured", "predicted", "unchanged", "bound"]
    frame = pd.DataFrame(lines, columns=columns)
    return Transfer(gpu, home, frame, len(own.frame) - len(frame), borrowed, there, machine)


def ratios(
    results: Results, home: str, machine: Machine, constants: dict[str, Constants], other: Machine
) -> pd.DataFrame:
    """The rows of ``home`` with ``ratio``, what the model says that they take on another machine
    over what they take on this one; nothing has to be recorded of the other."""
    here, there = (rows_of(results, home, m) for m in (machine, other))
    said = [
        after.time(constants.get(app, Constants())) / before.time(constants.get(app, Constants()))
        for app, before, after in zip(here.frame["app"], here.parts, there.parts, strict=True)
    ]
    return here.frame.assign(ratio=said)


# --- All of it ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """The model on one GPU."""

    gpu: str
    machine: Machine
    rows: pd.DataFrame
    gains: pd.DataFrame
    advice: pd.DataFrame
    constants: dict[str, Constants]
    undeclared: Counter[str]


def evaluate(results: Results, gpu: str) -> Evaluation:
    """Raises PlotsError when microbenchmarks or rows are missing."""
    machine = Machine.of(results, gpu)
    rows = rows_of(results, gpu, machine)
    if rows.frame["app"].nunique() < 3:
        raise PlotsError(
            f"rows of {rows.frame['app'].nunique()} apps with declared traits are recorded of "
            f"{gpu}; to leave one out and another one beside it, three are needed"
        )
    found = left_out(rows)
    return Evaluation(
        gpu, machine, found.rows, gains_of(found), advice_of(found.rows), found.constants,
        rows.undeclared,
    )  # fmt: skip


def home_of(results: Results) -> str:
    """The GPU that the model is held against: the first one, in the order of Results.gpus, of which
    rows and the microbenchmarks are recorded. Raises PlotsError that says what is missing where
    there is none."""
    missing = "no comparison group is recorded, so there is nothing to predict"
    for gpu in results.gpus:
        if not (results.rows["gpu"] == gpu).any():
            continue
        try:
            Machine.of(results, gpu)
        except PlotsError as error:
            missing = str(error)
            continue
        return gpu
    raise PlotsError(missing)
