"""How wide a wgmma has to be to keep the tensor cores busy."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import INKS, curve, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.figures.style import beside, legend_under, new_figure, settle, styled
from plots.prose import paragraph

_INK = dict(zip(("shared", "registers"), INKS, strict=False))  # where A comes from
_FROM = {"shared": "A in shared memory", "registers": "A in registers"}


def _width_axis(ax: Axes, widths: list[float]) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(widths))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("n of wgmma m64n·k16")


@styled
def wgmma_n(results: Results) -> Figure:
    """Throughput and cycles of wgmma against its width n. Raises PlotsError when it was not
    measured."""
    at = ("n", "mode", "a", "warpgroups", "data")
    sweep = points(results, "tensor_core/wgmma_n", *at)
    common.need(sweep, "widths of wgmma (amasia run tensor_core/wgmma_n --preset paper)")
    sweep["n"] = sweep["n"].astype(float)
    widths = sorted(set(sweep["n"]))
    columns = beside(2, 3)
    figure = new_figure(9.2, 5)
    rate_axis, cycle_axis = figure.subplots(2 // columns, columns).flat
    room = figure.get_figwidth() / columns - 0.8

    rates = sweep[(sweep["quantity"] == "throughput") & (sweep["data"] == "random")]
    for source, ink in _INK.items():
        for mode, line, mark in (("dense", "-", "o"), ("sparse", "--", "s")):
            of = rates[(rates["a"] == source) & (rates["mode"] == mode)]
            one, most = of[of["warpgroups"] == "1"], of[of["warpgroups"] != "1"]
            curve(rate_axis, one, "n", f"{mode}, {_FROM[source]}", ink, linestyle=line, marker=mark)
            if mode == "dense":
                label = f"dense, {_FROM[source]}, more warpgroups"
                curve(rate_axis, most, "n", label, ink, linestyle=":", marker="o", fillstyle="none")
    rate_axis.set_ylim(0, 1.05 * rates["high"].max())
    _width_axis(rate_axis, widths)
    rate_axis.set_ylabel("TFLOP/s, random data")
    legend_under(rate_axis, room)

    dense = sweep[sweep["mode"] == "dense"]
    for source, ink in _INK.items():
        of = dense[dense["a"] == source]
        latency, interval = (of[of["quantity"] == q] for q in ("latency", "interval"))
        curve(cycle_axis, latency, "n", f"until the sum is there, {_FROM[source]}", ink, marker="o")
        label = f"until the next can start, {_FROM[source]}"
        curve(cycle_axis, interval, "n", label, ink, marker="s", linestyle="--")
    for cycles, text, line in (
        ([n / 2 for n in widths], "n / 2: the units are busy", "-"),
        ([16 + n / 4 for n in widths], "16 + n / 4: shared memory is busy", ":"),
    ):
        cycle_axis.plot(widths, cycles, color="#777777", linewidth=1, linestyle=line, label=text)
    cycle_axis.set_ylim(bottom=0)
    _width_axis(cycle_axis, widths)
    cycle_axis.set_ylabel("cycles, one warpgroup")
    legend_under(cycle_axis, room)
    common.title(
        figure,
        "How wide a wgmma has to be to keep the tensor cores busy",
        f"{common.origin(sweep)}; f16 into f32",
    )
    settle(figure, *[1.9] * (2 // columns))
    return figure


def least_interval(results: Results) -> float | None:
    """Cycles between two dense wgmma with A in registers, at the least; None when not measured."""
    sweep = points(results, "tensor_core/wgmma_n", "mode", "a")
    found = sweep[
        (sweep["quantity"] == "interval") & (sweep["mode"] == "dense") & (sweep["a"] == "registers")
    ]
    return None if found.empty else float(found["median"].min())


def _above(subject: GpuSubject) -> Markup:
    least = least_interval(subject.results)
    floor = (
        "" if least is None else f", but none starts sooner than {least:.0f} cycles after another"
    )
    return paragraph(
        "What the widths of the units allow, to hold the curves against. Right: a wgmma occupies "
        "the tensor cores for n / 2 cycles, and shared memory gives 128 bytes a cycle: 16 cycles "
        "for A and n / 4 for B. With both in shared memory the next one can therefore start after "
        "the larger of n / 2 and 16 + n / 4 cycles, which cross at n = 64; with A in registers "
        f"only B is read{floor}.",
        "A sum can be read later than the next one can start: several must be under way, or the "
        "tensor cores idle. Left: the same as a rate. More warpgroups help only where a single one "
        "does not keep several under way, never against shared memory. An SM's registers hold four "
        "of them; at n = 256 three, or two where A is in registers as well. Where the curves bend "
        "at the top, the power limit lowers the clock. A sparse product reads twice the k of B: "
        "16 + n / 2 cycles, so that from shared memory it never reaches twice the rate.",
    )


microbenchmark_figure(
    "wgmma_n",
    "throughput and cycles of wgmma against its width",
    wgmma_n,
    "tensor_core/wgmma_n",
    order=50,
    above=_above,
)
