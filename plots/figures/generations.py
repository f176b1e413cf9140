"""Every matching row of two result sets: one GPU over another."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import strategy_order
from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, PairSubject, Picture, register
from plots.papers.expect import Measured, mean_table
from plots.prose import table
from plots.units import shortened, times

_LABEL_INCHES = 1.2  # of a case in a column
_EXPECTED = "#333333"


@style.styled
def generations(measured: Measured, dates: str) -> Figure:
    """Every matching row of two result sets: speed-up of the new GPU with interval, one panel per
    role, beside what the measured ceilings (solid) and the datasheets (dashed) let one expect."""
    rows = measured.rows[measured.rows["role"].isin(["iso", "best"])]
    common.need(rows, "matching rows at iso or best")
    roles = [r for r in ("iso", "best") if r in set(rows["role"])]
    keys = ["app", "size", "size_label", "cache", "launch"]
    cases = rows[keys].drop_duplicates().reset_index(drop=True)
    cases["y"] = range(len(cases))
    figure = style.new_figure(5.4 * len(roles), 1.6 + 0.62 * len(cases))
    columns = style.beside(len(roles), 4)
    lines_of_axes = len(roles) // columns
    axes = figure.subplots(lines_of_axes, columns, squeeze=False, sharey=True).flatten()
    strategies = strategy_order(rows["strategy"])
    ends = [*rows["low"], *rows["high"]]
    lines = [
        (measured.measured_ceilings, "-", "measured ceilings"),
        (measured.datasheet, "--", "datasheets"),
    ]
    ends += [e.expected for e, _, _ in lines if e is not None]
    for ax, role in zip(axes, roles, strict=True):
        for expected, dashes, _ in lines:
            if expected is not None:
                ax.axvline(expected.expected, color=_EXPECTED, linestyle=dashes, linewidth=1.2)
        here = rows[rows["role"] == role].merge(cases, on=keys)
        for (strategy, resolved), of in here.groupby(["strategy", "resolved"]):
            lane = (strategies.index(strategy) - (len(strategies) - 1) / 2) * 0.72
            ax.errorbar(
                of["ratio"], of["y"] + lane / len(strategies),
                xerr=[of["ratio"] - of["low"], of["high"] - of["ratio"]],
                color=style.colour(strategy), marker=style.marker(strategy),
                markersize=4.5, capsize=1.5, elinewidth=1,
                markerfacecolor=style.colour(strategy) if resolved else "white",
                linestyle="none", label=strategy,
            )  # fmt: skip
        length = figure.get_figwidth() - _LABEL_INCHES - 0.3 if style.in_column() else 0
        common.ratio_axis(ax, ends, axis="x", pad=0.06, length=length)
        ax.grid(axis="y", visible=False)
        ax.set_title(role, loc="left")
        ax.set_xlabel("speed-up (logarithmic)")
    size = style.text_size(8)
    labels = [f"{c.app}, {c.size_label}\n{c.cache}, {c.launch}" for c in cases.itertuples()]
    if style.in_column():
        labels = [style.wrapped(label, _LABEL_INCHES, size) for label in labels]
    axes[0].set_yticks(range(len(cases)), labels, fontsize=size)
    axes[0].set_ylim(len(cases) - 0.45, -0.55)
    names = (shortened(gpu, 60) for gpu in (measured.new_gpu, measured.old_gpu))
    common.title(figure, " over ".join(names), dates)
    handles = common.strategy_handles(strategies)
    handles += [
        Line2D(
            [], [], color=_EXPECTED, linestyle=dashes, label=f"expected, {text}: {e.expected:.2f}"
        )
        for e, dashes, text in lines
        if e is not None
    ]
    style.legend_below(figure, handles)
    deepest = max(label.count("\n") for label in labels)
    style.settle(figure, *[max(0.5, 0.17 + 0.12 * deepest) * len(cases)] * lines_of_axes)
    return figure


def _pictures(pair: PairSubject) -> list[Picture]:
    label = f"{pair.measured.new_gpu} over {pair.measured.old_gpu}"
    return [Picture("generations", label, generations, (pair.measured, pair.dates))]


def _above(pair: PairSubject) -> Markup:
    measured = pair.measured
    lines = list(pair.verdict)
    if measured.datasheet is not None:
        lines.append(f"Datasheets let one expect {measured.datasheet}.")
    if measured.measured_ceilings is not None:
        lines.append(f"The ceilings measured on both let one expect {measured.measured_ceilings}.")
    lines.append(
        f"{len(measured.rows)} rows match; {measured.only_new} rows are only in the results of "
        f"{measured.new_gpu}, {measured.only_old} only in those of {measured.old_gpu}."
    )
    items = Markup("\n").join(Markup("<li>{}</li>").format(line) for line in lines)
    return Markup("<ul>\n{}\n</ul>").format(items)


def _below(pair: PairSubject) -> Markup:
    lines = [
        (m["role"], m["strategy"], times(m["mean"]), m["n"]) for m in mean_table(pair.measured)
    ]
    return table(("role", "strategy", ">geometric mean", ">rows"), lines)


register(
    FigureKind(
        "generations",
        "one GPU over another, row by row",
        None,
        Chapter.PAIRS,
        order=10,
        pictures=_pictures,
        above=_above,
        below=_below,
    )
)
