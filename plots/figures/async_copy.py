"""When an asynchronous copy pays: the four panels of Svedin et al. 2021, Fig. 3, on this GPU."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure, style
from plots.figures.common import points, power_axis

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


def _by_intensity(rows: pd.DataFrame, occupancy: str) -> pd.DataFrame:
    """Rates of the mechanisms, a line for each intensity."""
    of = rows[rows["occupancy"] == occupancy]
    return of.pivot_table(index="intensity", columns="mechanism", values="median")


def _lines(ax: Axes, rates: pd.DataFrame, **drawn: object) -> None:
    for name, (ink, shape) in _MECHANISMS.items():
        if name in rates:
            line = rates[name].dropna()
            own = {"markerfacecolor": ink, "label": name, **drawn}
            ax.plot(line.index, line, color=ink, marker=shape, markersize=4, linewidth=1, **own)


def _roofline(ax: Axes, full: pd.DataFrame, low: pd.DataFrame) -> None:
    """Panel a: filled at full occupancy, hollow with one block per SM; grey: the roof, which is the
    greatest bandwidth and the greatest rate measured."""
    _lines(ax, full)
    _lines(ax, low, markerfacecolor="white", linestyle=":", label=None)
    both = pd.concat([full, low])
    bandwidth, rate = both.div(both.index, axis=0).max().max(), both.max().max()
    x = np.geomspace(both.index.min(), both.index.max(), 100)
    ax.plot(x, np.minimum(bandwidth * x, rate), color=style.COMPARATOR_COLOUR, linewidth=4,
            alpha=0.3, zorder=0, label="roof")  # fmt: skip
    ax.set(yscale="log", ylabel="GFLOP/s")
    style.legend_under(ax, style.WIDTH / 2 - 0.8)


def _working_size(ax: Axes, sizes: pd.DataFrame, mechanism: str) -> pd.Series:
    """Panels b and c: speed-ups over plain with the same tile."""
    rates = sizes.pivot_table(index=["intensity", "tile"], columns="mechanism", values="median")
    ratio = (rates[mechanism] / rates["plain"]).dropna()
    intensities = ratio.index.unique("intensity")
    for i, intensity in enumerate(intensities):
        ink = _SHADES(0.85 * i / max(len(intensities) - 1, 1))
        ax.plot(ratio[intensity].index, ratio[intensity], color=ink, marker=".", markersize=6,
                linestyle=_DASHES[i % len(_DASHES)], linewidth=1.5,
                label=f"{intensity:g} op/byte")  # fmt: skip
    ax.axhline(1, color="#888888", linewidth=0.8)
    power_axis(ax, sizes["tile"], unit=True)
    ax.set(xlabel="tile of a block", ylabel="speed-up over plain")
    style.legend_under(ax, style.WIDTH / 2 - 0.8)
    return ratio


def gains(results: Results) -> pd.Series:
    """mechanism -> the most that it gains over plain copies at any intensity with all blocks that
    fit, as a ratio."""
    swept = points(results, "async_copy/intensity", "mechanism", "intensity", "occupancy")
    rates = _by_intensity(swept, "full")
    return (
        rates.div(rates["plain"], axis=0).max().drop("plain") if "plain" in rates else rates.max()
    )


def _reading(results: Results) -> list[str]:
    most = gains(results)
    listed = ", ".join(f"{name} {100 * (ratio - 1):.0f} %" for name, ratio in most.items())
    return [
        "Panel a: left of the ridge memory sets the rate, right of it arithmetic. With all blocks "
        "that fit, other blocks hide the latency, and plain copies reach the roof.",
        f"The largest gains over plain copies: {listed}.",
        "With one block per SM, plain copies leave the roof: nothing is in flight while all "
        "compute (panel d).",
        "Panels b and c: the smaller the tile, the more of the time is synchronisation. A barrier "
        "has two waits per tile, the pipeline one.",
    ]


@microbenchmark_figure(
    "async_copy/intensity", "when an asynchronous copy pays: Fig. 3 of Svedin et al.", 40, _reading
)
def async_copy(results: Results) -> Figure:
    """The four panels: roofline position, speed-up against the tile for both ways to overlap, and
    what low occupancy costs. Raises PlotsError without the sweep over the intensity or the tile."""
    swept = points(results, "async_copy/intensity", "mechanism", "intensity", "occupancy")
    common.need(swept, "asynchronous copies (amasia run 'async_copy/*' --preset paper)")
    sizes = points(results, "async_copy/working_size", "mechanism", "intensity", "tile")
    common.need(sizes, "asynchronous copies by tile (amasia run async_copy/working_size)")
    full, low = (_by_intensity(swept, occupancy) for occupancy in ("full", "low"))
    figure = style.new_figure(6.4)
    (roof, barrier), (pipeline, idle) = figure.subplots(2, 2)
    _roofline(roof, full, low)
    both = [_working_size(ax, sizes, ax_of) for ax, ax_of in (
        (barrier, "barrier"), (pipeline, "pipeline"))]  # fmt: skip
    for ax in (barrier, pipeline):
        common.ratio_axis(ax, pd.concat(both))
    _lines(idle, 100 * (full / low - 1))
    idle.axhline(0, color="#888888", linewidth=0.8)
    idle.set_ylabel("% more time")
    for ax in (roof, idle):
        power_axis(ax, swept["intensity"])
        ax.set_xlabel("operations per byte")
    for ax, text in (
        (roof, "a  roofline position"),
        (barrier, "b  barrier, by tile"),
        (pipeline, "c  pipeline, by tile"),
        (idle, "d  one block per SM instead of all that fit"),
    ):
        ax.set_title(text, loc="left")
    style.title(
        figure,
        "When an asynchronous copy into shared memory pays: x → x/2 + 1/2 over 8 GiB of fp32",
        f"{common.origin(swept)}; filled: as many blocks as fit, hollow: one per SM",
    )
    return figure
