"""between-runs.md: how far rows move between runs and GPUs, whether the predictive intervals
hold on sessions that were not used, and what is known of the rows that moved most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, median

from plots.data.load import Results
from plots.data.sessions import CONFIDENCE, Measured, Sessions
from plots.markdown import MADE, plain, wrapped
from plots.statistics.between import LEAST_GPUS, LEAST_ROWS, POOL_DEGREES, WINSOR, Pool, Prediction

QUANTITIES = {"time": "median time", "ratio": "speed-up"}
_MOST = 12  # rows that moved most
# Of the model's highest clock: a row with less is held back. Of the others 19 in 20 are within
# 2.1 % of it.
_HELD_BACK = 0.97


@dataclass(frozen=True)
class Checked:
    """A session on a GPU that was left out, beside what the others predicted of it."""

    measured: Measured
    predicted: Prediction

    @property
    def inside(self) -> bool:
        value = math.exp(self.measured.session.value)
        return self.predicted.low <= value <= self.predicted.high


def left_out(sessions: Sessions) -> Iterator[Checked]:
    """Every GPU is left out in turn, with all that was measured on it, and each of its sessions
    predicted from the other GPUs alone: from the row's own sessions there and from the pools."""
    gpus = sorted({m.session.gpu for row in sessions.found.values() for m in row})
    for gpu in gpus:
        rest = sessions.without(gpu)
        for identity, row in sessions.found.items():
            mine = [m for m in row if m.session.gpu == gpu]
            predicted = rest.predicted(identity) if mine else None
            if predicted is not None:
                yield from (Checked(m, predicted) for m in mine)


@dataclass(frozen=True)
class Coverage:
    """How many of some sessions fell inside, and how wide that was."""

    inside: int
    all: int
    half_width: float  # median, as a share

    @property
    def share(self) -> float:
        return self.inside / self.all if self.all else math.nan


def coverage(checked: list[Checked]) -> Coverage:
    return Coverage(
        sum(c.inside for c in checked),
        len(checked),
        median(c.predicted.half_width for c in checked) if checked else math.nan,
    )


def _coverage_cells(checked: list[Checked]) -> list[str]:
    found = coverage(checked)
    if not found.all:
        return ["–", "–"]
    return [
        f"{found.inside} of {found.all} ({100 * found.share:.1f} %)",
        f"{100 * found.half_width:.2f} %",
    ]


def _table(columns: list[str], lines: list[list[str]]) -> str:
    texts = {"rows of", "quantity", "GPU left out", "row", "case", "what the files say of the two"}
    rule = "|".join("---" if name in texts else "--:" for name in columns)
    cells = [" | ".join(line) for line in (columns, *lines)]
    return "\n".join([f"| {cells[0]} |", f"|{rule}|", *(f"| {line} |" for line in cells[1:])])


def _components(sessions: Sessions, gpu: str, pools: list[str]) -> str:
    lines = []
    for quantity, word in QUANTITIES.items():
        for pool in pools:
            kind = sessions.kind(quantity, gpu, pool)
            source = sessions.spread_from(quantity, gpu, pool)
            spread = math.sqrt(kind.gpu_variance), math.sqrt(kind.session_variance)
            lines.append(
                [
                    pool,
                    word,
                    f"{100 * spread[0]:.2f} %",
                    f"{kind.gpu_rows}" + (f", of {source}" if source else ""),
                    f"{100 * spread[1]:.2f} %" + ("" if kind.session_rows else ", within a run"),
                    f"{kind.session_rows}",
                ]
            )
    columns = ["rows of", "quantity", "between GPUs", "rows", "between sessions on one", "rows"]
    return _table(columns, lines)


def held_back(rows: list[list[Measured]]) -> dict[str, list[list[Measured]]]:
    """By pool, the rows whose SM clock in some session was below _HELD_BACK of the highest that any
    row had. Sessions without a clock are left out."""
    known = [[m for m in row if m.sm_clock_mhz > 0] for row in rows]
    highest = max((m.sm_clock_mhz for row in known for m in row), default=math.nan)
    found: dict[str, list[list[Measured]]] = {}
    for row in known:
        if any(m.sm_clock_mhz < _HELD_BACK * highest for m in row):
            found.setdefault(row[0].pool, []).append(row)
    return found


def _gpu_spread(rows: list[list[Measured]], *, in_cycles: bool) -> str:
    """Of the times of some rows, or of the cycles that these are, between GPUs."""
    values = [
        [
            m.session._replace(value=m.session.value + math.log(m.sm_clock_mhz))
            if in_cycles
            else m.session
            for m in row
        ]
        for row in rows
    ]
    known = Pool.of(values).components()
    return f"{100 * math.sqrt(known.gpu_variance):.2f} %" if known.gpu_rows else "–"


def _held_back_table(found: dict[str, list[list[Measured]]]) -> str:
    lines = []
    for pool, rows in sorted(found.items()):
        clocks = [m.sm_clock_mhz for row in rows for m in row]
        on_two = sum(len({m.session.gpu for m in row}) > 1 for row in rows)
        lines.append(
            [
                pool,
                f"{len(rows)}",
                f"{min(clocks):.0f} to {max(clocks):.0f}",
                f"{on_two}",
                _gpu_spread(rows, in_cycles=False),
                _gpu_spread(rows, in_cycles=True),
            ]
        )
    columns = ["rows of", "rows", "SM clock, MHz", "on two GPUs", "their times", "their cycles"]
    return _table(columns, lines)


def _coverage_table(checked: list[Checked]) -> str:
    def line(name: str, of: list[Checked]) -> list[str]:
        days = sorted({c.measured.date[:10] for c in of})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        cells = [name, when]
        for quantity in QUANTITIES:
            cells += _coverage_cells([c for c in of if c.measured.quantity == quantity])
        return cells

    gpus = sorted({c.measured.session.gpu for c in checked})
    lines = [line(gpu, [c for c in checked if c.measured.session.gpu == gpu]) for gpu in gpus]
    lines.append(line("all", checked))
    columns = ["GPU left out", "dates", "medians inside", "half width", "ratios inside",
               "half width"]  # fmt: skip
    return _table(columns, lines)


def _width_table(checked: list[Checked]) -> str:
    """The same by how many GPUs a row was predicted from."""
    lines = []
    for gpus in sorted({c.predicted.gpus for c in checked}):
        cells = [f"{gpus}"]
        for quantity in QUANTITIES:
            of = [
                c for c in checked if c.predicted.gpus == gpus and c.measured.quantity == quantity
            ]
            cells += _coverage_cells(of)
        lines.append(cells)
    columns = ["GPUs behind", "medians inside", "half width", "ratios inside", "half width"]
    return _table(columns, lines)


def _extremes(row: list[Measured]) -> tuple[Measured, Measured]:
    """The sessions of the least and of the largest value."""
    return min(row, key=lambda m: m.session.value), max(row, key=lambda m: m.session.value)


def _others(least: Measured, most: Measured, sessions: Sessions) -> list[tuple[Measured, Measured]]:
    """The other variants of the same case and role in the same two sessions."""
    others = []
    for row in sessions.alike(least):
        first = row[0]
        if first.name.endswith(" (A/A)") or first.identity == least.identity:
            continue
        at = {(m.session.gpu, m.date): m for m in row}
        ends = [at.get((m.session.gpu, m.date)) for m in (least, most)]
        if ends[0] is not None and ends[1] is not None:
            others.append((ends[0], ends[1]))
    return others


def _moved_alike(others: list[tuple[Measured, Measured]]) -> float:
    """The median of what others moved, as a logarithm; NaN without any."""
    return median(b.session.value - a.session.value for a, b in others) if others else math.nan


_ALIKE = 0.1  # by which shifts may differ, over their median, and still be one


def _spread(values: list[float]) -> float:
    middle = median(values)
    return (max(values) - min(values)) / abs(middle) if middle else math.inf


def _in_common(pairs: list[tuple[Measured, Measured]]) -> str:
    """Whether several variants took the same time more, which is then not that of their kernels: as
    shares of their own times they moved by different amounts. "" where they did not."""
    if len(pairs) < 3 or pairs[0][0].quantity != "time":
        return ""
    shifts = [math.exp(b.session.value) - math.exp(a.session.value) for a, b in pairs]
    shares = [b.session.value - a.session.value for a, b in pairs]
    if _spread(shifts) > _ALIKE or _spread(shares) <= 2 * _spread(shifts):
        return ""
    return (
        f"all {len(pairs)} variants took the same time more, {min(shifts):.4g} to "
        f"{max(shifts):.4g} ms: what they share, such as the gaps between launches, and no kernel"
    )


def _as_far_in_one_run(row: list[Measured], least: Measured, most: Measured) -> str:
    """A run in which a tenth of the samples is near one end and a tenth near the other: two levels,
    or scatter."""
    low, high = math.exp(least.session.value), math.exp(most.session.value)
    near = 0.2 * (high - low)
    for m in row:
        tenth, ninetieth = m.tenths_ms
        if tenth <= low + near and ninetieth >= high - near:
            return (
                f"the run of {m.date[:10]} on {m.session.gpu[:6]} moves as far in itself, a tenth "
                f"of its samples below {tenth:.4g} and a tenth above {ninetieth:.4g} ms: "
                "it is not the GPU's alone"
            )
    return ""


def likely_reason(least: Measured, most: Measured, sessions: Sessions) -> str:
    """What the files say of two sessions of which the second took longer: whether the SM clock
    explains it (a time that is bound by the SMs goes with one over the clock), and whether the
    other variants moved with it."""
    moved = most.session.value - least.session.value
    others = _others(least, most, sessions)
    facts = []
    alike = _moved_alike(others)
    if common := _in_common([(least, most), *others]):
        facts.append(common)
    elif math.isfinite(alike):
        facts.append(f"the others of the case moved {100 * math.expm1(alike):.1f} %")
    if math.isfinite(least.temperature_c) and math.isfinite(most.temperature_c):
        facts.append(f"{least.temperature_c:.0f} and {most.temperature_c:.0f} °C at the beginning")
    same = least.session.gpu == most.session.gpu
    facts.append("the same GPU" if same else "two GPUs")
    both = _as_far_in_one_run(sessions.found.get(least.identity, []), least, most)
    if both:
        facts.append(both)
    clocks = least.sm_clock_mhz, most.sm_clock_mhz
    if not all(math.isfinite(clock) and clock > 0 for clock in clocks):
        return f"SM clock not known; {', '.join(facts)}"
    by_clock = math.log(clocks[0] / clocks[1])
    text = f"SM clock {clocks[0]:.0f} and {clocks[1]:.0f} MHz"
    if by_clock > 0.5 * moved:
        share = min(100.0, 100 * by_clock / moved)
        return f"{text}: explains {share:.0f} % of it; {', '.join(facts)}"
    return f"{text}: does not explain it; {', '.join(facts)}"


def _moved(sessions: Sessions) -> str:
    rows = [
        row
        for row in sessions.found.values()
        if len(row) > 1 and row[0].quantity == "time" and "(A/A)" not in row[0].name
    ]

    def reach(row: list[Measured]) -> float:
        least, most = _extremes(row)
        return most.session.value - least.session.value

    # The variants of a case often move together: the one that moved most stands for them.
    leaders: dict[tuple[str, str], list[Measured]] = {}
    for row in sorted(rows, key=reach, reverse=True):
        leaders.setdefault((row[0].case, row[0].role), row)
    lines = []
    for row in list(leaders.values())[:_MOST]:
        least, most = _extremes(row)
        lines.append(
            [
                plain(row[0].name),
                plain(row[0].case),
                f"{len(row)}",
                f"{100 * math.expm1(reach(row)):.1f} %",
                f"{least.session.gpu[:6]}, {most.session.gpu[:6]}",
                likely_reason(least, most, sessions),
            ]
        )
    columns = ["row", "case", "runs", "most over least", "GPUs", "what the files say of the two"]
    return _table(columns, lines)


def _by_clock(sessions: Sessions) -> str:
    """How much of what rows moved between GPUs their clocks explain, over all rows."""
    explained, moves, shared, both = [], [], 0, 0
    for row in sessions.found.values():
        if row[0].quantity != "time" or len({m.session.gpu for m in row}) < 2:
            continue
        least, most = _extremes(row)
        moved = most.session.value - least.session.value
        clocks = least.sm_clock_mhz, most.sm_clock_mhz
        if moved > 0.005 and all(math.isfinite(clock) and clock > 0 for clock in clocks):
            moves.append(moved)
            explained.append(math.log(clocks[0] / clocks[1]) > 0.5 * moved)
            others = _others(least, most, sessions)
            shared += bool(_in_common([(least, most), *others]))
            both += bool(_as_far_in_one_run(row, least, most))
    if not moves:
        return "No row moved by more than 0.5 % between two GPUs."
    return (
        f"Of {len(moves)} rows that moved by more than 0.5 % between GPUs, the SM clock explains "
        f"more than half of it in {sum(explained)} ({100 * fmean(explained):.0f} %). In {both} "
        "one run moves as far in itself, within seconds on one GPU; "
        f"{shared} moved by one time that all variants of their case share. Which L2 slices and "
        "SMs a run got, no file says: a difference that is the GPU's own would stay with it in "
        "every session."
    )


def _clock_part(rows: list[list[Measured]]) -> list[str]:
    found = held_back(rows)
    if not found:
        return []
    return [
        "### What the clock moves",
        wrapped(
            f"Rows whose SM clock, while they ran, was below {100 * _HELD_BACK:.0f} % of the",
            "highest of this model, by what they draw as far as that is known: NVML seldom names",
            "a limit. Where it is the SMs that bound a row, its time differs between GPUs as their",
            "clocks do, and its cycles, time times clock, hardly; where memory does, they differ",
            "as well. These are the standard deviations of the logarithms of both. Below 50 us the",
            "clock is NVML's reading, which a launch does not move: such rows are not seen here.",
        ),
        _held_back_table(found),
    ]


def page(results: Results) -> str:
    """The page as Markdown. Of several GPU models, each has its part."""
    parts = [
        "# Between runs",
        MADE,
        wrapped(
            "An interval within a run says what more rounds of that run would give. It does not",
            "say what the next run gives, or another GPU of the same model. This page measures how",
            "far rows move, and holds the predictive intervals, which README, the report and the",
            "advice print, against sessions that were not used to make them. How they are made:",
            "[methodology](methodology.md).",
        ),
    ]
    models = sorted({row[0].gpu for row in results.sessions.found.values()})
    for model in models:
        parts += [f"## {plain(results.heading(model))}", *_of_model(results.sessions, model)]
    return "\n\n".join(filter(None, [*parts, wrapped(results.uncommitted)])) + "\n"


def _of_model(everything: Sessions, model: str) -> list[str]:
    sessions = Sessions()
    for identity, row in everything.found.items():
        if row[0].gpu == model:
            sessions.found[identity] = row
    rows = [row for row in sessions.found.values() if row[0].quantity == "time"]
    repeated = [row for row in rows if len(row) > 1]
    gpus = {m.session.gpu for row in rows for m in row}
    parts = [
        wrapped(
            f"{len(rows)} rows have a time; {len(repeated)} of them were measured by the same code",
            "in the same config more than once, on up to",
            f"{max(len({m.session.gpu for m in row}) for row in rows)} of {len(gpus)} GPUs.",
        ),
    ]
    if not any(len({m.session.gpu for m in row}) > 1 for row in rows):
        parts.append("No row was measured on two GPUs: nothing can be said of another.")
        return parts
    checked = list(left_out(sessions))
    pools = sorted({row[0].pool for row in rows})
    parts += [
        "### How far rows move",
        wrapped(
            "Standard deviations of the logarithm, pooled over the rows of an app, those on tensor",
            "cores by the type of their inputs apart: between GPUs of the model, and between",
            "sessions on one GPU (the error within a run included). No row counts with more than",
            f"{WINSOR} times the typical one. A pool with fewer than {LEAST_ROWS} rows on two",
            f"GPUs, or on fewer than {LEAST_GPUS} in all, takes that of all apps on such cores.",
            "Where no row was measured twice on one GPU, what stands there is the error",
            "*within a run* and no more is known.",
        ),
        _components(sessions, model, pools),
        *_clock_part(rows),
        "### Do the intervals hold?",
        wrapped(
            "Each GPU is left out in turn, with every session on it, and its sessions are",
            "predicted from the others: from the row's own sessions there, and from pools that do",
            f"not have this GPU. Promised: {100 * CONFIDENCE:.0f} % inside. Half width: the",
            f"median, as a share. The other rows count at most {POOL_DEGREES} degrees of freedom",
            "beside the row's own.",
        ),
        *(
            [
                _coverage_table(checked),
                "By the number of GPUs that a prediction is made from:",
                _width_table(checked),
            ]
            if checked
            else ["With one GPU left out, no row is on two: rows on three GPUs are needed."]
        ),
        "### What moved most",
        wrapped(_by_clock(sessions), "The rows that moved most, one of each case and role:"),
        _moved(sessions),
    ]
    return parts
