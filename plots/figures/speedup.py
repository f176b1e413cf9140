"""Strategies x sizes: speed-up over baseline with intervals (as Fig. 4 of Svedin et al. 2021)."""

from __future__ import annotations

from collections import Counter

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from plots.data.load import Results, main_size, sizes_of, strategy_order
from plots.data.strategies import BY_NAME
from plots.figures import common
from plots.figures.registry import AppSubject, Chapter, FigureKind, register
from plots.figures.style import (
    NOISE_COLOUR,
    beside,
    colour,
    in_column,
    inches,
    legend_below,
    marker,
    new_figure,
    settle,
    styled,
    text_size,
    wrapped,
)
from plots.papers import specifications
from plots.prose import paragraph, ratio, table, view
from plots.statistics.claims import UNDECIDED
from plots.units import times

ROLES = {"iso": "iso: the original's geometry", "best": "best: each strategy's fastest geometry"}
_OF_COMPARISON = ["size", "strategy", "role", "control", "ratio", "low", "high", "claim"]
_NOISE_INCHES = 1.05  # of an A/A interval in words
_SIZE_INCHES = 1.2  # of a size that stands upright in a column
_LINE_INCHES = 0.11  # of a line of text
_SPREAD = 0.74  # of the distance between two sizes that the strategies share


def _noise_in_words(ax: Axes, x: float, text: str) -> None:
    """The A/A interval as text: on a quiet machine the band is thinner than a line."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    ax.text(
        x, 0.985, text, ha="center", va="top", transform=ax.get_xaxis_transform(),
        fontsize=text_size(6.5), color="#777777", bbox=box,
    )  # fmt: skip


def _panel(
    ax: Axes, results: Results, app: str, role: str, sizes: list[str], shown: list[str], room: float
) -> None:
    """One app in one role, ``room`` inches wide."""
    comparisons = results.comparisons
    comparisons = comparisons.loc[comparisons["app"] == app, _OF_COMPARISON]
    # A vendor's library is a line to reach, never a strategy; it has been compared with the best.
    libraries = comparisons[(comparisons["role"] == "comparator") & (role == "best")]
    comparisons = comparisons[comparisons["role"] == role]
    rows = results.rows
    wanted = (rows["app"] == app) & (rows["role"] == role) & (rows["repeat"] == 0)
    rows = rows.loc[wanted, ["size", "strategy", "status"]]
    strategies = [s for s in shown if s in BY_NAME and s != "baseline"]
    many = len(sizes) > 6
    # More A/A intervals than that do not fit side by side.
    each_in_words = room / len(sizes) > _NOISE_INCHES if in_column() else len(sizes) <= 4
    offsets = {
        s: (i - (len(strategies) - 1) / 2) * _SPREAD / max(len(strategies), 1)
        for i, s in enumerate(strategies)
    }
    ax.axhline(1, color=colour("baseline"), linewidth=0.6, zorder=1.7)
    # (strategy, hollow) -> x, y, how far down and up its bar reaches.
    points: dict[tuple[str, bool], list[tuple[float, float, float, float]]] = {}
    for x, size in enumerate(sizes):
        here = comparisons[comparisons["size"] == size]
        for control in here[here["control"]].itertuples():
            ax.add_patch(
                Rectangle(
                    (x - 0.46, control.low), 0.92, control.high - control.low,
                    facecolor=NOISE_COLOUR, edgecolor=NOISE_COLOUR, zorder=1.6, label="_noise",
                )
            )  # fmt: skip
            if each_in_words:
                _noise_in_words(ax, x, f"A/A {control.low:.3f} to {control.high:.3f}")
        for library in libraries[libraries["size"] == size].itertuples():
            ends = (x - 0.46, x + 0.46)
            ax.plot(
                ends, [library.ratio] * 2, color=colour(library.strategy), linestyle="--",
                linewidth=1.2, zorder=2, label=library.strategy,
            )  # fmt: skip
        here = here[~here["control"]]
        claimed = here[~here["claim"].isin(UNDECIDED)]
        leader = claimed["ratio"].idxmax() if len(claimed) else None
        for c in here.itertuples():
            position = x + offsets.get(c.strategy, 0)
            point = (position, c.ratio, c.ratio - c.low, c.high - c.ratio)
            points.setdefault((c.strategy, c.claim in UNDECIDED), []).append(point)
            if c.Index == leader and not many:
                ax.annotate(
                    times(c.ratio), (position, c.high), xytext=(0, 3),
                    textcoords="offset points", ha="center", va="bottom", fontsize=text_size(7.5),
                )  # fmt: skip
        attempts = rows[rows["size"] == size]
        absent = attempts[attempts["status"] != "ok"]
        notes = [
            (offsets.get(row.strategy, 0), row.status, colour(row.strategy))
            for row in absent.itertuples()
        ]
        if len(absent) == len(attempts) and absent["status"].nunique() == 1:
            notes = [(0, f"all {notes[0][1]}", "#777777")]  # once: strategies lie too close
        elif len(notes) > 1 and _SPREAD * room / len(sizes) / len(strategies) < _LINE_INCHES:
            counted = Counter(status for _, status, _ in notes)
            texts = [f"{number} {status}" for status, number in counted.items()]
            notes = [(0, ", ".join(texts), "#777777")]
        for offset, text, text_colour in notes:
            ax.text(
                x + offset, 0.02, text, rotation=90, fontsize=text_size(6.5), color=text_colour,
                transform=ax.get_xaxis_transform(), ha="center", va="bottom",
            )  # fmt: skip
        if here.empty and attempts.empty:
            ax.text(
                x, 0.5, "not run", transform=ax.get_xaxis_transform(), ha="center",
                fontsize=text_size(7.5), color="#777777",
            )  # fmt: skip
    for (strategy, hollow), found in points.items():
        xs, ys, down, up = zip(*found, strict=True)
        ax.errorbar(
            xs, ys, yerr=[down, up], color=colour(strategy), marker=marker(strategy),
            markersize=5.5, markerfacecolor="white" if hollow else colour(strategy),
            elinewidth=1.2, capsize=2.2, linestyle="none", zorder=3, label=strategy,
        )  # fmt: skip
    if many:
        for strategy in strategies:
            line = comparisons[(comparisons["strategy"] == strategy) & ~comparisons["control"]]
            line = line.set_index("size").reindex(sizes)
            xs = np.arange(len(sizes)) + offsets[strategy]
            ax.plot(xs, line["ratio"], color=colour(strategy), linewidth=0.7, alpha=0.6, zorder=2)
    controls = comparisons[comparisons["control"]]
    if len(controls) and not each_in_words:
        reach = f"A/A within {controls['low'].min():.3f} to {controls['high'].max():.3f}"
        _noise_in_words(ax, (len(sizes) - 1) / 2, reach)
    of_app = results.groups[results.groups["app"] == app]
    labels = dict(zip(of_app["size"], of_app["size_label"], strict=True))
    texts = [labels[size].replace(" ", "\n") for size in sizes]
    slot, points = room / len(sizes), text_size(7.5)
    if max(inches(text, points) for text in texts) > 0.93 * slot:
        texts = [wrapped(labels[size], _SIZE_INCHES, points) for size in sizes]
        ax.set_xticks(range(len(sizes)), texts, fontsize=points, rotation=90)
    else:
        ax.set_xticks(range(len(sizes)), texts, fontsize=points)
    ax.set_xlim(-0.5, len(sizes) - 0.5)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)


@styled
def speedup(results: Results, apps: list[str] | None = None) -> Figure:
    """One row of panels per app: iso on the left, best on the right, a group of points per size.

    ``results`` must hold one cache mode and one launch mode (Results.where). A point is the median
    of the paired ratios time(baseline) / time(strategy), its bar where a new run falls, or where
    that is not known the exact interval, corrected for the number of comparisons; hollow when no
    claim is made. The grey band is baseline against
    itself. Raises PlotsError when there are no comparisons.
    """
    comparisons = results.comparisons
    common.need(comparisons, "comparisons")
    libraries = sorted(set(comparisons.loc[comparisons["role"] == "comparator", "strategy"]))
    apps = apps or sorted(set(comparisons["app"]))
    figure = new_figure(10, 0.95 + 2.75 * len(apps))
    columns = beside(2, 3)
    axes = figure.subplots(2 * len(apps) // columns, columns, squeeze=False)
    axes = axes.reshape(len(apps), 2)
    room = figure.get_figwidth() / columns - 0.6
    shown = strategy_order(set(results.rows["strategy"]) & set(BY_NAME))
    for r, app in enumerate(apps):
        sizes = sizes_of(results.groups, app)
        of_app = comparisons[comparisons["app"] == app]
        for c, (role, text) in enumerate(ROLES.items()):
            _panel(axes[r][c], results, app, role, sizes, shown, room)
            axes[r][c].set_title(f"{app}, {text}", loc="left")
        reach = of_app[of_app["role"].isin([*ROLES, "comparator"])]
        for ax in axes[r]:
            common.ratio_axis(
                ax, [*reach["low"], *reach["high"]], pad=0.35 if in_column() else 0.22
            )
        axes[r][0].set_ylabel("speed-up over baseline")
        if columns == 1:
            axes[r][1].set_ylabel("speed-up over baseline")
        else:
            axes[r][1].tick_params(axis="y", labelleft=False)
    common.title(
        figure,
        "Speed-up of each strategy over baseline",
        f"{common.origin(comparisons)}; {common.modes(comparisons)}",
    )
    legend_below(
        figure,
        [
            *common.strategy_handles(s for s in shown if s != "baseline"),
            *(Line2D([], [], color=colour(s), linestyle="--", label=s) for s in libraries),
            common.unresolved_handle(),
            common.noise_handle(),
        ],
        columnspacing=1.1,
        handletextpad=0.4,
    )
    settle(figure, *[1.55] * (2 * len(apps) // columns))
    return figure


def _quotes(subject: AppSubject) -> Markup:
    """What the paper reports of a strategy beside what was measured here at the main size."""
    measured = subject.main.comparisons
    measured = measured[measured["size"] == main_size(subject.gpu.main.groups, subject.app)]
    lines = []
    for quote in specifications.strategy_quotes().itertuples():
        if quote.app != subject.app:
            continue
        found = measured[(measured["strategy"] == quote.strategy) & ~measured["control"]]
        ours = {c.role: c for c in found.itertuples()}
        ends = dict.fromkeys((f"{quote.low:.2f}", f"{quote.high:.2f}"))
        cells = [ratio(ours.get(role)) for role in ("iso", "best")]
        lines.append([quote.strategy, " to ".join(ends), *cells, quote.remark])
    if not lines:
        return Markup("")
    heading = paragraph(
        Markup(
            "Svedin et al. (2021) put <code>register_bypass</code>, <code>overlap</code> and "
            "<code>drop_off</code> into Rodinia codes on an A100. What they report, beside what "
            "was measured here at the main size ({}):"
        ).format(subject.gpu.mode)
    )
    return heading + table(("strategy", ">paper, A100", "iso here", "best here", "remark"), lines)


_SHOWN = ("samples", "strategy", "speed-up", "size", "cache", "launch", "role", "schedule",
          "consists of", "of floor", "time", "runs", "status")  # fmt: skip


def _markup(subject: AppSubject) -> Markup:
    """Every row of the app beside its interval, the mode and role of single pictures first."""
    if not len(subject.results.rows):
        return Markup("")
    first = {"cache": subject.gpu.cache, "launch": subject.gpu.launch, "role": "best"}
    where = {"gpu": subject.gpu.gpu, "app": subject.app}
    shown = view("rows", f"Rows of {subject.app}", where, first, _SHOWN)
    return shown + _quotes(subject)


register(
    FigureKind(
        "speedup",
        "strategies x sizes, speed-up with intervals, iso and best",
        lambda selection: speedup(selection.one_mode()),
        Chapter.APPS,
        order=10,
        heading="Strategies and sizes",
        markup=_markup,
    )
)
