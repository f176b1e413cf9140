"""Every sample of one comparison group: how they scatter and whether they drift."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results, strategy_order
from plots.figures import common, style
from plots.figures.registry import FigureKind, register
from plots.units import milliseconds

_LABEL_INCHES = 1.45  # of a row in a column


def _limits(deviations: np.ndarray) -> tuple[float, float]:
    """Axis limits in percent that show the bulk: the middle 98 % of the samples and a half more.
    What lies beyond is drawn at the edge and counted there."""
    low, high = np.percentile(deviations, [1, 99])
    margin = max(0.5 * (high - low), 0.25)
    return float(min(low, 0) - margin), float(max(high, 0) + margin)


@style.styled
def samples(results: Results, group: str) -> Figure:
    """Left, the samples of each row as deviation from its own median (dots shifted up and down only
    to be told apart), with the exact interval of the median; right, the same in the order
    measured. Throttled samples, which no summary uses, are crosses. ``group`` is an id of
    ``results.groups``. Raises PlotsError when the group has no samples.
    """
    info = results.groups[results.groups["group"] == group]
    taken = results.samples[results.samples["group"] == group]
    common.need(taken, f"samples in group {group}")
    rows = results.rows[(results.rows["group"] == group) & results.rows["median"].notna()]
    common.need(rows, f"timed rows in group {group}")
    order = {name: i for i, name in enumerate(strategy_order(rows["strategy"]))}
    roles = {"iso": 0, "best": 1, "matched": 2, "comparator": 3, "counterpart": 4, "candidate": 5}
    ranks = {"role": roles, "strategy": order}
    rows = rows.sort_values(
        by=["role", "strategy", "repeat"],
        key=lambda column: column.map(ranks[column.name]) if column.name in ranks else column,
        kind="stable",
    )
    merged = taken.merge(rows[["row", "median"]], on="row")
    merged["deviation"] = 100 * (merged["time_ms"] / merged["median"] - 1)
    low, high = _limits(merged.loc[~merged["throttled"], "deviation"].to_numpy())

    figure = style.new_figure(10.5, 1.55 + 0.3 * len(rows))
    if style.in_column():
        heights = (0.36 * len(rows), 1.5)
        strip, drift = figure.subplots(2, 1, height_ratios=heights)
    else:
        strip, drift = figure.subplots(1, 2, width_ratios=[3, 2])
    labels = []
    for y, row in enumerate(rows.itertuples()):
        of_row = merged[merged["row"] == row.row]
        paint = style.colour(row.strategy)
        # A fixed low-discrepancy shift: the same picture each time, no two neighbours alike.
        shift = 0.3 * (2 * ((np.arange(len(of_row)) * 0.618034) % 1) - 1)
        good = ~of_row["throttled"].to_numpy()
        deviation = of_row["deviation"].to_numpy()
        edge = 0.012 * (high - low)  # inside the axes, so that the whole dot is seen
        shown = np.clip(deviation, low + edge, high - edge)
        common_style = {"linestyle": "none", "rasterized": True}
        strip.plot(
            shown[good], y + shift[good], marker="o", markersize=2.6, color=paint, alpha=0.5,
            markeredgewidth=0, label=row.variant, **common_style,
        )  # fmt: skip
        drift.plot(
            of_row["round"].to_numpy()[good], shown[good], marker="o", markersize=2.6, color=paint,
            alpha=0.5, markeredgewidth=0, **common_style,
        )  # fmt: skip
        if (~good).any():
            crosses = {"marker": "x", "markersize": 4, "color": style.ALARM_COLOUR, **common_style}
            strip.plot(shown[~good], y + shift[~good], label="throttled", **crosses)
            drift.plot(of_row["round"].to_numpy()[~good], shown[~good], **crosses)
        ends = 100 * (np.array([row.low, row.high]) / row.median - 1)
        strip.plot(np.clip(ends, low, high), [y, y], color="black", linewidth=2.4, zorder=4)
        strip.plot([0], [y], marker="|", markersize=11, color="black", zorder=5)
        for beyond, x, align in (
            (deviation > high, high - 2.5 * edge, "right"),
            (deviation < low, low + 2.5 * edge, "left"),
        ):
            if beyond.any():
                extreme = deviation[beyond][np.argmax(np.abs(deviation[beyond]))]
                strip.text(
                    x, y - 0.34, f"{beyond.sum()} beyond, to {extreme:+.3g} %", ha=align,
                    va="center", fontsize=style.text_size(6.5), color=style.ALARM_COLOUR,
                )  # fmt: skip
        control = " (A/A)" if row.repeat else ""
        distinct = {"matched": row.schedule, "counterpart": row.config}.get(row.role, "")
        which = f"{row.role} {distinct}".rstrip()
        labels.append(f"{row.strategy} {which}{control}, {milliseconds(row.median)}")
    size = style.text_size(8)
    if style.in_column():
        labels = [style.wrapped(label, _LABEL_INCHES, size) for label in labels]
    strip.set_yticks(range(len(rows)), labels, fontsize=size)
    strip.set_ylim(len(rows) - 0.4, -0.6)
    strip.set_xlim(low, high)
    strip.axvline(0, color="#888888", linewidth=0.8, zorder=0)
    strip.set_xlabel("deviation from the row's median, %")
    heading = (
        "scatter, with the\ninterval of the median"
        if style.in_column()
        else "scatter, with the interval of the median"
    )
    strip.set_title(heading, loc="left")
    per_round = merged[~merged["throttled"]].groupby("round")["deviation"].median()
    drift.plot(per_round.index, per_round, color="black", linewidth=1, zorder=4, label="per round")
    drift.axhline(0, color="#888888", linewidth=0.8, zorder=0)
    drift.set_ylim(low, high)
    drift.set_xlabel("round")
    drift.set_ylabel("deviation, %")
    drift.set_title("in the order measured", loc="left")
    first = info.iloc[0]
    throttled = int(taken["throttled"].sum())
    common.title(
        figure,
        f"All samples of {first['app']}, {first['size_label']}"
        + (f"; {throttled} throttled, in no summary" if throttled else ""),
        f"{common.origin(info)}; {common.modes(info)}",
    )
    first, second = ("above", "below") if style.in_column() else ("left", "right")
    handles = [
        Line2D([], [], color="black", linewidth=2.4, label=f"{first}: interval of the median"),
        Line2D([], [], color="black", linewidth=1, label=f"{second}: median of the rows per round"),
    ]
    if throttled:
        handles.append(
            Line2D(
                [],
                [],
                linestyle="none",
                marker="x",
                color=style.ALARM_COLOUR,
                label="throttled sample",
            )
        )
    style.legend_below(figure, handles)
    if style.in_column():
        style.settle(figure, *heights)
    return figure


register(
    FigureKind(
        "samples",
        "every sample of one group (--app, --size)",
        lambda selection: samples(*selection.one_group()),
    )
)
