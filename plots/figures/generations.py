"""One GPU over another: best on best and the baseline alone, case by case."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.figures import common, style
from plots.papers.expect import Measured
from plots.units import shortened

MOST_CASES = 12
_HARDWARE, _BEST = "#000000", "#D55E00"
_BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # a text


def cases(measured: Measured) -> list[Any]:
    """The cases that a picture has room for: of each app one after the other, the modes that
    single pictures show first."""
    best = measured.best.assign(
        later=measured.best["cache"].ne("cold") * 2 + measured.best["launch"].ne("stream")
    )
    best = best.sort_values("later", kind="stable")
    best = best.assign(rank=best.groupby("app").cumcount())
    shown = best.sort_values("rank", kind="stable").head(MOST_CASES)
    return list(shown.sort_values(["app", "rank"], kind="stable").itertuples())


@style.styled
def generations(measured: Measured, dates: str) -> Figure:
    """The speed-up of the new GPU in at most MOST_CASES cases: the baseline alone (hardware), and
    the best strategy of each GPU with its interval; beside what the measured ceilings (solid) and
    the datasheets (dashed) let one expect."""
    common.need(measured.best, "case with the baseline at its best on both GPUs")
    shown: Sequence[Any] = cases(measured)
    figure = style.new_figure(2.2 + 0.38 * len(shown), style.NARROW)
    ax = figure.subplots()
    for y, case in enumerate(shown):
        ax.plot(case.hardware, y, marker="o", color=_HARDWARE, markersize=4)
        ax.errorbar(
            [case.ratio], [y + 0.25], xerr=[[case.ratio - case.low], [case.high - case.ratio]],
            color=_BEST, marker="D", markersize=4, capsize=2, elinewidth=1, linestyle="none",
            markerfacecolor=_BEST if case.resolved else "white", label=case.app,
        )  # fmt: skip
    ends = [e for case in shown for e in (case.low, case.high, case.hardware)]
    handles = [
        Line2D([], [], marker="o", color=_HARDWARE, linestyle="none", label="baseline (hardware)"),
        Line2D([], [], marker="D", color=_BEST, linestyle="none", label="best on best"),
        common.hollow_handle(),
    ]
    for expected, dashes, text in (
        (measured.measured_ceilings, "-", "measured ceilings"),
        (measured.datasheet, "--", "datasheets"),
    ):
        if expected is not None:
            drawn = {"color": "#333333", "linestyle": dashes, "linewidth": 1.2}
            ax.axvline(expected.expected, **drawn)
            label = f"expected, {text}: {expected.expected:.2f}"
            handles.append(Line2D([], [], label=label, **drawn))
            ends.append(expected.expected)
    common.ratio_axis(ax, ends, axis="x", pad=0.06)
    same = len({(c.cache, c.launch) for c in shown}) == 1
    for y, c in enumerate(shown):
        label = shortened(f"{c.app} {c.size_label}", 32 if same else 24)
        label += "" if same else f", {c.cache}, {c.launch}"
        for x, text, side in (
            (0, label, "left"),
            (1, f"{c.old_strategy} → {c.new_strategy}", "right"),
        ):
            ax.text(
                x, y - 0.3, text, fontsize=7, va="center", ha=side, bbox=_BEHIND,
                transform=ax.get_yaxis_transform(),
            )  # fmt: skip
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(shown) - 0.45, -0.55)
    ax.set_xlabel("speed-up (logarithmic); best strategies, old → new")
    names = (shortened(gpu, 40) for gpu in (measured.new_gpu, measured.old_gpu))
    style.title(figure, " over ".join(names), dates)
    style.legend_below(figure, handles)
    return figure
