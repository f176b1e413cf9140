"""Expected against measured speed-up between the GPUs of Svedin et al. 2021."""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, Picture, SuiteSubject, register
from plots.papers import expect
from plots.prose import paragraph

_FLOP, _BANDWIDTH, _EXPECTED = "#0072B2", "#E69F00", "#333333"
_NAME_INCHES = 1.0  # of a pair of GPUs in a column
# Colour and shape: green and red alone are one colour to many readers.
_REACHED, _BELOW = ("#009E73", "o"), (style.ALARM_COLOUR, "X")


@style.styled
def expectation(table: pd.DataFrame, source: str) -> Figure:
    """One line per pair of GPUs (columns of expect.published_table): FLOP ratio, bandwidth ratio,
    their minimum, and the measured mean with its standard deviation over benchmarks, a red cross
    where it stays below the expectation."""
    common.need(table, "pairs of GPUs")
    figure = style.new_figure(8.4, 1.5 + 0.42 * len(table))
    ax = figure.subplots()
    for y, row in enumerate(table.itertuples()):
        ratios = y - 0.13  # above what was measured, so that neither hides the other
        ends = [row.flop_ratio, row.bandwidth_ratio]
        ax.plot(ends, [ratios, ratios], color="#BBBBBB", linewidth=1.2)
        for x, shape, ink in ((ends[0], "^", _FLOP), (ends[1], "v", _BANDWIDTH)):
            ax.plot(x, ratios, marker=shape, color=ink, markersize=6, linestyle="none")
        ax.plot(
            row.expected, y, marker="|", color=_EXPECTED, markersize=17, markeredgewidth=2.2,
            linestyle="none", label="expected",
        )  # fmt: skip
        if np.isfinite(row.measured_mean):
            short = row.measured_mean < row.expected
            ink, shape = _BELOW if short else _REACHED
            spread = row.std_dev if np.isfinite(row.std_dev) else 0
            ax.errorbar(
                [row.measured_mean], [y + 0.2], xerr=[[spread], [spread]], color=ink, marker=shape,
                markersize=6.5, capsize=2.5, elinewidth=1, linestyle="none", label="measured",
                zorder=4,
            )  # fmt: skip
        text = f"expected {row.expected:.2f}"
        if np.isfinite(row.measured_mean):
            text += ",\n" if style.in_column() else ", "
            text += f"measured {row.measured_mean:.2f}"
            text += ", below" if row.measured_mean < row.expected else ""
        ax.annotate(
            text, (1, y), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", fontsize=style.text_size(8),
        )  # fmt: skip
    size = style.text_size(9)
    names = [f"{r.new} over {r.old}" for r in table.itertuples()]
    if style.in_column():
        names = [style.wrapped(name, _NAME_INCHES, size) for name in names]
    ax.set_yticks(range(len(table)), names)
    room = figure.get_figwidth() - max(style.inches(name, size) for name in names)
    room -= style.inches("measured 8.88, below", style.text_size(8)) + 0.2
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    spread = table["std_dev"].fillna(0)
    common.ratio_axis(
        ax,
        [
            *table["flop_ratio"], *table["bandwidth_ratio"],
            *(table["measured_mean"] - spread), *(table["measured_mean"] + spread),
        ],
        axis="x",
        pad=0.06,
        length=room if style.in_column() else 0,
    )  # fmt: skip
    ax.set_xlabel("speed-up (logarithmic)")
    common.title(figure, "Expected and measured speed-up between GPUs", source)
    style.legend_below(
        figure,
        [
            Line2D([], [], marker="^", color=_FLOP, linestyle="none", label="FLOP/s ratio (fp32)"),
            Line2D([], [], marker="v", color=_BANDWIDTH, linestyle="none", label="bandwidth ratio"),
            Line2D(
                [], [], marker="|", color=_EXPECTED, linestyle="none", markersize=12,
                markeredgewidth=2.2, label="expected: the smaller",
            ),
            *(
                Line2D([], [], marker=shape, color=ink, linestyle="none", label=label)
                for (ink, shape), label in ((_REACHED, "measured mean"), (_BELOW, "below that"))
            ),
        ],
    )  # fmt: skip
    style.settle(figure, 0.36 * len(table))
    return figure


SOURCE = "Svedin et al. 2021, Table 1 and section 6.1"


def _pictures(_: SuiteSubject) -> list[Picture]:
    label = "Expected and measured speed-up between the GPUs of Svedin et al. 2021"
    return [Picture("expectation", label, expectation, (expect.published_table(), SOURCE))]


def _above(_: SuiteSubject) -> Markup:
    return paragraph(
        "What their Table 1 lets one expect, and the mean speed-ups over their benchmarks that "
        "they quote, with the standard deviation over benchmarks where it is printed."
    )


register(
    FigureKind(
        "expectation",
        "expected and measured speed-ups of Svedin et al.",
        lambda _: expectation(expect.published_table(), SOURCE),
        Chapter.HARDWARE,
        order=10,
        heading="The GPUs of the paper",
        pictures=_pictures,
        above=_above,
    )
)
