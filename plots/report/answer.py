"""The first screen: a heat map of what movement gains, with the answer of each app, how certain it
is and what was recorded beside it that says why."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plots.advise import Advice
from plots.attribution import Attribution, attributions
from plots.claims import UNDECIDED
from plots.figures import GpuSubject
from plots.gains import Gain, Part, gains_of
from plots.load import Results, main_size
from plots.profiles import profiles_beside
from plots.prose import percent, runs, shade
from plots.strategies import APPS, NAMES
from plots.units import claimed_ratio, times

_BOUND = {
    "bytes": "memory traffic",
    "operations": "arithmetic",
    "dependency": "its longest chain of dependent operations",
}
_SIGNS = {"faster": "▲", "slower": "▼"}  # so that colour is never the only one
_UNDECIDED_SIGN = "≈"


@dataclass(frozen=True)
class Cell:
    """A strategy of an app. ``below`` is its gain in all, where that is another; ``step`` is its
    colour (prose.shade); ``row`` and ``against`` are the rows whose samples stand behind the
    number."""

    strategy: str
    text: str
    sign: str = ""
    below: str = ""
    step: int = 0
    detail: str = ""
    row: str = ""
    against: str = ""


@dataclass(frozen=True)
class Line:
    """An app at its main size."""

    app: str
    size_label: str
    cells: tuple[Cell, ...]
    answer: str
    certainty: str
    why: str


def _rows(results: Results, group: str) -> pd.DataFrame:
    rows = results.rows
    return rows[(rows["group"] == group) & (rows["repeat"] == 0)]


def _id(rows: pd.DataFrame, **wanted: str) -> str:
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    rows = rows[rows["median"].notna()]
    return str(rows.iloc[0]["row"]) if len(rows) else ""


def _measured(
    strategy: str, part: Part, what: str, row: str, against: str, below: str = ""
) -> Cell:
    sign = _UNDECIDED_SIGN if part.claim in UNDECIDED else _SIGNS.get(part.claim, "=")
    return Cell(
        strategy,
        times(part.ratio),
        sign,
        below,
        0 if part.claim in UNDECIDED else shade(part.ratio),
        f"{strategy}: {claimed_ratio(part.ratio, part.low, part.high)}, {part.claim}; {what}",
        row,
        against,
    )


def _cell(results: Results, rows: pd.DataFrame, strategy: str, gain: Gain | None) -> Cell:
    """The gain of movement; where that was not told apart from the schedule's, the gain in all."""
    mine = rows[(rows["strategy"] == strategy) & (rows["role"] == "best")]
    if mine.empty:
        return Cell(strategy, "–", detail=f"{strategy}: not run with its fastest geometry")
    row = mine.iloc[0]
    if row["status"] != "ok":
        reason = row["reason"] or "no reason was recorded"
        return Cell(strategy, row["status"], detail=f"{strategy}: {row['status']}, {reason}")
    if gain is not None:
        role = {"role": "best"} if gain.same_schedule else {
            "role": "matched", "schedule": gain.schedule,
        }  # fmt: skip
        against = _id(rows, strategy="baseline", **role)
        what = f"movement alone, both with schedule {gain.schedule}; in all {gain.total.text()}"
        below = "" if gain.same_schedule else f"in all {times(gain.total.ratio)}"
        return _measured(strategy, gain.by_movement, what, str(row["row"]), against, below)
    found = results.comparisons
    found = found[(found["group"] == row["group"]) & (found["strategy"] == strategy)]
    found = found[(found["role"] == "best") & ~found["control"]]
    if found.empty:
        return Cell(strategy, "–", detail=f"{strategy}: not compared", row=str(row["row"]))
    c = found.iloc[0]
    part = Part(float(c["ratio"]), float(c["low"]), float(c["high"]), c["claim"])
    what = "in all: the schedule's gain was not measured apart"
    against = _id(rows, strategy="baseline", role="best")
    cell = _measured(strategy, part, what, str(row["row"]), against)
    return Cell(**{**cell.__dict__, "text": cell.text + " †"})


def _certainty(results: Results, group: str, advice: Advice) -> str:
    """The interval of the answer and what stands behind it."""
    compared = results.comparisons
    compared = compared[(compared["group"] == group) & (compared["role"] == "best")]
    controls = compared[compared["control"]]
    noise = (
        f"noise {100 * max(controls['high'].max() - 1, 1 - controls['low'].min()):.2g} %"
        if len(controls)
        else "noise not measured"
    )
    compared = compared[~compared["control"]]
    if advice.strategy is not None:
        compared = compared[compared["strategy"] == advice.strategy]
    if compared.empty:
        return noise
    behind = compared.iloc[0]
    sure = "resolved" if advice.outcome in ("faster", "baseline") else "not resolved"
    if advice.gain is not None and advice.gain.by_movement.resolved:
        part = advice.gain.by_movement
        sure = f"resolved, movement {claimed_ratio(part.ratio, part.low, part.high)}"
    elif advice.outcome == "faster":
        sure = f"resolved, {claimed_ratio(advice.ratio, advice.low, advice.high)}"
    return f"{sure}; {runs(behind['sessions'], behind['gpus'])}; {noise}"


def _of_counters(found: Sequence[Attribution], schedule: str, advice: Advice) -> str:
    """The sentence of what the hardware counted of the strategy named and of baseline, with the
    same schedule where that is there; where none is named, of the strategy that differs most from
    baseline. "" without counters."""
    of_app = [
        a for a in found
        if a.app == advice.app and a.verdict != "no counters" and a.role in ("best", "matched")
        and a.strategy != "baseline" and a.against == f"{a.app}/baseline"
    ]  # fmt: skip
    if advice.strategy not in (None, "baseline"):
        of_app = [a for a in of_app if a.strategy == advice.strategy]

    def order(a: Attribution) -> tuple[bool, bool, float]:
        same = a.schedule == a.against_schedule
        own = advice.strategy in (None, "baseline") or a.schedule == schedule
        return not (same and own), not same, -abs(math.log(a.ratio))

    return min(of_app, key=order).sentence if of_app else ""


def _why(rows: pd.DataFrame, advice: Advice, found: Sequence[Attribution]) -> str:
    """What was recorded of baseline and of the strategy named: what the hardware counted, then how
    near each is to the least time, and how much it can have under way."""
    floor = _of_floor(rows, advice)
    mine = rows[(rows["role"] == "best") & (rows["strategy"] == advice.strategy)]
    schedule = str(mine.iloc[0]["schedule"]) if len(mine) else ""
    counted = _of_counters(found, schedule, advice)
    return f"{counted} {floor[0].upper()}{floor[1:]}" if counted else floor


def _of_floor(rows: pd.DataFrame, advice: Advice) -> str:
    """How near baseline and the strategy named are to the least time."""
    best = rows[(rows["role"] == "best") & (rows["status"] == "ok")].set_index("strategy")
    if "baseline" not in best.index:
        return "baseline has no time"
    names = ["baseline"]
    if advice.strategy in best.index and advice.strategy != "baseline":
        names.append(str(advice.strategy))
    chosen = best.loc[names]
    said = []
    bound = chosen.iloc[0]["bound_by"]
    if bound and np.isfinite(chosen["floor_fraction"]).all():
        reached = ", ".join(
            f"{name} {percent(f)}" for name, f in zip(names, chosen["floor_fraction"], strict=True)
        )
        said.append(f"the least time is set by {_BOUND[bound]}; reached of it: {reached}")
    under_way = chosen["bytes_in_flight_per_sm"]
    if len(names) > 1 and np.isfinite(under_way).all() and (under_way > 0).all():
        said.append(
            "under way per SM: "
            + ", ".join(f"{n} {b / 1024:.3g} KiB" for n, b in zip(names, under_way, strict=True))
        )
    return "; ".join(said) or "no floor was measured"


def lines(subject: GpuSubject, advice: list[Advice]) -> list[Line]:
    """One line per app, at its main size in the mode that single pictures show."""
    main = subject.main
    profiles = profiles_beside(subject.results)
    counted = attributions(main, profiles) if len(profiles) else []
    gains: dict[str, dict[str, Gain]] = defaultdict(dict)
    for gain in gains_of(main):
        gains[gain.group][gain.strategy] = gain
    # What was brought has names of its own, and a chapter.
    own = main.rows[(main.rows["role"] == "best") & ~main.rows["strategy"].isin(NAMES)]
    apps = set(main.groups["app"]) - set(own["app"])
    found = []
    for app in [*(a for a in APPS if a in apps), *sorted(apps - set(APPS))]:
        size = main_size(main.groups, app)
        group = main.groups[(main.groups["app"] == app) & (main.groups["size"] == size)].iloc[0]
        said = next(
            a for a in advice
            if (a.app, a.size, a.cache, a.launch) == (app, size, subject.cache, subject.launch)
        )  # fmt: skip
        rows = _rows(main, group["group"])
        cells = tuple(
            _cell(main, rows, name, gains[group["group"]].get(name))
            for name in NAMES
            if name != "baseline"
        )
        found.append(
            Line(app, group["size_label"], cells, said.sentence(),
                 _certainty(main, group["group"], said), _why(rows, said, counted))
        )  # fmt: skip
    return found


def noise(results: Results) -> str:
    """What baseline differs from itself by, in a sentence."""
    controls = results.comparisons[results.comparisons["control"]]
    if controls.empty:
        return "No A/A control was measured: small differences may be noise of the machine"
    reach = f"within {controls['low'].min():.4f} and {controls['high'].max():.4f}"
    wrong = controls[controls["resolved"]]
    said = f"Noise: baseline against itself stayed {reach} in {len(controls)} controls; "
    if wrong.empty:
        return said + "no control differs from itself"
    most = 100 * max(wrong["ratio"].max() - 1, 1 - wrong["ratio"].min())
    return said + (
        f"{len(wrong)} of {len(controls)} controls differ from themselves, by {most:.2g} % at "
        "most, and no smaller difference counts beside them"
    )
