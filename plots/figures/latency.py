"""What one dependent load costs: the latency ladder."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import INKS, MARKERS, byte_axis, curve, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.figures.style import in_column, legend_under, new_figure, settle, styled, text_size
from plots.prose import paragraph


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
    for (hint, label), ink, mark in zip(names.items(), INKS, MARKERS, strict=False):
        first = hint == "ca"
        curve(
            ax, ladder[ladder["hint"] == hint], "footprint", label, ink, marker=mark,
            markersize=3.5 if first else 5, linewidth=1.3,
            markerfacecolor=ink if first else "white", linestyle="-" if first else "none",
        )  # fmt: skip
    ax.set_ylim(0, 1.08 * ladder["high"].max())
    found = results.findings
    found = found[(found["microbenchmark"] == "memory/latency") & (found["quantity"] == "capacity")]
    for f in found.itertuples():
        ax.axvspan(1024 * f.low, 1024 * f.high, color="#D9D9D9", zorder=0)
        ax.annotate(
            f"{f.at['level'].upper()} ends",
            (1024 * f.low, ax.get_ylim()[1]), xytext=(-3, -3), textcoords="offset points",
            ha="right", va="top", fontsize=text_size(8), color="#555555",
        )  # fmt: skip
    room = figure.get_figwidth() - 0.8
    byte_axis(ax, ladder["footprint"].min(), ladder["footprint"].max(), room)
    ax.set_xlabel("footprint")
    ax.set_ylabel("cycles per dependent load")
    if in_column():
        legend_under(ax, room)
    else:
        ax.legend(loc="center left")
    common.title(
        figure,
        "What one dependent load costs: a random chase through the whole footprint",
        f"{common.origin(ladder)}; one thread, nodes 128 bytes apart; grey: where a level ends",
    )
    settle(figure, 1.9)
    return figure


def _above(_: GpuSubject) -> Markup:
    return paragraph(
        "Each plateau is a level. The first ends where L1 does: shared memory takes the rest of "
        "the same array. On the next, ld.ca and ld.cg agree, because both are answered by the L2, "
        "and so does ld.cv: it passes L1, not the L2. Where an L2 is built of two halves that each "
        "keep a copy of what their SMs read, it begins to end at half its size, and rises once "
        "more where not even one copy fits. From there on it is device memory; the last slow rise "
        "is the reach of the TLB."
    )


microbenchmark_figure(
    "latency",
    "cycles per dependent load against the footprint",
    latency,
    "memory/latency",
    order=10,
    above=_above,
)
