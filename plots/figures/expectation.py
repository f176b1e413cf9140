"""Expected against measured speed-up between GPUs, machine balance and compute density."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.expect import Measured, Spec
from plots.figures import common
from plots.load import strategy_order
from plots.style import ALARM_COLOUR, colour, marker, new_figure, styled

_FLOP, _BANDWIDTH, _EXPECTED = "#0072B2", "#E69F00", "#333333"


@styled
def expectation(table: pd.DataFrame, source: str) -> Figure:
    """One line per pair of GPUs (columns of expect.published_table): FLOP ratio, bandwidth ratio,
    their minimum, and the measured mean with its standard deviation over benchmarks, red where it
    stays below the expectation."""
    common.need(table, "pairs of GPUs")
    figure = new_figure(8.4, 1.5 + 0.42 * len(table))
    ax = figure.subplots()
    for y, row in enumerate(table.itertuples()):
        ratios = y - 0.13  # above what was measured, so that neither hides the other
        ends = [row.flop_ratio, row.bandwidth_ratio]
        ax.plot(ends, [ratios, ratios], color="#BBBBBB", linewidth=1.2)
        for x, shape, ink in ((ends[0], "^", _FLOP), (ends[1], "v", _BANDWIDTH)):
            ax.plot(x, ratios, marker=shape, color=ink, markersize=6, linestyle="none")
        ax.plot(
            row.expected, y, marker="|", color=_EXPECTED, markersize=17, markeredgewidth=2.2,
            linestyle="none", label="expected",
        )  # fmt: skip
        if np.isfinite(row.measured_mean):
            short = row.measured_mean < row.expected
            ink = ALARM_COLOUR if short else "#009E73"
            spread = row.std_dev if np.isfinite(row.std_dev) else 0
            ax.errorbar(
                [row.measured_mean], [y + 0.2], xerr=[[spread], [spread]], color=ink, marker="o",
                markersize=6.5, capsize=2.5, elinewidth=1, linestyle="none", label="measured",
                zorder=4,
            )  # fmt: skip
        text = f"expected {row.expected:.2f}"
        if np.isfinite(row.measured_mean):
            text += f", measured {row.measured_mean:.2f}"
        ax.annotate(
            text, (1, y), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    ax.set_yticks(range(len(table)), [f"{r.new} over {r.old}" for r in table.itertuples()])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    spread = table["std_dev"].fillna(0)
    common.ratio_axis(
        ax,
        [
            *table["flop_ratio"], *table["bandwidth_ratio"],
            *(table["measured_mean"] - spread), *(table["measured_mean"] + spread),
        ],
        axis="x",
        pad=0.06,
    )  # fmt: skip
    ax.set_xlabel("speed-up (logarithmic)")
    common.title(figure, "Expected and measured speed-up between GPUs", source)
    figure.legend(
        handles=[
            Line2D([], [], marker="^", color=_FLOP, linestyle="none", label="FLOP/s ratio (fp32)"),
            Line2D([], [], marker="v", color=_BANDWIDTH, linestyle="none", label="bandwidth ratio"),
            Line2D(
                [], [], marker="|", color=_EXPECTED, linestyle="none", markersize=12,
                markeredgewidth=2.2, label="expected: the smaller",
            ),
            Line2D([], [], marker="o", color="#009E73", linestyle="none", label="measured mean"),
            Line2D([], [], marker="o", color=ALARM_COLOUR, linestyle="none", label="below that"),
        ],
        loc="outside lower center",
        ncols=5,
    )  # fmt: skip
    return figure


@styled
def generations(measured: Measured, dates: str) -> Figure:
    """Every matching row of two result sets: speed-up of the new GPU with interval, one panel per
    role, beside what the measured ceilings (solid) and the datasheets (dashed) let one expect."""
    rows = measured.rows[measured.rows["role"].isin(["iso", "best"])]
    common.need(rows, "matching rows at iso or best")
    roles = [r for r in ("iso", "best") if r in set(rows["role"])]
    keys = ["app", "size", "size_label", "cache", "launch"]
    cases = rows[keys].drop_duplicates().reset_index(drop=True)
    figure = new_figure(5.4 * len(roles), 1.6 + 0.62 * len(cases))
    axes = figure.subplots(1, len(roles), squeeze=False, sharey=True)[0]
    strategies = strategy_order(rows["strategy"])
    ends = [*rows["low"], *rows["high"]]
    lines = [
        (measured.measured_ceilings, "-", "measured ceilings"),
        (measured.datasheet, "--", "datasheets"),
    ]
    ends += [e.expected for e, _, _ in lines if e is not None]
    for ax, role in zip(axes, roles, strict=True):
        for expected, style, _ in lines:
            if expected is not None:
                ax.axvline(expected.expected, color=_EXPECTED, linestyle=style, linewidth=1.2)
        for y, case in enumerate(cases.itertuples(index=False)):
            here = rows[(rows["role"] == role)]
            for key in keys:
                here = here[here[key] == getattr(case, key)]
            for i, strategy in enumerate(strategies):
                for r in here[here["strategy"] == strategy].itertuples():
                    ax.errorbar(
                        [r.ratio], [y + (i - (len(strategies) - 1) / 2) * 0.72 / len(strategies)],
                        xerr=[[r.ratio - r.low], [r.high - r.ratio]], color=colour(strategy),
                        marker=marker(strategy), markersize=4.5, capsize=1.5, elinewidth=1,
                        markerfacecolor=colour(strategy) if r.resolved else "white",
                        linestyle="none", label=r.variant,
                    )  # fmt: skip
        common.ratio_axis(ax, ends, axis="x", pad=0.06)
        ax.grid(axis="y", visible=False)
        ax.set_title(role, loc="left")
        ax.set_xlabel("speed-up (logarithmic)")
    axes[0].set_yticks(
        range(len(cases)),
        [f"{c.app}, {c.size_label}\n{c.cache}, {c.launch}" for c in cases.itertuples()],
        fontsize=8,
    )
    axes[0].set_ylim(len(cases) - 0.45, -0.55)
    common.title(figure, f"{measured.new_gpu} over {measured.old_gpu}", dates)
    handles = common.strategy_handles(strategies)
    handles += [
        Line2D(
            [], [], color=_EXPECTED, linestyle=style, label=f"expected, {text}: {e.expected:.2f}"
        )
        for e, style, text in lines
        if e is not None
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


@styled
def balance(specs: Sequence[Spec], source: str) -> Figure:
    """Machine balance and compute density of GPUs, fp32 and fp64 (Fig. 1 of Svedin et al. 2021)."""
    figure = new_figure(10, 1.5 + 0.36 * len(specs))
    axes = figure.subplots(1, 2, sharey=True)
    names = [f"{s.name} ({s.year})" for s in specs]
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
        ax.set_xlabel(label)
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.grid(axis="x", which="both")
    axes[0].set_yticks(range(len(specs)), names)
    axes[0].set_ylim(len(specs) - 0.4, -0.6)
    common.title(figure, "What the hardware offers: balance and density", source)
    figure.legend(
        handles=[
            Line2D([], [], marker="o", color=_FLOP, linestyle="none", label="fp32"),
            Line2D([], [], marker="s", color=_BANDWIDTH, linestyle="none", label="fp64"),
        ],
        loc="outside lower center",
        ncols=2,
    )
    return figure
