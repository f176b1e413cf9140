"""The first screen: a heat map of what each strategy gains, with the answer of each app, how
certain it is and what was recorded beside it that says why."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plots.advice.advise import Advice
from plots.data.load import Results, main_size
from plots.data.profiles import profiles_beside
from plots.data.strategies import APPS, NAMES
from plots.figures import GpuSubject
from plots.judge.attribution import Attribution, attributions
from plots.judge.beside import rows_beside
from plots.judge.gains import Gain, gains_of
from plots.prose import percent, runs, shade
from plots.statistics.claims import UNDECIDED
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
    """A strategy of an app: its overall speed-up, best against best. ``below`` is what it consists
    of, where the schedules differ; ``step`` is its colour (prose.shade); ``row`` and ``against``
    are the rows whose samples stand behind the number."""

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


def _rows(rows: pd.DataFrame, group: str) -> pd.DataFrame:
    return rows[(rows["group"] == group) & (rows["repeat"] == 0)]


def _id(rows: pd.DataFrame, **wanted: str) -> str:
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    rows = rows[rows["median"].notna()]
    return str(rows.iloc[0]["row"]) if len(rows) else ""


def _cell(results: Results, rows: pd.DataFrame, strategy: str, gain: Gain | None) -> Cell:
    """The overall speed-up, and schedule × movement where that is known and not all movement."""
    mine = rows[(rows["strategy"] == strategy) & (rows["role"] == "best")]
    if mine.empty:
        return Cell(strategy, "–", detail=f"{strategy}: not run with its fastest geometry")
    row = mine.iloc[0]
    if row["status"] != "ok":
        reason = row["reason"] or "no reason was recorded"
        return Cell(strategy, row["status"], detail=f"{strategy}: {row['status']}, {reason}")
    found = results.comparisons
    found = found[(found["group"] == row["group"]) & (found["strategy"] == strategy)]
    found = found[(found["role"] == "best") & ~found["control"]]
    if found.empty:
        return Cell(strategy, "–", detail=f"{strategy}: not compared", row=str(row["row"]))
    c = found.iloc[0]
    text, below = times(c["ratio"]), ""
    if gain is None:
        text, what = f"{text} †", "the schedule's gain was not measured apart"
    else:
        what = gain.product()
        if not gain.same_schedule:
            parts = gain.by_schedule.ratio, gain.by_movement.ratio
            below = " × ".join(times(part).removesuffix("×") for part in parts)
    undecided = c["claim"] in UNDECIDED
    return Cell(
        strategy,
        text,
        _UNDECIDED_SIGN if undecided else _SIGNS.get(c["claim"], "="),
        below,
        0 if undecided else shade(c["ratio"]),
        f"{strategy}: {claimed_ratio(c['ratio'], c['low'], c['high'])}, {c['claim']}; {what}",
        str(row["row"]),
        _id(rows, strategy="baseline", role="best"),
    )


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
    if advice.outcome == "faster":
        sure = f"resolved, {claimed_ratio(advice.ratio, advice.low, advice.high)}"
        if advice.gain is not None and not advice.gain.same_schedule:
            sure += f", movement {advice.gain.by_movement.text()}"
    return f"{sure}; {runs(behind['sessions'], behind['gpus'])}; {noise}"


def _of_counters(found: Sequence[Attribution], schedule: str, advice: Advice) -> str:
    """The sentence of what the hardware counted of the strategy named and of baseline, with the
    same schedule where that is there; where none is named, of the strategy that differs most from
    baseline, each at its best. "" without counters."""
    of_app = [
        a for a in found
        if a.app == advice.app and a.verdict != "no counters" and a.role in ("best", "matched")
        and a.strategy != "baseline" and a.against == f"{a.app}/baseline"
    ]  # fmt: skip
    if advice.strategy not in (None, "baseline"):
        of_app = [a for a in of_app if a.strategy == advice.strategy]
    else:  # beside an answer about the overall speed-up, what explains that
        of_app = [a for a in of_app if a.role == "best"] or of_app

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
    if bound and np.isfinite(chosen["reached"]).all():
        reached = ", ".join(
            f"{name} {percent(f)}" for name, f in zip(names, chosen["reached"], strict=True)
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
    every = rows_beside(main)
    found = []
    for app in [*(a for a in APPS if a in apps), *sorted(apps - set(APPS))]:
        size = main_size(main.groups, app)
        group = main.groups[(main.groups["app"] == app) & (main.groups["size"] == size)].iloc[0]
        said = next(
            a for a in advice
            if (a.app, a.size, a.cache, a.launch) == (app, size, subject.cache, subject.launch)
        )  # fmt: skip
        rows = _rows(every, group["group"])
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
