"""What Svedin et al. 2021 have: machine balance and compute density of GPUs (their Fig. 1),
expected against measured speed-up, and how long each of their programs takes that is an app here
(their Fig. 2), at the input of their Table 2."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results
from plots.figures import FigureKind, common, register, style
from plots.figures.common import INKS, MARKERS
from plots.papers import expect, specifications
from plots.papers.published import conditions
from plots.papers.specifications import Spec

_SOURCE = "Svedin et al. 2021, Table 1 and section 6.1"
_FLOP, _BANDWIDTH, _EXPECTED = "#0072B2", "#E69F00", "#333333"
# Colour and shape: green and red alone are one colour to many readers.
_REACHED, _BELOW = ("#009E73", "o"), (style.ALARM_COLOUR, "X")

_OF_GPUS = "Svedin et al. 2021, Table 1; datasheets of the vendor"
_PRECISIONS = {"fp32": ("#0072B2", "o"), "fp64": ("#E69F00", "s")}


@style.styled
def expectation(table: pd.DataFrame) -> Figure:
    """One line per pair of GPUs (columns of expect.published_table): FLOP ratio, bandwidth ratio,
    their minimum, and the measured mean with its standard deviation over benchmarks, a red cross
    where it stays below the expectation."""
    figure = style.new_figure(1.5 + 0.36 * len(table))
    ax = figure.subplots()
    spread = table["std_dev"].fillna(0)
    for y, row, deviation in zip(range(len(table)), table.itertuples(), spread, strict=True):
        ratios = y - 0.13  # above what was measured, so that neither hides the other
        ends = [row.flop_ratio, row.bandwidth_ratio]
        ax.plot(ends, [ratios, ratios], color="#BBBBBB", linewidth=1.2)
        for x, shape, ink in ((ends[0], "^", _FLOP), (ends[1], "v", _BANDWIDTH)):
            ax.plot(x, ratios, marker=shape, color=ink, markersize=6, linestyle="none")
        ax.plot(
            row.expected, y, marker="|", color=_EXPECTED, markersize=17, markeredgewidth=2.2,
            linestyle="none", label="expected",
        )  # fmt: skip
        below = row.measured_mean < row.expected
        ink, shape = _BELOW if below else _REACHED
        ax.errorbar(
            [row.measured_mean], [y + 0.2], xerr=[[deviation], [deviation]], color=ink,
            marker=shape, markersize=6.5, capsize=2.5, elinewidth=1, linestyle="none",
            label="measured", zorder=4,
        )  # fmt: skip
        text = f"expected {row.expected:.2f}, measured {row.measured_mean:.2f}"
        text += ", below" if below else ""
        ax.annotate(
            text, (1, y), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=7,
        )  # fmt: skip
    ax.set_yticks(range(len(table)), [f"{r.new} over {r.old}" for r in table.itertuples()])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    reach = [table["measured_mean"] - spread, table["measured_mean"] + spread]
    reach += [table["flop_ratio"], table["bandwidth_ratio"]]
    common.ratio_axis(ax, pd.concat(reach), axis="x", pad=0.06)
    ax.set_xlabel("speed-up (logarithmic)")
    style.title(figure, "Expected and measured speed-up between GPUs", _SOURCE)
    style.legend_below(
        figure,
        [
            Line2D([], [], marker=shape, color=ink, linestyle="none", label=label)
            for shape, ink, label in (
                ("^", _FLOP, "FLOP/s ratio (fp32)"),
                ("v", _BANDWIDTH, "bandwidth ratio"),
                ("|", _EXPECTED, "expected: the smaller"),
                (_REACHED[1], _REACHED[0], "measured mean"),
                (_BELOW[1], _BELOW[0], "below that"),
            )
        ],
    )
    return figure


register(
    FigureKind(
        "expectation",
        "expected and measured speed-ups of Svedin et al.",
        lambda _: expectation(expect.published_table()),
        order=100,
    )
)


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
    style.title(figure, "What the hardware offers: balance and density", _OF_GPUS)
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


TABLE2 = "s003_table2_programs"


def _at(size: str) -> Callable[[str], bool]:
    """Whether a recorded size, "n=16384,input=random", is the one of the table."""
    wanted = set(conditions(size).items())
    return lambda recorded: wanted <= set(conditions(recorded.replace(",", ";")).items())


def times_of_programs(results: Results) -> pd.DataFrame:
    """Of each GPU and program in ms, cold: ``original``, the baseline in the original's geometry,
    and ``fastest`` of all strategies in their best. Launches in a stream, or where there are none,
    in a graph. NaN for what was not measured."""
    rows = results.rows
    rows = rows[(rows["cache"] == "cold") & (rows["repeat"] == 0) & rows["median"].notna()]
    programs = specifications.read_table(TABLE2)
    found = []
    for p in programs[programs["app"].notna()].itertuples():
        mine = rows[(rows["app"] == p.app) & rows["size"].map(_at(p.size))]
        for gpu, of_gpu in mine.groupby("gpu", sort=False):
            launch = max(of_gpu["launch"])  # "stream" is behind "graph"
            here = of_gpu[of_gpu["launch"] == launch]
            iso = here[(here["role"] == "iso") & (here["strategy"] == "baseline")]
            best = here[here["role"] == "best"]
            found.append((p.name, gpu, launch, iso["median"].min(), best["median"].min()))
    return pd.DataFrame(found, columns=["program", "gpu", "launch", "original", "fastest"])


@style.styled
def programs(results: Results) -> Figure:
    """A line of points for each program, in the order of the table. Raises PlotsError without
    any."""
    times = times_of_programs(results)
    common.need(times, "programs of the table at its inputs (amasia study paper)")
    names = list(dict.fromkeys(times["program"]))
    gpus = [gpu for gpu in results.gpus if (times["gpu"] == gpu).any()]
    figure = style.new_figure(1.6 + 0.3 * len(names))
    ax = figure.subplots()
    for i, (gpu, ink, shape) in enumerate(zip(gpus, INKS, MARKERS, strict=False)):
        of_gpu = times[times["gpu"] == gpu]
        y = of_gpu["program"].map(names.index) + 0.24 * (i - (len(gpus) - 1) / 2)
        drawn = {"color": ink, "marker": shape, "linestyle": "none", "markersize": 5}
        ax.plot(of_gpu["original"], y, label=gpu, **drawn)
        ax.plot(of_gpu["fastest"], y, markerfacecolor="white", **drawn)
    in_a_graph = set(times.loc[times["launch"] == "graph", "program"])
    ax.set_yticks(
        range(len(names)), [f"{name} (graph)" if name in in_a_graph else name for name in names]
    )
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set(xscale="log", xlabel="ms (logarithmic)")
    ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
    ax.grid(axis="x", which="both")
    every = len(specifications.read_table(TABLE2))
    style.title(
        figure,
        f"{len(names)} of the {every} programs of Svedin et al. 2021, Fig. 2",
        f"{common.origin(results.groups)}; cold cache",
    )
    handles = [
        *ax.get_legend_handles_labels()[0],
        Line2D([], [], color="#444444", marker="o", linestyle="none",
               label="baseline, the original's geometry"),
        common.hollow_handle("hollow: fastest strategy"),
    ]  # fmt: skip
    style.legend_below(figure, handles)
    return figure


register(
    FigureKind(
        "programs",
        "times of the paper's programs that are apps here, on each GPU",
        lambda selection: programs(selection.results),
        order=105,
    )
)
