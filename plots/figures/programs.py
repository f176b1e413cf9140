"""How long each program takes that Svedin et al. 2021 measured and that is an app here (their
Fig. 2), at the input of their Table 2."""

from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results
from plots.figures import FigureKind, common, register, style
from plots.figures.common import INKS, MARKERS
from plots.papers import specifications
from plots.papers.published import conditions

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
