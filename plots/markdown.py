"""Text from result files inside Markdown: shown as it is, whatever is in it."""

from __future__ import annotations

import html
import re

# What would make a link or an image of brackets, or begin code, emphasis, a cell or an escape.
_SPECIAL = re.compile(r"([\\`*|]|\](?=[(\[:]))")


def plain(text: str) -> str:
    """``text`` as Markdown that shows exactly it, on one line; no HTML of its own."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    return _SPECIAL.sub(r"\\\1", escaped)
