"""What memory costs: the latency ladder, and bandwidth against bytes in flight."""

from typing import Any

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import INKS, MARKERS, curve, mark, points, power_axis
from plots.figures.style import NOISE_COLOUR, new_figure, title


def _reading_of_latency(_: Results) -> list[str]:
    return [
        "Each plateau is a level. The first ends where L1 does: shared memory takes the rest of "
        "the same array.",
        "On the L2's plateau ld.ca, ld.cg and ld.cv agree: ld.cv bypasses L1, not L2.",
        "An L2 of two halves may keep a copy in each. It then begins to end at half its size.",
        "The last slow rise is the reach of the TLB.",
    ]


@microbenchmark_figure(
    "memory/latency", "cycles per dependent load against the footprint", 10, _reading_of_latency
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


# KiB that CUB's transform keeps in flight per SM, and the GPU it does so for
# (arch_to_min_bytes_in_flight in CCCL).
CUB_STEPS = {12: "V100", 16: "A100", 32: "H100", 48: "H200", 64: "B200"}


def _knees(results: Results) -> list[Any]:
    """The bend of each level, with its interval."""
    found = results.findings
    return list(found[found["microbenchmark"] == "memory/in_flight"].itertuples())


def in_cubs_form(knee: Any) -> str:
    """ "28.3 KiB [24.5, 30.9], CUB's step 32 KiB": the least of CUB's that is enough."""
    value, low, high = (end / 1024 for end in (knee.value, knee.low, knee.high))
    text = f"{value:.1f} KiB [{low:.1f}, {high:.1f}]"
    step = next((step for step in CUB_STEPS if 1024 * step >= knee.high), None)
    return f"{text}, " + (f"CUB's step {step} KiB" if step else "more than CUB's largest step")


def _reading_of_in_flight(results: Results) -> list[str]:
    steps = ", ".join(f"{step} ({gpu})" for step, gpu in CUB_STEPS.items())
    from_memory = [in_cubs_form(f) for f in _knees(results) if f.at.get("level") == "memory"]
    return [
        *(f"95 % of memory's bandwidth at {text} in flight per SM." for text in from_memory),
        f"CUB's transform keeps so many KiB in flight per SM: {steps}.",
        "Left of the bend, Little's law holds: bandwidth is bytes in flight over latency.",
        "A kernel should have more bytes in flight per SM than the bend shows.",
        "More words per thread bend later, because a thread waits for all its words before it "
        "asks again.",
    ]


@microbenchmark_figure(
    "memory/in_flight", "bandwidth against bytes in flight per SM", 20, _reading_of_in_flight
)
def in_flight(results: Results) -> Figure:
    """Bandwidth against bytes in flight per SM, from memory and from L2, with the knee. Raises
    PlotsError when it was not measured."""
    measured = points(results, "memory/in_flight", "level", "in_flight", "words")
    common.need(measured, "bandwidth against bytes in flight (amasia run memory/in_flight)")
    levels = [name for name in ("memory", "l2") if (measured["level"] == name).any()]
    figure = new_figure(3.5)
    for ax, level in zip(figure.subplots(1, len(levels), squeeze=False)[0], levels, strict=True):
        here = measured[measured["level"] == level]
        for words, ink, shape in zip((1, 2, 4), INKS, MARKERS, strict=False):
            of_words = here[here["words"] == words]
            curve(ax, of_words, "in_flight", f"{words} × 16 B per thread", ink, marker=shape)
        for f in _knees(results):
            if f.at.get("level") == level:
                ax.axvspan(f.low, f.high, color=NOISE_COLOUR, zorder=0)
                mark(ax, f.value, f"95 % at {f.value / 1024:.0f} KiB")
        ax.set_ylim(0, 1.08 * here["high"].max())
        power_axis(ax, here["in_flight"], every=2, unit=True)
        ax.set_title("device memory" if level == "memory" else "L2", loc="left")
        ax.set(xlabel="bytes in flight per SM", ylabel="GB/s")
        ax.legend(loc="upper left")
    title(
        figure,
        "How many bytes must be in flight to reach the bandwidth",
        f"{common.origin(measured)}; grey: 95 % of the maximum, between the curves",
    )
    return figure
