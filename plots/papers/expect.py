"""What a GPU generation promises and what it delivers: the expectation analysis of Svedin et al.
(2021, arXiv 2106.04979, section 6), for their GPUs, for datasheets, and for results of two GPUs.

The least speed-up to expect of any code is min(FLOP ratio, bandwidth ratio): whichever of the two
binds it, it has grown at least that much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import SHOWN_ROLES, Results
from plots.data.strategies import NAMES
from plots.judge.beside import times_beside
from plots.judge.sides import (
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
    DATASHEETS,
    QUOTED,
    TABLE1,
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
from plots.statistics.intervals import benjamini_hochberg

BASELINE = "baseline"
BEST_COLUMNS = [
    "app", "size_label", "cache", "launch", "hardware", "old_strategy", "old_software",
    "new_strategy", "new_software", "ratio", "low", "high", "resolved",
]  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Two sets of results side by side: ``new`` over ``old``.

    ``rows`` has one line per matching row: same variant, role, size, cache and launch mode, both
    verified and timed. ``floor_ratio`` is the ratio of the two floors, the speed-up if both rows
    stay equally far from them. ``knows`` says what
    the interval knows, "between runs" or "one run each"; ``too_few_rounds`` marks rows of which
    even the clearest difference could not have been resolved. The times are those that the ratio
    is of: of all sessions, or of one run each.
    ``best`` has a line per case with baseline at its best on both: the fastest strategy of each
    GPU, and ``ratio`` = ``hardware`` x ``new_software`` / ``old_software``. The verdict on those
    two rows follows the same rule as on all others.
    ``ceilings`` has the ratio of each ceiling measured on both, above 1 when new is better.
    """

    new_gpu: str
    old_gpu: str
    datasheet: Expectation | None
    measured_ceilings: Expectation | None
    ceilings: pd.DataFrame
    rows: pd.DataFrame
    best: pd.DataFrame

    @property
    def of_baseline(self) -> pd.DataFrame:
        """The rows of the baseline at its best."""
        return self.rows[(self.rows["role"] == "best") & (self.rows["strategy"] == BASELINE)]


def _latest_ceilings(results: Results) -> pd.DataFrame:
    newest = results.ceilings.sort_values("date").drop_duplicates("name", keep="last")
    return newest.set_index("name")


def _ceiling_ratios(new: Results, old: Results) -> pd.DataFrame:
    columns = ["unit", "value"]
    both = _latest_ceilings(new)[columns].join(
        _latest_ceilings(old)["value"].rename("old"), how="inner"
    )
    frame = both.rename(columns={"value": "new"}).reset_index()
    ratio = frame["new"] / frame["old"]
    smaller_is_better = frame["unit"].isin(["ns", "us", "ms", "cycles"])
    return frame.assign(ratio=np.where(smaller_is_better, 1 / ratio, ratio))


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
class _Matched:
    """Pairs of rows of two sets, by their names: those that match (``rows``) and, of a case, the
    fastest of each (``best``: the pair of the baseline, that of the fastest)."""

    new: Results
    old: Results
    pairs: dict[tuple[str, str], Pair]
    rows: list[tuple[str, str]]
    best: list[tuple[tuple[str, str], tuple[str, str]]]


def _fastest(results: Results, rows: Sequence[Any]) -> dict[tuple[Any, ...], Any]:
    """case -> the row of the fastest strategy at its best."""
    times = times_beside(results)
    of_strategies = (row for row in rows if row.role == "best" and row.strategy in NAMES)
    slowest_first = sorted(of_strategies, key=lambda row: times[row.row], reverse=True)
    return {key_of(row, CASE): row for row in slowest_first}


def _match(new: Results, old: Results) -> _Matched:
    sides = Sides(new, old)
    a, b = list(_usable(new).itertuples()), list(_usable(old).itertuples())
    of_old = {key_of(row): row for row in b}
    both = [(row, of_old[key_of(row)]) for row in a if key_of(row) in of_old]
    if not both:
        raise nothing_in_common(new, old)
    pairs: dict[tuple[str, str], Pair] = {}

    def add(row: Any, other: Any) -> tuple[str, str]:
        if (row.row, other.row) not in pairs:
            pairs[row.row, other.row] = sides.time_pair(row, other)
        return row.row, other.row

    matched = [add(row, other) for row, other in both if sides.has_times(row, other)]
    if not matched:
        raise NothingInCommonError("the rows that match have no samples to compare")
    fastest = (
        _fastest(new, [row for row in a if row.row in sides.new_times]),
        _fastest(old, [row for row in b if row.row in sides.old_times]),
    )
    best = []
    for key in matched:
        base = pairs[key].new
        if (base.role, base.strategy) == ("best", BASELINE):
            best.append((key, add(*(of[key_of(base, CASE)] for of in fastest))))
    return _Matched(new, old, pairs, matched, best)


def compare_all(
    pairs: Sequence[tuple[Results, Results]],
) -> list[Measured | NothingInCommonError]:
    """Compares pairs of sets of results (new, old), each of one GPU (select with Results.where).
    Where sessions tell how far rows move between runs, a difference is compared with that, else
    with the samples of one run each. Of all rows of all pairs that are resolved a share of 1 -
    CONFIDENCE at most is so wrongly, on average. A pair in which no row matches has the reason in
    its place. Raises PlotsError when a set holds several GPUs."""
    sides: list[_Matched | NothingInCommonError] = []
    for new, old in pairs:
        try:
            sides.append(_match(new, old))
        except NothingInCommonError as error:
            sides.append(error)
    matched = [side for side in sides if isinstance(side, _Matched)]
    p_values = [pair.p_value for side in matched for pair in side.pairs.values()]
    discoveries = benjamini_hochberg(p_values, 1 - CONFIDENCE)
    found = iter(discoveries.found)
    return [
        _measured(
            side,
            {k: _told(pair, next(found), discoveries.level) for k, pair in side.pairs.items()},
        )
        if isinstance(side, _Matched)
        else side
        for side in sides
    ]


def expectations(
    new: Results, old: Results, ceilings: pd.DataFrame | None = None
) -> tuple[Expectation | None, Expectation | None]:
    """The speed-ups expected from data sheets and from measured ceilings; None if not known."""
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


def _measured(side: _Matched, told: dict[tuple[str, str], dict[str, Any]]) -> Measured:
    records, best = [], []
    for key in side.rows:
        row, other = side.pairs[key].new, side.pairs[key].old
        records.append(
            {
                **dict(zip(MATCH, key_of(row), strict=True)),
                **{name: getattr(row, name) for name in ("strategy", "size_label", "bound_by")},
                **told[key],
                # Nothing to read, write or compute has no floor.
                "floor_ratio": other.floor_ms / row.floor_ms if row.floor_ms else np.nan,
            }
        )
    for base, fastest in side.best:
        hardware, of, pair = told[base], told[fastest], side.pairs[fastest]
        row = side.pairs[base].new
        best.append(
            {
                **{name: getattr(row, name) for name in ("app", "size_label", "cache", "launch")},
                "hardware": hardware["ratio"],
                "old_strategy": pair.old.strategy,
                "old_software": hardware["old_ms"] / of["old_ms"],
                "new_strategy": pair.new.strategy,
                "new_software": hardware["new_ms"] / of["new_ms"],
                **{name: of[name] for name in ("ratio", "low", "high", "resolved")},
            }
        )
    ceilings = _ceiling_ratios(side.new, side.old)
    datasheet, by_ceilings = expectations(side.new, side.old, ceilings)
    return Measured(
        new_gpu=side.new.gpus[0],
        old_gpu=side.old.gpus[0],
        datasheet=datasheet,
        measured_ceilings=by_ceilings,
        ceilings=ceilings,
        rows=pd.DataFrame(records),
        best=pd.DataFrame(best, columns=BEST_COLUMNS),
    )


# --- A100 over V100, as Svedin et al. have it ----------------------------------------------------

NEW, OLD = "A100", "V100"

# Values of the text outside the sections whose speed-ups inputs/published/s003.csv has.
_ELSEWHERE = (
    ("sec 1", "speed-up in marketing claims, often deep learning", "up to 2.7"),
    ("sec 2", "speed-up in sparse linear algebra, two earlier studies", "1.8"),
    ("sec 3", "memory bandwidth", "about 1.7"),
    ("sec 3", "L2 cache", "more than 6"),
)


def _expected() -> Expectation:
    return expect_specs(*map(find_spec, (NEW, OLD)))


def a100_over_v100() -> pd.DataFrame:
    """Every A100-over-V100 ratio of the text, in its order: where, what, ratio as printed, and of
    a measured speed-up its share of the least that the paper expects."""
    rows = read_table(QUOTED)
    rows = rows[(rows["subject"] == NEW) & (rows["baseline"] == OLD)]
    ratios = rows["value_low"].fillna(rows["mean"])
    measured = rows["quantity"].str.contains("speed-up") & ~rows["quantity"].str.contains("expect")
    frame = pd.DataFrame(
        {
            "where": rows["where"],
            "what": rows["quantity"],
            "ratio": [f"{ratio:g}" for ratio in ratios],
            "of expected": (ratios / _expected().expected).where(measured),
        }
    )
    elsewhere = pd.DataFrame(_ELSEWHERE, columns=["where", "what", "ratio"])
    return pd.concat([elsewhere, frame], ignore_index=True)


def _memories() -> dict[str, str]:
    """GPU -> its memory: of the paper's Table 1, else of the data sheets."""
    table = read_table(TABLE1)
    sheets = pd.read_csv(DATASHEETS, comment="#")
    of_sheets = sheets["memory_gb"].astype(str) + " GB " + sheets["memory_type"]
    of_table = table["memory_GB"].astype(str) + " GB " + table["memory_type"]
    return dict(zip(sheets["name"], of_sheets, strict=True)) | dict(
        zip(table["device"], of_table, strict=True)
    )


def by_module() -> pd.DataFrame:
    """What each ceiling lets one expect of the paper's A100, by which V100 it is compared with, and
    the mean that the paper measured over the smaller of them."""
    new, memory = find_spec(NEW), _memories()
    quote = quoted_mean(NEW, OLD)
    records = []
    for old in map(find_spec, (OLD, "V100 PCIe", "V100 SXM2")):
        fp32, fp64 = (expect_specs(new, old, p) for p in ("fp32", "fp64"))
        records.append(
            {
                "V100": "Table 1" if old.name == OLD else old.name,
                "memory": memory[old.name],
                "GB/s": old.bandwidth_gb_s,
                "fp32 TFLOP/s": old.fp32_tflops,
                "W": old.tdp_w,
                "FLOP fp32": fp32.flop_ratio,
                "FLOP fp64": fp64.flop_ratio,
                "bandwidth": fp32.bandwidth_ratio,
                "expected": fp32.expected,
                "mean / expected": quote[0] / fp32.expected,
            }
        )
    return pd.DataFrame(records)


def ceilings_of_programs() -> list[str]:
    """Which ceiling allows what the paper quotes of single programs: sentences."""
    e = _expected()
    low, high = sorted((e.flop_ratio, e.bandwidth_ratio))
    programs = quoted_programs()
    above = programs[programs["speedup"] > high]
    between = programs[programs["speedup"].between(low, high)]

    def named(of: pd.DataFrame) -> str:
        return " and ".join(f"{p.program} ({p.speedup:g})" for p in of.itertuples())

    return [
        f"Code that arithmetic binds should gain {e.flop_ratio:.2f}, code that memory binds "
        f"{e.bandwidth_ratio:.2f}; where it is not known which, the smaller.",
        f"{named(between)} lies between the two ceilings. {named(above)} are above both: neither "
        "ratio explains them. The L2 cache, which grew most, is in neither.",
        "Below the expectation, without a figure: Heartwall, HotSpot, Leukocyte, Myocyte and "
        "Pathfinder (section 6.1), NW and LUD (section 6.3).",
    ]


def quoted_programs() -> pd.DataFrame:
    """The speed-ups of single programs from a V100 to an A100 that the paper quotes: program,
    speed-up."""
    rows = read_table(QUOTED)
    rows = rows[rows["quantity"].str.fullmatch(r"[A-Z]+ speed-up")]
    program = rows["quantity"].str.removesuffix(" speed-up")
    return rows.assign(program=program, speedup=rows["value_low"].astype(float))


def which_v100() -> list[str]:
    """Which V100 the paper's Table 1 describes, and what its A100 over V100 is with the other
    module: sentences."""
    a100, here, pcie, sxm = map(find_spec, ("A100", "V100", "V100 PCIe", "V100 SXM2"))
    quoted = quoted_mean("A100", "V100")
    assert quoted is not None
    mean = quoted[0]
    printed, other = expect_specs(a100, here), expect_specs(a100, sxm)
    ratio = mean / other.expected
    return [
        f"Table 1 gives its V100 {here.fp32_tflops:g} TFLOP/s, near the {pcie.fp32_tflops:g} of "
        f"the {pcie.name} (the {sxm.name} has {sxm.fp32_tflops:g}). Its {here.tdp_w:g} W are the "
        f"power of the {sxm.name} (the {pcie.name} has {pcie.tdp_w:g} W). The figures are of two "
        "modules.",
        f"By Table 1 one expects {printed}; the quoted mean of {mean:g} is "
        f"{mean / printed.expected:.2f} of it, less than expected, on which the paper's question "
        "rests.",
        f"With the {sxm.name}'s data sheet one expects {other}; the same mean is {ratio:.2f} of "
        f"it, {'as much as' if ratio >= 1 else 'less than'} expected.",
    ]


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


def specification_table(specs: Sequence[Spec]) -> pd.DataFrame:
    """Machine balance (bytes per FLOP) and compute density (GFLOP/s per mm2) of GPUs (Fig. 1)."""
    named = ("name", "architecture", "year", "bandwidth_gb_s", "fp32_tflops")
    return pd.DataFrame(
        {name: getattr(s, name) for name in named}
        | {f"balance_{precision}": s.balance(precision) for precision in ("fp32", "fp64")}
        | {f"density_{precision}": s.density(precision) for precision in ("fp32", "fp64")}
        for s in specs
    )
