"""Styles on one chip: what programming as for Ampere and for Hopper gains over Volta's style."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results, main_cache, main_launch, sizes_of
from plots.data.selection import Selection
from plots.data.strategies import APPS
from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, GpuSubject, Picture, register
from plots.papers.styles import Case, StyleGain, any_case, cases_of
from plots.prose import paragraph

PICTURE = "generations.svg"
_LABEL_INCHES = 1.3  # of a case in a column
# Colours of Okabe and Ito, none of a strategy's alone: the shape says the style as well.
_STYLES = {
    "ampere": ("s", "#0072B2", "Ampere's style: the best cp.async strategy"),
    "all": ("D", "#D55E00", "Hopper's style: the best of all"),
}


def shown(results: Results) -> list[Case]:
    """The cases of a picture, in the mode that a single picture shows: by app, small to large."""
    cache, launch = main_cache(results.groups), main_launch(results.groups)
    cases = [c for c in cases_of(results) if (c.cache, c.launch) == (cache, launch)]
    apps = [*(a for a in APPS if any(c.app == a for c in cases)),
            *sorted({c.app for c in cases} - set(APPS))]  # fmt: skip
    place = {
        (app, size): (apps.index(app), i)
        for app in apps
        for i, size in enumerate(sizes_of(results.groups, app))
    }
    return sorted(cases, key=lambda c: place[c.app, c.size])


def _lane(name: str) -> float:
    return (list(_STYLES).index(name) - (len(_STYLES) - 1) / 2) * 0.34


def _places(labels: Sequence[str]) -> tuple[list[float], float]:
    """Where the cases stand from above, one apart, in a column farther where labels have many
    lines; and how many inches all of them take."""
    unit = 0.3  # inches
    taken = [max(1, (0.16 + 0.115 * label.count("\n")) / unit) for label in labels]
    if not style.in_column():
        taken = [1.0 for _ in labels]
    ends = np.cumsum(taken)
    return [float(end - own / 2) for end, own in zip(ends, taken, strict=True)], unit * ends[-1]


@style.styled
def styles(results: Results) -> Figure:
    """One line per case of one GPU: the gain of each style over the baseline with its interval,
    hollow where it is not resolved, and who it is. Raises PlotsError without a case."""
    cases: Sequence[Case] = shown(results)
    common.need(results.groups[results.groups["group"].isin([c.group for c in cases])], "styles")
    figure = style.new_figure(9.4, 1.7 + 0.42 * len(cases))
    ax = figure.subplots()
    ends: list[float] = []
    gains: list[StyleGain] = []
    labels = [f"{c.app}, {c.size_label}" for c in cases]
    size = style.text_size(7.5)
    if style.in_column():
        labels = [style.wrapped(label, _LABEL_INCHES, size) for label in labels]
    places, height = _places(labels)
    for y, case in zip(places, cases, strict=True):
        for name, (shape, ink, label) in _STYLES.items():
            gain = case.gains[name]
            if gain is None:
                continue
            at = y + _lane(name)
            # What is known too poorly for an interval stands without one, hollow.
            low, high = (gain.low, gain.high) if gain.known else (gain.ratio, gain.ratio)
            ax.errorbar(
                [gain.ratio], [at], xerr=[[gain.ratio - low], [high - gain.ratio]], color=ink,
                marker=shape, markersize=5, markerfacecolor=ink if gain.resolved else "white",
                elinewidth=1.1, capsize=2, linestyle="none", label=label,
            )  # fmt: skip
            ax.annotate(
                gain.winner, (high, at), xytext=(5, 0), textcoords="offset points", va="center",
                fontsize=style.text_size(6.5), color="#444444",
            )  # fmt: skip
            ends += [low, high]
            gains.append(gain)
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set_yticks(places, labels, fontsize=size)
    ax.set_ylim(places[-1] + 0.6, places[0] - 0.6)
    ax.grid(axis="y", visible=False)
    # Names stand to the right of the last interval.
    length, reach = 0.0, 1.18 * max(ends)
    if style.in_column():
        length = figure.get_figwidth() - _LABEL_INCHES - 0.25
        names = max(style.inches(str(gain.winner), style.text_size(6.5)) for gain in gains) + 0.1
        reach = max(ends) * (max(ends) / min([1.0, *ends])) ** (names / (length - names))
    common.ratio_axis(ax, [*ends, reach], axis="x", pad=0.04, length=length)
    heading = "speed-up over Volta's style, the baseline (logarithmic)"
    ax.set_xlabel(
        style.wrapped(heading, length, style.text_size(9)) if style.in_column() else heading
    )
    of = results.groups[results.groups["group"].isin([c.group for c in cases])]
    common.title(figure, "Styles on one chip", f"{common.origin(of)}; {common.modes(of)}")
    handles = [
        Line2D([], [], marker=shape, color=ink, linestyle="none", markersize=6, label=label)
        for shape, ink, label in _STYLES.values()
    ]
    style.legend_below(figure, [*handles, common.unresolved_handle()])
    style.settle(figure, height)
    return figure


def _of_selection(selection: Selection) -> Figure:
    return styles(selection.all_modes())


def _pictures(subject: GpuSubject) -> list[Picture]:
    if not any_case(subject.results, subject.cache, subject.launch):
        return []
    label = f"Gain of each style over Volta's on {subject.gpu}, {subject.mode}"
    return [Picture("styles", label, styles, (subject.results,))]


def _above(_: GpuSubject) -> Markup:
    return paragraph(
        "Volta's style is baseline, Ampere's the best strategy that came with cp.async, Hopper's "
        "the best of all: on one GPU, what they differ in is software. The best of several is "
        "named after it was measured; its interval holds whichever it is."
    )


register(
    FigureKind(
        "styles",
        "what Volta's, Ampere's and Hopper's ways of moving data are worth on one GPU",
        _of_selection,
        Chapter.COMPARISONS,
        order=27,
        heading="Styles on one chip",
        pictures=_pictures,
        above=_above,
    )
)
