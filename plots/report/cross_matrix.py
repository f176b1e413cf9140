"""Every strategy with every schedule (`amasia run --roles cross`), as a table of the page."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from plots.data.load import Results, paired_times, samples_by_row, strategy_order
from plots.figures import mode_name
from plots.judge.gains import Part, part_of
from plots.prose import fold, paragraph, shade, table
from plots.statistics.claims import UNDECIDED
from plots.statistics.intervals import Ratio, corrected_confidence, ratio_of_rounds
from plots.units import claimed_ratio, milliseconds, times

CONFIDENCE = 0.95

# A cell in which nothing was tried. What failed or crashed was, and stays in sight.
_NOT_RUN = frozenset(("declined", "skipped"))


@dataclass(frozen=True)
class Cell:
    """One strategy with one schedule. ``kind`` is "ok", "declined" (the strategy does not have the
    schedule), "skipped" (it cannot run here), "failed", "crashed" or "not run"; ``movement`` the
    gain over baseline with the same schedule, None for baseline itself."""

    strategy: str
    schedule: str
    kind: str
    reason: str = ""
    row: str = ""
    config: str = ""
    median: float = np.nan
    movement: Part | None = None


@dataclass(frozen=True)
class Table:
    """A table of one app, size and mode: ``strategies`` by ``schedules``.

    What was to run with no other is no line and no column: it is in ``never_ran`` or ``left_out``,
    its cells are in ``cells``, and the sentence says why. ``winners`` has the fastest strategy of
    each schedule; ``even`` those that are not distinguishable from it. ``first`` and ``second`` are
    the fastest cell and the fastest of another strategy, ``lead`` the one's time over the other's.
    """

    group: pd.Series
    strategies: tuple[str, ...]
    schedules: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    winners: dict[str, str]
    even: dict[str, tuple[str, ...]]
    first: Cell | None
    second: Cell | None
    lead: Ratio | None
    left_out: tuple[str, ...] = ()  # schedules
    never_ran: tuple[str, ...] = ()  # strategies

    def sentence(self) -> str:
        """Who wins overall, by how much over the second, and what is left out."""
        return f"{self._leader()} {self._absentees()}".rstrip()

    def _absentees(self) -> str:
        """What ran with nothing, and for each reason of how many of them it is the commonest."""
        cells = self.cells.values()
        of_schedule = [[c for c in cells if c.schedule == name] for name in self.left_out]
        of_strategy = [[c for c in cells if c.strategy == name] for name in self.never_ran]
        schedules = len(self.schedules) + len(self.left_out)
        strategies = len(self.strategies) + len(self.never_ran)
        return " ".join(
            [
                *_absent(self.left_out, of_schedule, f"of {schedules} schedules", "strategy"),
                *_absent(self.never_ran, of_strategy, f"of {strategies} strategies", "schedule"),
            ]
        )

    def _leader(self) -> str:
        """Who wins overall, and by how much over the second."""
        if self.first is None:
            return "No strategy has a time."
        best = f"{self.first.strategy} with {self.first.schedule}"
        took = milliseconds(self.first.median)
        if self.second is None or self.lead is None:
            return f"Fastest: {best} ({took}); no other strategy has a time."
        other = (
            f"{self.second.strategy} with {self.second.schedule} "
            f"({milliseconds(self.second.median)})"
        )
        if not self.lead.resolved:
            return (
                f"{best} ({took}) and the second, {other}, are not statistically distinguishable: "
                f"{times(self.lead.ratio)} [{self.lead.low:.3f}, {self.lead.high:.3f}]."
            )
        by = claimed_ratio(self.lead.ratio, self.lead.low, self.lead.high)
        return f"Fastest: {best} ({took}), {by} faster than the second, {other}."


def _absent(names: tuple[str, ...], cells: list[list[Cell]], of: str, other: str) -> Iterator[str]:
    """A sentence about those of a kind that ran with no other; none without one."""
    if not names:
        return
    reasons = Counter(_commonest(cell.reason for cell in of_name) for of_name in cells)
    if len(names) == 1:
        yield f"{names[0]} runs with no {other}: {next(iter(reasons))}."
        return
    why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    yield f"{len(names)} {of} run with no {other}: {why}."


def _commonest(reasons: Iterable[str]) -> str:
    return Counter(r or "no reason was recorded" for r in reasons).most_common(1)[0][0]


def _cell_of(row: pd.Series, gains: dict[tuple[str, str], Part]) -> Cell:
    at = (row["strategy"], row["schedule"])
    if row["status"] != "ok":
        # The harness names the schedule where it is the strategy that declines.
        said = row["reason"].removeprefix(f"schedule {row['schedule']}: ")
        kind = "declined" if said != row["reason"] else row["status"]
        return Cell(*at, kind=kind, reason=said)
    if not np.isfinite(row["median"]):
        return Cell(*at, kind="not run", reason="it was not timed")
    return Cell(
        *at, kind="ok", row=row["row"], config=row["config"], median=float(row["median"]),
        movement=gains.get(at),
    )  # fmt: skip


def table_of(results: Results, group: str) -> Table:
    """The table of one group of Results.cross."""
    info = results.groups[results.groups["group"] == group].iloc[0]
    samples = {row: columns for row, *columns in samples_by_row(results.where(group=group))}
    rows = results.rows
    rows = rows[(rows["group"] == group) & (rows["role"] == "cross") & (rows["repeat"] == 0)]
    found = results.comparisons
    found = found[(found["group"] == group) & (found["role"] == "cross") & ~found["control"]]
    gains = {(c.strategy, c.schedule): part_of(c) for c in found.itertuples()}
    cells = {(row["strategy"], row["schedule"]): _cell_of(row, gains) for _, row in rows.iterrows()}
    strategies = tuple(strategy_order(rows["strategy"]))
    schedules = tuple(dict.fromkeys(rows["schedule"]))
    ran = [c for c in cells.values() if c.kind not in _NOT_RUN]
    left_out = _without({c.schedule for c in ran}, schedules)
    never_ran = _without({c.strategy for c in ran}, strategies)
    strategies = tuple(name for name in strategies if name not in never_ran)
    schedules = tuple(name for name in schedules if name not in left_out)
    timed = sorted((c for c in cells.values() if c.kind == "ok"), key=lambda c: c.median)
    by_schedule = {s: [c for c in timed if c.schedule == s] for s in schedules}
    first = timed[0] if timed else None
    second = next((c for c in timed if c.strategy != timed[0].strategy), None)
    # All that is compared here holds together.
    compared = sum(max(len(of) - 1, 0) for of in by_schedule.values()) + 1
    corrected = corrected_confidence(CONFIDENCE, compared)

    def over(slow: Cell, fast: Cell) -> Ratio | None:
        """Time of one cell over that of another, paired by rounds; None without common rounds."""
        if slow.row not in samples or fast.row not in samples:
            return None
        pairs = paired_times(samples[slow.row], samples[fast.row])
        return ratio_of_rounds(*pairs, corrected) if len(pairs[0]) else None

    def is_even(other: Cell, fastest: Cell) -> bool:
        ratio = over(other, fastest)
        return ratio is None or not ratio.resolved

    even = {
        schedule: tuple(other.strategy for other in of[1:] if is_even(other, of[0]))
        for schedule, of in by_schedule.items()
    }
    return Table(
        group=info,
        strategies=strategies,
        schedules=schedules,
        cells=cells,
        winners={s: of[0].strategy for s, of in by_schedule.items() if of},
        even=even,
        first=first,
        second=second,
        left_out=left_out,
        never_ran=never_ran,
        lead=None if first is None or second is None else over(second, first),
    )


def _without(ran: set[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are not among those that ran; none where nothing ran at all."""
    return tuple(name for name in names if name not in ran) if ran else ()


def without_time(t: Table) -> list[tuple[str, list[str]]]:
    """(strategies and reason, schedules) of the cells without a time: strategies with
    the same schedules and reason share one."""
    said: dict[tuple[str, str], list[str]] = {}
    for cell in t.cells.values():
        if cell.kind != "ok":
            verb = "declines" if cell.kind == "declined" else cell.kind
            text = f"{verb}: {cell.reason or 'no reason was recorded'}"
            said.setdefault((cell.strategy, text), []).append(cell.schedule)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (strategy, text), of in said.items():
        together.setdefault((text, tuple(of)), []).append(strategy)
    return [(f"{', '.join(names)} {text}", list(of)) for (text, of), names in together.items()]


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
