"""What a persisting window keeps in the L2 beside a stream."""

from __future__ import annotations

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import curve, points
from plots.figures.registry import microbenchmark_figure
from plots.figures.style import new_figure, styled, title

# (window, stream) -> what it is, colour, marker.
_WINDOWS = {
    ("off", "no"): ("no stream", "#009E73", "^"),
    ("off", "yes"): ("a stream, no window", "#555555", "s"),
    ("on", "yes"): ("window, every line persists", "#0072B2", "o"),
    ("fitted", "yes"): ("window, the share that fits persists", "#D55E00", "D"),
}


@styled
def persistence(results: Results) -> Figure:
    """Cycles per load of a hot region beside a stream, against its share of the set-aside, with a
    persisting window and without. Raises PlotsError when it was not measured."""
    at = ("region_percent", "window", "stream", "readers")
    measured = points(results, "memory/persistence", *at)
    measured = measured[measured["quantity"] == "latency"]
    common.need(measured, "persisting windows of the L2 (amasia run memory/persistence)")
    readers = [name for name in ("one", "all") if (measured["readers"] == name).any()]
    figure = new_figure(3.5)
    axes = figure.subplots(1, len(readers), squeeze=False, sharey=True)[0]
    for ax, name in zip(axes, readers, strict=True):
        here = measured[measured["readers"] == name]
        for (window, stream), (label, ink, shape) in _WINDOWS.items():
            chosen = (here["window"] == window) & (here["stream"] == stream)
            curve(ax, here[chosen], "region_percent", label, ink, marker=shape)
        ax.axvline(100, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set_ylim(0, 1.65 * measured["high"].max())
        ax.set_title("read by one SM" if name == "one" else "read by all SMs", loc="left")
        ax.set_xlabel("hot region, % of the set-aside")
    axes[0].set_ylabel("cycles per dependent load")
    axes[0].legend(loc="upper left")
    title(
        figure,
        "What a persisting window keeps in the L2 beside a stream",
        f"{common.origin(measured)}; grey: as large as the largest set-aside",
    )
    return figure


def _reading(_: Results) -> list[str]:
    return [
        "A window can save the difference between the curve without a stream and the curve with a "
        "stream and no window.",
        "The window's curve bends where the region no longer fits into the set-aside.",
        "A window keeps a line in one half of a two-part L2. So its curve starts above the lowest "
        "one, where each half may keep a copy.",
    ]


microbenchmark_figure(
    "persistence",
    "what a persisting window keeps in the L2",
    persistence,
    "memory/persistence",
    order=30,
    reading=_reading,
)
