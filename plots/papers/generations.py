"""One GPU after another: what a new one gains by itself, what by new ways of moving data, what was
to be expected, and what held it back.

For one case, best on new over best on old is a product. The *hardware gain* (the baseline on both)
is multiplied by what the other strategies gain on the new GPU (*software gain*), and divided by
what they gain on the old one. The microbenchmarks of both GPUs say which part of the hardware did
not grow as much as its data sheet lets one expect.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import Results
from plots.papers.expect import Measured, NothingInCommonError, compare_all
from plots.statistics.intervals import geometric_mean

# Units of which less is better; of the others of _MORE more is, and the rest says neither.
_LESS = ("cycles", "ns", "us", "ms")
_MORE = (
    "GB/s", "GFLOP/s", "TFLOP/s", "TOP/s", "byte/clk", "byte/clk/SM", "call/clk", "call/clk/SM",
    "instr/clk/SM", "additions/clk/SM", "FLOP/clk/SM", "Gkeys/s", "tokens/s", "TFLOP/s/W",
    "TOP/s/W",
)  # fmt: skip

# The ceilings of a floor, by its bound (harness/conclusions/recomputed.cpp).
_CEILINGS = {
    "bytes": ("read_bandwidth", "write_bandwidth", "copy_bandwidth"),
    "dependency": ("dependent_op_ns",),
}


def _point_keys(points: pd.DataFrame) -> pd.Series:
    at = points["at"].map(lambda at: ",".join(f"{k}={v}" for k, v in at.items()))
    return points["microbenchmark"] + "|" + at + "|" + points["quantity"] + "|" + points["unit"]


def point_ratios(new: Results, old: Results) -> pd.DataFrame:
    """The points measured on both GPUs with their ratio, above 1 when new is better. Points whose
    unit does not say which is better (a capacity, a number of blocks) are left out."""
    sides = []
    for results in (new, old):
        points = results.points[results.points["median"].notna() & (results.points["median"] > 0)]
        sides.append(points.assign(key=_point_keys(points)).drop_duplicates("key", keep="last"))
    columns = ["key", "microbenchmark", "at", "quantity", "unit", "median"]
    both = sides[0][columns].merge(sides[1][["key", "median"]], on="key", suffixes=("", "_old"))
    both = both[both["unit"].isin((*_LESS, *_MORE))]
    ratio = both["median"] / both["median_old"]
    return both.assign(ratio=np.where(both["unit"].isin(_LESS), 1 / ratio, ratio))


def by_microbenchmark(points: pd.DataFrame) -> pd.DataFrame:
    ratios = points.groupby(["microbenchmark", "quantity", "unit"])["ratio"]
    return ratios.agg(n="size", ratio=geometric_mean, least="min", most="max").reset_index()


@dataclass(frozen=True)
class Shortfall:
    """A row that gained less than the data sheets let one expect, and why: ``outcome`` is
    "explained" (its floor grew as little), "partly" (its floor grew too little, the row still
    less), "not by its floor" or "no floor"."""

    variant: str
    size_label: str
    cache: str
    launch: str
    ratio: float
    low: float
    high: float
    expected: float
    floor_ratio: float
    outcome: str
    text: str


def _ceilings_of(bound: str, kind: str) -> tuple[str, ...]:
    # tf32x3 has a third of the rate of tf32.
    return _CEILINGS.get(bound, (f"{kind.removesuffix('x3')}_rate",))


def shortfalls(measured: Measured, works: dict[str, Any]) -> list[Shortfall]:
    """The rows of the baseline at its best whose whole interval stays below what the data sheets
    let one expect. ``works``: app and size -> a group of it, which declares its work. Empty without
    data sheets."""
    if measured.datasheet is None:
        return []
    expected = measured.datasheet.expected
    by_name = measured.ceilings.set_index("name")["ratio"] if len(measured.ceilings) else {}
    found = []
    for r in measured.of_baseline.itertuples():
        if r.high >= expected:
            continue
        work = works.get(f"{r.app} {r.size}")
        names = _ceilings_of(r.bound_by, "" if work is None else str(work.kind))
        grown = ", ".join(f"{n} {by_name[n]:.2f}" for n in names if n in by_name)
        allows = f"its floor allows {r.floor_ratio:.2f} ({r.bound_by}: {grown or 'unknown'})"
        grew = f"its floor grew by {r.floor_ratio:.2f} only ({r.bound_by}: {grown})"
        if not np.isfinite(r.floor_ratio):
            outcome, text = "no floor", "no floor is known to compare it with"
        elif r.floor_ratio >= expected:
            outcome, text = "not by its floor", allows
        elif r.high >= r.floor_ratio:
            outcome, text = "explained", grew
        else:
            outcome, text = "partly", f"{grew}, the row by less"
        where = {n: getattr(r, n) for n in ("variant", "size_label", "cache", "launch")}
        ratios = {n: getattr(r, n) for n in ("ratio", "low", "high", "floor_ratio")}
        found.append(Shortfall(**where, **ratios, expected=expected, outcome=outcome, text=text))
    return found


@dataclass(frozen=True)
class Step:
    """One GPU over another model."""

    measured: Measured
    best: pd.DataFrame
    points: pd.DataFrame
    short: list[Shortfall]

    def _distinguishable(self) -> str:
        rows = self.measured.rows
        resolved, few = int(rows["resolved"].sum()), int(rows["too_few_rounds"].sum())
        if resolved:
            return f"{resolved} of {len(rows)} matching rows are statistically distinguishable."
        text = f"None of the {len(rows)} matching rows is statistically distinguishable"
        if few:
            text += f"; {few} have too few rounds for it, however much they differ"
        return text + ": measure with more rounds (--min-rounds), or several times (--sessions)."

    def sentences(self) -> list[str]:
        """The verdict: the ratio of the step, its factors, and what limits it."""
        m = self.measured
        if self.best.empty:
            return ["No verdict: no case has the baseline at its best on both sides."]
        b = self.best
        hardware, ratio = geometric_mean(b["hardware"]), geometric_mean(b["ratio"])
        new, old = geometric_mean(b["new_software"]), geometric_mean(b["old_software"])
        said = [
            f"{m.new_gpu} over {m.old_gpu}, geometric means of {len(b)} cases: {ratio:.2f} best on "
            f"best = {hardware:.2f} by hardware × {new:.2f} by the strategies of the new GPU / "
            f"{old:.2f} by those of the old."
        ]
        for expected, source in (
            (m.datasheet, "the data sheets"),
            (m.measured_ceilings, "the measured ceilings"),
        ):
            if expected is not None:
                share = hardware / expected.expected
                said.append(
                    f"The hardware delivers {share:.2f} of the {expected.expected:.2f} "
                    f"expected from {source} (limited by {expected.limited_by})."
                )
        rows = m.of_baseline
        floors = rows[rows["floor_ratio"] > 0]
        if len(floors):
            share = geometric_mean(floors["ratio"] / floors["floor_ratio"])
            said.append(
                f"Compared with each row's own floor it is {share:.2f} (1: as far from the floor "
                f"as before; {len(floors)} rows)."
            )
        said.append(self._distinguishable())
        if self.short:
            causes = pd.Series([s.outcome for s in self.short]).value_counts()
            counts = ", ".join(f"{n} {name}" for name, n in causes.items())
            said.append(
                f"{len(self.short)} of {len(rows)} rows of the baseline fall short of the data "
                f"sheets: {counts}."
            )
        return said


def pairs_of(results: Results, gpus: Iterable[tuple[str, str]]) -> list[tuple[Results, Results]]:
    """The results of pairs of GPUs, (new, old), each pair as one version of the suite recorded."""
    return [(new, old) for new, old in itertools.starmap(results.of_one_version, gpus)]


def steps(
    pairs: Sequence[tuple[Results, Results]],
) -> list[Step | NothingInCommonError]:
    """Steps from (new, old) results, each of one GPU; why there is none where no row of a pair
    matches. Raises PlotsError for a side of several GPUs."""
    found: list[Step | NothingInCommonError] = []
    for (new, old), measured in zip(pairs, compare_all(pairs), strict=True):
        if isinstance(measured, NothingInCommonError):
            found.append(measured)
            continue
        works = {f"{g.app} {g.size}": g for g in new.groups.itertuples(index=False)}
        points = by_microbenchmark(point_ratios(new, old))
        found.append(Step(measured, measured.best, points, shortfalls(measured, works)))
    return found
