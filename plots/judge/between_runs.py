"""between-runs.md: how far rows move between runs and GPUs, whether the predictive intervals
hold on sessions that were not used, and which rows moved most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from plots.data.load import Results
from plots.data.sessions import CONFIDENCE, Measured, Sessions
from plots.markdown import MADE, plain, table, wrapped
from plots.statistics.between import LEAST_GPUS, LEAST_ROWS, POOL_DEGREES, WINSOR, Prediction
from plots.units import amount

QUANTITIES = {"time": "median time", "ratio": "speed-up"}
_MOST = 12  # rows that moved most


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
    return table(columns, lines, texts=2)


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
    return table(columns, lines, texts=1)


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
    return table(columns, lines, texts=0)


def _extremes(row: list[Measured]) -> tuple[Measured, Measured]:
    """The sessions of the least and of the largest value."""
    return min(row, key=lambda m: m.session.value), max(row, key=lambda m: m.session.value)


def _moved(sessions: Sessions) -> str:
    """The variants of a case often move together: the one that moved most stands for them."""
    rows = [
        (least, most, len(row))
        for row in sessions.found.values()
        if len(row) > 1 and row[0].quantity == "time" and "(A/A)" not in row[0].name
        for least, most in [_extremes(row)]
    ]
    rows.sort(key=lambda of: of[0].session.value - of[1].session.value)
    leaders: dict[tuple[str, str], list[str]] = {}
    for least, most, runs in rows:
        moved = most.session.value - least.session.value
        line = [
            plain(least.name),
            plain(least.case),
            f"{runs}",
            f"{100 * math.expm1(moved):.1f} %",
            f"{least.session.gpu[:6]}, {most.session.gpu[:6]}",
            f"{amount(least.sm_clock_mhz)}, {amount(most.sm_clock_mhz)}",
        ]
        leaders.setdefault((least.case, least.role), line)
    columns = ["row", "case", "runs", "most over least", "GPUs", "SM clock, MHz"]
    return table(columns, list(leaders.values())[:_MOST], texts=2)


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
            "Standard deviations of the logarithm: between GPUs of the model, and between sessions",
            "on one GPU (the error within a run included). They are pooled over the rows of an",
            "app; rows on tensor cores have a pool for each type of input. Winsorised: a row",
            f"contributes at most {WINSOR} typical ones. A pool with fewer than {LEAST_ROWS} rows",
            f"on two GPUs, or on fewer than {LEAST_GPUS} GPUs, takes that of all apps on such",
            "cores. Where no row was measured twice on one GPU, only the error *within a run* is",
            "known, and it is shown instead.",
        ),
        _components(sessions, model, pools),
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
        wrapped(
            "One of each case and role, with the GPUs and clocks of its least and its largest time:"
        ),
        _moved(sessions),
    ]
    return parts
