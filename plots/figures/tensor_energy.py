"""Energy per operation of the tensor cores."""

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import points
from plots.figures.style import new_figure, title

_INKS = {"mma": "#009E73", "wgmma": "#0072B2"}


def _load_name(at: dict[str, str]) -> str:
    return (
        f"{at['instruction']} {at['input']} → {at['sum']}"
        f"{', sparse' if at['mode'] == 'sparse' else ''}{', zeros' if at['data'] == 'zero' else ''}"
    )


def _reading(_: Results) -> list[str]:
    return [
        "The bar is one over operations per joule. Power is that of the board, idle power "
        "included, which a slower instruction pays for longer.",
        "Zeros toggle few bits and so draw less. With random data the board may reach its power "
        "limit, and the clock gives way.",
    ]


@microbenchmark_figure(
    "tensor_core/energy", "energy per operation of the tensor cores", 60, _reading
)
def tensor_energy(results: Results) -> Figure:
    """Energy per operation of the tensor cores, with power and rate. Raises PlotsError when it was
    not measured."""
    measured = points(results, "tensor_core/energy", "instruction")
    measured["load"] = [_load_name(at) for at in measured["at"]]
    of = {quantity: rows.set_index("load") for quantity, rows in measured.groupby("quantity")}
    common.need(
        measured[measured["quantity"] == "efficiency"],
        "efficiency of the tensor cores (amasia run tensor_core/energy)",
    )
    shown = of["efficiency"].sort_values("median")
    cost = 1 / shown[["median", "low", "high"]]
    figure = new_figure(1.2 + 0.22 * len(shown))
    ax = figure.subplots()
    ax.barh(
        shown.index, cost["median"], error_kw={"linewidth": 1},
        xerr=[cost["median"] - cost["high"], cost["low"] - cost["median"]],
        color=[_INKS[name] for name in shown["instruction"]],
    )  # fmt: skip
    for y, load in enumerate(shown.index):
        if all(load in of.get(quantity, shown[:0]).index for quantity in ("power", "sustained")):
            power, rate = of["power"].loc[load], of["sustained"].loc[load]
            text = f" {power['median']:.0f} W, {rate['median']:.0f} {rate['unit']}"
            ax.text(cost["low"].iloc[y], y, text, va="center", fontsize=7, color="#555555")
    ax.set(xlim=(0, 1.45 * cost["low"].max()), xlabel="pJ per operation, whole board")
    title(
        figure,
        "Energy per operation while all SMs multiply",
        f"{common.origin(measured)}; zeros of a sparse A count as operations",
    )
    return figure
