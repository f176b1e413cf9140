"""When an asynchronous copy pays: the four panels of Svedin et al. 2021, Fig. 3, on this GPU."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.data.load import Results
from plots.figures import common, style
from plots.figures.points import byte_axis, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.prose import paragraph

# A mechanism has the colour of the strategy it belongs to; the second one of overlap a lighter one.
_MECHANISMS = {
    "plain": (style.colour("baseline"), "o"),
    "register_bypass": (style.colour("register_bypass"), "s"),
    "pipeline": (style.colour("overlap"), "D"),
    "barrier": ("#56B4E9", "X"),
    "drop_off": (style.colour("drop_off"), "^"),
    "bulk": (style.colour("tma"), "v"),
}
# An intensity is no strategy: shades from dark to light, in order in grey print, too, and dashes.
_SHADES = matplotlib.colormaps["cividis"]
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def _intensity_axis(ax: Axes, values: pd.Series) -> None:
    ax.set_xscale("log", base=2)
    ticks = [2.0**e for e in range(-3, 9) if values.min() / 1.3 <= 2.0**e <= values.max() * 1.3]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("operations per byte")


def _roofline(ax: Axes, swept: pd.DataFrame, room: float) -> None:
    """Panel a: filled at full occupancy, hollow with one block per SM; grey: the roof."""
    for name, (ink, mark) in _MECHANISMS.items():
        for occupancy in ("full", "low"):
            here = swept[(swept["mechanism"] == name) & (swept["occupancy"] == occupancy)]
            here = here.sort_values("intensity")
            if here.empty:
                continue
            full = occupancy == "full"
            ax.plot(
                here["intensity"], here["median"], color=ink, marker=mark, markersize=4,
                markerfacecolor=ink if full else "white", linewidth=1.2 if full else 0.8,
                linestyle="-" if full else ":", label=name if full else None,
            )  # fmt: skip
    # The roof is what was measured: the greatest bandwidth and the greatest rate of any pass.
    bandwidth = (swept["median"] / swept["intensity"]).max()
    rate = swept["median"].max()
    x = np.geomspace(swept["intensity"].min(), swept["intensity"].max(), 100)
    ax.plot(x, np.minimum(bandwidth * x, rate), color=style.COMPARATOR_COLOUR, linewidth=4,
            alpha=0.3, zorder=0, label="best bandwidth and rate of any pass")  # fmt: skip
    ax.set_yscale("log")
    ax.set_ylabel("GFLOP/s")
    ax.set_title("a  roofline position", loc="left")
    if style.in_column():
        style.legend_under(ax, room)
    else:
        ax.legend(loc="lower right", fontsize=7.5)
    _intensity_axis(ax, swept["intensity"])


def _speed_ups(sizes: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """Columns tile, intensity, ratio: over plain with the same tile."""
    plain = sizes[sizes["mechanism"] == "plain"].set_index(["tile", "intensity"])["median"]
    mine = sizes[sizes["mechanism"] == mechanism].set_index(["tile", "intensity"])["median"]
    return (mine / plain).dropna().reset_index(name="ratio")


def _working_size(
    ax: Axes, ratio: pd.DataFrame, title: str, everything: pd.Series, room: float
) -> None:
    """Panels b and c, on one scale: that of ``everything``."""
    intensities = list(ratio.groupby("intensity"))
    for i, (intensity, of_one) in enumerate(intensities):
        of_one = of_one.sort_values("tile")
        ink = _SHADES(0.85 * i / max(len(intensities) - 1, 1))
        ax.plot(of_one["tile"], of_one["ratio"], color=ink, marker=".", markersize=6,
                linestyle=_DASHES[i % len(_DASHES)], linewidth=1.5,
                label=f"{intensity:g} op/byte")  # fmt: skip
    ax.axhline(1, color="#888888", linewidth=0.8)
    common.ratio_axis(ax, everything)
    byte_axis(ax, ratio["tile"].min(), ratio["tile"].max(), room, every=1)
    ax.set_xlabel("tile of a block")
    ax.set_ylabel("speed-up over plain")
    ax.set_title(title, loc="left")
    style.legend_under(ax, room)


def _low_occupancy(ax: Axes, swept: pd.DataFrame) -> None:
    keys = ["mechanism", "intensity"]
    full = swept[swept["occupancy"] == "full"].set_index(keys)["median"]
    low = swept[swept["occupancy"] == "low"].set_index(keys)["median"]
    slower = (100 * (full / low - 1)).dropna().reset_index(name="percent")
    for name, (ink, mark) in _MECHANISMS.items():
        here = slower[slower["mechanism"] == name].sort_values("intensity")
        if not here.empty:
            ax.plot(here["intensity"], here["percent"], color=ink, marker=mark, markersize=4,
                    linewidth=1.2)  # fmt: skip
    ax.axhline(0, color="#888888", linewidth=0.8)
    ax.set_ylabel("% more time")
    ax.set_title("d  one block per SM instead of all that fit", loc="left")
    _intensity_axis(ax, slower["intensity"])


@style.styled
def async_copy(results: Results) -> Figure:
    """The four panels: roofline position, speed-up against the tile for both ways to overlap, and
    what low occupancy costs. Raises PlotsError without the sweep over the intensity or the tile."""
    swept = points(results, "async_copy/intensity", "mechanism", "intensity", "occupancy")
    common.need(swept, "asynchronous copies (amasia run 'async_copy/*' --preset paper)")
    sizes = points(results, "async_copy/working_size", "mechanism", "intensity", "tile")
    common.need(sizes, "asynchronous copies by tile (amasia run async_copy/working_size)")
    swept["intensity"] = swept["intensity"].astype(float)
    sizes[["intensity", "tile"]] = sizes[["intensity", "tile"]].astype(float)
    figure = style.new_figure(9.6, 7.4)
    columns = style.beside(2, 3)
    roof, barrier, pipeline, low = figure.subplots(4 // columns, columns).flat
    room = figure.get_figwidth() / columns - 0.8
    _roofline(roof, swept, room)
    ratios = [_speed_ups(sizes, name) for name in ("barrier", "pipeline")]
    both = pd.concat(ratios)["ratio"]
    _working_size(barrier, ratios[0], "b  barrier, by tile", both, room)
    _working_size(pipeline, ratios[1], "c  pipeline, by tile", both, room)
    _low_occupancy(low, swept)
    common.title(
        figure,
        "When an asynchronous copy into shared memory pays: x → x/2 + 1/2 over 8 GiB of fp32",
        f"{common.origin(swept)}; filled: as many blocks as fit, hollow: one per SM",
    )
    style.settle(figure, *[1.7] * (4 // columns))
    return figure


def gains(results: Results) -> pd.Series:
    """mechanism -> the most that it gains over plain copies at any intensity with all blocks that
    fit, as a ratio."""
    swept = points(results, "async_copy/intensity", "mechanism", "intensity", "occupancy")
    rates = swept[swept["occupancy"] == "full"].pivot_table(
        index="intensity", columns="mechanism", values="median"
    )
    if "plain" not in rates:
        return pd.Series(dtype=float)
    return rates.div(rates["plain"], axis=0).max().drop("plain")


def _above(subject: GpuSubject) -> Markup:
    most = gains(subject.results)
    ahead = [name for name in ("pipeline", "barrier", "drop_off", "bulk") if name in most.index]
    listed = ", ".join(f"{name} {100 * (most[name] - 1):.0f} %" for name in ahead)
    waiting = most.get("register_bypass")
    return paragraph(
        "Panel a: left of the ridge every line is the memory's, right of it the arithmetic's. With "
        "all blocks that fit, other blocks hide the latency and plain copies already lie on the "
        "roof; what is left is the corner, where a block that waits does not compute.",
        f"The most that a way to overlap gains there: {listed}; some of it stays right of the "
        "corner, because they have a barrier less per tile."
        if listed
        else "",
        "With one block per SM (hollow) plain copies leave the roof: nobody has a load under way "
        "while all compute.",
        f"Waiting at once (register_bypass) gains {100 * (waiting - 1):.1f} % at most: it saves "
        "registers, not time."
        if waiting is not None
        else "",
        "Panels b and c: the smaller the tile, the more of the time is bookkeeping. The "
        "arrive/wait barriers have two waits and two arrivals of every warp for each tile; the "
        "pipeline has one block barrier. Panel d is the same as the gap between filled and hollow "
        "in panel a.",
    )


microbenchmark_figure(
    "async_copy",
    "when an asynchronous copy pays: Fig. 3 of Svedin et al.",
    async_copy,
    "async_copy/intensity",
    order=40,
    above=_above,
)
