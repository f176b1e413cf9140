"""Stream against graph: what launching the kernels one by one costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import (
    SHOWN_ROLES,
    Results,
    main_cache,
    sizes_of,
    strategy_order,
    usable_times,
)
from plots.data.selection import Selection
from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, GpuSubject, register
from plots.prose import paragraph, table
from plots.statistics.intervals import corrected_confidence, independent_ratio
from plots.units import claimed_ratio, milliseconds

CONFIDENCE = 0.95
_COLUMNS = 2
_TIMES_INCHES = 1.0  # of two times with an arrow between them in a column
_OF_ROW = ["gpu", "app", "size", "size_label", "cache", "launch", "variant", "strategy", "role",
           "config", "row", "date", "version", "median"]  # fmt: skip


def launch_costs(results: Results, confidence: float = CONFIDENCE) -> pd.DataFrame:
    """One line per variant, role, size and cache mode measured in both launch modes: the medians,
    ratio = time in a stream / time in a graph with its interval, and the difference in ms.

    The two modes are measured in different groups, so the interval is that of two independent
    samples (statistics.independent_ratio); those of one panel hold together with the confidence
    asked for. Rows whose config differs are left out.
    """
    rows = results.rows
    rows = rows[(rows["status"] == "ok") & (rows["repeat"] == 0) & rows["median"].notna()]
    rows = rows.loc[rows["role"].isin(SHOWN_ROLES), _OF_ROW]
    keys = ["gpu", "app", "size", "cache", "variant", "role", "config"]
    both = rows[rows["launch"] == "stream"].merge(
        rows[rows["launch"] == "graph"], on=keys, suffixes=("", "_graph")
    )
    times = usable_times(results)
    together = both.groupby(["gpu", "app", "size", "cache"])["variant"].transform("size")
    records = []
    for row, cases in zip(both.itertuples(), together, strict=True):
        if row.row not in times or row.row_graph not in times:
            continue
        each = corrected_confidence(confidence, cases)
        ratio = independent_ratio(times[row.row], times[row.row_graph], each)
        records.append(
            {
                **{k: getattr(row, k) for k in keys},
                "size_label": row.size_label,
                "strategy": row.strategy,
                "date": row.date,
                "version": row.version,
                "stream_ms": row.median,
                "graph_ms": row.median_graph,
                "ratio": ratio.ratio,
                "low": ratio.low,
                "high": ratio.high,
                "resolved": ratio.resolved,
                "difference_ms": row.median - row.median_graph,
            }
        )
    columns = [*keys, "size_label", "strategy", "date", "version", "stream_ms", "graph_ms",
               "ratio", "low", "high", "resolved", "difference_ms"]  # fmt: skip
    return pd.DataFrame(records, columns=columns)


@style.styled
def launch(results: Results) -> Figure:
    """One panel per app, size and cache mode: time in a stream / time in a graph for each variant,
    with interval; hollow when it spans 1. Raises PlotsError when nothing was measured in both.
    """
    costs = launch_costs(results)
    common.need(costs, "row measured both in a stream and in a graph")
    panels = [
        (app, size, cache)
        for app in sorted(set(costs["app"]))
        for size in sizes_of(results.groups, app)
        for cache in sorted(set(costs["cache"]))
        if len(costs[(costs["app"] == app) & (costs["size"] == size) & (costs["cache"] == cache)])
    ]
    columns = style.beside(min(_COLUMNS, len(panels)), 3)
    lines = -(-len(panels) // columns)
    figure = style.new_figure(5.4 * columns, 0.9 + 2.9 * lines)
    axes = figure.subplots(lines, columns, squeeze=False)
    longest = 0
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, (app, size, cache) in zip(axes.flat, panels, strict=False):
        here = costs[(costs["app"] == app) & (costs["size"] == size) & (costs["cache"] == cache)]
        here = here.assign(
            order=here["strategy"].map(
                {s: i for i, s in enumerate(strategy_order(here["strategy"]))}
            ),
            rank=here["role"].map({role: i for i, role in enumerate(SHOWN_ROLES)}),
        ).sort_values(["order", "rank"], kind="stable")
        labels = []
        points: dict[tuple[str, bool], list[tuple[float, int, float, float]]] = {}
        for c in here.itertuples():
            point = (c.ratio, len(labels), c.ratio - c.low, c.high - c.ratio)
            points.setdefault((c.strategy, c.resolved), []).append(point)
            ax.annotate(
                f"{milliseconds(c.stream_ms)} → {milliseconds(c.graph_ms)}",
                (1, len(labels)), xycoords=("axes fraction", "data"), xytext=(-2, 0),
                textcoords="offset points", ha="right", va="center", fontsize=style.text_size(6.5),
                color="#555555",
            )  # fmt: skip
            labels.append(f"{c.strategy} {c.role}")
        for (strategy, resolved), found in points.items():
            xs, ys, left, right = zip(*found, strict=True)
            ax.errorbar(
                xs, ys, xerr=[left, right], color=style.colour(strategy),
                marker=style.marker(strategy), markersize=5,
                markerfacecolor=style.colour(strategy) if resolved else "white",
                elinewidth=1.2, capsize=2, linestyle="none", label=strategy,
            )  # fmt: skip
        ax.axvline(1, color="black", linewidth=1)
        ax.set_yticks(range(len(labels)), labels, fontsize=style.text_size(7.5))
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        first = here.iloc[0]
        heading, size = f"{app}, {first['size_label']}, {cache}", style.text_size(8.5)
        heading = style.wrapped(heading, figure.get_figwidth() / columns - 1.5, size)
        ax.set_title(heading, loc="left", fontsize=size)
        longest = max(longest, len(labels))
    ends = np.concatenate([costs["low"], costs["high"]])
    length, share = 0.0, 0.5  # of the axis that the times get beside the ratios
    if style.in_column():
        length = figure.get_figwidth() / columns - 1.2
        share = _TIMES_INCHES / (length - _TIMES_INCHES)
        length -= _TIMES_INCHES
    for ax in axes.flat[: len(panels)]:
        common.ratio_axis(ax, ends, axis="x", length=length)
        left, right = ax.get_xlim()
        ax.set_xlim(left, right * (right / left) ** share)
        ax.set_xlabel("time in a stream / time in a graph")
    common.title(
        figure,
        "What launching costs: the same launches in a stream and replayed as a graph",
        f"{common.origin(costs)}; right of 1: the stream is slower; hollow: not resolved",
    )
    style.settle(figure, *[0.15 * longest] * lines)
    return figure


def _of_selection(selection: Selection) -> Figure:
    results = selection.all_modes()
    results = results.where(cache=selection.cache or main_cache(results.groups))
    return launch(selection.at_chosen_sizes(results))


def _markup(subject: GpuSubject) -> Markup:
    """Every cost, in the cache mode of single pictures."""
    costs = launch_costs(subject.results.where(cache=subject.cache))
    lines = [
        (
            c.app,
            c.size_label,
            c.strategy,
            c.role,
            milliseconds(c.stream_ms),
            milliseconds(c.graph_ms),
            claimed_ratio(c.ratio, c.low, c.high) + ("" if c.resolved else ", not resolved"),
        )
        for c in costs.sort_values("ratio", ascending=False).itertuples()
    ]
    columns = ("app", "size", "strategy", "role", ">in a stream", ">in a graph", "ratio")
    return table(columns, lines) if lines else Markup("")


def _above(subject: GpuSubject) -> Markup:
    ceilings = subject.results.ceilings.drop_duplicates("name", keep="last")
    values = ceilings.set_index("name")["value"]
    empty = ""
    if {"launch_stream_us", "launch_graph_us"} <= set(values.index):
        empty = (
            f"An empty launch cost {values['launch_stream_us']:.2f} µs in a stream and "
            f"{values['launch_graph_us']:.2f} µs in a graph."
        )
    return paragraph(
        "The same launches, enqueued one by one in a stream or captured once and replayed as a "
        "graph. A variant of many short kernels gains from the graph what launching cost it; that "
        "gain belongs to no strategy.",
        empty,
    )


register(
    FigureKind(
        "launch",
        "stream against graph",
        _of_selection,
        Chapter.COMPARISONS,
        order=50,
        heading="Stream against graph",
        markup=_markup,
        above=_above,
        at_main_sizes=True,
    )
)
