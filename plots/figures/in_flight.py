"""How many bytes must be under way: bandwidth against bytes in flight."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, style
from plots.figures.points import INKS, MARKERS, byte_axis, curve, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.prose import paragraph


@style.styled
def in_flight(results: Results) -> Figure:
    """Bandwidth against bytes in flight per SM, from memory and from L2, with the knee. Raises
    PlotsError when it was not measured."""
    measured = points(results, "memory/in_flight", "level", "in_flight", "words")
    common.need(measured, "bandwidth against bytes in flight (amasia run memory/in_flight)")
    measured["in_flight"] = measured["in_flight"].astype(float)
    levels = [name for name in ("memory", "l2") if (measured["level"] == name).any()]
    columns = style.beside(len(levels), 3)
    figure = style.new_figure(4.6 * len(levels), 3.9)
    lines = len(levels) // columns
    axes = figure.subplots(lines, columns, squeeze=False)
    room = figure.get_figwidth() / columns - 0.9
    for ax, level in zip(axes.flat, levels, strict=True):
        here = measured[measured["level"] == level]
        for words, ink, mark in zip(("1", "2", "4"), INKS, MARKERS, strict=False):
            of_words = here[here["words"] == words]
            curve(ax, of_words, "in_flight", f"{words} × 16 B per thread", ink, marker=mark)
        found = results.findings
        found = found[found["microbenchmark"] == "memory/in_flight"]
        for f in found.itertuples():
            if f.at.get("level") != level:
                continue
            ax.axvspan(f.low, f.high, color="#D9D9D9", zorder=0)
            ax.annotate(
                f"95 % at {f.value / 1024:.0f} KiB", (f.value, 0.04),
                xycoords=("data", "axes fraction"), ha="center", fontsize=style.text_size(8),
                color="#555555",
            )  # fmt: skip
        ax.set_ylim(0, 1.08 * here["high"].max())
        byte_axis(ax, here["in_flight"].min(), here["in_flight"].max(), room)
        ax.set_title("device memory" if level == "memory" else "L2", loc="left")
        ax.set_xlabel("bytes in flight per SM")
        ax.set_ylabel("GB/s")
        if not style.in_column():
            ax.legend(loc="upper left")
    if style.in_column():
        style.legend_below(figure, axes.flat[0].get_legend_handles_labels()[0])
    common.title(
        figure,
        "How many bytes must be under way before the bandwidth is reached",
        f"{common.origin(measured)}; grey: 95 % of the maximum, between the curves",
    )
    style.settle(figure, *[1.7] * lines)
    return figure


def _above(_: GpuSubject) -> Markup:
    return paragraph(
        "The left part is Little's law: bytes in flight over latency. It bends where the bandwidth "
        "is reached, and what a kernel has in flight per SM should lie right of the bend. More "
        "words per thread bend later, because a thread waits for all of its words before it asks "
        "again: the bytes in flight are then a maximum, not a mean. In the L2 a block returns to "
        "the same addresses in every pass, so how many of its words lie in the far half depends on "
        "the geometry, and the curves scatter near their top."
    )


microbenchmark_figure(
    "in_flight",
    "bandwidth against bytes in flight per SM",
    in_flight,
    "memory/in_flight",
    order=20,
    above=_above,
)
