"""Choosing a strategy for a kernel that is not in the suite."""

from collections import Counter

from markupsafe import Markup

from plots.advice import real_kernels
from plots.advice.twin import Twin, accuracy, answer, twins_and_unseen
from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.prose import fold, paragraph, table
from plots.report.chapters import Part, register
from plots.report.embedded import Embedded
from plots.units import claimed_ratio

_HOW = Markup(
    "<p>For an app, open its section above: it has the verdict for every size and mode. For a "
    "kernel of your own:</p>\n<pre><code>"
    "./plots.sh advise --tile 16KiB --intensity 8   # what proxy kernels with its traits gained\n"
    "amasia bench my_kernel.toml                    # your kernel itself: docs/your-kernel.md"
    "</code></pre>\n"
)


def _of_gpu(twins: list[Twin], unseen: list[Twin]) -> Markup:
    first: Counter[str] = Counter()
    for twin in twins:
        try:
            first[answer(twin.traits, [twin]).first] += 1
        except PlotsError:
            continue  # without a baseline there is nothing to say of it
    known = accuracy(twins, unseen)
    chosen = ", ".join(f"{name} {first[name]}" for name in NAMES if first[name])
    return paragraph(
        Markup("<b>{}</b>: of {} proxy kernels (twins), the first choice is: {}.").format(
            twins[0].gpu, sum(first.values()), chosen
        )
    ) + fold(
        f"How accurate such advice is on {twins[0].gpu}",
        paragraph(known.worth() if known.gains else "", known.sentence()),
    )


def _case(case: real_kernels.Case) -> tuple[str, ...]:
    first, best = case.advice.of(case.advice.first), case.best
    advised = case.advice.first
    if first is not None and first.low is not None and first.claim != "reference":
        advised += f" {claimed_ratio(first.ratio, first.low, first.high)}"
    if case.advice.nearest:
        advised += ", of the nearest kernel"
    if case.advice.gpu != case.gpu:
        advised += f", of {case.advice.gpu}"
    cost = case.cost(case.advice.first)
    return (
        case.name, case.gpu, f"{case.size_label}, {case.launch}", advised,
        f"{best.strategy} {best.total.text()}" if best else "baseline",
        "not measured" if cost is None else f"{100 * cost:.1f} %",
        f"{sum(case.placed)} of {len(case.placed)}",
    )  # fmt: skip


def _of_real_kernels(cases: list[real_kernels.Case]) -> Markup:
    """What was advised beside what was measured; speed-ups over the tuned baseline."""
    columns = ("kernel", "GPU", "case", "advised first", "fastest measured",
               ">the advice costs", ">gains inside its interval")  # fmt: skip
    return paragraph(real_kernels.sentence(cases)) + fold(
        "Advice beside outcome for each real kernel", table(columns, map(_case, cases))
    )


def _body(results: Results, _: Embedded) -> Markup:
    twins, unseen = twins_and_unseen(results.files["path"].tolist())
    said = [
        _of_gpu([t for t in twins if t.gpu == gpu], unseen)
        for gpu in dict.fromkeys(t.gpu for t in twins)
    ]
    if said:
        said.append(_of_real_kernels(real_kernels.all_cases()))
    return _HOW + Markup("\n").join(said)


register(Part("choose", "Choose for my kernel", _body, order=20))
