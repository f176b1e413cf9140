"""HTML in which the report is written: paragraphs, tables, folds. Whatever is put in is escaped,
except Markup. Markdown: paragraphs, and text from result files, shown as it is whatever is in it.
"""

import html
import json
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup, escape


def paragraph(*sentences: str | Markup) -> Markup:
    """Sentences as one <p>; empty ones are left out, nothing when all are empty."""
    text = Markup(" ").join(escape(s) for s in sentences if s)
    return Markup("<p>{}</p>").format(text) if text else Markup("")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table; the name of a column of numbers begins with ">" and stands at the right."""

    def line(tag: str, cells: Iterable[Any]) -> Markup:
        return Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<{0} class="n">{1}</{0}>' if right else "<{0}>{1}</{0}>").format(tag, cell)
                for cell, right in zip(cells, numeric, strict=True)
            )
        )

    numeric = [name.startswith(">") for name in columns]
    head = line("th", (name.removeprefix(">") for name in columns))
    lines = Markup("\n").join(line("td", row) for row in rows)
    return Markup(
        '<div class="wide tall" tabindex="0"><table>\n<thead>{}</thead>\n<tbody>{}</tbody>\n'
        "</table></div>"
    ).format(head, lines)


def fold(summary: str, body: Markup) -> Markup:
    """``body``, closed until the reader asks for it."""
    return Markup("<details><summary>{}</summary>\n{}</details>").format(summary, body)


def view(
    name: str, label: str, where: dict[str, str], first: dict[str, str], columns: Sequence[str]
) -> Markup:
    """A place where the page's script shows a table of the data that the page carries
    (plots/report/embedded.py): of the rows ``where`` holds for those columns; ``first`` is what
    its lists are set to at the beginning, as far as there is such a row."""
    shown = {"where": where, "first": first, "columns": list(columns)}
    return Markup(
        '<div class="view" data-table="{}" data-label="{}" data-view="{}"></div>\n'
    ).format(name, label, json.dumps(shown))


# Ends of the steps in which gains are coloured, in a page that is read at a glance.
_STEPS = (1.02, 1.05, 1.1, 1.25, 1.5, 2)


def shade(ratio: float) -> int:
    """How strongly a gain is coloured: 1 to 7 above 1, -1 to -7 below, each as far from 1 as the
    other; 0 for 1 and for what is no number."""
    if not ratio > 0 or not math.isfinite(ratio) or ratio == 1:
        return 0
    step = 1 + sum(max(ratio, 1 / ratio) >= end for end in _STEPS)
    return step if ratio > 1 else -step


def runs(sessions: Any, gpus: Any) -> str:
    """The runs behind a number: "one run", "3 runs on one GPU", "6 runs on 3 GPUs"."""
    if pd.isna(sessions) or sessions <= 1:
        return "one run"
    return f"{sessions:.0f} runs on " + ("one GPU" if gpus == 1 else f"{gpus:.0f} GPUs")


# What would make a link or an image of brackets, or begin code, emphasis, a cell or an escape.
_SPECIAL = re.compile(r"([\\`*|]|\](?=[(\[:]))")


def plain(text: str) -> str:
    """``text`` as Markdown that shows exactly it, on one line; no HTML of its own."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    return _SPECIAL.sub(r"\\\1", escaped)


def wrapped(*sentences: str) -> str:
    """A paragraph in lines of 100 characters, which end between words."""
    text = " ".join(" ".join(sentences).split())
    return textwrap.fill(text, 100, break_on_hyphens=False)
