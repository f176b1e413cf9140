"""Every strategy with every schedule, as a table of the page."""

from markupsafe import Markup

from plots.data.load import Results, strategy_order
from plots.figures import mode_name
from plots.judge.cross_tables import Cell, Table, table_of, without_time
from plots.prose import fold, paragraph, shade, table
from plots.statistics.claims import UNDECIDED
from plots.units import milliseconds, times

_READING = paragraph(
    "Every strategy with every schedule that it can run, in the same rounds as baseline with that "
    "schedule. Large: time over the fastest cell. Small, and the colour: gain over baseline in the "
    "same column. Framed: the fastest of a column; dashed: not distinguishable from it."
)
_MARKS = {"won": "; fastest with this schedule", "even": "; not distinguishable from the fastest"}


def _name(t: Table) -> str:
    return f"{t.group['size_label']}, {mode_name(t.group['cache'], t.group['launch'])}"


def _wins(t: Table) -> str:
    """ "tma with wide, tall; overlap with iso (even with dsm)"."""
    of: dict[str, list[str]] = {}
    for schedule, strategy in t.winners.items():
        even = t.even.get(schedule, ())
        text = schedule + (f" (even with {', '.join(even)})" if even else "")
        of.setdefault(strategy, []).append(text)
    return "; ".join(f"{s} with {', '.join(of[s])}" for s in strategy_order(of))


def _cell(t: Table, strategy: str, schedule: str) -> Markup:
    cell = t.cells.get((strategy, schedule), Cell(strategy, schedule, "not run"))
    if cell.kind != "ok":
        return Markup('<td class="none" title="{}">{}</td>').format(cell.reason, cell.kind)
    mark = "even" if strategy in t.even.get(schedule, ()) else ""
    mark = "won" if t.winners.get(schedule) == strategy else mark
    gain, step = cell.movement, 0
    below = said = "reference" if strategy == "baseline" else "no baseline"
    if gain is not None:
        below, said = f"gain {times(gain.ratio)}", f"gain {gain.text()}"
        if gain.claim in UNDECIDED:
            below += f", {gain.claim}"
        else:
            step = shade(gain.ratio)
    over = cell.median / (t.first.median if t.first else cell.median)
    return Markup(
        '<td class="{} s{}" title="{} with {}: {}; {}; {}{}">{:.2f}<small>{}</small></td>'
    ).format(
        mark, step, strategy, schedule, milliseconds(cell.median), cell.config, said,
        _MARKS.get(mark, ""), over, below,
    )  # fmt: skip


def _matrix(results: Results, t: Table) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(s) for s in t.schedules)
    lines = [
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            s, Markup("").join(_cell(t, s, schedule) for schedule in t.schedules)
        )
        for s in t.strategies
    ]
    controls = results.comparisons[results.comparisons["control"]]
    noise = (
        f"A/A, once per schedule: {controls['low'].min():.3f} to {controls['high'].max():.3f}."
        if len(controls)
        else ""
    )
    wins = f"Fastest with each schedule: {_wins(t)}." if t.winners else ""
    grid = Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="{}">'
        '<table class="matrix"><tr><td></td>{}</tr>\n{}\n</table></div>'
    ).format(f"Strategies by schedules, {_name(t)}", head, Markup("\n").join(lines))
    reasons = [(text, ", ".join(of)) for text, of in without_time(t)]
    rest = fold("Cells without a time", table(("what and why", "schedules"), reasons))
    said = paragraph(Markup("<b>{}</b>.").format(_name(t)), t.sentence(), wins, noise)
    return said + grid + (rest if reasons else Markup(""))


def matrices(results: Results | None) -> Markup:
    """The matrices of one app on one GPU (Results.cross), the largest first."""
    if results is None:
        return Markup("")
    made = []
    for group in results.groups.sort_values("bytes", ascending=False)["group"]:
        of_group = results.where(group=group)
        t = table_of(of_group, group)
        if t.strategies:
            made.append(_matrix(of_group, t))
    whole = Markup("\n").join([_READING, *made])
    return fold(f"Every strategy with every schedule: {len(made)}", whole) if made else Markup("")
