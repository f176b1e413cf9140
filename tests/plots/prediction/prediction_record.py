"""The recorded results, for the tests of the model; loaded once."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from whole_record import whole_record

from plots.data.load import Results
from plots.prediction.evaluation import ROLES, home_of, row_of
from plots.prediction.model import Machine
from plots.prediction.traits import Row

GPU = "NVIDIA H200"


@functools.cache
def recorded() -> tuple[Results, Machine]:
    """Everything in results/, and the GPU that the page is of."""
    results = whole_record()
    assert home_of(results) == GPU
    return results, Machine.of(results, GPU)


def rows_with_groups(results: Results, gpu: str) -> Iterator[tuple[Any, Any, Row]]:
    """(row, group, what is known of it before it runs) of every verified row."""
    for part in (results, results.cross):
        if part is None:
            continue
        groups = {g.group: g for g in part.groups[part.groups["gpu"] == gpu].itertuples()}
        rows = part.rows
        chosen = (rows["gpu"] == gpu) & rows["role"].isin(ROLES) & (rows["status"] == "ok")
        for r in rows[chosen & (rows["repeat"] == 0)].itertuples():
            yield r, groups[r.group], row_of(r, groups[r.group].parameters)
