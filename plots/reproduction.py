"""docs/reproduction.md: one row per table, figure and claim of the source documents."""

from __future__ import annotations

import html
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plots.markdown import plain
from plots.published import (
    NOTABLE,
    Comparison,
    Item,
    Own,
    Recorded,
    comparisons,
    gpus_of,
    inventory,
    own_value,
)  # fmt: skip

STATUSES = (
    "reproduced",
    "reproduced with another method",
    "measured",
    "not applicable",
    "not yet measured",
    "not yet built",
    "nothing to measure",
)


@dataclass(frozen=True)
class Line:
    """A value of an id: ours, the published one."""

    label: str
    own: Own | None
    published: float | None

    def ratio(self) -> float | None:
        return None if self.own is None or not self.published else self.own.value / self.published


@dataclass(frozen=True)
class Entry:
    """An id with its status, why, and its values."""

    item: Item
    status: str
    why: str
    lines: list[Line]
    link: str


def _has_value(microbenchmark: dict[str, Any]) -> bool:
    return any(row["status"] == "ok" for row in microbenchmark["rows"])


def _measured_by(item: Item, files: list[Recorded]) -> str:
    """The file that has what answers the item, for an item without published numbers."""
    for file in files:
        names = {m["name"] for m in file.document.get("microbenchmarks") or [] if _has_value(m)}
        apps = {f"app {g['key']['app']}" for g in file.document["groups"]}
        ceilings = {"ceilings"} if file.document["ceilings"] else set()
        if (names | apps | ceilings) & set(item.answers()):
            return file.path
    return ""


def _skipped_because(item: Item, files: list[Recorded]) -> str:
    """The reason where what answers the item ran and had no row that this machine can measure."""
    for file in files:
        for m in file.document.get("microbenchmarks") or []:
            reasons = [row["reason"] for row in m["rows"] if row["status"] == "skipped"]
            if m["name"] in item.answers() and reasons and not _has_value(m):
                return html.escape(str(reasons[0]), quote=False)
    return ""


def entry_of(item: Item, of_item: list[Comparison], files: list[Recorded]) -> Entry:
    if not item.by:
        return Entry(item, "nothing to measure", item.remark, [], "")
    if not item.built():
        return Entry(item, "not yet built", "", [Line(c.label, None, c.published)
                                                for c in of_item], "")  # fmt: skip
    lines, why, link = [], "", ""
    for c in of_item:
        own, reason = own_value(files, c.own)
        why = why or html.escape(reason, quote=False)  # a text of a result file
        link = link or (own.file if own else "")
        lines.append(Line(c.label, own, c.published))
    if not of_item:
        link = _measured_by(item, files)
        if not link and (why := _skipped_because(item, files)):
            return Entry(item, "not applicable", why, [], "")
        return Entry(item, "measured" if link else "not yet measured", item.remark, [], link)
    if not any(line.own for line in lines):
        if why := why or _skipped_because(item, files):
            return Entry(item, "not applicable", why, lines, "")
        return Entry(item, "not yet measured", item.remark, lines, "")
    other = item.method.startswith("other: ")
    status = "reproduced with another method" if other else "reproduced"
    text = "; ".join(t for t in (item.method[7:] if other else "", item.remark) if t)
    return Entry(item, status, text, lines, link)


def entries(files: list[Recorded]) -> list[Entry]:
    by_id: dict[str, list[Comparison]] = {}
    for c in comparisons():
        by_id.setdefault(c.id, []).append(c)
    return [entry_of(item, by_id.get(item.id, []), files) for item in inventory()]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _link(path: str, base: Path) -> str:
    if not path:
        return ""
    return f"[{Path(path).name}]({os.path.relpath(path, base)})"


def _table(found: list[Entry], base: Path) -> list[str]:
    lines = [
        "| id | where | what | status | here | published | here / published | data | remark |",
        "|---|---|---|---|--:|--:|--:|---|---|",
    ]
    for e in found:
        own, published, ratio = [], [], []
        for line in e.lines:
            # A person reads a label once; the GPU is its last word.
            label = _cell(line.label)
            own.append(f"{_number(line.own.value)} {line.own.unit}" if line.own else "–")
            published.append("–" if line.published is None else
                             f"{_number(line.published)} ({label})")  # fmt: skip
            r = line.ratio()
            flag = r is not None and not 1 / NOTABLE <= r <= NOTABLE
            ratio.append("–" if r is None else f"**{r:.2f}**" if flag else f"{r:.2f}")
        cells = [e.item.id, _cell(e.item.where), _cell(e.item.what), e.status]
        cells += ["<br>".join(column) for column in (own, published, ratio)]
        cells += [_link(e.link, base), _cell(e.why)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def render(files: list[Recorded], base: Path) -> str:
    """The page as Markdown, links relative to ``base``."""
    gpus = gpus_of(files)
    text = [
        "# What of the source documents is reproduced",
        "",
        "Generated from `inputs/published/inventory.csv` and the recorded results by",
        "`python -m plots reproduction results -o docs/reproduction.md`; a test fails when it is",
        "stale.",
        "One row per table, figure and claim of the four documents; a ratio further off than "
        f"{NOTABLE:g}x is bold.",
        "A published value belongs to the GPU in its label; ours to the GPU of the heading.",
    ]
    for gpu in gpus or [""]:
        mine = [f for f in files if not gpu or f.document["provenance"]["device"]["name"] == gpu]
        found = entries(mine)
        counts = Counter(e.status for e in found)
        text += ["", f"## {plain(gpu) or 'No results recorded'}", ""]
        text.append(
            f"{len(found)} rows: "
            + ", ".join(f"{counts[s]} {s}" for s in STATUSES if counts[s])
            + "."
        )
        for source in dict.fromkeys(e.item.source for e in found):
            text += ["", f"### {source}", ""]
            text += _table([e for e in found if e.item.source == source], base)
    return "\n".join(text) + "\n"
