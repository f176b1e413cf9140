"""docs/detection.md: what the study with known answers has found (plots/advice/effects.py)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from plots.advice.effects import (
    GOAL_CHOSEN,
    GOAL_FALSE,
    GOAL_FOUND,
    GOAL_PLANT,
    PLANTS,
    RESOURCES,
    Findings,
    Response,
    Study,
    findings,
    found,
    misses,
    opposite,
)
from plots.data.profiles import Profiles
from plots.figures import common
from plots.figures.detection import picture_of
from plots.judge.attribution import BindingCheck, Checks, DoseCheck, dose_checks, with_resource
from plots.markdown import table, wrapped
from plots.units import milliseconds

COMMAND = "python -m plots effects results -o docs/detection.md"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [table(head, lines, texts=len(head)), ""]


def _percent(plant: int) -> str:
    return f"{plant / 10:g} %"


def _duration(frame: pd.DataFrame) -> str:
    low, high = frame["baseline_ms"].min(), frame["baseline_ms"].max()
    return f"{milliseconds(low)} to {milliseconds(high)}"


_DURATIONS = ((0, 0.05), (0.05, 0.2), (0.2, math.inf))  # ms


def _planted_section(study: Study, of: Findings) -> list[str]:
    frame = of.default
    planted = study.effects.where(app="planted")
    rounds = planted.groups["rounds"]
    in_group = len(frame) // max(1, len(planted.groups))
    lines = [
        wrapped(f"""{len(planted.groups)} groups of {in_group} comparisons, of {_duration(frame)} a
        run, {rounds.min()} to {rounds.max()} rounds at the default effort (median
        {rounds.median():.0f})."""),
        "",
    ]
    lines += _table(
        ["effort", *(_percent(p) for p in PLANTS[1:]), "none: claimed all the same"],
        [
            [name, *(found(claims, p).text() for p in PLANTS[1:]), found(claims, 0).text()]
            for name, claims in of.by_effort.items()
        ],
    )
    lines += [
        wrapped(f"""Brackets are exact 95 % intervals of the share (Clopper and Pearson). Of the
        comparisons with an effect, {opposite(frame).text()} claim the opposite of what was
        planted."""),
        "",
        "At the default effort, by what the kernel does and how long it takes:",
        "",
    ]
    cells = []
    for kind, of_kind in frame.groupby("kind", sort=False):
        for low, high in _DURATIONS:
            taken = of_kind[(of_kind["baseline_ms"] >= low) & (of_kind["baseline_ms"] < high)]
            if taken.empty:
                continue
            ones = taken[taken["plant"].abs() == GOAL_PLANT]
            seen = 100 * np.abs(np.log(ones["ratio"])) / np.abs(np.log1p(ones["plant"] / 1000))
            cells.append(
                [
                    str(kind),
                    _duration(taken),
                    *(found(taken, p).text() for p in PLANTS[1:]),
                    found(taken, 0).text(),
                    f"{np.median(seen):.0f} %",
                ]
            )
    return lines + _table(
        ["kind", "a run takes", *(_percent(p) for p in PLANTS[1:]), "none", "of 1 % is seen"], cells
    )


def _winner_section(of: Findings) -> list[str]:
    lines = ["| planted winners | the tuner chose one | said which configs are equal |"]
    lines.append("| --- | --- | --- |")
    for s in of.searches:
        chosen = s.chosen.text() if s.winners else "any is right"
        lines.append(f"| {s.winners or 'none'} of 8 configs | {chosen} | {s.equal_said.text()} |")
    lines += ["", "| planted winners among the strategies | the advice is right |", "| --- | --- |"]
    lines += [f"| {name} | {share.text()} |" for name, share in of.advice.items()]
    return [*lines, ""]


def _dose_section(of: Findings) -> list[str]:
    def cell(r: Response) -> str:
        return f"{r.value:.2f} [{r.low:.2f}, {r.high:.2f}]"

    return _table(
        ["kernel", "time", *RESOURCES, "the slopes name", "the floor names"],
        [
            [
                d.base, milliseconds(d.baseline_ms),
                *(cell(d.responses[resource]) for resource in RESOURCES),
                d.steepest if d.resolved else f"{d.steepest}, not resolved", d.floor_names,
            ]
            for d in of.doses
        ],
    )  # fmt: skip


_HEAD = f"""# What is found of a known effect

Made from the recorded files by `{COMMAND}`;
a test fails when it is stale. The program is `amasia-effects` (`tests/effects`): apps whose answer
is known before they run, measured, compared and judged as every other app is.
"""

_PLANTED = """
Every variant runs the kernel of the baseline and does a known share more or less of its work:
blocks that stream 16 KiB, steps of fused multiply-adds, or hand-overs between warps at a
barrier. Launch and drain do not grow with the work, so that of a planted 1 % a little less is
seen in short runs (last column). Fewer rounds than the default are the first ones of the same
samples.
"""

_WINNERS = """
A winner does 1 % less than the others. Of two equal winners advice is right when it names one
and says that the other is not told apart from it; without a winner, when it names none.
"""

_DOSES = """
A kernel whose warps stream bytes, do multiply-adds and hand over at barriers side by side, so
that one of the three binds it. It gets doses of each. A response is the slope of its time over
the dose, divided by the slope of a kernel that does nothing else: 1 means that it waits for
this resource, 0 that the dose disappears beside another, and what lies between that its warps
get in the way of those that the kernel waits for. In *barriers_beside*, bytes and multiply-adds
take half as long as the barriers. The floor counts a hand-over as one dependent addition, the
least that it can be, and so names another resource there: a floor is the least time of the
work, not what a kernel waits for. No goal is set for that row; it shows where the floor must
not be read as a cause.
"""


_COUNTERS = """
What `python -m plots why` says of a difference ([profiling](profiling.md)) is asked of the
kernels that got a dose and waited for it, that is for at least half of what it costs alone: the
largest part of the cycles that the largest dose adds has to be of the resource that was given.
Which part of a kernel's own cycles is the largest is another question, and shown below it:
where warps do different things an average over them need not be what binds. No sentence of the
suite says that it is.
"""


def _counters_section(checks: Checks) -> list[str]:
    def said(check: DoseCheck | BindingCheck) -> list[str]:
        return [with_resource(check.cause), "yes" if check.agrees else "no"]

    if not checks.binding:
        return ["No counters of these kernels are recorded (`amasia-effects profile dosed`).", ""]
    return [
        *_table(
            ["kernel", "was given", "took longer", "its counters name", "right"],
            [[c.base, c.dose, f"{100 * c.longer:.0f} %", *said(c)] for c in checks.doses],
        ),
        *_table(
            ["kernel", "its doses name", "the largest part of its cycles", "right"],
            [[c.base, c.by_doses, *said(c)] for c in checks.binding],
        ),
    ]


def _of_gpu(study: Study, profiles: Profiles) -> list[str]:
    of = findings(study)
    missed = misses(of)
    verdict = ["All goals are reached."]
    if missed:
        verdict = ["Missed:", "", *(f"- {sentence}" for sentence in missed)]
    planted = study.effects.where(app="planted")
    picture = picture_of(study.gpu)
    return [
        f"## {study.gpu}",
        "",
        f"Measured on {common.origin(planted.groups)}; {common.modes(planted.groups)}.",
        "",
        *verdict,
        "",
        f"![share found at each planted effect, and the response to doses]({picture})",
        "",
        "### Planted slow-downs",
        "",
        *_planted_section(study, of),
        "### Planted winners",
        "",
        *_winner_section(of),
        "### Doses",
        "",
        *_dose_section(of),
        "### Counters",
        "",
        *_counters_section(dose_checks(study.effects, profiles)),
    ]


def render(studies: Sequence[Study], profiles: Profiles) -> str:
    """The page; without a study it says that nothing is recorded."""
    if not studies:
        return _HEAD + "\nNothing is recorded yet.\n"
    goals = f"""Goals, at the default effort: a slow-down or speed-up of 1 % is found in at least
    {100 * GOAL_FOUND:.0f} % of the comparisons; of equal work, A/A controls included, at most
    {100 * GOAL_FALSE:.0f} % are claimed to differ; tuner and advice name a planted winner in at
    least {100 * GOAL_CHOSEN:.0f} %; doses name the resource that the floor names."""
    lines = [
        _HEAD,
        wrapped(goals),
        "",
        wrapped(f"**Planted slow-downs.** {_PLANTED}"),
        "",
        wrapped(f"**Planted winners.** {_WINNERS}"),
        "",
        wrapped(f"**Doses.** {_DOSES}"),
        "",
        wrapped(f"**Counters.** {_COUNTERS}"),
        "",
        *(line for study in studies for line in _of_gpu(study, profiles)),
    ]
    return "\n".join(lines).rstrip() + "\n"
