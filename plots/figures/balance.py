"""What the hardware offers: machine balance and compute density (Fig. 1 of Svedin et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.figures import FigureKind, register, style
from plots.papers import specifications
from plots.papers.specifications import Spec

_SOURCE = "Svedin et al. 2021, Table 1; datasheets of the vendor"
_PRECISIONS = {"fp32": ("#0072B2", "o"), "fp64": ("#E69F00", "s")}


@style.styled
def balance(specs: Sequence[Spec]) -> Figure:
    """Machine balance and compute density of GPUs, fp32 and fp64."""
    figure = style.new_figure(1.3 + 0.2 * len(specs))
    axes = figure.subplots(1, 2, sharey=True)
    for ax, value, label in (
        (axes[0], Spec.balance, "machine balance, bytes per FLOP"),
        (axes[1], Spec.density, "compute density, GFLOP/s per mm²"),
    ):
        for y, spec in enumerate(specs):
            for precision, (ink, shape) in _PRECISIONS.items():
                x = value(spec, precision)
                if np.isfinite(x):
                    ax.plot(x, y, marker=shape, color=ink, linestyle="none", label=precision)
        ax.set(xscale="log", xlabel=f"{label} (logarithmic)")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.grid(axis="x", which="both")
    axes[0].set_yticks(range(len(specs)), [f"{s.name} ({s.year})" for s in specs])
    axes[0].set_ylim(len(specs) - 0.4, -0.6)
    style.title(figure, "What the hardware offers: balance and density", _SOURCE)
    handles = [
        Line2D([], [], marker=shape, color=ink, linestyle="none", label=precision)
        for precision, (ink, shape) in _PRECISIONS.items()
    ]
    style.legend_below(figure, handles)
    return figure


register(
    FigureKind(
        "balance",
        "machine balance and compute density (needs no results)",
        lambda _: balance((*specifications.paper_specs(), *specifications.datasheet_specs())),
        order=110,
    )
)
