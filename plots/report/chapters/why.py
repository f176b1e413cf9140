"""What explains each resolved difference, from the counters beside the results."""

from __future__ import annotations

from markupsafe import Markup

from plots.data.load import Results
from plots.data.profiles import profiles_beside
from plots.judge.attribution import (
    AMOUNT,
    CANCEL,
    FITS,
    LEAST,
    MOST,
    SHARE,
    Attribution,
    attributions,
    cancelled,
    sums_up,
)
from plots.prose import paragraph, view
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Column, Embedded

_COLUMNS = (
    Column("gpu", listed=True),
    Column("app", listed=True),
    Column("size"),
    Column("role", listed=True),
    Column("strategy", listed=True),
    Column("against"),
    Column("speed-up", "number", help="over the row it is held against, measured without profiler"),
    Column("verdict", listed=True),
    Column("cause", listed=True, help="the part of the cycles that explains most"),
    Column("share", "share", help="of the difference in cycles"),
    Column("sentence", "prose"),
)


def _record(a: Attribution) -> dict[str, object]:
    first = a.parts[0] if a.parts else None
    return {
        "gpu": a.gpu,
        "app": a.app,
        "size": a.size_label,
        "role": a.role,
        "strategy": a.strategy,
        "against": a.against.split("/", 1)[1],
        "speed-up": a.ratio,
        "verdict": a.verdict,
        "cause": "" if first is None else first.cause.name,
        # Where parts cancel, each is many times what is left of them.
        "share": None if first is None or cancelled(a.parts) else first.share,
        "sentence": a.sentence,
    }


def _rule() -> Markup:
    """The rule in words, with its thresholds."""
    return paragraph(
        "The cycles that a row took where it was timed are divided into those in which its busiest "
        "SM is idle, those in which a warp issues, and, by what the resident warps wait for, those "
        f"in which none can; the parts add up. A part is named when it makes up {100 * SHARE:.0f} "
        f"% of the difference of two rows or more, and {100 * LEAST:g} % of their cycles; an "
        "amount behind it (bytes, instructions) when it differs by at least "
        f"{100 * AMOUNT:.0f} %. A difference of less than {100 * LEAST:g} % of the cycles is not "
        "explained: counting twice differs by more. Parts of more than "
        f"{CANCEL:g} times the difference are cancelled by others, which is said in place of "
        "shares. Where the profiler saw SMs busy for longer than the measured time, "
        f"by more than {100 * FITS:.0f} %, or where the SM clock makes most of the difference, no "
        "counter explains it. What both rows do in at least "
        f"{100 * MOST:.0f} % of their cycles is said of both."
    )


def _body(results: Results, data: Embedded) -> Markup:
    profiles = profiles_beside(results)
    if not len(profiles):
        return Markup("")
    found = attributions(results, profiles)
    counted = [a for a in found if a.verdict != "no counters"]
    parts = [paragraph(sums_up(found)), _rule()]
    if stale := profiles.of_other_code(results):
        parts.append(
            paragraph(
                "Profiles of other code than was measured, which explain nothing: "
                f"{', '.join(stale)}."
            )
        )
    if counted:
        data.table("why", _COLUMNS, [_record(a) for a in counted])
        parts.append(view("why", "Why", {}, {}, [c.name for c in _COLUMNS]))
    return Markup("\n").join(parts)


register(Part("why", "Why: what the hardware counted", _body, order=8))
