"""Kernels that are no strategy of the suite: a user's, and strategies written with a library."""

from markupsafe import Markup

from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.judge.beside import rows_beside
from plots.prose import fold, table
from plots.report.chapters import Part, register
from plots.report.embedded import Embedded
from plots.units import claimed_ratio

_HEADS = ("GPU", "app", "size", "mode", "reference", "implementation", ">reference [ms]",
          ">implementation [ms]", "speed-up", "claim")  # fmt: skip


def _body(results: Results, _: Embedded) -> Markup:
    """A row for each comparison of what is no strategy, with the times of both."""
    compared = results.comparisons
    own = (compared["role"] == "best") & ~compared["control"] & ~compared["strategy"].isin(NAMES)
    rows = rows_beside(results)
    rows = rows[(rows["repeat"] == 0) & rows["median"].notna()]
    config = {
        (r.group, r.variant): r.config for r in rows[rows["role"] == "comparator"].itertuples()
    }
    times = {(r.group, r.variant, r.config): r.beside_ms for r in rows.itertuples()}
    best = {(r.group, r.variant): r for r in rows[rows["role"] == "best"].itertuples()}
    groups = results.groups.set_index("group")
    said = []
    for heading, found in (
        ("User kernels (amasia bench), against their reference", compared[own]),
        ("Strategies implemented with a part of CUDA's C++ library, against the suite's own "
         "instructions in configs of the same name", compared[compared["role"] == "counterpart"]),
    ):  # fmt: skip
        lines = []
        for c in found.itertuples():
            group = groups.loc[c.group]
            time = times.get((c.group, c.against, config.get((c.group, c.variant), "")))
            reference = best[c.group, c.against]
            time = reference.beside_ms if time is None else time
            users = c.role == "best"  # a user's baseline is a config with a name of its own
            name = reference.config if users else c.against.split("/", 1)[1]
            lines.append(
                (group["gpu"], group["app"], group["size_label"],
                 f"{group['cache']} {group['launch']}", name, c.strategy,
                 f"{time:.4g}", f"{time / c.ratio:.4g}", claimed_ratio(c.ratio, c.low, c.high),
                 c.claim)
            )  # fmt: skip
        if lines:
            said.append(fold(f"{heading}: {len(lines)}", table(_HEADS, lines)))
    return Markup("\n").join(said)


register(Part("others", "Other implementations", _body, order=60))
