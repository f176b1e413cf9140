"""Time against the floor: how much of the least possible time each variant takes."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from plots.data.load import SHOWN_ROLES, Results, sizes_of, strategy_order
from plots.figures import common, style
from plots.figures.registry import FigureKind, register
from plots.units import milliseconds

_BOUND = {
    "bytes": "bound by memory traffic",
    "operations": "bound by arithmetic",
    "dependency": "bound by its longest dependency chain",
}
_COLUMNS = 2


def _panel(ax: Axes, results: Results, app: str, size: str, room: float) -> tuple[float, int]:
    """Draws one app and size, ``room`` inches wide; returns the longest bar in percent and how many
    lines there are."""
    groups = results.groups
    group = groups[(groups["app"] == app) & (groups["size"] == size)].iloc[0]
    rows = results.rows[(results.rows["group"] == group["group"]) & (results.rows["repeat"] == 0)]
    rows = rows[rows["role"].isin(SHOWN_ROLES)]
    names = strategy_order(rows["strategy"])
    longest = 0.0
    for y, strategy in enumerate(names):
        of_strategy = rows[rows["strategy"] == strategy].set_index("role")
        roles = [r for r in ("best", "iso", "comparator") if r in of_strategy.index]
        for i, role in enumerate(roles):
            row = of_strategy.loc[role]
            at = y + (i - (len(roles) - 1) / 2) * 0.4
            if row["status"] != "ok" or not np.isfinite(row["floor_fraction"]):
                text = f"{role}: {row['status']}"
                ax.text(0.8, at, text, va="center", fontsize=style.text_size(7), color="#777777")
                continue
            percent = 100 * row["floor_fraction"]
            longest = max(longest, percent)
            ax.barh(
                at, percent, height=0.36, color=style.colour(strategy),
                alpha=0.45 if role == "iso" else 1, label=f"{strategy} {role}",
            )  # fmt: skip
            # Beside the axes: in them it would lie on the line of 100 %.
            ax.annotate(
                f"{percent:.0f} %  {milliseconds(row['median'])}", (1, at),
                xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points",
                va="center", fontsize=style.text_size(7), annotation_clip=False,
            )  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    parts = ", ".join(
        f"{name} {milliseconds(group[f'{name}_ms'])}"
        for name in ("bytes", "operations", "dependency")
    )
    heading = (
        f"{app}, {group['size_label']}\n"
        f"floor {milliseconds(group['floor_ms'])}, {_BOUND[group['bound_by']]}\n({parts})"
    )
    points = style.text_size(8.5)
    ax.set_title(style.wrapped(heading, room, points), loc="left", fontsize=points)
    return longest, len(names)


@style.styled
def floor(results: Results) -> Figure:
    """One panel per app and size: floor / time in percent, for best (solid) and iso (pale).

    The floor is the largest of compulsory bytes over measured bandwidth, operations over measured
    rate, and dependent operations times measured latency, from ceilings of the same file; 100 %
    cannot be passed with a cold cache. ``results`` must hold one cache and launch mode.
    """
    known = results.groups[results.groups["bound_by"] != ""]
    common.need(known, "floors (no ceilings were measured)")
    panels = [(app, size) for app in sorted(set(known["app"])) for size in sizes_of(known, app)]
    columns = style.beside(min(_COLUMNS, len(panels)), 3)
    lines = -(-len(panels) // columns)
    figure = style.new_figure(5.2 * columns, 0.9 + 2.9 * lines)
    axes = figure.subplots(lines, columns, squeeze=False)
    room, most = figure.get_figwidth() / columns - 1.0, 0
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, (app, size) in zip(axes.flat, panels, strict=False):
        longest, names = _panel(ax, results, app, size, room)
        most = max(most, names)
        ax.axvline(100, color="#444444", linewidth=1, linestyle="--")
        ax.set_xlim(0, max(104, longest * 1.04))
        step = 50 if style.in_column() else 25
        ax.set_xticks([t for t in range(0, 1000, step) if t <= max(100, longest)])
        ax.set_xlabel("floor / time, %")
    common.title(
        figure,
        "Time against the floor: 100 % is the least time the measured ceilings allow",
        f"{common.origin(known)}; {common.modes(known)}",
    )
    style.legend_below(
        figure,
        [
            Patch(facecolor="#555555", label="best geometry (or a library)"),
            Patch(facecolor="#555555", alpha=0.45, label="iso geometry"),
        ],
    )
    # Two lines of text stand beside the bars of a strategy.
    figure.set_size_inches(figure.get_figwidth(), 0.9 + max(2.9, 1.15 + 0.29 * most) * lines)
    style.settle(figure, *[0.27 * most] * lines)
    return figure


register(
    FigureKind(
        "floor",
        "time against the floor",
        lambda selection: floor(selection.at_chosen_sizes(selection.one_mode())),
        at_main_sizes=True,
    )
)
