"""What explains each resolved difference, from the counters beside the results."""

from markupsafe import Markup

from plots.data.load import Results
from plots.data.profiles import profiles_beside
from plots.judge.attribution import LEAST, SHARE, Attribution, attributions, cancelled, sums_up
from plots.prose import fold, paragraph
from plots.report.chapters import Part, register
from plots.report.embedded import Column, Embedded

_COLUMNS = (
    Column("app", listed=True),
    Column("size"),
    Column("strategy", listed=True),
    Column("against"),
    Column("role", listed=True),
    Column("speed-up", "number", help="over the row it is compared with, without profiler"),
    Column("verdict", listed=True),
    Column("cause", listed=True, help="the part of the cycles that explains most"),
    Column("share", "share", help="of the difference in cycles"),
    Column("gpu", listed=True),
    Column("sentence", "prose"),
)


def _record(a: Attribution) -> dict[str, object]:
    first = a.parts[0] if a.parts else None
    return {
        "gpu": a.gpu, "app": a.app, "size": a.size_label, "role": a.role, "strategy": a.strategy,
        "against": a.against.split("/", 1)[1], "speed-up": a.ratio, "verdict": a.verdict,
        "cause": "" if first is None else first.cause.name,
        # Where parts cancel, each is many times what is left of them.
        "share": None if first is None or cancelled(a.parts) else first.share,
        "sentence": a.sentence,
    }  # fmt: skip


def _body(results: Results, data: Embedded) -> Markup:
    profiles = profiles_beside(results)
    if not len(profiles):
        return Markup("")
    found = attributions(results, profiles)
    counted = [_record(a) for a in found if a.verdict != "no counters"]
    stale = ", ".join(profiles.of_other_code(results))
    said = paragraph(
        sums_up(found),
        f"A cause is named when it makes up {100 * SHARE:.0f} % of the difference or more, and "
        f"{100 * LEAST:g} % of the cycles (docs/profiling.md has the rule).",
        f"Profiles of other code than was measured, which explain nothing: {stale}."
        if stale
        else "",
    )
    if counted:
        shown = data.listed("why", "Why", _COLUMNS, counted)
        said += fold(f"Each difference: {len(counted)}", shown)
    return said


register(Part("why", "Why: what the hardware counted", _body, order=50))
