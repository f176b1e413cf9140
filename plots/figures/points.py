"""Points of microbenchmarks as curves: their coordinates as columns, axes of bytes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.data.load import Results

# Okabe & Ito, as the strategies; what they stand for is in the legend of each figure.
INKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")


def _bytes(value: float, _: object = None) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} B"


def power_axis(ax: Axes, values: pd.Series, every: int = 1, unit: bool = False) -> None:
    """A logarithmic x axis with ticks at powers of two, every so many; of bytes with ``unit``."""
    low, high = values.min() / 1.3, values.max() * 1.3
    ticks = [2.0**e for e in range(-6, 44, every) if low <= 2.0**e <= high]
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(_bytes if unit else lambda v, _: f"{v:g}"))
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


def mark(ax: Axes, x: float, text: str, y: float = 0.02, align: str = "left") -> None:
    """A grey note at ``x``, at a share of the height of the axes."""
    ax.annotate(
        text, (x, y), xycoords=("data", "axes fraction"), xytext=(-3 if align == "right" else 3, 0),
        textcoords="offset points", ha=align, fontsize=7, color="#555555",
        va="top" if y > 0.5 else "bottom",
    )  # fmt: skip


def points(results: Results, name: str, *coordinates: str, **wanted: str) -> pd.DataFrame:
    """Measured points of one microbenchmark of one GPU, with these coordinates as columns, as
    numbers where they are such."""
    frame = results.points
    frame = frame[(frame["microbenchmark"] == name) & frame["median"].notna()]
    keep = [all(at.get(k) == v for k, v in wanted.items()) for at in frame["at"]]
    frame = frame[np.array(keep, dtype=bool)].copy()
    for coordinate in coordinates:
        frame[coordinate] = [at.get(coordinate, "") for at in frame["at"]]
        with contextlib.suppress(ValueError):
            frame[coordinate] = pd.to_numeric(frame[coordinate])
    return frame
