"""The data that a page carries, compressed in one element: tables, samples and figures.

A table of a thousand rows written as HTML takes a hundred times the space of its numbers, and
nobody can sort or filter it. So the page holds columns, and its script (templates/report.js) makes
of them the rows that a reader asks for.
"""

import base64
import gc
import gzip
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results, samples_by_row
from plots.errors import PlotsError
from plots.figures import style
from plots.processes import on_all_cores
from plots.prose import view
from plots.units import shortened

Drawer = Callable[[], Figure]

CLOCK_STEP_MS = 32e-6  # what the clock of events of these GPUs counts in
LEAST_SHARE = 1e-6  # of a median, which is finer than anything that is shown


@dataclass(frozen=True)
class Column:
    """A column of a table. ``kind`` decides how its values are shown and sorted. ``listed``: the
    reader chooses from a list of its values.

    Kinds: "text" is a word or two. A "prose" is below its row, over the full width. A "number" has
    four digits, a "whole" none after the point. An "ms" is a time, a "share" a part of 1. A "ratio"
    is a list of ratio, low, high and claim. A "samples" is the id of a row with samples here.
    """

    name: str
    kind: str = "text"
    listed: bool = False
    help: str = ""


_AS_THEY_ARE = frozenset((str, int, bool, type(None)))


def _plain(value: Any) -> Any:
    """As JSON has it: no NaN, and no more digits than anybody reads."""
    if type(value) in _AS_THEY_ARE:  # most are, of half a million
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _steps_of(times: np.ndarray, median: float) -> tuple[float, float, np.ndarray]:
    """Times (ms) as (origin, step, how many steps from there each is): in steps of the clock, where
    they are such and it counts finely enough to distinguish these times; else in shares of the
    median."""
    ticks = np.rint(times / CLOCK_STEP_MS)
    # As far as a float, which is what the driver gives, can say.
    by_clock = np.allclose(ticks * CLOCK_STEP_MS, times, rtol=1.2e-7, atol=0)
    if by_clock and LEAST_SHARE * median <= CLOCK_STEP_MS:
        origin = round(median / CLOCK_STEP_MS)
        return float(f"{origin * CLOCK_STEP_MS:.12g}"), CLOCK_STEP_MS, ticks - origin
    step = float(f"{LEAST_SHARE * median:.6g}")
    return float(f"{median:.12g}"), step, np.rint((times - median) / step)


class Embedded:
    """Collects what the page carries."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._samples: dict[str, list[Any]] = {}
        self._pictures: dict[str, Drawer] = {}

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

    def listed(
        self,
        name: str,
        label: str,
        columns: Sequence[Column],
        rows: Iterable[Mapping[str, Any]],
        gpu: str = "",
    ) -> Markup:
        """Adds a table and returns the place that shows it: all columns, of a ``gpu`` its rows.
        Nothing without a row."""
        if not self.table(name, columns, rows):
            return Markup("")
        where = {"gpu": gpu} if gpu else {}
        label += f", {shortened(gpu, 60)}" if gpu else ""
        return view(name, label, where, {}, [c.name for c in columns if c.name not in where])

    def samples(self, results: Results, wanted: Collection[str]) -> None:
        """Adds the samples of these rows, as far as they have a time."""
        medians = dict(zip(results.rows["row"], results.rows["median"], strict=True))
        for row, rounds, times, throttled in samples_by_row(results):
            median = medians.get(row, math.nan)
            if row not in wanted or not median > 0:
                continue
            origin, step, parts = _steps_of(times, median)
            in_order = np.array_equal(rounds, np.arange(len(rounds)))
            self._samples[row] = [
                origin,
                step,
                parts.astype(np.int64).tolist(),
                0 if in_order else rounds.tolist(),
                np.flatnonzero(throttled).tolist(),
            ]

    def picture(self, name: str, label: str, draw: Drawer, size: str = "") -> Markup:
        """The place of a figure, which is drawn when all are known. ``size``: "narrow" fits a
        phone."""
        if name in self._pictures:
            raise ValueError(f"two pictures are called {name}")
        self._pictures[name] = draw
        place = '<figure data-figure="{0}" role="img" aria-label="{1}" class="{2}"></figure>\n'
        return Markup(place).format(name, label, size)

    def encoded(self) -> str:
        """All of it as gzip in base64: safe in an element of a page, whatever it holds."""
        figures = draw_all(self._pictures)
        content = {"tables": self._tables, "samples": self._samples, "figures": figures}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without the time, so that the same results make the same page.
        packed = gzip.compress(text.encode("utf-8", "backslashreplace"), 6, mtime=0)
        return base64.b64encode(packed).decode("ascii")


# --- Pictures, drawn on all cores -----------------------------------------------------------------

# What is being drawn. A forked worker finds it here, with its frames, without copying any.
_pending: Mapping[str, Drawer] = MappingProxyType({})


def _draw(name: str) -> str:
    if not gc.isenabled():
        gc.collect(0)  # the figure before this one, whose parts refer to each other
    try:
        return style.svg(_pending[name]())
    except PlotsError as error:
        return str(error)


def draw_all(pictures: Mapping[str, Drawer]) -> dict[str, str]:
    """Each picture as SVG; where there is nothing to draw, the reason. One process per core."""
    global _pending
    _pending = pictures
    try:
        return dict(zip(pictures, on_all_cores(_draw, list(pictures)), strict=True))
    finally:
        _pending = MappingProxyType({})
