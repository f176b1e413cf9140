"""Two GPUs side by side, and what each reaches of its data sheet."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results
from plots.figures import common, style
from plots.papers import expect
from plots.papers.expect import Measured
from plots.papers.generations import Step, pairs_of, steps
from plots.prose import fold, paragraph, table
from plots.report.chapters import Part, register
from plots.report.embedded import Embedded
from plots.statistics.intervals import geometric_mean
from plots.units import shortened, times

MOST_CASES = 12  # of the figure of a pair
_HARDWARE, _BEST = "#000000", "#D55E00"
_BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # a text


def cases(measured: Measured) -> list[Any]:
    """The cases that a picture has room for: of each app one after the other, the modes that
    single pictures show first."""
    best = measured.best.assign(
        later=measured.best["cache"].ne("cold") * 2 + measured.best["launch"].ne("stream")
    )
    best = best.sort_values("later", kind="stable")
    best = best.assign(rank=best.groupby("app").cumcount())
    shown = best.sort_values("rank", kind="stable").head(MOST_CASES)
    return list(shown.sort_values(["app", "rank"], kind="stable").itertuples())


@style.styled
def generations(measured: Measured, dates: str) -> Figure:
    """The speed-up of the new GPU in at most MOST_CASES cases: the baseline alone (hardware), and
    the best strategy of each GPU with its interval; beside what the measured ceilings (solid) and
    the datasheets (dashed) let one expect."""
    common.need(measured.best, "case with the baseline at its best on both GPUs")
    shown: Sequence[Any] = cases(measured)
    figure = style.new_figure(2.2 + 0.38 * len(shown), style.NARROW)
    ax = figure.subplots()
    for y, case in enumerate(shown):
        ax.plot(case.hardware, y, marker="o", color=_HARDWARE, markersize=4)
        ax.errorbar(
            [case.ratio], [y + 0.25], xerr=[[case.ratio - case.low], [case.high - case.ratio]],
            color=_BEST, marker="D", markersize=4, capsize=2, elinewidth=1, linestyle="none",
            markerfacecolor=_BEST if case.resolved else "white", label=case.app,
        )  # fmt: skip
    ends = [e for case in shown for e in (case.low, case.high, case.hardware)]
    handles = [
        Line2D([], [], marker="o", color=_HARDWARE, linestyle="none", label="baseline (hardware)"),
        Line2D([], [], marker="D", color=_BEST, linestyle="none", label="best on best"),
        common.hollow_handle(),
    ]
    for expected, dashes, text in (
        (measured.measured_ceilings, "-", "measured ceilings"),
        (measured.datasheet, "--", "datasheets"),
    ):
        if expected is not None:
            drawn = {"color": "#333333", "linestyle": dashes, "linewidth": 1.2}
            ax.axvline(expected.expected, **drawn)
            label = f"expected, {text}: {expected.expected:.2f}"
            handles.append(Line2D([], [], label=label, **drawn))
            ends.append(expected.expected)
    common.ratio_axis(ax, ends, axis="x", pad=0.06)
    same = len({(c.cache, c.launch) for c in shown}) == 1
    for y, c in enumerate(shown):
        label = shortened(f"{c.app} {c.size_label}", 32 if same else 24)
        label += "" if same else f", {c.cache}, {c.launch}"
        for x, text, side in (
            (0, label, "left"),
            (1, f"{c.old_strategy} → {c.new_strategy}", "right"),
        ):
            ax.text(
                x, y - 0.3, text, fontsize=7, va="center", ha=side, bbox=_BEHIND,
                transform=ax.get_yaxis_transform(),
            )  # fmt: skip
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(shown) - 0.45, -0.55)
    ax.set_xlabel("speed-up (logarithmic); best strategies, old → new")
    names = (shortened(gpu, 40) for gpu in (measured.new_gpu, measured.old_gpu))
    style.title(figure, " over ".join(names), dates)
    style.legend_below(figure, handles)
    return figure


# Of more GPUs than a few, not every pair has its figure: there are n (n - 1) / 2 of them.
MOST_PAIRS = 6
_HOW = Markup(
    "<p>Compare two sets of results, row by row: <code>./plots.sh compare OLD NEW</code> "
    "(files or folders).</p>\n"
)
_MEANING = (
    "Geometric means over the cases of an app. Best on best is hardware (the baseline on both "
    "GPUs) × what strategies gain on the new GPU / what they gain on the old one."
)


def _by_app(step: Step) -> Markup:
    best = step.best
    lines = [(app, best[best["app"] == app]) for app in sorted(set(best["app"]))]
    parts = ("ratio", "hardware", "new_software", "old_software")
    return table(
        ("app", ">cases", ">best on best", ">hardware", ">strategies, new", ">strategies, old"),
        [
            (name, len(of), *(times(geometric_mean(of[part])) for part in parts))
            for name, of in [*lines, ("all apps", best)]
        ],
    )


def _details(step: Step) -> Markup:
    points = table(
        ("microbenchmark", "quantity", ">points", ">mean", ">least", ">most"),
        [
            (p.microbenchmark, p.quantity, p.n, *(f"{r:.2f}" for r in (p.ratio, p.least, p.most)))
            for p in step.points.itertuples()
        ],
    )
    short = table(
        ("row", ">delivered", ">expected", "cause"),
        [
            (f"{s.variant} {s.size_label} {s.cache} {s.launch}", times(s.ratio), times(s.expected),
             f"{s.outcome}: {s.text}")
            for s in step.short
        ],
    )  # fmt: skip
    return fold(
        f"Microbenchmarks of both (above 1: the new GPU is better): {len(step.points)}", points
    ) + (fold(f"Rows below the data sheets' expectation: {len(step.short)}", short)
         if step.short else Markup(""))  # fmt: skip


def _pair(step: Step, sides: tuple[Results, Results], name: str, data: Embedded) -> Markup:
    m = step.measured
    if step.best.empty:
        return paragraph(*step.sentences())
    dates = "; ".join(common.origin(side.groups) for side in sides)
    verdict, *others = step.sentences()
    draw = partial(generations, m, dates)
    items = Markup("\n").join(Markup("<li>{}</li>").format(text) for text in others)
    return (
        paragraph(verdict)
        + _by_app(step)
        + paragraph(Markup('<span class="note">{}</span>').format(_MEANING))
        + data.picture(name, f"{m.new_gpu} over {m.old_gpu}", draw, "narrow")
        + fold("Against data sheets and measured ceilings", Markup("<ul>{}</ul>").format(items))
        + _details(step)
    )


def _pairs(results: Results, gpus: Sequence[str], data: Embedded) -> list[Markup]:
    """The first pairs of GPUs, newer over older, or why there is none."""
    every = list(itertools.combinations(gpus, 2))
    shown = every[:MOST_PAIRS]
    made = []
    sides = pairs_of(results, shown)
    for i, (gpu, side, step) in enumerate(zip(shown, sides, steps(sides), strict=True)):
        body = (
            _pair(step, side, f"pair-{i}", data)
            if isinstance(step, Step)
            else paragraph(f"Not compared: {step}.")
        )
        heading = f"{gpu[0]} over {gpu[1]}"
        made.append(
            Markup("<h3>{}</h3>\n{}").format(heading, body) if i == 0 else fold(heading, body)
        )
    if left := len(every) - len(shown):
        made.append(paragraph(f"{left} more pairs: ./plots.sh compare OLD NEW."))
    return made


def _reached(results: Results, gpu: str) -> Markup:
    lines: list[tuple[Any, ...]] = [
        (r.name, f"{r.measured:,.0f} {r.unit}", f"{r.promised:,.0f} {r.unit}",
         f"{100 * r.share:.0f} %")
        for r in expect.reached(results)
    ]  # fmt: skip
    heads = ("ceiling", ">measured", ">data sheet", ">share")
    return fold(f"{gpu}: what it reaches of its data sheet", table(heads, lines)) if lines else ""


def _body(results: Results, data: Embedded) -> Markup:
    there = set(results.groups["gpu"])
    gpus = [gpu for gpu in results.gpus if gpu in there]
    made = [_HOW, *_pairs(results, gpus, data)]
    for gpu in gpus:
        made.append(_reached(results.where(gpu=gpu), gpu))
    return Markup("\n").join(made)


register(Part("generations", "Compare two GPUs", _body, order=10))
