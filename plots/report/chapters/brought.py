"""Implementations that were brought (`amasia bench`): each against its baseline."""

from __future__ import annotations

from markupsafe import Markup

from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.prose import paragraph, table
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Embedded
from plots.units import claimed_ratio


def _body(results: Results, data: Embedded) -> Markup:
    """A row for each comparison of what is no strategy of the suite, with its times."""
    found = results.comparisons
    found = found[(found["role"] == "best") & ~found["control"] & ~found["strategy"].isin(NAMES)]
    if found.empty:
        return Markup("")
    groups = results.groups.set_index("group")
    best = results.rows[(results.rows["role"] == "best") & (results.rows["repeat"] == 0)]
    times = best.set_index(["group", "strategy"])
    lines = []
    for c in found.itertuples():
        group = groups.loc[c.group]
        baseline, row = times.loc[(c.group, "baseline")], times.loc[(c.group, c.strategy)]
        lines.append(
            (group["gpu"], group["app"], group["size_label"],
             f"{group['cache']} {group['launch']}", baseline["config"], c.strategy,
             f"{baseline['median']:.4g}", f"{row['median']:.4g}",
             claimed_ratio(c.ratio, c.low, c.high), c.claim)
        )  # fmt: skip
    heads = ["GPU", "problem", "size", "mode", "baseline", "implementation", "baseline [ms]",
             "implementation [ms]", "speed-up over baseline", "claim"]  # fmt: skip
    said = paragraph(
        "Kernels that were brought as they are, and are no strategies of the suite (docs/bench.md)."
    )
    return said + Markup("\n") + table(heads, lines)


register(Part("brought", "Implementations that were brought", _body, order=1))
