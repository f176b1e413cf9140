"""What DPX functions reach against the number of blocks."""

from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common, microbenchmark_figure
from plots.figures.common import INKS, MARKERS, curve, mark, points
from plots.figures.style import new_figure, title

_SHOWN = (
    ("__viaddmax_s32", "dpx"), ("__viaddmax_s16x2_relu", "dpx"), ("__viaddmax_s16x2_relu", "plain"),
)  # fmt: skip


def _sms(results: Results) -> int:
    return int(results.files.iloc[0]["provenance"]["device"]["sm_count"])


def drops(results: Results) -> dict[str, float]:
    """form -> what is lost, as a share, by one block more than there are SMs; the largest of the
    form's functions."""
    measured = points(results, "dpx/blocks", "function", "form", "blocks")
    sms = _sms(results)
    found: dict[str, float] = {}
    for (form, _), of in measured.groupby(["form", "function"]):
        rate = of.set_index("blocks")["median"]
        if {sms, sms + 1} <= set(rate.index):
            drop = float(1 - rate[sms + 1] / rate[sms])
            found[str(form)] = max(drop, found.get(str(form), drop))
    return found


def _reading(results: Results) -> list[str]:
    sentences = [
        "Luo et al. see teeth at multiples of the number of SMs and infer a unit in each SM.",
        "A block goes to one SM as a whole, so the first block beyond a multiple shares an SM and "
        "the others wait for it.",
    ]
    lost = drops(results)
    if {"dpx", "plain"} <= lost.keys():
        sentences.append(
            f"One block more costs {100 * lost['dpx']:.0f} % with DPX functions and "
            f"{100 * lost['plain']:.0f} % with plain integer instructions: the teeth alone do not "
            "show where the unit is."
        )
    return sentences


@microbenchmark_figure("dpx/blocks", "DPX throughput against the number of blocks", 80, _reading)
def dpx_blocks(results: Results) -> Figure:
    """Calls per cycle of the whole GPU against the number of blocks of 1024 threads, multiples of
    the SM count marked. Raises PlotsError when it was not measured."""
    measured = points(results, "dpx/blocks", "function", "form", "blocks")
    common.need(measured, "DPX throughput against blocks (amasia run dpx/blocks --preset paper)")
    figure = new_figure(3.6)
    ax = figure.subplots()
    for (function, form), ink, shape in zip(_SHOWN, INKS, MARKERS, strict=False):
        chosen = (measured["function"] == function) & (measured["form"] == form)
        name = function.lstrip("_")  # a label that begins with "_" is not in a legend
        label = f"{name}: {'DPX function' if form == 'dpx' else 'plain C'}"
        curve(ax, measured[chosen], "blocks", label, ink, marker=shape)
    sms = _sms(results)
    for multiple in range(1, int(measured["blocks"].max()) // sms + 1):
        ax.axvline(multiple * sms, color="#BBBBBB", linewidth=0.8, zorder=0)
        mark(ax, multiple * sms, f"{multiple} × {sms}")
    ax.set(xlim=(0, None), ylim=(0, 1.4 * measured["high"].max()))
    ax.set(xlabel="blocks of 1024 threads", ylabel="calls per cycle, whole GPU")
    ax.legend(loc="upper left")
    title(
        figure,
        "DPX functions against the number of blocks",
        f"{common.origin(measured)}; grey: multiples of the number of SMs",
    )
    return figure
