"""Markdown: paragraphs, tables, and text from result files, shown as it is whatever is in it."""

from __future__ import annotations

import html
import re
import textwrap

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
