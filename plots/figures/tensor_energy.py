"""What a product costs: energy per operation of the tensor cores."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.figures.style import in_column, inches, new_figure, settle, styled, text_size
from plots.prose import paragraph


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
            va="center", fontsize=text_size(8), color="#555555",
        )  # fmt: skip
    factor = 1.45
    if in_column():  # what stands beside the longest bar takes more of a short axis
        labels = max(inches(load, text_size(9)) for load in efficiency["load"])
        length = figure.get_figwidth() - labels - 0.25
        factor = length / (length - inches(" 888 W, 8888 TFLOP/s", text_size(8)))
    ax.set_xlim(0, factor * efficiency["pj_low"].max())
    ax.set_xlabel("pJ per operation, whole board")
    common.title(
        figure,
        "What a product costs: energy per operation while all SMs multiply",
        f"{common.origin(measured)}; zeros of a sparse A count as operations",
    )
    settle(figure, 0.19 * len(efficiency))
    return figure


def zeros_over_random(results: Results, quantity: str) -> pd.Series:
    """A wgmma's power or rate on zeros over that on random data, one value per type."""
    measured = points(results, "tensor_core/energy", "instruction", "input", "mode", "data")
    measured = measured[(measured["instruction"] == "wgmma") & (measured["quantity"] == quantity)]
    by_data = measured.pivot_table(index=["input", "mode"], columns="data", values="median")
    if not {"zero", "random"} <= set(by_data.columns):
        return pd.Series(dtype=float)
    return (by_data["zero"] / by_data["random"]).dropna()


def _between(shares: pd.Series) -> str:
    """ "34 to 39 %"."""
    ends = dict.fromkeys(f"{100 * end:.0f}" for end in (shares.min(), shares.max()))
    return " to ".join(ends) + " %"


def _above(subject: GpuSubject) -> Markup:
    power = zeros_over_random(subject.results, "power")
    rate = zeros_over_random(subject.results, "sustained")
    return paragraph(
        "One over operations per joule, from the samples of power and rate written beside each "
        "bar. Zeros toggle few bits.",
        f"On them wgmma draws {_between(power)} of the watts that it draws on random data, at "
        f"{_between(rate)} of the rate: where random data reach the board's power limit, the clock "
        "gives way."
        if len(power) and len(rate)
        else "",
        "A sparse product counts the zeros that it skips. Power is that of the board, at rest "
        "included, which a slower instruction bears for longer.",
    )


microbenchmark_figure(
    "tensor_energy",
    "energy per operation of the tensor cores",
    tensor_energy,
    "tensor_core/energy",
    order=60,
    above=_above,
)
