"""What a GPU generation promises and what it delivers: the expectation analysis of Svedin et al.
(2021, arXiv 2106.04979, section 6), for their GPUs, for datasheets, and for results of two GPUs.

The least speed-up to expect of any code is min(FLOP ratio, bandwidth ratio): whichever of the two
binds it, it has grown at least that much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import SHOWN_ROLES, Results
from plots.data.strategies import NAMES
from plots.judge.beside import times_beside
from plots.judge.compare import (
    CASE,
    CONFIDENCE,
    MATCH,
    NothingInCommonError,
    Pair,
    Sides,
    key_of,
    nothing_in_common,
)
from plots.papers.specifications import (
    QUOTED,
    Expectation,
    Spec,
    expect_specs,
    find_spec,
    paper_specs,
    quoted_mean,
    quoted_means,
    read_table,
    spec_of_driver,
)
from plots.statistics.intervals import benjamini_hochberg, geometric_mean

BASELINE = "baseline"
BEST_COLUMNS = [
    "app", "size_label", "cache", "launch", "hardware", "old_strategy", "old_software",
    "new_strategy", "new_software", "ratio", "low", "high", "resolved",
]  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Two sets of results side by side: ``new`` over ``old``.

    ``rows`` has one line per matching row (same variant, role, size, cache and launch mode, both
    verified and timed): old_ms, new_ms, ratio with interval, resolved, and floor_ratio, the ratio
    of their floors, which is the speed-up if both stay equally far from them. ``knows`` says what
    the interval knows, "between runs" or "one run each"; ``too_few_rounds`` marks rows of which
    even the clearest difference could not have been resolved. The times are those that the ratio
    is of: of all sessions, or of one run each.
    ``best`` has a line per case with baseline at its best on both: the fastest strategy of each
    GPU, and what the step consists of, ``ratio`` = ``hardware`` x ``new_software`` /
    ``old_software``, with the verdict on those two rows by the same rule as on all others.
    ``ceilings`` has the ratio of each ceiling measured on both, above 1 when new is better.
    """

    new_gpu: str
    old_gpu: str
    datasheet: Expectation | None
    measured_ceilings: Expectation | None
    ceilings: pd.DataFrame
    rows: pd.DataFrame
    best: pd.DataFrame
    only_new: int
    only_old: int

    def mean(self, **conditions: str) -> tuple[float, int]:
        """(geometric mean of the ratios, number of rows) of the rows that meet the conditions;
        NaN for none."""
        rows = self.rows
        for column, value in conditions.items():
            rows = rows[rows[column] == value]
        return (geometric_mean(rows["ratio"]) if len(rows) else np.nan), len(rows)


def _latest_ceilings(results: Results) -> pd.DataFrame:
    newest = results.ceilings.sort_values("date").drop_duplicates("name", keep="last")
    return newest.set_index("name")


def _ceiling_ratios(new: Results, old: Results) -> pd.DataFrame:
    a, b = _latest_ceilings(new), _latest_ceilings(old)
    names = [name for name in a.index if name in b.index]
    frame = pd.DataFrame(
        {
            "name": names,
            "unit": [a.loc[n, "unit"] for n in names],
            "new": [float(a.loc[n, "value"]) for n in names],
            "old": [float(b.loc[n, "value"]) for n in names],
        }
    )
    smaller_is_better = frame["unit"].isin(["ns", "us", "ms", "cycles"])
    ratio = frame["new"] / frame["old"]
    frame["ratio"] = np.where(smaller_is_better, 1 / ratio, ratio)
    return frame


def _usable(results: Results) -> pd.DataFrame:
    rows = results.rows
    # Which matched rows there are depends on what is best on each GPU.
    rows = rows[(rows["status"] == "ok") & (rows["repeat"] == 0) & rows["role"].isin(SHOWN_ROLES)]
    return rows[rows["median"].notna()]


def _told(pair: Pair, found: bool, level: float) -> dict[str, Any]:
    """The one verdict on two rows of two sides, with the numbers that it is about."""
    ratio, low, high = pair.interval(1 - level)
    return {
        "old_ms": pair.values[0],
        "new_ms": pair.values[1],
        "ratio": ratio,
        "low": low,
        "high": high,
        "resolved": found,
        "too_few_rounds": not found and pair.has_too_few_rounds(level),
        "knows": pair.knows,
    }


@dataclass(frozen=True)
class _Judged:
    """The pairs of two sets: the matching rows, then the fastest rows of a case that are of two
    strategies. ``best`` are, by case, the places of the baseline's pair and of the fastest one's;
    ``counts`` how many rows each set has."""

    new: Results
    old: Results
    pairs: list[Pair]
    matching: int
    best: list[tuple[int, int]]
    counts: tuple[int, int]


def _fastest(results: Results, rows: Sequence[Any]) -> dict[tuple[Any, ...], Any]:
    """case -> the row of the fastest strategy at its best."""
    times = times_beside(results)
    found: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        if row.role != "best" or row.strategy not in NAMES:
            continue
        other = found.get(key_of(row, CASE))
        if other is None or times[row.row] < times[other.row]:
            found[key_of(row, CASE)] = row
    return found


def _judge(new: Results, old: Results) -> _Judged:
    sides = Sides(new, old)
    a, b = list(_usable(new).itertuples()), list(_usable(old).itertuples())
    of_old = {key_of(row): row for row in b}
    both = [(row, of_old[key_of(row)]) for row in a if key_of(row) in of_old]
    if not both:
        raise nothing_in_common(new, old)
    matched = [(x, y) for x, y in both if sides.has_times(x, y)]
    if not matched:
        raise NothingInCommonError("the rows that match have no samples to compare")
    pairs = [sides.time_pair(row, other) for row, other in matched]
    places = {(pair.new.row, pair.old.row): i for i, pair in enumerate(pairs)}
    fastest = (
        _fastest(new, [row for row in a if row.row in sides.new_times]),
        _fastest(old, [row for row in b if row.row in sides.old_times]),
    )
    best = []
    for i, (row, _) in enumerate(matched):
        case = key_of(row, CASE)
        if (row.role, row.strategy) != ("best", BASELINE):
            continue
        first, second = fastest[0][case], fastest[1][case]
        if (first.row, second.row) not in places:
            places[first.row, second.row] = len(pairs)
            pairs.append(sides.time_pair(first, second))
        best.append((i, places[first.row, second.row]))
    return _Judged(new, old, pairs, len(matched), best, (len(a), len(b)))


def compare(new: Results, old: Results, confidence: float = CONFIDENCE) -> Measured:
    """Compares two sets of results, each of one GPU (select with Results.where). Where sessions
    tell how far rows move between runs, a difference is held against that, else against the samples
    of one run each. Of all rows that are resolved a share of 1 - ``confidence`` at most is so
    wrongly, on average.

    Raises PlotsError when a set holds several GPUs, NothingInCommonError when no row matches.
    """
    (measured,) = compare_all([(new, old)], confidence)
    if isinstance(measured, NothingInCommonError):
        raise measured
    return measured


def compare_all(
    pairs: Sequence[tuple[Results, Results]], confidence: float = CONFIDENCE
) -> list[Measured | NothingInCommonError]:
    """compare() of several pairs (new, old), with the number of all their rows allowed for. A pair
    in which no row matches has the reason in its place."""
    sides: list[_Judged | NothingInCommonError] = []
    for new, old in pairs:
        try:
            sides.append(_judge(new, old))
        except NothingInCommonError as error:
            sides.append(error)
    judged = [side for side in sides if isinstance(side, _Judged)]
    p_values = [pair.p_value for side in judged for pair in side.pairs]
    discoveries = benjamini_hochberg(p_values, 1 - confidence)
    found = iter(discoveries.found)
    return [
        _measured(side, [next(found) for _ in side.pairs], discoveries.level)
        if isinstance(side, _Judged)
        else side
        for side in sides
    ]


def _best_record(base: Pair, best: Pair, hardware: Any, told: Any) -> dict[str, Any]:
    """A line of ``Measured.best``: of the baseline's pair and of the fastest one's."""
    return {
        **{name: getattr(base.new, name) for name in ("app", "size_label", "cache", "launch")},
        "hardware": hardware["ratio"],
        "old_strategy": best.old.strategy,
        "old_software": hardware["old_ms"] / told["old_ms"],
        "new_strategy": best.new.strategy,
        "new_software": hardware["new_ms"] / told["new_ms"],
        **{name: told[name] for name in ("ratio", "low", "high", "resolved")},
    }


def expectations(
    new: Results, old: Results, ceilings: pd.DataFrame | None = None
) -> tuple[Expectation | None, Expectation | None]:
    """What data sheets, and what the measured ceilings let one expect; None where not known."""
    ceilings = _ceiling_ratios(new, old) if ceilings is None else ceilings
    by_name = ceilings.set_index("name")["ratio"]
    measured = None
    if {"fp32_rate", "copy_bandwidth"} <= set(by_name.index):
        measured = Expectation(
            new.gpus[0], old.gpus[0], by_name["fp32_rate"], by_name["copy_bandwidth"],
            "fp32_rate and copy_bandwidth measured in the result files",
        )  # fmt: skip
    specs = spec_of_driver(new.gpus[0]), spec_of_driver(old.gpus[0])
    return expect_specs(*specs) if specs[0] and specs[1] else None, measured


def _measured(side: _Judged, found_of: Sequence[bool], level: float) -> Measured:
    new, old = side.new, side.old
    told = [_told(pair, found, level) for pair, found in zip(side.pairs, found_of, strict=True)]
    records = []
    for pair, of in zip(side.pairs[: side.matching], told, strict=False):
        row, other = pair.new, pair.old
        records.append(
            {
                **dict(zip(MATCH, key_of(row), strict=True)),
                "strategy": row.strategy,
                "size_label": row.size_label,
                "config_new": row.config,
                "config_old": other.config,
                **of,
                # Nothing to read, write or compute has no floor.
                "floor_ratio": other.floor_ms / row.floor_ms if row.floor_ms else np.nan,
                "bound_by": row.bound_by,
            }
        )
    best = [_best_record(side.pairs[i], side.pairs[j], told[i], told[j]) for i, j in side.best]
    ceilings = _ceiling_ratios(new, old)
    datasheet, by_ceilings = expectations(new, old, ceilings)
    return Measured(
        new_gpu=new.gpus[0],
        old_gpu=old.gpus[0],
        datasheet=datasheet,
        measured_ceilings=by_ceilings,
        ceilings=ceilings,
        rows=pd.DataFrame(records),
        best=pd.DataFrame(best, columns=BEST_COLUMNS),
        only_new=side.counts[0] - len(records),
        only_old=side.counts[1] - len(records),
    )


def mean_table(measured: Measured) -> list[dict[str, Any]]:
    """Geometric means of the measured speed-ups by role and strategy, with the number of rows."""
    keys = measured.rows[["role", "strategy"]].drop_duplicates()
    records = []
    for key in keys.itertuples(index=False):
        mean, n = measured.mean(role=key.role, strategy=key.strategy)
        records.append({"role": key.role, "strategy": key.strategy, "mean": mean, "n": n})
    return records


def quoted_programs() -> pd.DataFrame:
    """The speed-ups of single programs from a V100 to an A100 that the paper quotes: program,
    speed-up."""
    rows = read_table(QUOTED)
    rows = rows[rows["quantity"].str.fullmatch(r"[A-Z]+ speed-up")]
    return pd.DataFrame(
        {
            "program": rows["quantity"].str.removesuffix(" speed-up"),
            "speedup": rows["value_low"].astype(float),
        }
    ).reset_index(drop=True)


@dataclass(frozen=True)
class OtherModule:
    """The paper's A100 over V100 once more, with another module of the V100 than its Table 1 has:
    what is then expected, and which part of it the quoted mean is."""

    name: str
    expectation: Expectation
    printed: Expectation
    mean: float

    def sentences(self) -> list[str]:
        """What changes."""
        ratio = self.mean / self.expectation.expected
        word = "as much as" if ratio >= 1 else "less than"
        return [
            f"By Table 1 one expects {self.printed}; the quoted mean of {self.mean:g} is "
            f"{self.mean / self.printed.expected:.2f} of it, less than expected, on which the "
            "paper's question rests.",
            f"With the {self.name}'s data sheet one expects {self.expectation}; the same mean is "
            f"{ratio:.2f} of it, {word} expected.",
        ]


def other_module(name: str = "V100 SXM2") -> OtherModule:
    """The A100 over that V100."""
    new, old = find_spec("A100"), find_spec("V100")
    found = quoted_mean("A100", "V100")
    assert found is not None
    return OtherModule(name, expect_specs(new, find_spec(name)), expect_specs(new, old), found[0])


def module_of_table1() -> str:
    """Which V100 the paper's Table 1 describes: a sentence, from its figures and the two data
    sheets."""
    here, pcie, sxm = find_spec("V100"), find_spec("V100 PCIe"), find_spec("V100 SXM2")
    return (
        f"Table 1 gives its V100 {here.fp32_tflops:g} TFLOP/s, near the {pcie.fp32_tflops:g} of "
        f"the {pcie.name} (the {sxm.name} has {sxm.fp32_tflops:g}), and {here.tdp_w:g} W, the "
        f"power of the {sxm.name} (the {pcie.name} has {pcie.tdp_w:g} W): the figures are of two "
        "modules."
    )


def quoted_values() -> pd.DataFrame:
    """Every speed-up, ratio and share that the paper's text quotes: where, quantity, subject,
    baseline, value (a range, a mean and a deviation as printed) and unit."""
    rows = read_table(QUOTED)

    def value(r: Any) -> str:
        parts = []
        if pd.notna(r.value_low):
            ends = dict.fromkeys((r.value_low, r.value_high))
            parts.append(" to ".join(f"{end:g}" for end in ends))
        if pd.notna(r.mean):
            parts.append(f"mean {r.mean:g}")
        if pd.notna(r.std_dev):
            parts.append(f"± {r.std_dev:g}")
        return ", ".join(parts).replace(", ±", " ±")

    frame = rows[["where", "quantity", "subject", "baseline"]].fillna("")
    return frame.assign(value=[value(r) for r in rows.itertuples()], unit=rows["unit"])


@dataclass(frozen=True)
class Reached:
    """Of one GPU: a ceiling measured on it beside the promise of its data sheet."""

    name: str
    measured: float
    promised: float
    unit: str

    @property
    def share(self) -> float:
        return self.measured / self.promised


def reached(results: Results) -> list[Reached]:
    """What one GPU's ceilings reach of its data sheet; empty where it is not listed or has none."""
    spec = spec_of_driver(results.gpus[0]) if results.gpus else None
    if spec is None or results.ceilings.empty:
        return []
    values = _latest_ceilings(results)["value"]
    promised = {
        "read_bandwidth": (spec.bandwidth_gb_s, "GB/s"),
        "write_bandwidth": (spec.bandwidth_gb_s, "GB/s"),
        "copy_bandwidth": (spec.bandwidth_gb_s, "GB/s"),
        "fp32_rate": (1e3 * spec.fp32_tflops, "GFLOP/s"),
    }
    return [
        Reached(name, float(values[name]), promise, unit)
        for name, (promise, unit) in promised.items()
        if name in values.index
    ]


def published_table() -> pd.DataFrame:
    """The pairs whose mean the paper quotes, with what its Table 1 lets one expect."""
    specs = {s.name: s for s in paper_specs()}
    records = []
    for quote in quoted_means().itertuples():
        e = expect_specs(specs[quote.new], specs[quote.old])
        records.append(
            {
                "new": quote.new,
                "old": quote.old,
                "flop_ratio": e.flop_ratio,
                "bandwidth_ratio": e.bandwidth_ratio,
                "expected": e.expected,
                "measured_mean": quote.mean,
                "std_dev": quote.std_dev,
                "delivered": quote.mean / e.expected,
            }
        )
    return pd.DataFrame(records)


def specification_table(specs: tuple[Spec, ...]) -> pd.DataFrame:
    """Machine balance (bytes per FLOP) and compute density (GFLOP/s per mm2) of GPUs (Fig. 1)."""
    return pd.DataFrame(
        {
            "name": [s.name for s in specs],
            "architecture": [s.architecture for s in specs],
            "year": [s.year for s in specs],
            "bandwidth_gb_s": [s.bandwidth_gb_s for s in specs],
            "fp32_tflops": [s.fp32_tflops for s in specs],
            "balance_fp32": [s.balance() for s in specs],
            "balance_fp64": [s.balance("fp64") for s in specs],
            "density_fp32": [s.density() for s in specs],
            "density_fp64": [s.density("fp64") for s in specs],
        }
    )
