"""The time that is printed beside a ratio.

A ratio is of paired rounds, and where rows were measured in several sessions, of all sessions of
the pair. A median is of one session. So two medians need not divide to the ratio: the sessions of a
row may not be those of another, and a later session may have run at another clock. One rule for
every page: baseline has the time of all its sessions, and each other row has the time of its
reference divided by the ratio of the two.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from plots.data.load import Results
from plots.data.sessions import rows_in

_OF_ROW = ["group", "row", "role", "identity", "median", "session_scale", "next_value"]
_OF_COMPARISON = ["group", "role", "identity", "ratio"]


def _own(row: Any) -> float:
    """Of a row by itself, in ms: what its sessions say, else its run beside those of the group."""
    said = float(row.next_value)
    return said if math.isfinite(said) else float(row.median) * float(row.session_scale)


def _times(rows: Mapping[str, Any], comparisons: list[Any]) -> dict[str, float]:
    """Of one group, by row."""
    over: dict[str, tuple[str, float]] = {}  # identity -> that of its reference, and the ratio
    # A row takes part in several comparisons. The one of its own role is printed beside it.
    for c in sorted(comparisons, key=lambda c: c.role == "counterpart"):
        pair = [rows[identity] for identity in rows_in(c.identity) if identity in rows]
        if len(pair) < 2 or not c.ratio > 0 or not math.isfinite(c.ratio):
            continue
        row, reference = pair
        if row.role == c.role or row.identity not in over:
            over[row.identity] = reference.identity, float(c.ratio)

    def time(identity: str, seen: tuple[str, ...] = ()) -> float:
        if identity not in over or identity in seen:
            return _own(rows[identity])
        reference, ratio = over[identity]
        return time(reference, (*seen, identity)) / ratio

    return {row.row: time(identity) for identity, row in rows.items()}


def times_beside(results: Results) -> dict[str, float]:
    """row -> its time in ms as it is printed beside a ratio; NaN of a row without a time."""
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in results.rows[_OF_ROW].itertuples(index=False):
        rows[row.group][row.identity] = row
    comparisons: dict[str, list[Any]] = defaultdict(list)
    for c in results.comparisons[_OF_COMPARISON].itertuples(index=False):
        if c.identity:
            comparisons[c.group].append(c)
    found: dict[str, float] = {}
    for group, of_group in rows.items():
        found |= _times(of_group, comparisons[group])
    return found


def rows_beside(results: Results) -> pd.DataFrame:
    """The rows with ``beside_ms``, their times by times_beside(), and ``reached``, the share of the
    floor that goes with it."""
    rows = results.rows
    beside = rows["row"].map(times_beside(results)).astype(float)
    return rows.assign(
        beside_ms=beside.where(rows["median"].notna()),
        reached=rows["floor_fraction"] * rows["median"] / beside,
    )
