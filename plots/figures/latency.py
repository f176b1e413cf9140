"""What one dependent load costs: the latency ladder."""

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import INKS, MARKERS, curve, mark, points, power_axis
from plots.figures.style import NOISE_COLOUR, new_figure, title


def _reading(_: Results) -> list[str]:
    return [
        "Each plateau is a level. The first ends where L1 does: shared memory takes the rest of "
        "the same array.",
        "On the L2's plateau ld.ca, ld.cg and ld.cv agree: ld.cv bypasses L1, not L2.",
        "An L2 of two halves may keep a copy in each. It then begins to end at half its size.",
        "The last slow rise is the reach of the TLB.",
    ]


@microbenchmark_figure(
    "memory/latency", "cycles per dependent load against the footprint", 10, _reading
)
def latency(results: Results) -> Figure:
    """Cycles of one dependent load against the footprint, per cache operator, with the capacities
    found. Raises PlotsError without a ladder."""
    ladder = points(results, "memory/latency", "footprint", "hint", method="ladder")
    common.need(ladder, "latency ladder (amasia run memory/latency --preset paper)")
    figure = new_figure(3.6)
    ax = figure.subplots()
    names = {"ca": "ld.ca (every level)", "cg": "ld.cg (L2 only)", "cv": "ld.cv (not cached)"}
    for (hint, label), ink, shape in zip(names.items(), INKS, MARKERS, strict=False):
        first = hint == "ca"
        curve(
            ax, ladder[ladder["hint"] == hint], "footprint", label, ink, marker=shape,
            markersize=3.5 if first else 5, linewidth=1.3,
            markerfacecolor=ink if first else "white", linestyle="-" if first else "none",
        )  # fmt: skip
    ax.set_ylim(0, 1.08 * ladder["high"].max())
    found = results.findings
    found = found[(found["microbenchmark"] == "memory/latency") & (found["quantity"] == "capacity")]
    for f in found.itertuples():
        ax.axvspan(1024 * f.low, 1024 * f.high, color=NOISE_COLOUR, zorder=0)
        mark(ax, 1024 * f.low, f"{f.at['level'].upper()} ends", 0.98, "right")
    power_axis(ax, ladder["footprint"], every=3, unit=True)
    ax.set(xlabel="footprint", ylabel="cycles per dependent load")
    ax.legend(loc="center left")
    title(
        figure,
        "What one dependent load costs: a random chase through the whole footprint",
        f"{common.origin(ladder)}; one thread, nodes 128 bytes apart; grey: where a level ends",
    )
    return figure
