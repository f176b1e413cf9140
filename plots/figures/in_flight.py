"""How many bytes must be in flight: bandwidth against bytes in flight."""

from typing import Any

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure, style
from plots.figures.common import INKS, MARKERS, curve, mark, points, power_axis

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


def _reading(results: Results) -> list[str]:
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


@microbenchmark_figure("memory/in_flight", "bandwidth against bytes in flight per SM", 20, _reading)
def in_flight(results: Results) -> Figure:
    """Bandwidth against bytes in flight per SM, from memory and from L2, with the knee. Raises
    PlotsError when it was not measured."""
    measured = points(results, "memory/in_flight", "level", "in_flight", "words")
    common.need(measured, "bandwidth against bytes in flight (amasia run memory/in_flight)")
    levels = [name for name in ("memory", "l2") if (measured["level"] == name).any()]
    figure = style.new_figure(3.5)
    for ax, level in zip(figure.subplots(1, len(levels), squeeze=False)[0], levels, strict=True):
        here = measured[measured["level"] == level]
        for words, ink, shape in zip((1, 2, 4), INKS, MARKERS, strict=False):
            of_words = here[here["words"] == words]
            curve(ax, of_words, "in_flight", f"{words} × 16 B per thread", ink, marker=shape)
        for f in _knees(results):
            if f.at.get("level") == level:
                ax.axvspan(f.low, f.high, color=style.NOISE_COLOUR, zorder=0)
                mark(ax, f.value, f"95 % at {f.value / 1024:.0f} KiB")
        ax.set_ylim(0, 1.08 * here["high"].max())
        power_axis(ax, here["in_flight"], every=2, unit=True)
        ax.set_title("device memory" if level == "memory" else "L2", loc="left")
        ax.set(xlabel="bytes in flight per SM", ylabel="GB/s")
        ax.legend(loc="upper left")
    style.title(
        figure,
        "How many bytes must be in flight to reach the bandwidth",
        f"{common.origin(measured)}; grey: 95 % of the maximum, between the curves",
    )
    return figure
