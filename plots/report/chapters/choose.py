"""Choosing a strategy for a kernel that is not in the suite."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from plots.advice.examples import real_kernels
from plots.advice.twin import Twin, accuracy, answer, twins_and_unseen
from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.prose import fold, paragraph
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Embedded

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


def _body(results: Results, _: Embedded) -> Markup:
    twins, unseen = twins_and_unseen(results.files["path"].tolist())
    said = [
        _of_gpu([t for t in twins if t.gpu == gpu], unseen)
        for gpu in dict.fromkeys(t.gpu for t in twins)
    ]
    if said:
        said.append(fold("How accurate it was for real kernels", paragraph(real_kernels())))
    return _HOW + Markup("\n").join(said)


register(Part("choose", "Choose for my kernel", _body, order=20))
