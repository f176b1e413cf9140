"""Strategies x sizes: speed-up over baseline with intervals (as Fig. 4 of Svedin et al. 2021)."""

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from plots.data.load import Results, sizes_of, strategy_order
from plots.data.strategies import BY_NAME
from plots.figures import FigureKind, common, register
from plots.figures.style import (
    LEAST_POINTS,
    NOISE_COLOUR,
    WIDTH,
    colour,
    legend_below,
    marker,
    new_figure,
    styled,
    title,
    widest,
    wrapped,
)
from plots.statistics.claims import UNDECIDED
from plots.units import times

ROLES = {"iso": "iso: the original's geometry", "best": "best: each strategy's fastest geometry"}
_FEW = 4  # sizes whose labels stand side by side
_SPREAD = 0.74  # of the distance between two sizes that the strategies share
_UPRIGHT = 1.1  # inches of a size that is written upwards


def _panel(ax: Axes, results: Results, app: str, role: str, sizes: list[str]) -> None:
    """One app in one role."""
    compared, rows = results.comparisons, results.rows
    compared = compared[compared["app"] == app]
    # A vendor's library is a line to reach, never a strategy; it has been compared with the best.
    libraries = compared[(compared["role"] == "comparator") & (role == "best")]
    compared = compared[compared["role"] == role]
    rows = rows[(rows["app"] == app) & (rows["role"] == role) & (rows["repeat"] == 0)]
    strategies = [s for s in BY_NAME if s != "baseline" and (rows["strategy"] == s).any()]
    lane = {
        s: (i - (len(strategies) - 1) / 2) * _SPREAD / max(len(strategies), 1)
        for i, s in enumerate(strategies)
    }
    of_app = results.groups[results.groups["app"] == app]
    labels = dict(zip(of_app["size"], of_app["size_label"], strict=True))
    room = 0.8 * (WIDTH / 2 - 0.6) / len(sizes)
    few = len(sizes) <= _FEW and all(
        widest(wrapped(labels[size], room, LEAST_POINTS), LEAST_POINTS) <= room for size in sizes
    )
    ax.axhline(1, color=colour("baseline"), linewidth=0.6, zorder=1.7)
    for x, size in enumerate(sizes):
        here = compared[compared["size"] == size]
        for c in here[here["control"]].itertuples():
            ax.add_patch(
                Rectangle(
                    (x - 0.46, c.low), 0.92, c.high - c.low, facecolor=NOISE_COLOUR,
                    edgecolor=NOISE_COLOUR, zorder=1.6, label="_noise",
                )
            )  # fmt: skip
        for library in libraries[libraries["size"] == size].itertuples():
            ax.plot(
                (x - 0.46, x + 0.46), [library.ratio] * 2, color=colour(library.strategy),
                linestyle="--", linewidth=1.2, zorder=2, label=library.strategy,
            )  # fmt: skip
        here = here[~here["control"]]
        claimed = here[~here["claim"].isin(UNDECIDED)]
        for c in here.itertuples():
            ink, at = colour(c.strategy), x + lane.get(c.strategy, 0)
            ax.errorbar(
                [at], [c.ratio], yerr=[[c.ratio - c.low], [c.high - c.ratio]], color=ink,
                marker=marker(c.strategy), markersize=4.5, elinewidth=1.1, capsize=1.8,
                markerfacecolor="white" if c.claim in UNDECIDED else ink, linestyle="none",
                zorder=3, label=c.strategy,
            )  # fmt: skip
            if few and len(claimed) and c.Index == claimed["ratio"].idxmax():
                ax.annotate(
                    times(c.ratio), (at, c.high), xytext=(0, 3), textcoords="offset points",
                    ha="center", va="bottom", fontsize=LEAST_POINTS,
                )  # fmt: skip
        attempts = rows.loc[rows["size"] == size, "status"]
        absent = Counter(attempts[attempts != "ok"])
        texts = [f"{count} {status}" for status, count in absent.items()]
        if texts or (here.empty and attempts.empty):
            ax.text(
                x, 0.02, ", ".join(texts) or "not run", ha="center", va="bottom", color="#777777",
                fontsize=LEAST_POINTS, transform=ax.get_xaxis_transform(),
                rotation=0 if few else 90,
            )  # fmt: skip
    texts = [wrapped(labels[size], room if few else _UPRIGHT, LEAST_POINTS) for size in sizes]
    ax.set_xticks(range(len(sizes)), texts, fontsize=LEAST_POINTS, rotation=0 if few else 90)
    ax.set_xlim(-0.5, len(sizes) - 0.5)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)


@styled
def speedup(results: Results) -> Figure:
    """One row of panels per app: iso on the left, best on the right, a group of points per size.

    ``results`` must hold one cache mode and one launch mode (Results.where). A point is the median
    of the paired ratios time(baseline) / time(strategy). Its bar is the prediction interval of a
    re-run, or where that is not known the exact interval, corrected for the number of comparisons;
    it is hollow when no claim is made. The grey band is baseline against itself. Raises PlotsError
    when there are no comparisons.
    """
    compared = results.comparisons
    common.need(compared, "comparisons")
    apps = sorted(set(compared["app"]))
    figure = new_figure(0.95 + 2.7 * len(apps))
    axes = figure.subplots(len(apps), 2, squeeze=False, sharey="row")
    for app, of_app in zip(apps, axes, strict=True):
        for ax, (role, text) in zip(of_app, ROLES.items(), strict=True):
            _panel(ax, results, app, role, sizes_of(results.groups, app))
            control = compared[(compared["app"] == app) & (compared["role"] == role)]
            control = control[control["control"]]
            # In words, too: on a quiet machine the band is thinner than a line.
            noise = f"A/A {control['low'].min():.3f} to {control['high'].max():.3f}"
            ax.set_title(f"{app}, {text}\n{noise if len(control) else 'no A/A'}", loc="left")
        reach = compared[(compared["app"] == app) & compared["role"].isin([*ROLES, "comparator"])]
        common.ratio_axis(of_app[0], [*reach["low"], *reach["high"]], pad=0.3)
        of_app[0].set_ylabel("speed-up over baseline")
    title(
        figure,
        "Speed-up of each strategy over baseline",
        f"{common.origin(compared)}; {common.modes(compared)}",
    )
    libraries = sorted(set(compared.loc[compared["role"] == "comparator", "strategy"]))
    shown = [s for s in strategy_order(results.rows["strategy"]) if s in BY_NAME]
    legend_below(
        figure,
        [
            *common.strategy_handles(s for s in shown if s != "baseline"),
            *(Line2D([], [], color=colour(s), linestyle="--", label=s) for s in libraries),
            common.hollow_handle(),
            common.noise_handle(),
        ],
    )
    return figure


register(
    FigureKind(
        "speedup",
        "strategies x sizes, speed-up with intervals, iso and best",
        lambda selection: speedup(selection.one_mode()),
        order=4,
    )
)
