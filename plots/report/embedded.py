"""The data that a page carries: tables, samples, figures and long parts of the page itself,
compressed in one element.

A table of a thousand rows written as HTML takes a hundred times the space of its numbers, and
nobody can sort or filter it. So the page holds columns, and its script (templates/report.js) makes
of them the rows that a reader asks for. What of the page is long or folded is carried in the same
way, and the script puts it where it belongs.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from plots.data.load import Results, samples_by_row

CLOCK_STEP_MS = 32e-6  # what the clock of events of these GPUs counts in
LEAST_SHARE = 1e-6  # of a median, which is finer than anything that is shown

# Where in a page something is carried that the script puts there, and what begins and ends it.
_PLACE = '<template data-packed="{}"></template>'
_TABLE = '<div class="wide tall" tabindex="0"><table>'
_PACKABLE = re.compile(rf"<details[^>]*>|</summary>|</details>|{_TABLE}|</table></div>")


@dataclass(frozen=True)
class Column:
    """A column of a table: ``kind`` says what its values are and how they are shown and sorted.

    "text"; "prose", sentences that stand below their row over its full width; "number" (three
    digits) and "whole"; "ms", a time in ms; "share" of 1; "ratio", a list of ratio, low, high and
    what is claimed; "samples", the id of a row whose samples the page has. ``listed``: the reader
    chooses from a list of its values.
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
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _steps_of(times: np.ndarray, median: float) -> tuple[float, float, np.ndarray]:
    """Times (ms) as (origin, step, how many steps from there each is): in steps of the clock, where
    they are such and it counts finely enough to tell these times apart; else in shares of the
    median."""
    ticks = np.rint(times / CLOCK_STEP_MS)
    # As far as a float, which is what the driver gives, can say.
    by_clock = np.allclose(ticks * CLOCK_STEP_MS, times, rtol=1.2e-7, atol=0)
    if by_clock and LEAST_SHARE * median <= CLOCK_STEP_MS:
        origin = round(median / CLOCK_STEP_MS)
        return float(f"{origin * CLOCK_STEP_MS:.12g}"), CLOCK_STEP_MS, ticks - origin
    step = float(f"{LEAST_SHARE * median:.6g}")
    return float(f"{median:.12g}"), step, np.rint((times - median) / step)


def _packable_parts(html: str) -> Iterator[tuple[int, int]]:
    """Where in the HTML of a page the outermost bodies of closed folds, and tables elsewhere, begin
    and end. Text in it is escaped, so that what looks like a tag is one."""
    closed: list[bool] = []  # of the folds around, from the outermost
    begin = table = None
    for found in _PACKABLE.finditer(html):
        tag = found[0]
        if tag.startswith("<details"):
            closed.append(" open" not in tag)
        elif tag == "</summary>":
            if begin is None and closed[-1]:
                begin, depth = found.end(), len(closed)
        elif tag == "</details>":
            if begin is not None and depth == len(closed):
                yield begin, found.start()
                begin = None
            closed.pop()
        elif tag == _TABLE and not any(closed):
            table = found.start()
        elif table is not None:
            yield table, found.end()
            table = None


class Embedded:
    """Collects what the page carries."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._samples: dict[str, list[Any]] = {}
        self._figures: dict[str, str] = {}
        self._markup: list[str] = []

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
            origin, step, parts = _steps_of(times, median)
            in_order = np.array_equal(rounds, np.arange(len(rounds)))
            self._samples[row] = [
                origin,
                step,
                parts.astype(np.int64).tolist(),
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

    def packed(self, html: str) -> Markup:
        """A part of the page whose long tables and closed folds are carried; the script puts them
        where a template element stands for them."""
        kept, done = [], 0
        for begin, end in _packable_parts(html):
            kept += [html[done:begin], _PLACE.format(len(self._markup))]
            self._markup.append(html[begin:end])
            done = end
        return Markup("".join([*kept, html[done:]]))

    def encoded(self) -> str:
        """All of it as gzip in base64: safe in an element of a page, whatever it holds."""
        content = {
            "tables": self._tables,
            "samples": self._samples,
            "figures": self._figures,
            "markup": self._markup,
        }
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without the time, so that the same results make the same page.
        packed = gzip.compress(text.encode("utf-8", "backslashreplace"), 6, mtime=0)
        return base64.b64encode(packed).decode("ascii")


def decoded(encoded: str) -> dict[str, Any]:
    """What encoded() was made of, as the page's script sees it."""
    return json.loads(gzip.decompress(base64.b64decode(encoded)))


def carried_by(page: str) -> dict[str, Any]:
    """The tables, samples, figures and markup that a page carries for its script."""
    (packed,) = re.findall(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    return decoded(packed)


def unpacked(page: str) -> str:
    """The page with all markup where the script puts it."""
    for number, markup in enumerate(carried_by(page)["markup"]):
        page = page.replace(_PLACE.format(number), markup)
    return page
