"""What several figures share: titles with the origin of the data, ratio axes, legends; points of
microbenchmarks as curves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from plots.data.load import Results
from plots.errors import PlotsError
from plots.figures.style import NOISE_COLOUR, colour, marker
from plots.units import shortened

# Readable stops of a ratio axis, from which as many as fit are taken.
_DENSE = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2]
_FINE = [0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04]
_COARSE = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
_SPARSE = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000]


def origin(frame: pd.DataFrame) -> str:
    """ "NVIDIA H200, 2026-11-21": the GPUs and dates of the data in a frame, and the version of the
    suite where that is an earlier one."""
    parts = []
    for (gpu, version), of_gpu in frame.groupby(["gpu", "version"], sort=False):
        days = sorted({date[:10] for date in of_gpu["date"]})
        parts.append(
            f"{shortened(str(gpu))}{f', Amasia {version}' if version else ''}, "
            f"{days[0] if len(days) == 1 else days[0] + ' to ' + days[-1]}"
        )
    return "; ".join(parts)


def modes(frame: pd.DataFrame) -> str:
    """ "cold cache, stream launches": the modes of the groups in a frame."""
    caches = " and ".join(sorted(set(frame["cache"])))
    launches = " and ".join(sorted(set(frame["launch"]), reverse=True))
    return f"{caches} cache, {launches} launches"


def need(frame: pd.DataFrame, what: str) -> None:
    """Raises PlotsError when there is nothing to draw."""
    if frame.empty:
        raise PlotsError(f"nothing to draw: the result files hold no {what}")


def ratio_axis(ax: Axes, values: Iterable[float], axis: str = "y", pad: float = 0.12) -> None:
    """A logarithmic ratio axis around ``values`` and 1, with ticks as plain numbers.

    Logarithmic, because twice as fast and twice as slow are equally far from 1.
    """
    finite = [v for v in values if np.isfinite(v) and v > 0] + [1.0]
    low, high = np.log(min(finite)), np.log(max(finite))
    margin = max(pad * (high - low), np.log(1.02))
    low, high = np.exp(low - margin), np.exp(high + margin)
    ticks = [t for t in _SPARSE if low <= t <= high]
    for stops in (_FINE, _DENSE, _COARSE):
        inside = [t for t in stops if low <= t <= high]
        if len(inside) <= 8 and stops[0] <= low and high <= stops[-1] * 1.05:
            ticks = inside
            break
    which = ax.yaxis if axis == "y" else ax.xaxis
    ax.set(**{f"{axis}scale": "log", f"{axis}lim": (low, high)})
    which.set_major_locator(FixedLocator(ticks))
    which.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    which.set_minor_locator(NullLocator())
    which.set_minor_formatter(NullFormatter())


def strategy_handles(strategies: Iterable[str]) -> list[Line2D]:
    """Legend entries of strategies and comparators."""
    return [
        Line2D([], [], linestyle="none", marker=marker(s), color=colour(s), markersize=6, label=s)
        for s in strategies
    ]


def hollow_handle(label: str = "hollow: not resolved") -> Line2D:
    """Legend entry: what a hollow marker means."""
    return Line2D(
        [], [], linestyle="none", marker="o", markersize=6, markerfacecolor="white",
        markeredgecolor="#444444", label=label,
    )  # fmt: skip


def noise_handle() -> Patch:
    """Legend entry: what the grey band means."""
    return Patch(facecolor=NOISE_COLOUR, label="baseline against itself (A/A)")


# --- Points of microbenchmarks as curves ----------------------------------------------------------

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
