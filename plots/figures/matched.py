"""What each speed-up consists of: the gain of the schedule and the gain of movement."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plots.data.load import Results, main_size, sizes_of
from plots.errors import PlotsError
from plots.figures import common, style
from plots.figures.registry import Chapter, FigureKind, GpuSubject, Picture, register
from plots.judge.gains import Gain, Part, gains_of
from plots.prose import fold, paragraph, table
from plots.units import times

_SCHEDULE_COLOUR = "#777777"
_TOTAL_COLOUR = "#000000"
_COLUMNS = 2
_NAME_INCHES = 1.0  # of a strategy and its schedule in a column
_LANES = {"schedule": -0.26, "movement": 0.0, "total": 0.26}  # of a strategy, downwards


def _lane(ax: Axes, y: float, start: float, part: Part, ink: str, shape: str, label: str) -> None:
    """A step from ``start`` to ``start`` times the part, with the part's interval at its end;
    hollow where nothing is claimed."""
    end = start * part.ratio
    if label != "total":
        ax.plot(
            [start, end], [y, y], color=ink, linewidth=4.5, alpha=0.45, solid_capstyle="butt",
            zorder=2,
        )  # fmt: skip
    ax.errorbar(
        [end], [y], xerr=[[end - start * part.low], [start * part.high - end]], color=ink,
        marker=shape, markersize=5, markerfacecolor=ink if part.resolved else "white",
        elinewidth=1.2, capsize=2, linestyle="none", zorder=3, label=label,
    )  # fmt: skip


def _panel(ax: Axes, gains: Sequence[Gain], room: float) -> list[float]:
    """One app and size, ``room`` inches wide; returns the ends of all that was drawn."""
    reach = []
    for y, gain in enumerate(gains):
        part = gain.by_schedule
        if not gain.same_schedule:
            _lane(ax, y + _LANES["schedule"], 1, part, _SCHEDULE_COLOUR, "o", "schedule")
        ink, shape = style.colour(gain.strategy), style.marker(gain.strategy)
        _lane(ax, y + _LANES["movement"], part.ratio, gain.by_movement, ink, shape, gain.strategy)
        _lane(ax, y + _LANES["total"], 1, gain.total, _TOTAL_COLOUR, "d", "total")
        if not gain.same_schedule:  # the steps hang together
            between = [y + _LANES["schedule"], y + _LANES["movement"]]
            ax.plot([part.ratio] * 2, between, color=_SCHEDULE_COLOUR, linewidth=0.7, zorder=1.9)
        reach += [part.low, part.high, gain.total.low, gain.total.high]
        reach += [part.ratio * gain.by_movement.low, part.ratio * gain.by_movement.high]
        movement = times(gain.by_movement.ratio)
        divided = f" = {times(part.ratio)} · {movement}"
        said = times(gain.total.ratio) + (", all movement" if gain.same_schedule else divided)
        if style.in_column():
            said = said.replace(" =", "\n=").replace(" ·", "\n·").replace(", all ", "\nall ")
        ax.annotate(
            said,
            (1, y), xycoords=("axes fraction", "data"), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=style.text_size(7), color="#444444",
            annotation_clip=False,
        )  # fmt: skip
    names = [f"{gain.strategy}\n{gain.schedule}" for gain in gains]
    if style.in_column():
        names = [style.wrapped(name, _NAME_INCHES, style.text_size(7.5)) for name in names]
    ax.axvline(1, color="black", linewidth=0.8, zorder=1.8)
    ax.set_yticks(range(len(gains)), names, fontsize=style.text_size(7.5))
    ax.set_ylim(len(gains) - 0.45, -0.55)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    first = gains[0]
    size = style.text_size(8.5)
    heading = f"{first.app}, {first.size_label}\nbaseline is best with {first.baseline_schedule}"
    ax.set_title(
        style.wrapped(heading, room, size) if style.in_column() else heading,
        loc="left",
        fontsize=size,
    )
    return reach


def _by_group(results: Results) -> list[list[Gain]]:
    """The gains of each group, by app and from small to large."""
    of: dict[str, list[Gain]] = {}
    for gain in gains_of(results):
        of.setdefault(gain.group, []).append(gain)
    order = {
        (app, size): (app, i)
        for app in sorted(set(results.groups["app"]))
        for i, size in enumerate(sizes_of(results.groups, app))
    }
    return sorted(of.values(), key=lambda gains: order[gains[0].app, gains[0].size])


@style.styled
def matched(results: Results, sizes: Sequence[str] | None = None) -> Figure:
    """One panel per app and size, for each strategy three lines: from 1 to what its schedule gains
    the baseline (grey), from there to what movement gains with that schedule on both sides (the
    strategy's colour), and the speed-up that was printed (black), on a logarithmic axis, so that
    the first two add up to the third. An end is hollow where nothing is claimed.

    ``sizes`` names those to show ("app size"), None all. ``results`` must hold one cache mode and
    one launch mode. Raises PlotsError when no gain was divided.
    """
    panels = [
        gains
        for gains in _by_group(results)
        if sizes is None or f"{gains[0].app} {gains[0].size}" in sizes
    ]
    if not panels:
        raise PlotsError(
            "nothing to draw: the result files hold no strategy compared with baseline at the same "
            "schedule"
        )
    columns = style.beside(min(_COLUMNS, len(panels)), 3)
    lines = -(-len(panels) // columns)
    most = max(len(gains) for gains in panels)
    figure = style.new_figure(6.0 * columns, 1.25 + (0.85 + 0.46 * most) * lines)
    # What stands beside the axes: the names, and what each total is made of.
    room = figure.get_figwidth() / columns - _NAME_INCHES - 0.7
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, gains in zip(axes.flat, panels, strict=False):
        length = room if style.in_column() else 0
        common.ratio_axis(ax, _panel(ax, gains, room), axis="x", pad=0.06, length=length)
        ax.set_xlabel("gain over baseline")
    groups = results.groups[results.groups["group"].isin([g[0].group for g in panels])]
    common.title(
        figure,
        "What the speed-ups consist of: schedule · movement = total",
        f"{common.origin(groups)}; {common.modes(groups)}",
    )
    style.legend_below(
        figure,
        [
            Line2D(
                [], [], color=_SCHEDULE_COLOUR, marker="o", linewidth=4.5, alpha=0.6,
                markersize=5, label="schedule",
            ),
            Line2D(
                [], [], color=style.colour("tma"), marker="o", linewidth=4.5, alpha=0.6,
                markersize=5, label="movement (colour and marker of the strategy)",
            ),
            Line2D(
                [], [], linestyle="none", marker="d", color=_TOTAL_COLOUR, markersize=5,
                label="total, as measured",
            ),
            common.unresolved_handle(),
        ],
    )  # fmt: skip
    deepest = max(
        label.get_text().count("\n") for ax in axes.flat for label in ax.get_yticklabels()
    )
    style.settle(figure, *[max(0.42, 0.16 + 0.12 * deepest) * most] * lines)
    return figure


def _main(results: Results) -> list[list[Gain]]:
    """Of each app the gains at its main size."""
    return [
        gains
        for gains in _by_group(results)
        if gains[0].size == main_size(results.groups, gains[0].app)
    ]


def _pictures(subject: GpuSubject) -> list[Picture]:
    label = f"What the speed-ups consist of on {subject.gpu}"
    mains = tuple(f"{g[0].app} {g[0].size}" for g in _main(subject.main))
    return [Picture("matched", label, matched, (subject.main, mains))] if mains else []


def _listed(gains: Sequence[Gain]) -> str:
    return "; ".join(f"{g.strategy}, {g.total.text()} = {g.product()}" for g in gains)


def sentences(gains: Sequence[Gain]) -> list[str]:
    """Of the gains of one group: which printed totals are mostly schedule, which mostly movement,
    and of which the gain of movement is not resolved."""
    printed = [gain for gain in gains if gain.total.resolved]
    said = []
    alone = [g for g in printed if g.nature == "movement" and g.same_schedule]
    if alone:
        names = "; ".join(f"{g.strategy}, {g.total.text()}" for g in alone)
        said.append(f"All movement, with baseline's own schedule: {names}.")
    for words, nature, opposed in (
        ("Mostly movement", "movement", False),
        ("By movement, against the schedule", "movement", True),
        ("Mostly schedule", "schedule", False),
        ("By the schedule, against movement", "schedule", True),
    ):
        mine = [g for g in printed if g.nature == nature and g.opposed == opposed]
        mine = [g for g in mine if not g.same_schedule]
        if mine:
            said.append(f"{words}: {_listed(mine)}.")
    unresolved = [gain for gain in gains if gain.nature == "not resolved"]
    if unresolved:
        names = "; ".join(
            f"{g.strategy}, {times(g.by_movement.ratio)} with schedule {g.schedule}"
            + (f" (in all {g.total.text()})" if g.total.resolved else "")
            for g in unresolved
        )
        said.append(f"The gain of movement is not resolved: {names}.")
    rest = [gain for gain in gains if not gain.total.resolved and gain.nature != "not resolved"]
    if rest:
        said.append(f"Not faster or slower in all, but by movement: {_listed(rest)}.")
    return said


def _above(_: GpuSubject) -> Markup:
    return paragraph(
        "Each strategy at its best runs the schedule (tile, threads, work per thread, launch "
        "structure) that suits it, and baseline the one that suits baseline. So a speed-up is a "
        "product: what baseline gains by changing to the strategy's schedule, times what the way "
        "of moving data gains with that schedule on both sides. All three were measured in the "
        "same rounds, in pairs, so that the product is the total but for noise. The grey step is "
        "the schedule, the coloured one movement, the diamond the total; hollow, where nothing is "
        "claimed. Where both searches found the best, the grey step does not go to the right of 1."
    )


def _below(subject: GpuSubject) -> Markup:
    lines = [
        Markup("<li><b>{}</b>: {}</li>").format(
            f"{gains[0].app}, {gains[0].size_label}", " ".join(sentences(gains))
        )
        for gains in _main(subject.main)
    ]
    said = Markup("<ul>\n{}\n</ul>").format(Markup("\n").join(lines)) if lines else Markup("")
    rows = [
        (
            g.app,
            g.size_label,
            g.strategy,
            g.schedule,
            g.total.text(),
            "1, the same" if g.same_schedule else g.by_schedule.text(),
            g.by_movement.text(),
            g.baseline_schedule,
            "–" if g.at_baseline_schedule is None else g.at_baseline_schedule.text(),
        )
        for gains in _by_group(subject.main)
        for g in gains
    ]
    columns = (
        "app", "size", "strategy", "best with", "total", "of the schedule", "of movement",
        "baseline best with", "of movement with that",
    )  # fmt: skip
    return said + fold("Every gain, divided", table(columns, rows))


register(
    FigureKind(
        "matched",
        "what each speed-up consists of: schedule and movement",
        lambda selection: matched(selection.at_chosen_sizes(selection.one_mode())),
        Chapter.COMPARISONS,
        order=22,
        heading="Schedule and movement",
        pictures=_pictures,
        above=_above,
        below=_below,
        at_main_sizes=True,
    )
)
