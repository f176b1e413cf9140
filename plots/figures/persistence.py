"""What a persisting window keeps in the L2 while a stream passes."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import curve, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.figures.style import beside, in_column, legend_below, new_figure, settle, styled
from plots.prose import paragraph

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
    measured = points(
        results, "memory/persistence", "region_percent", "window", "stream", "readers"
    )
    measured = measured[measured["quantity"] == "latency"]
    common.need(measured, "persisting windows of the L2 (amasia run memory/persistence)")
    measured["region_percent"] = measured["region_percent"].astype(float)
    readers = [name for name in ("one", "all") if (measured["readers"] == name).any()]
    columns = beside(len(readers), 3)
    figure = new_figure(4.6 * len(readers), 3.9)
    lines = len(readers) // columns
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).flatten()
    for ax, name in zip(axes, readers, strict=True):
        here = measured[measured["readers"] == name]
        for (window, stream), (label, ink, mark) in _WINDOWS.items():
            chosen = (here["window"] == window) & (here["stream"] == stream)
            curve(ax, here[chosen], "region_percent", label, ink, marker=mark)
        ax.axvline(100, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set_ylim(0, (1.08 if in_column() else 1.65) * measured["high"].max())
        ax.set_title("read by one SM" if name == "one" else "read by all SMs", loc="left")
        ax.set_xlabel("hot region, % of the set-aside")
    for ax in axes[::columns]:
        ax.set_ylabel("cycles per dependent load")
    if in_column():
        legend_below(figure, axes[0].get_legend_handles_labels()[0])
    else:
        axes[0].legend(loc="upper left")
    common.title(
        figure,
        "What a persisting window keeps in the L2 while a stream passes",
        f"{common.origin(measured)}; grey: as large as the largest set-aside",
    )
    settle(figure, *[1.7] * lines)
    return figure


def fitted_over_all(results: Results) -> float | None:
    """How far the share that fits is from all lines in turn, at most, as a share of the latter's
    cycles; None without a region measured both ways."""
    measured = points(
        results, "memory/persistence", "region_percent", "window", "stream", "readers"
    )
    measured = measured[(measured["quantity"] == "latency") & (measured["stream"] == "yes")]
    keys = ["region_percent", "readers"]
    cycles = {w: of.set_index(keys)["median"] for w, of in measured.groupby("window")}
    if not {"on", "fitted"} <= cycles.keys():
        return None
    apart = (cycles["fitted"] / cycles["on"] - 1).abs().dropna()
    return float(apart.max()) if len(apart) else None


def _above(subject: GpuSubject) -> Markup:
    apart = fitted_over_all(subject.results)
    return paragraph(
        "Between the lowest curve, where nothing disturbs the region, and the one behind the stream"
        " without a window lies what a window can save. A window keeps a line in one half of an L2 "
        "of two, so that it lies above the lowest curve from the start: undisturbed, a half also "
        "keeps copies of what its own SMs read from the other, for as long as the region fits "
        "twice, which is where the lowest curve bends. The window's curve bends where the region "
        "no longer fits into the set-aside.",
        ""
        if apart is None
        else "From there on all lines can persist in turn, or each by chance as often as there is "
        f"room for it (the share that fits): the two differ by at most {100 * apart:.1f} %.",
    )


microbenchmark_figure(
    "persistence",
    "what a persisting window keeps in the L2",
    persistence,
    "memory/persistence",
    order=30,
    above=_above,
)
