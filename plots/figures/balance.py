"""What the hardware offers: machine balance and compute density."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, Picture, SuiteSubject, register
from plots.papers import specifications
from plots.papers.specifications import Spec
from plots.prose import paragraph

_FLOP, _BANDWIDTH = "#0072B2", "#E69F00"


@style.styled
def balance(specs: Sequence[Spec], source: str) -> Figure:
    """Machine balance and compute density of GPUs, fp32 and fp64 (Fig. 1 of Svedin et al. 2021)."""
    figure = style.new_figure(10, 1.5 + 0.36 * len(specs))
    axes = figure.subplots(1, 2, sharey=True)
    names = [f"{s.name} ({s.year})" for s in specs]
    room = (
        figure.get_figwidth() - max(style.inches(name, style.text_size(9)) for name in names) - 0.4
    ) / 2
    for ax, value, label in (
        (axes[0], Spec.balance, "machine balance, bytes per FLOP (logarithmic)"),
        (axes[1], Spec.density, "compute density, GFLOP/s per mm² (logarithmic)"),
    ):
        for y, spec in enumerate(specs):
            for precision, ink, shape in (("fp32", _FLOP, "o"), ("fp64", _BANDWIDTH, "s")):
                x = value(spec, precision)
                if np.isfinite(x):
                    ax.plot(x, y, marker=shape, color=ink, linestyle="none", label=precision)
        ax.set_xscale("log")
        ax.set_xlabel(
            style.wrapped(label, room, style.text_size(9)) if style.in_column() else label
        )
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.grid(axis="x", which="both")
    axes[0].set_yticks(range(len(specs)), names)
    axes[0].set_ylim(len(specs) - 0.4, -0.6)
    common.title(figure, "What the hardware offers: balance and density", source)
    style.legend_below(
        figure,
        [
            Line2D([], [], marker="o", color=_FLOP, linestyle="none", label="fp32"),
            Line2D([], [], marker="s", color=_BANDWIDTH, linestyle="none", label="fp64"),
        ],
    )
    style.settle(figure, 0.15 * len(specs))
    return figure


_SOURCE = "Svedin et al. 2021, Table 1; datasheets of the vendor"


def _pictures(subject: SuiteSubject) -> list[Picture]:
    here = [specifications.spec_of_driver(gpu) for gpu in subject.gpus]
    specs = (*specifications.paper_specs(), *(s for s in here if s is not None))
    return [Picture("balance", "Machine balance and compute density", balance, (specs, _SOURCE))]


def _above(_: SuiteSubject) -> Markup:
    return paragraph(
        "Machine balance says how many bytes the memory delivers in the time of one operation; "
        "compute density, how much arithmetic a square millimetre of silicon does (their Fig. 1). "
        "Consumer GPUs have little fp64, hence their high balance there."
    )


register(
    FigureKind(
        "balance",
        "machine balance and compute density (needs no results)",
        lambda _: balance(
            (*specifications.paper_specs(), *specifications.datasheet_specs()), _SOURCE
        ),
        Chapter.HARDWARE,
        order=20,
        pictures=_pictures,
        above=_above,
    )
)
