"""What DPX functions reach against the number of blocks."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.figures import common
from plots.figures.points import INKS, MARKERS, curve, points
from plots.figures.registry import GpuSubject, microbenchmark_figure
from plots.figures.style import in_column, legend_under, new_figure, settle, styled, text_size
from plots.prose import paragraph

_SHOWN = (
    ("__viaddmax_s32", "dpx"), ("__viaddmax_s16x2_relu", "dpx"), ("__viaddmax_s16x2_relu", "plain"),
)  # fmt: skip


@styled
def dpx_blocks(results: Results) -> Figure:
    """Calls per cycle of the whole GPU against the number of blocks of 1024 threads, multiples of
    the SM count marked. Raises PlotsError when it was not measured."""
    measured = points(results, "dpx/blocks", "function", "form", "blocks")
    common.need(measured, "DPX throughput against blocks (amasia run dpx/blocks --preset paper)")
    measured["blocks"] = measured["blocks"].astype(int)
    figure = new_figure(8.2, 4.0)
    ax = figure.subplots()
    for (function, form), ink, mark in zip(_SHOWN, INKS, MARKERS, strict=False):
        chosen = (measured["function"] == function) & (measured["form"] == form)
        name = function.lstrip("_")  # a label that begins with "_" is not in a legend
        label = f"{name}: DPX function" if form == "dpx" else f"{name}: plain C"
        curve(ax, measured[chosen], "blocks", label, ink, marker=mark)
    sms = int(results.files.iloc[0]["provenance"]["device"]["sm_count"])
    for multiple in range(1, int(measured["blocks"].max()) // sms + 1):
        ax.axvline(multiple * sms, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.annotate(
            f"{multiple} × {sms}", (multiple * sms, 0.01), xycoords=("data", "axes fraction"),
            xytext=(3, 0), textcoords="offset points", fontsize=text_size(8), color="#555555",
        )  # fmt: skip
    ax.set_xlim(0, None)
    ax.set_ylim(0, (1.08 if in_column() else 1.4) * measured["high"].max())
    ax.set_xlabel("blocks of 1024 threads")
    ax.set_ylabel("calls per cycle, whole GPU")
    if in_column():
        legend_under(ax, figure.get_figwidth() - 0.8)
    else:
        ax.legend(loc="upper left")
    common.title(
        figure,
        "DPX functions against the number of blocks",
        f"{common.origin(measured)}; grey: multiples of the number of SMs",
    )
    settle(figure, 1.9)
    return figure


def drops(results: Results) -> dict[str, float]:
    """form -> what is lost, as a share, by one block more than there are SMs; the largest of the
    form's functions."""
    measured = points(results, "dpx/blocks", "function", "form", "blocks")
    sms = int(results.files.iloc[0]["provenance"]["device"]["sm_count"])
    measured["blocks"] = measured["blocks"].astype(int)
    found: dict[str, float] = {}
    for (form, _), of in measured.groupby(["form", "function"]):
        rate = of.set_index("blocks")["median"]
        if {sms, sms + 1} <= set(rate.index):
            drop = float(1 - rate[sms + 1] / rate[sms])
            found[str(form)] = max(drop, found.get(str(form), drop))
    return found


def _above(subject: GpuSubject) -> Markup:
    lost = drops(subject.results)
    sentences = [
        "Blocks are handed to SMs whole. If one block of 1024 threads fills the pipe that does "
        "these instructions, the throughput must grow in proportion up to one block per SM; one "
        "block more has to share an SM, the others wait for that one, and what is done per cycle "
        "falls by up to half, then climbs again: the teeth that Luo et al. report at multiples of "
        "the number of SMs. They infer a unit in each SM."
    ]
    if {"dpx", "plain"} <= lost.keys():
        sentences.append(
            f"Here one block more costs {100 * lost['dpx']:.0f} %, and the plain form, an ordinary "
            f"mixture of integer instructions, {100 * lost['plain']:.0f} %: as far as both have "
            "the teeth, the figure shows how blocks are handed out, not where the unit is."
        )
    return paragraph(*sentences)


microbenchmark_figure(
    "dpx_blocks",
    "DPX throughput against the number of blocks",
    dpx_blocks,
    "dpx/blocks",
    order=80,
    above=_above,
)
