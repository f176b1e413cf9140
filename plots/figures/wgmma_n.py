"""How wide a wgmma has to be to keep the tensor cores busy."""

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import INKS, curve, points, power_axis
from plots.figures.style import WIDTH, legend_under, new_figure, title

# Where A comes from -> in words, colour.
_FROM = {"shared": ("A in shared memory", INKS[0]), "registers": ("A in registers", INKS[1])}


def _reading(_: Results) -> list[str]:
    return [
        "A wgmma occupies the tensor cores for n / 2 cycles. Shared memory gives 128 bytes a "
        "cycle: 16 cycles for A and n / 4 for B. The two limits cross at n = 64.",
        "A sum can be read later than the next wgmma can start, so several must be in flight.",
        "Where the curves on the left bend at the top, the power limit lowers the clock.",
    ]


@microbenchmark_figure(
    "tensor_core/wgmma_n", "throughput and cycles of wgmma against its width", 50, _reading
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
