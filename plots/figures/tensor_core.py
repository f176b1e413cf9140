"""Tensor cores: how wide a wgmma has to be to keep them busy, and energy per operation."""

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import INKS, curve, points, power_axis
from plots.figures.style import WIDTH, legend_under, new_figure, title

# Where A comes from -> in words, colour.
_FROM = {"shared": ("A in shared memory", INKS[0]), "registers": ("A in registers", INKS[1])}


def _reading_of_width(_: Results) -> list[str]:
    return [
        "A wgmma occupies the tensor cores for n / 2 cycles. Shared memory gives 128 bytes a "
        "cycle: 16 cycles for A and n / 4 for B. The two limits cross at n = 64.",
        "A sum can be read later than the next wgmma can start, so several must be in flight.",
        "Where the curves on the left bend at the top, the power limit lowers the clock.",
    ]


@microbenchmark_figure(
    "tensor_core/wgmma_n", "throughput and cycles of wgmma against its width", 50, _reading_of_width
)
def wgmma_n(results: Results) -> Figure:
    """Throughput and cycles of wgmma against its width n. Raises PlotsError when it was not
    measured."""
    at = ("n", "mode", "a", "warpgroups", "data")
    sweep = points(results, "tensor_core/wgmma_n", *at)
    common.need(sweep, "widths of wgmma (amasia run tensor_core/wgmma_n --preset paper)")
    figure = new_figure(4.6)
    left, right = figure.subplots(1, 2)
    rates = sweep[(sweep["quantity"] == "throughput") & (sweep["data"] == "random")]
    dense = sweep[sweep["mode"] == "dense"]
    for source, (where, ink) in _FROM.items():
        for mode, line, shape in (("dense", "-", "o"), ("sparse", "--", "s")):
            of = rates[(rates["a"] == source) & (rates["mode"] == mode)]
            one, more = of[of["warpgroups"] == 1], of[of["warpgroups"] != 1]
            curve(left, one, "n", f"{mode}, {where}", ink, linestyle=line, marker=shape)
            if mode == "dense":
                label = f"dense, {where}, more warpgroups"
                curve(left, more, "n", label, ink, linestyle=":", marker="o", fillstyle="none")
        of = dense[dense["a"] == source]
        for quantity, what, line, shape in (
            ("latency", "until the sum is there", "-", "o"),
            ("interval", "until the next can start", "--", "s"),
        ):
            chosen = of[of["quantity"] == quantity]
            curve(right, chosen, "n", f"{what}, {where}", ink, linestyle=line, marker=shape)
    widths = sorted(set(sweep["n"]))
    for cycles, text, line in (
        ([n / 2 for n in widths], "n / 2: tensor cores busy", "-"),
        ([16 + n / 4 for n in widths], "16 + n / 4: shared memory busy", ":"),
    ):
        right.plot(widths, cycles, color="#777777", linewidth=1, linestyle=line, label=text)
    left.set(ylim=(0, 1.05 * rates["high"].max()), ylabel="TFLOP/s, random data")
    right.set(ylim=(0, None), ylabel="cycles, one warpgroup")
    for ax in (left, right):
        power_axis(ax, sweep["n"])
        ax.set_xlabel("n of wgmma m64n·k16")
        legend_under(ax, WIDTH / 2 - 0.7)
    title(
        figure,
        "How wide a wgmma has to be to keep the tensor cores busy",
        f"{common.origin(sweep)}; f16 into f32",
    )
    return figure


_INKS = {"mma": "#009E73", "wgmma": "#0072B2"}


def _load_name(at: dict[str, str]) -> str:
    return (
        f"{at['instruction']} {at['input']} → {at['sum']}"
        f"{', sparse' if at['mode'] == 'sparse' else ''}{', zeros' if at['data'] == 'zero' else ''}"
    )


def _reading_of_energy(_: Results) -> list[str]:
    return [
        "The bar is one over operations per joule. Power is that of the board, idle power "
        "included, which a slower instruction pays for longer.",
        "Zeros toggle few bits and so draw less. With random data the board may reach its power "
        "limit, and the clock gives way.",
    ]


@microbenchmark_figure(
    "tensor_core/energy", "energy per operation of the tensor cores", 60, _reading_of_energy
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
