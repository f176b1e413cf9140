"""Published figures beside what was measured here."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup, escape

from plots.data.load import Results
from plots.papers import reproduction
from plots.papers.contradictions import contradictions
from plots.papers.ours import Files
from plots.prose import paragraph, view
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Column, Embedded

_COLUMNS = (
    Column("gpu", listed=True),
    Column("source", listed=True),
    Column("id"),
    Column("what"),
    Column("value"),
    Column("published on"),
    Column("published", "number"),
    Column("to", "number", help="the upper end, where a range was published"),
    Column("here", "number"),
    Column("here / published", "number", help="or share over share of what each GPU promises"),
    Column("verdict", listed=True),
    Column("why or how", "prose"),
)


def _with_code(text: str) -> Markup:
    """A sentence whose `code` becomes code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def _of_gpu(gpu: str, files: Files, data: Embedded) -> Markup:
    lines = [(e.item, line) for e in reproduction.entries(files) for line in e.lines]
    data.table(
        "reproduction",
        _COLUMNS,
        (
            {
                "gpu": gpu, "source": item.source, "id": item.id, "what": item.what,
                "value": line.label, "published on": line.gpu, "published": line.low,
                "to": line.high if line.high != line.low else None,
                "here": None if line.own is None else line.own.value,
                "here / published": line.ratio, "verdict": line.verdict.value,
                "why or how": line.why or line.command,
            }
            for item, line in lines
        ),
    )  # fmt: skip
    counts = Counter(line.verdict for _, line in lines)
    said = ", ".join(f"{counts[v]} {v.value}" for v in reproduction.Verdict if counts[v])
    against = [Markup("<li>{}</li>").format(_with_code(text)) for text in contradictions(files)]
    listed = Markup("<ul>\n{}\n</ul>").format(Markup("\n").join(against))
    return paragraph(
        f"{gpu}, {len(lines)} published values: {said}.",
        "Claims that these results contradict:" if against else "",
    ) + (listed if against else Markup(""))


def _body(results: Results, data: Embedded) -> Markup:
    if results.points.empty:
        return Markup("")
    said = [
        _of_gpu(gpu, [f for f in results.recorded if f.device.name == gpu], data)
        for gpu in results.gpus
    ]
    if not said:
        return Markup("")
    shown = ["source", "id", "what", "value", "published", "to", "here", "here / published",
             "verdict", "published on", "why or how", "gpu"]  # fmt: skip
    return Markup("\n").join([*said, view("reproduction", "Published values", {}, {}, shown)])


register(Part("reproduction", "Published figures beside these", _body, order=40))
