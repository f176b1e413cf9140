"""The detection curve: the share found of effects that were planted; and the response to doses."""

from __future__ import annotations

import hashlib

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from plots.advice.effects import (
    EFFORTS,
    GOAL_FALSE,
    GOAL_FOUND,
    GOAL_PLANT,
    PLANTS,
    RESOURCES,
    claims,
    doses,
    found,
)
from plots.data.load import Results, slug
from plots.data.selection import Selection
from plots.figures import common
from plots.figures.registry import Chapter, FigureKind, GpuSubject, Picture, register
from plots.figures.style import (
    beside,
    in_column,
    legend_under,
    new_figure,
    settle,
    styled,
    text_size,
    wrapped,
)
from plots.prose import paragraph

_EFFORT_COLOURS = ("#56B4E9", "#0072B2", "#000000")
_RESOURCE_COLOURS = {"bytes": "#0072B2", "operations": "#E69F00", "barriers": "#CC79A7"}
_NONE_AT = 1  # where the comparisons without an effect stand on the logarithmic axis


def picture_of(gpu: str) -> str:
    """The name of a GPU's picture beside the page."""
    return f"detection-{slug(gpu)}.svg"


def digest_of(effects: Results) -> str:
    """What the picture is of, for its file: "amasia-detection <SHA-256>"."""
    lines = claims(effects).drop(columns="group")  # whose ids are of the files loaded together
    numbers = lines.to_csv(index=False, float_format="%.6g") + repr(doses(effects))
    return f"amasia-detection {hashlib.sha256(numbers.encode()).hexdigest()}"


@styled
def detection(effects: Results) -> Figure:
    """Left, the share of the comparisons that claim the planted effect, over its size, for each
    effort, with exact intervals; at "none" the share that claims one all the same. Right, for each
    dosed kernel the response to doses of each resource. Raises PlotsError without the study."""
    planted = effects.where(app="planted").groups
    common.need(planted, "planted effects")
    dosed = doses(effects)
    columns = beside(2, 3)
    figure = new_figure(10.5, 3.9)
    left, right = figure.subplots(2 // columns, columns).flat
    room = figure.get_figwidth() / columns - 0.8
    at = [_NONE_AT, *PLANTS[1:]]
    for i, (effort, rounds) in enumerate(EFFORTS.items()):
        frame = claims(effects, rounds)
        shares = [found(frame, plant) for plant in PLANTS]
        values = np.array([100 * s.value for s in shares])
        ends = 100 * np.array([s.interval for s in shares])
        shifted = np.array(at) * 1.03 ** (i - 1)
        bars = np.abs(ends.T - values)
        style = {"color": _EFFORT_COLOURS[i % len(_EFFORT_COLOURS)], "marker": "o", "capsize": 2}
        left.errorbar(
            shifted[1:], values[1:], yerr=bars[:, 1:], label=effort, linewidth=1.2, **style
        )
        left.errorbar(shifted[:1], values[:1], yerr=bars[:, :1], linestyle="none", **style)
    left.plot([GOAL_PLANT], [100 * GOAL_FOUND], marker="_", markersize=26, color="#009E73")
    left.plot([_NONE_AT], [100 * GOAL_FALSE], marker="_", markersize=26, color="#009E73")
    left.set_xscale("log")
    left.xaxis.set_major_locator(FixedLocator(at))
    names = dict(zip(at, ("none", *(f"{p / 10:g} %" for p in PLANTS[1:])), strict=True))
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: names.get(round(value), "")))
    left.xaxis.set_minor_locator(NullLocator())
    left.xaxis.set_minor_formatter(NullFormatter())
    left.set_ylim(-3, 103)
    left.set_ylabel("comparisons that claim an effect, %")
    left.set_xlabel("planted effect")
    left.set_title("detection curve (green: the goals)", loc="left")
    if in_column():
        legend_under(left, room, title="effort")
    else:
        left.legend(title="effort", loc="center right")

    width = 0.8 / len(RESOURCES)
    for i, resource in enumerate(RESOURCES):
        of = [d.responses[resource] for d in dosed]
        values = np.array([r.value for r in of])
        bars = np.array([[r.value - r.low for r in of], [r.high - r.value for r in of]])
        right.bar(
            np.arange(len(of)) + (i - 1) * width, values, width, yerr=np.abs(bars), capsize=2,
            color=_RESOURCE_COLOURS[resource], label=f"doses of {resource}",
        )  # fmt: skip
    kernels = [f"{d.base}\n(floor: {d.floor_names})" for d in dosed]
    if in_column():
        slot = 0.92 * room / max(len(dosed), 1)
        kernels = [wrapped(name, slot, text_size(7.5)) for name in kernels]
    right.set_xticks(range(len(dosed)), kernels, fontsize=text_size(7.5))
    right.grid(axis="x", visible=False)
    right.axhline(1, color="#444444", linewidth=1, linestyle="--")
    right.set_ylabel("time per dose / its cost alone")
    right.set_title("what a kernel waits for", loc="left")
    if in_column():
        lines = max((name.count("\n") + 1 for name in kernels), default=1)
        legend_under(right, room, below=10 + 9 * lines)
    else:
        right.set_ylim(top=1.35)
        right.legend(loc="upper center", ncols=3, fontsize=7.5)
    common.title(
        figure,
        "What the suite finds of known effects",
        f"{common.origin(planted)}; {common.modes(planted)}",
    )
    settle(figure, *[1.8] * (2 // columns))
    return figure


def _of_selection(selection: Selection) -> Figure:
    return detection(selection.of_effects().all_modes())


def _pictures(subject: GpuSubject) -> list[Picture]:
    effects = subject.results.effects
    if effects is None:
        return []
    label = f"What is found of known effects on {subject.gpu}"
    return [Picture("detection", label, detection, (effects,))]


def _above(_: GpuSubject) -> Markup:
    return paragraph(
        "How far the claims of this report can be trusted: kernels that do a known share more of "
        "the same work, or the same, went through all of it. Left, how often a difference was "
        "claimed; right, how much of a dose of a resource shows in the time of a kernel that one "
        "of them binds."
    )


register(
    FigureKind(
        "detection",
        "what is found of planted effects, and the response to doses",
        _of_selection,
        Chapter.COMPARISONS,
        order=95,
        heading="What is found of a known effect",
        pictures=_pictures,
        above=_above,
    )
)
