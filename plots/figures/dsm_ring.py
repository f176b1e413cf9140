"""How fast bytes go from SM to SM: the surfaces of Luo et al. 2024, Fig. 8, on this GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, style
from plots.figures.points import INKS, MARKERS, byte_axis, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.prose import paragraph

_SURFACE_INCHES = 1.6  # the least that a surface gets in a column
_SURFACE_WIDTH = 4  # bytes of an access: an int, as the paper's registers


def _surface(ax: Axes, of_cluster: pd.DataFrame, most: float) -> None:
    """Block size x accesses under way, with the numbers in TB/s."""
    table = of_cluster.pivot_table(index="threads", columns="ilp", values="median") / 1000
    ax.imshow(table.to_numpy(), cmap="cividis", vmin=0, vmax=most / 1000, aspect="auto")
    for y, row in enumerate(table.to_numpy()):
        for x, value in enumerate(row):
            if np.isfinite(value):
                dark = value < 0.55 * most / 1000
                ax.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=style.text_size(8),
                        color="white" if dark else "black")  # fmt: skip
    ax.set_xticks(range(len(table.columns)), [str(c) for c in table.columns])
    ax.set_yticks(range(len(table.index)), [str(i) for i in table.index])
    ax.set_xlabel(
        "accesses under way\nper thread" if style.in_column() else "accesses under way per thread"
    )
    ax.grid(visible=False)


def _against_bytes(ax: Axes, of_width: pd.DataFrame, width: int, most: float, room: float) -> None:
    """Every block size and number of accesses over the bytes that they have under way together."""
    for (cluster, of_cluster), ink, mark in zip(
        of_width.groupby("cluster"), INKS, MARKERS, strict=False
    ):
        in_flight = of_cluster["threads"] * of_cluster["ilp"] * width
        ax.plot(in_flight, of_cluster["median"] / 1000, color=ink, marker=mark, markersize=4,
                linestyle="none", label=f"clusters of {cluster}")  # fmt: skip
        mean = (of_cluster["median"] / 1000).groupby(in_flight).mean()
        ax.plot(mean.index, mean, color=ink, linewidth=0.8, alpha=0.7)
    in_flight = of_width["threads"] * of_width["ilp"] * width
    byte_axis(ax, in_flight.min(), in_flight.max(), room)
    ax.set_ylim(0, 1.08 * most / 1000)
    ax.set_title(f"words of {width} bytes", loc="left")
    ax.set_xlabel("bytes under way per SM")
    ax.set_ylabel("TB/s")
    if not style.in_column():
        ax.legend(loc="lower right")


def _swept(results: Results) -> pd.DataFrame:
    """The sweep of neighbours that add up one another's words, geometry as integers."""
    swept = points(
        results, "dsm/ring_copy", "cluster", "threads", "ilp", "width",
        op="add", stride="1", offset="0",
    )  # fmt: skip
    for name in ("cluster", "threads", "ilp", "width"):
        swept[name] = swept[name].astype(int)
    return swept


@style.styled
def dsm_ring(results: Results) -> Figure:
    """Bandwidth of the ring copy by cluster size, block size and accesses under way. Raises
    PlotsError when it was not measured."""
    swept = _swept(results)
    remote = swept[swept["cluster"] > 1]  # a block that reads its own memory has no neighbour
    common.need(remote, "ring copy (amasia run dsm/ring_copy --preset paper)")
    surface = remote[remote["width"] == _SURFACE_WIDTH]
    common.need(surface, "ring copy in words of 4 bytes (amasia run dsm/ring_copy --preset paper)")
    most = remote["median"].max()
    clusters = sorted(surface["cluster"].unique())
    widths = [w for w in (4, 16) if (remote["width"] == w).any()]
    figure = style.new_figure(10.5, 6.6)
    upper, lower, heights = _places(figure, len(clusters), len(widths))
    for i, (ax, cluster) in enumerate(zip(upper, clusters, strict=True)):
        _surface(ax, surface[surface["cluster"] == cluster], most)
        ax.set_title(f"clusters of {cluster}, TB/s", loc="left")
        if i % style.beside(len(clusters), _SURFACE_INCHES) == 0:
            ax.set_ylabel("threads per block")
    room = figure.get_figwidth() / style.beside(len(widths), 3) - 0.8
    for ax, width in zip(lower, widths, strict=True):
        _against_bytes(ax, remote[remote["width"] == width], width, most, room)
    if style.in_column():
        style.legend_below(figure, lower[0].get_legend_handles_labels()[0])
    common.title(
        figure,
        "How fast bytes go around the ring of a cluster, all SMs together",
        f"{common.origin(remote)}; one block per SM; above: words of {_SURFACE_WIDTH} bytes",
    )
    style.settle(figure, *heights)
    return figure


def _places(
    figure: Figure, surfaces: int, curves: int
) -> tuple[list[Axes], list[Axes], list[float]]:
    """The axes of the surfaces and of the curves, and how high their rows are in a column."""
    if not style.in_column():
        upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.15))
        return (
            list(upper.subplots(1, surfaces, squeeze=False)[0]),
            list(lower.subplots(1, curves, squeeze=False)[0]),
            [],
        )
    across, of_curves = style.beside(surfaces, _SURFACE_INCHES), style.beside(curves, 3)
    above, below = -(-surfaces // across), -(-curves // of_curves)
    heights = [1.0] * above + [1.6] * below
    grid = figure.add_gridspec(above + below, across * of_curves, height_ratios=heights)
    upper = [
        figure.add_subplot(
            grid[i // across, slice(i % across * of_curves, (i % across + 1) * of_curves)]
        )
        for i in range(surfaces)
    ]
    lower = [
        figure.add_subplot(
            grid[
                above + i // of_curves, slice(i % of_curves * across, (i % of_curves + 1) * across)
            ]
        )
        for i in range(curves)
    ]
    return upper, lower, heights


@dataclass(frozen=True)
class Best:
    """The most that clusters of a size carry, per SM as well, with how much under way; and at the
    most that was under way."""

    cluster: int
    gb_per_s: float
    bytes_per_clock: float
    in_flight: int
    last_gb_per_s: float
    last_in_flight: int


def best_of_clusters(results: Results) -> list[Best]:
    """The best geometry of each cluster size, smallest first."""
    found = []
    swept = _swept(results)
    sms = int(results.files.iloc[0]["provenance"]["device"]["sm_count"])
    swept["in_flight"] = swept["threads"] * swept["ilp"] * swept["width"]
    for cluster, of_cluster in swept[swept["cluster"] > 1].groupby("cluster"):
        top = of_cluster.loc[of_cluster["median"].idxmax()]
        last = of_cluster[of_cluster["in_flight"] == of_cluster["in_flight"].max()]
        found.append(
            Best(
                int(cluster),
                float(top["median"]),
                float(top["median"]) * 1e3 / top["clock_mhz"] / sms,  # GB/s over MHz: 1e9 / 1e6
                int(top["in_flight"]),
                float(last["median"].max()),
                int(last["in_flight"].iloc[0]),
            )
        )
    return found


def _above(subject: GpuSubject) -> Markup:
    best = best_of_clusters(subject.results)
    sentences = [
        "A load from another SM has its latency, so up to the bend the bandwidth is what is under "
        "way over that: more threads, more loads of a thread or wider ones are the same."
    ]
    if best:
        known = all(np.isfinite(b.bytes_per_clock) for b in best)
        listed = "; ".join(
            f"of {b.cluster} {b.gb_per_s / 1e3:.2f} TB/s"
            + (f" ({b.bytes_per_clock:.1f} bytes per clock and SM)" if known else "")
            + f" at {b.in_flight / 1024:g} KiB"
            for b in best
        )
        lost = "; ".join(
            f"{100 * (1 - b.last_gb_per_s / b.gb_per_s):.0f} % at {b.last_in_flight / 1024:g} KiB"
            for b in best
        )
        sentences += [
            f"The most that clusters carry: {listed}.",
            "In larger clusters more SMs share the paths, and SMs stay empty that do not make up "
            "a whole cluster. Past the best, requests queue up in front of each other; below it "
            f"lie, in the same order, {lost}.",
        ]
    return paragraph(*sentences)


microbenchmark_figure(
    "dsm_ring",
    "ring copy between the SMs of a cluster: Fig. 8 of Luo et al.",
    dsm_ring,
    "dsm/ring_copy",
    order=70,
    above=_above,
)
