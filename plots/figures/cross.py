"""Every strategy with every schedule: who wins where, and what movement gains there."""

from __future__ import annotations

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from plots.data.load import Results, sizes_of, strategy_order
from plots.data.selection import Selection
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.figures import common, style
from plots.figures.registry import AppSubject, Chapter, FigureKind, mode_name, register
from plots.judge.cross_tables import Cell, Table, table_of, without_time
from plots.prose import fold, paragraph, shade, table
from plots.statistics.claims import UNDECIDED
from plots.units import milliseconds, times

_MAP = matplotlib.colormaps["cividis_r"]  # light: fast; its lightness alone tells, in print too
_FRAME = "#C00060"
_MOST_ACROSS = 12  # schedules; more stand below each other
_NAME_INCHES = 1.1  # of a schedule there
_NAME_ACROSS = 0.85  # inches of a strategy written across
_NARROW = 1.3  # inches of a cell, in which "gain 1.02×, not resolved" has no room
_SHORT_KINDS = {"failed": "failed", "crashed": "crash"}
_LEAST_REACH = 1.25  # of the colours, so that a table of equals is not coloured like a steep one


def _draw_cell(
    ax: Axes, x: int, y: int, cell: Cell, fastest: float, norm: LogNorm, narrow: bool
) -> None:
    at = (x - 0.5, y - 0.5)
    if cell.kind != "ok":
        bad = cell.kind in ("failed", "crashed")
        said = cell.kind
        if narrow:  # what is hatched is said below; what is wrong needs its word
            said = _SHORT_KINDS.get(cell.kind, "")
        ax.add_patch(
            Rectangle(
                at, 1, 1, facecolor="white", hatch="...." if bad else "////", edgecolor="#BDBDBD",
                linewidth=0.8, label=cell.kind,
            )
        )  # fmt: skip
        ax.text(
            x, y, said, ha="center", va="center", fontsize=style.text_size(7),
            color=style.ALARM_COLOUR if bad else "#444444",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
        )  # fmt: skip
        return
    relative = cell.median / fastest
    face = _MAP(norm(relative))
    luminance = float(np.dot(face[:3], (0.2126, 0.7152, 0.0722)))
    ink = "white" if luminance < 0.45 else "black"
    ax.add_patch(Rectangle(at, 1, 1, facecolor=face, edgecolor="white", linewidth=1.2, label="ok"))
    weight = "bold" if relative == 1 else "normal"
    text = f"{relative:.2f}" if relative < 10 else f"{relative:.1f}"
    centred = {"ha": "center", "va": "center", "color": ink}
    ax.text(x, y - 0.18, text, fontsize=style.text_size(9.5), weight=weight, **centred)
    below = _short(cell) if narrow else _below_the_time(cell)
    ax.text(x, y + 0.24, below, fontsize=style.text_size(6.5), **centred)


def _below_the_time(cell: Cell) -> str:
    if cell.movement is None:
        return "reference" if cell.strategy == "baseline" else "no baseline"
    said = f"\n{cell.movement.claim}" if cell.movement.claim in UNDECIDED else ""
    return f"gain {times(cell.movement.ratio)}{said}"


def _short(cell: Cell) -> str:
    """The same in a narrow cell: a gain in brackets makes no claim."""
    if cell.movement is None:
        return "ref." if cell.strategy == "baseline" else "–"
    ratio = times(cell.movement.ratio).removesuffix("×")
    return f"({ratio})" if cell.movement.claim in UNDECIDED else ratio


def _panel(
    ax: Axes, cross_table: Table, norm: LogNorm, mode: str, upright: bool, room: float
) -> None:
    """One table in axes ``room`` inches wide, schedules across or, upright, one below the other."""
    t = cross_table
    schedules = t.schedules
    narrow = upright and room / len(t.strategies) < _NARROW
    for i, schedule in enumerate(schedules):
        for j, strategy in enumerate(t.strategies):
            cell = t.cells.get((strategy, schedule), Cell(strategy, schedule, "not run"))
            x, y = (j, i) if upright else (i, j)
            _draw_cell(ax, x, y, cell, t.first.median if t.first else 1.0, norm, narrow)
        marks = [(s, "--") for s in t.even.get(schedule, ())]
        if schedule in t.winners:
            marks.append((t.winners[schedule], "-"))
        for strategy, line in marks:
            width = 2.2 if line == "-" else 1.2
            j = t.strategies.index(strategy)
            x, y = (j, i) if upright else (i, j)
            ax.add_patch(
                Rectangle(
                    (x - 0.46, y - 0.45), 0.92, 0.9, fill=False, edgecolor=_FRAME,
                    linewidth=width, linestyle=line, zorder=4,
                    label="fastest" if line == "-" else "even",
                    path_effects=[withStroke(linewidth=width + 2, foreground="white")],
                )
            )  # fmt: skip
    points = style.text_size(8)
    across, down = (t.strategies, schedules) if upright else (schedules, t.strategies)
    slanted = {"rotation": 90} if upright and room / len(across) < _NAME_ACROSS else {}
    ax.set_xlim(-0.5, len(across) - 0.5)
    ax.set_ylim(len(down) - 0.5, -0.5)
    if upright:
        down = [style.wrapped(schedule, _NAME_INCHES, points) for schedule in down]
    else:
        across = [style.wrapped(schedule, 0.9 * room / len(across), points) for schedule in across]
    ax.set_xticks(range(len(across)), across, fontsize=points, **slanted)
    ax.set_yticks(range(len(down)), down, fontsize=points)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    heading, sentence = f"{t.group['app']}, {t.group['size_label']}{mode}", t.sentence()
    if upright:
        heading = style.wrapped(heading, room, style.text_size(9))
        sentence = style.wrapped(sentence, room, points)
    ax.set_title(heading, loc="left", fontsize=style.text_size(9))
    ax.set_xlabel(sentence, loc="left", fontsize=points, labelpad=7)


@style.styled
def cross(results: Results) -> Figure:
    """One panel per app and size: strategies by schedules. The large number is the time over that
    of the fastest cell, which the colour shows too (light is fast); the small one the gain of
    movement, over baseline with the same schedule. A frame marks the fastest strategy of each
    schedule, a dashed one those not told apart from it. Hatched is what a strategy declines.

    ``results`` are those of Results.cross. Raises PlotsError when they hold no table.
    """
    groups = [
        of_size.iloc[i]
        for app in sorted(set(results.groups["app"]))
        for size in sizes_of(results.groups, app)
        for of_size in [
            results.groups[(results.groups["app"] == app) & (results.groups["size"] == size)]
        ]
        for i in range(len(of_size))
    ]
    tables = [table_of(results, group["group"]) for group in groups]
    tables = [t for t in tables if t.strategies]
    if not tables:
        raise PlotsError("nothing to draw: the result files hold no table of amasia cross")
    widest = max(len(t.schedules) for t in tables)
    upright = style.in_column() or widest > _MOST_ACROSS
    heights = [0.62 * len(t.strategies) + 0.95 for t in tables]
    width = max(2.2 + 1.18 * widest, 7.6)
    if upright:
        heights = [(0.3 if style.in_column() else 0.45) * len(t.schedules) for t in tables]
        width = 9.6
    figure = style.new_figure(width, 1.3 + sum(heights) + (1.2 * len(tables) if upright else 0))
    room = figure.get_figwidth() - _NAME_INCHES - (0.3 if upright else 0.8)
    axes = figure.subplots(len(tables), 1, squeeze=False, height_ratios=heights)[:, 0]
    several = results.groups[["cache", "launch"]].drop_duplicates().shape[0] > 1
    for ax, t in zip(axes, tables, strict=True):
        slowest = [c.median / t.first.median for c in t.cells.values() if c.kind == "ok"]
        norm = LogNorm(1, max([*slowest, _LEAST_REACH]))
        mode = f"\n{mode_name(t.group['cache'], t.group['launch'])}" if several else ""
        _panel(ax, t, norm, mode, upright, room)
    narrow = upright and room / len(NAMES) < _NARROW
    common.title(
        figure,
        "Every strategy with every schedule: time over the fastest; gain over baseline "
        + ("below it" if narrow else "beside it"),
        f"{common.origin(results.groups)}; {common.modes(results.groups)}"
        + (
            "; ref.: the reference, in brackets: no claim is made; –: no baseline" if narrow else ""
        ),
    )
    style.legend_below(
        figure,
        [
            Patch(facecolor="none", edgecolor=_FRAME, linewidth=2.2, label="fastest there"),
            Patch(
                facecolor="none", edgecolor=_FRAME, linewidth=1.2, linestyle="--",
                label="not told apart from it",
            ),
            Patch(
                facecolor="white", edgecolor="#BDBDBD", hatch="////",
                label="declined, or cannot run",
            ),
        ],
    )  # fmt: skip
    style.settle(figure, *heights)
    return figure


def _name(t: Table) -> str:
    return f"{t.group['size_label']}, {mode_name(t.group['cache'], t.group['launch'])}"


def _wins(t: Table) -> str:
    """ "tma with wide, tall; overlap with iso (not told apart: dsm)"."""
    of: dict[str, list[str]] = {}
    for schedule, strategy in t.winners.items():
        even = t.even.get(schedule, ())
        text = schedule + (f" (not told apart: {', '.join(even)})" if even else "")
        of.setdefault(strategy, []).append(text)
    return "; ".join(f"{s} with {', '.join(of[s])}" for s in strategy_order(of))


def _in_page(t: Table, strategy: str, schedule: str) -> Markup:
    """A cell of the page: time over the fastest; below it the gain of movement; framed where it is
    the fastest of its column."""
    cell = t.cells.get((strategy, schedule), Cell(strategy, schedule, "not run"))
    if cell.kind != "ok":
        return Markup('<td class="none" title="{}">{}</td>').format(cell.reason, cell.kind)
    mark = ""
    if t.winners.get(schedule) == strategy:
        mark = "won"
    elif strategy in t.even.get(schedule, ()):
        mark = "even"
    gain = cell.movement
    claim, step, below = "reference", 0, _below_the_time(cell).replace("\n", ", ")
    if gain is not None:
        claim, step = gain.claim, shade(gain.ratio) if gain.claim not in UNDECIDED else 0
    over = cell.median / (t.first.median if t.first else cell.median)
    return Markup(
        '<td class="{mark} s{step}"><button data-samples="{row}" title="{title}">{over:.2f}'
        "<small>{below}</small></button></td>"
    ).format(
        mark=mark, step=step, row=cell.row, over=over, below=below,
        title=f"{strategy} with {schedule}: {milliseconds(cell.median)}; {cell.config}; "
        + (f"gain {gain.text()}" if gain is not None else claim)
        + {"won": "; fastest with this schedule", "even": "; not told apart from the fastest"}.get(
            mark, ""
        ),
    )  # fmt: skip


def _matrix(results: Results, t: Table) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(s) for s in t.schedules)
    lines = [
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            s, Markup("").join(_in_page(t, s, schedule) for schedule in t.schedules)
        )
        for s in t.strategies
    ]
    controls = results.comparisons[results.comparisons["control"]]
    noise = (
        f"Baseline against itself, once per schedule, stayed within {controls['low'].min():.3f} "
        f"and {controls['high'].max():.3f}."
        if len(controls)
        else ""
    )
    wins = f"Fastest with each schedule: {_wins(t)}." if t.winners else ""
    said = paragraph(Markup("<b>{}</b>.").format(_name(t)), t.sentence(), wins, noise)
    grid = Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="{}">'
        '<table class="matrix"><tr><td></td>{}</tr>\n{}\n</table></div>'
    ).format(f"Strategies by schedules, {_name(t)}", head, Markup("\n").join(lines))
    reasons = [(text, ", ".join(of)) for text, of in without_time(t)]
    rest = fold("Cells without a time", table(("what and why", "schedules"), reasons))
    return said + grid + (rest if reasons else Markup(""))


def _markup(subject: AppSubject) -> Markup:
    """The matrices of the app, the largest first."""
    everything = subject.results.cross
    if everything is None:
        return Markup("")
    said = []
    for group in everything.groups.sort_values("bytes", ascending=False)["group"]:
        of_group = everything.where(group=group)
        t = table_of(of_group, group)
        if t.strategies:
            said.append(_matrix(of_group, t))
    return Markup("\n").join([_READING, *said]) if said else Markup("")


_READING = paragraph(
    "Every strategy ran every schedule that it can, each with the best movement known for it, in "
    "the same rounds as baseline with that schedule. A column says what the way of moving data is "
    "worth where everything else is equal; a row what the schedule is worth to a strategy. The "
    "large number is the time over that of the fastest cell, the small one the gain over baseline "
    "in the same column, which the colour shows. A frame marks the fastest of a column, a dashed "
    "one those not told apart from it. Where the frames are not all of one strategy, which one "
    "wins depends on the schedule."
)


def _of_selection(selection: Selection) -> Figure:
    of_cross = selection.of_cross()
    return cross(of_cross.at_chosen_sizes(of_cross.one_mode()))


register(
    FigureKind(
        "cross",
        "every strategy with every schedule (results of amasia cross)",
        _of_selection,
        Chapter.APPS,
        order=20,
        heading="Every strategy with every schedule",
        markup=_markup,
        at_main_sizes=True,
    )
)
