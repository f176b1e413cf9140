"""Points of microbenchmarks as curves: their coordinates as columns, axes of bytes."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.data.load import Results
from plots.figures.style import inches

# Okabe & Ito, as the strategies; what they stand for is in the legend of each figure.
INKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")


def _bytes(value: float, _: object = None) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} B"


def byte_axis(ax: Axes, low: float, high: float, length: float, every: int = 2) -> None:
    """A logarithmic axis of bytes with ticks every so many powers of two, or as many as leave room
    for their labels on an axis ``length`` inches long."""
    ax.set_xscale("log", base=2)
    size = matplotlib.rcParams["font.size"]
    while True:
        ticks = [float(2**e) for e in range(0, 44, every) if low / 1.3 <= 2**e <= high * 1.3]
        if sum(inches(_bytes(tick), size) + 0.08 for tick in ticks) < length or len(ticks) < 3:
            break
        every += 1
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(_bytes))
    ax.xaxis.set_minor_locator(NullLocator())


def curve(ax: Axes, line: pd.DataFrame, x: str, label: str, ink: str, **drawn: Any) -> None:
    """Medians over the column ``x`` with their intervals; nothing where there is no point."""
    if line.empty:
        return
    line = line.sort_values(x)
    ax.errorbar(
        line[x], line["median"],
        yerr=[line["median"] - line["low"], line["high"] - line["median"]],
        color=ink, label=label, **{"markersize": 4, "linewidth": 1.2, **drawn},
    )  # fmt: skip


def points(results: Results, name: str, *coordinates: str, **wanted: str) -> pd.DataFrame:
    """Measured points of one microbenchmark of one GPU, with these coordinates as columns."""
    frame = results.points
    frame = frame[(frame["microbenchmark"] == name) & frame["median"].notna()]
    keep = [all(at.get(k) == v for k, v in wanted.items()) for at in frame["at"]]
    frame = frame[np.array(keep, dtype=bool)].copy()
    for coordinate in coordinates:
        frame[coordinate] = [at.get(coordinate, "") for at in frame["at"]]
    return frame
