"""What the tensor cores need to be busy, and what their products cost."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plots.figures import common
from plots.figures.memory import points
from plots.load import Results
from plots.style import new_figure, styled

# Okabe & Ito, as elsewhere: A from shared memory, from registers.
_INK = {"shared": "#0072B2", "registers": "#D55E00"}
_FROM = {"shared": "A in shared memory", "registers": "A in registers"}


def _width_axis(ax: Axes, widths: list[float]) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(widths))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("n of wgmma m64n·k16")


def _curve(ax: Axes, of: pd.DataFrame, label: str, ink: str, **drawn: object) -> None:
    if of.empty:
        return
    of = of.sort_values("n")
    ax.errorbar(
        of["n"], of["median"], yerr=[of["median"] - of["low"], of["high"] - of["median"]],
        color=ink, markersize=4.5, linewidth=1.3, label=label, **drawn,
    )  # fmt: skip


@styled
def wgmma_n(results: Results) -> Figure:
    """Throughput and cycles of wgmma against its width n. Raises PlotsError when it was not
    measured."""
    at = ("n", "mode", "a", "warpgroups", "data")
    sweep = points(results, "tensor_core/wgmma_n", *at)
    common.need(sweep, "widths of wgmma (amasia run tensor_core/wgmma_n --preset paper)")
    sweep["n"] = sweep["n"].astype(float)
    widths = sorted(set(sweep["n"]))
    figure = new_figure(9.2, 4.2)
    rate_axis, cycle_axis = figure.subplots(1, 2)

    rates = sweep[(sweep["quantity"] == "throughput") & (sweep["data"] == "random")]
    for source, ink in _INK.items():
        for mode, line, mark in (("dense", "-", "o"), ("sparse", "--", "s")):
            of = rates[(rates["a"] == source) & (rates["mode"] == mode)]
            one, most = of[of["warpgroups"] == "1"], of[of["warpgroups"] != "1"]
            _curve(rate_axis, one, f"{mode}, {_FROM[source]}", ink, linestyle=line, marker=mark)
            if mode == "dense":
                label = f"dense, {_FROM[source]}, more warpgroups"
                _curve(rate_axis, most, label, ink, linestyle=":", marker="o", fillstyle="none")
    rate_axis.set_ylim(0, 1.2 * rates["high"].max())
    _width_axis(rate_axis, widths)
    rate_axis.set_ylabel("TFLOP/s, random data")
    rate_axis.legend(fontsize=7, loc="upper left")

    dense = sweep[sweep["mode"] == "dense"]
    for source, ink in _INK.items():
        of = dense[dense["a"] == source]
        latency, interval = (of[of["quantity"] == q] for q in ("latency", "interval"))
        _curve(cycle_axis, latency, f"until the sum is there, {_FROM[source]}", ink, marker="o")
        label = f"until the next can start, {_FROM[source]}"
        _curve(cycle_axis, interval, label, ink, marker="s", linestyle="--")
    for cycles, text, line in (
        ([n / 2 for n in widths], "n / 2: the units are busy", "-"),
        ([16 + n / 4 for n in widths], "16 + n / 4: shared memory is busy", ":"),
    ):
        cycle_axis.plot(widths, cycles, color="#777777", linewidth=1, linestyle=line, label=text)
    cycle_axis.set_ylim(bottom=0)
    _width_axis(cycle_axis, widths)
    cycle_axis.set_ylabel("cycles, one warpgroup")
    cycle_axis.legend(fontsize=7, loc="upper left")
    common.title(
        figure,
        "How wide a wgmma has to be to keep the tensor cores busy",
        f"{common.origin(sweep)}; f16 into f32",
    )
    return figure


def _load_name(at: dict[str, str]) -> str:
    return (
        f"{at['instruction']} {at['input']} → {at['sum']}"
        f"{', sparse' if at['mode'] == 'sparse' else ''}{', zeros' if at['data'] == 'zero' else ''}"
    )


@styled
def tensor_energy(results: Results) -> Figure:
    """Energy per operation of the tensor cores, with power and rate. Raises PlotsError when it was
    not measured."""
    measured = points(results, "tensor_core/energy", "instruction", "mode", "data")
    common.need(measured, "energy of the tensor cores (amasia run tensor_core/energy)")
    measured["load"] = [_load_name(at) for at in measured["at"]]
    efficiency = measured[measured["quantity"] == "efficiency"].copy()
    common.need(efficiency, "efficiency of the tensor cores (amasia run tensor_core/energy)")
    for end in ("median", "low", "high"):
        efficiency[f"pj_{end}"] = 1 / efficiency[end]
    efficiency = efficiency.sort_values("pj_median", ascending=False)
    figure = new_figure(7.6, 1.4 + 0.3 * len(efficiency))
    ax = figure.subplots()
    ink = {"mma": "#009E73", "wgmma": "#0072B2"}
    ax.barh(
        efficiency["load"], efficiency["pj_median"],
        xerr=[
            efficiency["pj_median"] - efficiency["pj_high"],
            efficiency["pj_low"] - efficiency["pj_median"],
        ],
        color=[ink[i] for i in efficiency["instruction"]], error_kw={"linewidth": 1},
    )  # fmt: skip
    for y, load in enumerate(efficiency["load"]):
        of = measured[measured["load"] == load].set_index("quantity")
        if not {"power", "sustained"} <= set(of.index):
            continue
        unit = of.loc["sustained", "unit"]
        text = f" {of.loc['power', 'median']:.0f} W, {of.loc['sustained', 'median']:.0f} {unit}"
        ax.annotate(
            text, (efficiency["pj_low"].iloc[y], y), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=8, color="#555555",
        )  # fmt: skip
    ax.set_xlim(0, 1.45 * efficiency["pj_low"].max())
    ax.set_xlabel("pJ per operation, whole board")
    common.title(
        figure,
        "What a product costs: energy per operation while all SMs multiply",
        f"{common.origin(measured)}; zeros of a sparse A count as operations",
    )
    return figure
