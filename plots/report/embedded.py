"""The data that a page carries: tables, samples and figures, compressed in one element.

A table of a thousand rows written as HTML takes a hundred times the space of its numbers, and
nobody can sort or filter it. So the page holds columns, and its script (templates/report.js) makes
of them the rows that a reader asks for.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plots.load import Results, samples_by_row

# Samples are kept as millionths of their row's median: finer than the clock that timed them.
SAMPLE_STEP = 1e-6


@dataclass(frozen=True)
class Column:
    """A column of a table: ``kind`` says what its values are and how they are shown and sorted.

    "text"; "number" (three digits) and "whole"; "ms", a time in ms; "share" of 1; "ratio", a list
    of ratio, low, high and what is claimed; "samples", the id of a row whose samples the page has.
    ``listed``: the reader chooses from a list of its values.
    """

    name: str
    kind: str = "text"
    listed: bool = False
    help: str = ""


def _plain(value: Any) -> Any:
    """As JSON has it: no NaN, and no more digits than anybody reads."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


class Embedded:
    """Collects what the page carries."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._samples: dict[str, list[Any]] = {}
        self._figures: dict[str, str] = {}

    def table(self, name: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> int:
        """Adds a table, or rows to one that is there; each row has a value for each column's name.
        Returns the number of rows given."""
        rows = list(rows)
        table = self._tables.setdefault(
            name,
            {
                "columns": [[c.name, c.kind, c.listed, c.help] for c in columns],
                "values": [[] for _ in columns],
            },
        )
        for column, values in zip(columns, table["values"], strict=True):
            values += [_plain(row[column.name]) for row in rows]
        return len(rows)

    def samples(self, results: Results) -> None:
        """Adds the samples of all rows with a time."""
        medians = dict(zip(results.rows["row"], results.rows["median"], strict=True))
        for row, rounds, times, throttled in samples_by_row(results):
            median = medians.get(row, math.nan)
            if not median > 0:
                continue
            parts = (times / median - 1) / SAMPLE_STEP
            in_order = np.array_equal(rounds, np.arange(len(rounds)))
            self._samples[row] = [
                _plain(float(median)),
                np.rint(parts).astype(np.int64).tolist(),
                0 if in_order else rounds.tolist(),
                np.flatnonzero(throttled).tolist(),
            ]

    def add(self, other: Embedded) -> None:
        """Adds what another one collected; both have no table in common."""
        if twice := self._tables.keys() & other._tables.keys():
            raise ValueError(f"two tables are called {', '.join(sorted(twice))}")
        self._tables |= other._tables
        self._samples |= other._samples
        self._figures |= other._figures

    def figure(self, name: str, svg: str) -> None:
        """Adds a figure, shown where the page has an element of that name."""
        self._figures[name] = svg

    def encoded(self) -> str:
        """All of it as gzip in base64: safe in an element of a page, whatever it holds."""
        content = {
            "tables": self._tables,
            "samples": self._samples,
            "step": SAMPLE_STEP,
            "figures": self._figures,
        }
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without the time, so that the same results make the same page.
        packed = gzip.compress(text.encode("utf-8", "backslashreplace"), 9, mtime=0)
        return base64.b64encode(packed).decode("ascii")


def decoded(encoded: str) -> dict[str, Any]:
    """What encoded() was made of, as the page's script sees it."""
    return json.loads(gzip.decompress(base64.b64decode(encoded)))
