"""The papers' figures beside what was measured here, and what Svedin et al. expect of a GPU."""

import pandas as pd
from markupsafe import Markup, escape

from plots.data.load import Results
from plots.figures.svedin import balance, expectation
from plots.papers import expect, reproduction, specifications
from plots.prose import fold, paragraph, table, view
from plots.report.chapters import Part, register
from plots.report.embedded import Column, Embedded
from plots.units import amount

_COLUMNS = (
    Column("id"),
    Column("what"),
    Column("value"),
    Column("published", "number"),
    Column("to", "number", help="the upper end, where a range was published"),
    Column("here", "number"),
    Column("here / published", "number", help="or share over share of what each GPU promises"),
    Column("verdict", listed=True),
    Column("source", listed=True),
    Column("published on"),
    Column("gpu", listed=True),
    Column("why or how", "prose"),
)


def _with_code(text: str) -> Markup:
    """A sentence whose `code` becomes code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def _records(gpu: str, entries: list[reproduction.Entry]) -> list[dict[str, object]]:
    return [
        {
            "gpu": gpu, "source": e.item.source, "id": e.item.id, "what": e.item.what,
            "value": line.label, "published on": line.gpu, "published": line.low,
            "to": line.high if line.high != line.low else None,
            "here": None if line.own is None else line.own.value,
            "here / published": line.ratio, "verdict": line.verdict.value,
            "why or how": line.why or line.command,
        }
        for e in entries
        for line in e.lines
    ]  # fmt: skip


def _reproduction(results: Results, data: Embedded) -> Markup:
    if results.points.empty:
        return Markup("")
    values, against, told = 0, [], []
    for gpu in results.gpus:
        files = [f for f in results.recorded if f.device.name == gpu]
        entries = reproduction.entries(files)
        records = _records(gpu, entries)
        told.append(paragraph(f"{gpu}: {reproduction.counts(entries)}"))
        data.table("reproduction", _COLUMNS, records)
        values += len(records)
        against += [
            Markup("<li>{}: {}</li>").format(gpu, _with_code(t))
            for t in reproduction.contradictions(entries)
        ]
    return (
        paragraph(
            Markup("Every published value that this suite measures, beside its own: "),
            Markup("<code>amasia study 000-21</code> measures one table again."),
        )
        + Markup("").join(told)
        + (fold(f"Claims that these results contradict: {len(against)}",
                Markup("<ul>\n{}\n</ul>").format(Markup("\n").join(against))) if against else "")
        + fold(
            f"Published values: {values}",
            view("reproduction", "Published values", {}, {}, [c.name for c in _COLUMNS]),
        )
    )  # fmt: skip


def _as_table(frame: pd.DataFrame) -> Markup:
    heads = [f">{c}" if pd.api.types.is_numeric_dtype(frame[c]) else c for c in frame]
    rows = [
        ["" if pd.isna(v) else amount(v) if isinstance(v, float) else v for v in row]
        for row in frame.itertuples(index=False)
    ]
    return table(heads, rows)


def _expectation(results: Results, data: Embedded) -> Markup:
    of_paper = expect.published_table()
    row = of_paper[of_paper["new"].eq("A100") & of_paper["old"].eq("V100")].iloc[0]
    here = [specifications.spec_of_driver(gpu) for gpu in results.gpus]
    specs = (*specifications.paper_specs(), *(s for s in here if s is not None))
    return (
        paragraph(
            "Svedin et al. (2021, arXiv 2106.04979) expect of a new GPU at least the smaller of "
            "two ratios, because code is bound by arithmetic or by memory.",
            f"A100 over V100: min(FLOP/s {row.flop_ratio:.2f}, bandwidth "
            f"{row.bandwidth_ratio:.2f}) = {row.expected:.2f}. Their mean over Rodinia was "
            f"{row.measured_mean:.2f}.",
            Markup("<code>./plots.sh expect</code> prints the whole analysis."),
        )
        + _as_table(expect.by_module())
        + fold(
            "Which V100, which ceiling, and every ratio that the paper quotes",
            paragraph(*expect.which_v100(), *expect.ceilings_of_programs())
            + _as_table(expect.a100_over_v100()),
        )
        + Markup('<div class="figures">')
        + data.picture(
            "expectation",
            "Expected and measured speed-up between the GPUs of Svedin et al. 2021",
            lambda: expectation(of_paper),
        )
        + data.picture("balance", "Machine balance and compute density", lambda: balance(specs))
        + Markup("</div>")
    )


register(Part("papers", "Reproduce the papers", _reproduction, order=30))
register(Part("expectation", "A100 over V100: what was expected", _expectation, order=35))
