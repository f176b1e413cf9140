"""How fast bytes go from SM to SM: the surfaces of Luo et al. 2024, Fig. 8, on this GPU."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure, style
from plots.figures.common import INKS, MARKERS, points, power_axis

_SURFACE_WIDTH = 4  # bytes of an access: an int, as the paper's registers


def _surface(ax: Axes, of_cluster: pd.DataFrame, most: float) -> None:
    """Block size x accesses in flight, with the numbers in TB/s."""
    table = of_cluster.pivot_table(index="threads", columns="ilp", values="median")
    ax.imshow(table.to_numpy(), cmap="cividis", vmin=0, vmax=most, aspect="auto")
    for (y, x), value in np.ndenumerate(table.to_numpy()):
        if np.isfinite(value):
            ink = "white" if value < 0.55 * most else "black"
            ax.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
    ax.set_xticks(range(len(table.columns)), [str(c) for c in table.columns])
    ax.set_yticks(range(len(table.index)), [str(i) for i in table.index])
    ax.set_xlabel("accesses in flight\nper thread")
    ax.grid(visible=False)


def _against_bytes(ax: Axes, of_width: pd.DataFrame, most: float) -> None:
    """Every block size and number of accesses over the bytes that they have in flight together."""
    by_cluster = of_width.groupby("cluster")
    for (cluster, of), ink, shape in zip(by_cluster, INKS, MARKERS, strict=False):
        ax.plot(of["in_flight"], of["median"], color=ink, marker=shape, markersize=4,
                linestyle="none", label=f"clusters of {cluster}")  # fmt: skip
        mean = of["median"].groupby(of["in_flight"]).mean()
        ax.plot(mean.index, mean, color=ink, linewidth=0.8, alpha=0.7)
    power_axis(ax, of_width["in_flight"], every=2, unit=True)
    ax.set_title(f"words of {of_width['width'].iloc[0]} bytes", loc="left")
    ax.set(ylim=(0, 1.08 * most), xlabel="bytes in flight per SM", ylabel="TB/s")
    ax.legend(loc="lower right")


def _swept(results: Results) -> pd.DataFrame:
    """The sweep of neighbours that add up one another's words, in TB/s. A block that reads its own
    memory has no neighbour."""
    swept = points(
        results, "dsm/ring_copy", "cluster", "threads", "ilp", "width",
        op="add", stride="1", offset="0",
    )  # fmt: skip
    swept["in_flight"] = swept["threads"] * swept["ilp"] * swept["width"]
    swept["median"] /= 1000
    return swept[swept["cluster"] > 1]


def _reading(results: Results) -> list[str]:
    swept = _swept(results)
    best = swept.loc[swept.groupby("cluster")["median"].idxmax()]
    listed = "; ".join(
        f"{b.median:.2f} TB/s in clusters of {b.cluster} at {b.in_flight / 1024:g} KiB"
        for b in best.itertuples()
    )
    return [
        "Up to the bend the bandwidth is bytes in flight over latency. More threads, more loads "
        "per thread and wider loads do the same.",
        f"The maxima: {listed}.",
        "In larger clusters more SMs share the paths, and SMs that do not fill a cluster stay "
        "idle. Beyond the maximum, requests queue.",
    ]


@microbenchmark_figure(
    "dsm/ring_copy", "ring copy between the SMs of a cluster: Fig. 8 of Luo et al.", 70, _reading
)
def dsm_ring(results: Results) -> Figure:
    """Bandwidth of the ring copy by cluster size, block size and accesses in flight. Raises
    PlotsError when it was not measured."""
    swept = _swept(results)
    surface = swept[swept["width"] == _SURFACE_WIDTH]
    common.need(surface, "ring copy in words of 4 bytes (amasia run dsm/ring_copy --preset paper)")
    most = swept["median"].max()
    clusters = sorted(surface["cluster"].unique())
    widths = [w for w in (4, 16) if (swept["width"] == w).any()]
    figure = style.new_figure(5.4)
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.15))
    above = upper.subplots(1, len(clusters), squeeze=False)[0]
    for ax, cluster in zip(above, clusters, strict=True):
        _surface(ax, surface[surface["cluster"] == cluster], most)
        ax.set_title(f"clusters of {cluster}, TB/s", loc="left")
    above[0].set_ylabel("threads per block")
    below = lower.subplots(1, len(widths), squeeze=False)[0]
    for ax, width in zip(below, widths, strict=True):
        _against_bytes(ax, swept[swept["width"] == width], most)
    style.title(
        figure,
        "How fast bytes go around the ring of a cluster, all SMs together",
        f"{common.origin(swept)}; one block per SM; above: words of {_SURFACE_WIDTH} bytes",
    )
    return figure
