"""The first screen: a heat table of overall speed-ups, with the verdict of each app and what was
recorded beside it that says why."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from plots.advice.advise import Advice
from plots.data.load import Results
from plots.data.profiles import profiles_beside
from plots.data.strategies import NAMES
from plots.judge.attribution import Attribution, attributions
from plots.judge.beside import rows_beside
from plots.judge.gains import gains_of
from plots.prose import shade
from plots.report.heatmap import cell
from plots.report.verdicts import Verdict
from plots.statistics.claims import UNDECIDED
from plots.units import claimed_ratio, milliseconds, times

_BOUND = {
    "bytes": "memory traffic",
    "operations": "arithmetic",
    "dependency": "the longest chain of dependent operations",
}
# So that colour is never the only sign.
_SIGNS = {"faster": "▲", "slower": "▼", "reference": "", **dict.fromkeys(UNDECIDED, "≈")}


@dataclass(frozen=True)
class Cell:
    """A strategy of an app. ``step`` is its colour (prose.shade); ``row`` and ``against`` are the
    rows whose samples the number opens."""

    text: str
    sign: str = ""
    step: int = 0
    won: bool = False
    detail: str = ""
    row: str = ""
    against: str = ""


@dataclass(frozen=True)
class Line:
    """An app at its main size."""

    verdict: Verdict
    cells: tuple[Cell, ...]
    why: tuple[str, ...]


def _cell(
    results: Results, verdict: Verdict, name: str, products: dict[tuple[str, str], str]
) -> Cell:
    of = cell(results, verdict, name)
    if of.row is None:
        return Cell("–", detail=f"{name}: not run with its fastest geometry")
    row = str(of.row["row"])
    if of.row["status"] != "ok":
        reason = of.row["reason"] or "no reason was recorded"
        return Cell(of.kind, detail=f"{name}: {of.kind}, {reason}")
    won = name in verdict.winners
    if of.kind == "reference":
        time = milliseconds(of.row["beside_ms"])
        return Cell(time, won=won, detail=f"baseline: {time}", row=row)
    c = of.comparison
    if c is None:
        return Cell("–", detail=f"{name}: not compared", row=row)
    detail = f"{name}: {claimed_ratio(c['ratio'], c['low'], c['high'])}, {c['claim']}"
    if product := products.get((c["group"], name)):
        detail += f"; {product}"
    against = results.rows[results.rows["group"] == c["group"]]
    against = against[(against["strategy"] == "baseline") & (against["role"] == c["role"])]
    return Cell(
        times(c["ratio"]),
        _SIGNS.get(c["claim"], "="),
        0 if c["claim"] in UNDECIDED else shade(c["ratio"]),
        won,
        detail,
        row,
        str(against.iloc[0]["row"]) if len(against) else "",
    )


def _of_counters(found: Sequence[Attribution], schedule: str, advice: Advice) -> str:
    """The sentence of what the hardware counted of the strategy named and of baseline, with the
    same schedule where that is there; where none is named, of the strategy that differs most from
    baseline, each at its best. "" without counters."""
    of_app = [
        a for a in found
        if a.app == advice.app and a.verdict != "no counters" and a.role in ("best", "matched")
        and a.size_label == advice.size_label
        and a.strategy != "baseline" and a.against == f"{a.app}/baseline"
    ]  # fmt: skip
    named = advice.strategy not in (None, "baseline")
    if named:
        of_app = [a for a in of_app if a.strategy == advice.strategy]
    else:  # beside an answer about the overall speed-up, what explains that
        of_app = [a for a in of_app if a.role == "best"] or of_app

    def order(a: Attribution) -> tuple[bool, bool, float]:
        same = a.schedule == a.against_schedule
        own = not named or a.schedule == schedule
        return not (same and own), not same, -abs(math.log(a.ratio))

    return min(of_app, key=order).sentence if of_app else ""


def _of_floor(best: pd.DataFrame, advice: Advice) -> str:
    """How near baseline and the strategy named are to the bound, and their bytes in flight.
    ``best`` has a line for each strategy that ran at its best."""
    if "baseline" not in best.index:
        return "Baseline has no time."
    names = list(dict.fromkeys(["baseline", advice.strategy or "baseline"]))
    chosen = best.loc[[name for name in names if name in best.index]]
    said = []
    bound = chosen.iloc[0]["bound_by"]
    if bound and np.isfinite(chosen["reached"]).all():
        reached = ", ".join(f"{name} {100 * f:.0f} %" for name, f in chosen["reached"].items())
        said.append(f"The bound is {_BOUND[bound]}. Share of the bound: {reached}.")
    in_flight = chosen["bytes_in_flight_per_sm"]
    if len(chosen) > 1 and (in_flight > 0).all():
        listed = ", ".join(f"{name} {b / 1024:.3g} KiB" for name, b in in_flight.items())
        said.append(f"In flight per SM: {listed}.")
    return " ".join(said) or "No floor was measured."


def lines(results: Results, main: Results, found: Sequence[Verdict]) -> list[Line]:
    """A line per verdict; ``main`` are the results of the GPU in the mode that the verdicts are
    of."""
    profiles = profiles_beside(results)
    counted = attributions(main, profiles) if len(profiles) else []
    products = {(gain.group, gain.strategy): gain.product() for gain in gains_of(main)}
    rows = rows_beside(main)
    main = replace(main, rows=rows)
    made = []
    for verdict in found:
        a = verdict.advice
        best = rows[(rows["app"] == a.app) & (rows["size"] == a.size) & (rows["repeat"] == 0)]
        best = best[(best["role"] == a.role) & (best["status"] == "ok")].set_index("strategy")
        schedule = str(best.loc[a.strategy, "schedule"]) if a.strategy in best.index else ""
        cost = f"Cost: {'; '.join(a.price)}." if a.price else ""
        why = (_of_counters(counted, schedule, a), _of_floor(best, a), cost)
        cells = tuple(_cell(main, verdict, name, products) for name in NAMES)
        made.append(Line(verdict, cells, tuple(filter(None, why))))
    return made


def noise(results: Results) -> str:
    """What baseline differs from itself by, in a sentence."""
    controls = results.comparisons[results.comparisons["control"]]
    if controls.empty:
        return "No A/A control was measured: small differences may be noise of the machine"
    reach = f"{controls['low'].min():.3f} to {controls['high'].max():.3f}"
    said = f"Noise: baseline against itself {reach} in {len(controls)} controls"
    wrong = controls[controls["resolved"]]
    if wrong.empty:
        return said
    most = 100 * max(wrong["ratio"].max() - 1, 1 - wrong["ratio"].min())
    return f"{said}; {len(wrong)} of them differ from 1, by {most:.2g} % at most"
