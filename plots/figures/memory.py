"""What memory costs and carries: the latency ladder, bandwidth against bytes in flight, what a
window keeps in the L2."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.figures import common
from plots.load import Results
from plots.style import new_figure, styled

# Okabe & Ito, as the strategies; what they stand for here is in the legend.
_INK = ("#0072B2", "#D55E00", "#009E73")
_MARKERS = ("o", "s", "^")


def _bytes(value: float, _: object = None) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} B"


def byte_axis(ax: Axes, low: float, high: float, every: int = 2) -> None:
    """A logarithmic axis of bytes with ticks every so many powers of two."""
    ax.set_xscale("log", base=2)
    ticks = [float(2**e) for e in range(0, 44, every) if low / 1.3 <= 2**e <= high * 1.3]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(_bytes))
    ax.xaxis.set_minor_locator(NullLocator())


def points(results: Results, name: str, *coordinates: str, **wanted: str) -> pd.DataFrame:
    """Measured points of one microbenchmark of one GPU, with these coordinates as columns."""
    frame = results.points
    frame = frame[(frame["microbenchmark"] == name) & frame["median"].notna()]
    keep = [all(at.get(k) == v for k, v in wanted.items()) for at in frame["at"]]
    frame = frame[np.array(keep, dtype=bool)].copy()
    for coordinate in coordinates:
        frame[coordinate] = [at.get(coordinate, "") for at in frame["at"]]
    return frame


@styled
def latency(results: Results) -> Figure:
    """Cycles of one dependent load against the footprint, per cache operator, with the capacities
    found. Raises PlotsError without a ladder."""
    ladder = points(results, "memory/latency", "footprint", "hint", method="ladder")
    common.need(ladder, "latency ladder (amasia run memory/latency --preset paper)")
    ladder["footprint"] = ladder["footprint"].astype(float)
    figure = new_figure(8.2, 4.2)
    ax = figure.subplots()
    names = {"ca": "ld.ca (every level)", "cg": "ld.cg (L2 only)", "cv": "ld.cv (not cached)"}
    for (hint, label), ink, mark in zip(names.items(), _INK, _MARKERS, strict=True):
        of_hint = ladder[ladder["hint"] == hint].sort_values("footprint")
        if of_hint.empty:
            continue
        ax.errorbar(
            of_hint["footprint"], of_hint["median"],
            yerr=[of_hint["median"] - of_hint["low"], of_hint["high"] - of_hint["median"]],
            color=ink, marker=mark, markersize=3.5 if hint == "ca" else 5, linewidth=1.3,
            markerfacecolor=ink if hint == "ca" else "white",
            linestyle="-" if hint == "ca" else "none", label=label,
        )  # fmt: skip
    ax.set_ylim(0, 1.08 * ladder["high"].max())
    found = results.findings
    found = found[(found["microbenchmark"] == "memory/latency") & (found["quantity"] == "capacity")]
    for f in found.itertuples():
        ax.axvspan(1024 * f.low, 1024 * f.high, color="#D9D9D9", zorder=0)
        ax.annotate(
            f"{f.at['level'].upper()} ends",
            (1024 * f.low, ax.get_ylim()[1]), xytext=(-3, -3), textcoords="offset points",
            ha="right", va="top", fontsize=8, color="#555555",
        )  # fmt: skip
    byte_axis(ax, ladder["footprint"].min(), ladder["footprint"].max())
    ax.set_xlabel("footprint")
    ax.set_ylabel("cycles per dependent load")
    ax.legend(loc="center left")
    common.title(
        figure,
        "What one dependent load costs: a random chase through the whole footprint",
        f"{common.origin(ladder)}; one thread, nodes 128 bytes apart; grey: where a level ends",
    )
    return figure


@styled
def in_flight(results: Results) -> Figure:
    """Bandwidth against bytes in flight per SM, from memory and from L2, with the knee. Raises
    PlotsError when it was not measured."""
    curve = points(results, "memory/in_flight", "level", "in_flight", "words")
    common.need(curve, "bandwidth against bytes in flight (amasia run memory/in_flight)")
    curve["in_flight"] = curve["in_flight"].astype(float)
    levels = [name for name in ("memory", "l2") if (curve["level"] == name).any()]
    figure = new_figure(4.6 * len(levels), 3.9)
    axes = figure.subplots(1, len(levels), squeeze=False)[0]
    for ax, level in zip(axes, levels, strict=True):
        here = curve[curve["level"] == level]
        for words, ink, mark in zip(("1", "2", "4"), _INK, _MARKERS, strict=True):
            of_words = here[here["words"] == words].sort_values("in_flight")
            if of_words.empty:
                continue
            ax.errorbar(
                of_words["in_flight"], of_words["median"],
                yerr=[of_words["median"] - of_words["low"], of_words["high"] - of_words["median"]],
                color=ink, marker=mark, markersize=4, linewidth=1.2,
                label=f"{words} × 16 B per thread",
            )  # fmt: skip
        found = results.findings
        found = found[found["microbenchmark"] == "memory/in_flight"]
        for f in found.itertuples():
            if f.at.get("level") != level:
                continue
            ax.axvspan(f.low, f.high, color="#D9D9D9", zorder=0)
            ax.annotate(
                f"95 % at {f.value / 1024:.0f} KiB", (f.value, 0.04),
                xycoords=("data", "axes fraction"), ha="center", fontsize=8, color="#555555",
            )  # fmt: skip
        ax.set_ylim(0, 1.08 * here["high"].max())
        byte_axis(ax, here["in_flight"].min(), here["in_flight"].max())
        ax.set_title("device memory" if level == "memory" else "L2", loc="left")
        ax.set_xlabel("bytes in flight per SM")
        ax.set_ylabel("GB/s")
        ax.legend(loc="upper left")
    common.title(
        figure,
        "How many bytes must be under way before the bandwidth is reached",
        f"{common.origin(curve)}; grey: 95 % of the maximum, between the curves",
    )
    return figure


# (window, stream) -> what it is, colour, marker.
_WINDOWS = {
    ("off", "no"): ("no stream passes", "#009E73", "^"),
    ("off", "yes"): ("a stream, no window", "#555555", "s"),
    ("on", "yes"): ("window, every line persists", "#0072B2", "o"),
    ("fitted", "yes"): ("window, the share that fits persists", "#D55E00", "D"),
}


@styled
def persistence(results: Results) -> Figure:
    """Cycles per load of a hot region behind a stream, against its share of the set-aside, with a
    persisting window and without. Raises PlotsError when it was not measured."""
    curve = points(results, "memory/persistence", "region_percent", "window", "stream", "readers")
    curve = curve[curve["quantity"] == "latency"]
    common.need(curve, "persisting windows of the L2 (amasia run memory/persistence)")
    curve["region_percent"] = curve["region_percent"].astype(float)
    readers = [name for name in ("one", "all") if (curve["readers"] == name).any()]
    figure = new_figure(4.6 * len(readers), 3.9)
    axes = figure.subplots(1, len(readers), squeeze=False, sharey=True)[0]
    for ax, name in zip(axes, readers, strict=True):
        here = curve[curve["readers"] == name]
        for (window, stream), (label, ink, mark) in _WINDOWS.items():
            chosen = (here["window"] == window) & (here["stream"] == stream)
            line = here[chosen].sort_values("region_percent")
            if line.empty:
                continue
            ax.errorbar(
                line["region_percent"], line["median"],
                yerr=[line["median"] - line["low"], line["high"] - line["median"]],
                color=ink, marker=mark, markersize=4, linewidth=1.2, label=label,
            )  # fmt: skip
        ax.axvline(100, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set_ylim(0, 1.65 * curve["high"].max())
        ax.set_title("read by one SM" if name == "one" else "read by all SMs", loc="left")
        ax.set_xlabel("hot region, % of the set-aside")
    axes[0].set_ylabel("cycles per dependent load")
    axes[0].legend(loc="upper left")
    common.title(
        figure,
        "What a persisting window keeps in the L2 while a stream passes",
        f"{common.origin(curve)}; grey: as large as the largest set-aside",
    )
    return figure
