"""What several figures share: titles with the origin of the data, ratio axes, legends."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

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
