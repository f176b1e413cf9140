"""Strategies in the words of a library, each against the strategy itself."""

from __future__ import annotations

from markupsafe import Markup

from plots.data.load import Results
from plots.judge.beside import rows_beside
from plots.prose import paragraph, table
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Embedded
from plots.units import claimed_ratio


def _body(results: Results, data: Embedded) -> Markup:
    """A row for each comparator that spells a strategy, with the times of both."""
    found = results.comparisons[results.comparisons["role"] == "counterpart"]
    if found.empty:
        return Markup("")
    groups = results.groups.set_index("group")
    every = rows_beside(results)
    ran = every[(every["repeat"] == 0) & every["median"].notna()]
    spelled = {(r.group, r.variant): r for r in ran[ran["role"] == "comparator"].itertuples()}
    times = {(r.group, r.variant, r.config): r.beside_ms for r in ran.itertuples()}
    lines = []
    for c in found.itertuples():
        group, row = groups.loc[c.group], spelled[c.group, c.variant]
        time = times[c.group, c.against, row.config]
        lines.append(
            (group["gpu"], group["app"], group["size_label"],
             f"{group['cache']} {group['launch']}", c.against.split("/", 1)[1], c.strategy,
             row.config, f"{time:.4g}", f"{time / c.ratio:.4g}",
             claimed_ratio(c.ratio, c.low, c.high), c.claim)
        )  # fmt: skip
    heads = ["GPU", "problem", "size", "mode", "strategy", "spelled as", "config", "strategy [ms]",
             "spelled [ms]", "speed-up by the spelling", "claim"]  # fmt: skip
    said = paragraph(
        "The same copies, waits and computation, written with a part of CUDA's C++ library "
        "in place of the suite's own instructions, in configs of the same name: below 1 is what "
        "the portable spelling costs."
    )
    return said + Markup("\n") + table(heads, lines)


register(Part("spellings", "Strategies in a library's words", _body, order=2))
